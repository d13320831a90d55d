"""Sessions for GitHub Copilot CLI: forks of its own, and those of others."""

import uuid
from pathlib import PurePath
from typing import Any

import pytest
from compositions import ID, draft, lines, stored, whole
from transcript_files import FIXTURES

from gitsession.model import CompactionEntry, MessageEntry
from gitsession.transcripts import FORMATS, Record
from gitsession.transcripts.copilot_compose import compose

COPILOT = FORMATS["copilot"]


def fixture(name: str) -> list[Record]:
    (path,) = (FIXTURES / "copilot").rglob(name)
    return stored(path)


def entry(own: str, **message: Any) -> MessageEntry:
    return MessageEntry(message, id=own, timestamp="2026-03-03T09:00:00Z")


def is_chain(events: list[Any]) -> bool:
    parents = [None, *(event["id"] for event in events[:-1])]
    return [event["parentId"] for event in events] == parents and all(uuid.UUID(event["id"]) for event in events)


def test_a_fork_has_the_events_of_its_origin_as_a_chain_of_uuids() -> None:
    records = fixture("events.jsonl")
    found = lines(COPILOT, records)
    assert found[0]["data"] == {**records[0].value["data"], "sessionId": ID}
    assert [(one["type"], one["data"]) for one in found[1:]] == [
        (record.value["type"], record.value["data"]) for record in records[1:-1]
    ]
    assert records[-1].value["type"] == "session.shutdown"
    assert is_chain(found)


def test_a_uuid_stays_and_what_is_added_follows() -> None:
    first, *others = fixture("events.jsonl")
    own = "0b9f3c1a-2f64-4f0e-8a31-6a6f9c0e7702"
    renamed = Record(b"", {**first.value, "id": own}, id=own)
    found = lines(COPILOT, [renamed, *others], [entry("e1", role="user", content="a")])
    assert found[0]["id"] == own
    assert (found[-1]["type"], found[-1]["data"]["content"]) == ("user.message", "a")
    assert is_chain(found)


def test_what_a_rewind_took_back_is_not_forked() -> None:
    records = fixture("rewind.jsonl")
    found = lines(COPILOT, records)
    assert not any(one["type"] == "session.snapshot_rewind" for one in found)
    assert len(found) < len(records) - 1
    # What older versions did not say, the reader wants to know.
    assert {"version", "producer", "copilotVersion", "startTime"} <= found[0]["data"].keys()
    assert is_chain(found)


def test_messages_have_the_agents_shape() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}]
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}
    entries = [
        entry("e1", role="system", content="Be brief."),
        entry("e2", role="user", content=[{"type": "text", "text": "Look"}, image]),
        entry("e3", role="assistant", content="I look.", reasoning="hm", tool_calls=calls, model="m"),
        entry("e4", role="tool", content="no", tool_call_id="c1", name="read", is_error=True),
        entry("e5", role="assistant", content="Ah."),
        entry("e5b", role="tool", content=[{"type": "text", "text": "seen"}, image], tool_call_id="c2"),
        entry("e6", role="user", content="injected", meta=True),
        CompactionEntry("so far", None, 7, id="k", timestamp="2026-03-03T09:00:00Z"),
    ]
    found = lines(COPILOT, (), entries)
    assert is_chain(found)
    assert [one["type"] for one in found] == [
        *("session.start", "system.message", "user.message", "assistant.turn_start", "assistant.message"),
        *("tool.execution_start", "tool.execution_complete", "assistant.message", "tool.execution_complete"),
        *("assistant.turn_end", "user.message", "session.compaction_start", "session.compaction_complete"),
    ]
    start, system, prompt, _, answer, called, result, _, pictured, _, injected, _, compaction = [
        one["data"] for one in found
    ]
    assert (start["sessionId"], start["context"]) == (ID, {"cwd": "/home/dev/project"})
    assert system == {"content": "Be brief.", "role": "system"}
    assert prompt["content"] == "Look"
    assert prompt["attachments"] == [{"type": "blob", "data": "eA==", "mimeType": "image/png"}]
    request = {"toolCallId": "c1", "name": "read", "arguments": {"path": "a"}, "type": "function"}
    assert (answer["toolRequests"], answer["reasoningText"], answer["model"]) == ([request], "hm", "m")
    assert called == {"toolCallId": "c1", "toolName": "read", "arguments": {"path": "a"}}
    assert result == {"toolCallId": "c1", "success": False, "error": {"message": "no", "code": "failure"}}
    binary = [{"type": "image", "data": "eA==", "mimeType": "image/png"}]
    assert pictured["result"] == {"content": "seen", "binaryResultsForLlm": binary}
    assert injected["source"] == "system"
    assert compaction == {"success": True, "summaryContent": "so far", "preCompactionTokens": 7}


@pytest.mark.parametrize("own", ["..", "../../x", "/etc", "--yolo", "a b"])
def test_an_id_that_could_be_something_else_is_not_used(own: str) -> None:
    made = compose(whole(COPILOT, fixture("events.jsonl"), own))
    assert (made.rewritten, made.path) == (True, PurePath("session-state", ID, "events.jsonl"))
    assert made.resume is not None
    assert made.resume(made.path) == ("copilot", f"--resume={ID}")


def test_a_whole_session_is_resumed_by_its_own_id() -> None:
    made = compose(whole(COPILOT, fixture("events.jsonl"), "0b9f"))
    assert (made.rewritten, made.path.parts[1]) == (False, "0b9f")
    assert compose(draft(COPILOT)).path.parts[1] == ID
