"""Short Claude Code logs, written as the tests need them."""

from typing import Any

from gitsession.transcripts import FORMATS, Record
from gitsession.transcripts.claude_records import describe
from tests.scratches import abandoned

CLAUDE_CODE = FORMATS["claude-code"]


def record(value: dict[str, Any]) -> Record:
    own_id, time = describe(value)
    return Record(b"", value, id=own_id, timestamp=time)


def user(uuid: str, parent: str | None, content: Any, **fields: Any) -> Record:
    message = {"role": "user", "content": content}
    return record({"type": "user", "uuid": uuid, "parentUuid": parent, "message": message, **fields})


def answer(uuid: str, parent: str | None, content: Any, message_id: str, *, model: str = "m", **fields: Any) -> Record:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    message = {"role": "assistant", "id": message_id, "model": model, "content": blocks}
    return record({"type": "assistant", "uuid": uuid, "parentUuid": parent, "message": message, **fields})


def call(uuid: str, parent: str | None, call_id: str, message_id: str, **fields: Any) -> Record:
    return answer(
        uuid, parent, [{"type": "tool_use", "id": call_id, "name": "Read", "input": {}}], message_id, **fields
    )


def result(uuid: str, parent: str | None, call_id: str, text: str = "ok", **fields: Any) -> Record:
    return user(uuid, parent, [{"type": "tool_result", "tool_use_id": call_id, "content": text}], **fields)


def other(uuid: str, parent: str | None, kind: str, **fields: Any) -> Record:
    return record({"type": kind, "uuid": uuid, "parentUuid": parent, **fields})


def boundary(uuid: str, logical: str | None, **about: Any) -> Record:
    fields = {"subtype": "compact_boundary", "content": "Conversation compacted", "compactMetadata": about}
    return other(uuid, None, "system", logicalParentUuid=logical, **fields)


def summary(uuid: str, parent: str, text: str) -> Record:
    return user(uuid, parent, text, isCompactSummary=True, isVisibleInTranscriptOnly=True)


def ids(log: list[Record]) -> list[str]:
    """Returns the ids of the conversation's entries."""
    return [entry.id for entry in CLAUDE_CODE.fold(log)]


def left(log: list[Record]) -> list[tuple[str, str | None]]:
    """Returns where the abandoned lines ended, and where they began."""
    return [(line.last, line.at) for line in abandoned(CLAUDE_CODE, log)]
