"""Claude Code: what a file and its records tell about the session."""

import json
from pathlib import Path, PurePath

import pytest
from transcript_files import FIXTURES, header_of, read, records_of

from gitsession.transcripts import FORMATS, Record

CLAUDE_CODE = FORMATS["claude-code"]
PARENT = "259f67b4-bca3-54b6-8738-53e52c4d1610"


def header(name: str) -> dict[str, object]:
    path = FIXTURES / "claude-code" / name
    return header_of(CLAUDE_CODE, path, records_of(path))


def learned(*values: dict[str, object]) -> list[object]:
    """Returns the title after each of the records."""
    known = {"id": "s"}
    titles = []
    for value in values:
        known = dict(CLAUDE_CODE.learn(known, Record(b"", value)))
        titles.append(known.get("title"))
    return titles


def prompt(text: str, **fields: object) -> dict[str, object]:
    return {"type": "user", "message": {"role": "user", "content": text}, **fields}


def test_a_session_is_named_by_its_file() -> None:
    assert header("simple.jsonl") == {
        "id": "simple",
        "created_at": "2026-03-02T09:00:03.111Z",
        "agent": "claude-code",
        "cwd": "/home/dev/project",
        "git_branch": "main",
        "title": "What does `slugify` do with umlauts?",
        "title_from": "prompt",
    }


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (f"{PARENT}/subagents/agent-3f9a1c.jsonl", f"{PARENT}/agent-3f9a1c"),
        (f"{PARENT}/subagents/workflows/wf_1/agent-3f9a1c.jsonl", f"{PARENT}/workflows/wf_1/agent-3f9a1c"),
        ("agent-3f9a1c.jsonl", f"{PARENT}/agent-3f9a1c"),
    ],
)
def test_a_subagent_is_named_below_its_session(path: str, expected: str) -> None:
    first = Record(b"", {"type": "user", "sessionId": PARENT})
    header = CLAUDE_CODE.header(PurePath("/home/dev") / path, first)
    assert (header["id"], header["parent_session"]) == (expected, PARENT)


def test_a_session_in_a_directory_that_is_called_subagents_is_none() -> None:
    header = CLAUDE_CODE.header(PurePath("/home/subagents/a.jsonl"), Record(b"", {"sessionId": "b"}))
    assert header["id"] == "a"
    assert "parent_session" not in header


def test_the_first_header_does_not_depend_on_what_follows() -> None:
    path = FIXTURES / "claude-code" / "titles.jsonl"
    content = path.read_bytes()
    first = content[: content.index(b"\n") + 1]
    assert CLAUDE_CODE.header(path, read(CLAUDE_CODE, first)[0]) == CLAUDE_CODE.header(path, records_of(path)[0])


def test_a_fork_knows_its_origin() -> None:
    found = header("forked.jsonl")
    assert found["parent_session"] == "8fb2888c-b270-5871-96bd-d72182b6c41d"
    assert found["origin"] == {"session": found["parent_session"], "record": "55347da6-d1ee-56b4-933c-981a303961fb"}


def test_a_title_gives_way_only_to_one_that_is_no_weaker() -> None:
    assert learned(
        prompt("first prompt"),
        prompt("second prompt"),
        {"type": "summary", "summary": "a summary"},
        {"type": "summary", "summary": "a later summary"},
        {"type": "ai-title", "aiTitle": "made up"},
        {"type": "summary", "summary": "too late"},
        {"type": "custom-title", "customTitle": "chosen"},
        {"type": "ai-title", "aiTitle": "too late as well"},
        {"type": "custom-title", "customTitle": ""},
        {"type": "custom-title", "customTitle": "chosen anew"},
    ) == [
        "first prompt",
        "first prompt",
        "a summary",
        "a later summary",
        "made up",
        "made up",
        "chosen",
        "chosen",
        "chosen",
        "chosen anew",
    ]


@pytest.mark.parametrize(
    "value",
    [
        prompt("injected", isMeta=True),
        prompt("what was said before", isCompactSummary=True),
        prompt("<local-command-stdout>ok</local-command-stdout>"),
        prompt("[Request interrupted by user]"),
        {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]}},
        {"type": "assistant", "message": {"role": "assistant", "content": "an answer"}},
        {"type": "user", "message": "no message"},
        {"type": "user"},
        {},
    ],
)
def test_what_no_person_typed_is_no_title(value: dict[str, object]) -> None:
    assert learned(value) == [None]


def test_a_record_without_news_gives_back_the_same_header() -> None:
    known = {"id": "s", "title": "t", "title_from": "custom", "created_at": "2026", "cwd": "/", "git_branch": "main"}
    assert CLAUDE_CODE.learn(known, Record(b"", prompt("a prompt", cwd="/elsewhere"))) is known
    assert CLAUDE_CODE.learn(known, Record(b"", None)) is known


def test_a_line_of_20_mb_is_read() -> None:
    value = {
        "type": "user",
        "uuid": "u",
        "parentUuid": None,
        "sessionId": "s",
        "message": {"content": "x" * (20 << 20)},
    }
    line = json.dumps(value).encode() + b"\n"
    (record,) = read(CLAUDE_CODE, line)
    assert record.id == "u"
    assert CLAUDE_CODE.recognise(line[: 64 << 10], "s.jsonl")
    assert len(CLAUDE_CODE.fold([record])) == 1


def test_a_meta_file_of_a_subagent_is_no_transcript() -> None:
    (path,) = Path(FIXTURES / "claude-code").rglob("*.meta.json")
    assert not CLAUDE_CODE.recognise(path.read_bytes(), path.name)
