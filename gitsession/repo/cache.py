"""What was derived from objects and is worth keeping: files that may be deleted at any time.

Each is named by the id of the object it was made from and holds a checksum of its content. So it is never stale, and a
damaged one is as good as none. Writing one may fail without a word: a store on a read-only disk is read like any other.
"""

import os
from contextlib import suppress
from hashlib import sha1
from pathlib import Path

from gitsession.errors import Unavailable
from gitsession.repo.files import make_directories, private, read_file

_DIGEST_BYTES = 20


class Cache:
    """Derived files of one kind.

    Attributes:
        path: Their directory.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._root = f"{path}{os.sep}"

    def find(self, oid: str) -> bytes | None:
        """Returns what was derived from an object; None if there is nothing, or nothing sound."""
        try:
            content = read_file(f"{self._root}{oid}", follow=False)
        except (OSError, Unavailable):
            return None
        derived = content[_DIGEST_BYTES:]
        return derived if content[:_DIGEST_BYTES] == _checksum(oid, derived) else None

    def put(self, oid: str, derived: bytes) -> None:
        """Keeps what was derived from an object, if the disk allows."""
        temporary = self.path / f"tmp_{os.urandom(8).hex()}"
        try:
            make_directories(self.path)
            with open(temporary, "wb", opener=private) as file:  # pathlib takes no opener
                file.write(_checksum(oid, derived) + derived)
            temporary.replace(self.path / oid)
        except OSError:
            with suppress(OSError):
                temporary.unlink()


def _checksum(oid: str, derived: bytes) -> bytes:
    return sha1(oid.encode() + derived, usedforsecurity=False).digest()
