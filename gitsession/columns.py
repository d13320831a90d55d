"""Columns of numbers, one for each record of a file: in memory while they are few, and beyond that in scratch space.

What an import has to know of each record until the file ends is only a few bytes; but files have a million records. So
it goes to scratch space, of which little is in memory at a time.
"""

from array import array
from collections.abc import Iterator
from typing import Protocol

IN_MEMORY = 1 << 16
"""Columns of up to so many numbers are in memory."""

MANY = 1 << 62
"""The length of a column of which nobody knows how long it gets."""

# How many numbers of a longer column are read and written together, and how many such pages of it are in memory.
_PAGE_BITS = 12
_PAGE = 1 << _PAGE_BITS
_MASK = _PAGE - 1
_HELD = 8

_NOWHERE = (1 << 64) - 1


class Scratch:
    """Room for bytes that are read again before all of it is given up. Here it is in memory; see `ScratchFile`."""

    def __init__(self) -> None:
        self._content = bytearray()
        self._end = 0

    def reserve(self, size: int) -> int:
        """Returns a place for so many bytes, to which nothing else is put."""
        place = self._end
        self._end += size
        return place

    def put(self, content: bytes) -> int:
        """Writes bytes to a place of their own, and returns it.

        Raises:
            Unavailable: There is no room left.
        """
        place = self.reserve(len(content))
        self.write(place, content)
        return place

    def write(self, place: int, content: bytes) -> None:
        """Writes bytes to a place that was reserved.

        Raises:
            Unavailable: There is no room left.
        """
        self._content += bytes(max(place - len(self._content), 0))
        self._content[place : place + len(content)] = content

    def read(self, place: int, size: int) -> bytes:
        """Returns bytes that were written.

        Raises:
            Unavailable: They cannot be read.
        """
        return bytes(self._content[place : place + size])


class Column(Protocol):
    """Numbers by their places, as in an `array`; while they are gone through, none of them may change."""

    def __len__(self) -> int: ...

    def __getitem__(self, place: int, /) -> int: ...

    def __setitem__(self, place: int, number: int, /) -> None: ...

    def __iter__(self) -> Iterator[int]: ...

    def append(self, number: int, /) -> None:
        """Adds a number at the end."""

    def pop(self) -> int:
        """Takes the last number away, and returns it."""


def column(scratch: Scratch | None, code: str, length: int = 0, fill: int = 0, *, most: int = 0) -> Column:
    """Returns a column.

    Args:
        scratch: Where it lies if it is long; None for one that is in memory in any case.
        code: How wide its numbers are, as `array` says it.
        length: How many it has at first.
        fill: What these are.
        most: How many it may get, where that is more.
    """
    if scratch is None or max(length, most) <= IN_MEMORY:
        return array(code, [fill]) * length
    return _Paged(scratch, code, length, fill)


class _Paged:
    """A column in scratch space."""

    def __init__(self, scratch: Scratch, code: str, length: int, fill: int) -> None:
        self._scratch = scratch
        self._length = length
        self._blank = array(code, [fill]) * _PAGE
        self._places = array("Q")  # of the pages that were written
        self._held: dict[int, array[int]] = {}  # the pages in memory, the one that was used last at the end
        self._number, self._page = -1, self._blank  # that one

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place: int, /) -> int:
        if place >> _PAGE_BITS != self._number:
            self._turn_to(place >> _PAGE_BITS)
        return self._page[place & _MASK]

    def __setitem__(self, place: int, number: int, /) -> None:
        if place >> _PAGE_BITS != self._number:
            self._turn_to(place >> _PAGE_BITS)
        self._page[place & _MASK] = number

    def __iter__(self) -> Iterator[int]:
        for first in range(0, self._length, _PAGE):
            self._turn_to(first >> _PAGE_BITS)
            yield from self._page[: self._length - first]

    def append(self, number: int, /) -> None:
        self._length += 1
        self[self._length - 1] = number

    def pop(self) -> int:
        number = self[self._length - 1]
        self._length -= 1
        return number

    def _turn_to(self, number: int) -> None:
        page = self._held.pop(number, None)
        if page is None:
            if len(self._held) == _HELD:
                oldest = next(iter(self._held))
                self._write(oldest, self._held.pop(oldest))
            page = self._read(number)
        self._held[number] = page
        self._number, self._page = number, page

    def _read(self, number: int) -> "array[int]":
        place = self._places[number] if number < len(self._places) else _NOWHERE
        if place == _NOWHERE:
            return self._blank[:]
        page = array(self._blank.typecode)
        page.frombytes(self._scratch.read(place, _PAGE * page.itemsize))
        return page

    def _write(self, number: int, page: "array[int]") -> None:
        while number >= len(self._places):
            self._places.append(_NOWHERE)
        content = page.tobytes()
        if self._places[number] == _NOWHERE:
            self._places[number] = self._scratch.reserve(len(content))
        self._scratch.write(self._places[number], content)
