"""The commit ids of an import: those of the records, each made unique in its session. FORMAT.md, "Record ids"."""

from hashlib import sha256

from gitsession.columns import MANY, Scratch, column
from gitsession.errors import InvalidCommit
from gitsession.layout import MAX_NAME_BYTES, encode_commit_id
from gitsession.numbering import Numbering
from gitsession.transcripts.base import Record


class RecordIds:
    """Gives the records of one file their commit ids, in the order of the file."""

    def __init__(self, scratch: Scratch | None = None) -> None:
        """Begins a file.

        Args:
            scratch: Where the ids lie if they are many; None for memory.
        """
        self._taken = Numbering(scratch)
        # How often each came, by their numbers, up to the last one that came again.
        self._times = column(scratch, "I", most=MANY)

    def take(self, number: int, record: Record) -> str:
        """Returns the commit id of a record.

        Its own id, with `.2`, `.3` … where an earlier record has it; one made of its place and its content where it
        has none, or one that is too long.

        Args:
            number: Its place in the file, from 0.
            record: The record.

        Raises:
            Unavailable: The scratch space is full, or cannot be read.
        """
        own = record.id
        if own is None or not _fits(own):
            own = made_id(number, record)
        if self._takes(own):
            return own
        first = self._taken.add(own)
        while len(self._times) <= first:
            self._times.append(1)
        while True:
            self._times[first] += 1
            commit_id = f"{own}.{self._times[first]}"
            if self._takes(commit_id):
                return commit_id

    def _takes(self, commit_id: str) -> bool:
        """Takes an id; tells whether it was free."""
        number = len(self._taken)
        return self._taken.add(commit_id) == number


def made_id(number: int, record: Record) -> str:
    """Returns the id that is made of a record's place in the file, from 0, and of its content."""
    return f"r{number}-{sha256(record.raw).hexdigest()[:12]}"


def _fits(own: str) -> bool:
    """Tells whether an id can be a commit's, with room for a suffix."""
    try:
        return len(encode_commit_id(own)) <= MAX_NAME_BYTES - 10
    except InvalidCommit:
        return False
