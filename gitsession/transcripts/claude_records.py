"""What one record of a Claude Code transcript is: its kind, who speaks in it, what it holds.

Known from the agent's SDK and from its users' transcripts; the vendor declares the format internal. So nothing here
expects a field to be there or to have the right type, and a kind that is not known is shown as what it is.
"""

from typing import Any

from gitsession.blocks import flat_text
from gitsession.transcripts.fields import items, mapping, text, time

CHAIN = ("user", "assistant", "system", "attachment", "progress")
"""The kinds that carry a uuid and the uuid of the record that they follow."""

_SYNTHETIC = "<synthetic>"

# What tells of a request or of a turn.
_NOTICES = {("system", kind) for kind in ("api_error", "turn_duration", "stop_hook_summary", "away_summary")}

# Other kinds, each with the field that it is known by and that says most.
KINDS = {
    "summary": "summary",
    "custom-title": "customTitle",
    "ai-title": "aiTitle",
    "tag": "tag",
    "last-prompt": "lastPrompt",
    "mode": "mode",
    "permission-mode": "permissionMode",
    "queue-operation": "operation",
    "pr-link": "prUrl",
    "agent-name": "agentName",
    "agent-color": "agentColor",
    "agent-setting": "agentSetting",
    "file-history-snapshot": "snapshot",
    "content-replacement": "replacements",
    "worktree-state": "worktreeSession",
}


def describe(value: dict[str, Any]) -> tuple[str | None, str | None]:
    """Returns a record's uuid and its time."""
    stamp = value.get("timestamp") or mapping(value, "snapshot").get("timestamp")
    return text(value, "uuid") or None, time(stamp)


def content(value: dict[str, Any]) -> Any:
    """Returns the content of the message that a record holds: text, or blocks."""
    return mapping(value, "message").get("content")


def words(value: dict[str, Any]) -> str:
    """Returns the text of the message that a record holds."""
    return flat_text(content(value))


def results(value: dict[str, Any]) -> list[str]:
    """Returns the ids of the calls whose results a user record holds."""
    blocks = items(value.get("message"), "content") if text(value, "type") == "user" else []
    return [text(block, "tool_use_id") for block in blocks if text(block, "type") == "tool_result"]


def calls(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the calls of tools that an assistant record holds."""
    blocks = items(value.get("message"), "content") if text(value, "type") == "assistant" else []
    return [block for block in blocks if text(block, "type").endswith("tool_use")]


def parent_of(value: dict[str, Any]) -> str | None:
    """Returns the uuid of the record that one follows.

    Returns:
        "" for one that begins a line: a prompt, a command, what a hook puts before them. None for one that names
        nothing usable and can begin nothing: it has lost its uuid or its content, or is an answer, the result of a
        call, a summary, or a notice of what was going on.
    """
    named = value.get("parentUuid")
    if isinstance(named, str) and named:
        return named
    return "" if named is None and text(value, "uuid") and begins(value) else None


def begins(value: dict[str, Any]) -> bool:
    """Tells whether a conversation can begin with what a record holds."""
    kind, said = text(value, "type"), content(value)
    if kind != "user":
        return kind != "assistant" and (kind, text(value, "subtype")) not in _NOTICES
    if is_summary(value) or results(value):
        return False
    blocks = said if isinstance(said, list) else [{"text": said}]
    return any(text(block, "text") or text(block, "type") in ("image", "document") for block in blocks)


def is_spoken(value: dict[str, Any]) -> bool:
    """Tells whether a record is a part of what user and model say to each other."""
    return text(value, "type") in ("user", "assistant")


def is_aside(value: dict[str, Any]) -> bool:
    """Tells whether a record belongs to a subagent or to another member of a team."""
    return value.get("isSidechain") is True or bool(text(value, "teamName"))


def is_human(origin: Any) -> bool:
    """Tells whether a prompt's `origin` is a person; older versions name none."""
    return text(origin, "kind") in ("", "human")


def is_summary(value: dict[str, Any]) -> bool:
    """Tells whether a record is the summary that stands for what was compacted."""
    return text(value, "type") == "user" and value.get("isCompactSummary") is True


def is_boundary(value: dict[str, Any]) -> bool:
    """Tells whether a record marks where the context was compacted."""
    return text(value, "type") == "system" and text(value, "subtype") == "compact_boundary"


def queued(value: dict[str, Any]) -> Any:
    """Returns the content of a prompt that was typed while the model worked: these are written as attachments."""
    attachment = mapping(value, "attachment") if text(value, "type") == "attachment" else {}
    if text(attachment, "type") != "queued_command" or text(attachment, "commandMode") not in ("", "prompt"):
        return None
    return attachment.get("prompt")


def is_synthetic(value: dict[str, Any]) -> bool:
    """Tells whether the agent itself speaks in an assistant record, as the model would."""
    return text(value.get("message"), "model") == _SYNTHETIC


def model(value: dict[str, Any]) -> str:
    """Returns the model that spoke in an assistant record; "" where the agent itself did."""
    name = text(value.get("message"), "model")
    return "" if name == _SYNTHETIC else name
