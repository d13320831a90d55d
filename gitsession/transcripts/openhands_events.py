"""What one event of OpenHands says.

Two generations are known, from the agent's source. In the older one an event is an `action` with `args`, or an
`observation` with `content` that has a `cause`. In the newer one, of its SDK, each event says its `kind`.
"""

from typing import Any

from gitsession.blocks import flat_text
from gitsession.model import CompactionEntry, Message
from gitsession.parts import Part, compact
from gitsession.transcripts.base import Record
from gitsession.transcripts.fields import integer, items, mapping, one_line, text
from gitsession.transcripts.folding import shown_together
from gitsession.transcripts.normal import (
    content_of_blocks,
    damaged,
    image_part,
    normal_message,
    signed_blocks,
    text_part,
    tool_call,
)
from gitsession.view import View

_SDK_KINDS = (
    *("SystemPromptEvent", "MessageEvent", "ActionEvent", "ObservationEvent", "AgentErrorEvent", "PauseEvent"),
    *("UserRejectObservation", "Condensation", "CondensationRequest", "CondensationSummaryEvent"),
    *("ConversationStateUpdateEvent", "ConversationErrorEvent", "LLMCompletionLogEvent"),
)
# Observations that are no part of the conversation.
_STATES = ("agent_state_changed", "null", "recall", "condensation", "loop_recovery")
# Arguments of an action that are not the tool's.
_OWN_ARGUMENTS = ("thought", "confirmation_state", "is_confirmed", "hidden", "blocking", "security_risk", "is_input")
_SPEECH = ("message", "finish", "reject")


PROMPT = "You are OpenHands agent, an assistant that uses a computer to solve the tasks of its user."
"""How the system prompt begins that stands for that of a session which has none."""


def stand_in_prompt(cwd: str) -> str:
    """Returns the system prompt for a session which has none: the agent resumes no conversation without one."""
    return f"{PROMPT}\nThe current working directory is: {cwd}"


def is_stand_in(value: Any) -> bool:
    """Tells whether an event is such a prompt, which nobody gave."""
    words = flat_text(value.get("system_prompt")) if text(value, "kind") == "SystemPromptEvent" else ""
    return words.startswith(stand_in_prompt(""))


def is_event(value: Any) -> bool:
    """Tells whether a value is an event, of either generation."""
    if not isinstance(value, dict) or "source" not in value:
        return False
    if text(value, "kind") in _SDK_KINDS:
        return True
    return "timestamp" in value and bool(text(value, "action") or text(value, "observation"))


def messages_of(value: Any, names: dict[str, str]) -> list[Message] | CompactionEntry:
    """Returns what an event stands for, and adds the names of the tools that it calls, by their calls."""
    if not is_event(value):
        return []
    if text(value, "kind"):
        return _sdk(value, names)
    return _action(value, names) if text(value, "action") else _observation(value)


def forgotten(value: dict[str, Any]) -> set[str]:
    """Returns the ids of the events that a condensation forgot."""
    told = mapping(value, "args") or value
    first, last = integer(told, "forgotten_events_start_id"), integer(told, "forgotten_events_end_id")
    named = {str(one) for one in items(told, "forgotten_event_ids")}
    # A range that nobody could have is not gone through.
    within = range(first, last + 1) if first is not None and last is not None and last - first < 1_000_000 else ()
    return named | {*map(str, within)}


def show(record: Record) -> View:
    """Returns an event for reading."""
    value = record.value
    if isinstance(value, list):
        return View("meta", (Part("text", "trajectory"),))
    if not isinstance(value, dict):
        return damaged(record)
    said = messages_of(value, {})
    if isinstance(said, CompactionEntry):
        return View("system", (Part("text", said.summary),))
    if (shown := shown_together(said)) is not None:
        return shown
    kind = text(value, "kind") or text(value, "action") or text(value, "observation") or "record"
    gist = text(value, "message") or flat_text(value.get("content")) or compact(value)
    return View("meta", (Part("text", one_line(f"{kind}: {gist}", 200)),))


def _action(value: dict[str, Any], names: dict[str, str]) -> list[Message] | CompactionEntry:
    kind, arguments = text(value, "action"), mapping(value, "args")
    by_user = text(value, "source") in ("user", "environment")
    called = mapping(value, "tool_call_metadata")
    model = text(mapping(called, "model_response"), "model")
    if kind == "condensation":
        summary = text(arguments, "summary")
        return CompactionEntry(summary, None, None) if summary else []
    if kind == "system":
        return [normal_message("system", text(arguments, "content"))]
    if kind in _SPEECH:
        words = text(arguments, "content") or text(arguments, "final_thought") or text(value, "message")
        urls = [url for url in items(arguments, "image_urls") if isinstance(url, str)]
        parts = [text_part(words), *map(image_part, urls)]
        if by_user:
            return [normal_message("user", parts, meta=text(value, "source") == "environment")]
        return [normal_message("assistant", parts, model=model)] if words else []
    if kind in ("recall", "change_agent_state", "null") or by_user:
        return []
    call = text(called, "tool_call_id") or f"call-{value.get('id')}"
    name = text(called, "function_name") or kind
    names[call] = name
    given = {key: one for key, one in arguments.items() if key not in _OWN_ARGUMENTS}
    thought = text(arguments, "thought")
    if kind == "think":
        return [normal_message("assistant", reasoning=thought, model=model)]
    return [normal_message("assistant", thought, tool_calls=[tool_call(call, name, given)], model=model)]


def _observation(value: dict[str, Any]) -> list[Message]:
    kind, called = text(value, "observation"), mapping(value, "tool_call_metadata")
    if kind in _STATES or (kind == "think" and not called):
        return []
    words = flat_text(value.get("content")) or text(value, "message")
    cause = value.get("cause")
    if not called and cause is None:
        return []
    failed = kind == "error" or value.get("success") is False
    call = text(called, "tool_call_id") or f"call-{cause}"
    return [
        normal_message("tool", words, tool_call_id=call, name=text(called, "function_name") or kind, is_error=failed)
    ]


def _sdk(value: dict[str, Any], names: dict[str, str]) -> list[Message] | CompactionEntry:
    call, name = text(value, "tool_call_id"), text(value, "tool_name")
    match text(value, "kind"):
        case "SystemPromptEvent":
            return [normal_message("system", flat_text(value.get("system_prompt")))]
        case "MessageEvent":
            return _llm_message(value)
        case "ActionEvent":
            given = mapping(value, "tool_call")
            inner = mapping(given, "function") or given
            call, name = call or text(given, "id"), name or text(inner, "name")
            names[call] = name
            action = {key: one for key, one in mapping(value, "action").items() if key != "kind"}
            arguments = inner.get("arguments", action)
            thought = content_of_blocks(value.get("thought"))
            calls = [tool_call(call, name, arguments)]
            return [normal_message("assistant", thought, **_reasoning(value), tool_calls=calls)]
        case "ObservationEvent":
            seen = mapping(value, "observation")
            output = seen.get("content", seen.get("output", seen.get("text")))
            content = content_of_blocks(output) or [text_part(flat_text(output))]
            failed = seen.get("is_error") is True or seen.get("error") is True
            return [normal_message("tool", content, tool_call_id=call, name=name, is_error=failed)]
        case "AgentErrorEvent":
            return [normal_message("tool", text(value, "error"), tool_call_id=call, name=name, is_error=True)]
        case "UserRejectObservation":
            words = text(value, "rejection_reason")
            return [normal_message("tool", words, tool_call_id=call, name=name, is_error=True)]
        case "Condensation" if text(value, "summary"):
            return CompactionEntry(value["summary"], None, None)
    return []


def _llm_message(value: dict[str, Any]) -> list[Message]:
    message = mapping(value, "llm_message")
    content = content_of_blocks(message.get("content"))
    by_user = text(message, "role") == "user"
    if by_user:
        return [normal_message("user", content, meta=text(value, "source") != "user")] if content else []
    thoughts = next(filter(lambda one: one["reasoning"], (_reasoning(message), _reasoning(value))), _reasoning(message))
    return [normal_message("assistant", content, **thoughts)] if content or thoughts["reasoning"] else []


def _reasoning(value: dict[str, Any]) -> dict[str, Any]:
    """Returns what was thought, and the same as Claude signed it, which alone gives such blocks."""
    blocks = items(value, "thinking_blocks")
    thoughts = filter(None, (text(block, "thinking") for block in blocks))
    reasoning = text(value, "reasoning_content") or "\n".join(thoughts)
    return {"reasoning": reasoning, "reasoning_details": signed_blocks(blocks)}
