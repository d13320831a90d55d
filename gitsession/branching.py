"""Which branch of a session an import goes on with: one whose deltas are all records of the file, or a new one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, takewhile

from gitsession.columns import Scratch
from gitsession.derived import former_names, goes_on_with_record, names
from gitsession.errors import Corrupt
from gitsession.layout import decode_commit_id
from gitsession.model import SessionMeta
from gitsession.reading import Reader, State
from gitsession.repo.objects import Objects
from gitsession.revisions import resolve
from gitsession.transcripts.base import Format, Record
from gitsession.transcripts.outlines import Outlines
from gitsession.transcripts.stored import decode_record, is_record
from gitsession.tree import Delta, SessionTree, common_count, deltas_of

# The field of a header that says by which rules secrets were taken out.
REDACTED = "redacted"

# How many records are compared before the memory is given back in which their trees were looked for.
_HELD_RECORDS = 256

# With how many others a branch is compared to find one that it is the beginning of.
_MOST_LEADING = 8


@dataclass(slots=True)
class _Branch:
    """A branch of the session: where it is, how many deltas it has, and what it is the beginning of, if anything."""

    oid: str
    count: int
    leader: "_Leader | None" = None

    def matched(self) -> int:
        """Returns how much of it the file has repeated so far."""
        return 0 if self.leader is None else min(self.leader.matched, self.count)


@dataclass(slots=True)
class _Leader:
    """A branch that is the beginning of no other, and how much of it the file has repeated so far.

    Abandoned lines are names for earlier commits of their session, so of many branches few are leaders.
    """

    tree: SessionTree
    text: int  # the number of the rules by which its commits' texts are made
    deltas: Iterator[Delta]  # those that were not looked at yet
    matched: int = 0
    _next: Delta | None = None  # the one that was looked at, and is not compared yet

    def peek(self) -> Delta:
        """Returns the delta that is compared next; there must be one."""
        if self._next is None:
            self._next = next(self.deltas)
        return self._next

    def repeats(self, encoded_id: str, blob: str) -> bool:
        """Tells whether the delta that is compared next is that of a record, and goes on to the one behind it."""
        delta, self._next = self.peek(), None
        return delta[1:] == (encoded_id, blob)


@dataclass(frozen=True, slots=True)
class Held:
    """A delta of a branch, of which is read what is asked for.

    Attributes:
        delta: The delta.
    """

    delta: Delta
    _objects: Objects
    _tree: SessionTree

    def record(self) -> Record | None:
        """Returns the record that it stores; None if it is none."""
        return self._record(self.delta)

    def following(self) -> Record | None:
        """Returns the record behind it; None if it is the last one of the transcript."""
        delta = next(deltas_of(self._objects, self._tree, self.delta.number + 1), None)
        return None if delta is None else self._record(delta)

    def _record(self, delta: Delta) -> Record | None:
        content = self._objects.read(delta.blob, "blob")
        return decode_record(content[:-1])[1] if is_record(content) else None


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

    def completed(self, meta: SessionMeta) -> SessionMeta:
        """Returns a header with what the session before had and it lacks: the first records alone do not tell it."""
        if self.state is None:
            return meta
        known = self.state.meta
        extra = {**meta.extra, **{key: value for key, value in known.extra.items() if key not in meta.extra}}
        title, created_at = meta.title or known.title, meta.created_at or known.created_at
        return replace(meta, title=title, created_at=created_at, extra=extra)


@dataclass(slots=True)
class Branches:
    """The branches of one session, compared with a file record by record.

    Attributes:
        reader: The store.
        session_id: The session.
        listed: The names of all branches, as refs. They may be older than the rest: a branch that was made since is
            found in the way when it is to be made.
        redacted: Whether secrets are taken out of what is imported into the session, because they were once.
    """

    reader: Reader
    session_id: str
    listed: Sequence[str]
    redacted: bool = field(default=False, init=False)
    _branches: dict[str, _Branch] = field(default_factory=dict)  # the session's own first
    _leaders: list[_Leader] = field(default_factory=list)
    _taken: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        tip = self.reader.find_tip(self.session_id)
        if tip is not None:
            self._lead(self._add(self.reader.state(self.session_id, tip)))
        for session_id, value in self.reader.derived(self.session_id, self.listed):
            self._taken.add(session_id)
            # A name that begins alike may be another session's, or a branch that cannot be read: neither is the file's.
            if isinstance(value, str) and (state := self._find_derived(session_id, value)):
                self._add(state)
                self._follow(state)
        # The longest first, since a shorter one may be the beginning of it.
        for session_id, branch in sorted(self._branches.items(), key=lambda item: -item[1].count):
            if branch.leader is None:
                state = self.reader.state(session_id, branch.oid)
                if not self._follow(state):
                    self._lead(state)

    def _find_derived(self, session_id: str, oid: str) -> State | None:
        try:
            state = self.reader.state(session_id, oid)
        except Corrupt:
            return None
        return state if state.meta.id == self.session_id else None

    def _add(self, state: State) -> State:
        self._taken.add(state.session_id)
        self._branches[state.session_id] = _Branch(state.oid, state.tree.count)
        self.redacted = self.redacted or REDACTED in state.meta.extra
        return state

    def _follow(self, state: State) -> bool:
        """Finds a leader that a branch is the beginning of; tells whether there is one."""
        for leader in self._leaders[:_MOST_LEADING]:
            if state.tree.count <= leader.tree.count and self._common(leader, state) == state.tree.count:
                self._branches[state.session_id].leader = leader
                return True
        return False

    def _common(self, leader: _Leader, state: State) -> int:
        try:
            return common_count(self.reader.objects, leader.tree, state.tree)
        except Corrupt:
            return -1  # told when its deltas are compared

    def _lead(self, state: State) -> None:
        leader = _Leader(state.tree, state.text, deltas_of(self.reader.objects, state.tree))
        self._leaders.append(leader)
        self._branches[state.session_id].leader = leader

    def take(self, number: int, encoded_id: str, blob: str) -> bool:
        """Tells whether record `number` of the file is stored: whether a branch that repeated it so far goes on so."""
        if number % _HELD_RECORDS == 0:
            self.reader.objects.let_go()
        taken = False
        for leader in self._leaders:
            if leader.matched == number < leader.tree.count and leader.repeats(encoded_id, blob):
                leader.matched += 1
                taken = True
        # Without a branch of its own the session is made anew, whatever lines of it are still there.
        return taken and self.session_id in self._taken

    @property
    def text(self) -> int | None:
        """The number of the rules by which what the file repeated so far was written; None where it did nothing."""
        return next((leader.text for leader in self._leaders if leader.matched), None)

    def held_at(self, number: int) -> Iterator[Held]:
        """Yields what the branches that the file repeated so far have in the place of record `number`."""
        if self.session_id in self._taken:
            for leader in self._leaders:
                if leader.matched == number < leader.tree.count:
                    yield Held(leader.peek(), self.reader.objects, leader.tree)

    def held(self) -> Iterator[tuple[State, Iterator[Delta]]]:
        """Yields the branches, the session's own first, and what each holds."""
        for session_id, branch in self._branches.items():
            state = self.reader.state(session_id, branch.oid)
            yield state, deltas_of(self.reader.objects, state.tree)

    def stored(self, number: int) -> str | None:
        """Returns the session that holds the first `number` records of the file, its own branch first."""
        return next((name for name, branch in self._branches.items() if branch.matched() == number), None)

    def is_behind(self, number: int) -> bool:
        """Tells whether a file of `number` records, all of them stored, ends before the branch that holds them does."""
        branch = next((one for one in self._branches.values() if one.matched() == number), None)
        if branch is None or branch.count == number:
            return False
        return goes_on_with_record(self.reader, self.reader.state(self.session_id, branch.oid), number)

    def base(self, number: int, record_id: str) -> Base:
        """Returns what record `number`, the first that is not stored, follows.

        Args:
            number: Its place in the file, from 0.
            record_id: Its id, by which a derived branch is named.
        """
        same = {name: branch for name, branch in self._branches.items() if branch.matched() == number}
        longer = any(branch.count > number for branch in same.values())
        if self.session_id not in self._taken:
            return Base(self.session_id, None, None)
        if number and same and not longer:
            # Several end here only where one of them is a name for an earlier commit of the others' line.
            session_id, branch = next(iter(same.items()))
            return Base(session_id, self.reader.state(session_id, branch.oid), branch.oid)
        name = next(name for name in self.names(record_id) if self.is_free(name))
        if not same or number == 0:
            return Base(name, None, None, self.session_id)
        session_id = next(iter(same))
        return Base(name, resolve(self.reader, session_id, f"#{number - 1}"), None, session_id)

    def names(self, record_id: str) -> Iterator[str]:
        """Yields the ids that a branch derived at a record may have, those first that earlier releases gave one."""
        former = takewhile(self._taken.__contains__, former_names(self.session_id, record_id))
        return chain(former, names(self.session_id, record_id))

    def is_free(self, session_id: str) -> bool:
        """Tells whether no branch has this id."""
        return session_id not in self._taken

    def holds(self, session_id: str, number: int, state: State | None = None) -> bool:
        """Tells whether a branch of the session begins with the first `number` records of the file, or of a state."""
        branch = self._branches.get(session_id)
        if branch is None or state is None:
            return branch is not None and branch.matched() >= number
        held = self.reader.state(session_id, branch.oid).tree
        return common_count(self.reader.objects, state.tree, held) >= number

    def outlines(self, state: State, found: Format, scratch: Scratch) -> Outlines:
        """Returns the outlines of all deltas of a branch; of one that is no record there is nothing but its id."""
        log = Outlines(scratch)
        for delta in deltas_of(self.reader.objects, state.tree):
            content = self.reader.objects.read(delta.blob, "blob")
            record = Record(b"")
            if is_record(content):
                record = found.outline(decode_record(content[:-1])[1])
            log.append(record._replace(id=decode_commit_id(delta.encoded_id)), size=len(content))
            if delta.number % _HELD_RECORDS == 0:
                self.reader.objects.let_go()
        return log
