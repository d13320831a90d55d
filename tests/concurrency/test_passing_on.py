"""A store goes to another process: pickled, as `multiprocessing` does it, or forked while threads are at work."""

import asyncio
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from gitsession import (
    AsyncStore,
    MessageEntry,
    NotAStore,
    Session,
    SessionCommit,
    SessionMeta,
    Store,
    bind_remote,
    new_commit,
    verify,
)
from gitsession.session_store import SessionStore
from tests.stores import HELLO, HI, git_output

PATIENCE_SECONDS = 20


def append(store: Store, name: str) -> list[str]:
    store.append("s", MessageEntry(HELLO, name, None, ""))
    return [entry.id for entry in store.load("s")]


def commit(session: SessionStore, head: str | None) -> Session:
    return session.commit(new_commit(head, [HI]))


def test_a_store_is_passed_to_other_processes_and_sessions_come_back(store: Store) -> None:
    store.create(SessionMeta("s"))
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        assert "a" in pool.submit(append, store, "a").result()
        assert "b" in pool.submit(append, store, "b").result()
        made = pool.submit(commit, store.bind("s"), store.info("s").head).result()
    assert made == store.bind("s").load()
    assert made.messages == [HELLO, HELLO, HI]


def test_a_pickled_store_keeps_its_options_and_is_none_where_there_is_none(store: Store) -> None:
    other = pickle.loads(pickle.dumps(Store.open(store.path, durable=False, wait=3)))
    assert (other.path, other.repository.disk.durable, other.repository.wait) == (store.path, False, 3)
    with pytest.raises(NotAStore):
        pickle.loads(pickle.dumps(store).replace(b"store.git", b"other.git"))


def test_what_a_session_is_read_from_need_not_be_there_any_more(store: Store) -> None:
    session = store.bind("s")
    made = session.commit(SessionCommit("a", None, [HELLO, {"text": "x" * 2_000_000}]))
    for one in (made, session.load(), Store.open(store.path).bind("s").load()):
        packed = pickle.dumps(one)
        assert store.path.name.encode() not in packed
        assert pickle.loads(packed) == one


def test_a_pickled_session_of_a_remote_is_one_of_the_remote(store: Store, tmp_path: Path) -> None:
    other = Store.init(tmp_path / "other.git", durable=False)
    git_output(store.path, "remote", "add", "origin", str(other.path))
    passed = pickle.loads(pickle.dumps(bind_remote(store, "s", timeout=20)))
    assert passed.commit(SessionCommit("a", None, [HELLO])).head == "a"
    assert other.bind("s").load().head == "a"


def test_a_pickled_store_for_asyncio_works(store: Store) -> None:
    store.create(SessionMeta("s"))
    passed: AsyncStore = pickle.loads(pickle.dumps(AsyncStore(store)))
    assert [meta.id for meta in asyncio.run(passed.list())] == ["s"]


def forks(test: Callable[[Store], None]) -> Callable[[Store], None]:
    """Marks a test that forks while threads are at work, which Python 3.12 and later warn of."""
    test = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")(test)
    return pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")(test)


def forked(work: Callable[[], object]) -> int:
    """Returns the id of a child that runs a function, and ends with 1 if that fails."""
    pid = os.fork()
    if pid == 0:
        code = 1
        with suppress(BaseException):
            work()
            code = 0
        os._exit(code)
    return pid


def ended(pid: int) -> bool:
    """Waits for a child; tells whether it ended well, and in time."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return status == 0
        time.sleep(0.01)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return False


@forks
def test_a_child_takes_no_lock_with_it_that_a_thread_held(store: Store) -> None:
    store.create(SessionMeta("s"))
    held, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with store.repository.locks.hold("s"):
            held.set()
            go_on.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    reading, writing = os.pipe()
    pid = forked(lambda: (os.read(reading, 1), append(store, "child")))
    go_on.set()
    thread.join()
    # The child lives; neither it nor anybody else waits for a thread that only its parent had.
    program = "import sys; from gitsession import *; s = Store.open(sys.argv[1], wait=5); "
    program += "s.append('s', MessageEntry({}, 'other', None, ''))"
    try:
        subprocess.run([sys.executable, "-c", program, store.path], check=True)
    finally:
        os.write(writing, b"x")
    assert ended(pid)
    assert [entry.id for entry in store.load("s")] == ["other", "child"]


@forks
def test_the_lock_of_a_parent_that_was_killed_is_not_kept_by_its_child(store: Store) -> None:
    store.create(SessionMeta("s"))
    reading, writing = os.pipe()

    def parent() -> None:
        held = threading.Event()

        def hold() -> None:
            with store.repository.locks.hold("s"):
                held.set()
                time.sleep(PATIENCE_SECONDS)

        threading.Thread(target=hold).start()
        held.wait()
        forked(lambda: os.read(reading, 1))
        os.kill(os.getpid(), 9)

    pid = os.fork()
    if pid == 0:
        parent()
    os.waitpid(pid, 0)
    try:
        Store.open(store.path, wait=5).append("s", MessageEntry(HELLO))
    finally:
        os.write(writing, b"x")


@forks
@pytest.mark.slow
def test_children_that_are_forked_while_threads_write_and_read_do_both(store: Store) -> None:
    store.create(SessionMeta("s"))
    session = store.bind("s")
    stop = threading.Event()

    def busy(number: int) -> None:
        place = 0
        while not stop.is_set():
            store.append("s", MessageEntry(HELLO, f"{number}-{place}"))
            assert len(session.load().messages) > 0
            place += 1

    def child(number: int) -> None:
        store.append("s", MessageEntry(HELLO, f"child-{number}"))
        ids = [entry.id for entry in store.load("s")]
        assert f"child-{number}" in ids
        assert len(session.load().messages) >= len(ids)

    threads = [threading.Thread(target=busy, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    try:
        for number in range(20):
            assert ended(forked(lambda number=number: child(number))), number
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    ids = [entry.id for entry in store.load("s")]
    assert {f"child-{number}" for number in range(20)} <= set(ids)
    assert len(ids) == len(set(ids))
    assert list(verify(store)) == []


@forks
def test_a_store_for_asyncio_that_has_run_works_in_a_child(store: Store) -> None:
    store.create(SessionMeta("s"))
    shared = AsyncStore(store)
    assert len(asyncio.run(shared.list())) == 1
    time.sleep(0.05)  # until the thread waits for more
    assert ended(forked(lambda: asyncio.run(shared.append("s", MessageEntry(HELLO, "child")))))
    assert [entry.id for entry in store.load("s")] == ["child"]
