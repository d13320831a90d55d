"""What composing a transcript has in common: ids, times, lines, and what stands in a normal message.

Nothing here comes from chance or from a clock, so the same session is always composed to the same bytes.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from gitsession import json_text
from gitsession.model import CompactionEntry, Message, MessageEntry
from gitsession.transcripts.base import Draft, Record
from gitsession.transcripts.fields import items, mapping, text, time
from gitsession.transcripts.records import parse

# What an entry without a time, in a session without one, is dated.
_NO_TIME = "1970-01-01T00:00:00.000Z"


def derived_uuid(base: str, *names: str) -> str:
    """Returns a UUID that these names always give below a base, which is a UUID itself."""
    return str(uuid.uuid5(uuid.UUID(base), "\0".join(name.encode("utf-8", "replace").decode() for name in names)))


def line(value: Mapping[str, Any]) -> bytes:
    """Returns a JSON object as one line."""
    return json_text.encode(value) + b"\n"


def verbatim(record: Record) -> bytes | None:
    """Returns a record's object as a line of its own, its text kept where it is one line; None where it is none."""
    value = record.value
    if not isinstance(value, dict):
        return None
    raw = record.raw.removeprefix(b"\xef\xbb\xbf").strip(b" \t\r\n,")
    return line(value) if b"\n" in raw or not raw else raw + b"\n"


def milliseconds(stamp: str) -> str:
    """Returns an RFC 3339 time as agents write it: in UTC, with milliseconds and a `Z`."""
    moment = _moment(stamp)
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def since_epoch(stamp: str) -> int:
    """Returns an RFC 3339 time as milliseconds since 1970."""
    return round(_moment(stamp).timestamp() * 1000)


def _moment(stamp: str) -> datetime:
    try:
        return datetime.fromisoformat(time(stamp) or _NO_TIME).astimezone(UTC)
    except (ValueError, OverflowError):
        return datetime.fromisoformat(_NO_TIME)


def last_time(draft: Draft) -> str:
    """Returns the time of the last thing in a draft that has one: when a fork of it was made."""
    stamps = [record.timestamp for record in draft.records] + [entry.timestamp for entry in draft.entries]
    return milliseconds(next(filter(None, reversed(stamps)), None) or draft.meta.created_at)


def timed(draft: Draft) -> Iterator[tuple[MessageEntry | CompactionEntry, str]]:
    """Yields the entries of a draft with their times; one without a time has that of what came before."""
    before = [record.timestamp for record in draft.records if record.timestamp]
    at = before[-1] if before else draft.meta.created_at
    for entry in draft.entries:
        at = entry.timestamp or at
        yield entry, milliseconds(at)


def arguments(call: Message) -> dict[str, Any]:
    """Returns what a tool is called with as an object; what is none stands under `input`."""
    said = text(mapping(call, "function"), "arguments")
    value, problem = parse(said.encode("utf-8", "surrogatepass")) if said else ({}, None)
    return value if problem is None and isinstance(value, dict) else {"input": said}


def parts(message: Message) -> list[Message]:
    """Returns the content of a normal message as parts."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return items(message, "content")


def image_url(part: Message) -> str:
    """Returns where a part's image lies, or its `data:` URL; "" for any other part."""
    return text(mapping(part, "image_url"), "url")


def encoded_image(url: str) -> tuple[str, str] | None:
    """Returns the media type and the base64 text of a `data:` URL; None for any other."""
    head, comma, body = url.partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        return None
    return head[len("data:") : -len(";base64")] or "image/png", body


def words(message: Message) -> str:
    """Returns the text of a normal message's content, without its images."""
    return "\n".join(said for part in parts(message) if (said := text(part, "text")))


def is_notice(message: Message) -> bool:
    """Tells whether the agent itself spoke in the model's place, such as of a request that failed."""
    return message["role"] == "assistant" and message.get("meta") is True


def title(draft: Draft, records: Sequence[Record]) -> str:
    """Returns what a fork is called, or a session that another agent wrote; "" where nobody gave it a name."""
    known = draft.meta.title or ""
    if not records:
        return known
    return known if known.endswith("(fork)") else f"{known or 'Forked session'} (fork)"
