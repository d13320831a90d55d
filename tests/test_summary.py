"""The text of a commit: what it says, and that git and a terminal take it as it is meant."""

import re
import subprocess
import unicodedata
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitsession.summary import author, commit_message, git_time, header_message
from gitsession.view import Part, View, view

from .conftest import Git

TRAILERS = "Commit-Id: c-1\nDelta: 7\nSession: s%2F1\n"


def said(text: str, who: str = "user") -> View:
    return view({"role": who, "content": text})


def message(*views: View) -> str:
    return commit_message(views, commit_id="c-1", delta=7, session="s%2F1")


def subject(*views: View) -> str:
    return message(*views).split("\n")[0]


def body(*views: View) -> str:
    return "\n\n".join(message(*views).split("\n\n")[1:-1])


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory, git: Git) -> Path:
    path = tmp_path_factory.mktemp("git") / "any.git"
    git("init", "-q", "--bare", path)
    return path


def test_a_line_is_the_subject_and_is_not_repeated() -> None:
    expected = f"user: Fix the bug\n\n{TRAILERS}"
    assert expected == message(said("  Fix\t the   bug\n\n"))


def test_what_follows_the_first_line_is_the_body() -> None:
    expected = f"user: Fix the bug\n\n    in a.py\n\nSoon.\n\n{TRAILERS}"
    assert expected == message(said("\nFix the bug  \r\n\r\n    in a.py\n\n\n\nSoon.\n"))


def test_a_first_line_that_is_clipped_stands_whole_in_the_body() -> None:
    line = "word " * 20
    expected = f"user: {('word ' * 13).strip()}…\n\n{line.strip()}\n\n{TRAILERS}"
    assert expected == message(said(line))


def test_a_subject_has_72_characters_at_most() -> None:
    assert subject(said("a" * 66)) == "user: " + "a" * 66
    assert subject(said("a" * 67)) == "user: " + "a" * 65 + "…"
    assert subject(said("a" * 67), said("b")) == "user: " + "a" * 55 + "… (+1 more)"


def test_a_body_has_600_characters_at_most() -> None:
    assert body(said("first\n" + "a" * 600)) == "a" * 600
    assert body(said("first\n" + "a" * 601)) == "a" * 599 + "…"
    assert body(said("first\n" + "a" * 10_000_000)) == "a" * 599 + "…"


def test_several_messages_share_the_body() -> None:
    views = [said("Why?\nTell me."), said("Because.", "assistant"), view({"role": "user"})]
    expected = f"user: Why? (+2 more)\n\nuser: Why?\nTell me.\n\nassistant: Because.\n\nuser: (empty)\n\n{TRAILERS}"
    assert expected == message(*views)


def test_a_long_message_leaves_room_for_the_next() -> None:
    assert body(said("a" * 1000), said("b" * 1000)) == f"user: {'a' * 293}…\n\nuser: {'b' * 291}…"


def test_of_very_many_messages_the_body_shows_the_first() -> None:
    shown = body(*[said("x")] * 20_000)
    assert shown.startswith("user: x\n\nuser: x\n\n")
    assert shown.endswith("…")
    assert len(shown) <= 600
    assert subject(*[said("x")] * 20_000) == "user: x (+19999 more)"


def test_reasoning_is_told_only_where_there_is_nothing_else() -> None:
    thought = {"type": "thinking", "thinking": "hm"}
    call = {"type": "tool_use", "name": "now", "input": {}}
    assert message(view({"role": "assistant", "content": [thought, call]})) == f"assistant: now({{}})\n\n{TRAILERS}"
    assert message(view({"role": "assistant", "content": [thought]})) == f"assistant: [reasoning] hm\n\n{TRAILERS}"


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"role": "tool", "content": "a.py", "tool_call_id": "c"}, "tool: a.py"),
        ({"role": "tool", "content": "boom", "is_error": True}, "tool: [error] boom"),
        ({"role": "assistant", "tool_calls": [{"function": {"name": "ls", "arguments": "{}"}}]}, "assistant: ls({})"),
        ({"role": "user", "content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]}, None),
        ({"role": "user", "content": "today", "meta": True}, "meta: today"),
        ({"role": "user"}, "user: (empty)"),
        ({"a": 1}, 'meta: {"a":1}'),
    ],
)
def test_the_subject_tells_who_and_what(told: dict[str, Any], expected: str | None) -> None:
    assert (expected or "user: [image/png, 3 bytes]") == subject(view(told))


@pytest.mark.parametrize(
    ("character", "expected"),
    [
        ("\0", r"\x00"),
        ("\x1b", r"\x1b"),
        ("\r", r"\x0d"),
        ("\x7f", r"\x7f"),
        ("\x85", r"\x85"),
        ("\x9b", r"\x9b"),
        ("\u2028", r"\u2028"),
        ("\u202e", r"\u202e"),
        ("\u2067", r"\u2067"),
        ("\ud800", r"\ud800"),
        ("\ufffe", r"\ufffe"),
        ("\U0010ffff", r"\U0010ffff"),
        ("\U00020000", "\U00020000"),
        ("\N{GRINNING FACE}", "\N{GRINNING FACE}"),
        ("\xa0", "\xa0"),
        ("é", "é"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_as_an_escape(character: str, expected: str) -> None:
    assert f"user: a{expected}b\n\nc{expected}d\n\n{TRAILERS}" == message(said(f"a{character}b\nc{character}d"))


@pytest.mark.parametrize("line", ["# Title", "---", "--- a.py", "diff --git a b", "Index: a", "From a", "#"])
def test_a_line_that_git_would_misread_gets_a_blank_before_it(line: str) -> None:
    assert f"user: x\n\na\n {line}\nb\n\n{TRAILERS}" == message(said(f"x\na\n{line}\nb"))
    assert f"user: {line}" == subject(said(line))


def test_a_header_commit_has_a_subject_and_the_session() -> None:
    assert header_message("meta: New session", "s") == "meta: New session\n\nSession: s\n"
    assert header_message(" a\x1b \t b\nc", "s") == "a\\x1b b\n\nSession: s\n"
    assert header_message("a" * 80, "s") == "a" * 71 + "…\n\nSession: s\n"
    assert header_message("# a", "s") == "meta: # a\n\nSession: s\n"
    assert header_message("", "s") == "meta: (empty)\n\nSession: s\n"


SCISSORS = "# ------------------------ >8 ------------------------"
TEXT = st.text(st.characters() | st.sampled_from("\n\r\t #-:\0\x1b\u2028\ud800"), max_size=900) | st.lists(
    st.sampled_from(["---", "# a", SCISSORS, "Session: evil", "", "  ", "diff --git", "-- ", "a: b", "x"]), max_size=30
).map("\n".join)


@given(st.lists(st.builds(said, TEXT, st.sampled_from(["user", "assistant", "tool"])), min_size=1, max_size=3))
@example([said(f"a\n---\n{SCISSORS}\n\nSession: evil\nDelta: 9")])
def test_git_reads_any_text_as_it_was_written(repository: Path, git: Git, views: list[View]) -> None:
    text = message(*views)
    tree = git("mktree", cwd=repository)
    commit = git("-c", "user.name=a", "-c", "user.email=a", "commit-tree", tree.strip(), cwd=repository, stdin=text)
    stored = git("cat-file", "commit", commit.strip(), cwd=repository)
    assert text == stored.partition("\n\n")[2]
    assert git("interpret-trailers", "--parse", stdin=text) == TRAILERS
    assert text == git("stripspace", "--strip-comments", stdin=text)
    assert text.split("\n")[0] == git("log", "-1", "--format=%s", commit.strip(), cwd=repository).removesuffix("\n")


@given(st.lists(st.builds(said, TEXT), min_size=1, max_size=3))
def test_no_text_reaches_a_terminal_as_more_than_text(views: list[View]) -> None:
    text = message(*views)
    control = {mark for mark in text if unicodedata.category(mark) in {"Cc", "Cs", "Zl", "Zp"}}
    assert control <= {"\n", "\t"}
    assert not re.search("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", text)
    assert len(text.split("\n")[0]) <= 72
    assert len(text) <= 72 + 600 + len(TRAILERS) + 4


def test_the_author_is_who_spoke() -> None:
    assert author(View("user")) == ("user", "user@gitsession.invalid")
    assert author(View("tool", model="m")) == ("tool", "tool@gitsession.invalid")
    assert author(View("assistant", model="claude-x")) == ("claude-x", "assistant@gitsession.invalid")
    assert author(View("assistant")) == ("assistant", "assistant@gitsession.invalid")
    assert author(View("meta", model="m")) == ("meta", "meta@gitsession.invalid")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("<synthetic>", "synthetic"),
        ("a\nparent 1", "aparent 1"),
        ("a\0b\x1b", "ab"),
        (" .,:;<>\"\\'", "assistant"),
        ("m" * 200, "m" * 100),
        ("\ud800\u202e", "assistant"),
        ("模型", "模型"),
    ],
)
def test_a_models_name_is_made_safe_for_the_header(model: str, expected: str) -> None:
    assert expected == author(View("assistant", model=model))[0]


@given(st.text(max_size=30) | st.text(" .,:;<>\"\\'\n\0a", max_size=10))
def test_git_keeps_any_authors_name(repository: Path, git: Git, model: str) -> None:
    name, address = author(View("assistant", model=model))
    ident = subprocess.run(
        ["git", "var", "GIT_AUTHOR_IDENT"],
        env={
            "PATH": "/usr/bin:/bin",
            "GIT_AUTHOR_NAME": name,
            "GIT_AUTHOR_EMAIL": address,
            "GIT_AUTHOR_DATE": "@0 +0000",
        },
        cwd=repository,
        capture_output=True,
        check=True,
    )
    assert f"{name} <{address}> 0 +0000\n" == ident.stdout.decode()


@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2024-02-29T12:34:56Z", 1709210096),
        ("2024-02-29T12:34:56.999999Z", 1709210096),
        ("2024-02-29t12:34:56z", 1709210096),
        ("2024-02-29 12:34:56", 1709210096),
        ("2024-02-29T14:04:56+01:30", 1709210096),
        ("2024-02-29T04:34:56-0800", 1709210096),
        ("2016-12-31T23:59:60Z", 1483228800),
        ("1969-12-31T23:59:59Z", 0),
        ("0001-01-01T00:00:00+14:00", 0),
        ("2106-02-07T06:28:15Z", 2**32 - 1),
        ("2106-02-07T06:28:16Z", 2**32 - 1),
        ("9999-12-31T23:59:59-23:59", 2**32 - 1),
    ],
)
def test_a_time_is_read_in_any_zone_and_clamped(timestamp: str, expected: int) -> None:
    assert expected == git_time(timestamp, 5)


@pytest.mark.parametrize(
    "timestamp",
    [
        None,
        "",
        "yesterday",
        "2024-01-01",
        "2023-02-29T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "2024-01-01T24:00:00Z",
        "2024-01-01T00:60:00Z",
        "2024-01-01T00:00:61Z",
        "2024-01-01T00:00:00Z\n",
        "٢٠٢٤-01-01T00:00:00Z",
    ],
)
def test_a_time_that_cannot_be_read_is_the_fallback(timestamp: str | None) -> None:
    assert git_time(timestamp, 5) == 5


@given(st.integers(0, 2**32 - 1), st.integers(-1439, 1439))
def test_a_time_is_the_second_that_the_calendar_says(second: int, minutes: int) -> None:
    zone = timezone(timedelta(minutes=minutes))
    assert second == git_time(datetime.fromtimestamp(second, zone).isoformat(), -1)


@given(st.text() | st.from_regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"))
def test_no_time_is_outside_what_git_holds(timestamp: str) -> None:
    assert 0 <= git_time(timestamp, 0) < 2**32


def test_a_part_without_text_is_told_by_its_name() -> None:
    assert subject(View("assistant", (Part("tool_call", "", "now"),))) == "assistant: now()"
