"""Gemini CLI's transcripts."""

import json
from pathlib import PurePath

import pytest
from folded import assistant, call, conversation, entries, speakers, tool, user
from transcript_files import FIXTURES, header_of, read, records_of

from gitsession.transcripts import FORMATS, AbandonedLine, recognise
from tests.scratches import abandoned

GEMINI = FORMATS["gemini"]
DIRECTORY = FIXTURES / "gemini"
MODEL = "gemini-2.5-pro"


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in ({"sessionId": "s", "projectHash": "p"}, *values))


def said(name: str, words: str = "") -> dict[str, object]:
    return {"id": name, "type": "user", "content": words or name}


def ids(content: bytes) -> list[str]:
    return [entry.id for entry in GEMINI.fold(read(GEMINI, content))]


def test_a_message_that_is_written_again_stands_in_its_place() -> None:
    assert conversation(DIRECTORY / "tools.jsonl") == [
        user("What is in this project?"),
        assistant(
            reasoning="Looking: I list the directory first.",
            tool_calls=[
                call("list_directory-1", "list_directory", '{"path":"."}'),
                call("read_file-2", "read_file", '{"path":"gone.md"}'),
            ],
            model=MODEL,
        ),
        tool("README.md\nsrc", "list_directory-1", "list_directory"),
        tool("File not found.", "read_file-2", "read_file", is_error=True),
        assistant("Request was retried.", meta=True),
        assistant("A README and a source directory.", model=MODEL),
    ]


def test_a_result_came_when_its_call_was_noted() -> None:
    assert [entry.timestamp for entry in entries(DIRECTORY / "tools.jsonl")[1:4]] == [
        *("2026-03-02T09:01:03.000Z", "2026-03-02T09:01:05.000Z", "2026-03-02T09:01:06.000Z")
    ]


def test_a_rewind_takes_a_message_and_all_after_it_back() -> None:
    path = DIRECTORY / "rewind.jsonl"
    assert conversation(path) == [user("A town."), assistant("Oslo.", model=MODEL)]
    # The third rewind goes back along a line that was left already.
    assert abandoned(GEMINI, records_of(path)) == [AbandonedLine("a4", "a2"), AbandonedLine("a6", "a2")]


def test_a_rewind_to_what_is_not_there_takes_everything_back() -> None:
    content = lines(said("a"), said("b"), {"$rewindTo": "x"}, said("c"))
    assert ids(content) == ["c"]
    assert abandoned(GEMINI, read(GEMINI, content)) == [AbandonedLine("b")]


def test_a_rewind_of_nothing_leaves_no_line() -> None:
    assert abandoned(GEMINI, read(GEMINI, lines({"$rewindTo": "x"}, said("a")))) == []


def test_a_compression_keeps_what_it_stands_for() -> None:
    path = DIRECTORY / "compressed.jsonl"
    assert conversation(path)[2:] == [
        user("And on."),
        assistant("Four, five.", model=MODEL),
        ("<state_snapshot>The user counts.</state_snapshot>", "c3"),
        user("Further."),
        assistant("Six.", model=MODEL),
    ]
    assert abandoned(GEMINI, records_of(path)) == []


def test_a_compression_may_keep_messages_that_are_new() -> None:
    kept = {"$set": {"messages": [said("s", "<state_snapshot>a</state_snapshot>"), said("n")]}}
    found = GEMINI.fold(read(GEMINI, lines(said("a"), kept)))
    assert [(entry.id, getattr(entry, "first_kept_id", None)) for entry in found] == [
        *(("a", None), ("record-2", "record-2/1"), ("record-2/1", None))
    ]


def test_a_history_that_is_set_replaces_the_messages() -> None:
    content = lines(said("a"), said("b"), {"$set": {"messages": [said("b", "masked"), said("c")]}}, said("d"))
    found = GEMINI.fold(read(GEMINI, content))
    assert [entry.message["content"] for entry in found] == ["masked", "c", "d"]
    assert [entry.id for entry in found] == ["b", "record-3/2", "d"]


def test_a_document_is_the_same_kind_of_conversation() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    path = DIRECTORY / "session-2026-03-02T09-00-5f0c2c1e.json"
    assert conversation(path) == [
        user("What is this picture?"),
        user([{"type": "text", "text": "This one:"}, image]),
        assistant("A dot.", model=MODEL),
        assistant("[API Error: quota]", meta=True),
        assistant("A black dot.", model=MODEL),
    ]
    assert [entry.timestamp for entry in entries(path)][:2] == ["2026-03-02T09:01:00.000Z", "2026-03-02T09:01:01.000Z"]


def test_who_speaks() -> None:
    assert speakers(DIRECTORY / "tools.jsonl") == [
        *("meta", "user", "meta", "assistant", "assistant", "meta", "assistant", "meta")
    ]
    assert speakers(DIRECTORY / "compressed.jsonl")[5] == "system"


def test_the_header_tells_session_directory_and_summary() -> None:
    path = DIRECTORY / "tools.jsonl"
    assert header_of(GEMINI, path, records_of(path)) == {
        "id": "5f0c2c1e-7d0a-4f43-9d2e-0a6f5b7c1d01",
        "created_at": "2026-03-02T09:00:00.000Z",
        "agent": "gemini",
        "cwd": "/home/dev/project",
        "title": "Ask what is in the project",
    }


def test_a_subagent_is_named_below_its_session() -> None:
    path = next((DIRECTORY / "subagents").rglob("*.jsonl"))
    header = header_of(GEMINI, path, records_of(path))
    assert header["id"] == "5f0c2c1e-7d0a-4f43-9d2e-0a6f5b7c1d01/investigator-7"
    assert header["parent_session"] == "5f0c2c1e-7d0a-4f43-9d2e-0a6f5b7c1d01"


def test_a_cut_document_is_named_by_what_it_says() -> None:
    content = (DIRECTORY / "session-2026-03-02T09-00-5f0c2c1e.json").read_bytes()[:500]
    assert recognise(content, "a.json") is GEMINI
    assert GEMINI.header(PurePath("a.json"), read(GEMINI, content)[0])["id"] == "5f0c2c1e-7d0a-4f43-9d2e-0a6f5b7c1d04"


@pytest.mark.parametrize("words", ["This is the Gemini CLI. We are setting up the context.", "<session_context>a"])
def test_injected_context_is_told_apart(words: str) -> None:
    (entry,) = GEMINI.fold(read(GEMINI, lines(said("a", words))))
    assert entry.message == user(words, meta=True)
