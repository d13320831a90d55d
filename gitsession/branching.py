"""Which branch of a session an import goes on with: one whose deltas are all records of the file, or a new one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from gitsession.errors import Corrupt
from gitsession.layout import derived_id
from gitsession.reading import Reader, State
from gitsession.revisions import resolve
from gitsession.tree import Delta, deltas_of

# The field of a header that says by which rules secrets were taken out.
REDACTED = "redacted"


@dataclass(slots=True)
class _Branch:
    """A branch of the session, and how much of it the file has repeated so far."""

    state: State
    deltas: Iterator[Delta]  # those that were not compared yet
    matched: int = 0


@dataclass(frozen=True, slots=True)
class Base:
    """What the new records of a file follow.

    Attributes:
        session_id: The session whose branch moves.
        state: The session before them; None for a new one.
        expected: The commit that the branch must be at; None for a new branch.
        rewritten_from: The session that the file no longer repeats, where that is why the branch is a new one.
    """

    session_id: str
    state: State | None
    expected: str | None
    rewritten_from: str | None = None


@dataclass(slots=True)
class Branches:
    """The branches of one session, compared with a file record by record.

    Attributes:
        reader: The store.
        session_id: The session.
        listed: The names of all branches, as refs. They may be older than the rest: a branch that was made since is
            found in the way when it is to be made.
    """

    reader: Reader
    session_id: str
    listed: Sequence[str]
    _branches: list[_Branch] = field(default_factory=list)
    _taken: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        tip = self.reader.find_tip(self.session_id)
        if tip is not None:
            self._add(self.reader.state(self.session_id, tip))
        for session_id, value in self.reader.derived(self.session_id, self.listed):
            self._taken.add(session_id)
            # A name that begins alike may be another session's, or a branch that cannot be read: neither is the file's.
            if isinstance(value, str) and (state := self._find_derived(session_id, value)):
                self._add(state)

    def _find_derived(self, session_id: str, oid: str) -> State | None:
        try:
            state = self.reader.state(session_id, oid)
        except Corrupt:
            return None
        return state if state.meta.id == self.session_id else None

    def _add(self, state: State) -> None:
        self._taken.add(state.session_id)
        self._branches.append(_Branch(state, deltas_of(self.reader.objects, state.tree)))

    @property
    def redacted(self) -> bool:
        """Whether secrets are taken out of what is imported into the session, because they were once."""
        return any(REDACTED in branch.state.meta.extra for branch in self._branches)

    def take(self, number: int, encoded_id: str, blob: str) -> bool:
        """Tells whether record `number` of the file is stored: whether a branch that repeated it so far goes on so."""
        taken = False
        for branch in self._branches:
            if branch.matched == number < branch.state.tree.count and next(branch.deltas)[1:] == (encoded_id, blob):
                branch.matched += 1
                taken = True
        # Without a branch of its own the session is made anew, whatever lines of it are still there.
        return taken and self.session_id in self._taken

    def held(self) -> Iterator[tuple[State, Iterator[Delta]]]:
        """Yields the branches, the session's own first, and what each holds."""
        objects = self.reader.objects
        return ((branch.state, deltas_of(objects, branch.state.tree)) for branch in self._branches)

    def stored(self, number: int) -> State | None:
        """Returns the session that holds the first `number` records of the file, its own branch first."""
        return next((branch.state for branch in self._branches if branch.matched == number), None)

    def base(self, number: int, record_id: str) -> Base:
        """Returns what record `number`, the first that is not stored, follows.

        Args:
            number: Its place in the file, from 0.
            record_id: Its id, by which a derived branch is named.
        """
        same = [branch for branch in self._branches if branch.matched == number]
        longer = any(branch.state.tree.count > number for branch in same)
        if self.session_id not in self._taken:
            return Base(self.session_id, None, None)
        if number and same and not longer:
            # Several end here only where one of them is a name for an earlier commit of the others' line.
            state = same[0].state
            return Base(state.session_id, state, state.oid)
        name = next(name for name in self.names(record_id) if self.is_free(name))
        if not same or number == 0:
            return Base(name, None, None, self.session_id)
        state = resolve(self.reader, same[0].state.session_id, f"#{number - 1}")
        return Base(name, state, None, same[0].state.session_id)

    def names(self, record_id: str) -> Iterator[str]:
        """Yields the ids that a branch derived at a record may have, the best first, as many as are asked for."""
        yield derived_id(self.session_id, record_id)
        for number in count(2):
            yield derived_id(self.session_id, f"{record_id}.{number}")

    def is_free(self, session_id: str) -> bool:
        """Tells whether no branch has this id."""
        return session_id not in self._taken

    def holds(self, session_id: str, number: int) -> bool:
        """Tells whether a branch of the session begins with the first `number` records of the file."""
        return any(one.matched >= number for one in self._branches if one.state.session_id == session_id)
