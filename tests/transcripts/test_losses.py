"""The table of what formats have no place for: whole, and true of what is composed."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from compositions import again, draft
from losses import FORMS, LOST
from transcript_files import read

from gitsession.model import CompactionEntry, MessageEntry, SessionEntry, UnknownEntry, build_context
from gitsession.transcripts import FORMATS
from gitsession.transcripts.chat_messages import langchain_messages, openai_messages
from gitsession.transcripts.losses import LONG, LOSSES, NAMES, Loss, losses
from gitsession.transcripts.normalized import normalized
from gitsession.transcripts.shapes import normal_messages

DATA = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}
ADDRESS = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
FILE = {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,eA=="}}
UNNAMED = {"type": "file", "file": {"file_data": "data:application/pdf;base64,eA=="}}
WORDS = {"type": "text", "text": "See"}
CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
THOUGHT = {"reasoning": "hm"}
SIGNED = {"reasoning_details": [{"type": "reasoning.text", "text": "hm", "signature": "s"}], "model": "claude-x"}
REDACTED = {"reasoning_details": [{"type": "reasoning.encrypted", "data": "d"}], "model": "claude-x"}
NOT_COMPARED = (
    *("times of messages", "messages that compactions kept", "entries of other kinds"),
    "names of tools in results without a call",
    "results without a call",  # which stand as context in the form of what they are compared with
)


def entry(role: str, content: Any = "", *, own: str = "e", **more: Any) -> MessageEntry:
    message = {"role": role, **({"content": content} if content else {}), **more}
    return MessageEntry(message, id=own, timestamp="2026-03-03T09:00:00Z")


def result(content: Any = "seen", **more: Any) -> MessageEntry:
    return entry("tool", content, own="r", tool_call_id="c1", name="read", **more)


ASKED = entry("user", "Look", own="u")
CALLED = entry("assistant", own="a", tool_calls=[CALL])
COMPACTION = CompactionEntry("so far", "u", id="k", timestamp="2026-03-03T09:00:00Z")
# Conversations of which one thing can get lost, or a few.
SAMPLES: dict[str, Sequence[SessionEntry]] = {
    "words": [ASKED, entry("assistant", "Here.")],
    "half of a character": [entry("user", "Look \ud83d", own="u"), entry("assistant", "Here.")],
    "a thought": [ASKED, entry("assistant", "Here.", **THOUGHT)],
    "a signed thought": [ASKED, entry("assistant", "Here.", **THOUGHT, **SIGNED)],
    "a signature of another's": [ASKED, entry("assistant", "Here.", **THOUGHT, **{**SIGNED, "model": "m"})],
    "a redacted thought of another's": [ASKED, entry("assistant", "Here.", **{**REDACTED, "model": "m"})],
    "a thought that is redacted in part": [
        ASKED,
        entry(
            "assistant",
            "Here.",
            **THOUGHT,
            model="claude-x",
            reasoning_details=[*SIGNED["reasoning_details"], *REDACTED["reasoning_details"]],
        ),
    ],
    "a thought that is signed in part": [ASKED, entry("assistant", "Here.", reasoning="hm\nso", **SIGNED)],
    "a signed thought with a call": [
        ASKED,
        entry("assistant", own="a", tool_calls=[CALL], **THOUGHT, **SIGNED),
        result(),
    ],
    "a redacted thought": [ASKED, entry("assistant", "Here.", **REDACTED)],
    "a thought that stands alone": [ASKED, entry("assistant", **THOUGHT)],
    "an image in a prompt": [entry("user", [WORDS, DATA])],
    "nothing but an image in a prompt": [entry("user", [DATA])],
    "an image in an answer": [ASKED, entry("assistant", [WORDS, DATA])],
    "an image in a result": [ASKED, CALLED, result([WORDS, DATA])],
    "nothing but an image in a result": [ASKED, CALLED, result([DATA])],
    "an image in a failed result": [ASKED, CALLED, result([WORDS, DATA], is_error=True)],
    "an image in context": [entry("user", [WORDS, DATA], meta=True)],
    "an image in a system prompt": [entry("system", [WORDS, DATA])],
    "an address in a prompt": [entry("user", [WORDS, ADDRESS])],
    "an address in an answer": [ASKED, entry("assistant", [WORDS, ADDRESS])],
    "an address in a result": [ASKED, CALLED, result([WORDS, ADDRESS])],
    "a file in a prompt": [entry("user", [WORDS, FILE])],
    "a file without a name": [
        entry("user", [WORDS, {"type": "file", "file": {"file_data": FILE["file"]["file_data"]}}])
    ],
    "a file in a result": [ASKED, CALLED, result([WORDS, FILE])],
    "a file in context": [entry("user", [WORDS, FILE], meta=True)],
    "a file in an answer": [ASKED, entry("assistant", [WORDS, FILE])],
    "a call": [ASKED, CALLED, result()],
    "a long call": [
        ASKED,
        entry("assistant", own="a", tool_calls=[{**CALL, "function": {"name": "read", "arguments": '"' + "x" * LONG}}]),
        result("y" * (LONG + 1)),
    ],
    "a result without a call": [ASKED, result()],
    "a failed result": [ASKED, CALLED, result(is_error=True)],
    "a compaction": [ASKED, CompactionEntry("so far", id="k", timestamp="2026-03-03T09:00:00Z"), entry("user", "Go")],
    "a compaction that kept something": [ASKED, COMPACTION, entry("user", "Go on")],
    "a model": [ASKED, entry("assistant", "Here.", model="m")],
    "context": [entry("user", "It is late.", own="m", meta=True), ASKED],
    "a system prompt": [entry("system", "Be brief.", own="s"), ASKED],
    "a notice": [ASKED, entry("assistant", "No key.", meta=True)],
    "an entry of another kind": [ASKED, UnknownEntry({"type": "vote"}, id="v")],
}
MESSAGES = {"openai": openai_messages, "langchain": langchain_messages}


def talk(entries: Sequence[SessionEntry]) -> list[Any]:
    found: list[Any] = []
    for one in entries:
        if isinstance(one, CompactionEntry):
            found.append(one.summary)
        elif isinstance(one, MessageEntry):
            found += normal_messages(one.message)
    for message in found:
        if isinstance(message, dict):
            message.pop("name", None)
    return found


def composed(name: str, entries: Sequence[SessionEntry]) -> list[Any]:
    known = [one for one in entries if isinstance(one, MessageEntry | CompactionEntry)]
    if name in MESSAGES:
        own = FORMATS["chat" if name == "openai" else name]
        messages = MESSAGES[name](one.message for one in known if isinstance(one, MessageEntry))
        return talk(own.fold(read(own, b"".join(json.dumps(message).encode() + b"\n" for message in messages))))
    found = talk(again(FORMATS[name], (), known))
    return found[1:] if name == "aider" else found  # which says when a chat began


def test_each_format_that_a_session_is_composed_in_is_in_the_table() -> None:
    resumable = [name for name, one in FORMATS.items() if one.compose is not None]
    assert {*LOSSES} == {*resumable, "openai", "langchain"} == {*FORMS}
    assert {*LOST} == {*NAMES} >= {what for table in LOSSES.values() for what in table}


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("name", LOSSES)
def test_what_is_lost_is_told_and_nothing_else_is_lost(name: str, sample: str) -> None:
    entries = SAMPLES[sample]
    if name in MESSAGES:  # made of what a model is shown
        entries = [MessageEntry(message, timestamp="") for message in build_context(entries)]
    told = [one.what for one in losses(name, entries) if one.what not in NOT_COMPARED]
    before, after = ([*FORMS[name](one)] for one in (talk(entries), composed(name, entries)))
    assert (before == after) is (told == [])


def test_losses_are_counted() -> None:
    entries = [*SAMPLES["an image in a failed result"], *SAMPLES["a thought"], *SAMPLES["a thought"], COMPACTION]
    assert losses("droid", entries) == (
        Loss("thoughts without Claude's signature", 2, "left out"),
        Loss("messages that compactions kept", 7, "left out"),
    )
    assert [str(one) for one in losses("copilot", entries)] == [
        "7 messages that compactions kept",
        "1 image in a failed result",
    ]


@pytest.mark.parametrize("name", MESSAGES)
def test_what_a_request_has_no_place_for_is_counted_from_the_last_compaction_on(name: str) -> None:
    vote = UnknownEntry({"type": "vote"}, id="v")
    entries = [vote, entry("user", "Look"), ASKED, vote, COMPACTION, entry("user", "Go on"), vote]
    assert losses(name, entries) == (
        Loss("times of messages", 2, "left out"),
        Loss("entries of other kinds", 2, "left out"),
    )


@pytest.mark.parametrize(("name", "told"), [("claude-code", 1), ("copilot", 1), ("droid", 1), ("codex", 0), ("pi", 0)])
def test_the_name_of_a_tool_stands_in_its_result_or_is_told(name: str, told: int) -> None:
    entries = SAMPLES["a result without a call"]
    assert sum(one.number for one in losses(name, entries) if one.what.startswith("names of tools")) == told
    known = [one for one in entries if isinstance(one, MessageEntry)]
    messages = [one.message for one in again(FORMATS[name], (), known) if isinstance(one, MessageEntry)]
    assert [one["name"] for one in messages if "name" in one] == ([] if told else ["read"])


@pytest.mark.parametrize("one", [one for one in FORMATS.values() if one.compose is not None and one.name != "aider"])
def test_a_message_without_a_time_comes_back_without_one(one: Any) -> None:
    entries = [MessageEntry({"role": "user", "content": "Look"}, id="u", timestamp="")]
    made = draft(one, (), entries)
    assert one.compose is not None
    lines = one.compose(made._replace(meta=replace(made.meta, created_at=""))).lines
    assert [found["timestamp"] for found in normalized(one.fold(read(one, b"".join(lines))))][-1:] == [None]
    assert [str(loss) for loss in losses("openai", entries)] == []
