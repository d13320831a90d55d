"""Transcripts composed for an agent, and read again: what tests compare."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from losses import forked, left
from transcript_files import format_of, read, records_of

from gitsession.model import CompactionEntry, MessageEntry, SessionEntry, SessionMeta, UnknownEntry
from gitsession.record_ids import RecordIds
from gitsession.transcripts import FORMATS, Format, Record
from gitsession.transcripts.base import Composed, Draft
from gitsession.transcripts.shapes import normal_messages

ID = "6f9d6c2e-54a5-5f4f-9a39-2f5a9a0c9d11"
RESUMABLE = [one for one in FORMATS.values() if one.compose is not None]

Entries = Sequence[MessageEntry | CompactionEntry]


def stored(path: Path) -> list[Record]:
    """Returns the records of a fixture, each with the id of its commit."""
    ids = RecordIds()
    return [one._replace(id=ids.take(place, one)) for place, one in enumerate(records_of(path)) if not one.unfinished]


def draft(one: Format, records: Sequence[Record] = (), entries: Entries = (), **fields: Any) -> Draft:
    meta = SessionMeta("s", created_at="2026-03-02T09:00:00Z", agent=one.name, **fields)
    return Draft(meta, ID, "/home/dev/project", records, entries)


def whole(one: Format, records: Sequence[Record], own: str) -> Draft:
    """Returns a draft of a session that is given back as it was imported."""
    made = draft(one, records)
    return made._replace(meta=replace(made.meta, id=own), whole=True)


def composed(one: Format, records: Sequence[Record] = (), entries: Entries = (), **fields: Any) -> Composed:
    assert one.compose is not None
    return one.compose(draft(one, records, entries, **fields))


def lines(one: Format, records: Sequence[Record] = (), entries: Entries = (), **fields: Any) -> list[Any]:
    """Returns the records of a composed transcript as values."""
    return [json.loads(line) for line in composed(one, records, entries, **fields).lines]


def again(one: Format, records: Sequence[Record] = (), entries: Entries = ()) -> Entries:
    """Returns the conversation of a composed transcript."""
    content = b"".join(composed(one, records, entries).lines)
    found = read(one, content)
    assert [record.problem for record in found if record.problem] == []
    return known(one.fold(found))


def known(entries: Iterable[SessionEntry]) -> Entries:
    """Returns entries without those of other kinds, of which nothing is composed."""
    return [entry for entry in entries if not isinstance(entry, UnknownEntry)]


def compose_all(path: Path, one: Format, end: int) -> tuple[Entries, Entries]:
    """Composes the beginning of a fixture for an agent.

    Returns:
        Its conversation, and that of what was composed.
    """
    own, records = format_of(path), stored(path)[:end]
    entries = known(own.fold(records))
    same = own is one
    return entries, again(one, records if same else (), () if same else entries)


def resumable(path: Path) -> Format | None:
    """Returns the format of a fixture, as far as its agent resumes such a file: no trajectory of OpenHands."""
    own = format_of(path)
    return None if own.name == "openhands" and path.name != "base_state.json" else own


def comparable(entries: Iterable[SessionEntry], one: Format, source: Format | None) -> list[Any]:
    """Returns what a conversation has in common with the same one, composed for an agent.

    Left out is what the agent has no place for, as `losses` says; nothing in an agent's own session.
    """
    found: list[Any] = []
    for entry in known(entries):
        found += [entry.summary] if isinstance(entry, CompactionEntry) else normal_messages(entry.message)
    found = forked(found, one.name) if source is one else left(found, one.name)
    for message in found:
        if isinstance(message, dict):
            message.pop("name", None)
    return [one for one in found if isinstance(one, str) or one.keys() - {"role", "model", "meta"}]
