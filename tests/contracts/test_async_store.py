"""Both contracts through `AsyncStore`, which blocks no event loop."""

import asyncio
import inspect
import threading
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gitsession import (
    AsyncSessionStore,
    AsyncStore,
    Corrupt,
    InvalidCommit,
    MessageEntry,
    NotAStore,
    NotImported,
    ParentConflict,
    Session,
    SessionCommit,
    SessionExists,
    SessionInfo,
    SessionMeta,
    SessionNotFound,
    SessionStore,
    Store,
)
from tests.stores import HELLO, HI, everything

FIRST = SessionCommit("first", None, [HELLO, HI])
ENTRY = MessageEntry(HELLO, id="e1", timestamp="2025-01-01T00:00:00Z")

# How often the loop must have come round during work that takes hundreds of times as long as one tick.
TICKS = 20


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test, debug=False)


@asynccontextmanager
async def ticking() -> AsyncIterator[list[float]]:
    """Runs a task that notes the time every few milliseconds, and gives the times."""
    ticks: list[float] = []

    async def tick() -> None:
        while True:
            await asyncio.sleep(0.002)
            ticks.append(time.monotonic())

    task = asyncio.create_task(tick())
    yield ticks
    task.cancel()


def test_atomic_commits(store_path: Path) -> None:
    async def test() -> None:
        store = await AsyncStore.init(store_path, durable=False)
        session = store.bind("s")
        assert session.session_id == "s"
        assert await session.load() == Session(None, [])
        assert await session.commit(FIRST) == Session("first", [HELLO, HI])
        assert await session.commit(FIRST) == Session("first", [HELLO, HI])
        second = await session.commit(SessionCommit("second", "first", [HELLO]))
        assert second == await session.commit(FIRST)
        assert second == await (await AsyncStore.open(store_path)).bind("s").load()
        with pytest.raises(Corrupt):
            await session.commit(SessionCommit("first", None, [HI]))
        with pytest.raises(ParentConflict) as caught:
            await session.commit(SessionCommit("third", None, [HI]))
        assert (caught.value.expected, caught.value.actual) == (None, "second")
        for bad in (SessionCommit("a", "second", []), SessionCommit("", "second", [HI])):
            with pytest.raises(InvalidCommit):
                await session.commit(bad)
        assert second == await session.load()

    run(test())


def test_append_only_logs(store_path: Path) -> None:
    async def test() -> None:
        store = await AsyncStore.init(store_path, durable=False)
        meta = SessionMeta("s")
        assert await store.list() == []
        assert await store.create(meta) == "s"
        assert await store.append("s", ENTRY) is None
        await store.append("s", ENTRY)
        assert await store.load("s") == [ENTRY]
        assert await store.list() == [meta]
        with pytest.raises(SessionExists):
            await store.create(meta)
        with pytest.raises(SessionNotFound):
            await store.load("none")
        with pytest.raises(SessionNotFound):
            await store.append("none", ENTRY)
        with pytest.raises(Corrupt):
            await store.append("s", MessageEntry(HI, id="e1"))

    run(test())


@pytest.mark.parametrize(("sync", "made"), [(Store, AsyncStore), (SessionStore, AsyncSessionStore)])
def test_the_verbs_and_their_parameters_are_those_of_the_store(sync: type, made: type) -> None:
    def verbs(cls: type) -> dict[str, list[str]]:
        found = {name: value for name, value in vars(cls).items() if not name.startswith("_")}
        plain = {name: getattr(value, "__func__", value) for name, value in found.items()}
        return {name: [str(p) for p in inspect.signature(value).parameters.values()] for name, value in plain.items()}

    offered = verbs(made)
    offered.pop("bind_remote", None)  # a function that takes a store; here it is a verb of the store
    assert offered == verbs(sync)


def test_the_other_verbs_give_what_the_store_gives(store: Store) -> None:
    async def test() -> None:
        made = await AsyncStore.open(store.path, durable=False)
        assert made.path == store.path
        await made.bind("s").commit(FIRST)
        await made.append("s", ENTRY)
        assert await made.fork("s", "fork", at="first", title="a fork") == "fork"
        await made.append("fork", ENTRY)
        assert await made.find("fo") == "fork"
        assert await made.info("fork") == store.info("fork")
        assert (await made.info("s", at="#0")).head == "first"
        assert await made.diff("s", "fork", at_a="first") == store.diff("s", "fork", at_a="first")
        assert await made.messages("s", at="first") == [HELLO, HI]
        assert [entry async for entry in made.log("s")] == list(store.log("s"))
        assert [line async for line in made.transcript("s", at="~0")] == list(store.transcript("s"))
        found = [session async for session in made.sessions()]
        assert found == list(store.sessions())
        assert all(isinstance(session, SessionInfo) for session in found)
        with pytest.raises(NotImported):
            [chunk async for chunk in made.original("s")]
        with pytest.raises(SessionNotFound):
            [entry async for entry in made.log("none")]

    run(test())


def test_an_iterator_gives_what_came_before_its_error(store: Store) -> None:
    for number in range(3):
        store.bind("s").commit(SessionCommit(f"c{number}", store.bind("s").load().head, [{"n": number}]))
    oid = next(line for line in everything(store)[1].splitlines() if "000002-" in line).split()[0]
    (store.path / "objects" / oid[:2] / oid[2:]).unlink()

    async def test() -> None:
        lines = (await AsyncStore.open(store.path)).transcript("s")
        assert [b'"n":0' in await anext(lines), b'"n":1' in await anext(lines)] == [True, True]
        with pytest.raises(Corrupt):
            await anext(lines)

    run(test())


def test_opening_what_is_no_store_fails(tmp_path: Path) -> None:
    async def test() -> None:
        with pytest.raises(NotAStore):
            await AsyncStore.open(tmp_path / "none")
        with pytest.raises(NotAStore):
            await AsyncStore.init(Path(__file__))

    run(test())


def test_the_loop_goes_on_during_a_big_commit_and_a_big_load(store_path: Path) -> None:
    text = "All work and no play. " * 50
    big = SessionCommit("big", None, [{"role": "user", "content": text, "n": number} for number in range(20_000)])

    async def test() -> None:
        store = await AsyncStore.init(store_path, durable=False)
        session = store.bind("s")
        async with ticking() as ticks:
            made = await session.commit(big)
            assert len(ticks) >= TICKS
            ticks.clear()
            assert len(await store.load("s")) == 20_000
            assert len(ticks) >= TICKS
            before = len(ticks)
            assert len(made.messages) == 20_000
            assert made.messages[-1]["n"] == 19_999
            assert len(ticks) == before
            assert len([line async for line in store.transcript("s")]) == 20_000

    run(test())


def test_the_loop_goes_on_while_a_commit_waits_for_a_lock(store: Store) -> None:
    async def test() -> None:
        made = AsyncStore(store)
        lock = store.path / "refs/heads/s.lock"
        lock.touch()
        async with ticking() as ticks:
            commit = asyncio.create_task(made.bind("s").commit(FIRST))
            await asyncio.sleep(0.1)
            assert not commit.done()
            assert await made.create(SessionMeta("another")) == "another"
            lock.unlink()
            assert (await commit).head == "first"
        assert len(ticks) >= TICKS

    run(test())


def test_many_tasks_append_and_every_entry_is_there_once(store_path: Path) -> None:
    async def test() -> None:
        store = await AsyncStore.init(store_path, durable=False)
        await store.create(SessionMeta("s"))
        entries = [MessageEntry({"n": number}) for number in range(100)]
        await asyncio.gather(*(store.append("s", entry) for entry in entries))
        found = await store.load("s")
        assert sorted(entry.id for entry in entries) == sorted(entry.id for entry in found)
        assert {entry.id: entry for entry in entries} == {entry.id: entry for entry in found}

    run(test())


@pytest.mark.parametrize("delay", [0, 0.0005, 0.002, 0.01, 0.05])
def test_a_cancelled_commit_is_stored_whole_or_not_at_all(store_path: Path, delay: float) -> None:
    commit = SessionCommit("c", None, [{"n": number, "text": "x" * 1000} for number in range(500)])

    async def test() -> None:
        store = await AsyncStore.init(store_path, durable=False)
        task = asyncio.create_task(store.bind("s").commit(commit))
        await asyncio.sleep(delay)
        task.cancel()
        await asyncio.wait([task])
        loaded = await store.bind("s").load()
        assert loaded in (Session(None, []), Session("c", commit.messages))
        assert await store.bind("s").commit(commit) == Session("c", commit.messages)

    run(test())


def test_a_commit_that_no_thread_has_begun_is_not_stored_when_it_is_cancelled(store: Store) -> None:
    async def test() -> None:
        made = AsyncStore(store)
        release = threading.Event()
        waiting = [asyncio.create_task(made._threads.run(release.wait)) for _ in range(16)]
        await asyncio.sleep(0.05)
        task = asyncio.create_task(made.bind("s").commit(FIRST))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0.01)
        release.set()
        await asyncio.gather(*waiting)
        assert await made.bind("s").load() == Session(None, [])

    run(test())
