"""Short Codex rollouts, written as the tests need them."""

from typing import Any

from gitsession.transcripts import FORMATS, Record
from tests.scratches import abandoned

CODEX = FORMATS["codex"]


def record(kind: str, payload: dict[str, Any], **beside: Any) -> Record:
    return Record(b"", {"type": kind, "payload": payload, **beside})


def item(kind: str, **fields: Any) -> Record:
    return record("response_item", {"type": kind, **fields})


def event(kind: str, **fields: Any) -> Record:
    return record("event_msg", {"type": kind, **fields})


def given(text: str) -> Record:
    """Returns what the model is given as the user's words."""
    return item("message", role="user", content=[{"type": "input_text", "text": text}])


def typed(text: str) -> list[Record]:
    """Returns a prompt as the agent writes it: what the model is given, and the event that says it was typed."""
    return [given(text), event("user_message", message=text)]


def answer(text: str) -> list[Record]:
    """Returns an answer as the agent writes it: as an event, and as an item."""
    said = item("message", role="assistant", content=[{"type": "output_text", "text": text}])
    return [event("agent_message", message=text), said]


def call(call_id: str, name: str = "shell") -> Record:
    return item("function_call", name=name, arguments="{}", call_id=call_id)


def output(call_id: str, said: Any = "ok") -> Record:
    return item("function_call_output", call_id=call_id, output=said)


def rollback(turns: Any) -> Record:
    return event("thread_rolled_back", num_turns=turns)


def log(*parts: Record | list[Record]) -> list[Record]:
    """Returns the records of a log, each with the id of its commit."""
    flat = [one for part in parts for one in (part if isinstance(part, list) else [part])]
    return [Record(b"", one.value, id=f"r{place}") for place, one in enumerate(flat)]


def said(records: list[Record]) -> list[tuple[str, str]]:
    """Returns who says what in the conversation; context is told from prompts."""
    found = []
    for entry in CODEX.fold(records):
        message = getattr(entry, "message", None)
        if message is None:
            found.append(("compaction", entry.summary))
        else:
            who = "context" if message.get("meta") else message["role"]
            found.append((who, message.get("content") or message.get("reasoning", "")))
    return found


def left(records: list[Record]) -> list[tuple[str, str | None]]:
    """Returns where the abandoned lines ended, and where they began."""
    return [(line.last, line.at) for line in abandoned(CODEX, records)]
