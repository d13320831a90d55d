"""A session that pi can resume.

A fork has a header of its own, which names the file that it comes from, and the entries of its origin as they are:
their ids need only be unique in a file. What the model thought is kept: pi shows it to another model as text. What
Claude signed is kept with its signatures, as an answer that Anthropic's API gave: pi sends them to that model alone.
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from gitsession.model import CompactionEntry, Message, MessageEntry, UnknownEntry
from gitsession.transcripts.base import Composed, Draft
from gitsession.transcripts.composing import (
    arguments,
    derived_uuid,
    encoded_image,
    file_time,
    image_url,
    is_context,
    is_notice,
    is_plain,
    last_time,
    line,
    marked,
    own_id,
    parts,
    signed_thoughts,
    since_epoch,
    timed,
    title,
    verbatim,
)
from gitsession.transcripts.fields import items, mapping, text
from gitsession.transcripts.pi_fold import fold
from gitsession.transcripts.pi_tree import Tree
from gitsession.transcripts.shapes import normal_messages

REDACTED = "[Reasoning redacted]"
"""What the agent shows for a thought that is redacted."""

_VERSION = 3
_NO_DIRECTORY = str.maketrans("/\\:", "---")
_UNUSED = ("input", "output", "cacheRead", "cacheWrite", "total")


def compose(draft: Draft) -> Composed:
    """Returns a session as one that pi can resume."""
    rewritten = draft.whole and not is_plain(draft.meta.id)
    draft = draft._replace(whole=draft.whole and not rewritten)
    own = own_id(draft)
    made = file_time(draft)
    path = PurePath("sessions", directory(draft.cwd), _file_name(made, own))
    lines = _Lines(draft)
    return Composed(
        lines.all(), path, lambda path: ("pi", "--session", str(path)), rewritten=rewritten, entries=lines.entries
    )


def directory(cwd: str) -> str:
    """Returns the name under which the agent keeps the sessions of a working directory."""
    bare = cwd[1:] if cwd[:1] in ("/", "\\") else cwd
    return f"--{bare.translate(_NO_DIRECTORY)}--"


def _file_name(made: str, session: str) -> str:
    return f"{made.replace(':', '-').replace('.', '-')}_{session}.jsonl"


class _Lines:
    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        first = next((record.value for record in draft.records if isinstance(record.value, dict)), {})
        self._header = first if text(first, "type") == "session" else {}
        # Records of Tau are no entries of pi's, so that their conversation is what is left.
        self._copied = draft.records if self._header else ()
        folded = [] if self._header else [one for one in fold(draft.records) if not isinstance(one, UnknownEntry)]
        self.entries = [*folded, *draft.entries]
        self._tree = Tree(self._copied)
        self._last: str | None = None
        if self._tree.leaf is not None:
            self._last = text(self._tree.value(self._tree.leaf), "id") or None
        # The first version has no ids, so what is added has none either.
        self._linear = bool(self._header) and "version" not in self._header
        self._known: dict[str, str] = {}
        for place in self._tree.entries():
            self._known[self._tree.entry_id(place)] = text(self._tree.value(place), "id")
        self._taken = {*self._known.values()} - {""}

    def all(self) -> Iterator[bytes]:
        """Yields the lines: the header, what was forked, what came after, the name."""
        yield line(self._new_header())
        for record in self._copied:
            value = record.value
            copy = None if text(value, "type") == "session" else verbatim(record)
            if copy is not None:
                yield copy
        draft = self._draft if self._header else self._draft._replace(records=())
        for entry, at in timed(draft._replace(entries=self.entries)):
            if isinstance(entry, CompactionEntry):
                yield self._compaction(entry, at)
            else:
                yield from self._message(entry, at)
        if name := title(self._draft, self._copied):
            yield self._entry("session_info", "session_info", last_time(self._draft), {"name": name})

    def _new_header(self) -> dict[str, Any]:
        made = last_time(self._draft)
        header = {"id": self._draft.id, "timestamp": made, "cwd": self._draft.cwd}
        if not self._header:
            return {"type": "session", "version": _VERSION, **header}
        source = _file_name(text(self._header, "timestamp") or made, text(self._header, "id") or self._draft.meta.id)
        return {**self._header, **header, "parentSession": source}

    def _entry(self, kind: str, entry_id: str, at: str, fields: dict[str, Any]) -> bytes:
        ids: dict[str, Any] = {}
        if not self._linear:
            own = derived_uuid(self._draft.id, "entry", entry_id)
            own = own if own[:8] in self._taken else own[:8]
            self._taken.add(own)
            ids = {"id": own, "parentId": self._last}
            self._last = own
            self._known.setdefault(entry_id, own)
        return line({"type": kind, **ids, "timestamp": at, **fields})

    def _message(self, entry: MessageEntry, at: str) -> Iterator[bytes]:
        for number, message in enumerate(normal_messages(entry.message)):
            name = f"{entry.id}/{number}" if number else entry.id
            role = message["role"]
            if is_notice(message):
                continue
            if is_context(message):
                kind = "system" if role == "system" else "context"
                content = _blocks(message)
                fields = {"customType": kind, "content": content, "display": False}
                yield self._entry("custom_message", name, at, fields)
            else:
                said = {"assistant": _answer, "tool": _result}.get(role, _prompt)(message)
                yield self._entry("message", name, at, {"message": {**said, "timestamp": since_epoch(at)}})

    def _compaction(self, entry: CompactionEntry, at: str) -> bytes:
        kept = self._known.get(entry.first_kept_id or "", "")
        # What is not there keeps nothing, which is what an entry that is still to come has to mean.
        first = kept or entry.first_kept_id or "none"
        fields = {"summary": entry.summary, "firstKeptEntryId": first, "tokensBefore": entry.tokens_before or 0}
        return self._entry("compaction", entry.id, at, fields)


def _prompt(message: Message) -> Message:
    return {"role": "user", "content": _blocks(message)}


def _answer(message: Message) -> Message:
    calls = items(message, "tool_calls")
    signed = signed_thoughts(message)
    blocks = [*map(_thought, signed)]
    if not signed and (thought := text(message, "reasoning")):
        blocks.append({"type": "thinking", "thinking": thought})
    blocks += [block if block["type"] == "text" else {"type": "text", "text": "[image]"} for block in _blocks(message)]
    for call in calls:
        name = text(mapping(call, "function"), "name")
        blocks.append({"type": "toolCall", "id": text(call, "id"), "name": name, "arguments": arguments(call)})
    cost = dict.fromkeys(_UNUSED, 0)
    usage = {**dict.fromkeys(_UNUSED[:-1], 0), "totalTokens": 0, "cost": cost}
    api, provider = ("anthropic-messages", "anthropic") if signed else ("unknown", "unknown")
    told = {"api": api, "provider": provider, "model": text(message, "model"), "usage": usage}
    return {"role": "assistant", "content": blocks, **told, "stopReason": "toolUse" if calls else "stop"}


def _thought(block: dict[str, Any]) -> dict[str, Any]:
    """Returns one of Anthropic's blocks of thoughts; in place of what is redacted stand the words that pi shows."""
    if block["type"] == "redacted_thinking":
        return {"type": "thinking", "thinking": REDACTED, "thinkingSignature": block["data"], "redacted": True}
    return {"type": "thinking", "thinking": block["thinking"], "thinkingSignature": block["signature"]}


def _result(message: Message) -> Message:
    named = {"toolCallId": text(message, "tool_call_id"), "toolName": text(message, "name")}
    failed = message.get("is_error") is True
    return {"role": "toolResult", **named, "content": _blocks(message), "isError": failed}


def _blocks(message: Message) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in parts(message):
        url = image_url(part)
        if encoded := encoded_image(url):
            blocks.append({"type": "image", "data": encoded[1], "mimeType": encoded[0]})
        elif said := marked(url) if url else text(part, "text"):
            blocks.append({"type": "text", "text": said})
    return blocks
