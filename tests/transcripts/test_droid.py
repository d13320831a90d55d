"""Factory Droid's sessions."""

from folded import assistant, call, conversation, speakers, tool, user
from transcript_files import FIXTURES, header_of, records_of

from gitsession.transcripts import FORMATS

DROID = FORMATS["droid"]
TOOLS = FIXTURES / "droid" / "tools.jsonl"
SIGNED = [{"type": "reasoning.text", "text": "Look first.", "signature": "c2ln"}]
CALLED = FIXTURES / "droid" / "called.jsonl"


def test_calls_results_reminders_and_a_compaction() -> None:
    read = call("toolu_1", "Read", '{"file_path":"hello.py"}')
    assert conversation(TOOLS) == [
        user("<system-reminder>Today is Monday.</system-reminder>", meta=True),
        user("Fix the greeting."),
        assistant("I look.", reasoning="Look first.", reasoning_details=SIGNED, tool_calls=[read]),
        tool("print('helo')", "toolu_1", "Read"),
        assistant(tool_calls=[call("toolu_2", "Edit", '{"file_path":"hello.py"}')]),
        tool("no match", "toolu_2", "Edit", is_error=True),
        ("The greeting is misspelt.", None),
        user("Try again."),
        assistant("Done."),
    ]


def test_a_session_that_another_called_has_it_as_its_parent() -> None:
    assert header_of(DROID, CALLED, records_of(CALLED)) == {
        "id": "7c1d9c52-93a5-4c55-8b0a-2a5a1f0d6602",
        "created_at": "2026-03-02T09:01:00.000Z",
        "agent": "droid",
        "cwd": "/home/dev/project",
        "parent_session": "7c1d9c52-93a5-4c55-8b0a-2a5a1f0d6601",
        "title": "Look around.",
    }


def test_content_may_be_a_string() -> None:
    assert conversation(CALLED) == [user("Look around."), assistant("Nothing here.")]


def test_who_speaks() -> None:
    assert speakers(TOOLS) == [
        "meta",
        "user",
        "assistant",
        "tool",
        "meta",
        "assistant",
        "tool",
        "system",
        "user",
        "assistant",
    ]
