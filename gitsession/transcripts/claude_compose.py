"""A transcript that Claude Code can resume.

Records are forked as the agent's SDK forks a session: new uuids, a new session id, without subagents and progress, and
with where they come from. Two things differ, so that the same export is the same bytes: uuids are derived from the
new session's id and the old uuids, and the last record keeps its time.

A whole transcript stays as it is where its file's name is the id that its records have. A subagent's, or one that was
renamed, is forked like any other: by its name the agent would not find what its records say.

Thoughts are written where the provider has signed them. Of another model's nothing is: the provider refuses thoughts
that it did not sign, and as text they would be taken for what the model says.
"""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from gitsession.model import CompactionEntry, Message, MessageEntry
from gitsession.transcripts.base import Composed, Draft
from gitsession.transcripts.claude_chain import Tree
from gitsession.transcripts.claude_fork import Fork
from gitsession.transcripts.claude_records import CHAIN
from gitsession.transcripts.composing import (
    anthropic_answer,
    anthropic_content,
    derived_uuid,
    is_context,
    is_notice,
    is_uuid,
    last_time,
    line,
    timed,
    title,
)
from gitsession.transcripts.fields import text
from gitsession.transcripts.shapes import normal_messages

_LONGEST_DIRECTORY = 200
_UNNAMED = re.compile("[^a-zA-Z0-9]")
# The version whose records these are like.
_VERSION = "2.1.30"


def compose(draft: Draft) -> Composed:
    """Returns a session as a transcript that Claude Code can resume."""
    rewritten = draft.whole and not _is_own(draft)
    own = draft.meta.id if draft.whole and not rewritten else draft.id
    path = PurePath("projects", directory(draft.cwd), f"{own}.jsonl")
    return Composed(_Lines(draft).all(), path, lambda _: ("claude", "--resume", own), rewritten=rewritten)


def _is_own(draft: Draft) -> bool:
    """Tells whether a transcript can be resumed as it is: its file's name is the id that its records have.

    A subagent's file has the session's id in its records, which are all of a side chain: it is no session. A file that
    was renamed has another id in them than the agent would know it by.
    """
    chain = [value for one in draft.records if text(value := one.value, "type") in CHAIN and text(value, "uuid")]
    if not is_uuid(draft.meta.id) or (chain and all(value.get("isSidechain") is True for value in chain)):
        return False
    named = {text(value, "sessionId") for value in chain} - {""}
    return not named or draft.meta.id in named


def directory(cwd: str) -> str:
    """Returns the name under which the agent keeps the sessions of a working directory."""
    name = _UNNAMED.sub("-", normal := unicodedata.normalize("NFC", cwd))
    return name if len(name) <= _LONGEST_DIRECTORY else f"{name[:_LONGEST_DIRECTORY]}-{_hash(normal)}"


def _hash(name: str) -> str:
    """Returns the agent's hash of a long path: 32 bits, in base 36."""
    value = 0
    for character in name:
        value = (value * 31 + ord(character)) & 0xFFFFFFFF
    value = 0x100000000 - value if value >= 0x80000000 else value
    digits = ""
    while value:
        value, digit = divmod(value, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits or "0"


class _Lines:
    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._tree = Tree(draft.records)
        self._fork = Fork(draft, self._tree)
        self._last: str | None = None
        self._line: list[tuple[str, str]] = []  # the records of the conversation: what they are known by, their uuid
        self._cwd, self._branch = draft.cwd, text(draft.meta.extra, "git_branch")

    def all(self) -> Iterator[bytes]:
        """Yields the lines: what was forked, what came after, the title."""
        yield from map(line, self._fork.lines())
        for place in self._tree.line():
            forked = self._fork.uuid_of(self._tree.value(place))
            if forked is not None:
                self._line.append((self._tree.entry_id(place), forked))
                self._last = forked
        for entry, at in timed(self._draft):
            if isinstance(entry, CompactionEntry):
                yield from self._compaction(entry, at)
            elif isinstance(entry, MessageEntry):
                yield from self._message(entry, at)
        if name := title(self._draft, self._draft.records):
            yield line(
                {
                    "type": "custom-title",
                    "sessionId": self._draft.id,
                    "customTitle": name,
                    "uuid": derived_uuid(self._draft.id, "custom-title"),
                    "timestamp": last_time(self._draft),
                }
            )

    def _record(self, name: str, at: str, kind: str, fields: dict[str, Any], parent: str | None) -> bytes:
        own = derived_uuid(self._draft.id, "entry", name)
        self._last = own
        envelope: dict[str, Any] = {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": self._cwd,
            "sessionId": self._draft.id,
            "version": _VERSION,
            "gitBranch": self._branch,
            "type": kind,
        }
        return line(envelope | fields | {"uuid": own, "timestamp": at})

    def _message(self, entry: MessageEntry, at: str) -> Iterator[bytes]:
        for number, message in enumerate(normal_messages(entry.message)):
            name = f"{entry.id}/{number}" if number else entry.id
            fields = self._answer(message, name) if message["role"] == "assistant" else _said(message)
            if fields is not None:
                kind = "assistant" if message["role"] == "assistant" else "user"
                yield self._record(name, at, kind, fields, self._last)
                self._line.append((entry.id, self._last or ""))

    def _answer(self, message: Message, name: str) -> dict[str, Any] | None:
        blocks = anthropic_answer(message)
        if not blocks:
            return None
        answer = {
            "id": "msg_" + derived_uuid(self._draft.id, "message", name).replace("-", "")[:24],
            "type": "message",
            "role": "assistant",
            "model": text(message, "model") or "<synthetic>",
            "content": blocks,
            "stop_reason": "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        return {"message": answer, "isApiErrorMessage": True} if is_notice(message) else {"message": answer}

    def _compaction(self, entry: CompactionEntry, at: str) -> Iterator[bytes]:
        """Yields where the context was compacted, and the summary; what follows hangs on the last that was kept."""
        kept = self._kept(entry.first_kept_id)
        before, summary = self._last, derived_uuid(self._draft.id, "entry", entry.id)
        about: dict[str, Any] = {"trigger": "manual"}
        if entry.tokens_before is not None:
            about["preTokens"] = entry.tokens_before
        if kept:
            about["preservedSegment"] = {"headUuid": kept[0], "anchorUuid": summary, "tailUuid": kept[-1]}
            about["preservedMessages"] = {"anchorUuid": summary, "uuids": kept}
        boundary = {
            "subtype": "compact_boundary",
            "logicalParentUuid": before,
            "content": "Conversation compacted",
            "isMeta": False,
            "level": "info",
            "compactMetadata": about,
        }
        yield self._record(f"{entry.id}/boundary", at, "system", boundary, None)
        said = {"message": {"role": "user", "content": entry.summary}, "isCompactSummary": True}
        yield self._record(entry.id, at, "user", {**said, "isVisibleInTranscriptOnly": True}, self._last)
        if kept:
            self._last = kept[-1]

    def _kept(self, first: str | None) -> list[str]:
        names = [name for name, _ in self._line]
        wanted = "" if first is None else first if first in names else first.partition("/")[0]
        return [own for _, own in self._line[names.index(wanted) :]] if wanted in names else []


def _said(message: Message) -> dict[str, Any] | None:
    """Returns what a user, a tool or a system prompt says, as the agent puts it into a user record."""
    content = anthropic_content(message)
    if not content:
        return None
    fields: dict[str, Any] = {"message": {"role": "user", "content": content}}
    if message["role"] != "tool" and is_context(message):
        fields["isMeta"] = True
    return fields
