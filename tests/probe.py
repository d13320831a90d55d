"""Does everything with each store whose path it reads, as far as a user can: `python -m tests.probe`.

Each is done in a process of its own, a fork, so that its memory can be measured. Two lines of JSON tell what came of
it: the outcomes, unless it died, and how it ended.
"""

import json
import os
import re
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gitsession import MessageEntry, SessionError, Store, apply_repair, plan_repair, verify


def commands(store: Store, session: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    yield "info", lambda: store.info(session)
    yield "load", lambda: store.load(session)
    yield "log", lambda: list(store.log(session))
    yield "transcript", lambda: list(store.transcript(session))
    yield "messages", lambda: list(store.messages(session))
    yield "original", lambda: list(store.original(session))
    yield "at", lambda: store.load(session, at="#0")
    yield "diff", lambda: store.diff("good", session)
    yield "fork", lambda: store.fork(session)
    yield "append", lambda: store.append(session, MessageEntry({"role": "user", "content": "one more"}))
    yield "bind", lambda: list(store.bind(session).load().messages)


def most_memory() -> int:
    """Returns the most memory that this process had, in megabytes."""
    try:
        # What getrusage tells of Linux begins with what the parent had before this program was loaded.
        peak = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
    except FileNotFoundError:
        peak = None
    return (int(peak[1]) if peak else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) // 1024


def main(path: str) -> None:
    warnings.simplefilter("ignore")
    outcomes: dict[str, str] = {}
    slowest = ("", 0.0)

    def attempt(name: str, do: Callable[[], Any]) -> Any:
        nonlocal slowest
        began = time.perf_counter()
        try:
            result = do()
            outcomes[name] = "done"
        except SessionError as error:
            result = None
            outcomes[name] = f"{type(error).__name__}: {error}"
        slowest = max(slowest, (name, time.perf_counter() - began), key=lambda pair: pair[1])
        return result

    store = attempt("open", lambda: Store.open(path, durable=False, wait=0.5))
    findings: list[str] = []
    if store is not None:
        findings = [finding.problem for finding in attempt("verify", lambda: list(verify(store))) or ()]
        attempt("verify fast", lambda: list(verify(store, fast=True)))
        attempt("list", store.list)
        found = attempt("sessions", lambda: [session.id for session in store.sessions()]) or []
        for session in found[:5]:
            for name, do in commands(store, session):
                attempt(f"{name} {session}", do)
        for repair in attempt("plan", lambda: plan_repair(store)) or ():
            attempt(f"repair {repair.session}", lambda repair=repair: apply_repair(store, repair))
    result = {"outcomes": outcomes, "findings": findings, "slowest": slowest, "megabytes": most_memory()}
    print(json.dumps(result), flush=True)  # noqa: T201


if __name__ == "__main__":
    for line in sys.stdin:
        child = os.fork()
        if not child:
            main(line.rstrip("\n"))
            os._exit(0)
        print(json.dumps(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])), flush=True)  # noqa: T201
