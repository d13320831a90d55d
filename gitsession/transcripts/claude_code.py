"""Claude Code: `~/.claude/projects/<directory>/<session>.jsonl`, one record a line.

A session is named by its file. A subagent has a file of its own, `<session>/subagents/agent-<id>.jsonl`, or in older
versions `agent-<id>.jsonl` beside that of its session; it is the session `<session>/agent-<id>`. What else the agent
keeps there, `agent-<id>.meta.json` and `<session>/tool-results/`, is no transcript.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import PurePath
from typing import Any, BinaryIO

from gitsession.columns import Scratch
from gitsession.transcripts import records
from gitsession.transcripts.base import AbandonedLine, Format, Record, Return, TextRules
from gitsession.transcripts.claude_chain import Tree
from gitsession.transcripts.claude_compose import compose
from gitsession.transcripts.claude_fold import fold
from gitsession.transcripts.claude_left import abandoned, returns
from gitsession.transcripts.claude_outlines import outline
from gitsession.transcripts.claude_prompts import Split, command, prompt, split, split_by_text_1
from gitsession.transcripts.claude_records import CHAIN, KINDS, describe
from gitsession.transcripts.claude_view import show, show_by_text_1
from gitsession.transcripts.composing import is_uuid
from gitsession.transcripts.fields import changed, mapping, one_line, text

# What lies beside transcripts: what a subagent is, and outputs that are too long for a record, by the session's id.
_ABOUT_SUBAGENT = ".meta.json"
_RESULTS = "tool-results"

# Where a title comes from, the weakest first: what a person chose stands against what was made up for them.
_TITLES = ("command", "prompt", "summary", "ai", "custom")
_TITLE_KINDS = {
    "summary": ("summary", "summary"),
    "ai-title": ("ai", "aiTitle"),
    "custom-title": ("custom", "customTitle"),
}


def _recognise(head: bytes, _name: str) -> bool:
    found = records.first_objects(head)
    if found:
        return any(map(_is_record, found))
    # The first record may be longer than the head: a prompt with an image.
    return b'"parentUuid"' in head and b'"sessionId"' in head and head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def _is_record(value: dict[str, Any]) -> bool:
    kind = text(value, "type")
    if kind in CHAIN:
        return bool(text(value, "uuid")) and ("parentUuid" in value or bool(text(value, "sessionId")))
    if kind in ("summary", "file-history-snapshot"):
        return bool(text(value, "leafUuid") or text(value, "messageId"))
    return kind in KINDS and KINDS[kind] in value and bool(text(value, "sessionId"))


def _read(stream: BinaryIO) -> Iterator[Record]:
    return records.read(stream, describe)


def _header(path: PurePath, first: Record, how: Split = split) -> Mapping[str, Any]:
    parent = _parent(path, first)
    header: dict[str, Any] = {"id": path.stem if parent is None else f"{parent[0]}/{parent[1]}"}
    if parent is not None:
        header["parent_session"] = parent[0]
    return _learn({**header, "created_at": "", "agent": "claude-code"}, first, how)


def _parent(path: PurePath, first: Record) -> tuple[str, str] | None:
    """Returns the session that a subagent's file belongs to, and its name in there; None for any other file."""
    if not path.stem.startswith("agent-"):
        return None
    parts = path.parent.parts
    if "subagents" in parts[1:]:
        place = len(parts) - 1 - parts[::-1].index("subagents")
        return parts[place - 1], "/".join([*parts[place + 1 :], path.stem])
    session = text(first.value, "sessionId")
    return (session, path.stem) if session and session != path.stem else None


def _learn(header: Mapping[str, Any], record: Record, how: Split = split) -> Mapping[str, Any]:
    value = record.value
    if not isinstance(value, dict):
        return header
    news: dict[str, Any] = {}
    if not header.get("created_at"):
        news["created_at"] = record.timestamp
    for field, key in (("cwd", "cwd"), ("git_branch", "gitBranch")):
        if field not in header:
            news[field] = text(value, key) or None
    copied = mapping(value, "forkedFrom")
    if "origin" not in header and (source := text(copied, "sessionId")):
        news["origin"] = {"session": source, "record": text(copied, "messageUuid")}
        news["parent_session"] = header.get("parent_session") or source
    return changed(header, **news, **_title(header, value, how))


def _title(header: Mapping[str, Any], value: dict[str, Any], how: Split) -> dict[str, str]:
    """Returns the title that a record gives the session, and where it comes from, if no better one is known."""
    source, field = _TITLE_KINDS.get(text(value, "type"), ("prompt", ""))
    title = one_line(text(value, field) if field else prompt(value, how))
    if not title and not field and how is split:
        title, source = one_line(command(value)), "command"
    known = header.get("title_from")
    rank = _TITLES.index(known) if known in _TITLES else -1
    # Of several prompts or commands the first one names the session, of the others the last one.
    if not title or _TITLES.index(source) < rank or (source == known and source in ("command", "prompt")):
        return {}
    return {"title": title, "title_from": source}


def _abandoned(log: Sequence[Record], scratch: Scratch | None = None) -> list[AbandonedLine]:
    return abandoned(Tree(log, scratch), scratch)


def _returns(log: Sequence[Record], scratch: Scratch | None = None) -> Iterable[Return]:
    return returns(Tree(log, scratch), scratch)


def _companion(path: PurePath) -> bool:
    if path.parent.name == _RESULTS:
        return is_uuid(path.parent.parent.name)
    return path.name.startswith("agent-") and path.name.endswith(_ABOUT_SUBAGENT)


CLAUDE_CODE = Format(
    name="claude-code",
    title="Claude Code",
    recognise=_recognise,
    read=_read,
    header=_header,
    learn=_learn,
    view=show,
    fold=fold,
    abandoned=_abandoned,
    write=records.join,
    outline=outline,
    returns=_returns,
    companion=_companion,
    places=("${CLAUDE_CONFIG_DIR:-~/.claude}/projects",),
    names=("*.jsonl",),
    compose=compose,
    text=2,
    former=(
        (
            1,
            TextRules(
                header=partial(_header, how=split_by_text_1),
                learn=partial(_learn, how=split_by_text_1),
                view=show_by_text_1,
            ),
        ),
    ),
)
