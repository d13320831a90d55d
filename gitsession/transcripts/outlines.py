"""The outlines of a file's records, kept while the file is read: compressed, some 60 bytes for a record."""

import marshal
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, overload

from gitsession.transcripts.base import Record

# How many are compressed together: much of each stands in the one before it.
_TOGETHER = 256


class Outlines(Sequence[Record]):
    """Outlines of records, each an id and a value; cheap to read in their order, and slow in any other."""

    def __init__(self) -> None:
        self._packed: list[bytes] = []
        self._open: list[tuple[str | None, Any]] = []  # those that are not packed yet
        self._read: tuple[int, list[tuple[str | None, Any]]] = (-1, [])  # those that were unpacked last

    def append(self, record: Record) -> None:
        """Adds an outline."""
        self._open.append((record.id, record.value))
        if len(self._open) == _TOGETHER:
            # It comes back to this very process, so the format that is quickest will do.
            self._packed.append(zlib.compress(marshal.dumps(self._open), 1))
            self._open = []

    def __len__(self) -> int:
        return len(self._packed) * _TOGETHER + len(self._open)

    @overload
    def __getitem__(self, place: int) -> Record: ...
    @overload
    def __getitem__(self, place: slice) -> list[Record]: ...
    def __getitem__(self, place: int | slice) -> Record | list[Record]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        number, rest = divmod(range(len(self))[place], _TOGETHER)
        own_id, value = self._unpacked(number)[rest]
        return Record(b"", value, id=own_id)

    def __iter__(self) -> Iterator[Record]:
        for number in range(len(self._packed) + 1):
            for own_id, value in self._unpacked(number):
                yield Record(b"", value, id=own_id)

    def _unpacked(self, number: int) -> list[tuple[str | None, Any]]:
        if number == len(self._packed):
            return self._open
        if self._read[0] != number:
            self._read = (number, marshal.loads(zlib.decompress(self._packed[number])))  # noqa: S302  # our own bytes
        return self._read[1]
