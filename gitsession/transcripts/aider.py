"""aider: `.aider.chat.history.md` in the project's directory, one Markdown file for all chats there.

aider only ever appends to it, one piece after the other: `# aider chat started at …`, notices behind `> `, the prompt
behind `#### `, the model's answer as it is. So one file is one log on one branch, and the chats in it are told apart by
the notes with which they begin: were each a session of its own, a file that grows would not be one log that grows.

A record is such a piece, with the blank lines before it; one blank line after an answer or a beginning was written
with it. A piece is whole when the line end after it is there; nothing tells of a prompt or an answer at the end of the
file that more lines of it are being written. So what comes to one later is a record more, and the conversation is that
of the file, whatever records it was taken in as. The session is named by the moment at which its first chat began,
since all these files have the same name, or by the id that an export has written behind it; the time of a prompt is not
known but to be after that. Times are those of the user's clock and have no zone; they are taken as UTC. A heading or a
quotation in an answer that looks like a prompt or a notice is read as such, as aider does it, but not a quotation in a
block of code.
"""

import io
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, BinaryIO

from gitsession.model import Message
from gitsession.parts import Part
from gitsession.transcripts import records
from gitsession.transcripts.aider_compose import compose
from gitsession.transcripts.base import Format, Record
from gitsession.transcripts.fields import time
from gitsession.transcripts.folding import Conversation, fold_each, none_abandoned, shown_together
from gitsession.transcripts.normal import damaged, normal_message, titled_by_prompt
from gitsession.view import View

_START = re.compile(rb"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)")
# By which a fork that was exported tells that it is another session than its origin.
_FORK = re.compile(r" \(gitsession ([0-9a-f-]{36})\)")
_MODEL = re.compile(r"> (?:Main )?[Mm]odel: (\S+)")
_EDGES = b"\xef\xbb\xbf \t\r\n"


def _kind(line: bytes) -> str:
    """Returns which kind of piece a line belongs to; "" for a blank one."""
    if not line.strip(_EDGES):
        return ""
    if _START.match(line.lstrip(b"\xef\xbb\xbf")):
        return "start"
    if line.startswith(b"####"):
        return "prompt"
    return "notice" if line.startswith(b"> ") else "answer"


def _recognise(head: bytes, _name: str) -> bool:
    return bool(_START.match(head.lstrip(_EDGES)))


def _read(stream: BinaryIO) -> Iterator[Record]:
    piece: list[bytes] = []
    blanks: list[bytes] = []  # what may belong to the piece, or to the next one
    kind, number, fenced = "", 1, False
    for line in itertools.chain(iter(stream.readline, b""), [None]):
        found = "end" if line is None else _kind(line)
        if line is not None and found in ("answer", "notice") and fenced:
            found = "answer"
        if line is not None and not found:
            blanks.append(line)
            continue
        if piece and (found != kind or found in ("start", "notice") or (found == "prompt" and blanks)):
            own = 1 if blanks and kind in ("start", "answer") else 0
            yield _record(piece + blanks[:own], number)
            number += len(piece) + own
            piece, blanks = [], blanks[own:]
        if line is not None:
            piece += [*blanks, line]
            blanks, kind = [], found
            # What looks like a notice in a block of code is code.
            fenced = found == "answer" and fenced != line.startswith(b"```")
    if blanks:
        # They come before a piece that is still to come.
        yield Record(b"".join(blanks), line=number, newline=False, unfinished=True, problem="a piece is to follow")


def _record(lines: list[bytes], number: int) -> Record:
    raw = b"".join(lines)
    start = _START.search(raw)
    stamp = time(start[1].decode()) if start is not None and _kind(lines[-1]) in ("", "start") else None
    if not raw.endswith(b"\n"):
        return Record(raw, line=number, newline=False, problem="the last line has no end yet", unfinished=True)
    return Record(raw[:-1], line=number, timestamp=stamp)


def _said(record: Record) -> tuple[str, str]:
    """Returns the kind of a piece, and what it says."""
    lines = [line for line in record.raw.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    kind = _kind(lines[0]) if lines else ""
    words = record.raw.decode("utf-8", "replace").replace("\r", "").strip("\ufeff \t\n")
    if kind == "prompt":
        typed = (line.strip().removeprefix("####").strip() for line in words.split("\n"))
        return kind, "\n".join(typed).removeprefix("<blank>")
    return kind, words


def _messages(record: Record, model: str = "") -> list[Message]:
    kind, words = _said(record)
    match kind:
        case "prompt":
            return [normal_message("user", words)] if words else []
        case "answer":
            return [normal_message("assistant", words, model=model)]
        case "start":
            return [normal_message("system", _FORK.sub("", words.removeprefix("# ")), meta=True)]
    return []


def _header(path: PurePath, first: Record) -> Mapping[str, Any]:
    own = path.stem if first.timestamp is None else f"aider-{first.timestamp.replace(':', '-').removesuffix('Z')}"
    fork = _FORK.search(first.raw.decode("utf-8", "replace")) if _said(first)[0] == "start" else None
    return {"id": fork[1] if fork else own, "created_at": first.timestamp or "", "agent": "aider"}


def _learn(header: Mapping[str, Any], record: Record) -> Mapping[str, Any]:
    kind, words = _said(record)
    # A command to aider is no prompt.
    is_prompt = kind == "prompt" and words and not words.startswith(("/", "!"))
    return titled_by_prompt(header, normal_message("user", words)) if is_prompt else header


def _view(record: Record) -> View:
    kind, words = _said(record)
    if kind == "notice":
        return View("meta", (Part("text", words.removeprefix(">").strip()),))
    if kind == "prompt" and not words:
        return View("user")
    return shown_together(_messages(record)) or damaged(record)


def _pieces(log: Sequence[Record]) -> Iterator[Record]:
    """Yields the pieces of a file from its records, each with the id of the record with which it begins."""
    begun: dict[int, Record] = {}
    place = 0
    for record in log:
        begun[place] = record
        place += len(record.raw) + record.newline
    place = 0
    for piece in _read(io.BytesIO(b"".join(records.join(log)))):
        own = begun.get(place)
        if own is not None and not piece.unfinished:
            yield piece._replace(id=own.id, timestamp=own.timestamp)
        place += len(piece.raw) + piece.newline


def _fold(log: Sequence[Record]) -> Conversation:
    model = ""

    def messages(record: Record) -> list[Message]:
        nonlocal model
        kind, words = _said(record)
        if kind == "notice" and (found := _MODEL.match(words)):
            model = found[1]
        return _messages(record, model)

    return fold_each(list(_pieces(log)), messages)


AIDER = Format(
    name="aider",
    title="aider",
    recognise=_recognise,
    read=_read,
    header=_header,
    learn=_learn,
    view=_view,
    fold=_fold,
    abandoned=none_abandoned,
    write=records.join,
    places=("${AIDER_CHAT_HISTORY_FILE:-.aider.chat.history.md}", "~/.aider/sessions"),
    names=("*.md",),
    compose=compose,
)
