"""Rollouts for Codex: forks of its own sessions, and sessions of others."""

import json
from typing import Any

import pytest
from codex_logs import CODEX
from compositions import ID, composed, draft, lines, stored
from transcript_files import FIXTURES

from gitsession.model import CompactionEntry, MessageEntry, SessionMeta
from gitsession.transcripts import Record
from gitsession.transcripts.codex_compose import compose

DIRECTORY = FIXTURES / "codex"


def fixture(name: str) -> list[Record]:
    (path,) = DIRECTORY.glob(f"{name}.jsonl")
    return stored(path)


def entry(own: str, **message: Any) -> MessageEntry:
    return MessageEntry(message, id=own, timestamp="2026-03-03T09:00:00Z")


def kinds(found: list[Any]) -> list[str]:
    return [one["payload"].get("type") or one["type"] for one in found]


def test_a_fork_repeats_its_origin_below_a_header_of_its_own() -> None:
    path = next(DIRECTORY.glob("rollout-2026-*0a.jsonl"))
    header, _, rest = b"".join(composed(CODEX, stored(path)).lines).partition(b"\n")
    assert rest == path.read_bytes()
    meta = json.loads(header)["payload"]
    assert (meta["id"], meta["forked_from_id"]) == (ID, "5a0a8146-c4b6-5b2b-b783-24d01ba2ba0a")
    assert meta["git"]["branch"] == "main"


def test_numbers_of_records_go_on_in_a_fork() -> None:
    added = [entry("e1", role="user", content="Go on")]
    found = lines(CODEX, fixture("*page2"), added)
    assert [one["type"] for one in found].count("session_meta") == 1
    meta = found[0]["payload"]
    assert (meta["id"], meta["history_mode"], meta["history_base"]["end_ordinal_exclusive"]) == (ID, "paginated", 5)
    numbers = [one["ordinal"] for one in found]
    assert numbers[0] == 5
    assert numbers == sorted(set(numbers))


def test_an_early_rollout_is_written_as_a_newer_one() -> None:
    found = lines(CODEX, fixture("early"))
    assert {one["type"] for one in found} == {"session_meta", "response_item", "event_msg"}
    assert found[0]["payload"]["forked_from_id"] == "21ab2d1d-b704-5843-9dde-e458aec829d1"
    # What was typed is told by events, as the agent wants it.
    assert kinds(found).count("user_message") == 2


def test_a_forked_subagent_is_a_session() -> None:
    meta = lines(CODEX, fixture("subagent"))[0]["payload"]
    assert meta["source"] == "cli"
    assert not {"parent_thread_id", "agent_nickname", "thread_source"} & meta.keys()


def test_lines_that_are_no_records_are_left_out() -> None:
    assert all("payload" in one for one in lines(CODEX, fixture("oddities")))


def test_messages_become_items_and_the_events_beside_them() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "shell", "arguments": '{"a": 1}'}}]
    entries = [
        entry("e1", role="system", content="Be brief."),
        entry("e2", role="user", content="Look"),
        entry("e3", role="assistant", content="I look.", reasoning="hm", tool_calls=calls, model="m"),
        entry("e4", role="tool", content="no", tool_call_id="c1", is_error=True),
        entry("e5", role="user", content="injected", meta=True),
    ]
    found = lines(CODEX, (), entries)
    assert kinds(found) == [
        "session_meta",
        "message",
        "task_started",
        "message",
        "user_message",
        "agent_reasoning",
        "agent_message",
        "message",
        "function_call",
        "function_call_output",
        "message",
        "task_complete",
    ]
    assert found[1]["payload"]["role"] == "developer"
    assert found[8]["payload"] == {"type": "function_call", "name": "shell", "arguments": '{"a": 1}', "call_id": "c1"}
    assert (found[8]["model"], found[9]["is_error"]) == ("m", True)
    assert found[10]["payload"]["role"] == "user"


def test_a_compaction_carries_what_it_kept() -> None:
    entries = [
        entry("e1", role="user", content="one"),
        entry("e2", role="user", content="two"),
        CompactionEntry("so far", "e2", None, id="c", timestamp="2026-03-03T09:00:00Z"),
    ]
    compacted = lines(CODEX, (), entries)[-1]
    said = [one["content"][0]["text"] for one in compacted["payload"]["replacement_history"]]
    assert (compacted["type"], said) == ("compacted", ["so far", "two"])


def test_a_rollout_lies_where_its_time_says() -> None:
    path = composed(CODEX, (), [entry("e", role="user", content="a")]).path
    assert str(path) == f"sessions/2026/03/03/rollout-2026-03-03T09-00-00-{ID}.jsonl"


@pytest.mark.parametrize(("own", "thread"), [("abc", "abc"), ("abc_page2", "abc")])
def test_a_whole_session_is_resumed_by_its_own_id(own: str, thread: str) -> None:
    made = draft(CODEX)
    whole = made.__class__(
        SessionMeta(own, created_at="2026-03-02T09:00:00Z"), ID, made.cwd, fixture("tools"), (), whole=True
    )
    assert compose(whole).resume(compose(whole).path) == ("codex", "resume", thread)
    assert compose(whole).path.name == f"rollout-2026-03-02T09-00-00-{own}.jsonl"
