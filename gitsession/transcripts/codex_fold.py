"""The conversation of a Codex rollout, as the agent would resume it.

What the model says between two inputs becomes one message: its thoughts, its words, its calls. A compaction does not
end the conversation: what it stands for is shown before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gitsession.model import CompactionEntry, Message, MessageEntry
from gitsession.transcripts.base import Record
from gitsession.transcripts.codex_records import CALLS, event, item, split_prompt, summary, words
from gitsession.transcripts.codex_turns import Turns
from gitsession.transcripts.fields import items, mapping, text
from gitsession.transcripts.normal import image_part, normal_message, text_part, tool_call


@dataclass(slots=True)
class _Answer:
    """A message of the model that is being put together."""

    place: int
    thoughts: list[str] = field(default_factory=list)
    said: list[Message] = field(default_factory=list)
    calls: list[Message] = field(default_factory=list)


def fold(records: Sequence[Record]) -> list[MessageEntry | CompactionEntry]:
    """Returns the conversation of a log, also of the beginning of one."""
    return _Fold(records).entries


class _Fold:
    def __init__(self, records: Sequence[Record]) -> None:
        self.entries: list[MessageEntry | CompactionEntry] = []
        self._records = records
        self._turns = Turns(records)
        self._models = _models(records)
        self._times = _times(records)
        self._names: dict[str, str] = {}  # of the tools, by their calls
        self._calls = 0
        self._answer: _Answer | None = None
        for said in self._turns.said():
            if said.kind == "assistant":
                self._go_on(said.place)
                continue
            self._close()
            value = records[said.place].value
            if said.kind == "compaction":
                self._put_compaction(said.place, mapping(value, "payload"))
            elif said.kind == "tool":
                # That a tool failed may stand beside the item, which has no place for it; so may its name.
                beside = text(value, "name") if mapping(value, "payload") else ""
                self._put(said.place, self._result(item(value), beside, failed=value.get("is_error") is True))
            else:
                self._put(said.place, *_prompt(value, meta=said.kind == "context"))
        self._close()
        self._keep_what_follows()

    def _go_on(self, place: int) -> None:
        """Adds what a record says to the answer, or begins another where it would change the order."""
        found, happened = item(self._records[place].value), event(self._records[place].value)
        kind = text(found, "type") or text(happened, "type")
        answer = self._answer
        if answer is not None and (answer.calls or answer.said) and kind not in CALLS:
            self._close()
        if self._answer is None:
            self._answer = _Answer(place)
        answer = self._answer
        match kind:
            case "agent_message":
                answer.said.append(text_part(text(happened, "message")))
            case "agent_reasoning" | "agent_reasoning_raw_content":
                answer.thoughts.append(text(happened, "text"))
            case "reasoning":
                answer.thoughts += _thoughts(found)
            case "message":
                answer.said += _parts(found.get("content"))
            case "image_generation_call":
                if encoded := text(found, "result"):
                    answer.said.append(image_part(f"data:image/png;base64,{encoded}"))
            case _:
                self._calls += 1
                call = _call(found, f"call-{self._calls}")
                self._names[call["id"]] = call["function"]["name"]
                answer.calls.append(call)

    def _close(self) -> None:
        answer, self._answer = self._answer, None
        if answer is None:
            return
        said = [part for part in answer.said if part.get("text") != ""]
        reasoning = "\n".join(filter(None, answer.thoughts))
        if said or reasoning or answer.calls:
            model = self._models[answer.place]
            message = normal_message("assistant", said, reasoning=reasoning, tool_calls=answer.calls, model=model)
            self._put(answer.place, message)

    def _put(self, place: int, *messages: Message) -> None:
        """Adds the messages of a record; the second one gets an id below that of the record."""
        own_id = self._turns.entry_id(place)
        for number, message in enumerate(messages):
            entry_id = f"{own_id}/{number}" if number else own_id
            self.entries.append(MessageEntry(message, id=entry_id, timestamp=self._times[place]))

    def _put_compaction(self, place: int, payload: dict[str, Any]) -> None:
        said, own_id = summary(payload), self._turns.entry_id(place)
        kept = items(payload, "replacement_history")
        if not text(payload, "message") and any(text(one, "encrypted_content") for one in kept):
            # What can be read are the prompts that were kept beside it.
            said = f"{said}\n\n[a summary that its provider has encrypted]".lstrip()
        self.entries.append(CompactionEntry(said, id=own_id, timestamp=self._times[place]))

    def _keep_what_follows(self) -> None:
        """Lets each compaction keep what comes after it: what it kept of before stands in its summary."""
        for place, entry in enumerate(self.entries):
            if isinstance(entry, CompactionEntry):
                after = (one.id for one in self.entries[place:] if isinstance(one, MessageEntry))
                self.entries[place] = replace(entry, first_kept_id=next(after, None))

    def _result(self, found: dict[str, Any], known: str, *, failed: bool) -> Message:
        output = found.get("output") if "output" in found else found.get("tools")
        if isinstance(output, dict):
            failed = failed or output.get("success") is False
            output = output.get("content") if output.get("content") is not None else output.get("content_items")
        call = text(found, "call_id")
        name = self._names.get(call, "") or text(found, "name") or known
        return normal_message("tool", _parts(output), tool_call_id=call, name=name, is_error=failed)


def _prompt(value: dict[str, Any], *, meta: bool) -> list[Message]:
    """Returns what an editor put before a prompt, which nobody typed, and what a user said."""
    found = item(value)
    if text(found, "role") in ("developer", "system"):
        return [normal_message("system", _parts(found.get("content")), meta=value.get("meta") is True)]
    if found:
        parts = _parts(found.get("content"))
    else:
        said = text(event(value), "message") or words(mapping(value, "payload").get("content"))
        urls = [one for one in items(event(value), "images") if isinstance(one, str)]
        parts = [text_part(said), *map(image_part, urls)] if said or urls else []
    if meta or not parts or parts[0].get("type") != "text":
        return [normal_message("user", parts, meta=meta)]
    typed, beside = split_prompt(parts[0]["text"])
    prompt = normal_message("user", [text_part(typed), *parts[1:]] if typed or not beside else parts[1:])
    return [normal_message("user", beside, meta=True), prompt] if beside else [prompt]


def _parts(content: Any) -> list[Message]:
    """Returns the text and the images of an item's content."""
    if isinstance(content, str):
        return [text_part(content)] if content else []
    parts = []
    pieces = content if isinstance(content, list) else []
    pictured = any(text(piece, "type") == "input_image" for piece in pieces)
    for piece in pieces:
        if url := text(piece, "image_url"):
            parts.append(image_part(url))
        elif (said := text(piece, "text")) and not (pictured and not words([piece])):
            parts.append(text_part(said))
    return parts


def _thoughts(found: dict[str, Any]) -> list[str]:
    """Returns what can be read of the model's thoughts: the summary, or the thoughts themselves."""
    return [text(one, "text") for one in items(found, "summary") or items(found, "content")]


def _call(found: dict[str, Any], default_id: str) -> Message:
    kind = text(found, "type")
    name = text(found, "name") or kind.removesuffix("_call")
    given = next((found[key] for key in ("arguments", "input", "action") if key in found), None)
    return tool_call(text(found, "call_id") or text(found, "id") or default_id, name, given)


def _models(records: Sequence[Record]) -> list[str]:
    """Returns for each record its model: what stands beside its item, or that of the turn; "" where nothing tells."""
    found, model = [], ""
    for record in records:
        if text(record.value, "type") == "turn_context":
            model = text(mapping(record.value, "payload"), "model") or model
        beside = record.value.get("model") if mapping(record.value, "payload") else None
        found.append(beside if isinstance(beside, str) else model)
    return found


def _times(records: Sequence[Record]) -> list[str]:
    """Returns the time of each record; where it has none, that of the one before."""
    found, at = [], ""
    for record in records:
        at = record.timestamp or at
        found.append(at)
    return found
