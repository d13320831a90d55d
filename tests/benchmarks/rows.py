"""The rows of the table: what is measured, and the goal of each."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from gitsession import Graph, ParentConflict, Store, new_commit
from tests.benchmarks import peers
from tests.benchmarks.building_stores import fill, messages
from tests.benchmarks.imports import import_memory, importing, many_sessions, space
from tests.benchmarks.measuring import (
    HEADER,
    Row,
    Times,
    compared,
    file_system,
    in_turns,
    machine,
    processor_time,
    shown,
    timed,
)
from tests.benchmarks.sizes import LARGE, SMALL, Sizes
from tests.importing import answer, prompt, take

ROOT = Path(__file__).parent.parent.parent

# The goals of one commit, by the peer that it is measured against.
COMMIT_GOALS = {
    "OpenAI SQLiteSession": 1.5,
    "OpenAI AdvancedSQLiteSession": 1.0,
    "gitlord": 0.05,
    "dulwich": 0.4,
    "GitPython": 0.03,
    "git plumbing": 0.03,
}


def run(*, small: bool, memory: Path, disk: Path, only: str) -> None:
    """Measures everything, or what has a word in its name, and prints the table as it comes."""
    sizes = SMALL if small else LARGE
    memory = (memory if memory.is_dir() else Path(tempfile.gettempdir())).resolve()
    disk = disk.resolve()
    disk.mkdir(exist_ok=True)
    print(f"{machine()}\nmemory: {file_system(memory)}, disk: {file_system(disk)}")
    print(f"Medians, and in brackets what 8 of 10 took.\n\n{HEADER}", flush=True)
    measures = (commits, durable, long_session, load, fork, graph, listing, start, memory_of_reading)
    for measure in (*measures, importing, import_memory, many_sessions, space):
        if only in measure.__name__:
            place = disk if measure is durable else memory
            made = tempfile.TemporaryDirectory(prefix="gitsession-benchmark-", dir=place)
            # A peer (gitlord) writes into the current directory.
            with made as directory, contextlib.chdir(directory):
                for row in measure(Path(directory), sizes):
                    # Of what takes no time, a ratio says nothing.
                    print(row._replace(goal=None) if small else row, flush=True)


def commits(path: Path, sizes: Sizes) -> Iterator[Row]:
    """Measures one commit of an 800-byte message against every peer, in turns."""
    writes: dict[str, peers.Write] = {}
    for name, make in peers.PEERS.items():
        place = path / name.replace(" ", "-")
        place.mkdir()
        try:
            writes[name] = make(place)
        except ImportError as error:
            yield Row(f"a commit, against {name}", None, COMMIT_GOALS.get(name), "", f"missing: {error}")
    source = messages(3)
    said = [next(source) for _ in range(sizes.rounds + 3)]
    # The peers that start processes take a hundred times as long: they are asked less often.
    slow = {name: writes.pop(name) for name in ("git plumbing", "GitPython", "gitlord") if name in writes}
    calls = {name: (lambda number, write=write: write(said[number])) for name, write in writes.items()}
    took = in_turns(calls, sizes.rounds, clock=time.perf_counter)
    calls = {name: (lambda number, write=write: write(said[number])) for name, write in slow.items()}
    # It goes on in its store, as a long-lived one: a new one has its 256 directories of objects still to make.
    calls["gitsession"] = lambda number: writes["gitsession"](said[number])
    took_slow = in_turns(calls, max(sizes.rounds // 10, 3), clock=time.perf_counter)
    for name in writes:
        if name not in ("gitsession", "LangGraph SqliteSaver"):
            yield compared(f"a commit, against {name}", COMMIT_GOALS.get(name), took["gitsession"], took[name])
    for name in slow:
        yield compared(f"a commit, against {name}", COMMIT_GOALS.get(name), took_slow["gitsession"], took_slow[name])
    if "LangGraph SqliteSaver" in took:
        last = max(sizes.rounds // 10, 3)
        ours, theirs = (Times(took[name].all[-last:]) for name in ("gitsession", "LangGraph SqliteSaver"))
        yield compared(f"a commit at message {sizes.rounds}, against LangGraph", 0.4, ours, theirs)


def durable(path: Path, sizes: Sizes) -> Iterator[Row]:
    """Measures commits that survive a power cut, on the disk, and those that need not."""
    writes = {}
    makers: dict[str, Callable[[Path], peers.Write]] = {
        "durable": peers.gitsession_durable,
        "SQLite FULL": peers.sqlite_full,
        "plain": peers.gitsession,
        "SQLite OFF": peers.sqlite,
    }
    for name, make in makers.items():
        (path / name).mkdir()
        writes[name] = make(path / name)
    said = next(messages(4))
    calls = {name: (lambda _, write=write: write(said)) for name, write in writes.items()}
    took = in_turns(calls, max(sizes.rounds // 3, 3), clock=time.perf_counter)
    yield compared("a durable commit on disk, against SQLite FULL", 5, took["durable"], took["SQLite FULL"])
    yield compared("a commit on disk, not synced, against SQLite OFF", None, took["plain"], took["SQLite OFF"])


def long_session(path: Path, sizes: Sizes) -> Iterator[Row]:
    """Measures a session of 100,000 deltas against one of 100."""
    store = Store.init(path / "s.git", durable=False)
    fill(store, {"long": sizes.long, "short": 100})
    source = messages(5)
    heads = {name: store.info(name).head for name in ("long", "short")}
    bound = {name: store.bind(name) for name in heads}

    def commit(name: str) -> None:
        heads[name] = bound[name].commit(new_commit(heads[name], [next(source)])).head

    first = timed(lambda: _stale(store, "long"))
    later = timed(lambda: _stale(Store.open(store.path, durable=False), "long"))
    for name in heads:
        commit(name)
    old = list(store.log("short"))[-2]
    assert old.commit_id is not None
    replayed = store.load("long", at="#5")[-1]
    same = new_commit("c4", [replayed.message])  # type: ignore[union-attr]  # all are messages
    same = type(same)("c5", "c4", same.messages)
    calls: dict[str, Callable[[int], object]] = {
        "long": lambda _: commit("long"),
        "short": lambda _: commit("short"),
        "replay": lambda _: bound["long"].commit(same),
        "stale": lambda _: _stale(store, "long"),
    }
    took = in_turns(calls, max(sizes.rounds // 3, 3), clock=time.perf_counter)
    yield compared(f"a commit at delta {sizes.long:,}, against one at 100", 1.3, took["long"], took["short"])
    yield compared(f"a replay in a session of {sizes.long:,}, against a commit", 2, took["replay"], took["long"])
    yield compared("the refusal of a stale parent there, against a commit", 2, took["stale"], took["long"])
    yield Row("the first refusal there of all, in units of 150 ms", first / 0.15, 1, shown(first), "150 ms")
    yield Row("the first in a later process, which finds the ids kept", later / 0.15, 1, shown(later), "150 ms")


def _stale(store: Store, session: str) -> None:
    try:
        store.bind(session).commit(new_commit("c3", [{"role": "user", "content": "late"}]))
    except ParentConflict:
        return
    raise AssertionError(session)


def load(path: Path, sizes: Sizes) -> Iterator[Row]:
    """Measures loads of 10,000 messages against `json.loads` of their JSONL."""
    store = Store.init(path / "s.git", durable=False)
    fill(store, {"s": sizes.load, "short": 100})
    file = path / "s.jsonl"
    file.write_bytes(b"".join(store.transcript("s")))
    cache = store.path / "gitsession" / "cache"

    def read(_: int) -> None:
        with file.open("rb") as lines:
            assert sizes.load == len([json.loads(line) for line in lines])

    def cold(_: int) -> None:
        assert sizes.load == len([*Store.open(store.path).bind("s").load().messages])

    def first(_: int) -> None:
        shutil.rmtree(cache, ignore_errors=True)
        cold(0)

    # Of the processor, as whatever else is at work here does more to the times than any change.
    took = in_turns(
        {"first": first, "cold": cold, "json": read}, 5 if sizes.load > 1000 else 2, clock=time.process_time
    )
    yield compared(
        "the first load of all, which fills the cache, against json.loads", None, took["first"], took["json"]
    )
    yield compared(f"a cold load of {sizes.load:,} deltas, against json.loads", 1.5, took["cold"], took["json"])

    warm = {name: store.bind(name) for name in ("s", "short")}
    heads = {name: session.load().head for name, session in warm.items()}
    after: dict[str, list[float]] = {name: [] for name in warm}
    for _ in range(10):
        for name, session in warm.items():
            heads[name] = session.commit(new_commit(heads[name], [{"role": "user", "content": "more"}])).head
            after[name].append(timed(lambda session=session: session.load().messages[-1]))
    what = f"a load of {sizes.load:,} after one more commit, in the same process, against one of 100"
    yield compared(what, 1.5, Times(after["s"]), Times(after["short"]))


def fork(path: Path, sizes: Sizes) -> Iterator[Row]:
    """Measures forks of a long and of a short session."""
    store = Store.init(path / "s.git", durable=False)
    fill(store, {"long": sizes.load, "short": 10})
    calls = {name: (lambda number, name=name: store.fork(name, f"{name}-{number}")) for name in ("long", "short")}
    took = in_turns(calls, max(sizes.rounds // 5, 3), clock=time.perf_counter)
    yield compared(f"a fork of a session of {sizes.load:,}, against one of 10", 1.0, took["long"], took["short"])


def graph(path: Path, sizes: Sizes) -> Iterator[Row]:
    """Measures the graph of a session in which many lines were left against its log."""
    store = Store.init(path / "s.git", durable=False)
    lines, records = 29, 10 * sizes.rounds
    with (path / "s.jsonl").open("wb") as file:
        for number in range(records):
            back = 12 if number and number % (records // (lines + 1)) == 0 else 1
            say = answer if number % 2 else prompt
            file.write(say(f"r{number}", f"r{number - back}" if number >= back else None, f"text {number}"))
    (done,) = take(store, path / "s.jsonl")
    calls: dict[str, Callable[[int], object]] = {
        "graph": lambda _: [*Graph(store, "s")],
        "first": lambda _: next(iter(Graph(store, "s"))),
        "log": lambda _: [*store.log("s")],
    }
    took = in_turns(calls, 5, clock=time.process_time)
    what = f"a graph of {records:,} records with {len(done.abandoned)} lines that were left, against a log"
    yield compared(what, 5, took["graph"], took["log"])
    yield compared("the last commit in it, against a log", 1.0, took["first"], took["log"])


def listing(path: Path, sizes: Sizes) -> Iterator[Row]:
    """Measures a list of 10,000 sessions against the first lines of 10,000 files."""
    store = Store.init(path / "s.git", durable=False)
    fill(store, {f"session-{number}": 1 for number in range(sizes.sessions)}, size=200)
    subprocess.run(["git", "-C", str(store.path), "pack-refs", "--all"], check=True)
    (path / "files").mkdir()
    for number in range(sizes.sessions):
        (path / "files" / f"{number}.jsonl").write_text('{"id": "session", "title": "something"}\n' * 10)

    def first_lines(_: int) -> None:
        for entry in os.scandir(path / "files"):
            with Path(entry.path).open("rb") as file:
                json.loads(file.readline())

    def listed(_: int) -> None:
        assert sizes.sessions == len([*Store.open(store.path).sessions()])

    def without_cache(_: int) -> None:
        shutil.rmtree(store.path / "gitsession" / "cache", ignore_errors=True)
        listed(0)

    calls = {"without": without_cache, "with": listed, "files": first_lines}
    took = in_turns(calls, 5 if sizes.sessions > 100 else 2, clock=time.process_time)
    yield compared(f"a list of {sizes.sessions:,} sessions, against first lines", 1.0, took["with"], took["files"])
    yield compared("the same without a cache", 2.0, took["without"], took["files"])


def start(path: Path, sizes: Sizes) -> Iterator[Row]:
    """Measures the processor time of short commands against that of loading their two libraries."""
    store = Store.init(path / "s.git", durable=False)
    fill(store, {"a": 2, "b": 2})
    command = [sys.executable, "-m", "gitsession_cli"]
    runs = {
        "base": [sys.executable, "-c", "import click, pygit2"],
        "help": [*command, "--help"],
        "list": [*command, "--store", str(store.path), "list"],
    }
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for one in runs.values():
        processor_time(one)  # leaves the modules compiled
    for _ in range(sizes.starts):
        for name, one in runs.items():
            taken[name].append(processor_time(one))
    base = Times(taken["base"])
    for name in ("help", "list"):
        yield compared(f"processor time of `gitsession {name}`, against the imports", 1.3, Times(taken[name]), base)


# What is done with the store at `sys.argv[1]`, once all of the library is loaded; prints the most memory that it took.
MEMORY = """
import sys
from gitsession import Store, verify
from tests.benchmarks.measuring import peak_memory
verbs = {
    "load": lambda store: held.append(store.bind("s").load().messages),
    "log": lambda store: sum(1 for _ in store.log("s")),
    "list": lambda store: sum(1 for _ in store.sessions()),
    "export": lambda store: sum(map(len, store.transcript("s"))),
    "verify": lambda store: sum(1 for _ in verify(store)),
}
held = []
for verb in verbs.values():
    verb(Store.open(sys.argv[2]))
held.clear()
before = peak_memory()
verbs[sys.argv[3]](Store.open(sys.argv[1]))
print(peak_memory() - before)
"""


def memory_of_reading(path: Path, sizes: Sizes) -> Iterator[Row]:
    """Measures the most memory that is taken to read a session, against the size of the JSONL."""
    store = Store.init(path / "s.git", durable=False)
    fill(store, {"s": sizes.load}, size=4000)
    fill(Store.init(path / "small.git", durable=False), {"s": 2})
    size = sum(map(len, store.transcript("s")))
    for verb, goal in (("load", 1.5), ("log", 0.5), ("list", 0.5), ("export", 0.5), ("verify", 1.5)):
        shutil.rmtree(store.path / "gitsession" / "cache", ignore_errors=True)
        command = [sys.executable, "-c", MEMORY, store.path, path / "small.git", verb]
        used = int(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout)
        yield Row(f"peak memory of `{verb}`, against the JSONL", used / size, goal, f"{used:,} B", f"{size:,} B")
