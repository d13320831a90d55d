"""The conversation of OpenHands' events, in whichever form they are kept.

Events are in order. A condensation is a compaction that keeps what follows the last event that it forgot. The calls of
one answer are events one behind the other, which say that they have it in common (`llm_response_id`).
"""

import re
from collections.abc import Sequence
from typing import Any

from gitsession.model import CompactionEntry, Message
from gitsession.transcripts import bundle, document
from gitsession.transcripts.base import Record
from gitsession.transcripts.fields import items, mapping, text
from gitsession.transcripts.folding import Conversation, fold_each
from gitsession.transcripts.openhands_events import forgotten, messages_of

STATE = "base_state.json"
"""The file by which the folder of a conversation is recognised."""

_NUMBER = re.compile(r"events/event-([0-9]{1,18})-")


def is_state(value: dict[str, Any]) -> bool:
    """Tells whether a value says what a conversation is, and how its agent is set up."""
    told = {"persistence_dir", "agent_status", "execution_status", "confirmation_policy", "max_iterations"}
    return bool(text(value, "id")) and {"agent", "workspace"} <= value.keys() and bool(told & value.keys())


def inner_of(value: Any) -> dict[str, Any]:
    """Returns the event, or the state, that a record holds."""
    if bundle.is_file(value):
        return bundle.content(value)
    return value if isinstance(value, dict) else {}


def events_now(log: Sequence[Record]) -> list[Record]:
    """Returns the records of a log as they are now, in the order of its events."""
    found = document.now(log)
    if found and bundle.is_file(found[0].value):
        found.sort(key=lambda record: _order(text(record.value, "path")))
    return found


def _order(path: str) -> tuple[str, int, str]:
    """Returns what the files of a conversation are sorted by: from 100,000 on, numbers of events are longer."""
    number = _NUMBER.match(path)
    return (path, 0, "") if number is None else ("events/event-", int(number[1]), path)


def fold(log: Sequence[Record]) -> Conversation:
    """Returns the conversation of a log."""
    names: dict[str, str] = {}
    said: list[tuple[str, str | None]] = []  # the events that are messages, and the entries that they became
    answer = ""  # whose calls the last message has
    calls: list[Message] = []

    def messages(record: Record) -> Sequence[Message] | CompactionEntry:
        nonlocal answer, calls
        event = _with_images(inner_of(record.value))
        made = messages_of(event, names)
        if isinstance(made, CompactionEntry):
            gone = forgotten(event)
            last = max((place for place, (name, _) in enumerate(said) if name in gone), default=-1)
            kept = next((own for _, own in said[last + 1 :]), None) if last >= 0 else None
            answer = ""
            return CompactionEntry(made.summary, kept, None)
        if not made:
            return []
        asked = items(made[0], "tool_calls")
        response = text(event, "llm_response_id") if asked else ""
        if response and response == answer and made[0].keys() == {"role", "tool_calls"}:
            said.append((str(event.get("id")), said[-1][1]))
            calls += asked
            return []
        answer, calls = response, asked
        said.append((str(event.get("id")), record.id))
        return made

    return fold_each(events_now(log), messages)


def _with_images(event: dict[str, Any]) -> dict[str, Any]:
    """Returns an event with each of its images where it is looked for."""
    for key in ("llm_message", "observation"):
        inner = mapping(event, key)
        if items(inner, "content"):
            content = [one for block in inner["content"] for one in _images(block)]
            event = {**event, key: {**inner, "content": content}}
    return event


def _images(block: Any) -> Sequence[Any]:
    urls = [url for url in items(block, "image_urls") if isinstance(url, str)]
    if text(block, "type") != "image" or not urls:
        return [block]
    return [{"type": "image", "source": {"type": "url", "url": url}} for url in urls]
