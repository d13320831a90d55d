"""A rollout that Codex can resume.

A fork repeats the records of its origin below a header of its own, as the agent's forks do. One whose records are
numbered (`history_mode` is `paginated`) has its header in the place of the origin's, and the numbers go on. So has one
that is whole but has no header, or that of the first releases: the agent resumes no such file.

What a Codex record has no place for (the model that spoke, that a tool failed, the name of one whose call is missing,
that no person typed a prompt) stands beside its `payload`, where the agent does not look. The model's thoughts become
events: the provider refuses thoughts that are not its own.
"""

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from gitsession.model import CompactionEntry, Message, MessageEntry
from gitsession.transcripts.base import Composed, Draft, Record
from gitsession.transcripts.codex_records import event, is_bare, is_bare_header, is_injected, item
from gitsession.transcripts.codex_records import words as spoken
from gitsession.transcripts.composing import (
    derived_uuid,
    encoded_image,
    file_time,
    first_time,
    image_url,
    is_notice,
    is_plain,
    last_time,
    line,
    marked,
    marked_words,
    milliseconds,
    own_id,
    parts,
    timed,
    verbatim,
    words,
)
from gitsession.transcripts.fields import integer, items, mapping, text
from gitsession.transcripts.shapes import normal_messages

# What makes a session a subagent's, which the agent does not offer to resume.
_SUBAGENT = ("thread_source", "parent_thread_id", "agent_nickname", "agent_role", "agent_path")


def compose(draft: Draft) -> Composed:
    """Returns a session as a rollout that Codex can resume."""
    # Without its header, as the first releases wrote it, the agent resumes none, and only its name tells what it is.
    headed = any(text(record.value, "type") == "session_meta" for record in draft.records)
    rewritten = draft.whole and not (headed and is_plain(draft.meta.id))
    draft = draft._replace(whole=draft.whole and not rewritten)
    own = own_id(draft)
    made = file_time(draft)
    # The agent's names have local time; it finds a session by the id behind it.
    name = f"rollout-{made[:19].replace(':', '-')}-{own}.jsonl"
    path = PurePath("sessions", made[:4], made[5:7], made[8:10], name)
    return Composed(
        _Lines(draft).all(), path, lambda _: ("codex", "resume", own.partition("_")[0]), rewritten=rewritten
    )


class _Lines:
    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._first = next((record for record in draft.records if isinstance(record.value, dict)), None)
        # Where no event tells what was typed, as in early rollouts, the fork must: it will have events.
        self._told = any(text(event(record.value), "type") == "user_message" for record in draft.records)
        self._at = first_time(draft)  # when what was copied last was said
        self._ordinal: int | None = None
        self._put: list[tuple[str, list[dict[str, Any]]]] = []  # the items of each entry
        self._called: set[str] = set()  # the ids of calls
        self._turn = ""

    def all(self) -> Iterator[bytes]:
        """Yields the lines: the header, what was forked, what came after."""
        header = self._header()
        paginated = text(header, "history_mode") == "paginated"
        first = self._first.value if self._first is not None else {}
        if paginated:
            self._ordinal = integer(first, "ordinal") or 0
        yield self._line("session_meta", header, last_time(self._draft))
        for record in self._draft.records:
            if not (paginated and record is self._first):
                yield from self._copied(record)
        at = last_time(self._draft)
        for entry, at in timed(self._draft):
            if isinstance(entry, CompactionEntry):
                yield from self._compaction(entry, at)
            else:
                yield from self._message(entry, at)
        yield from self._end_turn(at)

    def _header(self) -> dict[str, Any]:
        value = self._first.value if self._first is not None else {}
        known = mapping(value, "payload") if text(value, "type") == "session_meta" else {}
        if is_bare_header(value):
            known = {key: value[key] for key in ("id", "git") if key in value}
        known = {key: value for key, value in known.items() if key not in _SUBAGENT}
        if isinstance(known.get("source"), dict):
            del known["source"]
        made = last_time(self._draft)
        header = {"id": self._draft.id, "timestamp": made, "cwd": self._draft.cwd, "originator": "gitsession"}
        if self._first is not None:
            header["forked_from_id"] = text(known, "id") or self._draft.meta.id
        defaults = {"cli_version": "0.137.0", "source": "cli", "model_provider": None}
        # The page of a longer session is forked as what it is: the end of a session that lies elsewhere.
        return {**defaults, **known, **header, **({"session_id": self._draft.id} if "session_id" in known else {})}

    def _copied(self, record: Record) -> Iterator[bytes]:
        value = record.value
        if not isinstance(value, dict) or is_bare_header(value) or "record_type" in value:
            return
        if self._ordinal is not None and (number := integer(value, "ordinal")) is not None:
            self._ordinal = max(self._ordinal, number + 1)
        at = self._at = milliseconds(record.timestamp) if record.timestamp else self._at
        copy = self._line("response_item", value, at) if is_bare(value) else verbatim(record)
        if copy is not None:
            yield copy
        found = item(value)
        said = spoken(found.get("content")) if text(found, "role") == "user" else ""
        if said and not self._told and not is_injected(said):
            yield self._prompt(said, at)

    def _line(self, kind: str, payload: dict[str, Any], at: str, **beside: Any) -> bytes:
        envelope: dict[str, Any] = {"timestamp": at}
        if self._ordinal is not None:
            envelope["ordinal"] = self._ordinal
            self._ordinal += 1
        beside = {key: value for key, value in beside.items() if value is not None}
        return line({**envelope, "type": kind, "payload": payload, **beside})

    def _event(self, kind: str, at: str, *, model: str | None = None, **fields: Any) -> bytes:
        return self._line("event_msg", {"type": kind, **fields}, at, model=model)

    def _prompt(self, said: str, at: str) -> bytes:
        shown: dict[str, Any] = {"images": [], "local_images": [], "text_elements": []}
        return self._event("user_message", at, message=said, **shown)

    def _end_turn(self, at: str) -> Iterator[bytes]:
        if self._turn:
            yield self._event("task_complete", at, turn_id=self._turn, last_agent_message=None)
            self._turn = ""

    def _message(self, entry: MessageEntry, at: str) -> Iterator[bytes]:
        put: list[dict[str, Any]] = []
        for message in normal_messages(entry.message):
            # An empty model says that it is not known; without it, it would be that of the turn before.
            model = text(message, "model") if message["role"] == "assistant" else None
            failed, meta = (True if message.get(field) is True else None for field in ("is_error", "meta"))
            if is_notice(message):
                continue
            made = _items(message)
            put += made
            typed = message["role"] == "user" and message.get("meta") is not True
            if typed:
                yield from self._end_turn(at)
                self._turn = derived_uuid(self._draft.id, "turn", entry.id)
                yield self._event("task_started", at, turn_id=self._turn, model_context_window=None)
            if message["role"] == "assistant":
                if thoughts := text(message, "reasoning"):
                    yield self._event("agent_reasoning", at, model=model, text=thoughts)
                if said := words(message):
                    yield self._event("agent_message", at, model=model, message=said)
            self._called |= {text(call, "id") for call in items(message, "tool_calls")}
            # Elsewhere the call says it.
            alone = message["role"] == "tool" and text(message, "tool_call_id") not in self._called
            name = (text(message, "name") or None) if alone else None
            for one in made:
                yield self._line("response_item", one, at, model=model, is_error=failed, meta=meta, name=name)
            if typed:
                shown: dict[str, Any] = {
                    "message": words(message),
                    "images": [],
                    "local_images": [],
                    "text_elements": [],
                }
                yield self._event("user_message", at, **shown)
        self._put.append((entry.id, put))

    def _compaction(self, entry: CompactionEntry, at: str) -> Iterator[bytes]:
        yield from self._end_turn(at)
        names = [name for name, _ in self._put]
        kept = self._put[names.index(entry.first_kept_id) :] if entry.first_kept_id in names else []
        summary = _said("user", [{"type": "input_text", "text": entry.summary}])
        history = [summary, *(one for _, put in kept for one in put)]
        yield self._line("compacted", {"message": entry.summary, "replacement_history": history}, at)


def _items(message: Message) -> list[dict[str, Any]]:
    """Returns the items that stand for a normal message."""
    role = message["role"]
    if role == "tool":
        output: Any = message.get("content")
        if not isinstance(output, str):
            output = _contents(parts(message))
        return [{"type": "function_call_output", "call_id": text(message, "tool_call_id"), "output": output}]
    if role != "assistant":
        content = _contents(parts(message))
        return [_said("developer" if role == "system" else "user", content)] if content else []
    made = []
    if said := marked_words(message):
        made.append(_said("assistant", [{"type": "output_text", "text": said}]))
    for call in items(message, "tool_calls"):
        function = mapping(call, "function")
        given = {"name": text(function, "name"), "arguments": text(function, "arguments"), "call_id": text(call, "id")}
        made.append({"type": "function_call", **given})
    return made


def _said(role: str, content: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": list(content)}


def _contents(content: Sequence[Message]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for part in content:
        url = image_url(part)
        if url and (encoded_image(url) or url.startswith("http")):
            found.append({"type": "input_image", "image_url": url})
        elif said := marked(url) if url else text(part, "text"):
            found.append({"type": "input_text", "text": said})
    return found
