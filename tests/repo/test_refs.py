"""Refs: read in every form that git writes, damaged ones told, and moved by compare-and-swap alone."""

import errno
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitsession import (
    Corrupt,
    MessageEntry,
    SessionCommit,
    SessionExists,
    SessionMeta,
    Store,
    StoreBusy,
    Unavailable,
    verify,
)
from gitsession.repo.disk import Disk
from gitsession.repo.reflog import read_log
from gitsession.repo.refs import RefBlocked, RefMoved, Refs
from gitsession.repo.repository import Repository
from tests.conftest import Git
from tests.stores import HI

A, B, C = ("1" * 40, "2" * 40, "3" * 40)
NAME = "refs/heads/s"


@pytest.fixture
def refs(store_path: Path) -> Refs:
    return Repository.init(store_path, durable=False, wait=0.2).refs


def write(refs: Refs, name: str, content: bytes) -> None:
    (refs.path / name).parent.mkdir(parents=True, exist_ok=True)
    (refs.path / name).write_bytes(content)


def test_a_ref_that_does_not_exist_is_none(refs: Refs) -> None:
    assert refs.find(NAME) is None
    assert refs.find("refs/heads/s/deeper") is None
    write(refs, NAME, A.encode())
    assert refs.find("refs/heads/s/deeper") is None
    assert refs.find("refs/heads") is None


@pytest.mark.parametrize("content", [f"{A}\n", A, f"{A}\r\n", f"{A} \n\n"])
def test_a_loose_ref_is_read(refs: Refs, content: str) -> None:
    write(refs, NAME, content.encode())
    assert refs.find(NAME) == A
    assert list(refs.below("refs/heads/")) == [(NAME, A)]


def test_a_packed_ref_is_read_and_a_loose_one_wins(refs: Refs) -> None:
    packed = (
        f"# pack-refs with: peeled fully-peeled sorted \n{A} refs/heads/s\n{B} refs/tags/v\n^{C}\n{C} refs/heads/t/u\n"
    )
    (refs.path / "packed-refs").write_text(packed)
    assert [refs.find(name) for name in (NAME, "refs/heads/t/u", "refs/tags/v", "refs/heads/t")] == [A, C, B, None]
    write(refs, NAME, B.encode())
    assert refs.find(NAME) == B
    assert list(refs.below("refs/heads/")) == [(NAME, B), ("refs/heads/t/u", C)]


def test_packed_refs_that_change_are_read_again(refs: Refs) -> None:
    for oid in (A, B, C):
        (refs.path / "new").write_text(f"{oid} {NAME}\n")
        (refs.path / "new").replace(refs.path / "packed-refs")
        assert refs.find(NAME) == oid


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"\0" * 41, "is empty"),
        (A[:39].encode(), "is damaged"),
        (A.encode() + b"1", "is damaged"),
        (b"garbage\n", "is damaged"),
        (A[:20].encode() + b"\0" * 21, "is damaged"),
        (b"x" * 100_000, "is damaged"),
        (b"ref: refs/heads/other\n", "is a symbolic ref to 'refs/heads/other'"),
        (b"ref: \x1b[31m\n", r"is a symbolic ref to '\x1b[31m'"),
    ],
)
def test_a_damaged_ref_is_corrupt_and_says_how(refs: Refs, content: bytes, reason: str) -> None:
    write(refs, NAME, content)
    write(refs, "refs/heads/good", A.encode())
    with pytest.raises(Corrupt, match=re.escape(reason)):
        refs.find(NAME)
    with pytest.raises(Corrupt):
        refs.compare_and_swap(NAME, None, A, reason="x")
    assert (refs.path / NAME).read_bytes() == content
    found = dict(refs.below("refs/heads/"))
    assert found["refs/heads/good"] == A
    assert isinstance(found[NAME], Corrupt)


def test_locks_and_temporary_files_are_no_refs(refs: Refs) -> None:
    write(refs, NAME, A.encode())
    write(refs, "refs/heads/t.lock", b"")
    assert [name for name, _ in refs.below("refs/heads/")] == [NAME]
    assert list(refs.below("refs/remotes/")) == []


@pytest.fixture
def deep(store: Store, git: Git, request: pytest.FixtureRequest) -> Iterator[str]:
    """Returns the name of a branch of so many levels; all of it is gone at the end, since Python cannot remove it."""
    store.bind("s").commit(SessionCommit("c", None, [HI]))
    name = "/".join("a" * request.param)
    git("-C", store.path, "branch", name, "s")
    yield name
    subprocess.run(["rm", "-rf", store.path], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such paths")
@pytest.mark.parametrize("deep", [990, 1400], indirect=True)
def test_a_branch_of_a_thousand_levels_hides_no_other(store: Store, git: Git, deep: str) -> None:
    assert {info.id for info in store.sessions()} == {"s", f"refs/heads/{deep}"}
    assert {finding.session for finding in verify(store)} <= {f"refs/heads/{deep}"}
    with pytest.raises(SessionExists):
        store.create(SessionMeta("a"))
    git("-C", store.path, "pack-refs", "--all", "--no-prune")
    git("-C", store.path, "branch", "-D", deep)
    store.create(SessionMeta("a"))
    assert sorted(info.id for info in store.sessions()) == ["a", "s"]


# Compare and swap.


def test_a_ref_is_made_moved_and_logged(refs: Refs, git: Git) -> None:
    refs.compare_and_swap(NAME, None, A, reason="create: a")
    refs.compare_and_swap(NAME, A, B, reason="commit: b")
    assert refs.find(NAME) == B
    assert (refs.path / NAME).read_text() == f"{B}\n"
    assert read_log(refs.path, NAME).moves == ((None, A), (A, B))
    assert not (refs.path / f"{NAME}.lock").exists()
    log = (refs.path / "logs" / NAME).read_text()
    assert re.fullmatch(r"(\w{40} \w{40} [^<>]+ <[^<>]+> \d+ \+0000\t(create: a|commit: b)\n){2}", log)


@pytest.mark.parametrize("left", [1, 60, 4096 - 120])
@pytest.mark.parametrize("whole", [0, 1])
def test_what_a_power_cut_left_of_a_logs_last_line_goes_with_the_next(refs: Refs, left: int, whole: int) -> None:
    log = refs.path / "logs" / NAME
    for old, new in [(None, A), (A, B)][: whole + 1]:
        refs.compare_and_swap(NAME, old, new, reason="x" * 4096)
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:whole]) + lines[whole][:left])
    refs.compare_and_swap(NAME, [A, B][whole], C, reason="y")
    moves = ((None, A), (B, C)) if whole else ((A, C),)
    assert read_log(refs.path, NAME) == (moves, (), False)


@pytest.mark.parametrize(("actual", "expected"), [(None, A), (A, None), (A, B), (B, None)])
@pytest.mark.parametrize("packed", [False, True])
def test_a_ref_that_is_elsewhere_is_not_moved(
    refs: Refs, actual: str | None, expected: str | None, packed: bool
) -> None:
    if actual and packed:
        (refs.path / "packed-refs").write_text(f"{actual} {NAME}\n")
    elif actual:
        write(refs, NAME, actual.encode())
    with pytest.raises(RefMoved) as caught:
        refs.compare_and_swap(NAME, expected, C, reason="x")
    assert caught.value.actual == actual
    assert refs.find(NAME) == actual
    assert read_log(refs.path, NAME).moves == ()
    assert not (refs.path / f"{NAME}.lock").exists()


def test_a_packed_ref_is_moved(refs: Refs) -> None:
    (refs.path / "packed-refs").write_text(f"{A} {NAME}\n")
    refs.compare_and_swap(NAME, A, B, reason="x")
    assert refs.find(NAME) == B


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("new", "other"),
    [
        ("refs/heads/a", "refs/heads/a/b"),
        ("refs/heads/a", "refs/heads/a/b/c"),
        ("refs/heads/a/b", "refs/heads/a"),
        ("refs/heads/a/b/c", "refs/heads/a"),
    ],
)
def test_a_ref_that_stands_in_the_way_is_named(refs: Refs, new: str, other: str, packed: bool) -> None:
    if packed:
        (refs.path / "packed-refs").write_text(f"{A} {other}\n")
    else:
        write(refs, other, A.encode())
    with pytest.raises(RefBlocked) as caught:
        refs.compare_and_swap(new, None, B, reason="x")
    assert caught.value.blocker == other
    assert (refs.find(other), refs.find(new)) == (A, None)


@pytest.mark.parametrize("new", ["refs/heads/a", "refs/heads/ab/c", "refs/heads/a.b", "refs/heads/a-b"])
def test_packed_refs_that_only_begin_alike_stand_in_nobodys_way(refs: Refs, new: str) -> None:
    (refs.path / "packed-refs").write_text(f"{A} refs/heads/aa/b\n{A} refs/heads/a-\n{A} refs/remotes/a/b\n")
    refs.compare_and_swap(new, None, B, reason="x")
    assert refs.find(new) == B


def test_a_directory_whose_packed_refs_are_gone_is_free(refs: Refs) -> None:
    (refs.path / "packed-refs").write_text(f"{A} {NAME}/below\n")
    with pytest.raises(RefBlocked):
        refs.compare_and_swap(NAME, None, B, reason="x")
    (refs.path / "packed-refs").unlink()
    refs.compare_and_swap(NAME, None, B, reason="x")
    assert refs.find(NAME) == B


def test_threads_that_swap_one_ref_exclude_each_other(refs: Refs) -> None:
    """Without any other lock: git's own, under which the value is compared, suffices."""
    refs.wait = 30.0
    won = []

    def work(number: int) -> None:
        for step in range(20):
            while True:
                old = refs.find(NAME)
                new = f"{step:020d}{number:020d}"
                try:
                    refs.compare_and_swap(NAME, old, new, reason="x")
                except RefMoved:
                    continue
                won.append((old, new))
                break

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({old for old, _ in won}) == len({new for _, new in won}) == 80
    assert [new for _, new in read_log(refs.path, NAME).moves][-1] == refs.find(NAME)


def test_a_live_lock_is_waited_for_and_then_the_store_is_busy(refs: Refs) -> None:
    lock = refs.path / f"{NAME}.lock"
    lock.touch()
    began = time.monotonic()
    with pytest.raises(StoreBusy) as caught:
        refs.compare_and_swap(NAME, None, A, reason="x")
    assert 0.15 < time.monotonic() - began < 5
    assert caught.value.path == str(lock)
    assert caught.value.age is not None
    assert lock.exists()
    assert refs.find(NAME) is None


def test_a_lock_that_is_released_is_taken(refs: Refs) -> None:
    refs.wait = 30.0
    lock = refs.path / f"{NAME}.lock"
    lock.touch()
    threading.Timer(0.1, lock.unlink).start()
    refs.compare_and_swap(NAME, None, A, reason="x")
    assert refs.find(NAME) == A


class BrokenDisk(Disk):
    """A disk on which no sync succeeds."""

    def barrier(self) -> None:
        raise OSError(errno.EIO, "the disk failed")


def test_a_move_that_failed_is_not_in_the_log(store: Store) -> None:
    store.create(SessionMeta("s"))
    log = store.path / "logs/refs/heads/s"
    before = log.read_bytes()
    store.repository.refs.disk = BrokenDisk(store.path, durable=False)
    with pytest.raises(Unavailable, match="input/output"):
        store.append("s", MessageEntry({}))
    with pytest.raises(Unavailable, match="input/output"):
        store.create(SessionMeta("new"))
    assert log.read_bytes() == before
    assert not (store.path / "logs/refs/heads/new").exists()
    assert list(verify(store)) == []
