"""Entries and headers as JSON text: what stands in the blobs of a session."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

from gitsession import json_text
from gitsession.errors import Corrupt, InvalidCommit, UnsupportedFormat
from gitsession.model import (
    MESSAGE_PREFIX,
    CompactionEntry,
    MessageEntry,
    SessionEntry,
    SessionMeta,
    UnknownEntry,
)

FORMAT = 1  # the version of the layout: paths, blobs, what a commit may change
TEXTS = (1, 2)  # the versions of the commits' text, which is a part of the object ids; a session keeps its own
RECORD_TYPE = "gitsession/record"

# The largest header. It is read for every list, so it must stay cheap whoever wrote it.
MAX_HEADER_BYTES = 1024 * 1024

_META_FIELDS = tuple(field.name for field in fields(SessionMeta) if field.name != "extra")


def encode_entry(entry: SessionEntry) -> bytes:
    """Returns an entry as one line of JSON, without its line end.

    Raises:
        InvalidCommit: It is no JSON, its message is still streaming, its type is reserved, or it would not come back
            equal: a field has the wrong type, or stands in `extra` again.
    """
    match entry:
        case MessageEntry():
            known = {"type": "message", "message": _finished(entry.message)}
        case CompactionEntry():
            known = {"type": "compaction", "summary": entry.summary, "first_kept_id": entry.first_kept_id}
            known["tokens_before"] = entry.tokens_before
        case UnknownEntry():
            if not isinstance(entry.value, dict):
                raise InvalidCommit(f"the entry is no JSON object but {type(entry.value).__name__}")
            if entry.value.get("type") == RECORD_TYPE:
                raise InvalidCommit(f"the entry type {RECORD_TYPE!r} is reserved for imports")
            # Without an id of its own it would load with one that is made from the commit's.
            value = entry.value if "id" in entry.value else entry.value | {"id": entry.id}
            return _same(replace(entry, value=value), value)
        case _:
            raise InvalidCommit(f"an entry is expected, not {type(entry).__name__}")
    known |= {"id": entry.id, "parent_id": entry.parent_id, "timestamp": entry.timestamp}
    known = {key: value for key, value in known.items() if value is not None}
    return _same(entry, known | dict(entry.extra))


def _same(entry: SessionEntry, value: dict[str, Any]) -> bytes:
    """Returns the text of an entry's JSON after a look at whether it would load as this entry."""
    text = json_text.encode_object(value, "the entry", levels=json_text.MAX_LEVELS + 1)  # a message has all of its own
    if entry_of(value, default_id=entry.id, default_timestamp=lambda: entry.timestamp) != entry:
        raise InvalidCommit("the entry would not come back equal: a field has the wrong type, or is there twice")
    return text


def decode_entry(line: bytes, *, default_id: str, default_timestamp: Callable[[], str]) -> SessionEntry:
    """Returns the entry of one line.

    Args:
        line: The JSON text.
        default_id: The id of an entry that has none of its own.
        default_timestamp: Tells the time of an entry that has none of its own; asked only then.

    Raises:
        Corrupt: The line is no JSON object.
    """
    try:
        value = json_text.decode(line)
    except ValueError as error:
        raise Corrupt(f"the entry {default_id!r} cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise Corrupt(f"the entry {default_id!r} is no JSON object")
    return entry_of(value, default_id=default_id, default_timestamp=default_timestamp)


def entry_of(value: dict[str, Any], *, default_id: str, default_timestamp: Callable[[], str]) -> SessionEntry:
    """Returns the entry that a JSON object stands for; an `UnknownEntry` where it is of no known kind."""
    rest = dict(value)
    kind = rest.pop("type", None)
    own_id, own_timestamp, parent = rest.pop("id", None), rest.pop("timestamp", None), rest.pop("parent_id", None)
    known = all(text is None or isinstance(text, str) for text in (own_id, own_timestamp, parent))
    common = {
        "id": own_id if isinstance(own_id, str) and own_id else default_id,
        "timestamp": own_timestamp if isinstance(own_timestamp, str) and own_timestamp else default_timestamp(),
    }
    if known and kind == "message" and isinstance(rest.get("message"), dict):
        return MessageEntry(rest.pop("message"), parent_id=parent, extra=rest, **common)
    if known and kind == "compaction" and isinstance(rest.get("summary"), str):
        summary, kept, tokens = rest.pop("summary"), rest.pop("first_kept_id", None), rest.pop("tokens_before", None)
        return CompactionEntry(summary, kept, tokens, parent_id=parent, extra=rest, **common)
    return UnknownEntry(value, **common)


def message_line(message: Mapping[str, Any], place: int) -> bytes:
    """Returns the line of a message that was committed as such.

    It holds no id and no timestamp, so that the same commit is the same bytes.

    Raises:
        InvalidCommit: It is no JSON object, or is still streaming.
    """
    return MESSAGE_PREFIX + json_text.encode_object(_finished(message), f"messages[{place}]") + b"}"


def committed_line(line: bytes, place: int) -> bytes:
    """Returns the line of a message that was read from a session, or from JSON text, and is committed to another.

    The message's text is kept byte for byte; what stood around it, such as the id of its entry, is not.

    Raises:
        InvalidCommit: It is still streaming.
        Corrupt: The line is no message entry.
    """
    text = line.decode("utf-8")
    start = len(MESSAGE_PREFIX)
    try:
        if line.startswith(MESSAGE_PREFIX):
            message, end = json_text.decode_first(text, start)
        else:
            message, end = json_text.decode(text)["message"], -1
    except (ValueError, KeyError, TypeError) as error:
        raise Corrupt(f"a stored message cannot be read: {error}") from error
    _finished(message)
    if end < 0:
        return message_line(message, place)
    return line if end == len(text) - 1 else MESSAGE_PREFIX + text[start:end].encode() + b"}"


def _finished(message: Any) -> Any:
    if isinstance(message, dict) and message.get("streaming") is True:
        raise InvalidCommit("the message is still streaming; only finished messages are stored")
    return message


def meta_of(value: Mapping[str, Any], *, session_id: str | None = None) -> SessionMeta:
    """Returns the header that a JSON object stands for; a missing version reads as 1, a missing time as "".

    Args:
        value: The header.
        session_id: The id to take where the header has none.

    Raises:
        Corrupt: A field has the wrong type, or there is no id.
    """
    known = {key: value[key] for key in _META_FIELDS if value.get(key) is not None}
    known.setdefault("created_at", "")
    if session_id is not None:
        known.setdefault("id", session_id)
    for key, field_value in known.items():
        wanted = int if key == "version" else str
        if not isinstance(field_value, wanted):
            raise Corrupt(f"the session's header has no proper {key!r}")
    if "id" not in known:
        raise Corrupt("the session's header has no id")
    return SessionMeta(**known, extra={key: item for key, item in value.items() if key not in _META_FIELDS})


def meta_value(meta: SessionMeta) -> dict[str, Any]:
    """Returns a header as a JSON object; fields that are None are left out."""
    known = {key: getattr(meta, key) for key in _META_FIELDS}
    return {key: value for key, value in known.items() if value is not None} | dict(meta.extra)


class Header(NamedTuple):
    """What `session.json` holds: the header, and what a session keeps for ever, its tag and its `text` number."""

    meta: SessionMeta
    tag: str
    text: int


def encode_header(header: Header) -> bytes:
    """Returns the bytes of `session.json`.

    Raises:
        InvalidCommit: A field of the header is no JSON, has the wrong type, or stands in `extra` again; or the header
            is too large.
    """
    known = meta_value(header.meta)
    value = {"format": FORMAT, "text": header.text, "tag": header.tag, "meta": known}
    text = json_text.encode(value, "the header") + b"\n"
    if len(text) > MAX_HEADER_BYTES:
        raise InvalidCommit(f"the header has {len(text):,} bytes; the limit is {MAX_HEADER_BYTES:,}")
    try:
        same = meta_of(known) == header.meta
    except Corrupt as error:
        raise InvalidCommit(str(error)) from error
    if not same:
        raise InvalidCommit("the header would not come back equal: a field is there twice")
    return text


def decode_header(data: bytes, *, where: str) -> Header:
    """Returns what `session.json` holds.

    Args:
        data: Its bytes.
        where: The session, for the error's text.

    Raises:
        Corrupt: It is no header.
        UnsupportedFormat: It was written in a version that is not known here.
    """
    try:
        value = json_text.decode(data)
    except ValueError as error:
        raise Corrupt(f"the header of {where} cannot be read: {error}") from error
    if not isinstance(value, dict) or not isinstance(value.get("meta"), dict):
        raise Corrupt(f"the header of {where} is no session header")
    for key, known in (("format", (FORMAT,)), ("text", TEXTS)):
        if type(value.get(key)) is not int or value[key] not in known:
            raise UnsupportedFormat(where, value.get(key), known)
    tag = value.get("tag")
    if not isinstance(tag, str) or len(tag) != 6 or not all(digit in "0123456789abcdef" for digit in tag):
        raise Corrupt(f"the header of {where} has no proper tag")
    return Header(meta_of(value["meta"]), tag, value["text"])
