"""Gemini CLI's transcripts."""

import json
from pathlib import PurePath

import pytest
from folded import assistant, call, conversation, entries, speakers, tool, user
from transcript_files import FIXTURES, header_of, read, records_of

from gitsession.model import CompactionEntry, build_context
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


def answered(name: str, words: str = "") -> dict[str, object]:
    return {"id": name, "type": "gemini", "content": words or name}


def setting(*messages: dict[str, object]) -> dict[str, object]:
    return {"$set": {"messages": list(messages)}}


SUMMARY = said("s", "<state_snapshot>so far</state_snapshot>")
TALK = [said("A"), answered("a"), said("B"), answered("b")]
COMPACTED = [*TALK, setting(SUMMARY, answered("got"), said("B"), answered("b")), said("C"), answered("c")]
MORE = [said("D"), answered("d")]


def shown(*values: object) -> list[str]:
    """Returns the conversation: what each message says, and in brackets what a compaction does."""
    found = GEMINI.fold(read(GEMINI, lines(*values)))
    return [f"[{one.summary[16:-17]}]" if isinstance(one, CompactionEntry) else one.message["content"] for one in found]


def context(*values: object) -> list[str]:
    return [message["content"] for message in build_context(GEMINI.fold(read(GEMINI, lines(*values))))]


def left(*values: object) -> list[tuple[int, int | None]]:
    """Returns where lines were left, and what they have in common with the conversation, as numbers of records."""
    log = [record._replace(id=str(place)) for place, record in enumerate(read(GEMINI, lines(*values)))]
    return [(int(one.last), None if one.at is None else int(one.at)) for one in abandoned(GEMINI, log)]


S = "[Conversation summary]\n<state_snapshot>so far</state_snapshot>"


@pytest.mark.parametrize(
    ("back", "conversation", "model", "at"),
    [
        ("B", ["A", "a", "[so far]", "D", "d"], [S, "D", "d"], 5),
        ("b", ["A", "a", "B", "[so far]", "D", "d"], [S, "B", "D", "d"], 5),
        ("C", ["A", "a", "B", "b", "[so far]", "D", "d"], [S, "B", "b", "D", "d"], 5),
        ("got", ["A", "a", "[so far]", "D", "d"], [S, "D", "d"], 5),
        ("s", ["D", "d"], ["D", "d"], None),
        ("A", ["D", "d"], ["D", "d"], None),
    ],
    ids=["to what was kept", "into it", "to what came after", "to the summary", "before it", "to what is compressed"],
)
def test_a_rewind_after_a_compression_goes_back_in_what_the_agent_has(
    back: str, conversation: list[str], model: list[str], at: int | None
) -> None:
    log = [*COMPACTED, {"$rewindTo": back}, *MORE]
    assert shown(*log) == conversation
    assert context(*log) == model
    assert left(*log) == [(7, at)]


def test_a_rewind_right_after_a_compression_leaves_a_line_without_it() -> None:
    assert left(*COMPACTED[:5], {"$rewindTo": "B"}, *MORE) == [(4, 2)]
    assert left(*COMPACTED[:5], {"$rewindTo": "b"}, *MORE) == [(4, 3)]


def test_a_history_with_its_summary_may_be_set_again() -> None:
    again = [said("env", "<session_context>now"), SUMMARY, answered("got"), answered("b", "masked"), said("C")]
    log = [*COMPACTED, {"id": "i", "type": "info", "content": "cancelled"}, setting(*again, answered("c")), *MORE]
    assert shown(*log) == ["A", "a", "B", "masked", "[so far]", "C", "c", "<session_context>now", "D", "d"]
    assert context(*log) == [S, "masked", "C", "c", "<session_context>now", "D", "d"]
    assert left(*log) == []
    assert context(*COMPACTED, setting(*again[1:4]), *MORE) == [S, "masked", "D", "d"]
    assert left(*COMPACTED, setting(*again[1:4]), *MORE) == [(7, 5)]


def test_what_a_compression_kept_may_be_taken_back_by_the_history_that_is_set() -> None:
    again = [said("env", "<session_context>now"), SUMMARY, answered("got")]
    assert context(*COMPACTED[:5], setting(*again, said("B")), *MORE) == [S, "B", "<session_context>now", "D", "d"]
    assert left(*COMPACTED[:5], setting(*again, said("B")), *MORE) == [(4, 3)]
    assert shown(*COMPACTED, setting(*again, said("C"), answered("c")), *MORE)[:6] == [
        "A",
        "a",
        "B",
        "b",
        "[so far]",
        "C",
    ]
    assert context(*COMPACTED, setting(*again[1:], said("C"), answered("c")), *MORE) == [S, "C", "c", "D", "d"]


def test_with_a_summary_that_is_taken_back_goes_what_it_stands_for() -> None:
    alone = [*TALK, setting(SUMMARY, answered("got"))]
    assert shown(*alone, setting(), *MORE) == ["D", "d"]
    assert left(*alone, setting(), *MORE) == [(5, None)]


def test_what_was_compressed_twice_is_shown_once() -> None:
    second = said("s2", "<state_snapshot>anew</state_snapshot>")
    log = [*COMPACTED, setting(second, answered("got2"), said("C"), answered("c")), {"$rewindTo": "C"}, *MORE]
    assert shown(*log) == ["A", "a", "B", "b", "[so far]", "[anew]", "D", "d"]
    assert context(*log) == [S.replace("so far", "anew"), "D", "d"]


@pytest.mark.parametrize(
    ("history", "lines"),
    [
        ([TALK[0], TALK[1]], [(4, 2)]),
        ([], [(4, None)]),
        ([said("x", "another"), answered("y")], [(4, None)]),
        ([said("1", "A"), answered("2", "a")], [(4, 2)]),
        ([said("1", "A"), answered("2", "a"), said("3", "B"), answered("4", "b")], []),
        ([said("env", "<session_context>now"), *TALK], []),
        ([TALK[0], TALK[1], TALK[2], answered("b", "shortened")], []),
        ([TALK[2], TALK[3]], []),
    ],
    ids=["restored", "emptied", "another chat", "restored as it was saved", "saved", "resumed", "masked", "cut short"],
)
def test_a_history_that_is_set_leaves_a_line_where_an_answer_is_gone(
    history: list[dict[str, object]], lines: list[tuple[int, int | None]]
) -> None:
    assert left(*TALK, setting(*history), *MORE) == lines


def test_a_request_that_was_taken_back_without_an_answer_is_no_line() -> None:
    notice = {"id": "e", "type": "error", "content": "quota"}
    assert left(*TALK, said("C"), notice, setting(*TALK), *MORE) == []
    assert left(*TALK, said("/stats"), setting(*TALK), *MORE) == []
    assert left(*TALK, said("C"), answered("c"), setting(*TALK), {"$rewindTo": "B"}, *MORE) == [(6, 4)]


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
