"""Reading one session: from its name to its branch, from the branch to the commit, the header, the tree, the deltas."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple

from gitsession.commits import Commits
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
from gitsession.milestones import Jump, Milestones
from gitsession.model import SessionMeta
from gitsession.repo.cache import Cache
from gitsession.repo.codec import Commit
from gitsession.repo.forking import renew_when_forked
from gitsession.repo.refs import OWN_DIRECTORY
from gitsession.repo.repository import Repository
from gitsession.summary import named_delta
from gitsession.tree import (
    DIRECTORY_SIZE,
    Delta,
    SessionTree,
    bottom_directories,
    common_count,
    deltas_of,
    directory_deltas,
    header_after,
    newest_deltas,
    read_header_blob,
    read_tree,
)

# How many sessions are remembered between calls: their last trees, and where they are written the commit ids.
REMEMBERED = 256


class Glance(NamedTuple):
    """What a list shows of a session at one of its git commits: what the commit and the header say.

    Attributes:
        session_id: The id that its branch gives it.
        oid: The git commit.
        commit: What it says.
        meta: The header, as the commit's tree has it.
        deltas: How many there are.
        head: The id of the last session commit; None if there is none.
    """

    session_id: str
    oid: str
    commit: Commit
    meta: SessionMeta
    deltas: int
    head: str | None


class State(NamedTuple):
    """A session at one of its git commits.

    Attributes:
        session_id: The id that its branch gives it.
        oid: The git commit.
        commit: What it says.
        meta: The header, as the commit's tree has it: on a branch that plain git made, that of another session.
        tree: The tree.
        text: The number of the rules by which the texts of its commits are made.
    """

    session_id: str
    oid: str
    commit: Commit
    meta: SessionMeta
    tree: SessionTree
    text: int

    @property
    def head(self) -> str | None:
        """The id of the last session commit; None if there is none."""
        return None if self.tree.last_id is None else decode_commit_id(self.tree.last_id)

    def glance(self) -> Glance:
        """Returns what a list shows of it."""
        return Glance(self.session_id, self.oid, self.commit, self.meta, self.tree.count, self.head)


class Step(NamedTuple):
    """One git commit of a session: its id, what it says, and the delta that it adds; None where it adds none."""

    oid: str
    commit: Commit
    delta: Delta | None


def named(header: SessionMeta, session_id: str) -> SessionMeta:
    """Returns a header under the id of its branch: the branch wins, and the header's own id is the parent."""
    if header.id == session_id:
        return header
    return replace(header, id=session_id, parent_session=header.id)


class Reader:
    """Reads the sessions of a repository. May be shared between threads.

    Attributes:
        repository: The repository.
        objects: Its objects.
        commits: Its commits.
        ids: The commit ids that are kept of full directories, for `IdIndex`.
    """

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.objects = repository.objects
        cache = repository.path / OWN_DIRECTORY / "cache"
        self.ids = Cache(cache / "ids")
        self._directories = DirectoryCache(cache / "directories")
        self.commits = Commits(repository, Milestones(Cache(cache / "milestones")), self._is_borne_out)
        self.renew()
        renew_when_forked(self)

    def renew(self) -> None:
        """Forgets the sessions that are remembered, in a forked process: a thread of its parent may hold the lock."""
        self._guard = threading.Lock()
        self._states: OrderedDict[str, State] = OrderedDict()

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

    def state(self, session_id: str, oid: str) -> State:
        """Returns a session at one of its git commits, under the id that its branch gives it.

        Raises:
            Corrupt: The commit is no session's, or is damaged.
            UnsupportedFormat: It was written in a version that is not known here.
        """
        try:
            commit = self.commits.read(oid)
            root = self.objects.read(commit.tree, "tree")
            header = read_header_blob(self.objects, commit.tree, root)
            content = self.objects.read(header, "blob", limit=MAX_HEADER_BYTES)
            found = decode_header(content, where=f"the session {session_id!a:.80}")
            tree = read_tree(self.objects, commit.tree, found.tag, header, root)
        except Corrupt as error:
            raise Corrupt(f"the session {session_id!r} cannot be read: {error}", oid=error.oid) from error
        return State(session_id, oid, commit, found.meta, tree, found.text)

    def present(self, session_id: str, tip: str) -> State:
        """Returns a session at the commit that its branch is at; remembered while the branch does not move.

        Raises:
            As `state` does.
        """
        with self._guard:
            state = self._states.get(session_id)
        if state is None or state.oid != tip:
            state = self.state(session_id, tip)
            self.remember(state)
        return state

    def remember(self, state: State) -> None:
        """Keeps a state that was just read or written, so that it need not be read again."""
        with self._guard:
            self._states[state.session_id] = state
            self._states.move_to_end(state.session_id)
            if len(self._states) > REMEMBERED:
                self._states.popitem(last=False)

    def glance(self, session_id: str, oid: str) -> Glance:
        """Returns what a list shows of a session; reads less than `state`, which checks that the tree is as it says.

        A commit's text names the delta that it adds, which is the last one of its tree then.

        Raises:
            Corrupt, UnsupportedFormat: As `state`.
        """
        try:
            commit = self.commits.read(oid)
            added = named_delta(commit.message)
            root = self.objects.read(commit.tree, "tree") if added else b""
            header = header_after(root, added[0] + 1) if added else None
            if added and header:
                content = self.objects.read(header, "blob", limit=MAX_HEADER_BYTES)
                meta = decode_header(content, where=f"the session {session_id!a:.80}").meta
                return Glance(session_id, oid, commit, meta, added[0] + 1, decode_commit_id(added[1]))
        except Corrupt:
            pass  # told by what reads all
        return self.state(session_id, oid).glance()

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
            small: list[bytes] = []
            for delta in directory_deltas(self.objects, oid, state.tree.tag):
                if delta.number >= start:
                    content = self.objects.read(delta.blob, "blob")
                    if full and self._directories.takes(content):
                        small.append(content)
                        continue
                    yield from ((one, "") for one in small)
                    yield content, delta.blob
                    full, small = False, []
            if len(small) == DIRECTORY_SIZE:
                yield self._directories.put(oid, small)
            else:
                yield from ((one, "") for one in small)

    def steps(self, state: State) -> Iterator[Step]:
        """Yields the commits of a session, newest first, with the delta that each adds.

        A commit adds the delta that its text names, if that is the next one and the tree is another than before. Where
        the text names none, which is rare, or another, the trees are compared.

        Raises:
            Corrupt: A commit or a directory of the tree is missing or damaged.
        """
        deltas = newest_deltas(self.objects, state.tree)
        delta, last = next(deltas, None), None
        walk = self.commits.history(state.oid)
        oid, commit = next(walk)
        for older_oid, older in walk:
            added = self._added(commit, older, delta, last)
            yield Step(oid, commit, added)
            if added is delta is not None:
                delta, last = next(deltas, None), delta
            oid, commit = older_oid, older
        yield Step(oid, commit, delta if self._deltas_part(commit) else None)

    def _is_borne_out(self, oid: str, jump: Jump) -> bool:
        """Tells whether a commit has what is where its jump ends, and just as many deltas more as there are steps."""
        try:
            later, earlier = self.state("", oid), self.state("", jump.oid)
            for state in (later, earlier):
                named = named_delta(state.commit.message)
                if named is None or named[0] != state.tree.count - 1:
                    return False  # a commit that adds none, as one that begins a fork
            common = common_count(self.objects, earlier.tree, later.tree)
        except SessionError:
            return False
        return common == earlier.tree.count == later.tree.count - jump.steps

    def _added(self, commit: Commit, older: Commit, delta: Delta | None, last: Delta | None) -> Delta | None:
        """Returns what a commit adds: the next delta, or none; or the last, if a newer commit has copied its text."""
        if commit.tree == older.tree:
            return None
        named = named_delta(commit.message)
        for known in (delta, last):
            if known is not None and named == (known.number, known.encoded_id):
                return known
        return delta if self._deltas_part(commit) != self._deltas_part(older) else None

    def _deltas_part(self, commit: Commit) -> bytes:
        """Returns the items of a commit's tree before `session.json`: what a commit that adds a delta changes."""
        root = self.objects.read(commit.tree, "tree")
        return root[: root.rfind(b"100644 session.json\0")]

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
    """When the deltas of a session were committed, found by a walk over its commits that goes as far as is asked."""

    def __init__(self, reader: Reader, state: State) -> None:
        self._steps = reader.steps(state)
        self._last = state.tree.count - 1
        self._seconds: list[int] = []  # of the last delta first

    def of(self, number: int) -> str:
        """Returns the time of a delta's commit as RFC 3339; "" where its history is cut off (a shallow clone)."""
        place = self._last - number
        while place >= len(self._seconds):
            step = next(self._steps, None)
            if step is None:
                return ""
            if step.delta is not None:
                self._seconds[self._last - step.delta.number :] = [step.commit.author.time]
        return rfc3339(self._seconds[place])


def rfc3339(seconds: int) -> str:
    """Returns a git time as RFC 3339, in UTC; one outside of the years 1 to 9999 is the nearest inside."""
    seconds = min(max(seconds, -62135596800), 253402300799)
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
