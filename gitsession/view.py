"""A message as a person sees it: who speaks, and the parts of what is said, whatever shape the provider gives it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gitsession.blocks import block_parts, call_part, content_parts, result_part
from gitsession.parts import Part, PartKind, Parts, compact, first, first_string, readable_part

__all__ = ["Part", "PartKind", "View", "Who", "readable", "view"]

Who = Literal["user", "assistant", "system", "tool", "meta"]

# What providers and agents call those who speak; a message without a role may say it in its `type`.
ROLES: Mapping[str, Who] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "gemini": "assistant",
    "model": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "toolResult": "tool",
    "tool_result": "tool",
    "function": "tool",
}


@dataclass(frozen=True, slots=True)
class View:
    """A message for reading.

    Attributes:
        who: Who speaks. A tool's result is `tool`, whatever role the provider gives it; `meta` is what is no part of
            the conversation.
        parts: What is said, in order.
        model: The model that spoke, where it is known.
    """

    who: Who
    parts: tuple[Part, ...] = ()
    model: str | None = None


def view(message: Mapping[str, Any]) -> View:
    """Returns a message for reading, whatever shape it has.

    Known are the shapes of OpenAI (chat and Responses), Anthropic, Gemini and Bedrock, and those of the agents whose
    transcripts can be imported. Anything else is `meta`, with its JSON as the text. Raises on no JSON object.
    """
    role = message.get("role")
    if not isinstance(role, str):
        inner = message.get("message")
        if isinstance(inner, dict) and isinstance(inner.get("role"), str):
            return view(inner)
        role = first_string(message, "type")
        if role not in ROLES:
            return _item(message)
    who = ROLES.get(role, "meta")
    parts = _said(message)
    if who == "tool" and not any(part.kind == "tool_result" for part in parts):
        parts = result_part(message)
    elif who == "user" and parts and all(part.kind == "tool_result" for part in parts):
        who = "tool"
    elif who == "meta" and not parts:
        parts = (Part("text", compact(dict(message))),)
    # Injected context has the role of the one into whose mouth it is put, but nobody said it.
    return View("meta" if message.get("meta") is True else who, parts, first_string(message, "model") or None)


def readable(view: View) -> str:
    """Returns the parts of a message as plain text, one below the other."""
    return "\n".join(filter(None, map(readable_part, view.parts)))


def _said(message: Mapping[str, Any]) -> Parts:
    """Returns the parts of a message that has a role: its reasoning, its content, its tool calls."""
    parts: Parts = ()
    if thought := first(message, "reasoning", "reasoning_content", "thinking"):
        parts = tuple(Part("reasoning", part.text) for part in content_parts(thought))
    parts += content_parts(first(message, "content", "parts", "text", "summary"))
    if refusal := first_string(message, "refusal"):
        parts += (Part("text", refusal),)
    calls = first(message, "tool_calls", "toolCalls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            parts += call_part(call)
    if isinstance(call := message.get("function_call"), dict):
        parts += call_part(call)
    return parts


def _item(message: Mapping[str, Any]) -> View:
    """Returns an item that has no role, such as those of OpenAI Responses, or anything else."""
    model = first_string(message, "model") or None
    parts = block_parts(dict(message)) if first_string(message, "type") else ()
    match parts:
        case (Part("tool_call" | "reasoning"), *_):
            return View("assistant", parts, model)
        case (Part("tool_result"), *_):
            return View("tool", parts, model)
        case _:
            return View("meta", (Part("text", compact(dict(message))),), model)
