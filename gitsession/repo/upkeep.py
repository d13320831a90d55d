"""What a store gathers as it grows, counted: loose objects, packs, and temporary files that killed processes left.

The counts of the last maintenance stand in a file that is its lock as well. What it could not pack (objects that no
branch reaches) is no reason for the next one.
"""

import contextlib
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gitsession.repo.files import NO_FOLLOW, NONBLOCK, make_directories, require_repository, translated
from gitsession.repo.locks import try_lock

# As git's own `gc.auto` (6,700 loose objects, told by one of the 256 directories) and `gc.autoPackLimit`.
_SAMPLE = "17"
_MOST_LOOSE = 27
_MOST_PACKS = 50

# As git's own grace: a process that writes for two weeks has not been seen yet.
_OLD_SECONDS = 14 * 24 * 3600
_TEMPORARY = re.compile(r"\.?tmp[-_].+|(?:clock|stale)\.\d+\.\d+|(?:config|HEAD)\.\w{8}")


class Size(NamedTuple):
    """What the objects of a store take: how many are loose, how many packs there are, and all their bytes."""

    loose: int
    packs: int
    bytes: int


class Upkeep:
    """The counts of one repository, and the lock of its maintenance."""

    def __init__(self, path: Path, own: Path) -> None:
        """Takes the git directory, and the one in it that is the store's own."""
        self._path = path
        self._own = own
        self.lock = own / "maintenance"

    def is_due(self) -> bool:
        """Tells whether the store has grown enough since the last maintenance, and none is running; in a moment."""
        loose, packs = self._sample()
        if loose <= _MOST_LOOSE and packs <= _MOST_PACKS:
            return False
        try:
            file = os.open(self.lock, os.O_RDWR | NONBLOCK | NO_FOLLOW)
        except OSError:
            return True  # there was none yet; or it will say what is wrong
        try:
            words = os.read(file, 100).split()
            left = tuple(map(int, words)) if len(words) == 2 and all(map(bytes.isdigit, words)) else (0, 0)
            grown = loose > left[0] + _MOST_LOOSE or packs > left[1] + _MOST_PACKS
            return grown and try_lock(file)
        except BlockingIOError:
            return True  # a pipe in its place, which says nothing
        finally:
            os.close(file)

    @contextlib.contextmanager
    def hold(self) -> Iterator[bool]:
        """Holds the lock, and at the end writes down what is left; tells whether it could be had.

        Raises:
            Unavailable: The lock file cannot be made.
        """
        with translated("lock the maintenance"):
            require_repository(str(self._own.parent))
            make_directories(self._own)
            file = os.open(self.lock, os.O_RDWR | os.O_CREAT | NONBLOCK | NO_FOLLOW, 0o600)
        try:
            taken = try_lock(file)
            try:
                yield taken
            finally:
                if taken:
                    with contextlib.suppress(OSError):
                        os.ftruncate(file, 0)
                        os.write(file, b"%d %d\n" % self._sample())
        finally:
            os.close(file)

    def size(self) -> Size:
        """Returns what the objects take now."""
        loose = packs = total = 0
        for directory in _listing(self._path / "objects"):
            own = re.fullmatch("[0-9a-f]{2}", directory.name)
            for entry in _listing(directory.path) if own or directory.name == "pack" else ():
                with contextlib.suppress(OSError):
                    total += entry.stat().st_size
                    loose += own is not None and not entry.name.startswith("tmp")
                    packs += own is None and entry.name.endswith(".pack")
        return Size(loose, packs, total)

    def remove_left_over(self) -> int:
        """Removes the temporary files that are older than two weeks; returns how many."""
        removed = 0
        objects = self._path / "objects"
        fanned = (entry.path for entry in _listing(objects) if len(entry.name) == 2)
        kept = (directory for directory, _, _ in os.walk(self._own))
        places: list[Path | str] = [self._path, objects, objects / "pack", objects / "info", *fanned, *kept]
        for place in places:
            for entry in _listing(place):
                with contextlib.suppress(OSError):
                    old = time.time() - entry.stat(follow_symlinks=False).st_mtime > _OLD_SECONDS
                    if old and _TEMPORARY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                        Path(entry.path).unlink()
                        removed += 1
        return removed

    def pack_sizes(self) -> list[int]:
        """Returns the sizes of the packs, in bytes, the smallest first."""
        found = []
        for entry in _listing(self._path / "objects" / "pack"):
            with contextlib.suppress(OSError):
                if entry.name.endswith(".pack"):
                    found.append(entry.stat().st_size)
        return sorted(found)

    def remove_pack_index(self) -> None:
        """Removes git's index of several packs, which says nothing that the one of each does not; as `git repack`."""
        with contextlib.suppress(OSError):
            (self._path / "objects" / "pack" / "multi-pack-index").unlink()

    def _sample(self) -> tuple[int, int]:
        objects = self._path / "objects"
        packs = sum(entry.name.endswith(".pack") for entry in _listing(objects / "pack"))
        return len(_listing(objects / _SAMPLE)), packs


def _listing(path: Path | str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return list(entries)
    except OSError:
        return []
