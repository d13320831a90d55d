"""A collection that runs while a commit is made: the commit is acknowledged when it has survived it."""

import os
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

from gitsession import SessionCommit, Store, Unavailable, maintain, verify
from gitsession.repo.disk import Disk
from gitsession.repo.gc import wait_for_gc
from tests.conftest import Git
from tests.stores import HELLO, HI

FIRST = SessionCommit("first", None, [HELLO])
HOST = socket.gethostname()


def dead_pid() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def test_without_a_pid_file_none_is_running(tmp_path: Path) -> None:
    assert wait_for_gc(tmp_path, 0)


@pytest.mark.parametrize(
    ("content", "running"),
    [
        ("{own} {host}", True),
        ("{own} {host}\n", True),
        ("{dead} {host}", False),
        ("{dead} elsewhere", True),
        ("{huge} {host}", False),
        ("", True),
        ("garbage", True),
        ("-1 {host}", True),
    ],
)
def test_a_collection_runs_unless_its_process_is_known_to_be_gone(tmp_path: Path, content: str, running: bool) -> None:
    named = {"own": os.getpid(), "dead": dead_pid(), "huge": 10**30, "host": HOST}
    (tmp_path / "gc.pid").write_text(content.format_map(named))
    assert wait_for_gc(tmp_path, 0) != running


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells when a process began")
def test_a_pid_that_another_process_has_by_now_is_no_collection(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        (tmp_path / "gc.pid").write_text(f"{process.pid} {HOST}")
        assert not wait_for_gc(tmp_path, 0)
        os.utime(tmp_path / "gc.pid", (time.time() - 600,) * 2)
        ended = wait_for_gc(tmp_path, 0)
        process.kill()
    assert ended


@pytest.mark.skipif(not Path("/proc/self/comm").exists(), reason="only Linux tells the name of a process")
@pytest.mark.parametrize("seconds", [600, 13 * 3600])
def test_a_git_that_is_there_is_a_collection_whatever_the_clock_says(store: Store, seconds: int) -> None:
    """A clock that was set makes its file older than the process, or older than twelve hours."""
    command = ["git", "-C", str(store.path), "cat-file", "--batch"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"HEAD\n")
        process.stdin.flush()
        process.stdout.readline()  # by now it has its name
        pid_file = store.path / "gc.pid"
        pid_file.write_text(f"{process.pid} {HOST}")
        os.utime(pid_file, (time.time() - seconds,) * 2)
        assert not wait_for_gc(store.path, 0)
        process.kill()
    assert wait_for_gc(store.path, 0)


def test_a_pid_file_that_git_takes_for_forgotten_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "gc.pid").write_text(f"{os.getpid()} {HOST}")
    os.utime(tmp_path / "gc.pid", (time.time() - 13 * 3600,) * 2)
    assert wait_for_gc(tmp_path, 0)


def test_the_end_of_a_collection_is_waited_for(tmp_path: Path) -> None:
    pid_file = tmp_path / "gc.pid"
    pid_file.write_text(f"{os.getpid()} {HOST}")
    assert not wait_for_gc(tmp_path, time.monotonic() + 0.05)
    threading.Timer(0.1, pid_file.unlink).start()
    assert wait_for_gc(tmp_path, time.monotonic() + 30)


def test_one_collection_after_the_other_is_not_waited_for(tmp_path: Path) -> None:
    """A later one has seen what moved before it began."""
    pid_file = tmp_path / "gc.pid"
    pid_file.write_text(f"{os.getpid()} {HOST}")

    def collect_again() -> None:
        again = tmp_path / "gc.pid.lock"
        again.write_text(f"{os.getpid()} {HOST}")
        again.replace(pid_file)

    threading.Timer(0.1, collect_again).start()
    assert wait_for_gc(tmp_path, time.monotonic() + 30)
    assert not wait_for_gc(tmp_path, 0)


class CollectingDisk(Disk):
    """A disk beside which a collection begins when a ref has moved, and deletes what it had not seen before."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.path, durable=False)
        self._ref = store.path / "refs/heads/s"
        self._old = self._ref.read_text()
        self._before = set((store.path / "objects").glob("??/*"))
        self.collections = 0
        self.go_on = threading.Event()

    def barrier(self) -> None:
        if self._ref.read_text() != self._old:
            self._old = self._ref.read_text()
            self.collections += 1
            (self.path / "gc.pid").write_text(f"{os.getpid()} {HOST}")
            threading.Timer(0.1, self._collect).start()

    def _collect(self) -> None:
        self.go_on.wait()
        for path in set((self.path / "objects").glob("??/*")) - self._before:
            path.unlink()
        (self.path / "gc.pid").unlink()


def test_a_commit_stores_again_what_a_running_collection_took(store: Store, git: Git) -> None:
    store.bind("s").commit(FIRST)
    disk = store.repository.refs.disk = CollectingDisk(store)
    disk.go_on.set()
    assert store.bind("s").commit(SessionCommit("second", "first", [HI])).head == "second"
    assert disk.collections == 1
    assert store.bind("s").load().messages == [HELLO, HI]
    git("-C", store.path, "fsck", "--strict")


def test_a_collection_is_not_waited_for_under_the_lock_of_a_session(store: Store) -> None:
    """It takes long, and the lock is not fair: others would wait for their turn in vain."""
    store.bind("s").commit(FIRST)
    disk = store.repository.refs.disk = CollectingDisk(store)
    writer = threading.Thread(target=lambda: store.bind("s").commit(SessionCommit("second", "first", [HI])))
    writer.start()
    while not disk.collections:
        time.sleep(0.001)
    with Store.open(store.path, wait=10).repository.locks.hold("s"):
        assert (store.path / "gc.pid").exists()
    disk.go_on.set()
    writer.join()


def test_a_writer_waits_for_what_another_stores_again_after_a_collection(
    store: Store, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitsession.writing._RESTORING_SECONDS", 1.5)
    store.bind("s").commit(FIRST)
    before = set((store.path / "objects").glob("??/*"))
    store.bind("s").commit(SessionCommit("second", "first", [HI]))
    aside = store.path / "aside"
    aside.mkdir()
    taken = {path: path.rename(aside / path.name) for path in set((store.path / "objects").glob("??/*")) - before}
    # The collection has just ended, and so has not been waited for.
    threading.Timer(0.03, lambda: [now.rename(path) for path, now in taken.items()]).start()
    other = Store.open(store.path, durable=False)
    assert other.bind("s").commit(SessionCommit("third", "second", [HELLO])).messages == [HELLO, HI, HELLO]
    git("-C", store.path, "fsck", "--strict")


def test_no_branch_moves_while_a_collection_is_at_work(store: Store) -> None:
    """It would not see the move, and a writer that is killed right after it can store nothing again."""
    store.bind("s").commit(FIRST)
    pid_file = store.path / "gc.pid"
    pid_file.write_text(f"{os.getpid()} {HOST}")
    writer = threading.Thread(target=lambda: store.bind("s").commit(SessionCommit("second", "first", [HI])))
    writer.start()
    time.sleep(0.3)
    assert Store.open(store.path).info("s").head == "first"
    pid_file.unlink()
    writer.join()
    assert Store.open(store.path).info("s").head == "second"


class CollectedDisk(Disk):
    """A disk that is slow to sync a new ref: a collection that looked at the refs before it moved ends meanwhile."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.path, durable=False)
        self._ref = store.path / "refs/heads/s"
        self._old = self._ref.read_text()
        self._before = set((store.path / "objects").glob("??/*"))

    def barrier(self) -> None:
        if self._ref.read_text() != self._old:
            self._old = self._ref.read_text()
            for path in set((self.path / "objects").glob("??/*")) - self._before:
                path.unlink()


def test_a_commit_stores_again_what_a_collection_took_that_ended_before_the_ref_was_on_disk(
    store: Store, git: Git
) -> None:
    store.bind("s").commit(FIRST)
    store.repository.refs.disk = CollectedDisk(store)
    assert store.bind("s").commit(SessionCommit("second", "first", [HI])).head == "second"
    assert store.bind("s").load().messages == [HELLO, HI]
    git("-C", store.path, "fsck", "--strict")


def test_a_commit_that_a_collection_outlasts_is_unavailable_and_may_be_tried_again(store: Store) -> None:
    pid_file = store.path / "gc.pid"
    pid_file.write_text(f"{os.getpid()} {HOST}")
    impatient = Store.open(store.path, durable=False, wait=0.1)
    with pytest.raises(Unavailable, match=r"git gc.*nothing was written"):
        impatient.bind("s").commit(FIRST)
    assert impatient.list() == []
    pid_file.unlink()
    assert impatient.bind("s").commit(FIRST).head == "first"
    assert impatient.bind("s").load().messages == [HELLO]


def test_reading_does_not_wait_for_a_collection(store: Store) -> None:
    store.bind("s").commit(FIRST)
    (store.path / "gc.pid").write_text(f"{os.getpid()} {HOST}")
    began = time.monotonic()
    assert Store.open(store.path).bind("s").load().messages == [HELLO]
    assert time.monotonic() - began < 5


def test_a_store_whose_objects_are_precious_refuses_what_would_prune_beside_writers(store: Store, git: Git) -> None:
    """The way that FORMAT.md names: `git prune` makes no `gc.pid`, so a writer cannot tell that it is at work."""
    git("-C", store.path, "config", "core.repositoryFormatVersion", "1")
    git("-C", store.path, "config", "extensions.preciousObjects", "true")
    precious = Store.open(store.path, durable=False)
    precious.bind("s").commit(FIRST)
    loose = git("-C", store.path, "hash-object", "-w", "--stdin", stdin="of a commit that is being written").strip()
    pruned = subprocess.run(["git", "-C", store.path, "prune", "--expire=now"], capture_output=True, check=False)
    assert pruned.returncode != 0
    git("-C", store.path, "gc", "-q", "--prune=now")
    git("-C", store.path, "cat-file", "-e", loose)
    maintain(precious)
    assert precious.bind("s").commit(SessionCommit("second", "first", [HI])).messages == [HELLO, HI]
    assert list(verify(precious)) == []
