"""The deltas of full directories, kept together: one file is read in place of a hundred objects.

It pays where deltas are small, as those of a conversation are: then finding an object costs more than reading it.
"""

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

from gitsession.repo.cache import Cache
from gitsession.tree import DIRECTORY_SIZE

# Larger deltas are read as quickly from their packs, and would only take space.
_SMALL_BYTES = 8 * 1024

_LENGTHS = struct.Struct(f"<{DIRECTORY_SIZE}I")


class KeptDirectory:
    """The deltas of one full directory."""

    def __init__(self, derived: bytes) -> None:
        """Takes what was kept: the lengths of the deltas, and the deltas."""
        self._lengths = _LENGTHS.unpack_from(derived)
        self.joined = derived[_LENGTHS.size :]

    def deltas(self) -> Iterator[bytes]:
        """Yields the deltas one by one, in order."""
        place = 0
        for length in self._lengths:
            yield self.joined[place : place + length]
            place += length


class DirectoryCache:
    """The deltas of full bottom directories, by the ids of their trees."""

    def __init__(self, path: Path) -> None:
        self._cache = Cache(path)

    def takes(self, content: bytes) -> bool:
        """Tells whether a delta is small enough to be kept, and its last line has an end: they are put together."""
        return len(content) <= _SMALL_BYTES and content.endswith(b"\n")

    def find(self, oid: str) -> KeptDirectory | None:
        """Returns the deltas of a directory; None where they are not kept."""
        derived = self._cache.find(oid)
        return None if derived is None or len(derived) < _LENGTHS.size else KeptDirectory(derived)

    def put(self, oid: str, contents: Sequence[bytes]) -> KeptDirectory:
        """Keeps the deltas of a full directory, and returns them."""
        derived = _LENGTHS.pack(*map(len, contents)) + b"".join(contents)
        self._cache.put(oid, derived)
        return KeptDirectory(derived)
