"""Transcripts that are written anew when they grow: which branch of the session holds an earlier state of one.

The records of such a transcript are told apart by their ids. A branch holds an earlier state if all its records are in
the file: those of a document first and in the same order, those of a directory anywhere. The import then adds what is
new, and a version of what changed. What the file no longer has, somebody took out of it: then it is no later state of
that branch. FORMAT.md, "Transcripts that are written anew".

A file may be read while its agent writes it, or be damaged. What cannot be read of it is no reason to take it for
another one: the beginning of a document that is cut replaces no whole one, and where a damaged version of a record is
the last one, the whole one that the file has again comes after it, as a version more. A file of a folder whose JSON is
cut is still being written: it is no record yet, and what is stored of it is not gone. But a document of which a message
is damaged that was not stored so goes on beside the session, since that message is not known to be the one that it was.

Of each record of the file, and of each delta of a branch, a few bytes are kept: the number of its id, and its blob.
They lie in scratch space.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from gitsession.branching import Base, Branches
from gitsession.columns import MANY, Column, Scratch, column
from gitsession.errors import Corrupt
from gitsession.layout import decode_commit_id
from gitsession.numbering import Numbering
from gitsession.reading import State
from gitsession.record_ids import RecordIds
from gitsession.repo.codec import object_id
from gitsession.transcripts import bundle, document
from gitsession.transcripts.base import Growth, Record
from gitsession.transcripts.stored import decode_record, encode_record, is_record
from gitsession.transcripts.versions import key_of, version_id
from gitsession.tree import Delta

_NONE = -1


class Blobs:
    """Ids of blobs, 20 bytes each."""

    def __init__(self, scratch: Scratch) -> None:
        self._columns = [column(scratch, code, most=MANY) for code in "QQI"]

    def __getitem__(self, place: int) -> str:
        first, middle, last = (one[place] for one in self._columns)
        return f"{first:016x}{middle:016x}{last:08x}"

    def append(self, blob: str) -> None:
        first, middle, last = self._columns
        first.append(int(blob[:16], 16))
        middle.append(int(blob[16:32], 16))
        last.append(int(blob[32:], 16))


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import does with the records of a file, in their order.

    Attributes:
        base: What the new ones follow.
        versions: Which version of its record each of them is, from 1.
        is_older: Whether each is stored, as it is or as it was: then there is nothing new.
        is_behind: Whether, besides, the branch holds later ones, or later versions of them.
    """

    base: Base
    versions: Column
    is_older: bool
    is_behind: bool
    _deltas: Column
    _blobs: Blobs

    @property
    def known(self) -> int:
        """How many of the records are stored."""
        return len(self._deltas) if self.is_older else sum(delta != _NONE for delta in self._deltas)

    def delta(self, place: int) -> int | None:
        """Returns the number of the delta that stores a record; None for one that is new."""
        delta = self._deltas[place]
        return delta if delta != _NONE else 0 if self.is_older else None

    def blob(self, place: int) -> str | None:
        """Returns the blob that stores a record as it is; None where none does."""
        delta = self._deltas[place]
        return None if delta == _NONE else self._blobs[delta]


@dataclass(frozen=True, slots=True)
class _Branch:
    """A branch of the session: the numbers of its deltas' ids, and their blobs."""

    state: State
    keys: Column
    blobs: Blobs


class Comparison:
    """The comparison of a file with all branches of its session, in one pass over its records."""

    def __init__(self, branches: Branches, name: str, scratch: Scratch, *, same: bool) -> None:
        """Reads what the branches hold.

        Args:
            branches: The branches of the session.
            name: The name of the format.
            scratch: Where what is kept of each record lies.
            same: Whether the file is known to be of this session, however little it has in common with a branch.

        Raises:
            Unavailable: The scratch space is full, or cannot be read; so do the other methods, and the plan's.
        """
        self._name = name
        self._same = same
        self._objects = branches.reader.objects
        self._scratch = scratch
        self._keys = Numbering(scratch)  # of the ids of records, without their versions
        self._most = self._column("I")  # how many versions of each a branch has, at most
        found = (self._branch(state, deltas) for state, deltas in branches.held())
        self._branches = [branch for branch in found if branch is not None]
        self._ids = RecordIds(scratch)
        self._records = self._column("i")  # by their places: the numbers of their keys
        self._blobs = Blobs(scratch)  # of each record one for each version that a branch may have of it
        self._damaged = self._column("B")  # by their places: whether they cannot be read
        self._waiting: list[int] = []  # the numbers of the keys of files that are still being written

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to compare with."""
        return bool(self._branches)

    def add(self, record: Record) -> None:
        """Takes the next record of the file."""
        key = self._ids.take(len(self._records), record)
        number = self._keys.find(key)
        self._records.append(_NONE if number is None else number)
        self._damaged.append(_is_damaged(record))
        for version in range(1, 1 if number is None else self._most[number] + 1):
            line = encode_record(self._name, version_id(key, version), record)
            self._blobs.append(object_id("blob", line + b"\n"))

    def wait(self, record: Record) -> None:
        """Takes a file of a folder that is still being written: what is stored of it stays as it is."""
        number = None if record.id is None else self._keys.find(record.id)
        if number is not None:
            self._waiting.append(number)

    def plan(self, growth: Growth) -> Plan | None:
        """Returns how the file goes on with a branch of its session; None if it goes on with none.

        Args:
            growth: How the transcript grows.
        """
        best: Plan | None = None
        for branch in self._branches:
            found = self._plan(branch, growth)
            if found is not None and (best is None or found.known > best.known):
                best = found
        return best

    def _branch(self, state: State, deltas: Iterable[Delta]) -> _Branch | None:
        """Returns what a branch holds; None for one that is nothing like a transcript that was imported."""
        branch = _Branch(state, self._column("I"), Blobs(self._scratch))
        counts = _Counts(self._keys, self._column("I"))
        for delta in deltas:
            try:
                commit_id = decode_commit_id(delta.encoded_id)
            except Corrupt:
                return None
            key = key_of(commit_id, counts)
            number = self._keys.add(key)
            if commit_id != version_id(key, counts.add(number)):
                return None
            branch.keys.append(number)
            branch.blobs.append(delta.blob)
        for number, count in enumerate(counts.of):
            if number == len(self._most):
                self._most.append(0)
            self._most[number] = max(self._most[number], count)
        return branch

    def _column(self, code: str) -> Column:
        return column(self._scratch, code, most=MANY)

    def _plan(self, branch: _Branch, growth: Growth) -> Plan | None:
        counts = column(self._scratch, "I", len(self._keys))
        last = column(self._scratch, "i", len(self._keys), _NONE)  # the delta with the last version of each
        before = self._column("i")  # by deltas: the one with the version before
        places = column(self._scratch, "I", len(self._keys))  # of the branch's records, from 1
        held = 0
        in_order = True
        for delta, key in enumerate(branch.keys):
            if not counts[key]:
                in_order = in_order and held < len(self._records) and self._records[held] == key
                held += 1
                places[key] = held
            before.append(last[key])
            counts[key] += 1
            last[key] = delta
        versions, deltas = self._column("I"), self._column("i")
        older = True
        spoilt = mended = False
        there = place = latest = 0
        for number, key in enumerate(self._records):
            count = 0 if key == _NONE else counts[key]
            is_last = count > 0 and self._blobs[place + count - 1] == branch.blobs[last[key]]
            if number == 0 and count and not is_last and self._damaged[0]:
                # The beginning of a document that is cut.
                is_last = not self._is_damaged(branch.blobs[last[key]])
            versions.append(count if is_last else count + 1)
            deltas.append(last[key] if is_last else _NONE)
            spoilt = spoilt or (self._damaged[number] > 0 and not count)
            if count and growth != "directory":
                # An earlier state has its records in the order of the branch.
                older, latest = older and places[key] > latest, places[key]
            if not is_last and older:
                own = {self._blobs[place + number] for number in range(count)}
                older = any(branch.blobs[delta] in own for delta in _chain(last[key], before)) if own else False
                mended = mended or (older and self._is_damaged(branch.blobs[last[key]]))
            there += count > 0
            place += 0 if key == _NONE else self._most[key]
        there += sum(counts[key] > 0 for key in self._waiting)
        goes_on = there == held if growth == "directory" else in_order
        base = Base(branch.state.session_id, branch.state, branch.state.oid)
        older_only = older and not (mended and goes_on)
        behind = older_only and (_NONE in deltas or (there < held and self._lacks(branch, counts, last)))
        plan = Plan(base, versions, older_only, behind, deltas, branch.blobs)
        if older:
            # Every record is there as it is, or was: the branch holds this state, and perhaps later ones.
            return plan
        # The first record names the transcript. Where the name is all that tells it, a file that has nothing else in
        # common is another one of the same name.
        akin = self._same or held < 2 or any(delta != _NONE for delta in islice(deltas, 1, None))
        return plan if goes_on and akin and not spoilt else None

    def _lacks(self, branch: _Branch, counts: Column, last: Column) -> bool:
        """Tells whether a branch holds a record of which the file has no version; what was appended to it is none."""
        there = column(self._scratch, "B", len(self._keys))
        for key in self._records:
            if key != _NONE:
                there[key] = 1
        lacking = (last[key] for key, count in enumerate(counts) if count and not there[key])
        return any(is_record(self._objects.read(branch.blobs[delta], "blob")) for delta in lacking)

    def _is_damaged(self, blob: str) -> bool:
        """Tells whether a stored record cannot be read."""
        try:
            return _is_damaged(decode_record(self._objects.read(blob, "blob").removesuffix(b"\n"))[1])
        except Corrupt:
            return False


class _Counts:
    """How many versions of each record a branch has, as far as it was read; by the numbers of the keys."""

    def __init__(self, keys: Numbering, of: Column) -> None:
        self.of = of
        self._keys = keys

    def __contains__(self, key: str) -> bool:
        number = self._keys.find(key)
        return number is not None and number < len(self.of) and self.of[number] > 0

    def add(self, number: int) -> int:
        """Counts one more version, and returns how many there are."""
        while number >= len(self.of):
            self.of.append(0)
        self.of[number] += 1
        return self.of[number]


def _is_damaged(record: Record) -> bool:
    """Tells whether what a record holds cannot be read: a message, what stands around them, a file of JSON."""
    if bundle.is_file(record.value):
        # What is wrong with one that was just read is known.
        return record.problem is not None if record.line else bundle.fault(record.value) is not None
    return document.lenient(record).value is None and bool(record.raw.strip())


def _chain(delta: int, before: Column) -> Iterator[int]:
    """Yields a delta, and those with the versions before it."""
    while delta != _NONE:
        yield delta
        delta = before[delta]
