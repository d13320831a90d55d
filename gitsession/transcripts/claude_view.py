"""A record of Claude Code for reading: who speaks and what it says, for the text of its commit."""

from typing import Any

from gitsession.blocks import flat_text
from gitsession.parts import Part, compact
from gitsession.transcripts.base import Record
from gitsession.transcripts.claude_prompts import Prompt, Split, split, split_by_text_1
from gitsession.transcripts.claude_records import KINDS, is_summary, model, queued
from gitsession.transcripts.fields import integer, items, mapping, one_line, text
from gitsession.transcripts.normal import damaged
from gitsession.view import View, view


def show(record: Record) -> View:
    """Returns a record for reading, by the newest rules: of a prompt what was typed comes first."""
    return _show(record, split)


def show_by_text_1(record: Record) -> View:
    """Returns a record for reading, by the rules of `text` 1."""
    return _show(record, split_by_text_1)


def _show(record: Record, how: Split) -> View:
    value = record.value
    if not isinstance(value, dict):
        return damaged(record)
    kind = text(value, "type")
    message = mapping(value, "message")
    if kind in ("user", "assistant") and message:
        shown = view({**message, "role": kind})
        if kind == "assistant":
            return View(shown.who, shown.parts, model(value) or None)
        if is_summary(value):
            return View("system", shown.parts)
        return _show_prompt(shown, how(value)) if shown.who == "user" else shown
    if (said := queued(value)) is not None:
        return _show_prompt(view({"role": "user", "content": said}), how(value))
    if kind == "system":
        return _show_system(value)
    return _note(kind, value)


def _show_prompt(shown: View, said: Prompt) -> View:
    """Returns a prompt for reading: what was typed, then what was put beside it, which alone is no prompt."""
    if not said.injected:
        return shown
    if not said.typed:
        return View("meta", shown.parts)
    typed, injected = (view({"role": "user", "content": one}).parts for one in said)
    return View("user", typed + injected)


def _note(kind: str, value: dict[str, Any]) -> View:
    return View("meta", (Part("text", f"{kind or 'unknown record'}: {_gist(kind, value)}".rstrip(": ")),))


def _show_system(value: dict[str, Any]) -> View:
    kind = text(value, "subtype")
    said = text(value, "content")
    if kind == "compact_boundary":
        about = mapping(value, "compactMetadata")
        tokens = integer(about, "preTokens")
        told = [text(about, "trigger"), "" if tokens is None else f"{tokens} tokens before"]
        detail = ", ".join(filter(None, told))
        return View("system", (Part("text", (said or kind) + (f" ({detail})" if detail else "")),))
    if said:
        return View("system", (Part("text", said),))
    error = mapping(value, "error")
    gist = text(error, "message") or text(value, "error")
    duration = integer(value, "durationMs")
    gist = gist or ("" if duration is None else f"{duration} ms")
    return View("meta", (Part("text", f"{kind or 'system'}: {gist}".rstrip(": ")),))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _gist(kind: str, value: dict[str, Any]) -> str:
    """Returns the little that is worth reading in a record that is no part of the conversation."""
    match kind:
        case "attachment":
            attachment = mapping(value, "attachment")
            return one_line(f"{text(attachment, 'type')} {flat_text(attachment.get('content'))}", 200)
        case "progress":
            about = mapping(value, "data")
            return " ".join(filter(None, (text(about, "type"), text(about, "hookName"), text(about, "hookEvent"))))
        case "file-history-snapshot":
            files = mapping(mapping(value, "snapshot"), "trackedFileBackups")
            return _counted(len(files), "file")
        case "content-replacement":
            return _counted(len(items(value, "replacements")), "replacement")
        case "queue-operation":
            return one_line(f"{text(value, 'operation')} {flat_text(value.get('content'))}", 200)
    if kind in KINDS:
        found = value.get(KINDS[kind])
        return one_line(found if isinstance(found, str) else compact(found), 200)
    return one_line(compact(value), 200)
