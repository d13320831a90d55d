"""Clients that write and sync at the same time, each a process. Imported by them, so it imports no test tools."""

import threading
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.synchronize import Barrier

from gitsession import Diverged, MessageEntry, Store, SyncRefused, bind_remote, sync


def write_and_sync(number: int, barrier: Barrier, paths: list[str], seconds: float) -> dict[str, list[str]]:
    """Appends to sessions and syncs for some seconds; returns the ids that were acknowledged, by session.

    `own<number>` is written here alone, `shared` by all, `served` by all at the server.
    """
    store = Store.open(paths[number], durable=False)
    done: dict[str, list[str]] = {f"own{number}": [], "shared": [], "served": []}
    barrier.wait(60)
    until = time.monotonic() + seconds
    failures: list[BaseException] = []

    def append(session_id: str) -> None:
        served = bind_remote(store, "served", timeout=30)
        while time.monotonic() < until:
            entry_id = f"{session_id}-{number}-{len(done[session_id])}"
            entry = MessageEntry({"role": "user", "content": entry_id}, id=entry_id)
            if session_id == "served":
                served.append(entry)
            else:
                store.append(session_id, entry)
            done[session_id].append(entry_id)
            time.sleep(0.01)

    def keep_in_sync() -> None:
        while time.monotonic() < until:
            try:
                sync(store)
            except Diverged:
                pass
            except SyncRefused as error:
                # Others push all the time; one that lost every race is told so, and is next in line.
                if any(not result.raced for result in error.results if result.status == "refused"):
                    raise
            time.sleep(0.05)

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    work = [partial(append, session_id) for session_id in done]
    threads = [threading.Thread(target=run, args=(one,)) for one in (*work, keep_in_sync)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return done
