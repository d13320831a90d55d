"""Sessions between two machines, through each kind of server."""

import subprocess

import pytest

from gitsession import Diverged, Store, clone, fetch, pull, push, remote_sessions, sync, verify
from tests.conftest import Git

from .conftest import Clones, Origin, said, say


def outcome(results: list) -> list[tuple[str, str, str]]:
    return [(result.session, result.action, result.status) for result in results]


def test_sessions_go_there_and_come_back(
    origin: Origin, clones: Clones, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ours = clones(origin)
    say(ours, "s", "one", "two")
    say(ours, "Zürich/1:2@home", "grüezi")
    assert outcome(push(ours)) == [("Zürich/1:2@home", "push", "new"), ("s", "push", "new")]
    theirs = clone(origin.url, tmp_path_factory.mktemp("there") / "clone.git", durable=False)
    assert said(theirs, "s") == ["one", "two"]
    assert said(theirs, "Zürich/1:2@home") == ["grüezi"]
    say(theirs, "s", "three")
    say(theirs, "t", "new there")
    assert outcome(sync(theirs)) == [("s", "push", "moved"), ("t", "push", "new")]
    assert outcome(sync(ours)) == [("s", "pull", "moved"), ("t", "pull", "new")]
    assert said(ours, "s") == ["one", "two", "three"]
    assert (pull(ours), push(ours), sync(ours), sync(theirs)) == ([], [], [], [])
    assert [*verify(ours)] == [*verify(theirs)] == [*verify(origin.store)] == []


def test_a_session_that_went_on_on_both_sides_stays_as_it_is_on_both(some_origin: Origin, clones: Clones) -> None:
    ours, theirs = clones(some_origin), clones(some_origin)
    say(ours, "s", "one")
    push(ours)
    pull(theirs)
    say(theirs, "s", "two there")
    push(theirs)
    say(ours, "s", "two here", "three here")
    say(ours, "other", "goes out all the same")
    for attempt in (pull, sync):
        with pytest.raises(Diverged) as told:
            attempt(ours)
        assert [*told.value.refused] == ["s"]
    assert said(ours, "s") == ["one", "two here", "three here"]
    assert said(ours, "s@origin") == ["one", "two there"]
    assert said(some_origin.store, "s") == ["one", "two there"]
    assert said(some_origin.store, "other") == ["goes out all the same"]
    found = [(side.id, side.ours, side.theirs, side.diverged) for side in ours.other_sides()]
    assert found == [("s@origin", 2, 1, True)]
    ours.fork("s@origin", "merged")
    assert ours.info("merged").parent_session == "s"
    with pytest.raises(Diverged):
        sync(ours)
    assert said(some_origin.store, "merged") == ["one", "two there"]


def test_what_a_remote_has_is_listed_without_fetching_it(near: Origin, clones: Clones) -> None:
    ours, theirs = clones(near), clones(near)
    say(ours, "s", "one")
    say(ours, "t", "one")
    push(ours)
    pull(theirs, sessions=["s"])
    say(theirs, "s", "two")
    push(theirs)
    assert [(one.id, one.here) for one in remote_sessions(theirs)] == [("s", "same"), ("t", "absent")]
    assert [(one.id, one.here) for one in remote_sessions(ours)] == [("s", "unknown"), ("t", "same")]
    fetch(ours)
    assert [(one.id, one.here) for one in remote_sessions(ours)] == [("s", "behind"), ("t", "same")]


def test_one_session_is_fetched_without_the_others(near: Origin, clones: Clones, git: Git) -> None:
    ours, theirs = clones(near), clones(near)
    for name in ("fix-a", "fix-b", "other", "x1"):
        say(ours, name, f"{name} says")
    push(ours)
    assert outcome(pull(theirs, sessions=["other"])) == [("other", "pull", "new")]
    assert outcome(pull(theirs, sessions=["fix-*"])) == [("fix-a", "pull", "new"), ("fix-b", "pull", "new")]
    refs = git("-C", theirs.path, "for-each-ref", "--format=%(refname)").split()
    assert [ref for ref in refs if "x1" in ref] == []
    blobs = git("-C", theirs.path, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    assert ours.info("x1").oid not in blobs
    assert outcome(pull(theirs, sessions="[x]?")) == [("x1", "pull", "new")]  # one alone needs no list


def test_a_store_that_serves_is_append_only_for_its_clients(origin: Origin, clones: Clones, git: Git) -> None:
    ours = clones(origin)
    say(ours, "s", "one", "two")
    push(ours)
    git("-C", ours.path, "branch", "old", "s~1")
    for refspec in ("+old:refs/heads/s", ":refs/heads/s"):
        assert "remote rejected" in git_fails(ours, "push", "--force", "origin", refspec)
    assert said(origin.store, "s") == ["one", "two"]


def test_a_store_that_serves_checks_objects(near: Origin, clones: Clones, git: Git) -> None:
    ours = clones(near)
    blob = git("-C", ours.path, "hash-object", "-w", "--stdin", stdin="x").strip()
    entry = b"100644 ..\0" + bytes.fromhex(blob)
    (ours.path / "bad").write_bytes(entry)
    tree = git("-C", ours.path, "hash-object", "-w", "-t", "tree", "--literally", ours.path / "bad").strip()
    person = "a <a@b> 0 +0000"
    commit = git(
        "-C",
        ours.path,
        "hash-object",
        "-w",
        "-t",
        "commit",
        "--stdin",
        stdin=f"tree {tree}\nauthor {person}\ncommitter {person}\n\nbad\n",
    ).strip()
    assert "rejected" in git_fails(ours, "push", "origin", f"{commit}:refs/heads/bad")
    assert [one.id for one in remote_sessions(ours)] == []


def git_fails(store: Store, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(store.path), *arguments], capture_output=True, check=False)
    assert done.returncode != 0
    return done.stderr.decode()
