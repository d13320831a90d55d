"""Messages as a request takes them: those of OpenAI's chat API, and LangChain's, which a graph can go on with.

Each call has its result right behind it, results come in the order of their calls, and what a provider would refuse is
left out: fields that it does not know, and messages that say nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gitsession.json_text import encode
from gitsession.model import Message, MessageEntry, SessionMeta
from gitsession.transcripts.base import Draft
from gitsession.transcripts.composing import (
    NO_RESULT,
    Said,
    arguments,
    marked_words,
    parts,
    safe_name,
    said_with_results,
)
from gitsession.transcripts.fields import items, mapping, text

_KINDS = {"system": "system", "user": "human", "assistant": "ai", "tool": "tool"}


def openai_messages(messages: Iterable[Message]) -> Iterator[Message]:
    """Yields messages as OpenAI's chat API takes them, from messages of any shape.

    What was thought, which model spoke and what no person typed is not told apart; an image that a tool gave, or a
    model, is `[image]`.

    Args:
        messages: What a model is shown, as `build_context` gives it.
    """
    for message in _turns(messages):
        match message["role"]:
            case "assistant":
                calls = [{**call, "function": _written(call)} for call in items(message, "tool_calls")]
                spoken = {"role": "assistant", "content": message["content"] or None}
                yield {**spoken, "tool_calls": calls} if calls else spoken
            case "tool":
                yield {"role": "tool", "tool_call_id": message["tool_call_id"], "content": marked_words(message)}
            case _:
                yield message


def langchain_messages(messages: Iterable[Message]) -> Iterator[Message]:
    """Yields messages as LangChain's `messages_from_dict` reads them, from messages of any shape.

    Args:
        messages: What a model is shown, as `build_context` gives it.
    """
    for message in _turns(messages):
        kind = _KINDS[message["role"]]
        more: dict[str, Any] = {}
        response: dict[str, Any] = {}
        data: dict[str, Any] = {"content": message["content"], "additional_kwargs": more, "response_metadata": response}
        data["type"] = kind
        if thought := text(message, "reasoning"):
            more["reasoning_content"] = thought
        if model := text(message, "model"):
            response["model_name"] = model
        if kind == "ai":
            data["tool_calls"] = [
                {**call["function"], "id": call["id"], "type": "tool_call"} for call in items(message, "tool_calls")
            ]
        if kind == "tool":
            status = "error" if message.get("is_error") is True else "success"
            data |= {"name": message["name"], "tool_call_id": message["tool_call_id"], "status": status}
        yield {"type": kind, "data": data}


def _turns(messages: Iterable[Message]) -> Iterator[Message]:
    """Yields normal messages, with the arguments of calls as objects, under `args`."""
    entries = [MessageEntry(dict(message), timestamp="") for message in messages]
    for number, one in enumerate(said_with_results(Draft(SessionMeta("context", created_at=""), "", "/", (), entries))):
        if one.message["role"] == "assistant":
            yield from _answer(one, number)
        elif content := _content(one.message):
            yield {"role": one.message["role"], "content": content}


def _answer(one: Said, number: int) -> Iterator[Message]:
    spoken: Message = {"role": "assistant", "content": marked_words(one.message)}
    spoken |= {key: one.message[key] for key in ("reasoning", "model") if text(one.message, key)}
    calls: list[Message] = []
    results: list[Message] = []
    for place, call in enumerate(items(one.message, "tool_calls")):
        own = safe_name(text(call, "id")) or f"call_{number}_{place}"
        name = safe_name(text(mapping(call, "function"), "name")) or "tool"
        calls.append({"id": own, "type": "function", "function": {"name": name, "args": arguments(call)}})
        found, _ = one.results.get(text(call, "id"), ({"content": NO_RESULT, "is_error": True}, ""))
        result: Message = {"role": "tool", "content": _content(found), "tool_call_id": own, "name": name}
        results.append(result | {key: found[key] for key in ("is_error",) if key in found})
    if spoken["content"] or calls:
        yield {**spoken, "tool_calls": calls} if calls else spoken
    yield from results


def _content(message: Mapping[str, Any]) -> str | list[Message]:
    content = message.get("content")
    return content if isinstance(content, str) else [dict(part) for part in parts(dict(message))]


def _written(call: Message) -> Message:
    function = call["function"]
    return {"name": function["name"], "arguments": encode(function["args"]).decode()}
