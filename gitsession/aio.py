"""The store for asyncio: the same verbs as coroutines, each run in a worker thread while the event loop goes on.

A store has threads of its own: one that waits for another writer's lock takes none from the loop's executor, which
resolves host names for everybody. They end with the store.

Cancelling a call that no thread has begun leaves it undone. One that a thread has begun goes on to its end, so a
commit is stored whole or not at all; committing the same commit again tells which, and stores it once.
"""

import asyncio
import builtins
import contextlib
import contextvars
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from gitsession.errors import SessionError
from gitsession.inherited import MissingHistory
from gitsession.listing import BrokenSession, SessionInfo
from gitsession.model import Messages, Session, SessionCommit, SessionEntry, SessionMeta
from gitsession.repo.forking import renew_when_forked
from gitsession.revisions import Diff, LogEntry
from gitsession.session_store import SessionStore
from gitsession.sides import OtherSide
from gitsession.store import Origin, Store
from gitsession.sync.remote_session import RemoteSessionStore, bind_remote

_T = TypeVar("_T")

# Calls beyond these wait for a thread. Reads and writes are mostly waiting for the disk, or for a lock.
_THREADS = 16

# For how long a thread gathers items of an iterator before it hands them over.
_GATHER_SECONDS = 0.01


class _Threads:
    """The worker threads of one store."""

    def __init__(self) -> None:
        self.renew()
        renew_when_forked(self)

    def renew(self) -> None:
        """Begins anew without a thread, in a forked process, which has none of its parent's."""
        self._pool = ThreadPoolExecutor(_THREADS, "gitsession")

    async def run(self, call: Callable[[], _T]) -> _T:
        """Returns what a call returns, or raises what it raises, from a thread that has the caller's context."""
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._pool, context.run, call)

    async def each(self, begin: Callable[[], Iterator[_T]]) -> AsyncIterator[_T]:
        """Yields the items of an iterator that is made, and moved on, in threads."""
        items = await self.run(begin)
        error: SessionError | None = None
        while error is None:
            found, error = await self.run(partial(_gather, items))
            if not found and error is None:
                return
            for item in found:
                yield item
        raise error


def _gather(items: Iterator[_T]) -> tuple[list[_T], SessionError | None]:
    """Returns the next items, none at the end, and the error that came after them."""
    found: list[_T] = []
    until = time.monotonic() + _GATHER_SECONDS
    try:
        for item in items:
            found.append(item)
            if time.monotonic() > until:
                break
    except SessionError as error:
        return found, error
    return found, None


class AsyncSessionStore:
    """One session of a store, for asyncio: `load` it, `commit` to it.

    Attributes:
        session_id: The session's id.
    """

    def __init__(self, store: SessionStore, threads: _Threads) -> None:
        """Wraps the store of one session; use `AsyncStore.bind`."""
        self.session_id = store.session_id
        self._store = store
        self._threads = threads

    async def load(self) -> Session:
        """Returns the session as it is now; see `SessionStore.load`."""
        return await self._threads.run(self._store.load)

    async def commit(self, commit: SessionCommit) -> Session:
        """Stores a commit, whole or not at all, and returns the session that results; see `SessionStore.commit`."""
        return await self._threads.run(partial(self._commit, commit))

    def _commit(self, commit: SessionCommit) -> Session:
        session = self._store.commit(commit)
        # The messages are read when they are first looked at, which would be in the event loop. The commit stands,
        # so a session that cannot be read says so only then.
        with contextlib.suppress(SessionError):
            len(session.messages)
        return session


class AsyncRemoteSessionStore(AsyncSessionStore):
    """One session whose commits are made at a remote, for asyncio: `load` it, `commit` and `append` to it.

    Attributes:
        session_id: The session's id.
    """

    def __init__(self, store: RemoteSessionStore, threads: _Threads) -> None:
        """Wraps the store of one session; use `AsyncStore.bind_remote`."""
        super().__init__(store, threads)
        self._remote_store = store

    async def append(self, entry: SessionEntry) -> None:
        """Adds an entry at the end of the session at the server; see `RemoteSessionStore.append`."""
        await self._threads.run(partial(self._remote_store.append, entry))


class AsyncStore:
    """A store of sessions, for asyncio: the verbs of `Store`, as coroutines and asynchronous iterators.

    Every `at` is a revision, as in `Store`, and every verb raises what it raises there.

    Attributes:
        path: The git directory.
    """

    def __init__(self, store: Store) -> None:
        """Wraps an open store, which may be used beside it."""
        self.path = store.path
        self._store = store
        self._threads = _Threads()

    def __reduce__(self) -> tuple[object, ...]:
        return AsyncStore, (self._store,)

    @classmethod
    async def init(cls, path: str | os.PathLike[str], *, durable: bool = True, wait: float = 30.0) -> "AsyncStore":
        """Makes a store, or opens the one that is there; see `Store.init`."""
        return cls(await asyncio.to_thread(Store.init, path, durable=durable, wait=wait))

    @classmethod
    async def open(cls, path: str | os.PathLike[str], *, durable: bool = True, wait: float = 30.0) -> "AsyncStore":
        """Opens a store; see `Store.open`."""
        return cls(await asyncio.to_thread(Store.open, path, durable=durable, wait=wait))

    def bind(self, session_id: str) -> AsyncSessionStore:
        """Returns the store of one session, which need not exist; reads nothing. See `Store.bind`."""
        return AsyncSessionStore(self._store.bind(session_id), self._threads)

    async def bind_remote(
        self,
        session_id: str,
        remote: str = "origin",
        *,
        timeout: float | None = 60.0,  # noqa: ASYNC109  # git's
    ) -> AsyncRemoteSessionStore:
        """Returns the store of one session whose commits are checked, and made, at a remote; see `bind_remote`."""
        bound = await self._threads.run(partial(bind_remote, self._store, session_id, remote, timeout=timeout))
        return AsyncRemoteSessionStore(bound, self._threads)

    async def create(self, meta: SessionMeta) -> str:
        """Makes a session of its header alone, and returns its id; see `Store.create`."""
        return await self._threads.run(partial(self._store.create, meta))

    async def append(self, session_id: str, entry: SessionEntry) -> None:
        """Adds an entry at the end of a session; see `Store.append`."""
        await self._threads.run(partial(self._store.append, session_id, entry))

    async def load(
        self, session_id: str, *, at: str | None = None, last: int | None = None
    ) -> builtins.list[SessionEntry]:
        """Returns the entries of a session in the order in which they were appended; see `Store.load`."""
        return await self._threads.run(partial(self._store.load, session_id, at=at, last=last))

    async def list(self) -> builtins.list[SessionMeta]:
        """Returns the headers of all sessions; one that cannot be read is left out, with a warning."""
        return await self._threads.run(self._store.list)

    def sessions(self) -> AsyncIterator[SessionInfo | BrokenSession]:
        """Yields what is known of each session; see `Store.sessions`."""
        return self._threads.each(self._store.sessions)

    def other_sides(self) -> AsyncIterator[OtherSide]:
        """Yields what remotes were last known to have of their own; see `Store.other_sides`."""
        return self._threads.each(self._store.other_sides)

    async def info(self, session_id: str, *, at: str | None = None) -> SessionInfo:
        """Returns what a list shows of one session; see `Store.info`."""
        return await self._threads.run(partial(self._store.info, session_id, at=at))

    async def find(self, name: str) -> str:
        """Returns the id of the session that a name means; see `Store.find`."""
        return await self._threads.run(partial(self._store.find, name))

    async def fork(
        self, source: str, new_id: str | None = None, *, at: str | None = None, title: str | None = None
    ) -> str:
        """Makes a session that goes on from another, and returns its id; see `Store.fork`."""
        return await self._threads.run(partial(self._store.fork, source, new_id, at=at, title=title))

    def log(self, session_id: str, *, at: str | None = None) -> AsyncIterator[LogEntry]:
        """Yields the git commits of a session, newest first; see `Store.log`."""
        return self._threads.each(partial(self._store.log, session_id, at=at))

    async def lines(self, session_id: str) -> builtins.list[SessionInfo]:
        """Returns the lines that the user left in a session; see `Store.lines`."""
        return await self._threads.run(partial(self._store.lines, session_id))

    def derived(self, session_id: str) -> AsyncIterator[tuple[SessionInfo, str | None]]:
        """Yields the sessions that an import derived from one; see `Store.derived`."""
        return self._threads.each(partial(self._store.derived, session_id))

    async def origins(self, sessions: Iterable[SessionInfo]) -> dict[str, Origin]:
        """Returns how sessions came out of their parents; see `Store.origins`."""
        return await self._threads.run(partial(self._store.origins, sessions))

    async def diff(self, a: str, b: str, *, at_a: str | None = None, at_b: str | None = None) -> Diff:
        """Returns how two sessions differ; see `Store.diff`."""
        return await self._threads.run(partial(self._store.diff, a, b, at_a=at_a, at_b=at_b))

    async def messages(self, session_id: str, *, at: str | None = None) -> Messages:
        """Returns the conversation of a session; see `Store.messages`."""
        return await self._threads.run(partial(self._store.messages, session_id, at=at))

    async def missing_history(self, session_id: str, *, at: str | None = None) -> MissingHistory | None:
        """Returns what the conversation of a session should begin with and does not; see `Store.missing_history`."""
        return await self._threads.run(partial(self._store.missing_history, session_id, at=at))

    def transcript(self, session_id: str, *, at: str | None = None) -> AsyncIterator[bytes]:
        """Yields the log of a session as it is stored, line by line; see `Store.transcript`."""
        return self._threads.each(partial(self._store.transcript, session_id, at=at))

    def original(self, session_id: str, *, at: str | None = None) -> AsyncIterator[bytes]:
        """Yields the bytes of the transcript that a session was imported from; see `Store.original`."""
        return self._threads.each(partial(self._store.original, session_id, at=at))
