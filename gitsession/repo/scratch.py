"""Scratch space in a file without a name, which the system removes once nobody has it open, also after a kill.

It lies where an import writes its packs: that disk has room for them. Where a system cannot do without a name, it is
one that `git gc` removes.
"""

import errno
import os
from pathlib import Path
from typing import BinaryIO, cast

from gitsession.columns import Scratch
from gitsession.repo.files import read_at, translated, write_all

# So much is kept in memory before there is a file.
_IN_MEMORY = 1 << 20

_DOING = "set aside in the store what does not fit into memory"


class ScratchFile(Scratch):
    """Scratch space of which only a little is in memory. For one thread."""

    def __init__(self, directory: Path) -> None:
        """Names the directory for the file, which is made when it is needed."""
        super().__init__()
        self._directory = directory
        self._file: BinaryIO | None = None

    def close(self) -> None:
        """Gives up all that was written."""
        self._content = bytearray()
        if self._file is not None:
            self._file.close()

    def write(self, place: int, content: bytes) -> None:
        """Writes bytes to a place that was reserved.

        Raises:
            Unavailable: The disk refuses.
        """
        if self._file is None and place + len(content) <= _IN_MEMORY:
            super().write(place, content)
            return
        with translated(_DOING):
            if self._file is None:
                self._file = _unnamed(self._directory)
                write_all(self._file.fileno(), bytes(self._content))
                self._content = bytearray()
            os.lseek(self._file.fileno(), place, os.SEEK_SET)
            write_all(self._file.fileno(), content)

    def read(self, place: int, size: int) -> bytes:
        """Returns bytes that were written.

        Raises:
            Unavailable: The disk refuses.
        """
        if self._file is None:
            return super().read(place, size)
        with translated(_DOING):
            content = read_at(self._file.fileno(), place, size)
            if len(content) != size:
                raise OSError(errno.EIO, "a file is shorter than what was written to it")
            return content


def _unnamed(directory: Path) -> BinaryIO:
    # The few who need it have a large file to import, so that its time does not count.
    from tempfile import TemporaryFile  # noqa: PLC0415

    return cast("BinaryIO", TemporaryFile(prefix="tmp_scratch_", dir=directory, buffering=0))
