"""The trajectories of SWE-agent and mini-swe-agent."""

import json
import re

import pytest
from folded import assistant, call, conversation, speakers, tool, user
from transcript_files import FIXTURES, header_of, read, records_of

from gitsession.model import MessageEntry
from gitsession.transcripts import FORMATS, recognise

SWE_AGENT = FORMATS["swe-agent"]
DIRECTORY = FIXTURES / "swe-agent"
FULL = DIRECTORY / "demo__demo-1.traj"
MINI = DIRECTORY / "demo__demo-2.traj.json"


def test_the_history_is_the_conversation() -> None:
    assert conversation(FULL) == [
        {"role": "system", "content": "SETTING: You are a programmer."},
        user("Here is a demonstration.", meta=True),
        user("Fix the issue: off by one."),
        assistant(
            "I look at it.", reasoning="Short file.", tool_calls=[call("call_1", "bash", '{"command":"cat a.py"}')]
        ),
        tool("OBSERVATION:\nrange(1, n)", "call_1", "bash"),
        assistant("submit"),
    ]


def test_what_a_command_printed_was_typed_by_no_person() -> None:
    assert conversation(MINI) == [
        {"role": "system", "content": "You are a helpful assistant."},
        user("Please solve this issue: off by one."),
        assistant("THOUGHT: look.\n\n```bash\ncat a.py\n```", model="gpt-5-mini"),
        user("<returncode>0</returncode>\n<output>\nrange(1, n)\n</output>", meta=True),
        assistant(tool_calls=[call("call_9", "bash", '{"command":"false"}')]),
        tool("<returncode>1</returncode>", "call_9", "bash", is_error=True),
    ]
    assert speakers(MINI)[4] == "meta"


def test_steps_without_a_history_are_the_conversation_with_what_the_model_was_asked() -> None:
    assert conversation(DIRECTORY / "steps.traj") == [
        {"role": "system", "content": "SETTING: You are a programmer."},
        user("Here is a demonstration.", meta=True),
        user("Fix the issue: off by one."),
        assistant("I look at it.", tool_calls=[call("step-1", "bash", '{"command":"cat a.py"}')]),
        tool("range(1, n)", "step-1", "bash"),
        assistant("submit"),
    ]


def test_what_a_step_was_asked_anew_is_shown_once() -> None:
    task, hint = {"role": "user", "content": "Fix it."}, {"role": "user", "content": "Try again."}
    first = {"action": "ls", "observation": "a.py", "response": "```\nls\n```", "query": [task]}
    said = [{"role": "assistant", "content": first["response"]}, {"role": "user", "content": "a.py"}]
    second = {"action": "", "observation": "", "response": "Done.", "query": [task, *said, hint, "no message"]}
    found = SWE_AGENT.fold(
        read(SWE_AGENT, json.dumps({"trajectory": [first, second, {**second, "query": 7}]}).encode())
    )

    assert [one.message["content"] for one in found if isinstance(one, MessageEntry)] == [
        *("Fix it.", first["response"], "a.py", "Try again.", "Done.", "Done."),
    ]


def test_the_session_is_named_by_the_file_without_its_endings() -> None:
    assert header_of(SWE_AGENT, FULL, records_of(FULL))["id"] == "demo__demo-1"
    assert header_of(SWE_AGENT, MINI, records_of(MINI)) == {
        "id": "demo__demo-2",
        "created_at": "2026-03-02T09:00:01.500Z",
        "agent": "swe-agent",
        "title": "Please solve this issue: off by one.",
    }


@pytest.mark.parametrize(
    ("end", "expected"), [("}", [None] * 101), (', "cost": NaN}', None), (', "messages": [{"role": "user"}]', 0)]
)
def test_steps_of_a_large_run_are_its_conversation_if_it_is_whole(end: str, expected: object) -> None:
    step = {"action": "ls", "observation": "a.py " * 10_000, "response": "I look."}
    content = f'{{"history": null, "trajectory": {json.dumps([step] * 100)}{end}'.encode()
    records = read(SWE_AGENT, content)
    if expected is None:
        # It says nothing that can be relied on, and is kept as it stands.
        assert [record.raw for record in records] == [content]
    elif expected == 0:
        assert [record.raw for record in records[1:]] == [b'{"role": "user"}', b"]"]
    else:
        assert [record.problem for record in records] == expected


def test_a_run_that_is_cut_is_no_other_format() -> None:
    document = json.loads(MINI.read_bytes())
    content = json.dumps({"messages": document["messages"], "info": document["info"]}, indent=2).encode()
    for written in (MINI.read_bytes(), content):
        # Within a word one place is as good as another.
        ends = [0, *(found.end() for found in re.finditer(rb"[\w. ]+|.", written, re.DOTALL))]
        found = {recognise(written[:end], MINI.name) for end in ends}
        assert found == {None, SWE_AGENT}


def test_steps_are_not_taken_for_the_messages_while_a_history_may_come() -> None:
    content = FULL.read_bytes()
    (record,) = read(SWE_AGENT, content[: content.index(b'"history"')])
    assert (record.id, record.problem, record.unfinished) == ("document", "the document is not complete", False)
    shown = [entry.message["role"] for entry in SWE_AGENT.fold([record]) if isinstance(entry, MessageEntry)]
    assert shown == ["system", "user", "user", "assistant", "tool", "assistant"]
