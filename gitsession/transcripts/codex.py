"""Codex CLI: `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<session>.jsonl`, one record a line.

A session is named by its file, which names it by the id in its first record; a page of a longer session has the page
behind it. Later `session_meta` records were copied from the session that this one was forked from.

A fork either repeats the records of its origin, or says where in it they end (`history_base`), by the numbers of the
records, which go on from there; then the file, and so the session's log, has only what came after.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, BinaryIO

from gitsession.columns import Scratch
from gitsession.transcripts import records
from gitsession.transcripts.base import AbandonedLine, Format, Record, Return
from gitsession.transcripts.codex_compose import compose
from gitsession.transcripts.codex_fold import fold
from gitsession.transcripts.codex_records import (
    KINDS,
    event,
    is_bare,
    is_bare_header,
    item,
    outline,
    prompt,
    show,
    words,
)
from gitsession.transcripts.codex_turns import Turns
from gitsession.transcripts.fields import changed, integer, mapping, one_line, text, time

_NAME = re.compile(r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.+)")
_LONG_HEADER = re.compile(rb'.{0,200}?"type"\s*:\s*"session_meta"\s*,\s*"payload"\s*:\s*\{', re.DOTALL)
_CWD = re.compile(r"<cwd>([^<]+)</cwd>")


def _recognise(head: bytes, name: str) -> bool:
    found = records.first_objects(head)
    if not found:
        # The first record holds the agent's instructions, and may be longer than the head.
        return bool(_LONG_HEADER.match(head))
    if any(text(value, "type") in KINDS and isinstance(value.get("payload"), dict) for value in found):
        return True
    # Without its header an early rollout looks like any list of messages; then only its name tells.
    return is_bare_header(found[0]) or (_NAME.match(name) is not None and any(map(is_bare, found)))


def _describe(value: dict[str, Any]) -> tuple[str | None, str | None]:
    # No record has an id of its own: those of items and calls are the provider's, and stand in several records.
    return None, time(value.get("timestamp"))


def _read(stream: BinaryIO) -> Iterator[Record]:
    return records.read(stream, _describe)


def _header(path: PurePath, first: Record) -> Mapping[str, Any]:
    value = first.value if isinstance(first.value, dict) else {}
    meta = value if is_bare_header(value) else {}
    if text(value, "type") == "session_meta":
        meta = mapping(value, "payload")
    header: dict[str, Any] = {"id": _session_id(path.stem, text(meta, "id")), "agent": "codex"}
    header["created_at"] = time(meta.get("timestamp")) or ""
    return _learn(changed(header, **_origin(meta), **_about(meta)), first)


def _session_id(stem: str, own: str) -> str:
    match = _NAME.fullmatch(stem)
    named = stem if match is None else match[1]
    # The name of a page says more than the id in it; a file that was renamed says less.
    return named if match is not None and named.startswith(own) else own or named


def _origin(meta: dict[str, Any]) -> dict[str, Any]:
    """Returns where a session comes from: the one that it was forked from, or that spawned it."""
    base = mapping(meta, "history_base")
    spawn = mapping(mapping(mapping(meta, "source"), "subagent"), "thread_spawn")
    source = text(meta, "forked_from_id") or text(base, "thread_id")
    parent = source or text(meta, "parent_thread_id") or text(spawn, "parent_thread_id")
    origin: dict[str, Any] = {"session": text(base, "thread_id") or source} if source else {}
    if (end := integer(base, "end_ordinal_exclusive")) is not None:
        origin["end_ordinal_exclusive"] = end
    name = text(meta, "agent_nickname") or text(spawn, "agent_nickname")
    return {"parent_session": parent or None, "origin": origin or None, "agent_name": name or None}


def _about(meta: dict[str, Any]) -> dict[str, Any]:
    return {"cwd": text(meta, "cwd") or None, "git_branch": text(mapping(meta, "git"), "branch") or None}


def _ordinal(record: Record) -> int | None:
    return integer(record.value, "ordinal") if isinstance(record.value, dict) else None


def _learn(header: Mapping[str, Any], record: Record) -> Mapping[str, Any]:
    value = record.value
    if not isinstance(value, dict):
        return header
    news: dict[str, Any] = {}
    if not header.get("created_at"):
        news["created_at"] = record.timestamp
    if "cwd" not in header:
        found = item(value)
        said = words(found.get("content")) if text(found, "role") == "user" else ""
        match = _CWD.search(said) if said.lstrip().startswith("<environment_context>") else None
        news["cwd"] = text(mapping(value, "payload"), "cwd") or (match[1] if match else None)
    if "title" not in header:
        news["title"] = one_line(prompt(value)) or None
    return changed(header, **news)


def _abandoned(log: Sequence[Record], scratch: Scratch | None = None) -> list[AbandonedLine]:
    return Turns(log, scratch).abandoned() if _is_rolled_back(log) else []


def _returns(log: Sequence[Record], scratch: Scratch | None = None) -> Iterable[Return]:
    return Turns(log, scratch).returns() if _is_rolled_back(log) else ()


def _is_rolled_back(log: Sequence[Record]) -> bool:
    """Tells whether turns are rolled back: mostly none is, and to put those of a large file together takes time."""
    return any(text(event(record.value), "type") == "thread_rolled_back" for record in log)


CODEX = Format(
    name="codex",
    title="Codex CLI",
    recognise=_recognise,
    read=_read,
    header=_header,
    learn=_learn,
    view=show,
    fold=fold,
    abandoned=_abandoned,
    write=records.join,
    outline=outline,
    ordinal=_ordinal,
    returns=_returns,
    places=("${CODEX_HOME:-~/.codex}/sessions", "${CODEX_HOME:-~/.codex}/archived_sessions"),
    names=("rollout-*.jsonl", "rollout-*.jsonl.zst"),
    compose=compose,
)
