"""A session that Gemini CLI can resume.

Known from the agent's source (`chatRecordingService.ts`, `sessionUtils.ts`, `projectRegistry.ts`): it finds a session
by the `sessionId` in a file `session-….jsonl` among the project's chats, and takes over the older form, one document.
A fork is written in the newer form: the records as they are, below metadata of its own.

Below `tmp` a project has the directory that older versions gave it, the SHA-256 of its path. Newer ones give it a name,
which a register of the user's knows, and take over the other one when they first see the project.

Results stand with their calls. What no person typed is marked as the reminders are that the agent puts in itself: what
it knows as its own context would not be shown to the model again.
"""

import hashlib
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from gitsession.model import Message
from gitsession.transcripts import document
from gitsession.transcripts.base import Composed, Draft, Record
from gitsession.transcripts.composing import (
    Said,
    arguments,
    derived_uuid,
    encoded_file,
    encoded_image,
    file_time,
    first_time,
    image_url,
    is_context,
    is_plain,
    last_time,
    line,
    marked,
    marked_words,
    own_id,
    parts,
    reminder,
    safe_name,
    said_with_results,
    title,
    verbatim,
    words_and_images,
)
from gitsession.transcripts.fields import items, mapping, text
from gitsession.transcripts.gemini_records import SNAPSHOT, is_metadata
from gitsession.transcripts.versions import latest


def compose(draft: Draft) -> Composed:
    """Returns a session as one that Gemini CLI can resume."""
    records = latest(draft.records)
    known = _metadata(records)
    # The agent resumes no session of a subagent.
    rewritten = draft.whole and (not is_plain(draft.meta.id) or text(known, "kind") == "subagent")
    draft = draft._replace(whole=draft.whole and not rewritten)
    own = own_id(draft)
    made = file_time(draft)
    suffix = ".json" if draft.whole and document.is_first(records[0]) else ".jsonl"
    name = f"session-{made[:16].replace(':', '-')}-{safe_name(own)[:8]}{suffix}"
    path = PurePath("tmp", project_hash(draft.cwd), "chats", name)
    lines = _lines(draft, records, known)
    return Composed(lines, path, lambda _: ("gemini", "--resume", own), rewritten=rewritten)


def project_hash(directory: str) -> str:
    """Returns the name that older versions give a project's directory; every session says it."""
    return hashlib.sha256(directory.encode("utf-8", "surrogateescape")).hexdigest()


def _metadata(records: list[Record]) -> dict[str, Any]:
    values = (record.value for record in records if isinstance(record.value, dict))
    return next((value for value in values if is_metadata(value)), {})


def _lines(draft: Draft, records: list[Record], known: dict[str, Any]) -> Iterator[bytes]:
    at = last_time(draft)
    yield line(
        {
            "sessionId": draft.id,
            "projectHash": project_hash(draft.cwd),
            "startTime": text(known, "startTime") or first_time(draft),
            "lastUpdated": at,
            "kind": "main",
            "directories": items(known, "directories") or [draft.cwd],
        }
    )
    for record in records:
        copy = _copied(record, draft.id)
        if copy is not None:
            yield copy
    said = said_with_results(draft)
    for place, one in enumerate(said):
        if one.compaction is None:
            yield line(_message(draft.id, place, one))
        else:
            yield line({"$set": {"messages": _compacted(draft.id, place, said)}})
    if name := title(draft, records):
        yield line({"$set": {"summary": name, "lastUpdated": at}})


def _copied(record: Record, session: str) -> bytes | None:
    value = record.value
    if not isinstance(value, dict) or is_metadata(value):
        return None
    news = mapping(value, "$set")
    # The agent notes the session's id again whenever it resumes it.
    return line({**value, "$set": {**news, "sessionId": session}}) if "sessionId" in news else verbatim(record)


def _compacted(session: str, place: int, said: list[Said]) -> list[dict[str, Any]]:
    """Returns the history that is left after a compaction: the summary, the agent's answer to it, what was kept."""
    one = said[place]
    words, kept = (one.compaction.summary, one.compaction.first_kept_id) if one.compaction is not None else ("", None)
    # The agent knows a summary by this mark.
    words = words if SNAPSHOT in words else f"{SNAPSHOT}{words}{SNAPSHOT.replace('<', '</')}"
    summary: Message = {"role": "user", "content": words}
    answer: Message = {"role": "assistant", "content": "Got it. Thanks for the additional context!"}
    first = next((number for number, each in enumerate(said[:place]) if kept and each.entry_id == kept), place)
    return [
        _message(session, place, Said("", one.at, summary, {})),
        {**_message(session, place, Said("", one.at, answer, {})), "id": _id(session, place, "answer")},
        *(_message(session, first + number, each) for number, each in enumerate(said[first:place]) if each.message),
    ]


def _id(session: str, place: int, *names: str) -> str:
    return derived_uuid(session, "message", str(place), *names)


def _message(session: str, place: int, one: Said) -> dict[str, Any]:
    record = {"id": _id(session, place), "timestamp": one.at}
    if one.message["role"] != "assistant":
        return {**record, "type": "user", "content": _content(one.message)}
    calls = [_call(call, one.results.get(text(call, "id")), one.at) for call in items(one.message, "tool_calls")]
    thought = text(one.message, "reasoning")
    thoughts = [{"subject": "", "description": thought, "timestamp": one.at}] if thought else []
    answer = {**record, "type": "gemini", "content": marked_words(one.message), "thoughts": thoughts, "tokens": None}
    if model := text(one.message, "model"):
        answer["model"] = model
    return {**answer, "toolCalls": calls} if calls else answer


def _content(message: Message) -> list[dict[str, Any]]:
    if is_context(message):
        words, images = words_and_images(message)
        return [{"text": reminder(words)}, *map(_inline, images)]
    found: list[dict[str, Any]] = []
    for part in parts(message, files=True):
        url = image_url(part)
        if (file := encoded_file(part)) is not None:
            found.append(_inline(file[1]))
        elif encoded := encoded_image(url):
            found.append(_inline(encoded))
        else:
            found.append({"text": marked(url) if url else text(part, "text")})
    return found


def _inline(encoded: tuple[str, str]) -> dict[str, Any]:
    return {"inlineData": {"mimeType": encoded[0], "data": encoded[1]}}


def _call(call: Message, answered: tuple[Message, str] | None, at: str) -> dict[str, Any]:
    own, name = text(call, "id"), text(mapping(call, "function"), "name")
    made = {"id": own, "name": name, "args": arguments(call), "status": "executing", "timestamp": at}
    if answered is None:
        return made
    result, made["timestamp"] = answered
    failed = result.get("is_error") is True
    words, images = words_and_images(result)
    response = {"error" if failed else "output": words}
    made["status"] = "error" if failed else "success"
    answer = {"functionResponse": {"id": own, "name": name, "response": response}}
    # The agent sends what stands beside the response along with it.
    return {**made, "result": [answer, *map(_inline, images)]}
