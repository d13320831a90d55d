"""Sessions for Gemini CLI: forks of its own, in both forms, and those of others."""

from pathlib import Path, PurePath
from typing import Any

import pytest
from compositions import ID, composed, draft, lines, stored, whole
from transcript_files import FIXTURES

from gitsession.model import CompactionEntry, MessageEntry
from gitsession.transcripts import FORMATS, Record
from gitsession.transcripts.gemini_compose import compose, project_hash

GEMINI = FORMATS["gemini"]


def fixture(name: str) -> list[Record]:
    (path,) = (FIXTURES / "gemini").rglob(name)
    return stored(path)


def entry(own: str, **message: Any) -> MessageEntry:
    return MessageEntry(message, id=own, timestamp="2026-03-03T09:00:00Z")


def test_a_fork_has_the_records_of_its_origin_below_metadata_of_its_own() -> None:
    records = fixture("tools.jsonl")
    first, *copied, title = lines(GEMINI, records, title="Ask")
    assert first == {
        "sessionId": ID,
        "projectHash": project_hash("/home/dev/project"),
        "startTime": "2026-03-02T09:00:00.000Z",
        "lastUpdated": "2026-03-02T09:01:09.000Z",
        "kind": "main",
        "directories": ["/home/dev/project"],
    }
    assert copied == [record.value for record in records[1:]]
    assert title["$set"]["summary"] == "Ask (fork)"


def test_a_session_id_that_was_noted_again_is_the_forks() -> None:
    value = {"$set": {"sessionId": "old", "summary": "s"}}
    noted = Record(b"", value, id="r1")
    assert lines(GEMINI, [*fixture("tools.jsonl"), noted])[-2] == {"$set": {"sessionId": ID, "summary": "s"}}


def test_a_fork_of_a_document_has_its_messages_one_a_line() -> None:
    records = fixture("session-2026-03-02T09-00-5f0c2c1e.json")
    found = lines(GEMINI, records)
    assert found[1:-1] == [record.value for record in records[1:]]
    assert found[0]["startTime"] == records[0].value["startTime"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tools.jsonl", "session-2026-03-02T09-00-5f0c2c1e.jsonl"),
        ("session-2026-03-02T09-00-5f0c2c1e.json", "session-2026-03-02T09-00-5f0c2c1e.json"),
    ],
)
def test_a_whole_session_has_its_own_name(name: str, expected: str) -> None:
    records = fixture(name)
    own = records[0].value["sessionId"]
    made = compose(whole(GEMINI, records, own))
    assert (made.path.name, made.rewritten) == (expected, False)
    assert made.resume is not None
    assert made.resume(PurePath()) == ("gemini", "--resume", own)


@pytest.mark.parametrize("own", ["../../x", "--yolo", "a b", "x" * 200, "s/investigator-7"])
def test_an_id_that_could_be_something_else_is_not_used(own: str) -> None:
    made = compose(whole(GEMINI, fixture("tools.jsonl"), own))
    assert made.rewritten
    assert made.path.parts[:1] + made.path.parts[2:3] == ("tmp", "chats")
    assert made.path.name.endswith(f"-{ID[:8]}.jsonl")
    assert made.resume is not None
    assert made.resume(PurePath()) == ("gemini", "--resume", ID)


def test_a_subagents_session_is_forked_into_one_that_can_be_resumed() -> None:
    made = compose(whole(GEMINI, fixture("investigator-7.jsonl"), "investigator-7"))
    assert made.rewritten
    assert b'"kind":"main"' in b"".join(made.lines)


def test_the_directory_is_one_below_the_agents_whatever_the_cwd() -> None:
    for cwd in ("/", "..", "../../etc", "/a/../..", "C:\\x", "a\udc80"):
        path = compose(draft(GEMINI)._replace(cwd=cwd)).path
        assert len(path.parts) == 4
        assert Path(path.parts[1]).name == project_hash(cwd)


def test_messages_have_the_agents_shape() -> None:
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
        for n in range(3)
    ]
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}
    entries = [
        entry("e1", role="system", content="Be brief."),
        entry("e2", role="user", content=[{"type": "text", "text": "Look"}, image]),
        entry("e3", role="assistant", content="I look.", reasoning="hm", tool_calls=calls, model="m"),
        entry("e4", role="tool", content="no", tool_call_id="c1", name="read", is_error=True),
        entry("e5", role="tool", content="yes", tool_call_id="c0", name="read"),
        entry("e6", role="tool", content="alone", tool_call_id="c9"),
        entry("e7", role="assistant", content="failed", meta=True),
    ]
    _, system, prompt, answer, alone = lines(GEMINI, (), entries)
    assert system["content"] == [{"text": "<system-reminder>\nBe brief.\n</system-reminder>"}]
    assert prompt["content"] == [{"text": "Look"}, {"inlineData": {"mimeType": "image/png", "data": "eA=="}}]
    assert (answer["type"], answer["content"], answer["model"]) == ("gemini", "I look.", "m")
    assert answer["thoughts"] == [{"subject": "", "description": "hm", "timestamp": "2026-03-03T09:00:00.000Z"}]
    given, failed, waiting = answer["toolCalls"]
    response = {"id": "c0", "name": "read", "response": {"output": "yes"}}
    assert (given["args"], given["status"]) == ({"path": "a"}, "success")
    assert given["result"] == [{"functionResponse": response}]
    assert (failed["status"], failed["result"][0]["functionResponse"]["response"]) == ("error", {"error": "no"})
    assert (waiting["status"], "result" in waiting) == ("executing", False)
    assert alone["content"] == [{"text": "<system-reminder>\nalone\n</system-reminder>"}]


def test_a_compaction_is_the_history_that_is_left() -> None:
    entries = [
        entry("e1", role="user", content="a"),
        entry("e2", role="user", content="b"),
        CompactionEntry("so far", "e2", id="k", timestamp="2026-03-03T09:00:01Z"),
        entry("e3", role="user", content="c"),
    ]
    _, _, second, compaction, _ = lines(GEMINI, (), entries)
    summary, answer, kept = compaction["$set"]["messages"]
    assert summary["content"] == [{"text": "<state_snapshot>so far</state_snapshot>"}]
    assert (answer["type"], kept) == ("gemini", second)
    marked = CompactionEntry("<state_snapshot>x</state_snapshot>", None, id="k", timestamp="")
    assert lines(GEMINI, (), [marked])[1]["$set"]["messages"][0]["content"] == [{"text": marked.summary}]


def test_messages_that_stand_twice_have_ids_of_their_own() -> None:
    twice = entry("e1", role="user", content="a")
    _, first, second = lines(GEMINI, (), [twice, twice])
    assert first["id"] != second["id"]
    assert list(composed(GEMINI, (), [twice]).lines)[1] == list(composed(GEMINI, (), [twice, twice]).lines)[1]
