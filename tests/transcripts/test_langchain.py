"""Dumps of LangChain and LangGraph."""

import json

import pytest
from folded import assistant, call, conversation, speakers, tool, user
from transcript_files import FIXTURES, header_of, read, records_of

from gitsession.transcripts import FORMATS, recognise

LANGCHAIN = FORMATS["langchain"]
DIRECTORY = FIXTURES / "langchain"


def fold(*messages: object) -> list[object]:
    return [entry.message for entry in LANGCHAIN.fold(read(LANGCHAIN, json.dumps(messages).encode()))]


@pytest.mark.parametrize("name", ["messages.json", "messages.jsonl", "dumpd.json", "state.json", "thread.json"])
def test_every_way_of_writing_them_is_the_same_conversation(name: str) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    assert conversation(DIRECTORY / name) == [
        {"role": "system", "content": "Be brief."},
        user([{"type": "text", "text": "What is this?"}, image]),
        assistant(reasoning="Measure it.", tool_calls=[call("call_1", "measure", '{"unit":"mm"}')], model="gpt-4o"),
        tool("1", "call_1", "measure"),
        assistant("A dot of 1 mm.", model="gpt-4o"),
    ]


def test_the_session_is_named_by_the_file() -> None:
    path = DIRECTORY / "state.json"
    assert header_of(LANGCHAIN, path, records_of(path)) == {
        "id": "state",
        "created_at": "2026-03-02T09:00:00.000000+00:00",
        "agent": "langchain",
        "title": "What is this?",
    }


def test_calls_are_taken_from_where_they_are() -> None:
    raw = {"tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}
    told = {"type": "ai", "data": {"content": "", "additional_kwargs": raw}}
    block = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
    twice = {"type": "ai", "content": [block], "tool_calls": [{"id": "c", "name": "f", "args": {}}]}
    assert fold(told) == fold(twice) == [assistant(tool_calls=[call("c", "f", "{}")])]


def test_a_tool_that_failed_says_so() -> None:
    failed = {"type": "tool", "data": {"content": "no", "tool_call_id": "c", "name": "f", "status": "error"}}
    assert fold(failed) == [tool("no", "c", "f", is_error=True)]


def test_a_chunk_is_a_message() -> None:
    chunk = {"lc": 1, "type": "constructor", "id": ["langchain", "AIMessageChunk"], "kwargs": {"content": "a"}}
    assert fold(chunk, {"type": "AIMessageChunk", "content": "b"}) == [assistant("a"), assistant("b")]


def test_another_object_of_langchain_is_no_message() -> None:
    prompt = {"lc": 1, "type": "constructor", "id": ["langchain_core", "PromptTemplate"], "kwargs": {"template": "a"}}
    assert recognise(json.dumps([prompt]).encode(), "a.json") is None


def test_who_speaks() -> None:
    assert speakers(DIRECTORY / "messages.json") == ["meta", "system", "user", "assistant", "tool", "assistant"]
