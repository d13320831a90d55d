"""Writing one session: a delta, a header, or both become one git commit, and the branch moves to it or nothing happens.

The order is fixed: blob, trees, commit, then the ref by compare-and-swap. A crash leaves garbage objects, never half a
session. FORMAT.md, "Why a commit is safe", goes through it step by step.
"""

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager

from gitsession.building import Built, NewDelta, build
from gitsession.conversation import holds_entry
from gitsession.errors import (
    Corrupt,
    InvalidCommit,
    InvalidSessionId,
    ParentConflict,
    SessionExists,
    SessionNotFound,
    Unavailable,
)
from gitsession.ids import IdIndex
from gitsession.layout import HEADS, branch_of, decode_commit_id, encode_commit_id, encode_session_id
from gitsession.model import SessionMeta
from gitsession.reading import REMEMBERED, Reader, State
from gitsession.repo.codec import object_id
from gitsession.repo.forking import renew_when_forked
from gitsession.repo.objects import LooseBatch
from gitsession.repo.refs import RefBlocked, RefMoved
from gitsession.repo.repository import Batch, Move, Repository
from gitsession.tree import find_delta

# The largest delta, in bytes; a larger one could not be read back under the limit for objects.
MAX_DELTA_BYTES = 128 * 1024 * 1024

# A place in a delta as `load` writes it.
_PLACE = re.compile("0|[1-9][0-9]{0,8}")

# How often a write is begun anew when plain git moves the branch at the same moment.
_ATTEMPTS = 100

# How long another writer takes at most to store again what a collection took, once that has ended.
_RESTORING_SECONDS = 0.1

# The session as it is, and the objects that a collection may still take, if it may.
Written = tuple[State, Batch | None]


class Writer:
    """Writes the sessions of a repository. May be shared between threads."""

    def __init__(self, repository: Repository, reader: Reader) -> None:
        self._repository = repository
        self._reader = reader
        self.renew()
        renew_when_forked(self)

    def renew(self) -> None:
        """Forgets what is known of the sessions, in a forked process: a thread of its parent may just have written."""
        self._guard = threading.Lock()
        self._indexes: OrderedDict[str, IdIndex] = OrderedDict()
        # The commit of each branch that is known to be durable, with all before it.
        self._sure: dict[str, str] = {}

    def commit(self, session_id: str, delta: NewDelta, parent: str | None) -> State:
        """Adds a delta to a session, which is made if it does not exist.

        Args:
            session_id: The session.
            delta: What it adds.
            parent: The head that the session must have; None for a session that was never written.

        Returns:
            The session as it is now; a commit that the session holds already changes nothing.

        Raises:
            ParentConflict: The parent is not the head.
            Corrupt: The session holds the commit id with another parent or other contents, or is damaged.
            InvalidCommit: The id cannot be one, or the delta is too large.
            InvalidSessionId: The session id cannot be one.
            Unavailable: The store could not finish.
        """

        def check(state: State | None, ids: IdIndex, number: int | None) -> None:
            if number is None:
                head = None if state is None else state.head
                if parent != head:
                    raise ParentConflict(parent, head)
                encoded = encode_commit_id(delta.commit_id)
                for place in range(delta.content.count(b"\n")):
                    self._refuse_held(state, ids.find(f"{encoded}%2F{place}"), f"{delta.commit_id}/{place}")
                return
            stored = ids.parent_of(number)
            if parent != (None if stored is None else decode_commit_id(stored)):
                raise Corrupt(f"the session holds the commit {delta.commit_id!r} with another parent")

        return self._write(session_id, delta, check)

    def append(self, session_id: str, delta: NewDelta) -> State:
        """Adds a delta to a session that exists, whatever its head is.

        Raises:
            SessionNotFound: There is no such session.
            Corrupt: The session holds the id with other contents, or is damaged.
        """

        def check(state: State | None, ids: IdIndex, number: int | None) -> None:
            if state is None:
                raise SessionNotFound(session_id)
            owner, _, place = delta.commit_id.rpartition("/")
            if number is None and owner and _PLACE.fullmatch(place):
                self._refuse_held(state, ids.find(encode_commit_id(owner)), delta.commit_id)

        return self._write(session_id, delta, check)

    def _write(
        self, session_id: str, delta: NewDelta, check: Callable[[State | None, IdIndex, int | None], None]
    ) -> State:
        branch = branch_of(session_id)
        encoded_id = encode_commit_id(delta.commit_id)
        if len(delta.content) > MAX_DELTA_BYTES:
            raise InvalidCommit(f"the delta has {len(delta.content):,} bytes; the limit is {MAX_DELTA_BYTES:,}")

        def attempt() -> Written:
            state, ids = self._state(session_id, branch)
            number = ids.find(encoded_id)
            check(state, ids, number)
            if state is None or number is None:
                return self._add(session_id, branch, state, ids, delta)
            stored = find_delta(self._repository.objects, state.tree, number)
            if stored.blob != object_id("blob", delta.content):
                raise Corrupt(f"the session holds the commit {delta.commit_id!r} with other contents")
            if self._sure.get(branch) != state.oid:
                self._confirm(branch)
                self._sure[branch] = state.oid
            return state, None

        return self._exclusively(session_id, branch, attempt)

    def _refuse_held(self, state: State | None, number: int | None, wanted: str) -> None:
        """Refuses the id of a new entry if the delta of a number, where there is one, holds an entry of that id.

        Most entries have the id of their commit, and no two commits share one. But a message that was committed has
        `<commit id>/<place>`, which can be the id of another commit.
        """
        if state is None or number is None:
            return
        stored = find_delta(self._repository.objects, state.tree, number)
        commit_id = decode_commit_id(stored.encoded_id)
        if holds_entry(self._repository.objects.read(stored.blob, "blob"), commit_id, wanted):
            raise Corrupt(f"the session holds an entry {wanted!r} already, in the commit {commit_id!r}")

    def create(self, meta: SessionMeta, source: State | None = None) -> State:
        """Makes a new session: of its header alone, or as a fork of a state of another session.

        Raises:
            SessionExists: The id is taken.
            InvalidSessionId: The id cannot be one.
            InvalidCommit: The header is no JSON.
        """
        branch = encode_session_id(meta.id)

        def attempt() -> Written:
            if self._tip(branch) is not None:
                raise SessionExists(meta.id)
            self._refuse_other_side(meta.id)
            self._refuse_case_twin(meta.id, branch)
            old = None if source is None else source._replace(session_id=meta.id)
            subject = "meta: new session" if source is None else f"meta: fork of {source.session_id}"
            built = build(old, None, meta, subject=subject, now=int(time.time()))
            return built.state, self._move(branch, None, built, "create" if source is None else "fork")

        return self._exclusively(meta.id, branch, attempt)

    def _exclusively(self, session_id: str, branch: str, attempt: Callable[[], Written]) -> State:
        """Makes an attempt under the session's lock.

        A collection is waited for before and after, and not under the lock: it takes long, and others write meanwhile.
        """
        try:
            state, batch = self._attempted(session_id, branch, attempt)
        except Corrupt as error:
            if error.oid is None:
                raise
            # A collection may have taken what another writer stored, who stores it again when that has ended.
            time.sleep(_RESTORING_SECONDS)
            state, batch = self._attempted(session_id, branch, attempt)
        if batch is not None:
            self._repository.outlive_gc(batch)
        return state

    def _attempted(self, session_id: str, branch: str, attempt: Callable[[], Written]) -> Written:
        """Makes an attempt, and again when plain git moved the branch meanwhile.

        Each attempt looks at the branch anew, so it is right to try again: what it checks, it checks once more.
        """
        self._let_gc_end()
        with self._hold(branch):
            for _ in range(_ATTEMPTS):
                try:
                    return attempt()
                except RefMoved:
                    continue
                except RefBlocked as error:
                    raise SessionExists(session_id, error.blocker.removeprefix(HEADS)) from error
        raise Unavailable(f"the branch {branch} is moved by another program again and again; try again")

    def _state(self, session_id: str, branch: str) -> tuple[State | None, IdIndex]:
        """Returns the session as it is now and the index of its ids; remembered while its branch does not move."""
        tip = self._tip(branch)
        if tip is None:
            self._refuse_other_side(session_id)
            return None, IdIndex(self._reader.ids)
        state = self._reader.present(session_id, tip)
        with self._guard:
            ids = self._indexes.pop(branch, None) or IdIndex(self._reader.ids)
        ids.follow(self._repository.objects, state.tree)
        self._remember(branch, ids)
        return state, ids

    def _remember(self, branch: str, ids: IdIndex) -> None:
        with self._guard:
            self._indexes[branch] = ids
            if len(self._indexes) > REMEMBERED:
                self._sure.pop(self._indexes.popitem(last=False)[0], None)

    def _add(self, session_id: str, branch: str, state: State | None, ids: IdIndex, delta: NewDelta) -> Written:
        """Adds a delta at the head, to a new session with its header."""
        if state is None:
            encode_session_id(session_id)  # an id of a branch made with plain git is none for a new session
            self._refuse_case_twin(session_id, branch)
        built = build(state, delta, SessionMeta(session_id) if state is None else state.meta, now=int(time.time()))
        batch = self._move(branch, None if state is None else state.oid, built, "commit")
        ids.grow(None if state is None else state.tree, built.state.tree)
        if state is None:
            self._remember(branch, ids)
        self._sure[branch] = built.state.oid
        return built.state, batch

    def _move(self, branch: str, expected: str | None, built: Built, verb: str) -> Batch | None:
        """Moves a branch to what was built; returns the objects that a collection may still take, if it may."""
        subject = built.state.commit.message.partition("\n")[0]
        batch = LooseBatch(self._repository.objects, built.objects)
        self._repository.move(Move(branch, expected, built.state.oid, f"{verb}: {subject}"), batch)
        self._reader.remember(built.state)
        return batch

    def _confirm(self, branch: str) -> None:
        """Makes durable what the session holds: its writer may have been killed, or refused, before that was done."""
        self._repository.settle(branch)

    def _let_gc_end(self) -> None:
        """Waits for the end of a collection that would not see the branch move."""
        self._repository.let_gc_end()

    def _tip(self, branch: str) -> str | None:
        """Returns the commit that a branch is at."""
        return self._repository.refs.find(HEADS + branch)

    def _hold(self, branch: str) -> AbstractContextManager[None]:
        """Holds the lock that queues the writers of a branch."""
        return self._repository.locks.hold(branch)

    def _refuse_other_side(self, session_id: str) -> None:
        side = self._reader.side(session_id)
        if side is not None:
            what = (
                f"it names what the remote {side[1]!r} has of {side[0]!r}, which is only read; fork it to go on with it"
            )
            raise InvalidSessionId(session_id, what)

    def _refuse_case_twin(self, session_id: str, branch: str) -> None:
        if self._repository.ignores_case:
            for name, _ in self._repository.refs.below(HEADS):
                if name.casefold() == (HEADS + branch).casefold() and name != HEADS + branch:
                    raise SessionExists(session_id, name.removeprefix(HEADS))
