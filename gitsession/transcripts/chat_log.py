"""Logs of a chat API, and what models are trained on: each line holds a conversation, a request, or an answer.

A line has the messages under `messages`, the answers of the model under `choices`, or both, itself or in what a program
keeps them in (`request`, `response`, `body`). One answer alone, as the API gives it, is such a log as well; one request
alone is the `chat` that it holds.

A file is one log and one session, named by the file, since it is one file that grows. A program sends the conversation
again with each request: a line that begins with all that the one before it says adds to the conversation only what is
new. Any other begins a conversation anew, which is shown after the one before it, so that none is hidden.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, BinaryIO

from gitsession.model import Message
from gitsession.parts import Part, compact
from gitsession.transcripts import records
from gitsession.transcripts.base import Format, Record
from gitsession.transcripts.chat import SECOND, is_message
from gitsession.transcripts.fields import changed, items, mapping, one_line, text, time
from gitsession.transcripts.folding import Conversation, entries_of, none_abandoned
from gitsession.transcripts.normal import damaged, titled_by_prompt
from gitsession.view import View, view

_LONG_ANSWER = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{.{0,300}?"object"\s*:\s*"chat\.completion"', re.DOTALL)
# What tells whether a message is the one that stands in an earlier line.
_TELLS = ("role", "content", "tool_calls", "function_call", "tool_call_id")


def _bodies(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields what a line holds: itself, and the request and the response in it."""
    yield value
    for name in ("request", "body", "response"):
        inner = mapping(value, name)
        yield from (one for one in (inner, mapping(inner, "body")) if one)


def _asked(value: dict[str, Any]) -> list[Message]:
    """Returns the messages of a request, with its system prompt and its model where they stand beside them."""
    for body in _bodies(value):
        found = [one for one in items(body, "messages") if is_message(one)]
        if found:
            told = body.get("system")
            system = [{"role": "system", "content": told}] if told and isinstance(told, str | list) else []
            return [*system, *(_by(one, text(body, "model")) for one in found)]
    return []


def _answered(value: dict[str, Any]) -> list[Message]:
    """Returns the answers of the model, with its name."""
    for body in _bodies(value):
        choices = (mapping(choice, "message") for choice in items(body, "choices") if isinstance(choice, dict))
        if found := [_by(one, text(body, "model")) for one in choices if is_message(one)]:
            return found
    return []


def _by(message: Message, model: str) -> Message:
    spoken = model and text(message, "role") == "assistant" and not message.get("model")
    return {**message, "model": model} if spoken else message


def _recognise(head: bytes, _name: str) -> bool:
    found = records.first_objects(head, 2)
    if not found:
        return bool(_LONG_ANSWER.match(head))
    if not all(_asked(one) or _answered(one) for one in found):
        return False
    # One request alone is a chat, also with its answer.
    alone = bool(_answered(found[0])) and "messages" not in found[0]
    return len(found) > 1 or alone or bool(SECOND.search(head))


def _describe(value: dict[str, Any]) -> tuple[str | None, str | None]:
    stamps = (body.get(name) for body in _bodies(value) for name in ("timestamp", "created_at", "created"))
    ids = (text(body, "id") for body in _bodies(value))
    return next(filter(None, ids), None), next(filter(None, map(time, stamps)), None)


def _read(stream: BinaryIO) -> Iterator[Record]:
    return records.read(stream, _describe)


def _header(path: PurePath, first: Record) -> Mapping[str, Any]:
    return _learn({"id": path.stem, "created_at": first.timestamp or "", "agent": "chat-log"}, first)


def _learn(header: Mapping[str, Any], record: Record) -> Mapping[str, Any]:
    if not header.get("created_at"):
        header = changed(header, created_at=record.timestamp)
    for message in _asked(record.value) if isinstance(record.value, dict) else ():
        header = titled_by_prompt(header, message)
    return header


def _view(record: Record) -> View:
    """Returns a line for reading: the last that is said in it, which is new where a program sends all of it again."""
    if not isinstance(record.value, dict):
        return damaged(record)
    said = [*_asked(record.value), *_answered(record.value)]
    return view(said[-1]) if said else View("meta", (Part("text", one_line(compact(record.value), 200)),))


def _fold(log: Sequence[Record]) -> Conversation:
    entries: Conversation = []
    before: list[Any] = []
    at = ""
    for place, record in enumerate(log):
        at = record.timestamp or at
        if not isinstance(record.value, dict):
            continue
        asked, answered = _asked(record.value), _answered(record.value)
        said = [*asked, *answered]
        told = [[one.get(name) for name in _TELLS] for one in said]
        known = len(before) if asked and told[: len(before)] == before else 0
        before = told if asked else [*before, *told]
        entries += entries_of(said[known:], record.id or f"record-{place}", at)
    return entries


CHAT_LOG = Format(
    name="chat-log",
    title="logs of a chat API",
    recognise=_recognise,
    read=_read,
    header=_header,
    learn=_learn,
    view=_view,
    fold=_fold,
    abandoned=none_abandoned,
    write=records.join,
)
