"""The store: many sessions in one repository, each an append-only log."""

import builtins
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

from gitsession import revisions
from gitsession.building import NewDelta
from gitsession.conversation import entries, entry_view, message_lines, split_lines
from gitsession.derived import derived_from
from gitsession.errors import AmbiguousName, SessionNotFound
from gitsession.inherited import MissingHistory, conversation_deltas, inherited
from gitsession.jsonl import encode_entry
from gitsession.layout import HEADS, branch_of, derived_prefixes, other_side, session_id_of
from gitsession.listing import BrokenSession, Listing, SessionInfo, info_of
from gitsession.model import Messages, SessionEntry, SessionMeta
from gitsession.originals import original
from gitsession.reading import Reader, State
from gitsession.repo.repository import Repository
from gitsession.revisions import Diff, LogEntry
from gitsession.session_store import SessionStore
from gitsession.sides import OtherSide, other_sides, tracked_branches
from gitsession.transcripts.stored import PREFIX as RECORD_PREFIX
from gitsession.writing import Writer

Origin = Literal["left", "beside", "fork"]
"""How a session came out of its parent: a line that the user left in it, what goes on beside it, a fork."""


class Store:
    """A store of sessions, which is a git repository. May be shared between threads, pickled, and used after a fork.

    Every `at` is a revision of the session: a commit id, a git object id or its beginning (4 digits or more), `~N`
    (N commits back, as git counts), or `#N` (after delta N).

    What reads a session reads `S@remote` too: the session S as the remote was last known to have it.

    Attributes:
        path: The git directory.
        repository, reader, writer: What it is made of, for the library's own modules.
    """

    def __init__(self, repository: Repository) -> None:
        """Wraps an open repository; use `Store.open` or `Store.init`."""
        self.path = repository.path
        self.repository = repository
        self.reader = Reader(repository)
        self.writer = Writer(repository, self.reader)
        self._listing = Listing(self.reader)

    def __reduce__(self) -> tuple[object, ...]:
        return Store, (self.repository,)

    @classmethod
    def init(cls, path: str | os.PathLike[str], *, durable: bool = True, wait: float = 30.0) -> "Store":
        """Makes a store, or opens the one that is there.

        Args:
            path: A directory that is empty or does not exist; it becomes a bare git repository.
            durable: Whether a commit is on disk when it returns. Without it a power cut can lose the last seconds, and
                leave the session unreadable.
            wait: For how long the lock of another writer is waited for, in seconds.

        Raises:
            NotAStore: Something else is there.
            Unavailable: The disk refuses.
        """
        return cls(Repository.init(Path(path), durable=durable, wait=wait))

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, durable: bool = True, wait: float = 30.0) -> "Store":
        """Opens a store: a bare git repository of sessions, or a work tree cloned from one. Takes `init`'s arguments.

        Raises:
            NotAStore: There is none, it cannot be opened, or it holds something else.
            UnsupportedFormat: It was written in a version that is not known here.
            Unavailable: The disk could not be read.
        """
        return cls(Repository.open(Path(path), durable=durable, wait=wait))

    def bind(self, session_id: str) -> SessionStore:
        """Returns the store of one session, which need not exist: its first commit makes it.

        Raises:
            InvalidSessionId: The string cannot be a session id.
        """
        return SessionStore(session_id, self.reader, self.writer)

    def create(self, meta: SessionMeta) -> str:
        """Makes a session of its header alone, and returns its id.

        Raises:
            SessionExists: The id is taken; after `Unavailable`, perhaps by the session that the first try made.
            InvalidSessionId: It cannot be one.
            InvalidCommit: The header is no JSON.
        """
        return self.writer.create(meta).session_id

    def append(self, session_id: str, entry: SessionEntry) -> None:
        """Adds an entry at the end of a session. An equal entry that the session holds already is added once.

        Raises:
            SessionNotFound: There is no such session.
            Corrupt: The session holds the id with other contents.
            InvalidCommit: The entry is no JSON, or its message is still streaming.
        """
        content = encode_entry(entry) + b"\n"
        self.writer.append(
            session_id, NewDelta(entry.id, content, lambda: [entry_view(entry)], entry.timestamp or None)
        )

    def load(self, session_id: str, *, at: str | None = None, last: int | None = None) -> builtins.list[SessionEntry]:
        """Returns the entries of a session in the order in which they were appended.

        Those of an imported session that goes on from another begin with what it inherits; see `missing_history`.

        Args:
            session_id: The session.
            at: A revision of it.
            last: How many entries are wanted, the last ones; all of them where it is None. What comes before them is
                not read, unless they are of an imported transcript.

        Raises:
            SessionNotFound: There is no such session.
            RevisionNotFound: It has no such commit.
            Corrupt: Stored data is corrupt.
            ValueError: `last` is negative.
        """
        if last is not None and last < 0:
            raise ValueError(f"{last} entries cannot be wanted")
        state = self._state(session_id, at)
        if last is None:
            return entries(conversation_deltas(self.reader, state))
        # Each line is an entry, but for records, which are folded as a whole.
        tail = self.reader.last_deltas(state, last)
        lines = (line for delta in tail for line in split_lines(delta.content, delta.commit_id))
        folded = any(line.startswith(RECORD_PREFIX) for line in lines)
        found = entries(conversation_deltas(self.reader, state) if folded else tail)
        return found[max(len(found) - last, 0) :]

    def list(self) -> builtins.list[SessionMeta]:
        """Returns the headers of all sessions; one that cannot be read is left out, with a warning."""
        found = []
        for session in self.sessions():
            if isinstance(session, BrokenSession):
                warnings.warn(f"{session.error}", stacklevel=2)
            else:
                found.append(session.meta)
        return found

    def sessions(self) -> Iterator[SessionInfo | BrokenSession]:
        """Yields what is known of each session, the last changed first; those that cannot be read come last."""
        return self._listing.sessions()

    def info(self, session_id: str, *, at: str | None = None) -> SessionInfo:
        """Returns what a list shows of one session.

        Raises:
            SessionNotFound: There is no such session.
            RevisionNotFound: It has no such commit.
            Corrupt: Stored data is corrupt.
        """
        found = self._state(session_id, at).glance()
        side = self.reader.side(session_id)
        if side is None:
            return info_of(found)
        info = info_of(found._replace(session_id=side[0]))
        return replace(info, id=session_id, branch=f"{side[1]}/{info.branch}")

    def other_sides(self) -> Iterator[OtherSide]:
        """Yields what remotes were last known to have that the store's own sessions lack, by session and remote."""
        return other_sides(self.reader)

    def find(self, name: str) -> str:
        """Returns the id of the session that a name means: its id, its branch, or a beginning that no other shares.

        So does `<name>@<remote>` for what the remote has, where no session here is called so.

        Raises:
            SessionNotFound: There is none.
            AmbiguousName: Several begin like this.
        """
        known = [session_id for session_id, _ in self.reader.branches()]
        try:
            return _find(known, name)
        except SessionNotFound:
            wanted = other_side(name)
            if wanted is None:
                raise
            theirs = [session_id_of(branch) for _, branch, _ in tracked_branches(self.reader, wanted[1])]
            with suppress(SessionNotFound):
                return f"{_find(theirs, wanted[0])}@{wanted[1]}"
            raise

    def fork(self, source: str, new_id: str | None = None, *, at: str | None = None, title: str | None = None) -> str:
        """Makes a session that goes on from another, and returns its id. No message is copied.

        Args:
            source: The session to fork.
            new_id: The id of the new session; a UUID where there is none.
            at: The revision to go on from; its head where there is none.
            title: What a person calls the new session; the source's title where there is none.

        Raises:
            SessionNotFound: There is no session `source`.
            RevisionNotFound: It has no such commit.
            SessionExists: The new id is taken; after `Unavailable`, perhaps by the fork that the first try made.
            InvalidSessionId: The new id cannot be one.
        """
        state = self._state(source, at)
        side = self.reader.side(source)
        fresh = SessionMeta() if new_id is None else SessionMeta(new_id)
        meta = replace(
            state.meta,
            id=fresh.id,
            created_at=fresh.created_at,
            parent_session=state.session_id if side is None else side[0],
            forked_from=state.oid,
            title=state.meta.title if title is None else title,
        )
        return self.writer.create(meta, state).session_id

    def log(self, session_id: str, *, at: str | None = None) -> Iterator[LogEntry]:
        """Yields the git commits of a session, newest first.

        Raises:
            SessionNotFound: There is no such session.
            RevisionNotFound: It has no such commit.
            Corrupt: Stored data is corrupt.
        """
        return revisions.log(self.reader, self._state(session_id, at))

    def lines(self, session_id: str) -> builtins.list[SessionInfo]:
        """Returns the lines that the user left in a session; each is a session of its own.

        Those that cannot be read are left out.
        """
        return [info for info, left_in in self.derived(session_id) if left_in == session_id]

    def derived(self, session_id: str) -> Iterator[tuple[SessionInfo, str | None]]:
        """Yields the sessions that an import derived from one, and in which session each line of them was left.

        None stands for no line: it goes on beside the session, since the file was rewritten, or another one has its
        name. Of such a one itself come the lines alone that were left in it. Those that cannot be read are left out.
        """
        for name, left_in in derived_from(self.reader, session_id, self.repository.refs.names(HEADS)):
            yield self.info(name), left_in

    def origins(self, sessions: Iterable[SessionInfo]) -> dict[str, Origin]:
        """Returns how sessions came out of their parents, by their ids; of others, such as a subagent's, nothing."""
        found: dict[str, Origin] = {}
        parents: dict[str, None] = {}
        for info in sessions:
            if info.meta.forked_from is not None:
                found[info.id] = "fork"
            elif (parent := info.parent_session) and info.branch.startswith(derived_prefixes(parent)):
                parents[parent] = None
        listed = self.repository.refs.names(HEADS) if parents else []
        for parent in parents:
            for name, left_in in derived_from(self.reader, parent, listed):
                found.setdefault(name, "beside" if left_in is None else "left")
        return found

    def diff(self, a: str, b: str, *, at_a: str | None = None, at_b: str | None = None) -> Diff:
        """Returns how two sessions differ: how many deltas they share, and what each has of its own."""
        return revisions.diff(self.reader, self._state(a, at_a), self._state(b, at_b))

    def transcript(self, session_id: str, *, at: str | None = None) -> Iterator[bytes]:
        """Yields the log of a session as it is stored: JSONL, line by line, each with its end."""
        for delta in self.reader.deltas(self._state(session_id, at)):
            for line in split_lines(delta.content, delta.commit_id):
                yield line + b"\n"

    def messages(self, session_id: str, *, at: str | None = None) -> Messages:
        """Returns the conversation: the messages of a session, those of imported records as their format folds them.

        That of a session that goes on from another begins with what it inherits; see `missing_history`.
        """
        return Messages.from_lines(message_lines(conversation_deltas(self.reader, self._state(session_id, at))))

    def missing_history(self, session_id: str, *, at: str | None = None) -> MissingHistory | None:
        """Returns what the conversation of a session should begin with and does not; None where it is all there.

        A fork that an agent made may hold only what came after it. What it inherits is read from the session that it
        goes on from, if that is in the store.
        """
        return inherited(self.reader, self._state(session_id, at)).missing

    def original(self, session_id: str, *, at: str | None = None) -> Iterator[bytes]:
        """Yields the bytes of the transcript that a session was imported from, up to a revision, as they are read.

        Raises:
            NotImported: The session is none, or holds more than its transcript.
        """
        return original(self.reader, session_id, self._state(session_id, at))

    def _state(self, session_id: str, at: str | None) -> State:
        return revisions.resolve(self.reader, session_id, at)


def _find(known: builtins.list[str], name: str) -> str:
    exact = next((one for one in (name, HEADS + name, session_id_of(name)) if one in known), None)
    if exact is not None:
        return exact
    matches = [session_id for session_id in known if _begins(session_id, name)]
    # A branch that was derived from a session (an abandoned line of it) does not make the session's name ambiguous.
    stems = {one: derived_prefixes(one) for one in matches if not one.startswith(HEADS)}
    roots = [
        one for one in matches if not any(branch_of(one).startswith(stems[other]) for other in stems if other != one)
    ]
    if len(roots) > 1:
        raise AmbiguousName(name, roots)
    if not roots:
        raise SessionNotFound(name)
    return roots[0]


def _begins(session_id: str, name: str) -> bool:
    return bool(name) and (session_id.startswith((name, HEADS + name)))
