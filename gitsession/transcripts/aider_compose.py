"""A chat history that aider can go on with: a file of its own, which `--chat-history-file` names.

Known from the agent's source (`utils.py`, `io.py`). aider restores what stands behind `#### ` as prompts, and what
stands behind nothing as answers; it then asks a model to summarise what is too long. It has no tools: calls and results
stand in the answers as text, the beginning of long ones. Context that no person typed becomes notices of one line each,
which aider shows in the file and does not restore.

A line of an answer that aider would take for a mark of its own gets a blank before it. A fork has what its origin has,
but for its own id: that stands behind the time at which the first chat began, in a line that aider does not read. The
time alone would not tell the one from the other.
"""

import re
from collections.abc import Iterator
from pathlib import PurePath

from gitsession.model import Message
from gitsession.transcripts import records
from gitsession.transcripts.base import Composed, Draft
from gitsession.transcripts.composing import (
    first_time,
    is_context,
    is_plain,
    marked_words,
    own_id,
    said,
    shown_arguments,
)
from gitsession.transcripts.fields import items, mapping, one_line, text
from gitsession.transcripts.losses import LONG

_MARK = re.compile("^(?=# |####|> )", re.MULTILINE)
# What stands behind the time at which a chat began: nothing, or the id of a fork.
_STARTED = re.compile(rb"(?<=^# aider chat started at .{19})(?: \(gitsession [0-9a-f-]{36}\))?", re.MULTILINE)
_LONGEST_NOTICE = 200


def compose(draft: Draft) -> Composed:
    """Returns a session as a chat history that aider can restore."""
    path = PurePath("sessions", f"{own_id(draft)}.md")
    rewritten = draft.whole and not is_plain(draft.meta.id)
    return Composed(_lines(draft), path, _resume, rewritten=rewritten)


def _named(own: str) -> str:
    return f" (gitsession {own})"


def _resume(path: PurePath) -> tuple[str, ...]:
    return ("aider", "--restore-chat-history", "--chat-history-file", str(path))


def _lines(draft: Draft) -> Iterator[bytes]:
    last = b""
    for piece in records.join(draft.records):
        yield piece if last else _STARTED.sub(_named(draft.id).encode(), piece, count=1)
        last = piece
    if last and not last.endswith(b"\n"):
        yield b"\n"
    if not draft.records:
        yield _written(f"\n# aider chat started at {first_time(draft)[:19].replace('T', ' ')}{_named(draft.id)}\n\n")
    model = ""
    names: dict[str, str] = {}  # of the tools, by their calls
    for one in said(draft):
        if one.compaction is not None:
            yield _prompt(f"[Conversation summary]\n{one.compaction.summary}")
            continue
        spoke = text(one.message, "model")
        if spoke and spoke != model:
            model = spoke
            yield _notice(f"Model: {model}")
        yield from _message(one.message, names)


def _message(message: Message, names: dict[str, str]) -> Iterator[bytes]:
    words = marked_words(message)
    if is_context(message):
        yield _notice(words)
    elif message["role"] == "user":
        yield _prompt(words)
    elif message["role"] == "tool":
        tool = text(message, "name") or names.get(text(message, "tool_call_id"), "") or "a tool"
        failed = message.get("is_error") is True
        yield _answer(f"[{tool} failed]" if failed else f"[result of {tool}]", words)
    else:
        if words.strip():
            yield _answer(words)
        for call in items(message, "tool_calls"):
            tool = names[text(call, "id")] = text(mapping(call, "function"), "name")
            yield _answer(f"[call of {tool}]", shown_arguments(call))


def _answer(words: str, long: str = "") -> bytes:
    if long.strip():
        cut = f"… [{len(long) - LONG:,} characters more]" if len(long) > LONG else ""
        words = f"{words}\n{long[:LONG]}{cut}"
    return _written("\n" + _MARK.sub(" ", words.strip()) + "\n\n")


def _prompt(words: str) -> bytes:
    return _written("\n#### " + "  \n#### ".join(words.splitlines() or ["<blank>"]) + "  \n")


def _notice(words: str) -> bytes:
    return _written(f"> {one_line(words, _LONGEST_NOTICE)}  \n")


def _written(words: str) -> bytes:
    return words.encode("utf-8", "replace")
