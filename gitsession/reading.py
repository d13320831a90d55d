"""Reading one session: from its name to its branch, from the branch to the commit, the header, the tree, the deltas."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from gitsession.conversation import StoredDelta
from gitsession.errors import Corrupt, SessionError, SessionNotFound
from gitsession.jsonl import decode_header
from gitsession.layout import HEADS, branch_of, decode_commit_id, other_side, session_id_of, tracking_ref
from gitsession.model import SessionMeta
from gitsession.repo.codec import Commit, decode_commit
from gitsession.repo.repository import Repository
from gitsession.tree import SessionTree, deltas_of, read_header_blob, read_tree


@dataclass(frozen=True, slots=True)
class State:
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
    def named_meta(self) -> SessionMeta:
        """The header under the id of the branch: the branch wins, and the header's own id is the parent."""
        if self.meta.id == self.session_id:
            return self.meta
        return replace(self.meta, id=self.session_id, parent_session=self.meta.id)

    @property
    def head(self) -> str | None:
        """The id of the last session commit; None if there is none."""
        return None if self.tree.last_id is None else decode_commit_id(self.tree.last_id)


class Reader:
    """Reads the sessions of a repository. May be shared between threads."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.objects = repository.objects

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
            header = read_header_blob(self.objects, commit.tree)
            meta, tag = decode_header(self.objects.read(header, "blob"), where=f"the session {session_id!r}")
            tree = read_tree(self.objects, commit.tree, tag, header)
        except Corrupt as error:
            raise Corrupt(f"the session {session_id!r} cannot be read: {error}", oid=error.oid) from error
        return State(session_id, oid, commit, meta, tree)

    def deltas(self, state: State, start: int = 0) -> Iterator[StoredDelta]:
        """Yields the deltas of a session as they are stored, from number `start` on.

        Raises:
            Corrupt: A delta is missing or damaged.
        """
        times = Times(self, state)
        for number, encoded_id, blob in deltas_of(self.objects, state.tree, start):
            content = self.objects.read(blob, "blob")
            yield StoredDelta(decode_commit_id(encoded_id), content, partial(times.of, number))

    def history(self, oid: str) -> Iterator[tuple[str, Commit]]:
        """Yields a commit and those before it, each the first parent of the one before, with their ids."""
        seen: str | None = oid
        while seen is not None:
            commit = self.commit(seen)
            yield seen, commit
            seen = commit.parents[0] if commit.parents else None

    def derived(self, session_id: str) -> Iterator[tuple[str, str]]:
        """Yields the branches that were derived from a session, `<session>.…`: their session ids and commits."""
        prefix = HEADS + branch_of(session_id) + "."
        for name, value in self.repository.refs.beginning(prefix):
            if isinstance(value, str):
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
    """Returns a git time as RFC 3339, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
