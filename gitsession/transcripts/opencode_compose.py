"""A session that opencode can take in: the document that `opencode export` prints, and `opencode import` reads.

Known from the agent's source (`cli/cmd/import.ts`, `id/id.ts`). It keeps its sessions in a database, and reads no file
of its own; so the document is put where it lies in nobody's way, to be imported. The folder of an older session becomes
such a document too.

A fork is made as the agent makes one: a session of its own, and every message and every part under a new id. The ids of
messages and parts ascend with time, those of sessions descend; the agent sorts by them. Results stand in their calls,
and a summary is an answer to a message that asks for it.
"""

import uuid
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from gitsession.model import Message
from gitsession.transcripts import bundle
from gitsession.transcripts.base import Composed, Draft, Record
from gitsession.transcripts.composing import (
    Said,
    arguments,
    derived_uuid,
    encoded_file,
    encoded_image,
    first_time,
    image_url,
    is_context,
    is_plain,
    last_time,
    line,
    marked_words,
    parts,
    said_with_results,
    since_epoch,
    title,
)
from gitsession.transcripts.fields import integer, items, mapping, text
from gitsession.transcripts.opencode_messages import is_info, messages_now, session_of

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_IDS_A_MOMENT = 0x1000
# What a session has that its fork does not: it is shared, reverted and called by itself.
_NOT_FORKED = ("share", "revert", "parentID", "workspaceID")
# The version whose documents these are like.
_VERSION = "1.18.33"


def compose(draft: Draft) -> Composed:
    """Returns a session as a document that opencode can import."""
    folder = bool(draft.records) and bundle.is_file(draft.records[0].value)
    rewritten = draft.whole and (folder or not is_plain(draft.meta.id))
    lines = _Lines(draft)
    own = draft.meta.id if draft.whole and not rewritten else lines.session
    return Composed(
        lines.all(),
        PurePath("import", f"{own}.json"),
        lambda _: ("opencode", "--session", own),
        lambda path: ("opencode", "import", str(path)),
        rewritten=rewritten,
    )


class _Lines:
    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._at = 0  # the last time that was used: the agent sorts by times before it sorts by ids
        self._stamp = 0  # the last id's
        self._names: dict[str, str] = {}  # the new ids of messages, by their old ones, or by those of their entries
        self._asked = ""  # the last message of the user's
        self.session = _named("ses", ~(since_epoch(last_time(draft)) * _IDS_A_MOMENT + 1), draft.id)

    def all(self) -> Iterator[bytes]:
        """Yields the lines of the document: the session, then a message each."""
        records = messages_now(self._draft.records)
        found = [record for record in records if is_info(mapping(record.value, "info"))]
        yield b'{"info":%b,"messages":[\n' % line(self._info(found)).rstrip(b"\n")
        comma = b""
        for value in self._messages(found):
            yield comma + line(value).rstrip(b"\n")
            comma = b",\n"
        yield b"\n]}\n"

    def _info(self, found: list[Record]) -> dict[str, Any]:
        first = next((record.value for record in self._draft.records if isinstance(record.value, dict)), {})
        known = {key: value for key, value in session_of(first).items() if key not in _NOT_FORKED and found}
        made = since_epoch(first_time(self._draft))
        name = title(self._draft, found) or "Imported session"
        told = {"id": self.session, "slug": self.session, "title": name, "directory": self._draft.cwd}
        times = {"created": made, "updated": since_epoch(last_time(self._draft))}
        return {"projectID": "global", "version": _VERSION, **known, **told, "time": times}

    def _messages(self, found: list[Record]) -> Iterator[dict[str, Any]]:
        for record in found:
            yield self._copied(record.value)
        for one in said_with_results(self._draft):
            at = since_epoch(one.at)
            if one.compaction is not None:
                yield from self._compaction(one, at)
            elif one.message["role"] == "assistant":
                yield self._answer(one, at)
            else:
                yield self._prompt(one.message, at, one.entry_id)

    def _id(self, prefix: str) -> str:
        """Returns an id for what is written at the last time that was used; each comes after the one before."""
        self._stamp = max(self._stamp, self._at * _IDS_A_MOMENT) + 1
        return _named(prefix, self._stamp, self._draft.id)

    def _copied(self, value: dict[str, Any]) -> dict[str, Any]:
        info = value["info"]
        self._at = max(self._at, integer(mapping(info, "time"), "created") or 0)
        own = self._names[info["id"]] = self._id("msg")
        told = {**info, "id": own, "sessionID": self.session}
        if text(info, "role") == "user":
            self._asked = own
        if parent := text(info, "parentID"):
            told["parentID"] = self._names.get(parent, parent)
        copies = []
        for part in items(value, "parts"):
            if isinstance(part, dict):
                copy = {**part, "id": self._id("prt"), "sessionID": self.session, "messageID": own}
                if tail := text(part, "tail_start_id"):
                    copy["tail_start_id"] = self._names.get(tail, tail)
                copies.append(copy)
        return {"info": told, "parts": copies}

    def _message(self, at: int, kinds: list[dict[str, Any]], **info: Any) -> dict[str, Any]:
        self._at = max(self._at, at)
        own = self._id("msg")
        created = {"created": self._at}
        if info["role"] == "user":
            self._asked = own
        else:
            created["completed"] = self._at
        told = {"id": own, "sessionID": self.session, **info, "time": created}
        known = {"sessionID": self.session, "messageID": own}
        return {"info": told, "parts": [{"id": self._id("prt"), **known, **kind} for kind in kinds]}

    def _prompt(self, message: Message, at: int, entry_id: str) -> dict[str, Any]:
        kinds: list[dict[str, Any]] = []
        if is_context(message):
            kinds.append({"type": "text", "text": marked_words(message), "synthetic": True})
        else:
            for part in parts(message, files=True):
                if (file := encoded_file(part)) is not None:
                    named = {"filename": file[0]} if file[0] else {}
                    kinds.append({**_file(f"data:{file[1][0]};base64,{file[1][1]}"), **named})
                    continue
                url = image_url(part)
                kinds.append(_file(url) if url else {"type": "text", "text": text(part, "text")})
        made = self._message(at, kinds, role="user", agent="build", model=_model(""))
        self._names.setdefault(entry_id, made["info"]["id"])
        return made

    def _answer(self, one: Said, at: int) -> dict[str, Any]:
        time = {"start": max(self._at, at), "end": max(self._at, at)}
        kinds: list[dict[str, Any]] = []
        if thought := text(one.message, "reasoning"):
            kinds.append({"type": "reasoning", "text": thought, "time": time})
        if words := marked_words(one.message):
            kinds.append({"type": "text", "text": words, "time": time})
        kinds += [_tool(call, one.results.get(text(call, "id")), time) for call in items(one.message, "tool_calls")]
        made = self._message(at, kinds, **self._told(text(one.message, "model"), "build"))
        for part in made["parts"]:
            for place, attached in enumerate(items(mapping(part, "state"), "attachments")):
                own = {key: part[key] for key in ("sessionID", "messageID")}
                part["state"]["attachments"][place] = {"id": self._id("prt"), **own, **attached}
        self._names.setdefault(one.entry_id, made["info"]["id"])
        return made

    def _compaction(self, one: Said, at: int) -> Iterator[dict[str, Any]]:
        compaction = one.compaction
        if compaction is None:
            return
        asked: dict[str, Any] = {"type": "compaction", "auto": False}
        if kept := self._names.get(compaction.first_kept_id or ""):
            asked["tail_start_id"] = kept
        yield self._message(at, [asked], role="user", agent="build", model=_model(""))
        time = {"start": self._at, "end": self._at}
        summary = [{"type": "text", "text": compaction.summary, "time": time}]
        yield self._message(at, summary, **self._told("", "compaction"), summary=True)

    def _told(self, model: str, agent: str) -> dict[str, Any]:
        """Returns what every answer tells."""
        cwd = self._draft.cwd
        tokens = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
        told: dict[str, Any] = {"role": "assistant", "parentID": self._asked or self._id("msg"), **_model(model)}
        told |= {"mode": agent, "agent": agent, "path": {"cwd": cwd, "root": cwd}, "cost": 0}
        return {**told, "tokens": tokens, "finish": "stop"}


def _named(prefix: str, stamp: int, session: str) -> str:
    """Returns an id as the agent makes it: 48 bits of time and count, and 14 digits that tell it from all others."""
    own = uuid.UUID(derived_uuid(session, prefix, str(stamp))).int
    digits = "".join(_DIGITS[own // 62**place % 62] for place in range(14))
    return f"{prefix}_{stamp & 0xFFFFFFFFFFFF:012x}{digits}"


def _model(name: str) -> dict[str, str]:
    return {"providerID": "unknown", "modelID": name}


def _file(url: str) -> dict[str, Any]:
    encoded = encoded_image(url)
    return {"type": "file", "mime": encoded[0] if encoded is not None else "image/png", "url": url}


def _tool(call: Message, answered: tuple[Message, str] | None, time: dict[str, int]) -> dict[str, Any]:
    name, given = text(mapping(call, "function"), "name"), arguments(call)
    result, at = answered or (None, "")
    time = {**time, "end": max(time["start"], since_epoch(at))}
    state: dict[str, Any] = {"status": "pending", "input": given, "raw": ""}
    if result is not None and result.get("is_error") is True:
        state = {"status": "error", "input": given, "error": marked_words(result), "time": time}
    elif result is not None:
        words = "\n".join(text(part, "text") for part in parts(result) if not image_url(part))
        images = [url for part in parts(result) if (url := image_url(part))]
        state = {"status": "completed", "input": given, "output": words, "title": name, "metadata": {}, "time": time}
        if images:
            state["attachments"] = [*map(_file, images)]
    return {"type": "tool", "callID": text(call, "id"), "tool": name, "state": state}
