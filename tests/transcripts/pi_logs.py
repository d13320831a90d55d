"""Short pi sessions, written as the tests need them."""

from typing import Any

from gitsession.transcripts import FORMATS, Record
from tests.scratches import abandoned

PI = FORMATS["pi"]


def entry(own: str, parent: str | None, kind: str, **fields: Any) -> Record:
    return Record(b"", {"type": kind, "id": own, "parentId": parent, **fields}, id=own)


def message(name: str, parent: str | None, role: str, content: Any, **fields: Any) -> Record:
    return entry(name, parent, "message", message={"role": role, "content": content, **fields})


def user(name: str, parent: str | None, text: str) -> Record:
    return message(name, parent, "user", [{"type": "text", "text": text}])


def answer(name: str, parent: str | None, text: str) -> Record:
    return message(name, parent, "assistant", [{"type": "text", "text": text}], model="m")


def ids(log: list[Record]) -> list[str]:
    """Returns the ids of the conversation's entries."""
    return [one.id for one in PI.fold(log)]


def left(log: list[Record]) -> list[tuple[str, str | None]]:
    """Returns where the abandoned lines ended, and where they began."""
    return [(line.last, line.at) for line in abandoned(PI, log)]
