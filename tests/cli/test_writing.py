"""new, append, fork."""

import json
import uuid
from pathlib import Path

import pytest

from .conftest import Result, Run


def test_new_makes_the_store_and_prints_the_id(gitsession: Run, store_path: Path) -> None:
    assert gitsession("new", "--id", "mine", "--title", "My own") == Result(0, "mine\n", "")
    assert uuid.UUID(gitsession("new").out.strip()).version == 4
    assert (store_path / "HEAD").is_file()
    (made,) = gitsession("new", "--id", "third", "--json").values
    assert (made["id"], made["deltas"], made["head"]) == ("third", 0, None)


def test_append_reads_messages_from_stdin_as_one_commit(gitsession: Run) -> None:
    gitsession("new", "--id", "s")
    done = gitsession("append", "s", stdin='{"role":"user","content":"a"}\n{"role":"user","content":"b"}\n')
    assert (done.code, done.err) == (0, "")
    (found,) = gitsession("list", "--json").values
    assert (found["deltas"], found["head"]) == (1, done.out.strip())
    (told,) = gitsession("append", "s", "--text", "c", "--json").values
    assert told == {"commit_id": gitsession("list", "--json").values[0]["head"], "messages": 1}
    assert [message["content"] for message in gitsession("export", "s", "--format", "messages").values] == [*"abc"]


def test_append_takes_a_text_and_its_role(gitsession: Run) -> None:
    gitsession("new", "--id", "s")
    gitsession("append", "s", "--text", "Hello")
    gitsession("append", "s", "--role", "assistant", "--text", "Hi")
    assert gitsession("export", "s", "--format", "verbatim").values == [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi"},
    ]


def test_a_parent_that_is_not_the_head_is_refused_with_both_heads_shown(gitsession: Run, fix_login: str) -> None:
    done = gitsession("append", "fix-login", "--parent", "c1", "--text", "late")
    assert (done.code, done.out) == (11, "")
    assert "'c1'" in done.err
    assert "'c3'" in done.err


def test_an_empty_parent_is_that_of_a_session_without_commits(gitsession: Run, fix_login: str) -> None:
    assert gitsession("append", "brand-new", "--parent", "", "--text", "first").code == 0
    done = gitsession("append", "fix-login", "--parent", "", "--text", "first")
    assert (done.code, done.out) == (11, "")
    assert "--parent '' is for one without commits" in done.err
    gitsession("new", "--id", "empty")
    assert "has no commits yet" in gitsession("append", "empty", "--parent", "c1", "--text", "first").err


def test_the_same_commit_again_is_stored_once(gitsession: Run, fix_login: str) -> None:
    again = ("append", "fix-login", "--parent", "c3", "--id", "c4", "--text", "once")
    assert gitsession(*again) == gitsession(*again) == Result(0, "c4\n", "")
    assert gitsession("list", "--json").values[0]["deltas"] == 5


@pytest.mark.parametrize(
    "arguments", [["--role", "user"], ["--id", "x", "--text", "a"], ["--role", "tool", "--text", "a"]]
)
def test_options_that_do_not_go_together_are_refused(gitsession: Run, fix_login: str, arguments: list[str]) -> None:
    done = gitsession("append", "fix-login", *arguments)
    assert (done.code, done.out) == (2, "")


def test_a_fault_on_stdin_is_told_with_line_and_column_and_nothing_is_written(gitsession: Run, fix_login: str) -> None:
    before = gitsession("list", "--json").out
    done = gitsession("append", "fix-login", stdin='{"role":"user"}\n{"role":}\n')
    assert done == Result(10, "", "gitsession: stdin, line 2, column 9: expected a value; nothing was written\n")
    assert gitsession("append", "fix-login", "--json", stdin="[").error["column"] == 2
    assert gitsession("list", "--json").out == before


def test_a_streaming_message_is_refused(gitsession: Run, fix_login: str) -> None:
    assert gitsession("append", "fix-login", stdin=json.dumps({"role": "user", "streaming": True})).code == 10


def test_fork_goes_on_from_an_earlier_commit(gitsession: Run, fix_login: str) -> None:
    assert gitsession("fork", "fix-login", "other", "--at", "#1") == Result(0, "other\n", "")
    assert gitsession("export", "other").out == gitsession("export", "fix-login", "--at", "#1").out
    (made,) = gitsession("fork", "fix-login", "--title", "Third", "--json").values
    assert (made["title"], made["deltas"], made["parent_session"]) == ("Third", 4, "fix-login")
    assert uuid.UUID(made["id"]).version == 4
