"""The commands that sync, and what the list shows of the other side."""

import json
import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitsession import Store, add_remote, new_commit, pull, push

from .conftest import COMMAND, Result, Run


def say(store: Store, session_id: str, text: str) -> None:
    session = store.bind(session_id)
    session.commit(new_commit(session.load().head, [{"role": "user", "content": text}]))


@pytest.fixture
def server(tmp_path: Path) -> Store:
    return Store.init(tmp_path / "server.git", durable=False)


@pytest.fixture
def ours(gitsession: Run, store: Store, server: Store) -> Store:
    """Returns the store of the command, which has a session `s` and a remote."""
    say(store, "s", "one")
    assert gitsession("remote", "add", "origin", server.path) == Result(0, "", "")
    return store


@pytest.fixture
def theirs(tmp_path: Path, server: Store) -> Store:
    """Returns another clone of the server."""
    made = Store.init(tmp_path / "theirs.git", durable=False)
    add_remote(made, "origin", str(server.path))
    return made


def test_sessions_are_pushed_and_what_moved_is_printed(gitsession: Run, ours: Store, server: Store) -> None:
    assert gitsession("push", "--dry-run") == Result(0, "would make there  s\n", "")
    assert gitsession("push") == Result(0, "made there   s\n", "")
    assert gitsession("push") == Result(0, "Nothing to do: both sides are the same\n", "")
    say(server, "t", "one")
    told = gitsession("sync", "--json").values
    oid = server.info("t").oid
    expected = {"session": "t", "action": "pull", "status": "new", "old": None, "new": oid, "reason": None}
    assert told == [expected]


def test_a_dry_run_says_what_would_be_done(gitsession: Run, ours: Store, server: Store, theirs: Store) -> None:
    say(server, "t", "one")
    assert gitsession("fetch", "-n") == Result(0, "would fetch       t\n", "")
    assert gitsession("sync", "-n") == Result(0, "would make here   t\nwould make there  s\n", "")
    gitsession("sync")
    say(ours, "s", "two here")
    say(server, "t", "two")
    assert gitsession("sync", "-n") == Result(0, "would move here   t\nwould move there  s\n", "")
    pull(theirs)
    say(theirs, "s", "two there")
    push(theirs)
    told = gitsession("pull", "-n")
    assert told.out == "would move here   t\n"
    assert told.err.endswith("\ngitsession: 1 session would not be synced; all others would be\n")


@pytest.mark.parametrize("command", ["pull", "fetch", "sync"])
def test_without_a_store_to_pull_into_it_is_cloned(gitsession: Run, store_path: Path, command: str) -> None:
    told = f"gitsession: {store_path}: there is no store; `gitsession --store {store_path} clone URL` makes one\n"
    assert gitsession(command) == Result(3, "", told)
    assert "init` makes one" in gitsession("push").err


def test_a_diverged_session_is_told_and_stands_in_the_list_beside_its_own(
    gitsession: Run, ours: Store, theirs: Store
) -> None:
    gitsession("push")
    pull(theirs)
    say(theirs, "s", "two there")
    push(theirs)
    say(ours, "s", "two here")
    done = gitsession("sync")
    assert (done.code, done.out) == (23, "")
    assert done.err.startswith("s: diverged: it went on on both sides")
    assert done.err.endswith("\ngitsession: 1 session not synced; all others are\n")
    lines = gitsession("list").out.splitlines()
    assert lines[1].split()[0] == "s"
    assert lines[2].split() == ["s@origin", "diverged:", "1", "of", "its", "own,", "1", "here"]
    beside = gitsession("list", "--json").values[1]
    assert {key: beside[key] for key in ("id", "session", "remote", "ours", "theirs", "diverged", "branch")} == {
        "id": "s@origin",
        "session": "s",
        "remote": "origin",
        "ours": 1,
        "theirs": 1,
        "diverged": True,
        "branch": "origin/s",
    }
    assert "two there" in gitsession("show", "s@origin").out
    assert "two there" in gitsession("log", "s@origin").out
    assert "two there" in gitsession("export", "s@origin").out
    assert gitsession("diff", "s", "s@origin", "--json").values[0]["b"] == "s@origin"
    assert gitsession("fork", "s@origin", "theirs").out == "theirs\n"
    told = gitsession("sync", "--json")
    assert told.code == 23
    assert [value["status"] for value in told.values] == ["diverged", "new"]
    assert told.error["error"] == "Diverged"
    assert [*told.error["refused"]] == ["s"]
    assert gitsession("append", "s@origin", "--text", "no").code == 9


def test_what_only_a_remote_has_is_listed_as_such(gitsession: Run, ours: Store, server: Store) -> None:
    say(server, "t", "one")
    assert gitsession("fetch", "t") == Result(0, "known now    t\n", "")
    assert gitsession("list").out.splitlines()[-1].split() == ["t@origin", "1", "delta;", "not", "here"]
    assert gitsession("list", "-n", "1", "--json").values[-1]["id"] == "s"
    assert [value["id"] for value in gitsession("list", "-n", "2", "--json").values] == ["s", "t@origin"]
    assert gitsession("pull", "t*") == Result(0, "made here    t\n", "")
    say(server, "t", "two")
    gitsession("fetch")
    assert "ahead: 1 of its own" in gitsession("list").out


def test_a_remote_is_listed_without_fetching(gitsession: Run, ours: Store, server: Store) -> None:
    say(server, "t", "one")
    oid = server.info("t").oid
    assert gitsession("list", "--remote", "origin").out == f"SESSION  HERE    COMMIT\nt        absent  {oid[:10]}\n"
    assert gitsession("list", "--remote", "origin", "--json").values == [
        {"id": "t", "branch": "t", "oid": oid, "here": "absent"}
    ]


def test_remotes_are_added_listed_and_removed(gitsession: Run, ours: Store, server: Store) -> None:
    gitsession("push")
    assert gitsession("remote").out == f"origin  {server.path}  1 session\n"
    assert gitsession("remote", "list", "--json").values == [{"name": "origin", "url": str(server.path), "sessions": 1}]
    assert gitsession("remote", "add", "origin", "x").code == 25
    assert gitsession("remote", "add", "x", "ext::sh -c true").code == 26
    assert gitsession("remote", "remove", "nobody").code == 24
    for wrong in (["add"], ["add", "x"], ["remove"], ["list", "x"], ["remove", "x", "y"]):
        assert gitsession("remote", *wrong).code == 2
    say(server, "t", "one")
    gitsession("fetch")
    assert gitsession("remote", "remove", "origin").code == 22
    assert gitsession("remote", "remove", "origin", "--force") == Result(0, "", "")
    assert gitsession("remote").out == ""


def test_a_clone_is_made_where_the_store_is_to_be(
    gitsession: Run, server: Store, store_path: Path, tmp_path: Path
) -> None:
    say(server, "s", "one")
    say(server, "t", "one")
    assert gitsession("clone", server.path) == Result(0, f"{store_path}\n", "")
    assert sorted(value["id"] for value in gitsession("list", "--json").values) == ["s", "t"]
    done = gitsession("clone", server.path, tmp_path / "part.git", "--session", "t", "--json")
    assert done.values[0]["sessions"] == 1
    assert gitsession("clone", server.path).code == 3


def test_what_cannot_be_reached_has_exit_codes_of_its_own(gitsession: Run, ours: Store, server: Store) -> None:
    server.path.rename(server.path.with_name("away"))
    for command in (["push"], ["pull"], ["fetch"], ["sync"], ["list", "--remote", "origin"]):
        done = gitsession(*command)
        assert (done.code, done.out, done.err.count("\n")) == (20, "", 1)
        assert gitsession(*command, "--json").error["remote"] == "origin"
    assert gitsession("pull", "--remote", "nobody").code == 24
    assert gitsession("push", "nobody").code == 5


def test_what_was_asked_for_and_is_not_there_is_told(gitsession: Run, ours: Store, server: Store) -> None:
    say(server, "t", "one")
    for name in ("nobody", "no-*"):
        for command in ("push", "sync"):
            told = f"gitsession: there is no session {name!r}; `gitsession list` shows those there are\n"
            assert gitsession(command, name) == Result(5, "", told)
        for command in ("fetch", "pull"):
            assert gitsession(command, name) == Result(5, "", f"gitsession: 'origin' has no session {name!r}\n")
            assert gitsession(command, name, "--json").error["remote"] == "origin"
    done = gitsession("fetch", "t", "no-*")
    assert (done.code, done.out) == (22, "known now    t\n")
    assert done.err == ("no-*: refused: origin has no such session\ngitsession: 1 session not synced; all others are\n")


def test_nothing_is_said_of_others_where_nothing_else_was_asked_for(
    gitsession: Run, ours: Store, server: Store
) -> None:
    say(server, "s", "other")
    done = gitsession("pull", "s")
    assert (done.code, done.out) == (23, "")
    assert done.err.endswith("\ngitsession: 1 session not synced\n")


def test_a_refused_push_sends_the_rest(gitsession: Run, ours: Store, server: Store) -> None:
    say(ours, "secret", "one")
    hook = server.path / "hooks" / "update"
    hook.parent.mkdir()
    hook.write_text('#!/bin/sh\ncase "$1" in *secret) exit 1;; esac\n')
    hook.chmod(0o755)
    done = gitsession("push")
    assert (done.code, done.out) == (22, "made there   s\n")
    assert done.err.startswith("secret: refused: origin refuses it: hook declined\n")


def test_a_bundle_is_written_and_imported(gitsession: Run, ours: Store, tmp_path: Path) -> None:
    bundle = tmp_path / "x.bundle"
    assert gitsession("bundle", bundle) == Result(0, "1 session written\n", "")
    assert gitsession("bundle", bundle, "s", "--json").values == [{"path": str(bundle), "sessions": ["s"]}]
    there = tmp_path / "there.git"
    assert gitsession("--store", there, "import", bundle) == Result(0, "made here    s\n", "")
    assert gitsession("--store", there, "import", bundle, "--json").values == []
    bundle.write_bytes(b"nonsense")
    done = gitsession("--store", there, "import", bundle)
    assert done == Result(28, "", f"gitsession: {bundle}: it is no git bundle, so there is nothing to import\n")
    assert gitsession("bundle", bundle).code == 28
    assert bundle.read_bytes() == b"nonsense"
    assert gitsession("bundle", bundle, "nobody").code == 5


def test_a_bundle_goes_to_stdout(process: Callable[..., Result], ours: Store, tmp_path: Path) -> None:
    (ours.path / "refs" / "heads" / "empty").write_text("")
    bundle = tmp_path / "x.bundle"
    for arguments in (["s"], ["s", "--json"], []):
        with bundle.open("wb") as out:
            child = subprocess.run(
                [*COMMAND, "bundle", "-", *arguments], stdout=out, stderr=subprocess.PIPE, check=False
            )
        told = child.stderr.decode().splitlines()
        if arguments:
            assert (child.returncode, told) == (0, [])
        else:
            assert (child.returncode, len(told)) == (22, 1)
            assert told[0].startswith("gitsession: '-': 'empty': it is damaged")
        there = tmp_path / f"there{len(arguments)}.git"
        assert process("--store", there, "import", bundle).out == "made here    s\n"
    assert process("bundle", "-", "nobody").out == ""
    assert not Path("-").exists()


def test_on_a_terminal_git_shows_its_progress(gitsession: Run, ours: Store) -> None:
    shown, theirs = pty.openpty()
    child = subprocess.Popen([*COMMAND, "push"], stdout=subprocess.PIPE, stderr=theirs, stdin=theirs)
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(shown, 4096):
            seen += chunk
    except OSError:
        pass  # how Linux tells that the other end is closed
    os.close(shown)
    assert child.stdout
    with child.stdout as out:
        assert out.read() == b"made there   s\n"
    assert child.wait(60) == 0
    assert b"Writing objects: 100%" in seen


def test_the_results_are_json_that_can_be_read_back(gitsession: Run, ours: Store) -> None:
    done = gitsession("push", "--json")
    assert [json.loads(line)["session"] for line in done.out.splitlines()] == ["s"]


def test_a_bundle_of_an_empty_store_is_refused_in_a_plain_sentence(gitsession: Run, tmp_path: Path) -> None:
    gitsession("init")
    told = "gitsession: the store has no sessions, so no bundle was written\n"
    assert gitsession("bundle", tmp_path / "x.bundle") == Result(5, "", told)
    assert "'nobody'" in gitsession("bundle", tmp_path / "x.bundle", "nobody").err
    assert not (tmp_path / "x.bundle").exists()


def test_a_bundle_without_what_is_damaged_tells_of_both(gitsession: Run, ours: Store, tmp_path: Path) -> None:
    (ours.path / "refs" / "heads" / "empty").write_text("")
    done = gitsession("bundle", tmp_path / "x.bundle")
    assert (done.code, done.out) == (22, "1 session written\n")
    assert "'empty': it is damaged: the ref refs/heads/empty is empty" in done.err
    pushed = gitsession("push")
    assert (pushed.code, pushed.out) == (22, "made there   s\n")
    assert "empty: refused: it is damaged here" in pushed.err
    for name in ("push", "bundle"):
        given = [name, *([tmp_path / "y.bundle"] if name == "bundle" else []), "empty"]
        assert (gitsession(*given).code, (tmp_path / "y.bundle").exists()) == (22, False)
