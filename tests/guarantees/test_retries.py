"""A commit whose outcome nobody knows is tried again: it is stored once, whatever became of the first try.

`pytest -m slow --full tests/guarantees/test_retries.py`: 1,000 commits and appends, each killed or refused at a
system call that chance picks.
"""

import os
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from gitsession import MessageEntry, SessionCommit, Store, Unavailable, verify
from tests.guarantees.children import SYSTEM_CALLS, Child, Hold, Say, Trace

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="strace is of Linux"),
    pytest.mark.filterwarnings("ignore:removed .*s.lock"),
]

ERRORS = ("ENOSPC", "EIO", "EROFS", "EMFILE", "EACCES")


def write(store: Store, number: int) -> None:
    """Writes one thing, the same each time it is called with this number: a commit, or an appended entry."""
    if number % 2:
        store.append("s", MessageEntry({"n": number}, f"c{number}", None, "2026-01-01T00:00:00Z"))
    else:
        parent = f"c{number - 1}" if number else None
        store.bind("s").commit(SessionCommit(f"c{number}", parent, [{"n": number}]))


def writing(path: Path, number: int) -> Child:
    def work(say: Say, hold: Hold) -> None:
        store = Store.open(path, durable=number % 4 > 1, wait=1)
        hold()
        try:
            write(store, number)
            told = "acknowledged"
        except Unavailable:
            told = "unavailable"
        with suppress(OSError):  # where the fault strikes only now, the caller never hears
            say(told)

    return Child(work)


def calls(path: Path, output: Path, number: int) -> list[tuple[str, int]]:
    """Returns the system calls of one write: each by its name, and which of its name it is."""
    child = writing(path, number)
    with Trace(child, output):
        child.go()
        assert child.finish() == (["acknowledged"], 0)
        trace = output
    seen: Counter[str] = Counter()
    found = []
    for line in trace.read_text(errors="replace").split("\n"):
        name = line.partition("(")[0]
        if name in SYSTEM_CALLS:
            seen[name] += 1
            found.append((name, seen[name]))
    return found[:-3]  # the last are those by which the child says how it went


def test_a_write_that_is_tried_again_after_an_unknown_outcome_is_there_once(
    tmp_path: Path, scale: Callable[[int, int], int]
) -> None:
    path = tmp_path / "store.git"
    Store.init(path, durable=False)
    chance = random.Random(3)
    outcomes: Counter[str] = Counter()
    patterns = [calls(path, tmp_path / "trace", number) for number in range(4)]
    count = scale(30, 1000)
    for number in range(4, 4 + count):
        # Rather late than early: the outcome is in doubt once the ref moves.
        pattern = patterns[number % 4]
        name, when = pattern[int(len(pattern) * chance.random() ** 0.4)]
        fault = chance.choice(["signal=KILL", f"error={chance.choice(ERRORS)}"])
        child = writing(path, number)
        with Trace(child, tmp_path / "out", "-e", f"inject={name}:{fault}:when={when}"):
            child.go()
            said, signal = child.finish()
        assert signal == 9 or said in (["acknowledged"], ["unavailable"], []), (name, when, fault, said)
        outcomes[said[0] if said else "nobody was told"] += 1
        lock = path / "refs/heads/s.lock"
        if lock.exists():
            os.utime(lock, (0, 0))  # how long a lock that was left is waited for is another test's business
        store = Store.open(path, durable=False, wait=15)
        held = {entry.id for entry in store.load("s")}
        known = f"c{number}" in held or f"c{number}/0" in held
        assert known or said != ["acknowledged"], (name, when, fault)
        outcomes["stored, and not told"] += known and said != ["acknowledged"]
        write(store, number)
    entries = [entry.id.removesuffix("/0") for entry in Store.open(path).load("s")]
    assert entries == [f"c{number}" for number in range(4 + count)]
    assert outcomes["nobody was told"] > 0
    assert outcomes["unavailable"] > 0
    assert outcomes["stored, and not told"] > 0
    assert [found for found in verify(Store.open(path)) if found.damage] == []
