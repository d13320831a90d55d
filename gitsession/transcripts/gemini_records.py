"""What one record of a Gemini CLI transcript is, and the messages that it stands for.

Known from the agent's source (`chatRecordingTypes.ts`). A record is the session's metadata, a message, or an operation
on what stands before it: `$set`, `$rewindTo`.
"""

import re
from hashlib import blake2b
from typing import Any

from gitsession.blocks import flat_text
from gitsession.model import Message
from gitsession.parts import Part, compact
from gitsession.transcripts.base import Record
from gitsession.transcripts.fields import items, mapping, one_line, text, time
from gitsession.transcripts.folding import shown_together
from gitsession.transcripts.normal import damaged, file_part, image_part, normal_message, text_part, tool_call
from gitsession.view import View

TYPES = ("user", "gemini", "info", "error", "warning")
SNAPSHOT = "<state_snapshot>"
"""What the summary that stands for a compressed history is marked with."""

ANSWER = 1
"""The bit of what `saying` tells that is set for an answer of the model."""

_FAILED = ("error", "cancelled")
# As much of a message as two are compared by.
_COMPARED = 200
# What the agent puts into the user's mouth begins like this.
_INJECTED = re.compile(
    r"\s*(?:This is the Gemini CLI\. We are setting up|<(?:session_context|hook_context|system-reminder)>)"
)


def is_message(value: Any) -> bool:
    """Tells whether a value is a message."""
    return bool(text(value, "id")) and text(value, "type") in TYPES


def is_metadata(value: Any) -> bool:
    """Tells whether a value is the metadata with which a transcript begins, or a whole document."""
    return bool(text(value, "sessionId")) and "projectHash" in value and "id" not in value


def describe(value: dict[str, Any]) -> tuple[str | None, str | None]:
    """Returns a record's own id and its time."""
    stamp = value.get("timestamp") or value.get("startTime") or mapping(value, "$set").get("lastUpdated")
    return (text(value, "id") or None) if is_message(value) else None, time(stamp)


def messages_of(value: Any, *, attached: bool = False) -> list[Message]:
    """Returns what a message record stands for: what was said, then the results of the tools that it called.

    Args:
        value: The record.
        attached: Whether it is to have files, and the images of results. The text of its commit has none, for good.
    """
    if text(value, "type") == "user":
        parts = _parts(value.get("content"), files=attached)
        said = "\n".join(text(part, "text") for part in parts)
        return [normal_message("user", parts, meta=bool(_INJECTED.match(said)))] if parts else []
    if text(value, "type") != "gemini":
        # A notice of the agent's, such as that a request failed.
        words = flat_text(value.get("content")) if is_message(value) else ""
        return [normal_message("assistant", words, meta=True)] if words else []
    calls = [call for call in items(value, "toolCalls") if isinstance(call, dict)]
    thoughts = [f"{text(one, 'subject')}: {text(one, 'description')}".strip(": ") for one in items(value, "thoughts")]
    answer = normal_message(
        "assistant",
        _parts(value.get("content")),
        reasoning="\n".join(filter(None, thoughts)),
        tool_calls=[tool_call(text(call, "id"), text(call, "name"), call.get("args")) for call in calls],
        model=text(value, "model"),
    )
    results = [
        _result(call, attached=attached)
        for call in calls
        if call.get("result") is not None or text(call, "status") in _FAILED
    ]
    # A record is written before the model has said anything, and written again.
    return [answer, *results] if answer.keys() - {"role", "model"} != {"content"} or answer["content"] else results


def times_of(value: Any) -> dict[str, str]:
    """Returns when the results that stand in a message came, by the ids of their calls."""
    calls = [call for call in items(value, "toolCalls") if isinstance(call, dict)]
    return {text(call, "id"): at for call in calls if (at := time(call.get("timestamp")))}


def show(record: Record) -> View:
    """Returns a record for reading."""
    value = record.value
    if not isinstance(value, dict):
        return damaged(record)
    if is_message(value):
        kind = text(value, "type")
        if kind in ("user", "gemini"):
            nothing = View("assistant" if kind == "gemini" else "user", (), text(value, "model") or None)
            return shown_together(messages_of(value)) or nothing
        return View("meta", (Part("text", f"{kind}: {flat_text(value.get('content'))}"),))
    if is_metadata(value):
        return View("meta", (Part("text", one_line(f"session: {text(value, 'sessionId')}")),))
    if back := text(value, "$rewindTo"):
        return View("meta", (Part("text", one_line(f"rewind to before {back}", 200)),))
    news = mapping(value, "$set")
    if isinstance(news.get("messages"), list):
        return View("system", (Part("text", f"the history was replaced by {len(news['messages'])} messages"),))
    return View("meta", (Part("text", one_line(compact(value), 200)),))


def is_snapshot(value: dict[str, Any]) -> bool:
    """Tells whether a message is the summary that stands for a compressed history."""
    return SNAPSHOT in flat_text(value.get("content"))


def saying(value: dict[str, Any]) -> int:
    """Returns what tells a prompt that was typed, or an answer, from others; 0 for anything else.

    It is a digest of 64 bits of how it begins; the last of them tells answers (`ANSWER`). A command is no
    prompt: the agent does not keep it.
    """
    said, kind = _said(value), text(value, "type")
    if not said or kind not in ("user", "gemini") or is_snapshot(value):
        return 0
    if kind == "user" and (said.startswith(("/", "?")) or _INJECTED.match(said)):
        return 0
    digest = blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") & ~ANSWER | 2 | (kind == "gemini" and ANSWER)


def outline(record: Record) -> Record:
    """Returns a record with what tells which messages stand after it, and how they begin."""
    value = record.value
    kept: dict[str, Any] | None = None
    if is_message(value):
        kept = _outlined(value)
    elif back := text(value, "$rewindTo"):
        kept = {"$rewindTo": back}
    elif isinstance(found := mapping(value, "$set").get("messages"), list):
        kept = {"$set": {"messages": [_outlined(one) for one in found if is_message(one)]}}
    return record._replace(raw=b"", value=kept)


def _outlined(value: dict[str, Any]) -> dict[str, Any]:
    said = _said(value) if text(value, "type") in ("user", "gemini") else ""
    mark = SNAPSHOT if is_snapshot(value) and SNAPSHOT not in said else ""
    return {"id": value["id"], "type": value["type"], "content": mark + said}


def _said(value: dict[str, Any]) -> str:
    """Returns the beginning of what a message says, without thoughts; of an answer without words what it calls."""
    content = value.get("content")
    parts = content if isinstance(content, list) else [content]
    words = (one if isinstance(one, str) else text(one, "text") for one in parts if not _is_thought(one))
    if said := "".join(words).strip()[:_COMPARED].strip():
        return said
    calls = [text(call, "id") for call in items(value, "toolCalls")]
    return " ".join(calls or [text(mapping(one, "functionCall"), "id") for one in parts]).strip()[:_COMPARED].strip()


def _is_thought(part: Any) -> bool:
    return isinstance(part, dict) and part.get("thought") is True


def _result(call: dict[str, Any], *, attached: bool) -> Message:
    failed = text(call, "status") in _FAILED
    result = call.get("result")
    response = mapping(result[0], "functionResponse") if isinstance(result, list) and result else {}
    said = mapping(response, "response")
    beside = result[1:] if attached and response and isinstance(result, list) else []
    images = [part for part in _parts(beside) if text(part, "type") == "image_url"]
    words = text(said, "output") or text(said, "error")
    if not words and not images:
        words = flat_text(result) or text(call, "resultDisplay") or ("cancelled" if failed else "")
    return normal_message(
        "tool",
        [*([text_part(words)] if words else []), *images],
        tool_call_id=text(call, "id"),
        name=text(call, "name"),
        is_error=failed or bool(said.get("error")),
    )


def _parts(content: Any, *, files: bool = False) -> list[Message]:
    """Returns content in Google's shape, a string, a part or a list of both, as the parts of a normal message."""
    if isinstance(content, str):
        return [text_part(content)] if content else []
    parts = []
    for part in content if isinstance(content, list) else [content]:
        encoded = mapping(part, "inlineData")
        if isinstance(part, str) or text(part, "text"):
            parts.append(text_part(part if isinstance(part, str) else part["text"]))
        elif text(encoded, "data") and text(encoded, "mimeType").startswith("image/"):
            parts.append(image_part(f"data:{encoded['mimeType']};base64,{encoded['data']}"))
        elif files and text(encoded, "data") and text(encoded, "mimeType"):
            parts.append(file_part("", f"data:{encoded['mimeType']};base64,{encoded['data']}"))
        elif part is not None and (words := flat_text(part)):
            parts.append(text_part(words))
    return parts
