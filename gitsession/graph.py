"""The commits of a session together with the lines that were left in it, and with the sessions that share its history.

Git's history of an imported session is one row, in the order of its file, whatever the user went back to: a line that
was left ended at a commit in the middle of it. So a commit is put here after the one that its line of conversation goes
on from, as the conversations tell: that of the session as it is, and that of each line. A session that shares nothing
with another one is listed as it is read, and not looked into before.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from gitsession.errors import SessionError
from gitsession.layout import decode_commit_id, derived_prefixes
from gitsession.listing import BrokenSession, SessionInfo
from gitsession.reading import State
from gitsession.revisions import LogEntry, resolve
from gitsession.store import Store
from gitsession.tree import common_count, deltas_of

# What stands for a delta that is in no conversation.
_NOBODYS = -1


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
        self._follows: dict[str, str | None] = {}  # commits that follow another one than their parent
        relatives = [*self._relatives(session_id)]
        owners = dict.fromkeys(self._reader.commits.ancestors(self._main.oid) if relatives else (), self._main)
        ended: dict[str, list[State]] = {}  # the lines that ended in a session's own commits, by the session
        if asked is not self._main:
            self._sessions.setdefault(self._main.oid, []).append(self._main.session_id)
            relatives = [one for one in relatives if one.session_id != self._main.session_id]
            ended.setdefault(self._main.session_id, []).append(asked)
        for state in relatives:
            self._place(state, owners, ended, is_now=at is None)
        for trunk in (self._main, *chain.from_iterable(self._hanging.values())):
            if trunk.session_id in ended:
                self._tell_lines(trunk, ended[trunk.session_id], owners)

    def __iter__(self) -> Iterator[GraphEntry]:
        """Yields the commits.

        Raises:
            Corrupt: Stored data is corrupt.
        """
        hanging = {oid: [*states] for oid, states in self._hanging.items()}
        walks = [self._store.log(self._main.session_id, at=self._main.oid)]  # a fork of a fork may be any number deep
        while walks:
            entry = next(walks[-1], None)
            if entry is None:
                walks.pop()
            elif entry.oid in hanging:
                # What goes on from a commit comes before it.
                walks.append(iter([entry]))
                walks += [self._own(state, entry.oid) for state in hanging.pop(entry.oid)]
            else:
                sessions = tuple(self._sessions.get(entry.oid, ()))
                yield GraphEntry(entry, self._follows.get(entry.oid, entry.parent_oid), sessions)

    def _trunk(self, asked: State) -> State:
        """Returns the session in whose commits another one ended that has none of its own; else that one itself."""
        owner = asked.meta.id
        tip = None if owner == asked.session_id else self._reader.find_tip(owner)
        if tip is None or asked.oid not in self._reader.commits.ancestors(tip):
            return asked
        return self._reader.state(owner, tip)

    def _own(self, state: State, end: str) -> Iterator[LogEntry]:
        """Yields the commits of a session down to one that is another's."""
        for entry in self._store.log(state.session_id, at=state.oid):
            if entry.oid == end:
                return
            yield entry

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

    def _place(self, state: State, owners: dict[str, State], ended: dict[str, list[State]], *, is_now: bool) -> None:
        """Finds the commit that a session goes on from, and whose it is."""
        own: list[str] = []
        try:
            for oid in self._reader.commits.ancestors(state.oid):
                if oid in owners:
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
            ended.setdefault(owners[oid].session_id, []).append(state)

    def _tell_lines(self, trunk: State, lines: Sequence[State], owners: Mapping[str, State]) -> None:
        """Finds the commits of a session that do not follow the one before, since the user went back in between."""
        history = [*self._reader.commits.ancestors(trunk.oid)][::-1]
        states = [trunk, *sorted(lines, key=lambda one: one.tree.count)]
        for number, other in _returns(self._store, states):
            oid = self._of_delta(history, number)
            if owners[oid] is trunk:
                self._follows[oid] = None if other is None else self._of_delta(history, other)

    def _of_delta(self, history: Sequence[str], number: int) -> str:
        """Returns the commit that added a delta, of a session's commits, the oldest first."""
        return history[bisect_left(history, number + 1, key=lambda oid: self._reader.glance("", oid).deltas)]


def _returns(store: Store, states: Sequence[State]) -> Iterator[tuple[int, int | None]]:
    """Yields the deltas that go on from another one than that before them, and from which; None for from none.

    Args:
        store: The store.
        states: A session, and the lines that ended in it, the first ones first.
    """
    lanes = array("i", [_NOBODYS]) * states[0].tree.count  # the line that each delta belongs to
    begun: list[int | None] = []  # what the first delta that is a line's own goes on from
    numbers = {decode_commit_id(one.encoded_id): one.number for one in deltas_of(store.reader.objects, states[0].tree)}
    for lane, state in enumerate(states):
        before = start = None
        is_begun = False
        for entry in store.load(state.session_id, at=state.oid):
            number = numbers.get(entry.id, numbers.get(entry.id.rpartition("/")[0]))
            if number is None:
                continue
            if lanes[number] == _NOBODYS:
                lanes[number] = lane
                if not is_begun:
                    start, is_begun = before, True
            before = number
        begun.append(start)
    latest: dict[int, int] = {}
    lane = 0
    for number, own in enumerate(lanes):
        if own != _NOBODYS:
            lane = own
        elif number >= states[lane].tree.count:
            lane = 0  # what is in no conversation goes with what is before it, as far as that line went
        follows = latest.get(lane, begun[lane])
        if number and follows != number - 1:
            yield number, follows
        latest[lane] = number
