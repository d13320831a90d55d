"""LangChain and LangGraph: messages as `messages_to_dict`, `dumpd` and LangGraph's API write them.

A message is `{"type": "human", "data": {…}}`, `{"lc": 1, "type": "constructor", "id": […, "HumanMessage"], "kwargs":
{…}}`, or its fields with the `type` among them. A file holds one a line, or is one JSON document: an array of them, or
a state that has them under `messages`, alone or within `values`, `channel_values` or `output`. The file names the
session.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, BinaryIO

from gitsession.model import Message
from gitsession.parts import Part, compact
from gitsession.transcripts import document, records
from gitsession.transcripts.base import Format, Growth, Log, Record
from gitsession.transcripts.fields import items, mapping, one_line, text, time
from gitsession.transcripts.folding import Conversation, fold_each, none_abandoned, shown_together
from gitsession.transcripts.normal import (
    content_of_blocks,
    damaged,
    image_part,
    normal_message,
    titled_by_prompt,
    tool_call,
)
from gitsession.view import View

_PATHS = ((), ("messages",), ("values", "messages"), ("channel_values", "messages"), ("output", "messages"))
_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool", "chat": ""}
# Blocks of an answer that are told elsewhere in the message.
_ELSEWHERE = (
    "tool_use",
    "tool_call",
    "function_call",
    "thinking",
    "redacted_thinking",
    "reasoning",
    "input_json_delta",
)


def _fields(value: Any) -> tuple[str, dict[str, Any]]:
    """Returns the kind of a message and its fields; "" for what is none."""
    if not isinstance(value, dict):
        return "", {}
    kind, inner = text(value, "type"), value
    if kind == "constructor" and "lc" in value:
        names = items(value, "id")
        inner = mapping(value, "kwargs")
        name = names[-1] if names and isinstance(names[-1], str) else ""
        kind = name.removesuffix("Chunk").removesuffix("Message").lower() if "Message" in name else ""
    elif "data" in value:
        inner = mapping(value, "data")
    elif {"role", "uuid", "sessionId", "messageID"} & value.keys():
        return "", {}
    kind = kind.removesuffix("MessageChunk").lower()
    return (kind, inner) if kind in _ROLES and "content" in inner else ("", {})


def _recognise(head: bytes, _name: str) -> bool:
    if document.is_document(head, _PATHS):
        first, *second = document.first_values(head, _PATHS, 2) or [None]
        return bool(_fields(first)[0]) and all(_fields(one)[0] for one in second if one is not None)
    objects = records.first_objects(head, 2)
    return bool(objects) and all(_fields(value)[0] for value in objects)


def _describe(value: dict[str, Any]) -> tuple[str | None, str | None]:
    _, inner = _fields(value)
    stamp = inner.get("timestamp") or mapping(inner, "additional_kwargs").get("timestamp") or value.get("created_at")
    return text(inner, "id") or None, time(stamp)


def _read(stream: BinaryIO) -> Iterator[Record]:
    return document.read_stream(stream, _PATHS, _describe, lambda value: bool(_fields(value)[0]))


def _growth(first: Record) -> Growth:
    return "document" if document.is_first(first) else "log"


def _write(log: Log) -> Iterator[bytes]:
    return document.write(log, _PATHS)


def _header(path: PurePath, first: Record) -> Mapping[str, Any]:
    return _learn({"id": path.stem, "created_at": first.timestamp or "", "agent": "langchain"}, first)


def _learn(header: Mapping[str, Any], record: Record) -> Mapping[str, Any]:
    said = _messages(record.value, {})
    return titled_by_prompt(header, said[0] if said else {})


def _messages(value: Any, names: dict[str, str]) -> list[Message]:
    """Returns what a message stands for, and adds the names of the tools that it calls, by their calls."""
    kind, inner = _fields(value)
    # A chat message says in words of its own whose it is.
    told = text(inner, "role").lower()
    role = _ROLES.get(kind, "") or (told if told in ("assistant", "system", "tool") else "user")
    if not kind:
        return []
    blocks = inner.get("content")
    content = _content(blocks)
    if role == "tool":
        call = text(inner, "tool_call_id")
        name = text(inner, "name") or names.get(call, "")
        return [
            normal_message("tool", content, tool_call_id=call, name=name, is_error=text(inner, "status") == "error")
        ]
    if role != "assistant":
        return [normal_message(role, content)]
    calls = _calls(inner)
    names |= {call["id"]: call["function"]["name"] for call in calls}
    response = mapping(inner, "response_metadata")
    model = text(response, "model_name") or text(response, "model")
    return [normal_message("assistant", content, reasoning=_reasoning(inner), tool_calls=calls, model=model)]


def _content(blocks: Any) -> list[Message]:
    parts: list[Message] = []
    for block in blocks if isinstance(blocks, list) else [blocks]:
        kind = text(block, "type")
        image = block.get("image_url") if isinstance(block, dict) else None
        url = image if isinstance(image, str) else text(image, "url")
        if kind == "image_url" and url:
            parts.append(image_part(url))
        elif kind not in _ELSEWHERE and block is not None:
            parts += content_of_blocks(block if isinstance(block, str) else [block])
    return parts


def _calls(inner: dict[str, Any]) -> list[Message]:
    made = [*items(inner, "tool_calls"), *items(inner, "invalid_tool_calls")]
    if made:
        return [tool_call(text(one, "id"), text(one, "name"), one.get("args")) for one in made if isinstance(one, dict)]
    raw = [one for one in items(mapping(inner, "additional_kwargs"), "tool_calls") if isinstance(one, dict)]
    functions = [mapping(one, "function") for one in raw]
    return [
        tool_call(text(one, "id"), text(function, "name"), function.get("arguments"))
        for one, function in zip(raw, functions, strict=True)
    ]


def _reasoning(inner: dict[str, Any]) -> str:
    said = text(mapping(inner, "additional_kwargs"), "reasoning_content")
    thoughts = [text(block, "thinking") or text(block, "reasoning") for block in items(inner, "content")]
    return said or "\n".join(filter(None, thoughts))


def _view(record: Record) -> View:
    shown = shown_together(_messages(record.value, {}))
    if shown is not None:
        return shown
    if record.value is None or record.problem is not None:
        return damaged(record)
    return View("meta", (Part("text", one_line(compact(record.value), 200)),))


def _fold(log: Sequence[Record]) -> Conversation:
    names: dict[str, str] = {}
    return fold_each(document.now(log), lambda record: _messages(record.value, names))


LANGCHAIN = Format(
    name="langchain",
    title="LangChain messages",
    recognise=_recognise,
    read=_read,
    header=_header,
    learn=_learn,
    view=_view,
    fold=_fold,
    abandoned=none_abandoned,
    write=_write,
    growth=_growth,
    places=(),
)
