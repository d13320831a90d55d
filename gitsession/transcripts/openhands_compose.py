"""A conversation that OpenHands can resume: a folder with a file for each event.

Known from the agent's source, of its SDK (1.0 to 1.58) and of its command (to 1.16). The folder is named by the
conversation's id, without its dashes. The agent goes on with the events that are there. Its own state it makes anew
where there is none, with the model and the tools that the user has; where there is one, an agent that lacks a tool of
it refuses to resume. So a conversation of another agent's has events alone, and a fork has the state of its origin.

What Claude signed of its thoughts is left out, although an event has room for it (`thinking_blocks`): the agent would
send it to whatever model the user has, and other providers refuse a request with it. Claude takes an answer without its
thoughts.

A call is an event without an action, as the agent writes one that it could not carry out: so it needs no tool that it
knows. A result is one of a tool that is called through MCP, which it always knows. Both reach the model as they were.

The agent writes its system prompt only into a conversation that it begins, and refuses to resume one that begins with a
prompt of the user's. So there it is the first event: what the session was told at its beginning, or a short one, which
is no part of the session when it is read again.
"""

import re
import uuid
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from gitsession import json_text
from gitsession.model import CompactionEntry, Message
from gitsession.transcripts import bundle
from gitsession.transcripts.base import Composed, Draft, Record
from gitsession.transcripts.composing import (
    NO_RESULT,
    Said,
    arguments,
    derived_uuid,
    first_time,
    image_url,
    is_context,
    is_uuid,
    marked_words,
    parts,
    safe_name,
    said_with_results,
)
from gitsession.transcripts.fields import items, mapping, text
from gitsession.transcripts.openhands_events import forgotten, messages_of, stand_in_prompt
from gitsession.transcripts.openhands_fold import STATE, events_now, fold, inner_of, is_state
from gitsession.transcripts.versions import latest

# A result whose form is no tool's.
_SEEN = "MCPToolObservation"
# The only files that are written: a transcript can name any.
_EVENT_FILE = re.compile(r"events/event-[0-9]+-([A-Za-z0-9-]+)\.json")
# As `json_text` writes one; behind an odd number of backslashes it is text.
_LONE_SURROGATE = re.compile(rb"(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}")
# What a fork has not: what was used, what it was waiting for, and where it stood, which without this is at its end.
_NOT_FORKED = ("stats", "last_user_message_id", "blocked_actions", "blocked_messages", "leaf_event_id", "head_is_empty")


def compose(draft: Draft) -> Composed:
    """Returns a session as a conversation that OpenHands can resume."""
    folder = bool(draft.records) and all(bundle.is_file(record.value) for record in draft.records)
    rewritten = draft.whole and not (folder and _is_known(draft.records) and is_uuid(draft.meta.id))
    own = uuid.UUID(draft.meta.id if draft.whole and not rewritten else draft.id)
    if draft.records and not folder:
        # A trajectory: its application resumes none, so its conversation is composed like another agent's.
        draft = draft._replace(records=(), entries=[*fold(draft.records), *draft.entries])
    return Composed(
        _Files(draft).all(),
        PurePath(own.hex),
        lambda _: ("openhands", "--resume", str(own)),
        rewritten=rewritten,
        folder=True,
        entries=draft.entries,
    )


def _is_known(records: Sequence[Record]) -> bool:
    """Tells whether these are files that the agent has, each once."""
    names = [text(record.value, "path") for record in latest(records)]
    return len({*names}) == len(names) and all(name == STATE or _EVENT_FILE.fullmatch(name) for name in names)


class _Files:
    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._number = 0
        self._shown: list[str] = []  # the events that the model is shown, without the system prompt
        self._names: dict[str, str] = {}  # the events of entries
        self._unsaid: list[str] = []  # the entries that are to have the name of the next event
        self._called: set[str] = set()  # the ids of calls, of which the agent drops what it finds twice

    def all(self) -> Iterator[bytes]:
        """Yields the files: the state, the events that were forked, those that came after."""
        files = events_now(self._draft.records)
        events = [record for record in files if _EVENT_FILE.fullmatch(text(record.value, "path"))]
        states = (inner_of(record.value) for record in files if record.value["path"] == STATE)
        yield from (self._state(state) for state in [*states][:1] if is_state(state))
        yield from self._copied(events)
        said = said_with_results(self._draft)
        prompt: Message = {}
        if said and not events:
            told = said.pop(0) if _is_prompt(said[0].message) else None
            prompt = told.message if told is not None else {}
            yield self._system(told)
        for one in said:
            if prompt and one.message == prompt:
                # Said once more behind what a compaction forgot; here it is never forgotten.
                self._unsaid.append(one.entry_id)
                continue
            if one.compaction is not None:
                yield self._condensation(one.compaction, one.at)
            else:
                yield from self._message(one)

    def _state(self, state: dict[str, Any]) -> bytes:
        origin, own = state["id"], self._draft.id
        made = {key: value for key, value in state.items() if key not in _NOT_FORKED}
        made |= {"id": own, "execution_status": "idle"}
        if is_uuid(origin) and text(state, "persistence_dir"):
            made["persistence_dir"] = state["persistence_dir"].replace(uuid.UUID(origin).hex, uuid.UUID(own).hex)
        return bundle.line_of(STATE, json_text.encode(made))

    def _copied(self, records: list[Record]) -> Iterator[bytes]:
        """Yields events as they are; a call that has no result gets one, or the agent would carry it out once more."""
        results = filter(_is_result, (inner_of(record.value) for record in records))
        answered = {text(event, "tool_call_id") for event in results}
        open_calls: list[dict[str, Any]] = []
        for record in records:
            event = inner_of(record.value)
            found = messages_of(event, {})
            response = text(event, "llm_response_id")
            if found and not _is_result(event) and any(text(one, "llm_response_id") != response for one in open_calls):
                yield from self._closed(open_calls)
                open_calls = []
            name = _EVENT_FILE.fullmatch(record.value["path"])
            own = name[1] if name is not None else self._own()
            if isinstance(found, CompactionEntry):
                self._forget(own, forgotten(event))
            elif found and text(event, "kind") != "SystemPromptEvent":
                self._shown.append(own)
                self._names[record.id or ""] = own
            if text(event, "kind") == "ActionEvent":
                self._called.add(text(event, "tool_call_id"))
                open_calls += [event] if text(event, "tool_call_id") not in answered else []
            yield self._file(own, record.value["text"].encode("utf-8", "surrogateescape"))
        yield from self._closed(open_calls)

    def _closed(self, calls: list[dict[str, Any]]) -> Iterator[bytes]:
        for call in calls:
            named = {key: text(call, key) for key in ("tool_name", "tool_call_id")}
            self._show("")
            yield self._event("AgentErrorEvent", "agent", text(call, "timestamp"), **named, error=NO_RESULT)

    def _forget(self, condensation: str, gone: set[str]) -> None:
        self._shown = [f"{condensation}-summary", *(name for name in self._shown if name not in gone)]

    def _file(self, own: str, content: bytes) -> bytes:
        # Numbered without a gap: the agent reads no further than to the first.
        path = f"events/event-{self._number:05}-{own}.json"
        self._number += 1
        return bundle.line_of(path, content)

    def _event(self, kind: str, source: str, at: str, /, **told: Any) -> bytes:
        own = self._own()
        # Without a zone, as the agent writes times and compares them.
        event = {"kind": kind, "id": own, "timestamp": at.removesuffix("Z"), "source": source, **told}
        return self._file(own, _json(event))

    def _own(self) -> str:
        return derived_uuid(self._draft.id, "event", str(self._number))

    def _system(self, told: Said | None) -> bytes:
        if told is not None:
            words, at = marked_words(told.message), told.at
        else:
            words, at = stand_in_prompt(self._draft.cwd), first_time(self._draft)
        return self._event("SystemPromptEvent", "agent", at, system_prompt=_text(words), tools=[])

    def _condensation(self, compaction: CompactionEntry, at: str) -> bytes:
        kept = self._names.get(compaction.first_kept_id) if compaction.first_kept_id else None
        gone = self._shown[: self._shown.index(kept)] if kept in self._shown else list(self._shown)
        own = self._own()
        told = {"forgotten_event_ids": gone, "summary": compaction.summary, "summary_offset": 1}
        self._forget(own, set(gone))
        return self._event("Condensation", "environment", at, **told, llm_response_id=own)

    def _message(self, one: Said) -> Iterator[bytes]:
        if one.message["role"] == "assistant" and items(one.message, "tool_calls"):
            yield from self._calls(one)
            return
        spoken: dict[str, Any] = {"role": "user", "content": _content(one.message)}
        source = "environment" if is_context(one.message) else "user"
        if one.message["role"] == "assistant":
            source, words = "agent", marked_words(one.message)
            spoken = {"role": "assistant", "content": [_text(words)] if words else [], **_reasoning(one.message)}
        # Without words there is nothing that a provider would take: of a thought that stands alone nothing is written.
        if spoken["content"]:
            self._show(one.entry_id)
            yield self._event("MessageEvent", source, one.at, llm_message=spoken)

    def _calls(self, one: Said) -> Iterator[bytes]:
        response = self._own()
        told: dict[str, Any] = {"thought": [], **_reasoning(one.message)}
        if words := marked_words(one.message):
            told["thought"] = [_text(words)]
        results: list[tuple[str, str, str, dict[str, Any]]] = []
        at = one.at
        for call in items(one.message, "tool_calls"):
            own, name = self._call_id(call), safe_name(text(mapping(call, "function"), "name")) or "tool"
            called = {"id": own, "name": name, "arguments": _json(arguments(call)).decode(), "origin": "completion"}
            named = {"tool_name": name, "tool_call_id": own}
            if (answered := one.results.get(text(call, "id"))) is None:
                results.append(("AgentErrorEvent", "agent", at, {**named, "error": NO_RESULT}))
            else:
                # In the order of the calls; the agent's own are in the order of time, too.
                result, at = answered[0], max(at, answered[1])
                failed = result.get("is_error") is True
                observation = {"kind": _SEEN, "content": _content(result), "is_error": failed, "tool_name": name}
                told_of = {**named, "observation": observation, "action_id": self._own()}
                results.append(("ObservationEvent", "environment", at, told_of))
            self._show(one.entry_id)
            told |= {"action": None, **named, "tool_call": called, "llm_response_id": response}
            yield self._event("ActionEvent", "agent", one.at, **told)
            told = {"thought": []}
        for kind, source, came, seen in results:
            self._show("")
            yield self._event(kind, source, came, **seen)

    def _call_id(self, call: Message) -> str:
        own = safe_name(text(call, "id"))
        own = own if own and own not in self._called else self._own()
        self._called.add(own)
        return own

    def _show(self, entry_id: str) -> None:
        """Notes that the model is shown the next event."""
        self._shown.append(self._own())
        if entry_id:
            for name in (*self._unsaid, entry_id):
                self._names.setdefault(name, self._own())
            self._unsaid = []


def _is_result(event: dict[str, Any]) -> bool:
    return text(event, "kind") in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation")


def _is_prompt(message: Message) -> bool:
    pictured = any(map(image_url, parts(message)))  # which a system prompt of the agent's cannot be
    return message.get("role") == "system" and message.get("meta") is not True and not pictured


def _json(value: Any) -> bytes:
    """Returns JSON that the agent can read: a surrogate without its other half would stop it."""
    return _LONE_SURROGATE.sub(rb"\1?", json_text.encode(value))


def _text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def _content(message: Message) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for part in parts(message):
        url = image_url(part)
        if url:
            found.append({"type": "image", "image_urls": [url]})
        elif words := text(part, "text"):
            found.append(_text(words))
    return found


def _reasoning(message: Message) -> dict[str, str]:
    thought = text(message, "reasoning")
    return {"reasoning_content": thought} if thought else {}
