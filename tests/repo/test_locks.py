"""Locks: writers queue, a killed process's lock is recovered, a live one's is respected."""

import os
import shutil
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest

from gitsession import Session, SessionCommit, Store, StoreBusy, Unavailable
from gitsession.repo import locks as locks_module
from gitsession.repo.locks import SessionLocks
from tests.stores import HELLO, HI

FIRST = SessionCommit("first", None, [HELLO])
SECOND = SessionCommit("second", "first", [HI])


def test_one_thread_at_a_time_holds_the_lock_of_a_session(tmp_path: Path) -> None:
    (tmp_path / "HEAD").touch()
    locks = SessionLocks(tmp_path / "gitsession" / "locks", wait=30.0)
    inside = 0
    most = 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(20):
            with locks.hold("s"):
                inside += 1
                most = max(most, inside)
                time.sleep(0.0005)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_two_objects_of_one_directory_exclude_each_other(tmp_path: Path) -> None:
    mine, other = SessionLocks(tmp_path, wait=0.1), SessionLocks(tmp_path, wait=0.1)
    with mine.hold("s"):
        with pytest.raises(StoreBusy), other.hold("s"):
            pass
        with other.hold("another session"):
            pass
    with other.hold("s"):
        pass


def test_a_lock_is_released_by_an_error(tmp_path: Path) -> None:
    locks = SessionLocks(tmp_path, wait=0.1)
    with pytest.raises(ZeroDivisionError), locks.hold("s"):
        raise ZeroDivisionError
    with locks.hold("s"):
        pass


def test_lock_files_do_not_pile_up(tmp_path: Path) -> None:
    locks = SessionLocks(tmp_path, wait=1.0)
    for number in range(500):
        with locks.hold(f"s{number}"):
            pass
    assert len(list(tmp_path.iterdir())) <= 64


HOLD = """
import sys, time
from pathlib import Path
from gitsession.repo import locks as locks_module
from gitsession.repo.locks import SessionLocks
with SessionLocks(Path(sys.argv[1]), wait=1.0).hold("s"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_ends_with_the_process_that_holds_it(store: Store) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store.path / "gitsession/locks")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    impatient = Store.open(store.path, durable=False, wait=0.1)
    with pytest.raises(StoreBusy) as caught:
        impatient.bind("s").commit(FIRST)
    assert Path(caught.value.path).parent == store.path / "gitsession/locks"
    assert impatient.bind("s").load() == Session(None, [])
    assert store.bind("another session").commit(FIRST).head == "first"
    process.kill()
    process.wait()
    process.stdout.close()
    assert impatient.bind("s").commit(FIRST).head == "first"


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize("content", [b"", b"1" * 40 + b"\n"])
def test_a_lock_that_a_killed_process_left_is_recovered_with_a_warning(
    store: Store, written: bool, content: bytes
) -> None:
    if written:
        store.bind("s").commit(FIRST)
    lock = store.path / "refs/heads/s.lock"
    lock.write_bytes(content)
    os.utime(lock, (time.time() - 60,) * 2)
    with pytest.warns(UserWarning, match=r"removed .*/refs/heads/s\.lock, which a killed process left 6\d s ago"):
        assert store.bind("s").commit(SECOND if written else FIRST).head == ("second" if written else "first")
    assert not lock.exists()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.bind("s").commit(SessionCommit("more", store.bind("s").load().head, [HI]))


def test_a_fresh_lock_of_git_is_waited_for(store: Store) -> None:
    lock = store.path / "refs/heads/s.lock"
    lock.touch()
    threading.Timer(0.1, lock.unlink).start()
    assert store.bind("s").commit(FIRST).head == "first"


def test_a_fresh_lock_that_stays_makes_the_store_busy_and_changes_nothing(store: Store) -> None:
    store.bind("s").commit(FIRST)
    lock = store.path / "refs/heads/s.lock"
    lock.touch()
    impatient = Store.open(store.path, durable=False, wait=0.1)
    with pytest.raises(StoreBusy, match=r"refs/heads/s\.lock is held by another process, taken 0 s ago") as caught:
        impatient.bind("s").commit(SECOND)
    assert isinstance(caught.value, Unavailable)
    assert lock.exists()
    assert store.bind("s").load() == Session("first", [HELLO])
    lock.unlink()
    assert impatient.bind("s").commit(SECOND).head == "second"


def test_the_store_s_own_directory_may_be_deleted(store: Store) -> None:
    shutil.rmtree(store.path / "gitsession")
    assert store.bind("s").commit(FIRST).head == "first"


def test_a_lock_that_is_held_is_not_stale_however_old_its_time_makes_it(store: Store) -> None:
    """A clock that was set, or a machine that slept, makes one old that its holder gives back in a moment."""
    lock = store.path / "refs/heads/s.lock"
    lock.touch()
    os.utime(lock, (time.time() - 3600,) * 2)
    threading.Timer(0.3, lock.unlink).start()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert store.bind("s").commit(FIRST).head == "first"


def test_a_lock_that_follows_another_while_it_is_looked_at_is_not_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "s.lock"
    lock.touch()
    stat, calls = os.stat, []

    def once_gone(path: str, **options: bool) -> os.stat_result:
        if str(path) == str(lock):
            calls.append(path)
            if len(calls) == 1:
                raise FileNotFoundError(path)
        return stat(path, **options)

    monkeypatch.setattr(os, "stat", once_gone)
    with pytest.raises(StoreBusy):
        locks_module.take_git_lock(str(lock), wait=0.2, scratch=tmp_path)
    assert lock.exists()


def test_a_lock_that_follows_a_stale_one_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = tmp_path / "s.lock"
    lock.touch()
    os.utime(lock, (time.time() - 3600,) * 2)
    rename = Path.rename

    def late(path: Path, target: Path) -> Path:
        if path == lock and not (tmp_path / "next").exists():
            (tmp_path / "next").touch()
            os.link(tmp_path / "next", tmp_path / "new")
            (tmp_path / "new").replace(lock)
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", late)
    with pytest.raises(StoreBusy):
        locks_module.take_git_lock(str(lock), wait=0.5, scratch=tmp_path)
    assert lock.samefile(tmp_path / "next")


def test_a_lock_of_a_time_to_come_is_as_old_as_it_was_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks_module, "STALE_SECONDS", 0.3)
    lock = tmp_path / "s.lock"
    lock.touch()
    ahead = time.time() + 365 * 24 * 3600
    os.utime(lock, (ahead, ahead))
    began = time.monotonic()
    with pytest.warns(UserWarning, match="which a killed process left [01] s ago"):
        os.close(locks_module.take_git_lock(str(lock), wait=20, scratch=tmp_path))
    assert time.monotonic() - began > 0.3


def test_a_lock_that_is_taken_again_and_again_is_not_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks_module, "STALE_SECONDS", 1.0)
    lock = tmp_path / "s.lock"
    ended = threading.Event()

    def work() -> None:
        number = 0
        while not ended.wait(0.02):
            number += 1
            (tmp_path / f"{number}").touch()
            ahead = time.time() + 1000 + number
            os.utime(tmp_path / f"{number}", (ahead, ahead))
            (tmp_path / f"{number}").replace(lock)

    lock.touch()
    thread = threading.Thread(target=work)
    thread.start()
    with pytest.raises(StoreBusy) as busy:
        locks_module.take_git_lock(str(lock), wait=2.5, scratch=tmp_path)
    ended.set()
    thread.join()
    assert busy.value.age is not None
    assert 0 <= busy.value.age < 1.0
