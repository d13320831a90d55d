"""pi: what a file and its records tell about the session."""

from pathlib import PurePath
from typing import Any

import pytest
from pi_logs import PI, entry, message, user
from transcript_files import FIXTURES, header_of, records_of

from gitsession.transcripts import Record, recognise


def header(name: str) -> dict[str, Any]:
    (path,) = (FIXTURES / "pi").glob(f"{name}.jsonl")
    return header_of(PI, path, records_of(path))


def test_a_session_is_named_by_its_header() -> None:
    found = header("2026-*")
    assert found == {
        "id": "fef4d610-4b0c-5e45-bbe5-81526943d03c",
        "created_at": "2026-03-02T10:00:03.111Z",
        "agent": "pi",
        "cwd": "/home/dev/project",
        "title": "What does `slugify` do with umlauts?",
        "title_from": "prompt",
    }


@pytest.mark.parametrize(("name", "expected"), [("2026-03-02T10-00-03-111Z_abc.jsonl", "abc"), ("tau.jsonl", "tau")])
def test_without_a_header_the_name_of_the_file_tells(name: str, expected: str) -> None:
    assert PI.header(PurePath("/home/dev") / name, user("u1", None, "one"))["id"] == expected


def test_a_name_stands_against_the_first_prompt() -> None:
    assert header("tools")["title"] == "The failing test"
    known = PI.learn({"title": "named", "title_from": "name"}, user("u1", None, "one"))
    assert known["title"] == "named"
    assert PI.learn(known, entry("i", None, "session_info", name="again"))["title"] == "again"
    assert PI.learn(known, entry("i", None, "session_info", name=""))["title"] == "named"


@pytest.mark.parametrize("directory", ["/home/dev/.pi/agent/sessions/--p--/", "C:\\Users\\dev\\", ""])
def test_a_fork_knows_its_origin(directory: str) -> None:
    first = Record(b"", {"type": "session", "id": "f", "parentSession": f"{directory}2026-03-02T10-00-03-111Z_s.jsonl"})
    found = PI.header(PurePath("a.jsonl"), first)
    assert (found["parent_session"], found["origin"]) == ("s", {"session": "s"})


def test_sessions_of_tau_are_told_by_their_entries() -> None:
    found = header("tau")
    assert (found["id"], found["title"], found["cwd"]) == ("tau", "A walk through the modules", "/home/dev/project")
    assert found["created_at"] == "2026-03-02T10:00:01.500Z"


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (user("u", None, "a"), ("user", "a")),
        (message("t", None, "toolResult", [{"type": "text", "text": "a"}], toolCallId="c"), ("tool", "a")),
        (message("b", None, "bashExecution", None, command="a", output="b"), ("user", "! a\nb")),
        (message("b", None, "bashExecution", None, command="a", excludeFromContext=True), ("meta", "! a")),
        (message("e", None, "assistant", [], errorMessage="overloaded"), ("meta", "error: overloaded")),
        (message("c", None, "custom", "a"), ("meta", "a")),
        (entry("c", None, "custom_message", content="a"), ("meta", "a")),
        (entry("c", None, "compaction", summary="a"), ("system", "[Conversation summary]\na")),
        (entry("m", None, "model_change", provider="p", modelId="a"), ("meta", "model_change: a")),
        (Record(b"", {"type": "model_change", "model": "a"}), ("meta", "model_change: a")),
        (Record(b"", {"type": "session", "id": "a"}), ("meta", "session: a")),
        (Record(b"", {"type": "unheard_of", "x": 1}), ("meta", 'unheard_of: {"type":"unheard_of","x":1}')),
        (Record(b"no JSON", problem="it is no JSON"), ("meta", "not a record: no JSON")),
    ],
)
def test_who_speaks(one: Record, expected: tuple[str, str]) -> None:
    shown = PI.view(one)
    assert (shown.who, "\n".join(part.text for part in shown.parts)) == expected


@pytest.mark.parametrize(
    "head",
    [
        b'{"type":"session_start","id":"a"}\n{"type":"message","id":"b","parentId":"a","message":{"role":"user"}}\n',
        b'{"type":"message","id":"b","timestamp":"2026-03-02T10:00:00Z","message":{"role":"user","content":"a"}}\n',
        b'{"type":"message","role":"user","content":"a"}\n',
        b'{"type":"session","version":3,"id":"a","timestamp":"2026-03-02T10:00:00Z"}\n{"type":"other"}\n',
    ],
)
def test_the_entries_of_other_agents_are_not_taken_for_its_own(head: bytes) -> None:
    assert not PI.recognise(head, "a.jsonl")


def test_a_header_alone_is_a_session() -> None:
    head = b'{"type":"session","version":3,"id":"a","timestamp":"2026-03-02T10:00:00Z","cwd":"/home/dev"}\n'
    assert recognise(head, "a.jsonl") is PI
