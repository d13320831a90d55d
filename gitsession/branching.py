"""Which branch of a session an import goes on with: one whose deltas are all records of the file, or a new one."""

from dataclasses import dataclass, field

from gitsession.errors import InvalidSessionId
from gitsession.layout import encode_session_id
from gitsession.reading import Reader, State
from gitsession.repo.codec import object_id
from gitsession.revisions import resolve
from gitsession.tree import Delta, deltas_of

# The field of a header that says by which rules secrets were taken out.
REDACTED = "redacted"


@dataclass(slots=True)
class _Branch:
    """A branch of the session, and how much of it the file has repeated so far."""

    state: State
    deltas: list[Delta]
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
    """

    reader: Reader
    session_id: str
    _branches: list[_Branch] = field(default_factory=list)

    def __post_init__(self) -> None:
        tip = self.reader.find_tip(self.session_id)
        if tip is not None:
            self._add(self.session_id, tip)
        for session_id, oid in self.reader.derived(self.session_id):
            self._add(session_id, oid)

    def _add(self, session_id: str, tip: str) -> None:
        state = self.reader.state(session_id, tip)
        self._branches.append(_Branch(state, list(deltas_of(self.reader.objects, state.tree))))

    @property
    def redacted(self) -> bool:
        """Whether secrets are taken out of what is imported into the session, because they were once."""
        return any(REDACTED in branch.state.meta.extra for branch in self._branches)

    def take(self, number: int, encoded_id: str, blob: str) -> bool:
        """Tells whether record `number` of the file is stored: whether a branch that repeated it so far goes on so."""
        taken = False
        for branch in self._branches:
            if branch.matched == number < len(branch.deltas) and branch.deltas[number][1:] == (encoded_id, blob):
                branch.matched += 1
                taken = True
        return taken

    def stored(self, number: int) -> State | None:
        """Returns the session that holds the first `number` records of the file, its own branch first."""
        return next((branch.state for branch in self._branches if branch.matched == number), None)

    def base(self, number: int, record_id: str, blob: str) -> Base:
        """Returns what record `number`, the first that is not stored, follows.

        Args:
            number: Its place in the file, from 0.
            record_id: Its id, by which a derived branch is named.
            blob: Its blob, by which one is named where that name is taken.
        """
        same = [branch for branch in self._branches if branch.matched == number]
        longer = any(len(branch.deltas) > number for branch in same)
        if not self._branches:
            return Base(self.session_id, None, None)
        if same and not longer:
            # Several end here only where one of them is a name for an earlier commit of the others' line.
            state = same[0].state
            return Base(state.session_id, state, state.oid)
        taken = {branch.state.session_id for branch in self._branches}
        name = derived_id(self.session_id, record_id)
        if name in taken:
            name = derived_id(self.session_id, blob)
        if not same or number == 0:
            return Base(name, None, None, self.session_id)
        state = resolve(self.reader, same[0].state.session_id, f"#{number - 1}")
        return Base(name, state, None, same[0].state.session_id)


def derived_id(session_id: str, record_id: str) -> str:
    """Returns the id of a branch that was derived from a session at a record: by a hash where that is too long."""
    derived = f"{session_id}.{record_id}"
    try:
        encode_session_id(derived)
    except InvalidSessionId:
        digest = object_id("blob", derived.encode("utf-8", "surrogatepass"))
        for length in range(len(session_id), 0, -1):
            shorter = f"{session_id[:length]}.{digest[:16]}"
            try:
                encode_session_id(shorter)
            except InvalidSessionId:
                continue
            return shorter
        return digest
    return derived
