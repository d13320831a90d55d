"""Commits against a server: the contract, races, lost answers, servers out of reach."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from gitsession import (
    AsyncStore,
    Corrupt,
    InvalidCommit,
    MessageEntry,
    ParentConflict,
    RemoteNotFound,
    RemoteUnavailable,
    Session,
    SessionCommit,
    SessionNotFound,
    Store,
    SyncRefused,
    bind_remote,
    fetch,
    pull,
    push,
    sync,
    verify,
)
from tests.conftest import Git
from tests.stores import everything

from .conftest import Clones, Origin, said, say
from .test_rules import refuse


def commit(commit_id: str, parent: str | None) -> SessionCommit:
    return SessionCommit(commit_id, parent, [{"role": "user", "content": commit_id}])


def test_a_commit_is_made_at_the_server_and_followed_here(origin: Origin, clones: Clones) -> None:
    ours, theirs = clones(origin), clones(origin)
    session = bind_remote(ours, "s")
    assert session.load() == Session(None, [])
    assert session.commit(commit("one", None)).head == "one"
    assert bind_remote(theirs, "s").commit(commit("two", "one")).head == "two"
    with pytest.raises(ParentConflict) as told:
        session.commit(commit("late", "one"))
    assert (told.value.expected, told.value.actual) == ("one", "two")
    assert said(ours, "s") == ["one"]
    assert session.commit(commit("three", "two")).messages[0]["content"] == "one"
    assert said(ours, "s") == said(origin.store, "s") == ["one", "two", "three"]
    assert said(theirs, "s") == ["one", "two"]
    assert [*verify(origin.store)] == []


def test_the_same_commit_again_succeeds_and_returns_the_session_as_it_is_now(near: Origin, clones: Clones) -> None:
    ours, theirs = clones(near), clones(near)
    session = bind_remote(ours, "s")
    session.commit(commit("one", None))
    bind_remote(theirs, "s").commit(commit("two", "one"))
    before = everything(near.store)
    assert session.commit(commit("one", None)).head == "two"
    assert everything(near.store) == before
    with pytest.raises(Corrupt):
        session.commit(commit("two", None))
    with pytest.raises(Corrupt):
        session.commit(SessionCommit("one", None, [{"other": 1}]))
    with pytest.raises(InvalidCommit):
        session.commit(SessionCommit("three", "two", []))
    assert everything(near.store) == before


def test_a_retry_after_a_lost_answer_is_stored_once(near: Origin, clones: Clones, git: Git) -> None:
    ours = clones(near)
    session = bind_remote(ours, "s")
    session.commit(commit("one", None))
    before = everything(ours)[0]
    # The server has taken the commit, and is gone before it says so.
    refuse(near, "reference-transaction", '[ "$1" != committed ] || kill -9 $PPID')
    with pytest.raises(RemoteUnavailable):
        session.commit(commit("two", "one"))
    (near.path / "hooks" / "reference-transaction").unlink()
    assert said(near.store, "s") == ["one", "two"]
    assert everything(ours)[0] == before
    assert session.commit(commit("two", "one")).head == "two"
    assert said(near.store, "s") == said(ours, "s") == ["one", "two"]


def test_a_server_out_of_reach_leaves_the_session_as_it_was(near: Origin, clones: Clones) -> None:
    ours = clones(near)
    session = bind_remote(ours, "s")
    session.commit(commit("one", None))
    before = everything(ours)[0]
    away = near.path.rename(near.path.with_suffix(".away"))
    for attempt in (
        lambda: session.commit(commit("two", "one")),
        lambda: session.commit(commit("two", "other")),
        lambda: session.append(MessageEntry({"n": 1})),
        session.load,
    ):
        with pytest.raises(RemoteUnavailable):
            attempt()
    assert everything(ours)[0] == before
    away.rename(near.path)
    assert session.commit(commit("two", "one")).head == "two"


def test_a_server_that_does_not_answer_is_given_up(near: Origin, clones: Clones) -> None:
    ours = clones(near)
    session = bind_remote(ours, "s", timeout=0.5)
    refuse(near, "pre-receive", "sleep 3")
    with pytest.raises(RemoteUnavailable, match=r"0\.5 s"):
        session.commit(commit("one", None))
    assert ours.list() == []


def test_what_the_server_refuses_is_told(near: Origin, clones: Clones) -> None:
    session = bind_remote(clones(near), "s")
    refuse(near, "pre-receive", "echo 'no room for you'; exit 1")
    with pytest.raises(SyncRefused, match="no room for you"):
        session.commit(commit("one", None))


def test_a_session_that_went_on_here_by_itself_stays_as_it_is(near: Origin, clones: Clones) -> None:
    ours = clones(near)
    say(ours, "s", "one")
    push(ours)
    say(ours, "s", "two here")
    session = bind_remote(ours, "s")
    with pytest.raises(ParentConflict):
        session.commit(commit("three", "two here"))
    assert session.commit(commit("two there", "one")).head == "two there"
    assert said(ours, "s") == ["one", "two here"]
    assert said(ours, "s@origin") == ["one", "two there"]


def test_a_moved_header_is_no_conflict(near: Origin, clones: Clones) -> None:
    ours = clones(near)
    bind_remote(ours, "s").commit(commit("one", None))
    state = near.store.reader.state("s", near.store.info("s").oid)
    near.store.create(type(state.meta)("t"))
    # A fork's header commit moves a branch without moving its head.
    near.store.fork("s", "copy")
    subject = near.store.info("copy").oid
    near.store.repository.refs.compare_and_swap("refs/heads/s", state.oid, subject, reason="test")
    assert bind_remote(ours, "s").commit(commit("two", "one")).head == "two"


def test_append_goes_on_at_whatever_the_head_is(near: Origin, clones: Clones) -> None:
    ours, theirs = clones(near), clones(near)
    with pytest.raises(SessionNotFound):
        bind_remote(ours, "s").append(MessageEntry({"n": 0}, id="zero"))
    bind_remote(ours, "s").commit(commit("one", None))
    for number, store in enumerate([theirs, ours, theirs]):
        bind_remote(store, "s").append(MessageEntry({"n": number}, id=f"e{number}", timestamp="2025-01-01T00:00:00Z"))
    again = MessageEntry({"n": 0}, id="e0", timestamp="2025-01-01T00:00:00Z")
    bind_remote(ours, "s").append(again)
    assert [entry.id for entry in near.store.load("s")] == ["one/0", "e0", "e1", "e2"]
    with pytest.raises(Corrupt):
        bind_remote(ours, "s").append(MessageEntry({"n": 7}, id="e0"))


def test_a_remote_that_is_not_there_is_told_when_it_is_bound(store: Store) -> None:
    with pytest.raises(RemoteNotFound):
        bind_remote(store, "s")


def test_it_is_offered_to_asyncio(near: Origin, clones: Clones) -> None:
    async def work(store: AsyncStore) -> list[str]:
        session = await store.bind_remote("s")
        done = await session.commit(commit("one", (await session.load()).head))
        await session.append(MessageEntry({"content": "two"}, id="two"))
        return [str(done.head), *[str(message["content"]) for message in (await session.load()).messages]]

    assert asyncio.run(work(AsyncStore(clones(near)))) == ["one", "one", "two"]
    assert len(near.store.load("s")) == 2


def in_parallel(calls: list[Callable[[], None]]) -> None:
    barrier = threading.Barrier(len(calls))

    def begin(call: Callable[[], None]) -> None:
        barrier.wait(30)
        call()

    with ThreadPoolExecutor(len(calls)) as pool:
        for done in [pool.submit(begin, call) for call in calls]:
            done.result(120)


def test_of_commits_on_the_same_parent_one_wins(near: Origin, clones: Clones) -> None:
    stores = [clones(near) for _ in range(3)]
    sessions = [bind_remote(store, "s") for store in stores]
    sessions[0].commit(commit("c", None))
    won: list[str] = []
    lost: list[str | None] = []

    def attempt(number: int) -> None:
        parent = "c"
        for _ in range(3):
            mine = f"{parent}-{number}"
            try:
                sessions[number].commit(commit(mine, parent))
                won.append(mine)
            except ParentConflict as error:
                lost.append(error.actual)
            parent = sessions[number].load().head or ""

    in_parallel([lambda number=number: attempt(number) for number in range(3)])
    assert said(near.store, "s") == ["c", *sorted(won, key=len)]
    assert len(won) + len(lost) == 9
    assert None not in lost
    for store in stores:
        fetch(store)
        assert said(store, "s@origin") == said(near.store, "s")


def test_appends_from_many_clones_are_all_there_once(near: Origin, clones: Clones) -> None:
    stores = [clones(near) for _ in range(3)]
    bind_remote(stores[0], "s").commit(commit("c", None))

    def work(number: int) -> None:
        session = bind_remote(stores[number], "s")
        for place in range(4):
            session.append(MessageEntry({"id": place}, id=f"{number}-{place}"))

    in_parallel([lambda number=number: work(number) for number in range(3)])
    ids = [entry.id for entry in near.store.load("s")]
    assert sorted(ids[1:]) == sorted(f"{number}-{place}" for number in range(3) for place in range(4))
    for number in range(3):
        assert [one for one in ids if one.startswith(f"{number}-")] == [f"{number}-{place}" for place in range(4)]
    for store in stores:
        pull(store)
        sync(store)
        assert [entry.id for entry in store.load("s")] == ids
