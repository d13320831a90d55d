"""Many processes write at once: nothing is lost, nothing is there twice, and of those that exclude others one wins."""

import subprocess
from pathlib import Path

import pytest

from gitsession import MessageEntry, SessionCommit, SessionMeta, Store, verify
from tests.concurrency import workers
from tests.concurrency.workers import race
from tests.conftest import Git
from tests.stores import HELLO

PROCESSES = 8


def is_linear(store: Store, git: Git, session: str) -> bool:
    """Tells whether each git commit has one parent, and git finds all objects."""
    parents = [line.split() for line in git("-C", store.path, "log", "--format=%P", session).splitlines()]
    git("-C", store.path, "fsck", "--strict", "--connectivity-only")
    return all(len(found) == 1 for found in parents[:-1]) and parents[-1] == []


@pytest.mark.parametrize("sessions", [1, PROCESSES])
def test_entries_that_processes_append_are_there_exactly_once(store: Store, git: Git, sessions: int) -> None:
    for number in range(sessions):
        store.create(SessionMeta(f"s{number}"))
    appended = race(PROCESSES, workers.append_entries, str(store.path), sessions, 25)
    loaded = [[entry.id for entry in store.load(f"s{number}")] for number in range(sessions)]
    assert sorted(entry_id for ids in appended for entry_id in ids) == sorted(i for ids in loaded for i in ids)
    for ids in loaded:
        for own in appended:
            assert [entry_id for entry_id in ids if entry_id in own] in ([], own)
    for number in range(sessions):
        assert is_linear(store, git, f"s{number}")
        assert store.info(f"s{number}").deltas == 25 * PROCESSES // sessions
        assert [entry.delta for entry in store.log(f"s{number}")][:-1] == list(
            reversed(range(25 * PROCESSES // sessions))
        )


def test_an_entry_that_all_processes_append_is_there_once(store: Store, git: Git) -> None:
    store.create(SessionMeta("s"))
    race(4, workers.append_the_same, str(store.path), 20)
    assert [entry.id for entry in store.load("s")] == [f"e{place}" for place in range(20)]
    assert is_linear(store, git, "s")


def test_of_processes_that_create_one_session_one_wins(store: Store) -> None:
    won = race(4, workers.create_sessions, str(store.path), 25)
    assert [sum(round_) for round_ in zip(*won, strict=True)] == [1] * 25
    for place in range(25):
        assert won[int(store.info(f"r{place}").title or "")][place]


def test_of_processes_that_commit_on_one_parent_one_wins(store: Store, git: Git) -> None:
    won = race(4, workers.commit_on_one_parent, str(store.path), 25)
    assert [sum(round_) for round_ in zip(*won, strict=True)] == [1] * 25
    winners = [round_.index(True) for round_ in zip(*won, strict=True)]
    assert store.bind("s").load().messages == [{"by": number} for number in winners]
    assert is_linear(store, git, "s")


def test_a_commit_that_all_processes_make_is_there_once(store: Store, git: Git) -> None:
    assert race(4, workers.commit_the_same, str(store.path), 25) == ["c24"] * 4
    assert store.bind("s").load().messages == [{"n": place} for place in range(25)]
    assert is_linear(store, git, "s")


def test_of_processes_that_fork_to_one_name_one_wins(store: Store) -> None:
    store.bind("s").commit(SessionCommit("c", None, [HELLO]))
    won = race(4, workers.fork_to_one_name, str(store.path))
    assert sum(won) == 1
    assert store.info("fork").title == str(won.index(True))


def test_processes_that_make_one_store_share_it(store_path: Path) -> None:
    assert race(PROCESSES, workers.init_and_append, str(store_path)) == ["c"] * PROCESSES
    assert sorted(meta.id for meta in Store.open(store_path).list()) == [f"s{number}" for number in range(PROCESSES)]


def test_git_maintains_a_store_while_processes_append(store: Store, git: Git) -> None:
    """Refs are packed and objects repacked and pruned, over and over, by git itself."""
    store.create(SessionMeta("s0"))
    loop = "while :; do git pack-refs --all; git repack -adq; git gc -q --prune=now; done"
    maintenance = subprocess.Popen(
        ["sh", "-c", loop], cwd=store.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        appended = race(3, workers.append_entries, str(store.path), 1, 15)
    finally:
        maintenance.kill()
        maintenance.wait()
    assert sorted(i for ids in appended for i in ids) == sorted(entry.id for entry in store.load("s0"))
    assert sorted(i for ids in appended for i in ids) == sorted(entry.id for entry in Store.open(store.path).load("s0"))


def test_git_moves_a_branch_while_a_store_appends_to_it(store: Store, git: Git) -> None:
    """A header commit made with plain git between two appends moves the branch, and no entry is lost."""
    store.create(SessionMeta("s"))
    for number in range(10):
        store.append("s", MessageEntry({"n": number}))
        tip = git("-C", store.path, "rev-parse", "s").strip()
        made = git(
            *("-C", store.path, "-c", "user.name=x", "-c", "user.email=x@example.invalid"),
            *("commit-tree", "-p", tip, "-m", "A header commit", f"{tip}^{{tree}}"),
        ).strip()
        git("-C", store.path, "update-ref", "refs/heads/s", made, tip)
    assert [entry.message["n"] for entry in store.load("s")] == list(range(10))
    assert is_linear(store, git, "s")


def test_maintenance_beside_writers_and_a_reader_loses_nothing(store: Store, git: Git, tmp_path: Path) -> None:
    for session in "st":
        store.create(SessionMeta(session))
    _, *written, (_, read) = race(4, workers.commit_beside_maintenance, str(store.path), str(tmp_path / "end"))
    for session, (_, heads) in zip("st", written, strict=True):
        assert heads == [f"c{number}" for number in range(len(heads))]
        assert [entry.id for entry in Store.open(store.path).load(session)] == [f"{head}/0" for head in heads]
        assert is_linear(store, git, session)
    # Every look found both sessions whole: a damaged one would be missing among those listed.
    assert [2] * len(read) == [len(listed) for _, listed in read]
    assert read == sorted(read, key=lambda found: found[0])
    assert list(verify(store)) == []
