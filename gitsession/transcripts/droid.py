"""Factory Droid: `~/.factory/sessions/<directory>/<session>.jsonl`, one record a line.

Known from public readers of it: `session_start`, then `message` records in the shape of Anthropic messages, with
`todo_state`, `compaction_state` and `session_end` among them. They are in order, and no line is ever left. What a
compaction kept is not said in a way that is known, so it is taken to keep what comes after it. The `.settings.json`
beside it holds no part of the conversation.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, BinaryIO

from gitsession.model import CompactionEntry, Message
from gitsession.parts import Part, compact
from gitsession.transcripts import records
from gitsession.transcripts.base import Format, Record
from gitsession.transcripts.droid_compose import compose
from gitsession.transcripts.fields import changed, integer, items, mapping, one_line, text, time
from gitsession.transcripts.folding import Conversation, fold_each, none_abandoned, shown_together
from gitsession.transcripts.normal import assistant_of_blocks, damaged, titled_by_prompt, user_of_blocks
from gitsession.view import View

_KINDS = ("session_start", "message", "todo_state", "compaction_state", "session_end")
_INJECTED = "<system-reminder>"


def _is_start(value: Any) -> bool:
    return text(value, "type") == "session_start" and bool(text(value, "id") or mapping(value, "session"))


def _recognise(head: bytes, _name: str) -> bool:
    found = records.first_objects(head)
    if not found or any(text(value, "type") not in _KINDS for value in found[:2]):
        return False
    return _is_start(found[0]) or _is_headless(records.damaged_first_line(head), found)


def _is_headless(header: bytes, found: Sequence[dict[str, Any]]) -> bool:
    """Tells whether records follow a header that cannot be read: it says so itself, or a record that no other has."""
    if not header or any(text(value, "type") not in _KINDS or {"uuid", "parent_id"} & {*value} for value in found):
        return False
    spoken = all(text(mapping(value, "message"), "role") for value in found if text(value, "type") == "message")
    return spoken and (b'"session_start"' in header or any(text(value, "type") in _KINDS[2:] for value in found))


def _describe(value: dict[str, Any]) -> tuple[str | None, str | None]:
    # The id of the first record is the session's.
    return None if _is_start(value) else text(value, "id") or None, time(value.get("timestamp"))


def _read(stream: BinaryIO) -> Iterator[Record]:
    return records.read(stream, _describe)


def _header(path: PurePath, first: Record) -> Mapping[str, Any]:
    value = first.value
    own = (text(value, "id") or text(mapping(value, "session"), "id")) if _is_start(value) else ""
    return _learn({"id": own or path.stem, "created_at": "", "agent": "droid"}, first)


def _learn(header: Mapping[str, Any], record: Record) -> Mapping[str, Any]:
    value = record.value
    news: dict[str, Any] = {}
    if not header.get("created_at"):
        news["created_at"] = record.timestamp
    if _is_start(value):
        title = one_line(text(value, "sessionTitle") or text(value, "title"))
        news["title"] = None if title in ("", "New Session") else title
        news["cwd"] = text(value, "cwd") or None
        news["parent_session"] = text(value, "callingSessionId") or None
    header = changed(header, **news)
    said = [one for one in _messages(value, {}) if not one.get("meta")] if text(value, "type") == "message" else []
    return titled_by_prompt(header, said[0]) if said else header


def _messages(value: Any, names: dict[str, str]) -> list[Message]:
    """Returns the messages of a record, and adds the names of the tools that it calls, by their calls."""
    message = mapping(value, "message")
    content = message.get("content")
    if text(value, "type") != "message":
        return []
    if text(message, "role") == "assistant":
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        names |= {text(one, "id"): text(one, "name") for one in blocks if text(one, "type") == "tool_use"}
        model = text(message, "model") or text(value, "model")
        answer = assistant_of_blocks(blocks, model=model)
        return [] if answer is None else [answer]
    blocks = content if isinstance(content, list) else [content]
    injected = [block for block in blocks if _words(block).lstrip().startswith(_INJECTED)]
    typed = [block for block in blocks if block not in injected]
    return [*user_of_blocks(injected, names, meta=True), *user_of_blocks(typed, names)]


def _words(block: Any) -> str:
    return block if isinstance(block, str) else text(block, "text")


def _compaction(value: Any) -> CompactionEntry | None:
    if text(value, "type") != "compaction_state":
        return None
    summary = text(value, "summaryText") or text(mapping(value, "summary"), "body")
    return CompactionEntry(summary, None, integer(value, "tokensBefore")) if summary else None


def _view(record: Record) -> View:
    value = record.value
    if not isinstance(value, dict):
        return damaged(record)
    if (compaction := _compaction(value)) is not None:
        return View("system", (Part("text", compaction.summary),))
    said = _messages(value, {})
    # A prompt stands for its record, not the reminders that were sent along with it.
    if (shown := shown_together(sorted(said, key=lambda one: one.get("meta") is True))) is not None:
        return shown
    kind = text(value, "type") or "unknown record"
    gist = text(value, "title") or compact(items(value, "todos") or value)
    return View("meta", (Part("text", one_line(f"{kind}: {gist}", 200)),))


def _fold(log: Sequence[Record]) -> Conversation:
    names: dict[str, str] = {}
    return fold_each(log, lambda record: _compaction(record.value) or _messages(record.value, names))


DROID = Format(
    name="droid",
    title="Factory Droid",
    recognise=_recognise,
    read=_read,
    header=_header,
    learn=_learn,
    view=_view,
    fold=_fold,
    abandoned=none_abandoned,
    write=records.join,
    places=("${FACTORY_HOME_OVERRIDE:-~}/.factory/sessions",),
    names=("*.jsonl",),
    compose=compose,
)
