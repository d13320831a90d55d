"""Entries that eight processes append at once, alone and beside all the maintenance that git has: none is lost.

`pytest -m slow --full tests/guarantees/test_acknowledged.py`: 8 x 500 appends on one session and on eight, and ten
minutes beside `git gc`, `gc --prune=now`, `pack-refs`, `repack`, `branch`, `fetch` and `push`.
"""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitsession import MessageEntry, SessionMeta, Store, verify
from tests.guarantees.children import Say, together
from tests.stores import git_output

pytestmark = pytest.mark.slow

PROCESSES = 8

# What git does to a repository, each in a loop of its own. A loop ends when the file `stop` is there.
MAINTENANCE = {
    "gc": "git gc -q; sleep 0.2",
    "prune": "git gc -q --prune=now; sleep 0.1",
    "pack-refs": "git pack-refs --all; sleep 0.05",
    "repack": "git repack -adq; sleep 0.3",
    "branch": "git branch -q -f copy s0; git branch -q -D copy; sleep 0.05",
    "fetch": 'git -C "$1" fetch -q --prune "$0" "+refs/heads/*:refs/heads/*"; sleep 0.2',
    "push": 'git push -q -f "$1" "refs/heads/*:refs/pushed/*"; sleep 0.2',
}


def appending(path: Path, number: int, session: str, go_on: Callable[[int], bool]) -> Callable[[Say], None]:
    """Returns what one process does: append entries while it should, and say the id of each that was acknowledged."""

    def work(say: Say) -> None:
        store = Store.open(path, wait=120)
        place = 0
        while go_on(place):
            entry_id = f"{number}-{place}"
            store.append(session, MessageEntry({"role": "user", "content": f"entry {entry_id}"}, id=entry_id))
            say(entry_id)
            place += 1

    return work


def check(path: Path, said: list[list[str]], sessions: int) -> None:
    """Checks that each session holds what was acknowledged, once and in order, as one line of sound commits."""
    acknowledged = [entry_id for ids in said for entry_id in ids]
    store = Store.open(path)
    held: list[str] = []
    for name in [f"s{number}" for number in range(sessions)]:
        ids = [entry.id for entry in store.load(name)]
        for own in said:
            mine = set(own)
            assert [entry_id for entry_id in ids if entry_id in mine] in ([], own)
        held += ids
        history = [line.split() for line in git_output(path, "log", "--format=%P", name).splitlines()]
        assert [len(parents) for parents in history] == [1] * len(ids) + [0]
        assert [entry.delta for entry in store.log(name)] == [*reversed(range(len(ids))), None]
    assert sorted(held) == sorted(acknowledged)
    fsck = subprocess.run(["git", "-C", path, "fsck", "--strict"], capture_output=True, check=False)
    assert (fsck.returncode, b"error" in fsck.stderr) == (0, False), fsck.stderr.decode()
    assert [found for found in verify(store) if found.damage] == []


@pytest.mark.parametrize("sessions", [1, PROCESSES])
def test_appends_of_eight_processes_are_all_there_once_and_in_one_line(
    tmp_path: Path, scale: Callable[[int, int], int], sessions: int
) -> None:
    path = tmp_path / "store.git"
    store = Store.init(path)
    for number in range(sessions):
        store.create(SessionMeta(f"s{number}"))
    count = scale(15, 500)
    said = together(
        [appending(path, number, f"s{number % sessions}", lambda place: place < count) for number in range(PROCESSES)]
    )
    assert [len(ids) for ids in said] == [count] * PROCESSES
    check(path, said, sessions)


def test_appends_beside_all_maintenance_that_git_has_are_there_and_show_no_error(
    tmp_path: Path, scale: Callable[[int, int], int]
) -> None:
    path, other = tmp_path / "store.git", tmp_path / "other.git"
    sessions = 3
    store = Store.init(path)
    for number in range(sessions):
        store.create(SessionMeta(f"s{number}"))
    subprocess.run(["git", "init", "-q", "--bare", other], check=True)
    stop = tmp_path / "stop"
    loops = [
        subprocess.Popen(
            ["sh", "-c", f'while [ ! -e "$2" ]; do {command}; done', path, other, stop],
            cwd=path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,  # of git's own processes, which get in each other's way
        )
        for command in MAINTENANCE.values()
    ]
    end = time.monotonic() + scale(6, 600)
    try:
        said = together(
            [
                appending(path, number, f"s{number % sessions}", lambda _: time.monotonic() < end)
                for number in range(PROCESSES)
            ]
        )
    finally:
        stop.touch()
        for loop in loops:
            loop.wait()
    assert all(said)
    git_output(path, "for-each-ref", "--format=delete %(refname)", "refs/heads/copy")
    check(path, said, sessions)
