"""Records that are gone through twice: kept for the second time where they are few, to be read again where not."""

from gitsession.transcripts.base import Record

# Records are few if they are no larger than this together, each counted with what its object takes besides its bytes.
_MOST_BYTES = 8 * 1024 * 1024
_OBJECT_BYTES = 1000


class Few:
    """The records that were gone through, as long as they are few."""

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._bytes = 0

    def add(self, record: Record) -> None:
        """Takes the next record."""
        self._bytes += len(record.raw) + _OBJECT_BYTES
        if self._bytes <= _MOST_BYTES:
            self._records.append(record)
        else:
            self._records.clear()

    @property
    def all(self) -> list[Record] | None:
        """All the records; None if there were too many to keep."""
        return self._records if self._bytes <= _MOST_BYTES else None
