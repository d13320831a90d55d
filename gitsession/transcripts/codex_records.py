"""What one record of a Codex rollout is: an item that the model saw or said, an event that the user saw, or neither.

A record is `{"timestamp", "type", "payload"}`. The first releases wrote the items themselves, under a first line that
names the session. Known from the agent's source; nothing here expects a field to be there or to have the right type.
"""

import re
from typing import Any

from gitsession.parts import Part, compact
from gitsession.transcripts.base import Record
from gitsession.transcripts.fields import integer, items, mapping, one_line, text
from gitsession.transcripts.normal import damaged
from gitsession.view import View, view

KINDS = (
    *("session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"),
    *("inter_agent_communication", "inter_agent_communication_metadata"),
)

CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output", "tool_search_output")
ITEMS = ("message", "reasoning", "image_generation_call", "agent_message", *CALLS, *OUTPUTS)
"""The kinds of items that are a part of the conversation."""

TURN_STARTS = ("task_started", "turn_started")
TURN_ENDS = ("task_complete", "turn_complete", "turn_aborted")

# What the agent writes into the user's mouth begins like this.
_INJECTED = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|INSTRUCTIONS|permissions instructions|collaboration_mode"
    r"|user_shell_command|turn_aborted|subagent_notification|skill|skills_instructions|apps_instructions"
    r"|plugins_instructions|recommended_plugins|model_switch|personality_spec|user_action|goal_context|hook_prompt"
    r"|codex_internal_context)\b|# AGENTS\.md instructions)"
)
# An editor puts what it knows before what was typed, under headings of its own.
_REQUEST = "## My request for Codex:"
_BESIDE = re.compile(rf"\s*# [^\n]*\n(?:.*\n)?{_REQUEST}[ \t]*\n?", re.DOTALL)
_IMAGE_MARK = re.compile(r"\s*</?image\b[^>]*>\s*")
# As much of a prompt as two records are compared by.
_COMPARED = 500


def is_bare_header(value: dict[str, Any]) -> bool:
    """Tells whether it is the first line of an early rollout: the session's fields without a type."""
    return "type" not in value and "instructions" in value and bool(text(value, "id") and text(value, "timestamp"))


def is_bare(value: dict[str, Any]) -> bool:
    """Tells whether a record is an item itself, as in early rollouts."""
    return "payload" not in value and text(value, "type") in ITEMS


def item(value: Any) -> dict[str, Any]:
    """Returns the item that a record holds; an empty one where it holds none."""
    if text(value, "type") == "response_item":
        return mapping(value, "payload")
    return value if isinstance(value, dict) and is_bare(value) else {}


def event(value: Any) -> dict[str, Any]:
    """Returns the event that a record holds; an empty one where it holds none.

    Newer releases wrap some events as completed items; these are given the shape of the older events.
    """
    found = mapping(value, "payload") if text(value, "type") == "event_msg" else {}
    if text(found, "type") != "item_completed":
        return found
    done = mapping(found, "item")
    match text(done, "type"):
        case "UserMessage":
            return {"type": "user_message", "message": words(done.get("content"))}
        case "AgentMessage":
            return {"type": "agent_message", "message": words(done.get("content"))}
        case _:
            return found


def words(content: Any) -> str:
    """Returns the text of a message's content, without the marks that stand around its images."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(said for part in parts if (said := text(part, "text")) and not _IMAGE_MARK.fullmatch(said))


def key(said: str) -> str:
    """Returns what a prompt is recognised by in the other record that says it."""
    return said.strip()[:_COMPARED].strip()


def is_injected(said: str) -> bool:
    """Tells whether a user's text is context that no person typed."""
    return bool(_INJECTED.match(said))


def split_prompt(said: str) -> tuple[str, str]:
    """Returns what was typed in a user's text, and what an editor put before it."""
    match = _BESIDE.match(said)
    return (said[match.end() :], said[: match.end()].strip()) if match else (said, "")


def prompt(value: dict[str, Any]) -> str:
    """Returns what a person typed; "" where a record is anything else."""
    said = ""
    if text(event(value), "type") == "user_message":
        said = text(event(value), "message")
    elif is_bare(value) and text(value, "role") == "user":
        said = words(value.get("content"))
    said = said.rpartition(_REQUEST)[2].strip()
    return "" if is_injected(said) else said


def outline(record: Record) -> Record:
    """Returns a record with what tells its place among the turns, but not its contents."""
    value = record.value
    found, happened = item(value), event(value)
    kept: dict[str, Any] | None = None
    if found:
        kept = {"type": text(found, "type"), "role": text(found, "role")}
        if kept["role"] == "user":
            kept["content"] = [{"type": "input_text", "text": key(words(found.get("content")))}]
        kept = {"type": "response_item", "payload": kept, "meta": value.get("meta") is True}
    elif happened:
        said = {"message": key(text(happened, "message"))} if text(happened, "type") == "user_message" else {}
        turns = {"num_turns": happened["num_turns"]} if "num_turns" in happened else {}
        kept = {"type": "event_msg", "payload": {"type": text(happened, "type"), **said, **turns}}
    elif text(value, "type") in ("compacted", "inter_agent_communication"):
        kept = {"type": value["type"]}
    return record._replace(raw=b"", value=kept)


def show(record: Record) -> View:
    """Returns a record for reading.

    What is said twice is shown once: a prompt by its event, since the items hold injected context as well; all else
    by its item.
    """
    value = record.value
    if not isinstance(value, dict):
        return damaged(record)
    if found := item(value):
        return _show_item(found, bare=is_bare(value))
    kind = text(value, "type") or ("session_meta" if is_bare_header(value) else text(value, "record_type"))
    if happened := event(value):
        if text(happened, "type") == "user_message":
            return view({"role": "user", "content": text(happened, "message")})
        return _note(text(happened, "type") or kind, _gist(happened))
    payload = mapping(value, "payload")
    if kind == "compacted":
        return View("system", (Part("text", f"[Conversation summary]\n{summary(payload)}"),))
    return _note(kind or "unknown record", _gist(payload or value))


def _show_item(found: dict[str, Any], *, bare: bool) -> View:
    kind = text(found, "type")
    shown = view(found)
    if kind == "agent_message":
        return View("meta", (Part("text", words(found.get("content"))),))
    if kind == "message":
        typed = bare and shown.who == "user" and not is_injected(words(found.get("content")))
        if shown.who == "user" and not typed:
            return View("meta", shown.parts, shown.model)
        return shown
    if kind not in ITEMS:
        return _note(kind or "unknown item", _gist(found))
    return shown


def _note(kind: str, gist: str) -> View:
    return View("meta", (Part("text", f"{kind}: {gist}".rstrip(": ")),))


def _gist(value: dict[str, Any]) -> str:
    """Returns the little that is worth reading in a record that is no part of the conversation."""
    turns = integer(value, "num_turns")
    if turns is not None:
        return f"{turns} turn" if turns == 1 else f"{turns} turns"
    known = ("message", "text", "reason", "model", "id", "call_id", "turn_id")
    found = next(filter(None, (text(value, field) for field in known)), "")
    return one_line(found or compact({name: one for name, one in value.items() if name != "type"}), 200)


def summary(compacted: dict[str, Any]) -> str:
    """Returns what stands for the conversation after a compaction: its summary, or the history that replaced it."""
    if said := text(compacted, "message"):
        return said
    history = (words(one.get("content")) for one in items(compacted, "replacement_history") if isinstance(one, dict))
    return "\n\n".join(said for said in history if said and not is_injected(said))
