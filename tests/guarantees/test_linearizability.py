"""Several writers do what they like to sessions, on a disk that fails at times, and are killed at times.

Each call has one of three outcomes, as it has for a caller: done, refused, or nobody knows. What they were told and
shown must fit one order, that of the session's chain.

`pytest -m slow --full tests/guarantees/test_linearizability.py`: 10,000 histories.
"""

import errno
import json
import math
import random
import shutil
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gitsession import MessageEntry, ParentConflict, SessionCommit, SessionNotFound, Store, Unavailable, verify
from gitsession.repo.disk import Disk
from tests.guarantees.children import Child, Hold, Say
from tests.guarantees.linear import Operation, violations

pytestmark = pytest.mark.slow

WRITERS = 3
SESSIONS = 5
CALLS = 30
ROUNDS = 50


class FailingDisk(Disk):
    """A disk on which one sync in twelve fails."""

    def __init__(self, path: Path, chance: random.Random) -> None:
        super().__init__(path, durable=False)
        self._chance = chance

    def barrier(self) -> None:
        if self._chance.random() < 1 / 12:
            raise OSError(errno.EIO, "the disk failed")


class Writer:
    """One process: it calls a store at random, and notes each call before and after."""

    def __init__(self, path: Path, sessions: list[str], seed: int, note: Callable[[dict[str, Any]], None]) -> None:
        self._store = Store.open(path, durable=False)
        self._chance = random.Random(seed)
        repository = self._store.repository
        repository.disk = repository.refs.disk = repository.objects.disk = FailingDisk(path, self._chance)
        self._sessions = {name: self._store.bind(name) for name in sessions}
        self._note = note
        self._seed = seed
        self._heads: dict[str, list[str | None]] = {name: [None] for name in sessions}
        self._written: dict[str, list[tuple[str, str | None]]] = {name: [] for name in sessions}
        self._forks = 0

    def call(self, number: int) -> None:
        name = self._chance.choice(list(self._sessions))
        kind = self._chance.choice(["commit", "commit", "append", "append", "load", "entries", "replay", "fork"])
        write, parent = f"w{self._seed}-{number}", self._heads[name][-1]
        if kind == "commit" and self._chance.random() < 0.2:
            parent = self._chance.choice(self._heads[name])
        if kind == "append":
            parent = ""
        if kind == "replay":
            if not self._written[name]:
                return
            write, parent = self._chance.choice(self._written[name][-3:])
        writes = kind in ("commit", "append", "replay")
        if writes and kind != "replay":
            self._written[name].append((write, parent))
        call = {"session": name, "write": write if writes else None, "parent": parent if writes else ""}
        self._note(call | {"begin": time.monotonic()})
        told = self._told(name, kind, write, parent)
        self._note(call | {"end": time.monotonic()} | told)

    def _told(self, name: str, kind: str, write: str, parent: str | None) -> dict[str, Any]:
        session = self._sessions[name]
        try:
            if kind == "load":
                return self._shown(name, [message["id"] for message in session.load().messages])
            if kind == "entries":
                return self._shown(name, [entry.message["id"] for entry in self._store.load(name)])
            if kind == "fork":
                fork = self._store.fork(name)
                return self._shown(name, [entry.message["id"] for entry in self._store.load(fork)])
            if parent == "":
                self._store.append(name, MessageEntry({"id": write}, write, None, "2026-01-01T00:00:00Z"))
                return {"outcome": "ok"}
            made = session.commit(SessionCommit(write, parent, [{"id": write}]))
            return self._shown(name, [message["id"] for message in made.messages])
        except ParentConflict as conflict:
            self._heads[name].append(conflict.actual)
            return {"outcome": "failed", "head": conflict.actual}
        except SessionNotFound:
            return {"outcome": "failed", "head": None}
        except Unavailable:
            return {"outcome": "unknown"}

    def _shown(self, name: str, seen: list[str]) -> dict[str, Any]:
        self._heads[name].append(seen[-1] if seen else None)
        return {"outcome": "ok", "seen": seen}


def writing(path: Path, sessions: list[str], seed: int, notes: Path) -> Child:
    def work(say: Say, hold: Hold) -> None:
        warnings.simplefilter("ignore")  # of the locks that the killed ones left
        with notes.open("w", buffering=1, encoding="utf-8") as file:
            writer = Writer(path, sessions, seed, lambda told: print(json.dumps(told), file=file))
            hold()
            for number in range(CALLS):
                writer.call(number)

    return Child(work)


def operations(notes: Path) -> Iterator[tuple[str, Operation]]:
    """Yields the calls of one process, each with its session; one that the process did not live to end is unknown."""
    open_call: dict[str, Any] | None = None
    for line in notes.read_text(encoding="utf-8").split("\n"):
        if not line.endswith("}"):
            continue  # cut by the kill
        told = json.loads(line)
        if "begin" in told:
            open_call = told
            continue
        assert open_call is not None
        yield told["session"], _operation(open_call | told)
        open_call = None
    if open_call is not None:
        yield open_call["session"], _operation(open_call | {"end": math.inf, "outcome": "unknown"})


def _operation(told: dict[str, Any]) -> Operation:
    seen = tuple(told["seen"]) if "seen" in told else None
    end = math.inf if told["outcome"] == "unknown" else told["end"]
    return Operation(told["begin"], end, told["write"], told["outcome"], told["parent"], seen, told.get("head", ""))


def held(store: Store, session: str) -> list[str]:
    try:
        return [entry.message["id"] for entry in store.load(session)]  # type: ignore[union-attr]
    except SessionNotFound:
        return []


@pytest.mark.filterwarnings("ignore:removed .*lock")
def test_what_writers_are_told_fits_one_order(tmp_path: Path, scale: Callable[[int, int], int]) -> None:
    outcomes: Counter[str] = Counter()
    chance = random.Random(5)
    rounds = scale(40, 10_000) // SESSIONS
    for round_ in range(rounds):
        # A store for so many rounds each: one that only grows would be looked at for longer each time.
        path = tmp_path / f"store-{round_ // ROUNDS}.git"
        store = Store.init(path, durable=False)
        sessions = [f"r{round_}-{number}" for number in range(SESSIONS)]
        notes = [tmp_path / f"notes-{number}" for number in range(WRITERS)]
        children = [writing(path, sessions, round_ * WRITERS + number, one) for number, one in enumerate(notes)]
        for child in children:
            child.go()
        if round_ % 3 == 0:
            time.sleep(chance.uniform(0.01, 0.15))
            children[0].kill()
        ends = [child.finish() for child in children]
        assert all(signal == 9 or said == [] for said, signal in ends), ends
        done: dict[str, list[Operation]] = {name: [] for name in sessions}
        for one in notes:
            for name, operation in operations(one):
                done[name].append(operation)
                outcomes[operation.outcome] += 1
        for name in sessions:
            found = list(violations(held(store, name), done[name]))
            assert found == [], (name, found, held(store, name), done[name])
        if (round_ + 1) % ROUNDS == 0 or round_ + 1 == rounds:
            assert [finding for finding in verify(store) if finding.damage] == []
            shutil.rmtree(path)
    assert all(outcomes[kind] > 10 for kind in ("ok", "failed", "unknown")), outcomes


READ = Operation(4, 5, None, "ok", seen=("a", "b"))
A, B = Operation(0, 1, "a", "ok", None), Operation(2, 3, "b", "ok", "a")


@pytest.mark.parametrize(
    ("chain", "done", "fits"),
    [
        (["a", "b"], [A, B, READ], True),
        (["a"], [A, Operation(2, math.inf, "b", "unknown", "a")], True),
        (["a", "b"], [A, Operation(2, math.inf, "b", "unknown", "a"), READ], True),
        (["a"], [A, B], False),
        (["b", "a"], [Operation(0, 1, "a", "ok"), Operation(2, 3, "b", "ok")], False),
        (["a", "b"], [A, Operation(2, 3, "b", "failed", "a", head=None)], False),
        (["a", "b"], [A, B, Operation(4, 5, None, "ok", seen=("a",))], False),
        (["a", "b"], [A, B, Operation(0, 0.5, None, "ok", seen=("a", "b"))], False),
        (["a", "b"], [A, B, Operation(4, 5, None, "ok", seen=("b",))], False),
        (["a", "b", "b"], [A, B], False),
        (["a", "c"], [A], False),
        (["a", "b"], [A, Operation(2, 3, "b", "ok", "x")], False),
        (["a", "b"], [A, B, Operation(4, 5, "c", "failed", "a", head="a")], False),
        (["a", "b"], [A, B, Operation(4, 5, "c", "failed", "a", head="b")], True),
    ],
)
def test_the_judge_tells_histories_apart(chain: list[str], done: list[Operation], fits: bool) -> None:
    assert (list(violations(chain, done)) == []) == fits
