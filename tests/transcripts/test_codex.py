"""Codex CLI: what a file and its records tell about the session."""

from pathlib import PurePath
from typing import Any

import pytest
from codex_logs import CODEX, answer, event, given, item, record, typed
from transcript_files import FIXTURES, header_of, records_of

from gitsession.transcripts import Record, recognise
from gitsession.transcripts.codex_records import prompt

SIMPLE = "rollout-2026-03-02T10-00-00-5a0a8146-c4b6-5b2b-b783-24d01ba2ba0a"


def header(name: str) -> dict[str, Any]:
    path = FIXTURES / "codex" / f"{name}.jsonl"
    return header_of(CODEX, path, records_of(path))


def meta(**fields: Any) -> Record:
    return record("session_meta", {"id": "s", **fields})


def test_a_session_is_named_by_its_first_record() -> None:
    assert header(SIMPLE) == {
        "id": "5a0a8146-c4b6-5b2b-b783-24d01ba2ba0a",
        "agent": "codex",
        "created_at": "2026-03-02T09:00:00.000Z",
        "cwd": "/home/dev/project",
        "git_branch": "main",
        "title": "What does `slugify` do with umlauts?",
    }


@pytest.mark.parametrize(
    ("name", "first", "expected"),
    [
        ("rollout-2026-03-02T10-00-00-s.jsonl", meta(), "s"),
        ("rollout-2026-03-02T10-00-00-s_page2.jsonl", meta(), "s_page2"),
        ("renamed.jsonl", meta(), "s"),
        ("rollout-2026-03-02T10-00-00-other.jsonl", meta(), "s"),
        ("rollout-2026-03-02T10-00-00-s.jsonl", event("user_message", message="x"), "s"),
        ("renamed.jsonl", event("user_message", message="x"), "renamed"),
        ("renamed.jsonl", Record(b"", {"id": "e", "timestamp": "t", "instructions": None}), "e"),
    ],
)
def test_the_name_of_the_file_says_what_the_record_does_not(name: str, first: Record, expected: str) -> None:
    assert CODEX.header(PurePath("/home/dev") / name, first)["id"] == expected


def test_the_first_header_counts_and_later_ones_are_of_the_origin() -> None:
    found = header("forked")
    assert found["parent_session"] == header("rollback")["id"]
    assert found["origin"] == {"session": header("rollback")["id"]}
    assert found["id"] not in (header("rollback")["id"], found["parent_session"])


def test_a_fork_that_only_points_to_its_origin_says_where_in_it_it_begins() -> None:
    found = header("rollout-2026-03-02T10-00-00-a6724f64-e8ae-5656-bb7b-335d2e70edcc_page2")
    assert found["origin"] == {"session": header("rollback")["id"], "end_ordinal_exclusive": 5}


def test_a_subagent_knows_its_session() -> None:
    found = header("subagent")
    assert (found["parent_session"], found["agent_name"]) == (header("tools")["id"], "Ada")
    assert "origin" not in found


def test_an_early_session_tells_its_directory_in_its_context() -> None:
    assert header("early")["cwd"] == "/home/dev/project"


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (event("user_message", message="  typed "), "typed"),
        (event("user_message", message="# Context from my IDE setup:\n\n## My request for Codex:\ntyped"), "typed"),
        (given("may be injected"), ""),
        (Record(b"", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]}), "a"),
        (answer("a")[0], ""),
        (Record(b"", {"type": "message", "role": "assistant", "content": "a"}), ""),
    ],
)
def test_a_title_is_what_a_person_typed(one: Record, expected: str) -> None:
    assert prompt(one.value) == expected


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (typed("a")[0], ("meta", "a")),
        (typed("a")[1], ("user", "a")),
        (answer("a")[0], ("meta", "agent_message: a")),
        (answer("a")[1], ("assistant", "a")),
        (item("function_call_output", call_id="c", output="a"), ("tool", "a")),
        (item("web_search_call", action={"query": "a"}), ("assistant", '{"query":"a"}')),
        (item("ghost_snapshot", ghost_commit={}), ("meta", 'ghost_snapshot: {"ghost_commit":{}}')),
        (event("thread_rolled_back", num_turns=1), ("meta", "thread_rolled_back: 1 turn")),
        (event("thread_rolled_back", num_turns=2), ("meta", "thread_rolled_back: 2 turns")),
        (record("compacted", {"message": "a"}), ("system", "[Conversation summary]\na")),
        (record("turn_context", {"model": "m"}), ("meta", "turn_context: m")),
        (record("unheard_of", {"a": 1}), ("meta", 'unheard_of: {"a":1}')),
        (Record(b"", {"record_type": "state"}), ("meta", 'state: {"record_type":"state"}')),
        (Record(b"", {"id": "e", "timestamp": "t", "instructions": ""}), ("meta", "session_meta: e")),
        (Record(b"no JSON", problem="it is no JSON"), ("meta", "not a record: no JSON")),
    ],
)
def test_what_is_said_twice_is_shown_once(one: Record, expected: tuple[str, str]) -> None:
    shown = CODEX.view(one)
    assert (shown.who, "\n".join(part.text for part in shown.parts)) == expected


def test_a_file_without_its_header_is_told_by_its_name() -> None:
    path = next((FIXTURES / "codex").glob("rollout-2025-*"))
    found = [recognise(path.read_bytes(), name) for name in (path.name, "renamed.jsonl")]
    assert [one.name for one in found if one is not None] == ["codex", "chat"]
