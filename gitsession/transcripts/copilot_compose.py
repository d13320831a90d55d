"""A session that GitHub Copilot CLI can resume.

Known from the schema of events that the agent's SDK carries, and from what its reader takes: each event has a UUID, and
`parentId` is the event before it. The session is the directory that its events lie in; all else there is made anew.

A fork has the events of its origin with another session's id, without those that a rewind took back. Another model's
thoughts stay, as text. Images are attached to the prompt, or to the result of a tool; in any other text there is a mark
for one.
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from gitsession.model import CompactionEntry, Message
from gitsession.transcripts.base import Composed, Draft, Record
from gitsession.transcripts.composing import (
    Said,
    arguments,
    derived_uuid,
    encoded_file,
    first_time,
    is_context,
    is_plain,
    is_uuid,
    last_time,
    line,
    marked_words,
    own_id,
    parts,
    said,
    words_and_images,
)
from gitsession.transcripts.copilot_rewinds import REWIND, kept
from gitsession.transcripts.fields import items, mapping, text

# A fork was not ended, and what a rewind took back is not in it.
_NOT_FORKED = ("session.shutdown", REWIND)
# The version whose events these are like.
_VERSION = "1.0.102"


def compose(draft: Draft) -> Composed:
    """Returns a session as one that GitHub Copilot CLI can resume."""
    own = own_id(draft)
    path = PurePath("session-state", own, "events.jsonl")
    rewritten = draft.whole and not is_plain(draft.meta.id)
    return Composed(_Lines(draft).all(), path, lambda _: ("copilot", f"--resume={own}"), rewritten=rewritten)


class _Lines:
    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._last: str | None = None
        self._number = 0
        self._turn = ""

    def all(self) -> Iterator[bytes]:
        """Yields the lines: how the session begins, what was forked, what came after."""
        copied = [record for record in kept(self._draft.records) if isinstance(record.value, dict)]
        if not any(text(record.value, "type") == "session.start" for record in copied):
            yield self._start()
        for record in copied:
            if text(record.value, "type") not in _NOT_FORKED:
                yield self._copied(record)
        at = last_time(self._draft)
        for one in said(self._draft):
            at = one.at
            if one.compaction is not None:
                yield from self._compaction(one.compaction, at)
            else:
                yield from self._message(one)
        yield from self._end_turn(at)

    def _start(self) -> bytes:
        context = {"cwd": self._draft.cwd}
        if branch := text(self._draft.meta.extra, "git_branch"):
            context["branch"] = branch
        return self._event("session.start", first_time(self._draft), **self._told(), context=context)

    def _told(self) -> dict[str, Any]:
        """Returns what the agent's reader wants to know of a session."""
        told = {"sessionId": self._draft.id, "version": 1, "producer": "copilot-agent"}
        return {**told, "copilotVersion": _VERSION, "startTime": first_time(self._draft)}

    def _copied(self, record: Record) -> bytes:
        value, data = record.value, mapping(record.value, "data")
        if text(value, "type") == "session.start":
            data = {**self._told(), **data, "sessionId": self._draft.id}
        own = text(value, "id")
        own = own if is_uuid(own) else derived_uuid(self._draft.id, "event", record.id or own)
        value = {**value, "data": data, "id": own, "parentId": self._last}
        self._last = own
        return line(value)

    def _event(self, kind: str, at: str, /, **data: Any) -> bytes:
        self._number += 1
        own = derived_uuid(self._draft.id, "added", str(self._number))
        before, self._last = self._last, own
        return line({"type": kind, "data": data, "id": own, "timestamp": at, "parentId": before})

    def _end_turn(self, at: str) -> Iterator[bytes]:
        if self._turn:
            yield self._event("assistant.turn_end", at, turnId=self._turn)
            self._turn = ""

    def _message(self, one: Said) -> Iterator[bytes]:
        message, at = one.message, one.at
        role = message["role"]
        if role == "assistant":
            yield from self._answer(message, at)
        elif role == "tool":
            yield self._result(message, at)
        elif role == "system":
            yield from self._end_turn(at)
            yield self._event("system.message", at, content=marked_words(message), role="system")
        else:
            yield from self._end_turn(at)
            source = {"source": "system"} if is_context(message) else {}
            words, images = words_and_images(message, files=True) if not source else (marked_words(message), [])
            attached: list[dict[str, Any]]
            attached = [{"type": "blob", "data": data, "mimeType": media} for media, data in images]
            for part in parts(message, files=True) if not source else ():
                if (file := encoded_file(part)) is not None:
                    named = {"displayName": file[0]} if file[0] else {}
                    attached.append({"type": "blob", "data": file[1][1], "mimeType": file[1][0], **named})
            yield self._event("user.message", at, content=words, attachments=attached, **source)

    def _answer(self, message: Message, at: str) -> Iterator[bytes]:
        if not self._turn:
            self._turn = str(self._number)
            yield self._event("assistant.turn_start", at, turnId=self._turn)
        requests = [
            {
                "toolCallId": text(call, "id"),
                "name": text(mapping(call, "function"), "name"),
                "arguments": arguments(call),
                "type": "function",
            }
            for call in items(message, "tool_calls")
        ]
        data: dict[str, Any] = {"messageId": derived_uuid(self._draft.id, "message", str(self._number))}
        data |= {"content": marked_words(message), "toolRequests": requests}
        data |= {key: text(message, field) for key, field in _OF_ANSWERS.items() if text(message, field)}
        yield self._event("assistant.message", at, **data)
        for one in requests:
            named = {"toolCallId": one["toolCallId"], "toolName": one["name"], "arguments": one["arguments"]}
            yield self._event("tool.execution_start", at, **named)

    def _result(self, message: Message, at: str) -> bytes:
        told: dict[str, Any] = {"toolCallId": text(message, "tool_call_id"), "success": True}
        if message.get("is_error") is True:
            told |= {"success": False, "error": {"message": marked_words(message), "code": "failure"}}
        else:
            words, images = words_and_images(message)
            told["result"] = {"content": words}
            if images:
                binary = [{"type": "image", "data": data, "mimeType": media} for media, data in images]
                told["result"]["binaryResultsForLlm"] = binary
        return self._event("tool.execution_complete", at, **told)

    def _compaction(self, compaction: CompactionEntry, at: str) -> Iterator[bytes]:
        yield from self._end_turn(at)
        yield self._event("session.compaction_start", at)
        tokens = {} if compaction.tokens_before is None else {"preCompactionTokens": compaction.tokens_before}
        yield self._event("session.compaction_complete", at, success=True, summaryContent=compaction.summary, **tokens)


_OF_ANSWERS = {"reasoningText": "reasoning", "model": "model"}
