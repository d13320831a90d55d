"""Sessions for pi: forks of its own, and those of others."""

from pathlib import PurePath
from typing import Any

import pytest
from compositions import ID, composed, lines, stored
from pi_logs import PI
from transcript_files import FIXTURES

from gitsession.model import CompactionEntry, MessageEntry
from gitsession.transcripts import Record
from gitsession.transcripts.pi_compose import directory


def fixture(name: str) -> list[Record]:
    (path,) = (FIXTURES / "pi").glob(f"{name}.jsonl")
    return stored(path)


def entry(own: str, **message: Any) -> MessageEntry:
    return MessageEntry(message, id=own, timestamp="2026-03-03T09:00:00Z")


def test_a_fork_has_the_entries_of_its_origin_and_a_header_of_its_own() -> None:
    records = fixture("branches")
    header, *entries, name = lines(PI, records, title="Ways")
    assert header["id"] == ID
    assert header["parentSession"] == f"2026-03-02T10-00-03-111Z_{records[0].value['id']}.jsonl"
    assert entries == [record.value for record in records[1:]]
    assert (name["type"], name["name"], name["parentId"]) == ("session_info", "Ways (fork)", records[-1].value["id"])


def test_what_is_added_hangs_on_the_leaf_with_short_ids() -> None:
    records = fixture("branches")
    found = lines(PI, records, [entry("e1", role="user", content="a"), entry("e2", role="assistant", content="b")])
    first, second, _ = found[len(records) :]
    assert (first["parentId"], second["parentId"]) == (records[-1].value["id"], first["id"])
    assert [len(one["id"]) for one in (first, second)] == [8, 8]


def test_the_first_version_stays_without_ids() -> None:
    found = lines(PI, fixture("version-1"), [entry("e1", role="user", content="a")])
    assert "version" not in found[0]
    assert not any("id" in one or "parentId" in one for one in found[1:])


def test_a_session_of_tau_is_written_in_pis_way() -> None:
    found = lines(PI, fixture("tau"))
    assert [one["type"] for one in found][:2] == ["session", "message"]
    assert (found[0]["version"], "parentSession" in found[0]) == (3, False)
    assert all("parent_id" not in one for one in found)
    (compaction,) = [one for one in found if one["type"] == "compaction"]
    kept = next(one for one in found if one.get("id") == compaction["firstKeptEntryId"])
    assert kept["message"]["content"] == [{"type": "text", "text": "Name the longest"}]


def test_messages_have_the_agents_shape() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}]
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}
    entries = [
        entry("e1", role="system", content="Be brief."),
        entry("e2", role="user", content=[{"type": "text", "text": "Look"}, image]),
        entry("e3", role="assistant", content="I look.", reasoning="hm", tool_calls=calls, model="m"),
        entry("e4", role="tool", content="no", tool_call_id="c1", name="read", is_error=True),
        entry("e5", role="user", content="injected", meta=True),
        entry("e6", role="assistant", content="failed", meta=True),
    ]
    _, system, prompt, answer, result, context = lines(PI, (), entries)
    assert (system["type"], system["customType"]) == ("custom_message", "system")
    picture = {"type": "image", "data": "eA==", "mimeType": "image/png"}
    assert prompt["message"]["content"] == [{"type": "text", "text": "Look"}, picture]
    assert answer["message"]["content"] == [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "I look."},
        {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a"}},
    ]
    assert (answer["message"]["model"], answer["message"]["stopReason"]) == ("m", "toolUse")
    assert (result["message"]["toolName"], result["message"]["isError"]) == ("read", True)
    assert (context["type"], context["customType"]) == ("custom_message", "context")
    assert prompt["message"]["timestamp"] == 1772528400000


def test_what_claude_signed_is_written_as_the_agent_keeps_it() -> None:
    details = [
        {"type": "reasoning.text", "text": "hm", "signature": "s"},
        {"type": "reasoning.encrypted", "data": "d"},
    ]
    entries = [
        entry(own, role="assistant", content="Here.", reasoning="hm", reasoning_details=details, model=model)
        for own, model in (("e1", "claude-x"), ("e2", "m"))
    ]
    _, signed, other = lines(PI, (), entries)
    assert signed["message"]["content"] == [
        {"type": "thinking", "thinking": "hm", "thinkingSignature": "s"},
        {"type": "thinking", "thinking": "[Reasoning redacted]", "thinkingSignature": "d", "redacted": True},
        {"type": "text", "text": "Here."},
    ]
    # By these three the agent tells whether a model gets its own signatures.
    told = ("api", "provider", "model")
    assert [signed["message"][key] for key in told] == ["anthropic-messages", "anthropic", "claude-x"]
    assert [other["message"][key] for key in told] == ["unknown", "unknown", "m"]
    assert other["message"]["content"][0] == {"type": "thinking", "thinking": "hm"}


@pytest.mark.parametrize("kept", [None, "e9", "gone"])
def test_a_compaction_that_keeps_nothing_names_nothing_that_is_there(kept: str | None) -> None:
    compaction = CompactionEntry("so far", kept, None, id="c", timestamp="2026-03-03T09:00:00Z")
    found = lines(PI, (), [entry("e1", role="user", content="a"), compaction])
    assert found[-1]["firstKeptEntryId"] not in [one["id"] for one in found]


@pytest.mark.parametrize(
    ("cwd", "expected"), [("/home/dev/p", "--home-dev-p--"), ("C:\\dev\\p", "--C--dev-p--"), ("", "----")]
)
def test_a_directory_is_named_as_the_agent_names_it(cwd: str, expected: str) -> None:
    assert directory(cwd) == expected


def test_a_session_is_resumed_by_its_file() -> None:
    made = composed(PI, (), [entry("e1", role="user", content="a")])
    assert str(made.path) == f"sessions/--home-dev-project--/2026-03-03T09-00-00-000Z_{ID}.jsonl"
    assert made.resume(PurePath("/x/y.jsonl")) == ("pi", "--session", "/x/y.jsonl")
