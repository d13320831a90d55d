"""The commit ids of an import: those of the records, each made unique in its session. FORMAT.md, "Record ids"."""

from hashlib import sha256

from gitsession.errors import InvalidCommit
from gitsession.layout import MAX_NAME_BYTES, encode_commit_id
from gitsession.numbering import Numbering
from gitsession.transcripts.base import Record


class RecordIds:
    """Gives the records of one file their commit ids, in the order of the file."""

    def __init__(self) -> None:
        self._taken = Numbering()
        self._next: dict[str, int] = {}

    def take(self, number: int, record: Record) -> str:
        """Returns the commit id of a record.

        Its own id, with `.2`, `.3` … where an earlier record has it; one made of its place and its content where it
        has none, or one that is too long.

        Args:
            number: Its place in the file, from 0.
            record: The record.
        """
        own = record.id
        if own is None or not _fits(own):
            own = f"r{number}-{sha256(record.raw).hexdigest()[:12]}"
        commit_id = own
        while commit_id in self._taken:
            self._next[own] = self._next.get(own, 1) + 1
            commit_id = f"{own}.{self._next[own]}"
        self._taken.add(commit_id)
        return commit_id


def _fits(own: str) -> bool:
    """Tells whether an id can be a commit's, with room for a suffix."""
    try:
        return len(encode_commit_id(own)) <= MAX_NAME_BYTES - 10
    except InvalidCommit:
        return False
