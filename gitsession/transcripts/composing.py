"""What composing a transcript has in common: ids, times, lines, and what stands in a normal message.

Nothing here comes from chance or from a clock, so the same session is always composed to the same bytes.
"""

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

from gitsession import json_text
from gitsession.blocks import flat_text
from gitsession.model import CompactionEntry, Message, MessageEntry, SessionEntry
from gitsession.transcripts.base import Draft, Record
from gitsession.transcripts.fields import items, mapping, text, time, utc
from gitsession.transcripts.records import parse
from gitsession.transcripts.shapes import normal_messages

NO_RESULT = "The result of this call is not known."
"""What stands for the result that a call does not have: providers want one for each."""

# What can stand in a path and on a command line, and is neither an option nor a way out of a directory.
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
# The only characters that providers take in the ids and names of tools.
_UNSAFE = re.compile("[^a-zA-Z0-9_-]")
# What an entry without a time, in a session without one, is dated.
_NO_TIME = "1970-01-01T00:00:00.000Z"


def derived_uuid(base: str, *names: str) -> str:
    """Returns a UUID that these names always give below a base, which is a UUID itself."""
    return str(uuid.uuid5(uuid.UUID(base), "\0".join(name.encode("utf-8", "replace").decode() for name in names)))


def is_plain(name: str) -> bool:
    """Tells whether an id from a transcript can stand in a path, and in a command as a word of its own."""
    return _PLAIN.fullmatch(name) is not None


def is_uuid(name: str) -> bool:
    """Tells whether an id is a UUID, in its usual form."""
    try:
        return str(uuid.UUID(name)) == name.lower()
    except ValueError:
        return False


def own_id(draft: Draft) -> str:
    """Returns the id under which the agent is to know a session: its own where it is whole, else the new one."""
    return draft.meta.id if draft.whole and is_plain(draft.meta.id) else draft.id


def line(value: Mapping[str, Any]) -> bytes:
    """Returns a JSON object as one line."""
    return json_text.encode(value) + b"\n"


def verbatim(record: Record) -> bytes | None:
    """Returns a record's object as a line of its own, its text kept where it is one line; None where it is none."""
    value = record.value
    if not isinstance(value, dict):
        return None
    raw = record.raw.removeprefix(b"\xef\xbb\xbf").strip(b" \t\r\n,")
    return line(value) if b"\n" in raw or not raw else raw + b"\n"


def milliseconds(stamp: str) -> str:
    """Returns an RFC 3339 time as agents write it: in UTC, with milliseconds and a `Z`."""
    moment = _moment(stamp)
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def since_epoch(stamp: str) -> int:
    """Returns an RFC 3339 time as milliseconds since 1970."""
    return round(_moment(stamp).timestamp() * 1000)


def _moment(stamp: str) -> datetime:
    try:
        return datetime.fromisoformat(time(stamp) or _NO_TIME).astimezone(UTC)
    except (ValueError, OverflowError):
        return datetime.fromisoformat(_NO_TIME)


def first_time(draft: Draft) -> str:
    """Returns the time of the first thing in a draft that has one: a fork begins before it is made."""
    return milliseconds(next(filter(None, map(_known, (*draft.records, *draft.entries))), draft.meta.created_at))


def last_time(draft: Draft) -> str:
    """Returns the time of the last thing in a draft that has one: when a fork of it was made."""
    backwards = (*reversed(draft.entries), *reversed(draft.records))
    return milliseconds(next(filter(None, map(_known, backwards)), draft.meta.created_at))


def file_time(draft: Draft) -> str:
    """Returns the time that the file of a draft is named by: when the session began, or when the fork was made."""
    began = utc(draft.meta.created_at)
    return milliseconds(began) if draft.whole and began else first_time(draft) if draft.whole else last_time(draft)


def _known(one: Record | SessionEntry) -> str:
    """Returns the time of a record or an entry; "" where it has none, or one that is none."""
    return one.timestamp if one.timestamp and utc(one.timestamp) else ""


_Entry = TypeVar("_Entry", bound=SessionEntry)


def timed(draft: Draft) -> Iterator[tuple[MessageEntry | CompactionEntry, str]]:
    """Yields the entries of a draft with their times.

    One without a time has that of what came before it: of another entry, of a record, or of the session's beginning. If
    none of these has one either, it has the time of the first that follows and has one.
    """
    return with_times(draft, draft.entries)


def with_times(draft: Draft, entries: Sequence[_Entry]) -> Iterator[tuple[_Entry, str]]:
    """Yields entries that come behind the records of a draft with their times, as `timed` does."""
    before = next(filter(None, map(_known, reversed(draft.records))), "") or (utc(draft.meta.created_at) or "")
    at = before or next(filter(None, map(_known, entries)), "")
    for entry in entries:
        at = _known(entry) or at
        yield entry, milliseconds(at)


class Said(NamedTuple):
    """What is to be written of an entry: one normal message, or a compaction.

    Attributes:
        entry_id: The entry.
        at: When it was said.
        message: What was said; empty for a compaction.
        results: The results of the calls in it, and when they came, by the calls' ids, for agents that keep them
            together.
        compaction: The compaction, where it is one.
    """

    entry_id: str
    at: str
    message: Message
    results: dict[str, tuple[Message, str]]
    compaction: CompactionEntry | None = None


def said(draft: Draft) -> Iterator[Said]:
    """Yields what the entries of a draft say, in their order. What an agent itself said is left out."""
    for entry, at in timed(draft):
        if isinstance(entry, CompactionEntry):
            yield Said(entry.id or "", at, {}, {}, entry)
        else:
            for message in normal_messages(entry.message):
                if not is_notice(message):
                    yield Said(entry.id or "", at, message, {})


def said_with_results(draft: Draft) -> list[Said]:
    """Returns what the entries say, with the results of tools in their calls; one without its call is context."""
    found: list[Said] = []
    waiting: dict[str, Said] = {}
    for one in said(draft):
        call = text(one.message, "tool_call_id")
        if one.message.get("role") != "tool":
            found.append(one)
            waiting.update({text(call, "id"): one for call in items(one.message, "tool_calls")})
        elif call in waiting:
            waiting.pop(call).results[call] = one.message, one.at
        else:
            content = one.message.get("content") or ""
            found.append(one._replace(message={"role": "user", "content": content, "meta": True}))
    return found


def is_context(message: Message) -> bool:
    """Tells whether a message is a system prompt, or context that no person typed."""
    return message["role"] == "system" or message.get("meta") is True


def reminder(words: str) -> str:
    """Returns context as the agents mark it that put it into the user's mouth."""
    return f"<system-reminder>\n{words}\n</system-reminder>"


def arguments(call: Message) -> dict[str, Any]:
    """Returns what a tool is called with as an object; what is none stands under `input`."""
    written = text(mapping(call, "function"), "arguments")
    value, problem = parse(written.encode("utf-8", "surrogatepass")) if written else ({}, None)
    return value if problem is None and isinstance(value, dict) else {"input": written}


def shown_arguments(call: Message) -> str:
    """Returns what a tool is called with as text."""
    return text(mapping(call, "function"), "arguments")


def parts(message: Message, *, files: bool = False) -> list[Message]:
    """Returns the content of a normal message as parts.

    Args:
        message: The message.
        files: Whether a file is a part of its own; else a text stands for it.
    """
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    found = items(message, "content")
    return found if files else [{"type": "text", "text": flat_text(one)} if is_file(one) else one for one in found]


def is_file(part: Message) -> bool:
    """Tells whether a part of content is a file."""
    return text(part, "type") == "file"


def holds_files(message: Message) -> bool:
    """Tells whether the files of a message go where an agent takes files: into what a user has typed."""
    return message["role"] == "user" and not is_context(message)


def encoded_file(part: Message) -> tuple[str, tuple[str, str]] | None:
    """Returns the name of the file that a part is, and its media type and base64 text; None for any other part."""
    file = mapping(part, "file") if is_file(part) else {}
    encoded = encoded_image(text(file, "file_data"))
    return None if encoded is None else (text(file, "filename"), encoded)


def image_url(part: Message) -> str:
    """Returns where a part's image lies, or its `data:` URL; "" for any other part."""
    return text(mapping(part, "image_url"), "url")


def encoded_image(url: str) -> tuple[str, str] | None:
    """Returns the media type and the base64 text of a `data:` URL; None for any other."""
    head, comma, body = url.partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        return None
    return head[len("data:") : -len(";base64")] or "image/png", body


def words(message: Message) -> str:
    """Returns the text of a normal message's content, without its images."""
    return "\n".join(found for part in parts(message) if (found := text(part, "text")))


def marked_words(message: Message) -> str:
    """Returns the text of a normal message's content, with a mark where an image is, which has its address."""
    return "\n".join(marked(url) if (url := image_url(part)) else text(part, "text") for part in parts(message))


def marked(url: str) -> str:
    """Returns what stands for an image in a text."""
    return "[image]" if encoded_image(url) else f"[image: {url}]"


def words_and_images(message: Message, *, files: bool = False) -> tuple[str, list[tuple[str, str]]]:
    """Returns the text of a normal message's content, and its images as their media types and base64 texts.

    An image of which there is but an address has a mark in the text; so has a file, unless `files` are written too.
    """
    said: list[str] = []
    images: list[tuple[str, str]] = []
    for part in parts(message, files=files):
        if is_file(part):
            continue
        url = image_url(part)
        if encoded := encoded_image(url):
            images.append(encoded)
        else:
            said.append(marked(url) if url else text(part, "text"))
    return "\n".join(said), images


def safe_name(name: str) -> str:
    """Returns a tool's name, or the id of a call, as the providers take it."""
    return _UNSAFE.sub("_", name)


def anthropic_blocks(content: Sequence[Message]) -> list[dict[str, Any]]:
    """Returns parts of content as Anthropic's blocks."""
    blocks: list[dict[str, Any]] = []
    for part in content:
        url = image_url(part)
        if encoded := encoded_image(url):
            source = {"type": "base64", "media_type": encoded[0], "data": encoded[1]}
            blocks.append({"type": "image", "source": source})
        elif (file := encoded_file(part)) is not None:
            source = {"type": "base64", "media_type": file[1][0], "data": file[1][1]}
            blocks.append({"type": "document", "source": source, **({"title": file[0]} if file[0] else {})})
        elif url:
            blocks.append({"type": "image", "source": {"type": "url", "url": url}})
        elif found := text(part, "text"):
            blocks.append({"type": "text", "text": found})
    return blocks


def signed_thoughts(message: Message) -> list[dict[str, Any]]:
    """Returns the thoughts of a normal message as Anthropic's blocks; none where it did not sign them all."""
    blocks: list[dict[str, Any]] = []
    for one in items(message, "reasoning_details") if "claude" in text(message, "model") else ():
        if text(one, "data"):
            blocks.append({"type": "redacted_thinking", "data": one["data"]})
        elif text(one, "signature"):
            blocks.append({"type": "thinking", "thinking": text(one, "text"), "signature": one["signature"]})
    thoughts = "\n".join(filter(None, (text(block, "thinking") for block in blocks)))
    return blocks if thoughts == text(message, "reasoning") else []


def anthropic_answer(message: Message) -> list[dict[str, Any]]:
    """Returns a model's answer as Anthropic's blocks; of its thoughts those that the provider has signed."""
    blocks = signed_thoughts(message)
    for part in parts(message):
        if words := marked(url) if (url := image_url(part)) else text(part, "text"):
            blocks.append({"type": "text", "text": words})
    for call in items(message, "tool_calls"):
        name = safe_name(text(mapping(call, "function"), "name")) or "tool"
        blocks.append({"type": "tool_use", "id": safe_name(call["id"]), "name": name, "input": arguments(call)})
    return blocks


def anthropic_content(message: Message) -> str | list[dict[str, Any]]:
    """Returns what a user, a tool or a system prompt says as Anthropic's content: text, or blocks."""
    content = message.get("content")
    if not isinstance(content, str):
        content = anthropic_blocks(parts(message, files=holds_files(message)))
    if message["role"] != "tool":
        return content
    call = safe_name(text(message, "tool_call_id"))
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": call, "content": content or ""}
    return [{**result, "is_error": True} if message.get("is_error") is True else result]


def is_notice(message: Message) -> bool:
    """Tells whether the agent itself spoke in the model's place, such as of a request that failed."""
    return message["role"] == "assistant" and message.get("meta") is True


def title(draft: Draft, records: Sequence[Record]) -> str:
    """Returns what a fork is called, or a session that another agent wrote; "" where nobody gave it a name."""
    known = draft.meta.title or ""
    if not records:
        return known
    return known if known.endswith("(fork)") else f"{known or 'Forked session'} (fork)"
