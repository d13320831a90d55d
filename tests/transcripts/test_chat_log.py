"""Logs of a chat API: what each line adds to the conversation."""

import io
import json
from typing import Any

import pytest
from transcript_files import FIXTURES, header_of, read, records_of

from gitsession.model import MessageEntry
from gitsession.transcripts import FORMATS, find_format, recognise

LOG = FORMATS["chat-log"]
DIRECTORY = FIXTURES / "chat-log"


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def answer(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def response(*texts: str) -> dict[str, Any]:
    return {"object": "chat.completion", "choices": [{"message": answer(text)} for text in texts]}


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def said(content: bytes) -> list[Any]:
    found = LOG.fold(read(LOG, content))
    return [entry.message.get("content") for entry in found if isinstance(entry, MessageEntry)]


def test_each_conversation_is_shown_after_the_one_before_it() -> None:
    assert said((DIRECTORY / "training.jsonl").read_bytes()) == [
        *("Be short.", "What is in my notes?", None, "Buy milk.", "Buy milk."),
        *("Be short.", "What is 6 * 7?", "42.", "Be short.", "And 6 * 8?", "48."),
    ]


def test_what_is_sent_again_is_shown_once() -> None:
    found = LOG.fold(records_of(DIRECTORY / "requests.jsonl"))
    messages = [entry.message for entry in found if isinstance(entry, MessageEntry)]
    assert [message["content"] for message in messages] == [
        *("Be short.", "What is in my notes?", None, "Buy milk.", "Buy milk.", "Nothing else?", "Nothing else."),
    ]
    assert {message.get("model") for message in messages} == {None, "gpt-5.4"}
    assert found[-1].timestamp == "2026-03-02T09:00:09.000Z"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([{"messages": [user("a")]}, {"messages": [user("a"), answer("b"), user("c")]}], ["a", "b", "c"]),
        ([{"messages": [user("a")]}, {"messages": [user("a")]}], ["a"]),
        ([{"messages": [user("a"), answer("b")]}, {"messages": [user("a")]}], ["a", "b", "a"]),
        ([response("a"), response("a")], ["a", "a"]),
        ([response("a", "b")], ["a", "b"]),
        (
            [{"messages": [user("a")]}, response("b"), {"messages": [user("a"), answer("b"), user("c")]}],
            ["a", "b", "c"],
        ),
        ([{"messages": [user("a")]}, {"level": "info"}, {"messages": [user("a"), user("b")]}], ["a", "b"]),
        ([{"body": {"messages": [user("a")]}}, {"response": {"body": response("b")}}], ["a", "b"]),
        ([{"request": {"system": "s", "messages": [user("a")]}}, {"messages": [user("b")]}], ["s", "a", "b"]),
    ],
    ids=[
        "grown",
        "again",
        "shorter",
        "the same answers",
        "choices",
        "by turns",
        "others",
        "a batch",
        "a system prompt",
    ],
)
def test_a_line_adds_what_is_new(values: list[object], expected: list[str]) -> None:
    assert said(lines(*values)) == expected


def test_an_answer_alone_is_a_log() -> None:
    path = DIRECTORY / "completion.json"
    (record,) = [record for record in records_of(path) if record.value]
    assert (record.id, LOG.view(record).who) == ("chatcmpl-1", "assistant")
    assert header_of(LOG, path, [record]) == {
        "id": "completion",
        "created_at": "2026-03-02T09:00:01.000Z",
        "agent": "chat-log",
    }
    assert recognise(lines(response("x" * 70_000))[: 64 << 10], "a.json") is LOG


def test_the_session_is_called_by_its_first_prompt() -> None:
    path = DIRECTORY / "training.jsonl"
    assert header_of(LOG, path, records_of(path))["title"] == "What is in my notes?"
    assert [LOG.view(record).who for record in records_of(path)] == ["assistant"] * 3


def test_one_request_alone_is_the_chat_that_it_holds() -> None:
    assert recognise(lines({"messages": [user("a")]}), "a.jsonl") is FORMATS["chat"]
    assert recognise(lines({"messages": [user("a")], **response("b")}), "a.jsonl") is FORMATS["chat"]


@pytest.mark.parametrize("sizes", [(70_000, 1), (1, 70_000), (70_000, 70_000)])
def test_lines_longer_than_what_a_file_is_recognised_by_are_told_from_a_document(sizes: tuple[int, int]) -> None:
    content = lines(*({"messages": [user("x" * size)]} for size in sizes))
    assert find_format(io.BytesIO(content), "a.jsonl") is LOG
    assert find_format(io.BytesIO(content[: sizes[0] + 60]), "a.jsonl") is FORMATS["chat"]
