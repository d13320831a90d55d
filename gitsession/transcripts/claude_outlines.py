"""What is kept of a record of Claude Code while a file is read: what tells its place in the tree, and its prompt."""

from typing import Any

from gitsession.transcripts.base import Record
from gitsession.transcripts.claude_prompts import prompt, told, waiting
from gitsession.transcripts.claude_records import CHAIN, begins, is_synthetic
from gitsession.transcripts.fields import text

# What the tree of records is made of, and what tells prompts apart.
_TREE = (
    *("type", "subtype", "uuid", "parentUuid", "logicalParentUuid", "sessionId"),
    *("isSidechain", "teamName", "isMeta", "isApiErrorMessage", "isCompactSummary"),
)
_PROMPT = ("promptId", "timestamp", "origin")
_OUTLINED = 500
# What stands for all that a line begins with and that is no prompt.
_BEGINNING = "<command-name>"


def outline(record: Record) -> Record:
    """Returns a record with what tells its place in the tree, and the beginning of a prompt, but not its contents.

    It is kept while a file is read, so what says nothing is left out.
    """
    value = record.value
    if not isinstance(value, dict) or text(value, "type") not in CHAIN:
        return record._replace(raw=b"", value={} if isinstance(value, dict) else None)
    said = (prompt(value) or told(value))[:_OUTLINED]
    kept: dict[str, Any] = {key: found for key in ((*_TREE, *_PROMPT) if said else _TREE) if (found := value.get(key))}
    if own := text(value.get("message"), "id"):
        kept["message"] = {"id": own}
        if is_synthetic(value):
            kept["message"]["model"] = text(value.get("message"), "model")
    if said:
        kept["message"] = {**kept.get("message", {}), "content": said}
    elif said := waiting(value)[:_OUTLINED]:
        kept["attachment"] = {"type": "queued_command", "prompt": said}
    if value.get("parentUuid") is not None:
        kept.setdefault("parentUuid", False)  # such as an empty one
    elif text(value, "type") == "user" and not said and begins(value):
        kept["message"] = {**kept.get("message", {}), "content": _BEGINNING}
    return record._replace(raw=b"", value=kept)
