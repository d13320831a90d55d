"""Commits against a server: the parent is checked there, by the server's own atomic update of the ref.

A commit is built on what is known of the server's branch and pushed with that as the expected old value
(`--force-with-lease=<ref>:<oid>`). The new commit's parent is that very value, so where the lease holds the push is a
plain step forward, and where it does not hold nothing happens. When somebody else was first, the branch is fetched and
the commit is checked again: the server's head may still be the parent (a header changed), or the commit may be there
already, because the answer to an earlier push was lost.
"""

import random
import time
from contextlib import AbstractContextManager, suppress
from functools import partial

from gitsession.building import Built, NewDelta
from gitsession.conversation import entry_view
from gitsession.errors import (
    ParentConflict,
    RemoteUnavailable,
    SessionError,
    SessionNotFound,
    SyncRefused,
)
from gitsession.jsonl import encode_entry
from gitsession.layout import HEADS, REMOTES, branch_of
from gitsession.model import Session, SessionCommit, SessionEntry
from gitsession.reading import Reader
from gitsession.repo.locks import SessionLocks
from gitsession.repo.objects import LooseBatch
from gitsession.repo.refs import OWN_DIRECTORY, RefMoved
from gitsession.session_store import SessionStore
from gitsession.store import Store
from gitsession.sync.fetching import fetch_into
from gitsession.sync.git import Git, said
from gitsession.sync.pulling import merge
from gitsession.sync.pushing import RACED, outcomes
from gitsession.sync.remotes import require_remote
from gitsession.sync.results import checked
from gitsession.sync.selection import Selection
from gitsession.writing import Writer

# How often a push that the server refuses without having moved on is tried again: its lock was held at that moment.
_ATTEMPTS = 20
_LONGEST_PAUSE = 1.0


class RemoteSessionStore(SessionStore):
    """One session of a store, whose commits are made at a remote: `load`, `commit` and `append` go to the server.

    Attributes:
        session_id: The session's id.
        remote: The name of the remote.
    """

    def __init__(self, session_id: str, remote: str, reader: "_RemoteReader", writer: "_RemoteWriter") -> None:
        """Takes what it is made of; use `bind_remote`."""
        super().__init__(session_id, reader, writer)
        self.remote = remote
        self._server = reader.server
        self._remote_writer = writer

    def __reduce__(self) -> tuple[object, ...]:
        bind = partial(bind_remote, timeout=self._server.git.timeout)
        return bind, (self._server.store, self.session_id, self.remote)

    def load(self) -> Session:
        """Returns the session as the server has it now; what is known of the server is brought up to date.

        Raises:
            RemoteUnavailable: The server could not be reached.
            SyncRefused: The server no longer holds what it held.
            Corrupt: Stored data is corrupt.
        """
        self._server.refresh()
        return super().load()

    def commit(self, commit: SessionCommit) -> Session:
        """Stores a commit at the server, whole or not at all, and returns the session that results there.

        The session here moves with it where it was at the commit's parent, or behind; one that went on by itself stays
        as it is. Where the commit is not stored, the session here is as it was.

        Raises:
            ParentConflict: The commit's parent is not the head at the server.
            RemoteUnavailable: The server could not be reached, or did not answer: whether the commit is stored is
                unknown, and it may be tried again.
            SyncRefused: The server refuses it (a hook of its, its rights), or no longer holds what it held.
            Corrupt: The session holds the id with another parent or other messages; or stored data is corrupt.
            InvalidCommit: It has no messages, an unusable id, or a message that is no JSON object.
        """
        pushed = self._server.pushes
        try:
            session = super().commit(commit)
        except ParentConflict:
            # What is known of the server may be old.
            self._server.refresh()
            return self._settled(super().commit(commit))
        if self._server.pushes == pushed:
            # The commit was there already: the session as it is now is the server's.
            self._server.refresh()
            return self._settled(super().load())
        return self._settled(session)

    def append(self, entry: SessionEntry) -> None:
        """Adds an entry at the end of the session at the server, whatever its head is by then.

        Raises:
            SessionNotFound: The server has no such session.
            RemoteUnavailable: The server could not be reached, or did not answer; the entry may be tried again.
            SyncRefused: The server refuses it, or no longer holds what it held.
            Corrupt: The session holds the id with other contents.
            InvalidCommit: The entry is no JSON, or its message is still streaming.
        """
        content = encode_entry(entry) + b"\n"
        delta = NewDelta(entry.id, content, lambda: [entry_view(entry)], entry.timestamp or None)
        try:
            self._remote_writer.append(self.session_id, delta)
        except SessionNotFound:
            self._server.refresh()
            self._remote_writer.append(self.session_id, delta)
        self._server.follow()

    def _settled(self, session: Session) -> Session:
        self._server.follow()
        return session


def bind_remote(
    store: Store, session_id: str, remote: str = "origin", *, timeout: float | None = 60.0
) -> RemoteSessionStore:
    """Returns the store of one session whose commits are checked, and made, at a remote.

    Args:
        store: Where what is known of the remote is kept, and where the session follows.
        session_id: The session, which need not exist: its first commit makes it.
        remote: The name of the remote.
        timeout: For how long the server may take to answer, in seconds.

    Raises:
        InvalidSessionId: The string cannot be a session id.
        RemoteNotFound: The store has no such remote.
        InvalidRemote: It cannot be used.
    """
    require_remote(store, remote, pushes=True)
    server = _Server(store, session_id, remote, Git(store.path, store.repository.disk.durable, timeout=timeout))
    return RemoteSessionStore(session_id, remote, _RemoteReader(server), _RemoteWriter(server))


class _Server:
    """One session at a remote: what is known of it, and how it is moved.

    Attributes:
        git: What talks to it.
        pushes: How many commits it took.
    """

    def __init__(self, store: Store, session_id: str, remote: str, git: Git) -> None:
        self.store = store
        self.session_id = session_id
        self.remote = remote
        self.branch = branch_of(session_id)
        self.ref = f"{REMOTES}{remote}/{self.branch}"
        self.pushes = 0
        self.locks = SessionLocks(store.repository.path / OWN_DIRECTORY / "remote-locks", wait=store.repository.wait)
        self.git = git

    def known(self) -> str | None:
        """Returns the commit that the server's branch was last known to be at."""
        return self.store.repository.refs.find(self.ref)

    def refresh(self) -> None:
        """Asks the server where its branch is.

        Raises:
            RemoteUnavailable: It could not be reached.
            SyncRefused: It no longer holds what it held.
        """
        fetched = fetch_into(self.store, self.git, self.remote, Selection.of([self.session_id]), dry_run=False)
        checked(self.remote, fetched.results)
        if fetched.missing and self.known() is not None:
            raise SyncRefused(self.remote, {self.session_id: "it is gone there; `push` sends what is here"})

    def push(self, expected: str | None, new: str) -> None:
        """Moves the server's branch from one commit to the next.

        Raises:
            RefMoved: It is elsewhere; where is known now.
            RemoteUnavailable: The server could not be reached, or did not answer: it may have moved.
            SyncRefused: The server refuses.
        """
        target = HEADS + self.branch
        lease = f"--force-with-lease={target}:{expected or ''}"
        for attempt in range(_ATTEMPTS):
            done = self.git.run(
                "push", "--porcelain", "--no-progress", lease, "--", self.remote, f"{new}:{target}", hooks=True
            )
            flag, told = outcomes(done).get(self.branch, ("", ""))
            if flag == "!" and told != "unpacker error":
                self.refresh()
                if self.known() != expected:
                    raise RefMoved(target, self.known())
                if not RACED.search(told):
                    raise SyncRefused(self.remote, {self.session_id: f"{told}: {said(done.err)}"})
                time.sleep(random.uniform(0, min(_LONGEST_PAUSE, 0.02 * 2**attempt)))  # noqa: S311  # spreads writers
                continue
            if not flag or flag == "!":
                raise done.failure(self.remote)
            # The server said that it took it, whatever became of the connection afterwards.
            self.pushes += 1
            self._note(expected, new)
            return
        raise RemoteUnavailable(self.remote, "the branch is locked there again and again; try again")

    def _note(self, expected: str | None, new: str) -> None:
        """Notes where the server's branch is, as git does by itself where the remote's refspec says so."""
        if self.known() != new:
            # Whoever moved it meanwhile knows more; what goes wrong here, the next fetch makes up for.
            with suppress(SessionError):
                self.store.repository.refs.compare_and_swap(self.ref, expected, new, reason="update by push")

    def follow(self) -> None:
        """Moves the session here to what is known of the server, where that continues it.

        The commit stands at the server; what goes wrong here is made up for by the next pull.
        """
        with suppress(SessionError):
            merge(self.store, self.remote, Selection.of([self.session_id]))


class _RemoteReader(Reader):
    """Reads a session as it is known of a remote."""

    def __init__(self, server: _Server) -> None:
        super().__init__(server.store.repository)
        self.server = server

    def find_tip(self, session_id: str) -> str | None:
        """Returns the commit that the server's branch was last known to be at."""
        return self.server.known() if session_id == self.server.session_id else super().find_tip(session_id)


class _RemoteWriter(Writer):
    """Writes a session at a remote: the same checks as here, and the server's compare-and-swap."""

    def __init__(self, server: _Server) -> None:
        super().__init__(server.store.repository, server.store.reader)
        self._server = server

    def _tip(self, branch: str) -> str | None:  # noqa: ARG002  # there is one branch here
        return self._server.known()

    def _confirm(self, branch: str) -> None:
        """Does nothing: the server has told where its branch is, and what it tells is the server's to keep."""

    def _let_gc_end(self) -> None:
        """Does nothing: no branch moves here."""

    def _hold(self, branch: str) -> AbstractContextManager[None]:
        return self._server.locks.hold(branch)

    def _move(self, branch: str, expected: str | None, built: Built, verb: str) -> None:  # noqa: ARG002  # as above
        # No ref of ours reaches the objects until the server has them. Should a collection take them in between, the
        # push fails, and the next try writes them again.
        LooseBatch(self._repository.objects, built.objects).store()
        self._server.push(expected, built.state.oid)
