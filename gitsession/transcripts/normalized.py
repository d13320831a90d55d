"""The entries of a session as messages of one shape, whoever wrote them: what `show --json` and an export print.

It is the normal message with two fields before it, so that it says by itself what its entry says beside it: `id` and
`timestamp` (ISO 8601 in UTC, None where it is not known). `role` and `content` are always there, the others where they
say something. FORMAT.md, "The normal message", describes it.
"""

from collections.abc import Iterable, Iterator

from gitsession.json_text import SHOWN_LEVELS, encode
from gitsession.model import CompactionEntry, Message, MessageEntry, SessionEntry
from gitsession.parts import compact
from gitsession.transcripts.composing import arguments, shown_arguments
from gitsession.transcripts.fields import items, mapping, text, utc
from gitsession.transcripts.shapes import normal_messages


def normalized(entries: Iterable[SessionEntry]) -> Iterator[Message]:
    """Yields the messages that entries stand for, in one shape, whichever agent or provider they come from.

    Each has `id`, `timestamp`, `role` and `content`; those that have more to say have `reasoning`,
    `reasoning_details`, `tool_calls`, `tool_call_id`, `name`, `is_error`, `model`, `meta` and `type` besides. An entry
    that holds several messages, as a provider's that holds the results of tools, gives several; the second has the id
    of the entry with `/1` behind it. The result of a tool has the name that its call gave.

    Args:
        entries: What `Store.load` gives.
    """
    names: dict[str, str] = {}
    for entry in entries:
        for number, message in enumerate(_messages(entry)):
            for call in items(message, "tool_calls"):
                names[text(call, "id")] = text(mapping(call, "function"), "name")
            yield {
                "id": f"{entry.id}/{number}" if number else entry.id,
                "timestamp": utc(entry.timestamp),
                "role": message["role"],
                "content": message.get("content", ""),
                **_named(message, names),
            }


def _named(message: Message, names: dict[str, str]) -> Message:
    """Returns the further fields of a message, a result with the name of its tool where only its call says it."""
    rest = {key: value for key, value in message.items() if key not in ("role", "content")}
    known = names.get(text(message, "tool_call_id"), "") if message["role"] == "tool" else ""
    if not known or "name" in rest:
        return rest
    call = {"tool_call_id": rest.pop("tool_call_id")}
    return {**call, "name": known, **rest}


def _written(message: Message) -> Message:
    """Returns a message with the arguments of its calls as JSON text: what is no object stands under `input`."""
    if "tool_calls" not in message:
        return message
    return {**message, "tool_calls": [_call(call) for call in message["tool_calls"]]}


def _call(call: Message) -> Message:
    given, said = arguments(call), shown_arguments(call)
    whole = compact(given) if not said or given == {"input": said} else said
    return {**call, "function": {**call["function"], "arguments": whole}}


def _messages(entry: SessionEntry) -> list[Message]:
    match entry:
        case MessageEntry():
            return [_written(message) for message in normal_messages(entry.message)]
        case CompactionEntry():
            words = f"[Conversation summary]\n{entry.summary}"
            return [{"role": "system", "content": words, "meta": True, "type": "compaction"}]
        case _:
            words = encode(entry.value, levels=SHOWN_LEVELS).decode()
            return [{"role": "system", "content": words, "meta": True, "type": text(entry.value, "type") or "unknown"}]
