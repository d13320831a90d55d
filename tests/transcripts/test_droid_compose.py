"""Sessions for Factory Droid: forks of its own, and those of others."""

from pathlib import PurePath
from typing import Any

import pytest
from compositions import ID, draft, lines, stored, whole
from transcript_files import FIXTURES

from gitsession.model import CompactionEntry, MessageEntry
from gitsession.transcripts import FORMATS, Record
from gitsession.transcripts.droid_compose import compose, directory

DROID = FORMATS["droid"]


def fixture(name: str) -> list[Record]:
    return stored(FIXTURES / "droid" / name)


def entry(own: str, **message: Any) -> MessageEntry:
    return MessageEntry(message, id=own, timestamp="2026-03-03T09:00:00Z")


def test_a_fork_has_the_records_of_its_origin_below_a_first_one_of_its_own() -> None:
    records = fixture("tools.jsonl")
    first, *others = lines(DROID, records, title="Greeting")
    name = {"title": "Greeting (fork)", "sessionTitle": "Greeting (fork)"}
    assert first == {**records[0].value, "id": ID, **name}
    assert others == [record.value for record in records[1:]]


def test_a_fork_of_a_session_that_was_called_stands_for_itself() -> None:
    assert "callingSessionId" in fixture("called.jsonl")[0].value
    assert "callingSessionId" not in lines(DROID, fixture("called.jsonl"))[0]


def test_messages_have_the_agents_shape() -> None:
    calls = [{"id": "c.1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}]
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}
    entries = [
        entry("e1", role="system", content="Be brief."),
        entry("e2", role="user", content=[{"type": "text", "text": "Look"}, image]),
        entry("e3", role="assistant", content="I look.", reasoning="hm", tool_calls=calls, model="m"),
        entry("e4", role="tool", content="no", tool_call_id="c.1", name="read", is_error=True),
        entry("e5", role="user", content="Well?"),
        CompactionEntry("so far", None, 7, id="k", timestamp="2026-03-03T09:00:01Z"),
    ]
    first, system, prompt, answer, result, typed, compaction = lines(DROID, (), entries, title="T")
    assert first == {
        "version": 2,
        "type": "session_start",
        "id": ID,
        "title": "T",
        "sessionTitle": "T",
        "cwd": "/home/dev/project",
    }
    reminder = {"type": "text", "text": "<system-reminder>\nBe brief.\n</system-reminder>"}
    assert system["message"] == {"role": "user", "content": [reminder]}
    source = {"type": "base64", "media_type": "image/png", "data": "eA=="}
    assert prompt["message"]["content"] == [{"type": "text", "text": "Look"}, {"type": "image", "source": source}]
    assert answer["message"] == {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "c_1", "name": "read", "input": {"path": "a"}},
        ],
        "model": "m",
    }
    failed = {"type": "tool_result", "tool_use_id": "c_1", "content": "no", "is_error": True}
    assert result["message"] == {"role": "user", "content": [failed]}
    assert typed["message"]["content"] == [{"type": "text", "text": "Well?"}]
    assert compaction.items() >= {"type": "compaction_state", "summaryText": "so far", "tokensBefore": 7}.items()


@pytest.mark.parametrize(
    ("cwd", "expected"),
    [("/home/dev/project", "-home-dev-project"), ("C:\\a", "C:-a"), ("..", "-"), ("../../x", "..-..-x"), ("/", "-")],
)
def test_the_directory_is_named_as_the_agent_does(cwd: str, expected: str) -> None:
    assert directory(cwd) == expected
    made = compose(draft(DROID)._replace(cwd=cwd))
    assert made.path == PurePath("sessions", expected, f"{ID}.jsonl")
    assert made.resume is not None
    assert made.resume(made.path) == ("droid", "--resume", ID)


@pytest.mark.parametrize("own", ["..", "../../x", "/etc", "--yolo", "a b"])
def test_an_id_that_could_be_something_else_is_not_used(own: str) -> None:
    made = compose(whole(DROID, fixture("tools.jsonl"), own))
    assert (made.rewritten, made.path.name) == (True, f"{ID}.jsonl")


def test_a_whole_session_keeps_its_id() -> None:
    made = compose(whole(DROID, fixture("tools.jsonl"), "7c1d"))
    assert (made.rewritten, made.path.name) == (False, "7c1d.jsonl")
