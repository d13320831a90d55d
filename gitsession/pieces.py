r"""How the records of a log that grew are told apart as they are stored, where what came later makes others of them.

A last line that is a whole record is stored without waiting for its line end, and a stored record never changes. What
stands behind it later may be no line end: blanks before one, the `\r` of a file that has CRLF, the next record of an
agent that crashed before it wrote the line end. An import then finds other records than are stored, in the same bytes.
It goes on with what is stored: the rest of the line is a record of its own, which says that it is `glued` to the one
before. Of aider's answers nothing tells that they are whole, so what came to one is a record of its own as well.

Each import of the file finds the same again, since only bytes are compared: those of the file with those of a branch
whose records were repeated up to there. A file that was written anew has others.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from gitsession.branching import Branches, Held
from gitsession.layout import decode_commit_id
from gitsession.repo.codec import object_id
from gitsession.transcripts.base import Record
from gitsession.transcripts.records import join, parse
from gitsession.transcripts.stored import encode_record

# How many records are kept until it is told whether a stored one begins with them all: one that is longer was written
# over many lines, which are records by themselves where it is damaged now.
_MOST_KEPT = 64


class Piece(NamedTuple):
    """A record as it is, or is to be, stored.

    Attributes:
        record: The record.
        ends: How many of the file's records end with it, or have ended since the piece before.
    """

    record: Record
    ends: int = 1


class Pieces:
    """The records of one file, each as a branch of its session has it."""

    def __init__(self, branches: Branches, name: str) -> None:
        """Begins a file.

        Args:
            branches: The branches of the session.
            name: The name of the format.
        """
        self._branches = branches
        self._name = name
        self._kept: list[Record] = []  # with which a stored record begins that goes on in the file's next one
        self._is_glued = False  # whether the next record goes on in the line of one that was stored as ended

    def take(self, number: int, record: Record) -> Iterator[Piece]:
        """Yields the file's next record in its pieces; none while those that follow have to tell.

        Args:
            number: The place of the first piece. Those before it are taken by the branches already, and so is each one
                before the next is asked for.
            record: The record.
        """
        records = [*self._kept, record._replace(glued=self._is_glued) if self._is_glued else record]
        self._kept, self._is_glued = [], False
        while True:
            found = self._stored(number, records)
            if found is None or (found[0] is None and len(records) > _MOST_KEPT):
                yield from map(Piece, records)
                return
            stored, rest = found
            if stored is None:
                self._kept = records
                return
            yield Piece(stored, len(records) - (rest is not None))
            if rest is None:
                return
            number += 1
            records = [rest]

    def end(self) -> Iterator[Piece]:
        """Yields what was kept at the end of the file."""
        yield from map(Piece, self._kept)
        self._kept = []

    def _stored(self, number: int, records: list[Record]) -> tuple[Record | None, Record | None] | None:
        """Finds what is stored in the place of records, and what of them is left behind it.

        Returns:
            None where nothing is that the records begin with, or that is just as they are. Nothing stored where that
            depends on what follows.
        """
        if len(records) == 1 and _is_plain(records[0]):
            return None
        waits = False
        for held in self._branches.held_at(number):
            if len(records) == 1 and self._is_same(held, records[0]):
                return None
            stored = held.record()
            if stored is None:
                continue
            found = _compared(stored, held.following, records)
            if found is not None:
                self._is_glued = found[1] is None
                return found
            waits = waits or _could_follow(stored, records)
        return (None, None) if waits else None

    def _is_same(self, held: Held, record: Record) -> bool:
        line = encode_record(self._name, decode_commit_id(held.delta.encoded_id), record)
        return not record.unfinished and object_id("blob", line + b"\n") == held.delta.blob


def _is_plain(record: Record) -> bool:
    """Tells of a record that no stored one can be a part of, unless it is the same: one object, a line by itself."""
    one_line = record.newline and record.raw.endswith(b"}") and b"\n" not in record.raw
    return record.unfinished or (one_line and record.value is not None)


def _could_follow(stored: Record, records: list[Record]) -> bool:
    """Tells whether a stored record begins with all of some records, and is longer."""
    raw = b"".join(join(records))
    return not records[-1].unfinished and len(raw) < len(stored.raw) and stored.raw.startswith(raw)


def _compared(
    stored: Record, find_following: Callable[[], Record | None], records: list[Record]
) -> tuple[Record, Record | None] | None:
    """Returns a stored record with which others begin, and what of them is left; None if they do not begin with it."""
    first, last = records[0], records[-1]
    raw = b"".join(join([*records[:-1], last._replace(newline=False)]))
    if stored.glued != first.glued or not raw.startswith(stored.raw):
        return None
    if not isinstance(stored.value, dict) and isinstance(last.value, dict):
        return None  # a line of a value over several lines, which was no record by itself
    rest = raw[len(stored.raw) :]
    glued = False
    if stored.newline:
        following = find_following()
        if rest.startswith(b"\n") and (following is None or not following.glued):
            rest = rest[1:]
        else:
            # Only what is whole by itself was stored before its line end was there.
            glued = isinstance(stored.value, dict) and (following is None or following.glued)
            if not glued or (not rest and last.newline):
                return None
    elif not rest:
        return None
    problem = None if isinstance(stored.value, dict) else first.problem
    found = stored._replace(line=first.line, problem=problem)
    if glued and not rest:
        return found, None
    line = first.line + raw.count(b"\n", 0, len(raw) - len(rest))
    return found, _rest(last, rest)._replace(line=line, glued=glued)


def _rest(record: Record, raw: bytes) -> Record:
    """Returns what is left of a record as one."""
    value, problem = parse(raw)
    if record.unfinished or (isinstance(value, dict) and value == record.value):
        return record._replace(raw=raw)
    if record.value is None or not raw.strip(b" \t\r\n,"):
        problem = record.problem
    return record._replace(raw=raw, value=value, id=None, timestamp=None, problem=problem)
