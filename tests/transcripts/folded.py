"""What tests of formats compare: a conversation in few words, and short normal messages."""

from pathlib import Path
from typing import Any

from transcript_files import format_of, records_of

from gitsession.model import CompactionEntry, MessageEntry


def call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    """Returns a call of a tool, as a normal message has it."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def user(content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **fields}


def assistant(content: Any = None, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", **({} if content is None else {"content": content}), **fields}


def tool(content: Any, call_id: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "content": content, "tool_call_id": call_id, "name": name, **fields}


def entries(path: Path) -> list[MessageEntry | CompactionEntry]:
    return format_of(path).fold(records_of(path))


def conversation(path: Path) -> list[Any]:
    """Returns the messages of a transcript; a compaction as its summary and the entry that it kept first."""
    return [
        (entry.summary, entry.first_kept_id) if isinstance(entry, CompactionEntry) else entry.message
        for entry in entries(path)
    ]


def speakers(path: Path) -> list[str]:
    """Returns who speaks in each record."""
    return [format_of(path).view(record).who for record in records_of(path)]
