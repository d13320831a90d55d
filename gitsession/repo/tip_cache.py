"""What is known by the commits that branches are at: one file for all of them, which may be deleted at any time.

A line holds a checksum, the commit and what was derived from it. So what is found is never stale, and what is damaged,
or was cut short, is as good as none. Lines are added at the end; when most are of commits that no branch is at any
more, the file is written anew. That may fail without a word: a store on a read-only disk is read like any other.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from zlib import crc32

from gitsession.errors import Unavailable
from gitsession.repo.files import MOST_GROWN_BYTES, append_file, make_directories, private, read_file

_DIGITS = 40

# Lines of former commits that are borne with, besides as many as there are of present ones.
_SLACK = 1000


class TipCache:
    """The derived lines of a store's tips.

    Attributes:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, bytes]:
        """Returns all that is known, by commits."""
        try:
            content = read_file(self.path, most=MOST_GROWN_BYTES, follow=False)
        except (OSError, Unavailable):
            return {}
        # The last line has an end, or was cut short.
        return {
            line[9 : 9 + _DIGITS].decode("ascii", "replace"): line[10 + _DIGITS :]
            for line in content.split(b"\n")[:-1]
            if line[:8] == b"%08x" % crc32(line[9:])
        }

    def keep(self, tips: Mapping[str, bytes], known: Mapping[str, bytes]) -> None:
        """Keeps what is known of the present tips, where `known`, which was read before, does not say the same."""
        lines = [_line(oid, derived) for oid, derived in tips.items() if known.get(oid) != derived]
        # Where nothing is known there is no file, or one that cannot be read, such as a pipe.
        anew = (bool(lines) and not known) or len(known) - (len(tips) - len(lines)) > len(tips) + _SLACK
        if not lines and not anew:
            return
        temporary = self.path.with_name(f"tmp_{os.urandom(8).hex()}")
        try:
            make_directories(self.path.parent)
            if not anew:
                append_file(self.path, b"".join(lines))
                return
            with open(temporary, "xb", opener=private) as file:  # pathlib takes no opener
                file.writelines(_line(oid, derived) for oid, derived in tips.items())
            temporary.replace(self.path)
        except OSError:
            with suppress(OSError):
                temporary.unlink()


def _line(oid: str, derived: bytes) -> bytes:
    text = oid.encode() + b" " + derived
    return b"%08x %b\n" % (crc32(text), text)
