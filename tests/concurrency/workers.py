"""Real processes that begin at the same moment, and what they do. Imported by them, so it imports no test tools."""

import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from gitsession import (
    MessageEntry,
    ParentConflict,
    SessionCommit,
    SessionExists,
    SessionInfo,
    SessionMeta,
    Store,
    maintain,
)

_context = multiprocessing.get_context("spawn")


def race(count: int, work: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Runs `work(number, barrier, *arguments)` in processes, and returns what each returned, by its number."""
    results = _context.Queue()
    barrier = _context.Barrier(count)
    processes = [
        _context.Process(target=_run, args=(results, work, number, barrier, arguments)) for number in range(count)
    ]
    for process in processes:
        process.start()
    found = dict(results.get(timeout=60) for _ in processes)
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * count
    return [found[number] for number in range(count)]


def _run(results: Any, work: Callable[..., Any], number: int, barrier: Barrier, arguments: tuple[Any, ...]) -> None:
    try:
        results.put((number, work(number, barrier, *arguments)))
    except BaseException as error:
        barrier.abort()
        results.put((number, error))
        raise


def append_entries(number: int, barrier: Barrier, path: str, sessions: int, count: int) -> list[str]:
    """Appends entries to one of the sessions; returns their ids."""
    store = Store.open(path, durable=False)
    ids = [f"{number}-{place}" for place in range(count)]
    barrier.wait(60)
    for entry_id in ids:
        store.append(f"s{number % sessions}", MessageEntry({"id": entry_id}, id=entry_id))
    return ids


def append_the_same(number: int, barrier: Barrier, path: str, count: int) -> None:
    """Appends entries that all other processes append as well."""
    store = Store.open(path, durable=False)
    barrier.wait(60)
    for place in range(count):
        store.append("s", MessageEntry({"n": place}, id=f"e{place}", timestamp="2025-01-01T00:00:00Z"))


def create_sessions(number: int, barrier: Barrier, path: str, count: int) -> list[bool]:
    """Creates sessions that all others create as well; tells for each whether it was the one."""
    store = Store.open(path, durable=False)
    won = []
    for place in range(count):
        barrier.wait(60)
        try:
            store.create(SessionMeta(f"r{place}", title=str(number)))
            won.append(True)
        except SessionExists:
            won.append(False)
    return won


def commit_on_one_parent(number: int, barrier: Barrier, path: str, count: int) -> list[bool]:
    """Commits on the head that all see, round by round; tells for each round whether it was the one."""
    session = Store.open(path, durable=False).bind("s")
    won = []
    for place in range(count):
        head = session.load().head
        barrier.wait(60)
        try:
            session.commit(SessionCommit(f"{place}-{number}", head, [{"by": number}]))
            won.append(True)
        except ParentConflict:
            won.append(False)
        barrier.wait(60)
    return won


def commit_the_same(number: int, barrier: Barrier, path: str, count: int) -> str | None:
    """Commits what all others commit as well, and must succeed each time."""
    session = Store.open(path, durable=False).bind("s")
    barrier.wait(60)
    head = None
    for place in range(count):
        commit = SessionCommit(f"c{place}", head, [{"n": place}])
        session.commit(commit)
        head = commit.id
    return session.load().head


def init_and_append(number: int, barrier: Barrier, path: str) -> str:
    """Makes the store that all others make as well, and commits to a session of its own."""
    barrier.wait(60)
    store = Store.init(path, durable=False)
    return str(store.bind(f"s{number}").commit(SessionCommit("c", None, [{"by": number}])).head)


def fork_to_one_name(number: int, barrier: Barrier, path: str) -> bool:
    """Forks a session under a name that all others want as well; tells whether it was the one."""
    store = Store.open(path, durable=False)
    barrier.wait(60)
    try:
        store.fork("s", "fork", title=str(number))
    except SessionExists:
        return False
    return True


def commit_beside_maintenance(number: int, barrier: Barrier, path: str, end: str) -> tuple[str, list[Any]]:
    """Commits, reads, or maintains, by its number, until the file `end` is there; tells what was done."""
    barrier.wait(60)
    store = Store.open(path, durable=False)
    if number == 0:
        runs = [maintain(store) for _ in range(6)]
        Path(end).touch()
        return "maintained", runs
    session = store.bind("s" if number == 1 else "t")
    done: list[Any] = []
    while not Path(end).exists():
        if number == 3:
            lengths = [len(reader.load(name)) for reader in (store, Store.open(path)) for name in ("s", "t")]
            infos = [*store.sessions()]
            done.append((lengths, [info.deltas for info in infos if isinstance(info, SessionInfo)]))
        else:
            commit = SessionCommit(f"c{len(done)}", done[-1] if done else None, [{"n": len(done)}])
            done.append(session.commit(commit).head)
            time.sleep(0.005)  # as fast as they can, they write more than all the rest of the test can look at
    return "read" if number == 3 else "committed", done
