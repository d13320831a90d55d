"""Plain messages of a chat, without an agent around them: OpenAI chat, OpenAI Responses items, Anthropic messages.

A file is a JSON array of them, an object that has them under `messages` (such as the body of a request), or one of
them a line. The session is named by the file. The conversation is the messages as they stand, in their provider's
shape: whoever goes on with it sends them to that provider. The system prompt and the model of a request's body are
told as those of messages.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, BinaryIO

from gitsession.model import CompactionEntry, MessageEntry
from gitsession.parts import Part
from gitsession.transcripts import document, records
from gitsession.transcripts.base import Format, Growth, Log, Record
from gitsession.transcripts.fields import one_line, text, time
from gitsession.transcripts.folding import none_abandoned
from gitsession.transcripts.normal import damaged, titled_by_prompt
from gitsession.view import View, view

_PATHS = ((), ("messages",))
_ROLES = ("system", "developer", "user", "assistant", "tool", "function", "model", "human", "ai")
_SAYS = ("content", "tool_calls", "function_call", "parts", "refusal", "audio")
# The items of OpenAI Responses that have no role, each with the fields that it always has.
_ITEMS = {
    "function_call": ("call_id", "name"),
    "function_call_output": ("call_id", "output"),
    "custom_tool_call": ("call_id", "name"),
    "custom_tool_call_output": ("call_id", "output"),
    "reasoning": ("summary",),
    "web_search_call": ("id", "status"),
    "file_search_call": ("id", "queries"),
    "computer_call": ("call_id", "action"),
    "computer_call_output": ("call_id", "output"),
    "local_shell_call": ("call_id", "action"),
    "local_shell_call_output": ("id", "output"),
    "code_interpreter_call": ("id", "code"),
    "image_generation_call": ("id", "status"),
    "mcp_call": ("name", "arguments"),
    "mcp_list_tools": ("tools",),
    "item_reference": ("id",),
}

# How a message begins that is longer than what a file is recognised by.
_LONG_MESSAGE = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*(?:\{\s*(?:"[a-z_]+"\s*:[^{]{0,400}?)?"messages"\s*:\s*)?\[?\s*\{\s*"role"\s*:\s*"'
)

SECOND = re.compile(rb'\}[ \t\r]*\n\s*\{\s*(?:"[a-z_]+"\s*:[^{]{0,400}?)?"messages"\s*:\s*\[')
"""How a second line with messages begins that is longer than what a file is recognised by."""


def is_message(value: Any) -> bool:
    """Tells whether a value is a message in a shape of one of the providers."""
    if not isinstance(value, dict):
        return False
    if text(value, "role") in _ROLES:
        # Agents wrap such messages in records of their own, which say more at this place.
        return any(key in value for key in _SAYS) and not {"uuid", "sessionId", "parentUuid"} & value.keys()
    wanted = _ITEMS.get(text(value, "type"))
    return wanted is not None and all(key in value for key in wanted)


def _recognise(head: bytes, _name: str) -> bool:
    if document.is_document(head, _PATHS):
        found = document.first_values(head, _PATHS, 1)
        if found and found[0] is not None:
            return is_message(found[0]) and not _is_one_of_many(head)
        # The first message may be longer than the head.
        return bool(_LONG_MESSAGE.search(head[:4096])) and not _is_one_of_many(head)
    objects = records.first_objects(head, 2)
    return all(map(is_message, objects)) if objects else bool(_LONG_MESSAGE.match(head))


def _is_one_of_many(head: bytes) -> bool:
    """Tells whether each line holds a conversation of its own, as in files that models are trained on."""
    lines = records.first_objects(head, 2)
    several = len(lines) > 1 or (len(lines) == 1 and SECOND.search(head) is not None)
    return several and all(isinstance(line.get("messages"), list) for line in lines)


def _describe(value: dict[str, Any]) -> tuple[str | None, str | None]:
    return text(value, "id") or None, time(value.get("timestamp") or value.get("created_at"))


def _read(stream: BinaryIO) -> Iterator[Record]:
    return document.read_stream(stream, _PATHS, _describe, is_message)


def _header(path: PurePath, first: Record) -> Mapping[str, Any]:
    return _learn({"id": path.stem, "created_at": first.timestamp or "", "agent": "chat"}, first)


def _learn(header: Mapping[str, Any], record: Record) -> Mapping[str, Any]:
    return titled_by_prompt(header, record.value if is_message(record.value) else {})


def _view(record: Record) -> View:
    if is_message(record.value):
        return view(record.value)
    if record.problem is None and record.raw.strip():
        return View("meta", (Part("text", one_line(record.raw[:400].decode("utf-8", "replace"), 100)),))
    return damaged(record)


def _fold(log: Sequence[Record]) -> list[MessageEntry | CompactionEntry]:
    entries: list[MessageEntry | CompactionEntry] = []
    at, model = "", ""
    for place, record in enumerate(document.now(log)):
        at = record.timestamp or at
        own, value = record.id or f"record-{place}", record.value
        if document.is_first(record):
            # The body of a request says in one place what other providers' messages say themselves.
            body = _body(record)
            model = text(body, "model")
            if (told := body.get("system")) and isinstance(told, str | list):
                entries.append(MessageEntry({"role": "system", "content": told}, id=own, timestamp=at))
        elif is_message(value):
            spoken = model and text(value, "role") == "assistant" and not value.get("model")
            entries.append(MessageEntry({**value, "model": model} if spoken else value, id=own, timestamp=at))
    return entries


def _body(record: Record) -> dict[str, Any]:
    """Returns what stands around the messages of a document; of a damaged one, what stands before them."""
    value = record.value if record.value is not None else records.parse(record.raw + b"]}")[0]
    return value if isinstance(value, dict) else {}


def _growth(first: Record) -> Growth:
    return "document" if document.is_first(first) else "log"


def _write(log: Log) -> Iterator[bytes]:
    return document.write(log, _PATHS)


CHAT = Format(
    name="chat",
    title="chat messages",
    recognise=_recognise,
    read=_read,
    header=_header,
    learn=_learn,
    view=_view,
    fold=_fold,
    abandoned=none_abandoned,
    write=_write,
    growth=_growth,
)
