"""What the log of a session says: its lines as entries, and as messages. Imported records are folded by their format.

A run of records of one format is folded as a whole, since a later record may take an earlier one back; entries that
were appended afterwards follow it.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from gitsession import json_text
from gitsession.errors import Corrupt
from gitsession.jsonl import decode_entry
from gitsession.model import MESSAGE_PREFIX, CompactionEntry, MessageEntry, SessionEntry, UnknownEntry
from gitsession.transcripts import FORMATS
from gitsession.transcripts.base import Record
from gitsession.transcripts.stored import PREFIX as RECORD_PREFIX
from gitsession.transcripts.stored import decode_record
from gitsession.view import Part, View, view


class StoredDelta(NamedTuple):
    """A delta as it is stored: its commit id, its bytes, and when it was committed (asked for only where needed)."""

    commit_id: str
    content: bytes
    time: Callable[[], str]


def split_lines(content: bytes, commit_id: str) -> list[bytes]:
    """Returns the lines of a delta, without their ends.

    Raises:
        Corrupt: The delta is empty, or its last line has no end.
    """
    if not content.endswith(b"\n"):
        raise Corrupt(f"the delta of the commit {commit_id!r} is cut short")
    return content[:-1].split(b"\n")


def entry_id(line: bytes, commit_id: str, place: int) -> str:
    """Returns the id of an entry: its own, or the one that its commit and its place in the delta make.

    Raises:
        Corrupt: The line cannot be read.
    """
    if line.startswith(RECORD_PREFIX):
        record_id = decode_record(line)[1].id
        return commit_id if record_id is None else record_id
    return decode_entry(line, default_id=f"{commit_id}/{place}", default_timestamp=str).id


def holds_entry(content: bytes, commit_id: str, wanted: str) -> bool:
    """Tells whether a delta holds an entry of an id.

    Raises:
        Corrupt: A line cannot be read.
    """
    lines = split_lines(content, commit_id)
    return wanted in (entry_id(line, commit_id, place) for place, line in enumerate(lines))


def message_lines(deltas: Iterable[StoredDelta]) -> list[bytes]:
    """Returns the messages of a log as the lines of message entries, for `Messages.from_lines`.

    Raises:
        Corrupt: A line cannot be read.
    """
    found: list[bytes] = []
    for item in _folded(deltas):
        if isinstance(item, _Line):
            if item.text.startswith(MESSAGE_PREFIX + b"{") or isinstance(_entry(item), MessageEntry):
                found.append(item.text)
        elif isinstance(item, MessageEntry):
            found.append(MESSAGE_PREFIX + json_text.encode(item.message, levels=json_text.SHOWN_LEVELS) + b"}")
    return found


def entries(deltas: Iterable[StoredDelta]) -> list[SessionEntry]:
    """Returns the entries of a log.

    Raises:
        Corrupt: A line cannot be read.
    """
    return [_entry(item) if isinstance(item, _Line) else item for item in _folded(deltas)]


def entry_view(entry: SessionEntry) -> View:
    """Returns an entry for reading: a message as such, everything else as a note."""
    match entry:
        case MessageEntry():
            return view(entry.message)
        case CompactionEntry():
            return View("meta", (Part("text", f"compaction: {entry.summary}"),))
        case UnknownEntry():
            return View(
                "meta", (Part("other", json_text.encode(entry.value, levels=json_text.SHOWN_LEVELS).decode("utf-8")),)
            )


class _Line(NamedTuple):
    """A line that is no record, and where it stands."""

    delta: StoredDelta
    place: int
    text: bytes


def _entry(line: _Line) -> SessionEntry:
    return decode_entry(line.text, default_id=f"{line.delta.commit_id}/{line.place}", default_timestamp=line.delta.time)


def _folded(deltas: Iterable[StoredDelta]) -> Iterator[_Line | SessionEntry]:
    run: list[Record] = []
    run_format = ""
    for delta in deltas:
        for place, text in enumerate(split_lines(delta.content, delta.commit_id)):
            if not text.startswith(RECORD_PREFIX):
                yield from _fold(run_format, run)
                run = []
                yield _Line(delta, place, text)
                continue
            name, record = decode_record(text)
            if name != run_format:
                yield from _fold(run_format, run)
                run, run_format = [], name
            run.append(record)
    yield from _fold(run_format, run)


def _fold(name: str, run: list[Record]) -> Iterable[SessionEntry]:
    if not run:
        return ()
    if name in FORMATS:
        return FORMATS[name].fold(run)
    # A format of a later version: its records are kept and shown, but not understood.
    return [
        UnknownEntry({"type": name, "record": record.value}, record.id or "", record.timestamp or "") for record in run
    ]
