"""The index of a pack: the ids of its objects, sorted, and where each lies (gitformat-pack, version 2).

A store has an index of 28 bytes for each object, and so of more bytes than a process should hold: what is looked for in
a large one is read from the file each time, a few KB around it. A damaged index leads to no object, or to one with
another id.
"""

import os
import sys
import weakref
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import Self

from gitsession.repo.files import open_plain, read_at, read_file

_MAGIC = b"\xfftOc\0\0\0\x02"
_NAMES = 1032  # where the ids begin
_NAME_BYTES = 20
_ITEM_BYTES = _NAME_BYTES + 4 + 4  # with its checksum and its offset
_SUM_BYTES = 20

# Smaller indexes, of which there can be hundreds, are held, as long as they are no more than so much together.
_HELD_BYTES = 64 * 1024
_ALL_HELD_BYTES = 4 * 1024 * 1024

# How many ids are read together.
_WINDOW = 256

# The files that are kept open, the last ones that were used: hundreds are read under a limit of 256 open files.
_MOST_OPEN = 16


class IndexFiles:
    """The files of indexes, which are read here and there without being opened each time. For one thread.

    Attributes:
        held: How many bytes of them are in memory.
    """

    def __init__(self) -> None:
        self.held = 0
        self._open: dict[str, int] = {}
        self._last = ("", -1)  # the one that was used last, which is at the end of them
        weakref.finalize(self, _close_all, self._open)

    def read(self, path: str, place: int, size: int) -> bytes:
        """Returns bytes of a plain file, fewer where it ends.

        Raises:
            OSError: As the system says.
        """
        if path != self._last[0]:
            file = self._open.pop(path, None)
            if file is None:
                file, _ = open_plain(path, None)
                if len(self._open) == _MOST_OPEN:
                    os.close(self._open.pop(next(iter(self._open))))
            self._open[path] = file
            self._last = (path, file)
        return read_at(self._last[1], place, size)


def _close_all(files: dict[str, int]) -> None:
    for file in files.values():
        os.close(file)


class PackIndex:
    """The index of one pack.

    Attributes:
        path: Its file.
        count: How many objects it names.
    """

    def __init__(self, path: str, firsts: "array[int]", content: bytes, files: IndexFiles) -> None:
        """Takes an index whose header is right.

        Args:
            path: Its file.
            firsts: How many ids begin with each byte, or a lower one.
            content: All of it; empty for one that is read from the file.
            files: What reads it.
        """
        self.path = path
        self.count = firsts[-1]
        self._firsts = firsts
        self._content = content
        self._files = files

    @classmethod
    def find_sound(cls, path: str, files: IndexFiles) -> Self | None:
        """Returns the index in a file; None if its header is wrong, or it is gone.

        Raises:
            OSError: As the system says.
        """
        try:
            size = os.stat(path).st_size  # noqa: PTH116  # strings: there can be hundreds
            is_held = size <= min(_HELD_BYTES, _ALL_HELD_BYTES - files.held)
            content = read_file(path) if is_held else files.read(path, 0, _NAMES)
        except FileNotFoundError:
            return None
        if len(content) < _NAMES or not content.startswith(_MAGIC):
            return None
        firsts = array("I", content[len(_MAGIC) : _NAMES])
        if sys.byteorder == "little":
            firsts.byteswap()
        in_order = all(one <= other for one, other in pairwise(firsts))
        if not in_order or size < _NAMES + _ITEM_BYTES * firsts[-1] + 2 * _SUM_BYTES:
            return None
        files.held += len(content) if is_held else 0
        return cls(path, firsts, content if is_held else b"", files)

    def find(self, digest: bytes) -> int | None:
        """Returns the place of an object in the index; None if it is not there.

        Raises:
            OSError: As the system says.
        """
        first, names = self._around(digest)
        start = names.find(digest)
        while start > 0 and start % _NAME_BYTES:  # the same bytes by chance, across two ids
            start = names.find(digest, start + 1)
        return None if start < 0 else first + start // _NAME_BYTES

    def beginning(self, prefix: str) -> Iterator[str]:
        """Yields the ids that begin like this.

        Raises:
            OSError: As the system says.
        """
        lowest = bytes.fromhex(prefix.ljust(2 * _NAME_BYTES, "0"))
        place, names = self._around(lowest)
        place += bisect_left(range(len(names) // _NAME_BYTES), lowest, key=lambda one: _name(names, one))
        while names := self._names(place, min(place + _WINDOW, self.count)):
            for one in range(len(names) // _NAME_BYTES):
                oid = _name(names, one).hex()
                if not oid.startswith(prefix):
                    return
                yield oid
            place += _WINDOW

    def offset(self, place: int) -> int:
        """Returns where the object at a place of the index begins in the pack.

        Raises:
            OSError: As the system says.
        """
        offsets = _NAMES + (_NAME_BYTES + 4) * self.count
        offset = int.from_bytes(self._read(offsets + 4 * place, 4), "big")
        if offset >> 31:  # its number among the 64-bit offsets, which follow the others
            offset = int.from_bytes(self._read(offsets + 4 * self.count + 8 * (offset & 0x7FFFFFFF), 8), "big")
        return offset

    def _around(self, digest: bytes) -> tuple[int, bytes]:
        """Returns a few ids among which one stands, or would stand, and the place of the first of them."""
        low, high = self._firsts[digest[0] - 1] if digest[0] else 0, self._firsts[digest[0]]
        if high - low <= _WINDOW:
            return low, self._names(low, high)
        # Ids are as good as drawn by lot, so one is about as far behind the first as its next bytes say.
        place = low + ((high - low) * int.from_bytes(digest[1:5], "big") >> 32)
        while high - low > _WINDOW:
            start = min(max(place - _WINDOW // 2, low), high - _WINDOW)
            names = self._names(start, start + _WINDOW)
            if digest < names[:_NAME_BYTES]:
                high = start
            elif digest > names[-_NAME_BYTES:]:
                low = start + _WINDOW
            else:
                return start, names
            place = (low + high) // 2
        return low, self._names(low, high)

    def _names(self, place: int, end: int) -> bytes:
        return self._read(_NAMES + _NAME_BYTES * place, _NAME_BYTES * max(end - place, 0))

    def _read(self, start: int, size: int) -> bytes:
        if self._content:
            return self._content[start : start + size]
        try:
            return self._files.read(self.path, start, size)
        except FileNotFoundError:
            return b""  # it was replaced by another one, which names the objects too


def _name(names: bytes, number: int) -> bytes:
    return names[_NAME_BYTES * number : _NAME_BYTES * (number + 1)]
