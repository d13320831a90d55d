"""Any message as normal messages, whichever provider's shape it has: what is composed for an agent is made of these."""

from collections.abc import Mapping
from typing import Any

from gitsession.blocks import flat_text, image_urls
from gitsession.model import Message
from gitsession.parts import Part, first, readable_part
from gitsession.transcripts.fields import items, mapping, text
from gitsession.transcripts.normal import (
    assistant_of_blocks,
    file_part,
    image_part,
    normal_message,
    text_part,
    tool_call,
    user_of_blocks,
)
from gitsession.view import view

_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system", "tool": "tool"}


def normal_messages(message: Mapping[str, Any]) -> list[Message]:
    """Returns the normal messages that a message stands for; none where it says nothing.

    Args:
        message: A message in the shape of any provider or agent.
    """
    role = _ROLES.get(text(message, "role"), "")
    content = message.get("content")
    if role and _is_normal(message):
        return [
            normal_message(
                role,
                [_bare(part) for part in content] if isinstance(content, list) else text(message, "content"),
                reasoning=text(message, "reasoning"),
                reasoning_details=items(message, "reasoning_details"),
                tool_calls=[_call(call) for call in items(message, "tool_calls")],
                tool_call_id=text(message, "tool_call_id"),
                name=text(message, "name") if role == "tool" else "",
                is_error=message.get("is_error") is True,
                model=text(message, "model"),
                meta=message.get("meta") is True,
            )
        ]
    if role == "assistant" and _is_anthropic(message):
        made = assistant_of_blocks(items(message, "content"), model=text(message, "model"))
        return [] if made is None else [made]
    if role == "user" and _is_anthropic(message):
        return user_of_blocks(content, {})
    return _as_shown(message)


def _is_normal(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        parts = content if isinstance(content, list) else [None]
        if not all(_is_part(part) for part in parts):
            return False
    calls = message.get("tool_calls", [])
    if not isinstance(calls, list) or any(not text(mapping(call, "function"), "name") for call in calls):
        return False
    # Other shapes say in these what a normal message says elsewhere.
    return not {"function_call", "parts", "reasoning_content", "thinking", "refusal"} & {
        key for key, value in message.items() if value
    }


def _bare(part: Message) -> Message:
    """Returns a part of normal content without what a provider has besides in it."""
    if file := mapping(part, "file"):
        return file_part(text(file, "filename"), text(file, "file_data"))
    url = text(mapping(part, "image_url"), "url")
    return image_part(url) if url else text_part(text(part, "text"))


def _call(call: Message) -> Message:
    function = mapping(call, "function")
    return tool_call(text(call, "id"), text(function, "name"), function.get("arguments", ""))


def _is_part(part: Any) -> bool:
    if text(part, "type") == "image_url":
        return bool(text(mapping(part, "image_url"), "url"))
    if text(part, "type") == "file":
        held = text(mapping(part, "file"), "file_data")
        return held.startswith("data:") and ";base64," in held[:200]
    return text(part, "type") == "text" and isinstance(part.get("text"), str)


def _is_anthropic(message: Mapping[str, Any]) -> bool:
    kinds = {"text", "thinking", "redacted_thinking", "image", "document", "tool_use", "tool_result"}
    blocks = message.get("content")
    return isinstance(blocks, list) and all(text(block, "type") in kinds for block in blocks)


def _as_shown(message: Mapping[str, Any]) -> list[Message]:
    """Returns what a person would be shown of a message, as normal messages, with its images."""
    shown = view(message)
    images = iter(image_urls(first(message, "content", "parts")))
    said, thoughts, calls, made = [], [], [], []
    for part in shown.parts:
        match part.kind:
            case "reasoning":
                thoughts.append(part.text)
            case "tool_call":
                calls.append(tool_call(part.id, part.name, part.text or "{}"))
            case "tool_result":
                content = _result_content(message, part)
                result = normal_message("tool", content, tool_call_id=part.id, name=part.name, is_error=part.error)
                made.append(result)
            case "image" if url := next(images, ""):
                said.append(image_part(url))
            case _:
                said.append(text_part(readable_part(part)))
    reasoning = "\n".join(filter(None, thoughts))
    if said or reasoning or calls:
        role = {"meta": "user", "tool": "user"}.get(shown.who, shown.who)
        model = shown.model or ""
        made.append(
            normal_message(
                role, said, reasoning=reasoning, tool_calls=calls, model=model, meta=shown.who in ("meta", "tool")
            )
        )
    return made


def _result_content(message: Mapping[str, Any], part: Part) -> list[Message]:
    """Returns what a result says: where the message is one alone that has images, its blocks one by one."""
    blocks = first(message, "content", "output")
    if not isinstance(blocks, list) or not any(image_urls(blocks)) or len(view(message).parts) != 1:
        return [text_part(part.text)] if part.text else []
    content = []
    for block in blocks:
        if url := next(iter(image_urls(block)), ""):
            content.append(image_part(url))
        elif words := flat_text(block):
            content.append(text_part(words))
    return content
