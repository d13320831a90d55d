"""The conversation of OpenHands' events, in whichever form they are kept.

Events are in order. A condensation is a compaction. It may keep events before some that it forgot, such as the first
prompt, while a compaction keeps all messages from one on: so these are said once more, behind what it forgot. The calls
of one answer are events one behind the other, which say that they have it in common (`llm_response_id`).
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from gitsession.model import CompactionEntry, Message, MessageEntry
from gitsession.transcripts import bundle, document
from gitsession.transcripts.base import Record
from gitsession.transcripts.fields import items, mapping, text
from gitsession.transcripts.folding import Conversation, entries_of
from gitsession.transcripts.normal import content_of_blocks, normal_message
from gitsession.transcripts.openhands_events import forgotten, is_stand_in, messages_of

STATE = "base_state.json"
"""The file by which the folder of a conversation is recognised."""

_NUMBER = re.compile(r"events/event-([0-9]{1,18})-")


def is_state(value: dict[str, Any]) -> bool:
    """Tells whether a value says what a conversation is, and how its agent is set up."""
    told = {"persistence_dir", "agent_status", "execution_status", "confirmation_policy", "max_iterations"}
    return bool(text(value, "id")) and {"agent", "workspace"} <= value.keys() and bool(told & value.keys())


def inner_of(value: Any) -> dict[str, Any]:
    """Returns the event, or the state, that a record holds."""
    if bundle.is_file(value):
        return bundle.content(value)
    return value if isinstance(value, dict) else {}


def events_now(log: Sequence[Record]) -> list[Record]:
    """Returns the records of a log as they are now, in the order of its events."""
    found = document.now(log)
    if found and bundle.is_file(found[0].value):
        found.sort(key=lambda record: _order(text(record.value, "path")))
    return found


def _order(path: str) -> tuple[str, int, str]:
    """Returns what the files of a conversation are sorted by: from 100,000 on, numbers of events are longer."""
    number = _NUMBER.match(path)
    return (path, 0, "") if number is None else ("events/event-", int(number[1]), path)


def fold(log: Sequence[Record]) -> Conversation:
    """Returns the conversation of a log."""
    return _Fold(events_now(log)).entries


class _Said(NamedTuple):
    """An entry that the model is still shown, and the events that it is made of."""

    entry: MessageEntry
    events: list[str]


class _Fold:
    def __init__(self, records: Sequence[Record]) -> None:
        self.entries: Conversation = []
        # What the model is shown: the last of the messages among the entries, none left out.
        self._shown: list[_Said] = []
        self._names: dict[str, str] = {}  # of the tools, by their calls
        self._answer = ""  # whose calls the last message has
        self._calls: list[Message] = []
        self._time = ""
        self._model = ""  # that the agent is set up with
        self._models: dict[str, str] = {}  # those that spoke, by their responses
        for place, record in enumerate(records):
            self._time = record.timestamp or self._time
            value = inner_of(record.value)
            if is_state(value):
                self._model = text(mapping(mapping(value, "agent"), "llm"), "model")
                self._models = _models(value)
            if is_stand_in(value):
                continue
            event = _told(_with_images(value))
            made, own = messages_of(event, self._names), record.id or f"record-{place}"
            if isinstance(made, CompactionEntry):
                self._put_compaction(made.summary, forgotten(event), own)
            elif made := [*made, *_extension(event)]:
                self._put(event, made, own)

    def _put(self, event: dict[str, Any], made: list[Message], own: str) -> None:
        if made[0]["role"] == "assistant" and text(event, "kind") and (model := self._spoke(event, made[0])):
            made[0].setdefault("model", model)
        asked = items(made[0], "tool_calls")
        response = text(event, "llm_response_id") if asked else ""
        if response and response == self._answer and made[0].keys() <= {"role", "tool_calls", "model"}:
            self._shown[-1].events.append(str(event.get("id")))
            self._calls += asked
            return
        self._answer, self._calls = response, asked
        for entry in entries_of(made, own, self._time):
            self.entries.append(entry)
            self._shown.append(_Said(entry, [str(event.get("id"))]))

    def _spoke(self, event: dict[str, Any], made: Message) -> str:
        """Returns the model that gave an answer: the one that was counted for it, else the one that is set up."""
        if known := self._models.get(text(event, "llm_response_id")):
            return known
        # Claude alone signs thoughts; and where answers are counted, one that is not came from elsewhere.
        signed = "reasoning_details" in made
        return self._model if ("claude" in self._model if signed else not self._models) else ""

    def _put_compaction(self, summary: str, gone: set[str], own: str) -> None:
        """Puts a compaction behind what it kept: of what it kept before what it forgot, a copy stands behind that."""
        self._answer = ""
        lost = [place for place, one in enumerate(self._shown) if gone.issuperset(one.events)]
        split = lost[-1] + 1 if lost else 0
        before = [self._shown[place] for place in sorted({*range(split)} - {*lost})]
        after = self._shown[split:]
        start = len(self.entries)
        if after:
            start = next(place for place in reversed(range(start)) if self.entries[place] is after[0].entry)
        at = self.entries[start - 1].timestamp if start else self._time
        copies = [
            _Said(MessageEntry({**one.entry.message}, id=f"{own}/{number}", timestamp=at), one.events)
            for number, one in enumerate(before, 1)
        ]
        self.entries[start:start] = [one.entry for one in copies]
        self._shown = copies + after
        first = self._shown[0].entry.id if self._shown else None
        self.entries.append(CompactionEntry(summary, first, None, id=own, timestamp=self._time))


def _models(state: dict[str, Any]) -> dict[str, str]:
    """Returns the models by the ids of their responses, as the state of a conversation counts what was used."""
    found: dict[str, str] = {}
    for counted in mapping(mapping(state, "stats"), "usage_to_metrics").values():
        for one in (*items(counted, "response_latencies"), *items(counted, "token_usages")):
            if text(one, "response_id") and text(one, "model"):
                found[one["response_id"]] = one["model"]
    return found


def _told(event: dict[str, Any]) -> dict[str, Any]:
    """Returns an event, a system prompt with what was added to it for its conversation."""
    added = mapping(event, "dynamic_context")
    if text(event, "kind") != "SystemPromptEvent" or not text(added, "text"):
        return event
    return {**event, "system_prompt": [event.get("system_prompt"), added]}


def _extension(event: dict[str, Any]) -> list[Message]:
    """Returns what the agent added to a prompt, such as what it knows of a word in it."""
    by_user = text(mapping(event, "llm_message"), "role") == "user"
    added = content_of_blocks(items(event, "extended_content")) if by_user else []
    return [normal_message("user", added, meta=True)] if added else []


def _with_images(event: dict[str, Any]) -> dict[str, Any]:
    """Returns an event with each of its images where it is looked for."""
    for key in ("llm_message", "observation"):
        inner = mapping(event, key)
        if items(inner, "content"):
            content = [one for block in inner["content"] for one in _images(block)]
            event = {**event, key: {**inner, "content": content}}
    return event


def _images(block: Any) -> Sequence[Any]:
    urls = [url for url in items(block, "image_urls") if isinstance(url, str)]
    if text(block, "type") != "image" or not urls:
        return [block]
    return [{"type": "image", "source": {"type": "url", "url": url}} for url in urls]
