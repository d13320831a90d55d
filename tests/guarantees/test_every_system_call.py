"""A commit that is killed at, or refused, each of its system calls: the old state or the new one, and nothing else.

`pytest -m slow --full tests/guarantees/test_every_system_call.py`: each call, killed and with each of five errors.
"""

import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitsession import Store, Unavailable, new_commit
from gitsession.model import SessionCommit
from tests.guarantees.children import SYSTEM_CALLS, Child, Hold, Say, Trace

pytestmark = pytest.mark.slow

ERRORS = ("ENOSPC", "EROFS", "EACCES", "EMFILE", "EIO")

# A system call by its name, and which of its name it is.
Case = tuple[str, int]


def seed(path: Path) -> tuple[Store, SessionCommit]:
    """Returns a store with two sessions of one commit each, and the next commit for the first."""
    # Without syncing, so that what syncing needs is loaded only in the child, as part of its commit.
    store = Store.init(path, durable=False)
    for name in ("s", "other"):
        store.bind(name).commit(SessionCommit("first", None, [{"role": "user", "content": "Hello"}]))
    return store, new_commit("first", [{"role": "assistant", "content": "x" * 5000}])


def committing(path: Path, commit: SessionCommit) -> Child:
    """Returns a child that will commit and say how that went."""

    def work(say: Say, hold: Hold) -> None:
        session = Store.open(path, wait=2).bind("s")
        hold()
        try:
            say(f"acknowledged {session.commit(commit).head}")
        except Unavailable as error:
            say(f"unavailable {error}")

    return Child(work)


def cases(path: Path, output: Path, count: int | None) -> list[Case]:
    """Returns the system calls of one commit as they are counted by name, all of them or a sample."""
    _, commit = seed(path)
    child = committing(path, commit)
    with Trace(child, output):
        child.go()
        assert child.finish() == ([f"acknowledged {commit.id}"], 0)
        trace = output
    names = (line.partition("(")[0] for line in trace.read_text(errors="replace").split("\n"))
    seen: dict[str, int] = {}
    found = []
    for name in names:
        if name in SYSTEM_CALLS:
            seen[name] = seen.get(name, 0) + 1
            found.append((name, seen[name]))
    last = max(place for place, (name, _) in enumerate(found) if name == "write")
    del found[last]  # that by which the child says how it went
    assert len(found) > 40
    assert {"openat", "write", "rename", "close", "flock"} <= set(seen)
    return found if count is None else sorted(random.Random(0).sample(found, count))


def check(path: Path, commit: SessionCommit, said: list[str]) -> None:
    """Checks that the session is in its old or its new state, whole; and goes on without any further step."""
    acknowledged = said == [f"acknowledged {commit.id}"]
    store = Store.open(path)
    session = store.bind("s").load()
    assert session.head in ("first", commit.id)
    assert session.head == commit.id or not acknowledged
    assert len(session.messages) == (2 if session.head == commit.id else 1)
    fsck = subprocess.run(["git", "-C", path, "fsck", "--strict"], capture_output=True, check=False)
    assert (fsck.returncode, b"error" in fsck.stderr) == (0, False), fsck.stderr.decode()
    # The same commit again is stored once, whatever became of the first try.
    after = Store.open(path, wait=15).bind("s").commit(commit)
    assert (after.head, len(after.messages)) == (commit.id, 2)
    assert store.bind("other").load().head == "first"


@pytest.mark.filterwarnings("ignore:removed .*s.lock")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="strace is of Linux")
def test_a_kill_at_each_system_call_leaves_the_old_state_or_the_new(
    tmp_path: Path, scale: Callable[[int, int], int]
) -> None:
    full = scale(0, 1)
    found = cases(tmp_path / "reference", tmp_path / "trace", None if full else 14)
    for number, (name, when) in enumerate(found):
        path = tmp_path / f"{number}.git"
        _, commit = seed(path)
        child = committing(path, commit)
        with Trace(child, tmp_path / "out", "-e", f"inject={name}:signal=KILL:when={when}"):
            child.go()
            said, signal = child.finish()
        assert signal == 9 or said == [f"acknowledged {commit.id}"], (name, when, said)
        check(path, commit, said)


@pytest.mark.filterwarnings("ignore:removed .*s.lock")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="strace is of Linux")
@pytest.mark.parametrize("error", ERRORS)
def test_an_error_at_each_system_call_is_unavailable_and_the_next_try_succeeds(
    tmp_path: Path, error: str, scale: Callable[[int, int], int]
) -> None:
    full = scale(0, 1)
    for number, (name, when) in enumerate(cases(tmp_path / "reference", tmp_path / "trace", None if full else 6)):
        path = tmp_path / f"{number}.git"
        _, commit = seed(path)
        child = committing(path, commit)
        with Trace(child, tmp_path / "out", "-e", f"inject={name}:error={error}:when={when}"):
            child.go()
            said, signal = child.finish()
        assert signal == 0
        assert len(said) == 1, (name, when, error, said)
        assert said[0].startswith(("acknowledged ", "unavailable ")), (name, when, error, said)
        if said[0].startswith("unavailable "):
            assert Store.open(path).bind("s").load().head == "first", (name, when, error, said)
        check(path, commit, said)
