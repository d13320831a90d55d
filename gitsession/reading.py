"""Reading one session: from its name to its branch, from the branch to the commit, the header, the tree, the deltas."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple

from gitsession.conversation import StoredDelta
from gitsession.directory_cache import DirectoryCache, KeptDirectory
from gitsession.errors import Corrupt, SessionError, SessionNotFound
from gitsession.jsonl import MAX_HEADER_BYTES, decode_header
from gitsession.layout import (
    HEADS,
    branch_of,
    decode_commit_id,
    derived_prefixes,
    other_side,
    session_id_of,
    tracking_ref,
)
from gitsession.model import SessionMeta
from gitsession.repo.codec import Commit, decode_commit
from gitsession.repo.refs import OWN_DIRECTORY
from gitsession.repo.repository import Repository
from gitsession.tree import (
    DIRECTORY_SIZE,
    SessionTree,
    bottom_directories,
    deltas_of,
    directory_deltas,
    read_header_blob,
    read_tree,
)


class State(NamedTuple):
    """A session at one of its git commits.

    Attributes:
        session_id: The id that its branch gives it.
        oid: The git commit.
        commit: What it says.
        meta: The header, as the commit's tree has it: on a branch that plain git made, that of another session.
        tree: The tree.
    """

    session_id: str
    oid: str
    commit: Commit
    meta: SessionMeta
    tree: SessionTree

    @property
    def head(self) -> str | None:
        """The id of the last session commit; None if there is none."""
        return None if self.tree.last_id is None else decode_commit_id(self.tree.last_id)


def named(header: SessionMeta, session_id: str) -> SessionMeta:
    """Returns a header under the id of its branch: the branch wins, and the header's own id is the parent."""
    if header.id == session_id:
        return header
    return replace(header, id=session_id, parent_session=header.id)


class Reader:
    """Reads the sessions of a repository. May be shared between threads."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.objects = repository.objects
        self._directories = DirectoryCache(repository.path / OWN_DIRECTORY / "cache" / "directories")

    def find_tip(self, session_id: str) -> str | None:
        """Returns the git commit that a session's branch is at; None if there is no such session.

        `S@remote` is what the remote was last known to have of S, unless a session has that id.

        Raises:
            InvalidSessionId: The string cannot be a session id.
            Corrupt: The branch is damaged.
        """
        oid = self.repository.refs.find(HEADS + branch_of(session_id))
        if oid is None and (tracking := tracking_ref(session_id)) is not None:
            return self.repository.refs.find(tracking)
        return oid

    def side(self, session_id: str) -> tuple[str, str] | None:
        """Returns the session and the remote that `S@remote` is read from; None for what is no other side."""
        tracking = tracking_ref(session_id)
        refs = self.repository.refs
        if tracking is None or refs.find(tracking) is None or refs.find(HEADS + branch_of(session_id)) is not None:
            return None
        return other_side(session_id)

    def tip(self, session_id: str) -> str:
        """Returns the git commit that a session's branch is at.

        Raises:
            SessionNotFound: There is none.
        """
        oid = self.find_tip(session_id)
        if oid is None:
            raise SessionNotFound(session_id)
        return oid

    def commit(self, oid: str) -> Commit:
        """Returns a git commit."""
        return decode_commit(self.objects.read(oid, "commit"), oid)

    def state(self, session_id: str, oid: str) -> State:
        """Returns a session at one of its git commits, under the id that its branch gives it.

        Raises:
            Corrupt: The commit is no session's, or is damaged.
            UnsupportedFormat: It was written in a version that is not known here.
        """
        try:
            commit = self.commit(oid)
            root = self.objects.read(commit.tree, "tree")
            header = read_header_blob(self.objects, commit.tree, root)
            content = self.objects.read(header, "blob", limit=MAX_HEADER_BYTES)
            meta, tag = decode_header(content, where=f"the session {session_id!a:.80}")
            tree = read_tree(self.objects, commit.tree, tag, header, root)
        except Corrupt as error:
            raise Corrupt(f"the session {session_id!r} cannot be read: {error}", oid=error.oid) from error
        return State(session_id, oid, commit, meta, tree)

    def deltas(self, state: State, start: int = 0) -> Iterator[StoredDelta]:
        """Yields the deltas of a session as they are stored, from number `start` on.

        Raises:
            Corrupt: A delta is missing or damaged.
        """
        times = Times(self, state)
        deltas = deltas_of(self.objects, state.tree, start)
        for delta, content in zip(deltas, self.contents(state, start), strict=True):
            yield StoredDelta(decode_commit_id(delta.encoded_id), content, partial(times.of, delta.number))

    def last_deltas(self, state: State, lines: int) -> list[StoredDelta]:
        """Returns the last deltas of a session, as many as hold so many lines, if there are so many.

        Raises:
            Corrupt: A delta is missing or damaged.
        """
        times = Times(self, state)
        found: list[StoredDelta] = []
        for delta in reversed(list(deltas_of(self.objects, state.tree, max(state.tree.count - lines, 0)))):
            if lines <= 0:
                break
            content = self.objects.read(delta.blob, "blob")
            found.append(StoredDelta(decode_commit_id(delta.encoded_id), content, partial(times.of, delta.number)))
            lines -= content.count(b"\n")
        return found[::-1]

    def contents(self, state: State, start: int = 0) -> Iterator[bytes]:
        """Yields the bytes of a session's deltas, from number `start` on.

        Raises:
            Corrupt: A delta is missing or damaged.
        """
        for found in self._stretches(state, start):
            yield from found.deltas() if isinstance(found, KeptDirectory) else [found[0]]

    def joined(self, state: State, start: int = 0) -> Iterator[tuple[bytes, str]]:
        """Yields the lines of a session from delta `start` on, as the bytes of one delta or of several.

        Yields:
            The bytes, and the id of the blob that they are; "" for several.

        Raises:
            Corrupt: A delta is missing or damaged.
        """
        for found in self._stretches(state, start):
            yield (found.joined, "") if isinstance(found, KeptDirectory) else found

    def _stretches(self, state: State, start: int) -> Iterator[tuple[bytes, str] | KeptDirectory]:
        for first, oid in bottom_directories(self.objects, state.tree, start):
            # A full directory never changes, so what it holds is read as one file, where it was read before.
            full = start <= first and first + DIRECTORY_SIZE <= state.tree.count
            kept = self._directories.find(oid) if full else None
            if kept is not None:
                yield kept
                continue
            read: list[bytes] = []
            for delta in directory_deltas(self.objects, oid, state.tree.tag):
                if delta.number >= start:
                    content = self.objects.read(delta.blob, "blob")
                    yield content, delta.blob
                    if full and self._directories.takes(content):
                        read.append(content)
            if len(read) == DIRECTORY_SIZE:
                self._directories.put(oid, read)

    def history(self, oid: str) -> Iterator[tuple[str, Commit]]:
        """Yields a commit and those before it, each the first parent of the one before, with their ids.

        The history of a shallow clone ends where it is cut off.
        """
        shallow = self.repository.shallow()
        seen: str | None = oid
        while seen is not None:
            commit = self.commit(seen)
            yield seen, commit
            seen = commit.parents[0] if commit.parents and seen not in shallow else None

    def derived(self, session_id: str, names: Sequence[str]) -> Iterator[tuple[str, str | SessionError]]:
        """Yields the branches that are named as if derived from a session: their ids, and commits or faults.

        Args:
            session_id: The session.
            names: The names of all branches, as refs.
        """
        for prefix in derived_prefixes(session_id):
            for name, value in self.repository.refs.beginning(HEADS + prefix, names):
                yield session_id_of(name.removeprefix(HEADS)), value

    def branches(self) -> Iterator[tuple[str, str | SessionError]]:
        """Yields the branches of the store, sorted by name: the session id of each, and its commit or its fault."""
        for name, value in self.repository.refs.below(HEADS):
            yield session_id_of(name.removeprefix(HEADS)), value


class Times:
    """When the deltas of a session were committed, found by a walk over its commits that is made at most once."""

    def __init__(self, reader: Reader, state: State) -> None:
        self._reader = reader
        self._state = state
        self._times: list[str] | None = None

    def of(self, number: int) -> str:
        """Returns the time of a delta's commit as RFC 3339; "" where its history is cut off (a shallow clone)."""
        if self._times is None:
            self._times = self._walk()
        return self._times[number] if number < len(self._times) else ""

    def _walk(self) -> list[str]:
        times = [""] * self._state.tree.count
        number = self._state.tree.count - 1
        walk = self._reader.history(self._state.oid)
        later: tuple[Commit, bytes] | None = None
        for _, commit in walk:
            # A commit adds a delta where its tree differs from its parent's in more than the header.
            items = deltas_part(self._reader.objects.read(commit.tree, "tree"))
            if later is not None and items != later[1]:
                times[number] = rfc3339(later[0].author.time)
                number -= 1
            later = (commit, items)
            if number < 0:
                break
        if later is not None and number == 0:
            times[0] = rfc3339(later[0].author.time)
        return times


def deltas_part(root: bytes) -> bytes:
    """Returns the items of a root tree before `session.json`: what a commit that adds a delta changes."""
    return root[: root.rfind(b"100644 session.json\0")]


def rfc3339(seconds: int) -> str:
    """Returns a git time as RFC 3339, in UTC; one outside of the years 1 to 9999 is the nearest inside."""
    seconds = min(max(seconds, -62135596800), 253402300799)
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
