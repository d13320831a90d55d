"""pi: `~/.pi/agent/sessions/<directory>/<time>_<session>.jsonl`, a header and then one entry a line.

Versions 1 to 3, and what Tau, its sister in Python, writes: entries with `parent_id`, and no header but a
`session_info`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, BinaryIO

from gitsession.columns import Scratch
from gitsession.parts import Part, compact
from gitsession.transcripts import records
from gitsession.transcripts.base import AbandonedLine, Format, Record, Return
from gitsession.transcripts.fields import changed, mapping, one_line, text, time
from gitsession.transcripts.normal import damaged
from gitsession.transcripts.pi_compose import compose
from gitsession.transcripts.pi_fold import command, fold, said
from gitsession.transcripts.pi_tree import Tree, is_entry
from gitsession.view import View, view

_KINDS = {
    "message": "message",
    "model_change": "modelId",
    "thinking_level_change": "thinkingLevel",
    "compaction": "summary",
    "branch_summary": "summary",
    "custom": "customType",
    "custom_message": "customType",
    "label": "targetId",
    "session_info": "name",
}
# The fields that Tau calls otherwise.
_TAU = {"modelId": "model", "thinkingLevel": "thinking_level", "targetId": "label", "name": "title"}


def _recognise(head: bytes, _name: str) -> bool:
    found = records.first_objects(head)
    if found and _is_header(found[0]):
        # Other agents might begin with such a line too, so an entry must tell; or the header, where there is no other.
        return any(map(_is_pis, found[1:])) or (len(found) == 1 and "cwd" in found[0])
    # Without its header a session begins with an entry; entries like these further down are another agent's, and so are
    # those under the header of one that cannot be read.
    return bool(found) and _is_pis(found[0]) and b'"session_start"' not in records.damaged_first_line(head)


def _is_header(value: dict[str, Any]) -> bool:
    return text(value, "type") == "session" and bool(text(value, "id"))


def _is_pis(value: dict[str, Any]) -> bool:
    """Tells whether it is an entry as pi or Tau write it."""
    kind = text(value, "type")
    if kind not in _KINDS or "uuid" in value:
        return False
    known = _KINDS[kind] in value or _TAU.get(_KINDS[kind], "") in value
    if "parentId" in value:
        return known
    if isinstance(value.get("timestamp"), float | int) and text(value, "id"):
        return known or kind == "session_info"
    # The first version: no ids, and messages that carry their role.
    return kind == "message" and "id" not in value and bool(text(mapping(value, "message"), "role"))


def _describe(value: dict[str, Any]) -> tuple[str | None, str | None]:
    stamp = value.get("timestamp") or mapping(value, "message").get("timestamp")
    # The header's id is the session's; under it no entry could be told from it.
    return None if _is_header(value) else text(value, "id") or None, time(stamp)


def _read(stream: BinaryIO) -> Iterator[Record]:
    return records.read(stream, _describe)


def _header(path: PurePath, first: Record) -> Mapping[str, Any]:
    value = first.value if isinstance(first.value, dict) and _is_header(first.value) else {}
    own_id = text(value, "id") or _session_id(path)
    return _learn({"id": own_id, "created_at": "", "agent": "pi"}, first)


def _session_id(path: PurePath) -> str:
    """Returns the id that a file's name, `<time>_<session>.jsonl`, holds; the whole name where it is another."""
    return path.stem.rpartition("_")[2] or path.stem


def _learn(header: Mapping[str, Any], record: Record) -> Mapping[str, Any]:
    value = record.value
    if not isinstance(value, dict):
        return header
    news: dict[str, Any] = {}
    if not header.get("created_at"):
        news["created_at"] = record.timestamp
    if "cwd" not in header:
        news["cwd"] = text(value, "cwd") or None
    if _is_header(value) and "origin" not in header and (parent := text(value, "parentSession")):
        # It is the path of the file, which may have been written on another system.
        source = _session_id(PurePath(parent.replace("\\", "/")))
        news |= {"parent_session": source, "origin": {"session": source}}
    if text(value, "type") == "session_info" and (name := one_line(text(value, "name") or text(value, "title"))):
        news |= {"title": name, "title_from": "name"}
    elif "title" not in header and is_entry(value):
        message = said(value)
        if message is not None and message["role"] == "user" and "meta" not in message:
            words = " ".join(part.text for part in view(message).parts if part.kind == "text")
            news |= {"title": title, "title_from": "prompt"} if (title := one_line(words)) else {}
    return changed(header, **news)


def _view(record: Record) -> View:
    value = record.value
    if not isinstance(value, dict):
        return damaged(record)
    kind, message = text(value, "type"), mapping(value, "message")
    if kind == "message" and text(message, "role") == "bashExecution":
        who = view({"role": "user", "content": command(message)})
        return View("meta", who.parts) if message.get("excludeFromContext") is True else who
    if kind == "message":
        if (shown := said(value)) is not None:
            return view(shown)
        if error := text(message, "errorMessage"):
            return View("meta", (Part("text", f"error: {one_line(error, 200)}"),))
        return view(message)
    if kind in ("compaction", "branch_summary"):
        return View("system", (Part("text", f"[Conversation summary]\n{text(value, 'summary')}"),))
    if kind == "custom_message" and (shown := said(value)) is not None:
        return view(shown)
    field = _KINDS.get(kind, "id")
    gist = text(value, field) or text(value, _TAU.get(field, "id")) or compact(value)
    return View("meta", (Part("text", f"{kind or 'unknown record'}: {one_line(gist, 200)}"),))


def _outline(record: Record) -> Record:
    value = record.value
    if not isinstance(value, dict):
        return record._replace(raw=b"", value=None)
    kept = {key: value[key] for key in ("type", "id", "parentId", "parent_id") if key in value}
    kept["message"] = {"role": text(mapping(value, "message"), "role")}
    return record._replace(raw=b"", value=kept)


def _abandoned(log: Sequence[Record], scratch: Scratch | None = None) -> list[AbandonedLine]:
    return Tree(log, scratch).abandoned()


def _returns(log: Sequence[Record], scratch: Scratch | None = None) -> Iterable[Return]:
    return Tree(log, scratch).returns()


PI = Format(
    name="pi",
    title="pi",
    recognise=_recognise,
    read=_read,
    header=_header,
    learn=_learn,
    view=_view,
    fold=fold,
    abandoned=_abandoned,
    write=records.join,
    outline=_outline,
    returns=_returns,
    places=("${PI_CODING_AGENT_DIR:-~/.pi/agent}/sessions", "~/.tau/sessions"),
    names=("*.jsonl",),
    compose=compose,
)
