"""modular-agent: a header on the first line, then one entry a line; the same entries that a store holds."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import filterfalse
from pathlib import PurePath
from typing import Any, BinaryIO

from gitsession import jsonl
from gitsession.model import SessionEntry, UnknownEntry
from gitsession.parts import Part
from gitsession.transcripts import records
from gitsession.transcripts.base import Format, Record
from gitsession.transcripts.fields import mapping, one_line, text, time
from gitsession.transcripts.folding import none_abandoned
from gitsession.transcripts.modular_agent_compose import compose, is_header
from gitsession.transcripts.normal import damaged, titled_by_prompt
from gitsession.view import View, view

# How a header begins.
_HEADER = re.compile(rb'\{\s*"id"\s*:')


def _is_entry(value: dict[str, Any]) -> bool:
    """Tells whether it is an entry of a kind that is known; pi's entries, which are alike, say `parentId`."""
    if not text(value, "id") or "parentId" in value:
        return False
    kind = text(value, "type")
    return (kind == "message" and bool(mapping(value, "message"))) or (
        kind == "compaction" and isinstance(value.get("summary"), str)
    )


def _recognise(head: bytes, _name: str) -> bool:
    found = records.first_objects(head)
    if not found or not is_header(found[0]):
        return _is_headless(records.damaged_first_line(head), found)
    # The header may stand there twice.
    first = next(filterfalse(is_header, found), None)
    return isinstance(found[0].get("created_at"), str) if first is None else _is_entry(first)


def _is_headless(header: bytes, found: Sequence[dict[str, Any]]) -> bool:
    """Tells whether entries follow a header that cannot be read, but begins as one does, which never has a type."""
    entries = all(text(value, "type") and text(value, "id") and text(value, "timestamp") for value in found)
    return bool(_HEADER.match(header)) and b'"type"' not in header and bool(found) and entries and _is_entry(found[0])


def _describe(value: dict[str, Any]) -> tuple[str | None, str | None]:
    if is_header(value):
        # The header's id is the session's; under it no entry could be told from it.
        return None, time(value.get("created_at"))
    return text(value, "id") or None, time(value.get("timestamp"))


def _read(stream: BinaryIO) -> Iterator[Record]:
    return records.read(stream, _describe)


def _header(path: PurePath, first: Record) -> Mapping[str, Any]:
    value = first.value if isinstance(first.value, dict) and is_header(first.value) else {}
    known = {key: value[key] for key in ("parent_session", "created_at", "title") if text(value, key)}
    others = {key: value[key] for key in value if key not in ("id", "version", "parent_session", "created_at", "title")}
    own_id = text(value, "id") or path.stem
    return {"id": own_id, "created_at": "", **others, **known, "agent": text(value, "agent") or "modular-agent"}


def _learn(header: Mapping[str, Any], record: Record) -> Mapping[str, Any]:
    return titled_by_prompt(header, mapping(record.value, "message"))


def _view(record: Record) -> View:
    value = record.value
    if not isinstance(value, dict):
        return damaged(record)
    if _is_entry(value) and text(value, "type") == "message":
        return view(value["message"])
    if _is_entry(value):
        return View("system", (Part("text", f"[Conversation summary]\n{value['summary']}"),))
    kind = "session" if is_header(value) else text(value, "type") or "unknown record"
    return View("meta", (Part("text", one_line(f"{kind}: {text(value, 'id')}", 200)),))


def _fold(log: Sequence[Record]) -> list[SessionEntry]:
    """Returns the entries in the order of the file: this agent only ever appends. All kinds are there."""
    entries: list[SessionEntry] = []
    at = ""
    for place, record in enumerate(log):
        at = record.timestamp or at
        name, value = record.id or f"record-{place}", record.value
        if isinstance(value, dict) and _is_entry(value):
            given = {**value, "id": name, "timestamp": at}
            entries.append(jsonl.entry_of(given, default_id=name, default_timestamp=str))
        elif isinstance(value, dict) and not is_header(value):
            entries.append(UnknownEntry(value, name, at))
    return entries


MODULAR_AGENT = Format(
    name="modular-agent",
    title="modular-agent",
    recognise=_recognise,
    read=_read,
    header=_header,
    learn=_learn,
    view=_view,
    fold=_fold,
    abandoned=none_abandoned,
    write=records.join,
    compose=compose,
)
