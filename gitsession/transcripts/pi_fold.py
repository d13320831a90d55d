"""The conversation of a pi session, as the agent would resume it.

A compaction does not end the conversation: what it stands for is shown before it. What extensions and the agent itself
put before the model is told apart from what a person typed. A command that the user kept from the model is no message,
but an entry of its own, so that no other model is ever sent it.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from gitsession.model import CompactionEntry, Message, MessageEntry, SessionEntry, UnknownEntry
from gitsession.transcripts.base import Record
from gitsession.transcripts.fields import integer, items, mapping, text
from gitsession.transcripts.normal import image_part, normal_message, text_part, tool_call
from gitsession.transcripts.pi_tree import Tree


def fold(records: Sequence[Record]) -> list[SessionEntry]:
    """Returns the conversation of a log, also of the beginning of one."""
    return _Fold(records).entries


class _Fold:
    def __init__(self, records: Sequence[Record]) -> None:
        self.entries: list[SessionEntry] = []
        self._records = records
        self._tree = Tree(records)
        self._entry_of: dict[int, str] = {}  # the entries that records came to stand in
        self._line = self._tree.line()
        self._time = ""
        for number, place in enumerate(self._line):
            self._time = records[place].timestamp or self._time
            value = self._tree.value(place)
            if text(value, "type") == "compaction":
                self._put_compaction(number, value)
            elif (message := said(value, folded=True) or _notice(value)) is not None:
                self._entry_of[place] = self._tree.entry_id(place)
                self.entries.append(MessageEntry(message, id=self._entry_of[place], timestamp=self._time))
            elif (kept := _kept_from_model(value)) is not None:
                self.entries.append(UnknownEntry(kept, self._tree.entry_id(place), self._time))

    def _put_compaction(self, number: int, value: dict[str, Any]) -> None:
        place = self._line[number]
        self.entries.append(
            CompactionEntry(
                text(value, "summary"),
                self._first_kept(number, value),
                integer(value, "tokensBefore") or integer(value, "tokens_before"),
                id=self._tree.entry_id(place),
                timestamp=self._time,
            )
        )

    def _first_kept(self, number: int, value: dict[str, Any]) -> str | None:
        """Returns the entry from which on a compaction kept messages; where it kept none, the one that follows it."""
        before, after = self._line[:number], self._line[number + 1 :]
        start = self._kept_from(before, value)
        kept = () if start is None else (place for place in before[before.index(start) :] if place in self._entry_of)
        # What follows is not put down yet, so it is asked whether it will be.
        later = (place for place in after if said(self._tree.value(place)) is not None)
        first = next(iter(kept), None)
        if first is None:
            first = next(later, None)
        return None if first is None else self._tree.entry_id(first)

    def _kept_from(self, before: Sequence[int], value: dict[str, Any]) -> int | None:
        """Returns the first of the entries before a compaction that it kept; None if it kept none."""
        named = self._tree.find(text(value, "firstKeptEntryId") or text(value, "first_kept_entry_id"))
        if named is None and (index := integer(value, "firstKeptEntryIndex")) is not None:
            # The first version counted the objects of the file, the header as the first.
            objects = [place for place, record in enumerate(self._records) if isinstance(record.value, dict)]
            named = objects[index] if 0 <= index < len(objects) else None
        if named is not None:
            return named if named in before else None
        if tail := items(value, "retainedTail"):
            same = (place for place in reversed(before) if self._tree.value(place).get("message") == tail[0])
            return next(same, None)
        replaced = {self._tree.find(name) for name in items(value, "replaces_entry_ids") if isinstance(name, str)}
        if replaced - {None}:
            last = max((before.index(place) for place in replaced if place in before), default=len(before))
            return next(iter(before[last + 1 :]), None)
        return None


def said(value: dict[str, Any], *, folded: bool = False) -> Message | None:
    """Returns the normal message that an entry stands for; None for one that is no part of the conversation.

    Args:
        value: The entry.
        folded: Whether it is without the words that the agent shows for a thought that is redacted. The text of its
            commit has them, for good.
    """
    match text(value, "type"):
        case "message":
            return _message(mapping(value, "message"), folded=folded)
        case "custom_message":
            return _user(value.get("content"), meta=True)
        case "branch_summary" if text(value, "summary"):
            return normal_message("user", text(value, "summary"), meta=True)
    return None


def _notice(value: dict[str, Any]) -> Message | None:
    """Returns what the agent says of an answer that says nothing: that the request failed."""
    failed = text(mapping(value, "message"), "errorMessage") if text(value, "type") == "message" else ""
    return normal_message("assistant", failed, meta=True) if failed else None


def _kept_from_model(value: dict[str, Any]) -> dict[str, Any] | None:
    """Returns a command that the user ran and the model was not shown, with its role as the type; None for all else."""
    message = mapping(value, "message") if text(value, "type") == "message" else {}
    if text(message, "role") != "bashExecution" or message.get("excludeFromContext") is not True:
        return None
    return {"type": "bashExecution", **{key: one for key, one in message.items() if key not in ("role", "timestamp")}}


def _message(message: dict[str, Any], *, folded: bool) -> Message | None:
    content = message.get("content")
    match text(message, "role"):
        case "user":
            return _user(content, meta=False)
        case "assistant":
            return _assistant(message, folded=folded)
        case "toolResult" | "tool":
            return normal_message(
                "tool",
                _parts(content),
                tool_call_id=text(message, "toolCallId") or text(message, "tool_call_id"),
                name=text(message, "toolName") or text(message, "name"),
                is_error=message.get("isError") is True or message.get("ok") is False,
            )
        case "bashExecution" if message.get("excludeFromContext") is not True:
            return normal_message("user", command(message))
        case "custom" | "hookMessage":
            return _user(content, meta=True)
        case "branchSummary" | "compactionSummary" if text(message, "summary"):
            return normal_message("user", text(message, "summary"), meta=True)
    return None


def command(message: dict[str, Any]) -> str:
    """Returns a command that the user ran in the session, and what it printed."""
    output = text(message, "output").rstrip("\n")
    return f"! {text(message, 'command')}" + (f"\n{output}" if output else "")


def _user(content: Any, *, meta: bool) -> Message | None:
    parts = _parts(content)
    return normal_message("user", parts, meta=meta) if parts else None


def _assistant(message: dict[str, Any], *, folded: bool) -> Message | None:
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    thinking = [block for block in blocks if text(block, "type") == "thinking"]
    thoughts = [text(block, "thinking") for block in thinking if not (folded and block.get("redacted") is True)]
    calls = [_call(block) for block in blocks if text(block, "type") == "toolCall"]
    calls += [_call(call) for call in items(message, "tool_calls") if isinstance(call, dict)]
    reasoning = "\n".join(filter(None, thoughts))
    parts = _parts(blocks)
    if not (parts or calls or reasoning):
        return None
    details = _signed(blocks) if _is_claude(message) else []
    return normal_message(
        "assistant",
        parts,
        reasoning=reasoning,
        reasoning_details=details,
        tool_calls=calls,
        model=text(message, "model"),
    )


def _is_claude(message: dict[str, Any]) -> bool:
    """Tells whether the signatures of an answer are those that Claude gives; other models have other ones."""
    return text(message, "api") == "anthropic-messages" or "claude" in text(message, "model")


def _signed(blocks: Iterable[Any]) -> list[Message]:
    found: list[Message] = []
    for block in blocks:
        signature = text(block, "thinkingSignature") if text(block, "type") == "thinking" else ""
        if signature and block.get("redacted") is True:
            found.append({"type": "reasoning.encrypted", "data": signature})
        elif signature:
            found.append({"type": "reasoning.text", "text": text(block, "thinking"), "signature": signature})
    return found


def _call(block: dict[str, Any]) -> Message:
    return tool_call(text(block, "id"), text(block, "name"), block.get("arguments"))


def _parts(content: Any) -> list[Message]:
    """Returns the text and the images of a message's content."""
    blocks: Iterable[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    parts = []
    for block in blocks if isinstance(blocks, list) else ():
        if text(block, "type") == "text" and text(block, "text"):
            parts.append(text_part(block["text"]))
        elif text(block, "type") == "image" and (encoded := text(block, "data")):
            media = text(block, "mimeType") or text(block, "mime_type") or "image/png"
            parts.append(image_part(f"data:{media};base64,{encoded}"))
    return parts
