"""What the transcripts of agents have no place for: one table, and how much of it there is in a conversation.

What an export warns of, what the README says of each agent and what tests compare come from here. What is the same
elsewhere in another form (a system prompt that becomes context, the name of a tool in other characters) is no loss.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from gitsession.model import CompactionEntry, Message, SessionEntry, UnknownEntry, context_of
from gitsession.transcripts.composing import (
    encoded_image,
    holds_files,
    image_url,
    is_context,
    is_file,
    is_notice,
    marked_words,
    parts,
    shown_arguments,
    signed_thoughts,
)
from gitsession.transcripts.fields import items, mapping, text, utc
from gitsession.transcripts.shapes import normal_messages

Fate = Literal["left out", "as text"]
"""What becomes of it: it is not there, or stands in the text, where a model reads it and no program knows it."""

LEFT: Fate = "left out"
TEXT: Fate = "as text"

LONG = 2000
"""As many characters of a call and of a result as stand in a transcript that has no place for tools."""

NAMES: Mapping[str, str] = {
    "thoughts": "thought",
    "thoughts without Claude's signature": "thought without Claude's signature",
    "thoughts without an answer": "thought without an answer",
    "redacted thoughts": "redacted thought",
    "signatures of thoughts": "signature of a thought",
    "redacted thoughts that are not Claude's": "redacted thought that is not Claude's",
    "signatures that are not Claude's": "signature that is not Claude's",
    "images in prompts": "image in a prompt",
    "images in answers": "image in an answer",
    "images in results": "image in a result",
    "images in failed results": "image in a failed result",
    "images in context": "image in context",
    "images by address": "image by its address",
    "files in prompts": "file in a prompt",
    "files elsewhere": "file elsewhere",
    "names of files": "name of a file",
    "tool calls": "tool call",
    "tool results": "tool result",
    "results without a call": "result without a call",
    "names of tools in results without a call": "name of a tool in a result without a call",
    "ends of long calls and results": "end of a long call or result",
    "marks of failed results": "mark of a failed result",
    "compactions": "compaction",
    "messages that compactions kept": "message that a compaction kept",
    "names of models": "name of a model",
    "times of messages": "time of a message",
    "pieces of injected context": "piece of injected context",
    "marks of injected context": "mark of injected context",
    "notices of the agent": "notice of the agent",
    "entries of other kinds": "entry of another kind",
    "lone surrogates": "lone surrogate",
}
"""All that can get lost, as many of it are called and as one is."""

_EVERYWHERE: Mapping[str, Fate] = {
    "notices of the agent": LEFT,
    "entries of other kinds": LEFT,
    "files elsewhere": TEXT,
}
_UNSIGNED: Mapping[str, Fate] = {"redacted thoughts": LEFT, "signatures of thoughts": LEFT}
_NOT_CLAUDES: Mapping[str, Fate] = {
    "redacted thoughts that are not Claude's": LEFT,
    "signatures that are not Claude's": LEFT,
}
# Where results stand with their calls.
_PAIRED: Mapping[str, Fate] = {"images in answers": TEXT, "results without a call": TEXT, **_EVERYWHERE}

LOSSES: Mapping[str, Mapping[str, Fate]] = {
    "claude-code": {
        "thoughts without Claude's signature": LEFT,
        "names of tools in results without a call": LEFT,
        "images in answers": TEXT,
        "files elsewhere": TEXT,
        "entries of other kinds": LEFT,
    },
    "codex": {**_UNSIGNED, "images in answers": TEXT, "files in prompts": TEXT, **_EVERYWHERE},
    "pi": {
        **_NOT_CLAUDES,
        "images in answers": TEXT,
        "images by address": TEXT,
        "files in prompts": TEXT,
        **_EVERYWHERE,
    },
    "gemini": {**_UNSIGNED, "names of files": LEFT, "images by address": TEXT, **_PAIRED},
    "opencode": {**_UNSIGNED, "images in context": TEXT, "images in failed results": TEXT, **_PAIRED},
    "copilot": {
        **_UNSIGNED,
        "names of tools in results without a call": LEFT,
        "images in answers": TEXT,
        "images in context": TEXT,
        "images in failed results": TEXT,
        "images by address": TEXT,
        "messages that compactions kept": LEFT,
        **_EVERYWHERE,
    },
    "droid": {
        "thoughts without Claude's signature": LEFT,
        "names of tools in results without a call": LEFT,
        "images in answers": TEXT,
        "images in context": TEXT,
        "messages that compactions kept": LEFT,
        **_EVERYWHERE,
    },
    "openhands": {
        **_UNSIGNED,
        "names of models": LEFT,
        "thoughts without an answer": LEFT,
        "lone surrogates": LEFT,
        "files in prompts": TEXT,
        **_PAIRED,
    },
    "modular-agent": {},
    "aider": {
        "thoughts": LEFT,
        **_UNSIGNED,
        "pieces of injected context": LEFT,
        "ends of long calls and results": LEFT,
        "times of messages": LEFT,
        "lone surrogates": LEFT,
        **dict.fromkeys(("images in prompts", "images in answers", "images in results"), TEXT),
        **dict.fromkeys(("images in failed results", "marks of failed results"), TEXT),
        **dict.fromkeys(("tool calls", "tool results", "compactions", "files in prompts"), TEXT),
        **_EVERYWHERE,
    },
    "openai": {
        "thoughts": LEFT,
        **_UNSIGNED,
        "names of models": LEFT,
        "times of messages": LEFT,
        "marks of failed results": LEFT,
        "marks of injected context": LEFT,
        "images in results": TEXT,
        "images in failed results": TEXT,
        "files in prompts": TEXT,
        **_PAIRED,
    },
    "langchain": {
        **_UNSIGNED,
        "times of messages": LEFT,
        "files in prompts": TEXT,
        "thoughts without an answer": LEFT,
        "marks of injected context": LEFT,
        **_PAIRED,
    },
}
"""By the formats that a session is composed in: what they have no place for, and what becomes of it."""

# Half of a character of UTF-16, which UTF-8 has not: an agent that reads nothing else is given a `?` for it.
_SURROGATE = re.compile("[\ud800-\udfff]")

# Those that are made of what a model is shown.
_REQUESTS = ("openai", "langchain")


class Loss(NamedTuple):
    """What a composed transcript does not hold as it was.

    Attributes:
        what: What it is, as many of it are called: one of the plurals in the README's table.
        number: How many.
        fate: What became of it: `left out`, or `as text`.
    """

    what: str
    number: int
    fate: Fate

    def __str__(self) -> str:
        return f"{self.number:,} {NAMES[self.what] if self.number == 1 else self.what}"


def losses(name: str, entries: Iterable[SessionEntry]) -> tuple[Loss, ...]:
    """Returns what gets lost of entries that are composed in a format: what is left out, then what stands as text.

    Args:
        name: The format, one of `LOSSES`.
        entries: What is composed; not what is there as the agent's own records. Of what a request is made of, the whole
            log: what the last compaction stands for is no loss.
    """
    found = _counted(context_of(list(entries))[1] if name in _REQUESTS else entries)
    told = (Loss(what, found[what], fate) for what, fate in LOSSES[name].items() if found[what])
    return tuple(sorted(told, key=lambda one: one.fate, reverse=True))


def _counted(entries: Iterable[SessionEntry]) -> Counter[str]:
    found: Counter[str] = Counter()
    places: dict[str, int] = {}  # of messages, by their ids
    number = 0
    called: set[str] = set()
    for entry in entries:
        if isinstance(entry, UnknownEntry):
            found["entries of other kinds"] += 1
        elif isinstance(entry, CompactionEntry):
            found["compactions"] += 1
            found["lone surrogates"] += len(_SURROGATE.findall(entry.summary))
            if entry.first_kept_id in places:
                found["messages that compactions kept"] += number - places[entry.first_kept_id]
        else:
            places.setdefault(entry.id, number)
            number += 1
            for message in normal_messages(entry.message):
                found["times of messages"] += bool(utc(entry.timestamp)) and not is_notice(message)
                _count(message, found, called)
    return found


def _count(message: Message, found: Counter[str], called: set[str]) -> None:
    if is_notice(message):
        found["notices of the agent"] += 1
        return
    role, calls = message["role"], items(message, "tool_calls")
    words = [text(message, "reasoning"), *(text(part, "text") for part in parts(message)), *map(shown_arguments, calls)]
    found["lone surrogates"] += sum(len(_SURROGATE.findall(one)) for one in words)
    found["names of models"] += bool(text(message, "model"))
    found["pieces of injected context"] += is_context(message)
    found["marks of injected context"] += role == "user" and is_context(message)
    details = items(message, "reasoning_details")
    redacted = sum(bool(text(one, "data")) for one in details)
    signatures = sum(bool(text(one, "signature")) for one in details)
    found["redacted thoughts"] += redacted
    found["signatures of thoughts"] += signatures
    if not signed_thoughts(message):
        found["redacted thoughts that are not Claude's"] += redacted
        found["signatures that are not Claude's"] += signatures
        found["thoughts without Claude's signature"] += bool(text(message, "reasoning") or redacted)
    if text(message, "reasoning"):
        found["thoughts"] += 1
        found["thoughts without an answer"] += not (calls or marked_words(message))
    found["tool calls"] += len(calls)
    found["ends of long calls and results"] += sum(len(shown_arguments(call)) > LONG for call in calls)
    called |= {text(call, "id") for call in calls}
    failed = message.get("is_error") is True
    if role == "tool":
        found["tool results"] += 1
        found["marks of failed results"] += failed
        found["ends of long calls and results"] += len(marked_words(message)) > LONG
        alone = text(message, "tool_call_id") not in called
        found["results without a call"] += alone
        found["names of tools in results without a call"] += alone and bool(text(message, "name"))
        called.discard(text(message, "tool_call_id"))
    files = [mapping(part, "file") for part in items(message, "content") if is_file(part)]
    found["files in prompts" if holds_files(message) else "files elsewhere"] += len(files)
    found["names of files"] += sum(bool(text(file, "filename")) for file in files) if holds_files(message) else 0
    urls = [url for part in parts(message) if (url := image_url(part))]
    found[f"images in {_place(message, failed=failed)}"] += len(urls)
    if role != "assistant":
        found["images by address"] += sum(encoded_image(url) is None for url in urls)


def _place(message: Message, *, failed: bool) -> str:
    match message["role"]:
        case "assistant":
            return "answers"
        case "tool":
            return "failed results" if failed else "results"
        case _:
            return "context" if is_context(message) else "prompts"
