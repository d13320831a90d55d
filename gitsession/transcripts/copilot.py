"""GitHub Copilot CLI: `~/.copilot/session-state/<session>/events.jsonl`, or `<session>.jsonl`, one event a line.

Known from the types that the agent's SDK publishes. An event is `{"type", "data", "id", "timestamp", "parentId"}`; the
first is `session.start`. Events are in order, their `parentId` is the one before. `session.snapshot_rewind` takes back
an event and all after it, which is an abandoned line; the agent rather cuts its file short, and what follows then goes
on as a derived branch. What subagents say is no part of the conversation.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, BinaryIO

from gitsession.blocks import flat_text
from gitsession.model import CompactionEntry, Message
from gitsession.parts import Part, compact
from gitsession.transcripts import records
from gitsession.transcripts.base import Format, Record
from gitsession.transcripts.copilot_compose import compose
from gitsession.transcripts.copilot_rewinds import abandoned, kept, returns
from gitsession.transcripts.fields import changed, integer, items, mapping, one_line, text, time
from gitsession.transcripts.folding import Conversation, fold_each, shown_together
from gitsession.transcripts.normal import (
    damaged,
    file_part,
    image_part,
    normal_message,
    titled_by_prompt,
    tool_call,
    words_of,
)
from gitsession.view import View

_KINDS = ("session.", "user.", "assistant.", "tool.", "system.", "hook.", "skill.", "subagent.", "permission.")


def _is_event(value: Any) -> bool:
    return text(value, "type").startswith(_KINDS) and isinstance(value.get("data"), dict)


def _recognise(head: bytes, _name: str) -> bool:
    found = records.first_objects(head, 2)
    if found:
        return all(map(_is_event, found)) and ("id" in found[0] or "parentId" in found[0])
    return head.startswith(b'{"type":"session.') and b'"data":' in head


def _describe(value: dict[str, Any]) -> tuple[str | None, str | None]:
    return text(value, "id") or None, time(value.get("timestamp"))


def _read(stream: BinaryIO) -> Iterator[Record]:
    return records.read(stream, _describe)


def _header(path: PurePath, first: Record) -> Mapping[str, Any]:
    named = path.parent.name if path.stem == "events" else path.stem
    own = text(mapping(first.value, "data"), "sessionId") or named or path.stem
    return _learn({"id": own, "created_at": "", "agent": "copilot"}, first)


def _learn(header: Mapping[str, Any], record: Record) -> Mapping[str, Any]:
    value, data = record.value, mapping(record.value, "data")
    kind = text(value, "type")
    if kind == "user.message":
        said = _messages(value, {}, "")
        return titled_by_prompt(header, said[0]) if isinstance(said, list) and said else header
    news: dict[str, Any] = {}
    if kind in ("session.start", "session.resume"):
        context = mapping(data, "context")
        news["created_at"] = header.get("created_at") or time(data.get("startTime")) or record.timestamp
        news["cwd"] = header.get("cwd") or text(context, "cwd") or None
        news["git_branch"] = header.get("git_branch") or text(context, "branch") or None
    elif kind == "session.title_changed":
        news["title"] = one_line(text(data, "title")) or None
    elif kind == "session.handoff" and (source := text(data, "remoteSessionId")):
        news["origin"] = {"session": source}
    return changed(header, **news)


def _is_aside(value: dict[str, Any]) -> bool:
    return bool(text(value, "agentId") or text(mapping(value, "data"), "parentToolCallId"))


def _messages(value: Any, names: Mapping[str, str], model: str) -> list[Message] | CompactionEntry:
    """Returns what an event stands for.

    Args:
        value: The event.
        names: The tools' names by their calls.
        model: The model that speaks.
    """
    data = mapping(value, "data")
    match text(value, "type"):
        case "user.message":
            source = text(data, "source")
            injected = source not in ("", "user")
            return [normal_message("user", text(data, "content"), meta=injected)] if text(data, "content") else []
        case "assistant.message":
            asked = [one for one in items(data, "toolRequests") if isinstance(one, dict)]
            calls = [tool_call(text(one, "toolCallId"), text(one, "name"), one.get("arguments")) for one in asked]
            thoughts, said = text(data, "reasoningText"), text(data, "content")
            if not (said or thoughts or calls):
                return []
            spoke = text(data, "model") or model
            return [normal_message("assistant", said, reasoning=thoughts, tool_calls=calls, model=spoke)]
        case "tool.execution_complete":
            call = text(data, "toolCallId")
            error = data.get("error")
            words = flat_text(mapping(data, "result").get("content", data.get("result")))
            words = words or text(error, "message") or (error if isinstance(error, str) else "")
            failed = data.get("success") is False
            return [normal_message("tool", words, tool_call_id=call, name=names.get(call, ""), is_error=failed)]
        case "system.message":
            return [normal_message("system", text(data, "content"))]
        case "session.compaction_complete" if text(data, "summaryContent") and data.get("success") is not False:
            return CompactionEntry(data["summaryContent"], None, integer(data, "preCompactionTokens"))
    return []


def _folded(value: Any, said: list[Message] | CompactionEntry) -> list[Message] | CompactionEntry:
    """Returns what an event stands for, with what the text of its commit is without for good."""
    said = _with_attached(value, said)
    return said if isinstance(said, CompactionEntry) else _with_injected(value, said)


def _with_injected(value: Any, said: list[Message]) -> list[Message]:
    """Returns what a prompt stands for, with what the agent told the model around it, or in place of it."""
    data = mapping(value, "data")
    sent, typed = text(data, "transformedContent").strip(), text(data, "content").strip()
    if text(value, "type") != "user.message" or not sent or sent == typed or (said and said[0].get("meta") is True):
        return said
    lines = [*re.finditer(rf"^{re.escape(typed)}[ \t]*$", sent, re.MULTILINE)] if typed else []
    # What stands in it more than once is not known to be the prompt.
    before, after = (sent[: lines[0].start()], sent[lines[0].end() :]) if len(lines) == 1 else ("", sent)
    around = [[normal_message("user", one.strip(), meta=True)] if one.strip() else [] for one in (before, after)]
    return [*around[0], *said, *around[1]]


def _with_attached(value: Any, said: list[Message] | CompactionEntry) -> list[Message] | CompactionEntry:
    """Returns what an event stands for, with the images and files that are attached to it and lie in it themselves."""
    data = mapping(value, "data")
    blobs = [*items(data, "attachments"), *items(mapping(data, "result"), "binaryResultsForLlm")]
    attached = [part for one in blobs for part in _attached(one)]
    if not attached or isinstance(said, CompactionEntry):
        return said
    if not said and text(value, "type") == "user.message":
        said = [normal_message("user", meta=text(data, "source") not in ("", "user"))]
    return [{**one, "content": [*words_of(one), *attached]} for one in said]


def _attached(blob: Any) -> list[Message]:
    url = f"data:{text(blob, 'mimeType')};base64,{text(blob, 'data')}"
    if text(blob, "type") not in ("blob", "image") or not text(blob, "data"):
        return []
    return [image_part(url) if url.startswith("data:image/") else file_part(text(blob, "displayName"), url)]


def _view(record: Record) -> View:
    value = record.value
    if not isinstance(value, dict):
        return damaged(record)
    said = _messages(value, {}, "")
    if isinstance(said, CompactionEntry):
        return View("system", (Part("text", said.summary),))
    if (shown := shown_together(said)) is not None:
        return View("meta", shown.parts, shown.model) if _is_aside(value) else shown
    data = mapping(value, "data")
    gist = text(data, "message") or text(data, "toolName") or text(data, "content") or compact(data)
    return View("meta", (Part("text", one_line(f"{text(value, 'type') or 'unknown record'}: {gist}", 200)),))


def _fold(log: Sequence[Record]) -> Conversation:
    names: dict[str, str] = {}
    model = ""

    def messages(record: Record) -> list[Message] | CompactionEntry:
        nonlocal model
        value, data = record.value, mapping(record.value, "data")
        if not isinstance(value, dict) or _is_aside(value):
            return []
        model = text(data, "newModel") or text(data, "selectedModel") or model
        called = [data, *items(data, "toolRequests")]
        names.update({text(one, "toolCallId"): text(one, "toolName") or text(one, "name") for one in called[1:]})
        if text(data, "toolName"):
            names[text(data, "toolCallId")] = text(data, "toolName")
        return _folded(value, _messages(value, names, model))

    return fold_each(kept(log), messages)


def _outline(record: Record) -> Record:
    kind = text(record.value, "type")
    back = text(mapping(record.value, "data"), "upToEventId")
    return record._replace(raw=b"", value={"type": kind, "data": {"upToEventId": back}} if kind else None)


COPILOT = Format(
    name="copilot",
    title="GitHub Copilot CLI",
    recognise=_recognise,
    read=_read,
    header=_header,
    learn=_learn,
    view=_view,
    fold=_fold,
    abandoned=abandoned,
    write=records.join,
    outline=_outline,
    returns=returns,
    places=("${COPILOT_HOME:-~/.copilot}/session-state",),
    names=("*.jsonl",),
    compose=compose,
)
