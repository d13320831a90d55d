"""GitHub Copilot CLI's event logs."""

import json
from typing import Any

import pytest
from folded import assistant, call, conversation, speakers, tool, user
from transcript_files import FIXTURES, header_of, read, records_of

from gitsession.model import MessageEntry
from gitsession.transcripts import FORMATS, AbandonedLine
from tests.scratches import abandoned

COPILOT = FORMATS["copilot"]
EVENTS = FIXTURES / "copilot" / "0b9f3c1a-2f64-4f0e-8a31-6a6f9c0e7701" / "events.jsonl"
REWIND = FIXTURES / "copilot" / "rewind.jsonl"


def test_calls_results_models_and_a_compaction() -> None:
    assert conversation(EVENTS) == [
        user("<current_datetime>…</current_datetime>", meta=True),
        user("Run the tests."),
        assistant(
            reasoning="pytest is there.",
            tool_calls=[call("t1", "bash", '{"command":"pytest"}'), call("t2", "view", '{"path":"x"}')],
            model="claude-sonnet-4.5",
        ),
        tool("3 passed", "t1", "bash"),
        tool("Path does not exist", "t2", "view", is_error=True),
        assistant("All three pass.", model="gpt-5"),
        ("The tests pass.", None),
        user("Good. And lint?"),
        assistant("Clean.", model="gpt-5"),
    ]


@pytest.mark.parametrize(
    ("typed", "sent", "expected"),
    [
        ("Why?", "Why?", [user("Why?")]),
        ("Why?", "<now>9</now>\n\nWhy?", [user("<now>9</now>", meta=True), user("Why?")]),
        ("Why?", "Why?\n\n<reminder>x</reminder>", [user("Why?"), user("<reminder>x</reminder>", meta=True)]),
        ("Why?", "a\nWhy?\nb", [user("a", meta=True), user("Why?"), user("b", meta=True)]),
        # Nothing tells which of them was typed.
        ("a", "a\na", [user("a"), user("a\na", meta=True)]),
        ("a", "a\n\n<x>a b</x>", [user("a"), user("<x>a b</x>", meta=True)]),
        ("/fix", "Mend the code.", [user("/fix"), user("Mend the code.", meta=True)]),
        ("", "Go on.", [user("Go on.", meta=True)]),
    ],
)
def test_what_the_model_was_told_around_a_prompt_is_context(typed: str, sent: str, expected: list[Any]) -> None:
    data = {"content": typed, "transformedContent": sent}
    event = {"type": "user.message", "data": data, "id": "e", "timestamp": "2026-03-02T09:00:00Z"}
    (record,) = read(COPILOT, json.dumps(event).encode() + b"\n")
    assert [one.message for one in COPILOT.fold([record]) if isinstance(one, MessageEntry)] == expected
    # The text of its commit is what was typed.
    assert [part.text for part in COPILOT.view(record).parts if typed] == ([typed] if typed else [])


def test_what_a_rewind_took_back_is_an_abandoned_line() -> None:
    assert [message["content"] for message in conversation(REWIND)] == [
        *("Name a colour.", "Red.", "A number instead.", "Seven.")
    ]
    assert abandoned(COPILOT, records_of(REWIND)) == [AbandonedLine("r5", "r3")]


def test_a_rewind_after_which_nobody_spoke_leaves_no_line() -> None:
    rewind = {"type": "session.snapshot_rewind", "data": {"upToEventId": "r2"}, "id": "r9"}
    content = REWIND.read_bytes().split(b"\n", 6)
    content = b"\n".join(content[:6]) + b"\n" + json.dumps(rewind).encode() + b"\n"
    assert abandoned(COPILOT, read(COPILOT, content)) == [AbandonedLine("r5", "r3")]


def test_the_header_tells_session_directory_and_branch() -> None:
    assert header_of(COPILOT, EVENTS, records_of(EVENTS)) == {
        "id": "0b9f3c1a-2f64-4f0e-8a31-6a6f9c0e7701",
        "created_at": "2026-03-02T09:00:00.000Z",
        "agent": "copilot",
        "cwd": "/home/dev/project",
        "git_branch": "main",
        "title": "Run the tests.",
    }


def test_a_log_without_its_start_is_named_by_its_directory() -> None:
    first = read(COPILOT, b'{"type":"user.message","data":{"content":"a"},"id":"e"}\n')[0]
    assert COPILOT.header(EVENTS, first)["id"] == EVENTS.parent.name


def test_who_speaks() -> None:
    assert speakers(EVENTS) == [
        *("meta", "meta", "user", "meta", "assistant", "meta", "tool", "tool", "meta", "meta", "assistant", "meta"),
        *("meta", "system", "user", "assistant", "meta"),
    ]
