"""Gemini CLI: `~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl`, and in older versions one `.json` document.

A line of the newer form is a record. The older form is one document, taken apart as `document` says; its `lastUpdated`
changes with each message, so a longer one adds a version of the first record. A session is named by its `sessionId`. A
subagent's file lies in a directory that is named by its session, and is the session `<session>/<subagent>`.

A document does not keep what a rewind took back; in the newer form it is an abandoned line.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, BinaryIO

from gitsession.transcripts import document, records
from gitsession.transcripts.arrays import beginning
from gitsession.transcripts.base import Format, Growth, Log, Record
from gitsession.transcripts.fields import changed, items, mapping, one_line, text, time
from gitsession.transcripts.gemini_compose import compose
from gitsession.transcripts.gemini_fold import abandoned, fold, returns
from gitsession.transcripts.gemini_records import describe, is_message, is_metadata, messages_of, outline, show
from gitsession.transcripts.normal import titled_by_prompt

_PATHS = (("messages",),)
# How a document begins whose first message is longer than what a file is recognised by.
_BEGINNING = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"sessionId"\s*:\s*"([^"\\]+)"\s*,\s*"projectHash"\s*:')


def _recognise(head: bytes, _name: str) -> bool:
    if any(map(is_metadata, records.first_objects(head, 1))):
        return True
    return any(_BEGINNING.match(head, place) for place in (0, beginning(head)))


def _read(stream: BinaryIO) -> Iterator[Record]:
    return document.read_stream(stream, _PATHS, describe)


def _growth(first: Record) -> Growth:
    return "document" if document.is_first(first) else "log"


def _write(log: Log) -> Iterator[bytes]:
    return document.write(log, _PATHS)


def _header(path: PurePath, first: Record) -> Mapping[str, Any]:
    # A document that is cut has no value, but says this before its messages.
    named = _BEGINNING.match(first.raw, beginning(first.raw))
    own = text(first.value, "sessionId") or (named[1].decode("utf-8", "replace") if named else path.stem)
    header: dict[str, Any] = {"id": own, "created_at": "", "agent": "gemini"}
    parent = path.parent.name
    if text(first.value, "kind") == "subagent" and parent not in ("", "chats", own):
        header |= {"id": f"{parent}/{own}", "parent_session": parent}
    return _learn(header, first)


def _names_itself(first: Record) -> bool:
    return bool(text(first.value, "sessionId"))


def _learn(header: Mapping[str, Any], record: Record) -> Mapping[str, Any]:
    value = record.value
    if is_message(value):
        said = messages_of(value) if text(value, "type") == "user" else []
        return titled_by_prompt(header, said[0] if said else {})
    told = mapping(value, "$set") or (value if isinstance(value, dict) and is_metadata(value) else {})
    news: dict[str, Any] = {}
    if not header.get("created_at"):
        news["created_at"] = time(told.get("startTime"))
    if directories := [one for one in items(told, "directories") if isinstance(one, str)]:
        news["cwd"] = header.get("cwd") or directories[0]
    if summary := one_line(text(told, "summary")):
        news["title"] = summary
    return changed(header, **news)


GEMINI = Format(
    name="gemini",
    title="Gemini CLI",
    recognise=_recognise,
    read=_read,
    header=_header,
    learn=_learn,
    view=show,
    fold=fold,
    abandoned=abandoned,
    write=_write,
    outline=outline,
    returns=returns,
    growth=_growth,
    names_itself=_names_itself,
    places=("${GEMINI_CLI_HOME:-~}/.gemini/tmp",),
    names=("*.jsonl", "session-*.json"),
    compose=compose,
)
