"""A transcript that is read more than once: what was read of it is copied, so that it is the same each time.

An agent may write its transcript anew at any moment. Whoever reads it twice from its file may see two states of it, and
put together what never was one. So it is read from its file only once, as quickly as it can be read, and a change that
comes later is for the next import to find.
"""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeVar

from gitsession.repo.scratch import ScratchFile

T = TypeVar("T")

# Whoever has read so much and may go back in it will read it all: it is no log, which is let go after its first record.
_AT_LEAST = 4 * 1024 * 1024
_CHUNK = 1 << 20


class Copied(io.RawIOBase):
    """A stream that can be gone back in, over one that need not be: what was read from that is read from the copy."""

    def __init__(self, source: BinaryIO, directory: Path) -> None:
        """Begins where the source stands.

        Args:
            source: What is read, once. It is not closed here.
            directory: Where the copy lies while it is needed, in a file that nobody else sees.
        """
        self._source = source
        self._copy = ScratchFile(directory)
        self._size = 0  # of the copy
        self._place = 0
        self._is_kept = True
        self._is_whole = False

    def let_go(self) -> None:
        """Copies nothing from here on: from where the copy ends, what is read now is read for the last time."""
        self._is_kept = False

    def fill(self) -> None:
        """Copies all that the source has left; what is added to it from then on is not looked at.

        Raises:
            OSError: The source cannot be read.
            Unavailable: There is no room for the copy.
        """
        while not self._is_whole:
            self._keep(self._source.read(_CHUNK))

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview", /) -> int:  # type: ignore[override]  # any writable buffer
        """Reads on, from the copy or from the source.

        Raises:
            OSError: The source cannot be read.
            Unavailable: There is no room for the copy, or it cannot be read.
        """
        room = memoryview(buffer)
        if self._place < self._size:
            found = self._copy.read(self._place, min(len(room), self._size - self._place))
        elif not self._is_kept:
            found = self._source.read(len(room))
        elif self._is_whole:
            found = b""
        else:
            found = self._source.read(len(room))
            self._keep(found)
            if self._size > _AT_LEAST:
                self.fill()
        room[: len(found)] = found
        self._place += len(found)
        return len(found)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        if whence == io.SEEK_END:
            raise io.UnsupportedOperation("its end is not known")
        self._place = offset + (self._place if whence == io.SEEK_CUR else 0)
        return self._place

    def close(self) -> None:
        self._copy.close()
        super().close()

    def _keep(self, found: bytes) -> None:
        self._is_whole = not found
        self._copy.put(found)
        self._size += len(found)


def from_beginning(stream: BinaryIO, read: Callable[[BinaryIO], Iterator[T]]) -> Iterator[T]:
    """Returns what is read from a stream, once more."""
    stream.seek(0)
    return read(stream)
