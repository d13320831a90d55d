"""The outlines of a file's records, kept while the file is read: compressed, some 60 bytes for a record."""

import marshal
import zlib
from array import array
from bisect import bisect
from collections.abc import Iterator, Sequence
from typing import Any, overload

from gitsession.columns import Scratch
from gitsession.transcripts.base import Record

# How many are compressed together, since much of each stands in the one before it; fewer of large records.
_TOGETHER = 256
_BYTES = 1 << 20

_Outline = tuple[str | None, Any, bytes]


class Outlines(Sequence[Record]):
    """Outlines of records, each an id and a value; cheap to read in their order, and slow in any other."""

    def __init__(self, scratch: Scratch | None = None) -> None:
        """Begins without one.

        Args:
            scratch: Where they lie; None for memory.
        """
        self._scratch = Scratch() if scratch is None else scratch
        # Of those that were compressed together: where they lie, and in how many bytes.
        self._places, self._sizes = array("Q"), array("Q")
        self._firsts = array("Q", [0])  # the places of the first of them, and of those that are not compressed yet
        self._open: list[_Outline] = []
        self._open_bytes = 0
        self._read: tuple[int, list[_Outline]] = (-1, [])  # those that were unpacked last

    def append(self, record: Record, mark: bytes = b"", *, size: int = 0) -> None:
        """Adds an outline.

        Args:
            record: The outline.
            mark: What else is to be kept with it.
            size: How many bytes the record has that it is made of, and so it at most.

        Raises:
            Unavailable: There is no room for it.
        """
        self._open.append((record.id, record.value, mark))
        self._open_bytes += size
        if len(self._open) < _TOGETHER and self._open_bytes < _BYTES:
            return
        # It comes back to this very process, so the format that is quickest will do.
        packed = zlib.compress(marshal.dumps(self._open), 1)
        self._places.append(self._scratch.put(packed))
        self._sizes.append(len(packed))
        self._firsts.append(len(self))
        self._open, self._open_bytes = [], 0

    def mark(self, place: int) -> bytes:
        """Returns what was given along with an outline."""
        return self._find(place)[2]

    def __len__(self) -> int:
        return self._firsts[-1] + len(self._open)

    @overload
    def __getitem__(self, place: int) -> Record: ...
    @overload
    def __getitem__(self, place: slice) -> list[Record]: ...
    def __getitem__(self, place: int | slice) -> Record | list[Record]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        own_id, value, _ = self._find(range(len(self))[place])
        return Record(b"", value, id=own_id)

    def __iter__(self) -> Iterator[Record]:
        for number in range(len(self._firsts)):
            for own_id, value, _ in self._unpacked(number):
                yield Record(b"", value, id=own_id)

    def _find(self, place: int) -> _Outline:
        number = bisect(self._firsts, place) - 1
        return self._unpacked(number)[place - self._firsts[number]]

    def _unpacked(self, number: int) -> list[_Outline]:
        if number == len(self._places):
            return self._open
        if self._read[0] != number:
            packed = self._scratch.read(self._places[number], self._sizes[number])
            self._read = (number, marshal.loads(zlib.decompress(packed)))  # noqa: S302  # our own bytes
        return self._read[1]
