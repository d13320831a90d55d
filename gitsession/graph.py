"""The commits of a session together with the lines that were left in it, and with the sessions that share its history.

Git's history of an imported session is one row, in the order of its file, whatever the user went back to: a line that
was left ended at a commit in the middle of it. So a commit is put here after the one that its line of conversation goes
on from, as the conversations tell: that of the session as it is, and that of each line. A session that shares nothing
with another one is listed as it is read, and not looked into before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gitsession.errors import SessionError
from gitsession.layout import derived_prefixes
from gitsession.listing import BrokenSession, SessionInfo
from gitsession.reading import Reader, State
from gitsession.returns import followed
from gitsession.revisions import LogEntry, is_before, resolve
from gitsession.store import Store
from gitsession.tree import common_count


@dataclass(frozen=True, slots=True)
class GraphEntry:
    """One git commit in a graph.

    Attributes:
        entry: The commit.
        follows: The id of the commit that its line goes on from, which comes later; None for the first of a line. Where
            the user went back in between, it is not the commit's parent.
        sessions: The sessions that are at this commit.
    """

    entry: LogEntry
    follows: str | None
    sessions: tuple[str, ...]


class Graph:
    """A session, its lines and its forks, the newest commits first; each comes before the one that it follows.

    Attributes:
        left_out: What seems to belong to it, and cannot be read.
    """

    def __init__(self, store: Store, session_id: str, *, at: str | None = None) -> None:
        """Finds what belongs to a session.

        Args:
            store: The store.
            session_id: The session.
            at: A revision of it: what goes on from there is left out.

        Raises:
            SessionNotFound: There is no such session.
            RevisionNotFound: It has no such commit.
            Corrupt: Stored data is corrupt.
        """
        self.left_out: list[BrokenSession] = []
        self._store = store
        self._reader = store.reader
        asked = resolve(self._reader, session_id, at)
        self._main = self._trunk(asked) if at is None else asked
        self._sessions: dict[str, list[str]] = {asked.oid: [session_id]}  # by the commits that they are at
        self._hanging: dict[str, list[State]] = {}  # those with commits of their own, by those that they go on from
        self._ended: dict[str, int] = {}  # after how many deltas the last line ended in a session's own commits
        relatives = [*self._relatives(session_id)]
        if asked is not self._main:
            self._sessions.setdefault(self._main.oid, []).append(self._main.session_id)
            relatives = [one for one in relatives if one.session_id != self._main.session_id]
            self._end(self._main, asked)
        known = _ancestors(self._reader, self._main, relatives)
        owners: dict[str, State] = {}  # of the commits that are no ancestors of the main one
        for state in relatives:
            self._place(state, known, owners, is_now=at is None)

    def __iter__(self) -> Iterator[GraphEntry]:
        """Yields the commits.

        Raises:
            Corrupt: Stored data is corrupt.
        """
        hanging = {oid: [*states] for oid, states in self._hanging.items()}
        walks = [self._walk(self._main)]  # a fork of a fork may be any number deep
        while walks:
            found = next(walks[-1], None)
            if found is None:
                walks.pop()
            elif found.entry.oid in hanging:
                # What goes on from a commit comes before it.
                walks.append(iter([found]))
                walks += [self._walk(state, found.entry.oid) for state in hanging.pop(found.entry.oid)]
            else:
                yield found

    def _trunk(self, asked: State) -> State:
        """Returns the session in whose commits another one ended that has none of its own; else that one itself."""
        owner = asked.meta.id
        if owner != asked.session_id:
            derived = ((info.id, left_in) for info, left_in in self._store.derived(owner))
            owner = next((left_in for name, left_in in derived if name == asked.session_id and left_in), owner)
        tip = None if owner == asked.session_id else self._reader.find_tip(owner)
        if tip is None:
            return asked
        trunk = self._reader.state(owner, tip)
        return trunk if asked.oid in _ancestors(self._reader, trunk, [asked]) else asked

    def _walk(self, state: State, end: str | None = None) -> Iterator[GraphEntry]:
        """Yields the commits of a session, those of its own alone where it goes on from another's."""
        # Behind the last line that ended in it each commit follows the one before, and nothing need be read to tell.
        last = self._ended.get(state.session_id, -1)
        follows: dict[int, str | None] | None = None
        for entry in self._store.log(state.session_id, at=state.oid):
            if entry.oid == end:
                return
            before = entry.parent_oid
            if entry.delta is not None and entry.delta <= last:
                follows = followed(self._reader, state, last) if follows is None else follows
                before = follows.get(entry.delta, before)
            yield GraphEntry(entry, before, tuple(self._sessions.get(entry.oid, ())))

    def _relatives(self, session_id: str) -> Iterator[State]:
        """Yields the other sessions of its family that begin with a delta of its own, the last changed first."""
        for info in self._family(session_id):
            try:
                state = self._reader.state(info.id, info.oid)
                if common_count(self._reader.objects, self._main.tree, state.tree):
                    yield state
            except SessionError as error:
                self.left_out.append(BrokenSession(info.id, info.branch, info.oid, error))

    def _family(self, session_id: str) -> list[SessionInfo]:
        """Returns the other sessions that are of one another by what their headers say."""
        infos: list[SessionInfo] = []
        stems = derived_prefixes(session_id)
        for found in self._store.sessions():
            if isinstance(found, SessionInfo):
                infos.append(found)
            elif found.branch.startswith(stems):
                self.left_out.append(found)
        near: dict[str, list[str]] = {}
        for info in infos:
            if info.parent_session is not None:
                near.setdefault(info.id, []).append(info.parent_session)
                near.setdefault(info.parent_session, []).append(info.id)
        side = self._reader.side(session_id)
        fresh = [session_id if side is None else side[0]]
        known = {*fresh}
        while fresh:
            found_now = {name for name in near.get(fresh.pop(), ()) if name not in known}
            known |= found_now
            fresh += found_now
        return [info for info in infos if info.id in known and info.id != session_id]

    def _place(self, state: State, known: set[str], owners: dict[str, State], *, is_now: bool) -> None:
        """Finds the commit that a session goes on from, and whose it is."""
        own: list[str] = []
        try:
            for oid in self._reader.commits.ancestors(state.oid):
                if oid in owners or oid in known:
                    break
                own.append(oid)
            else:
                return  # it holds the same, in commits of its own
        except SessionError as error:
            branch = self._store.info(state.session_id).branch
            self.left_out.append(BrokenSession(state.session_id, branch, state.oid, error))
            return
        if own and oid == self._main.oid and not is_now:
            return
        self._sessions.setdefault(state.oid, []).append(state.session_id)
        if own:
            self._hanging.setdefault(oid, []).append(state)
            owners.update(dict.fromkeys(own, state))
        else:
            self._end(owners.get(oid, self._main), state)

    def _end(self, trunk: State, line: State) -> None:
        """Notes that a line ended in a session's own commits."""
        self._ended[trunk.session_id] = max(line.tree.count, self._ended.get(trunk.session_id, 0))


def _ancestors(reader: Reader, state: State, others: Sequence[State]) -> set[str]:
    """Returns commits of a session, all those that others are at or go on from among them.

    Raises:
        Corrupt: One of them is missing or damaged.
    """
    found: set[str] = set()
    for one in sorted(others, key=lambda one: -one.tree.count):
        # Mostly all of them are lines, and then nothing but their ends is looked for.
        if not is_before(reader, one.oid, state):
            return {*found, *reader.commits.ancestors(state.oid)}
        found.add(one.oid)
        state = one
    return found
