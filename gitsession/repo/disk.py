"""How what is written comes to be on disk, in order, before it is acknowledged.

A commit writes several small files that only count together, so the order has three barriers: the contents of all
files before any of them gets its name, the names of the objects before the ref names the commit, and the ref before the
commit is acknowledged. On Linux one `syncfs` is a barrier for all files at once and costs as much as a single fsync;
elsewhere each file and each directory is synced by itself, in the same places.
"""

import os
import re
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

if sys.platform != "win32":
    import fcntl


class Disk:
    """The file system that a repository lies on.

    Attributes:
        path: A directory on it.
        durable: Whether anything is synced at all.
    """

    def __init__(self, path: Path, *, durable: bool) -> None:
        self.path = path
        self.durable = durable
        self._local = threading.local()

    @property
    def at_once(self) -> bool:
        """Whether one barrier makes durable all that was written before it, whoever wrote it."""
        return self.durable and _syncfs() is not None

    def file(self, file: int) -> None:
        """Syncs an open file now, or leaves it to the next barrier.

        Raises:
            OSError: The disk refuses.
        """
        if self.durable and _syncfs() is None:
            _fsync(file)

    def directory(self, path: str | Path) -> None:
        """Syncs the names in a directory now, or leaves them to the next barrier.

        Raises:
            OSError: The disk refuses.
        """
        if self.durable and _syncfs() is None:
            fsync_directory(path)

    def barrier(self) -> None:
        """Returns when everything that was written before is on disk.

        Raises:
            OSError: The disk refuses, or refused something that was written before.
        """
        syncfs = _syncfs() if self.durable else None
        if syncfs is None:
            return
        handle = getattr(self._local, "handle", None)
        if handle is None:
            handle = self._local.handle = _Handle(self.path)
        if syncfs(handle.file) != 0:
            import ctypes  # noqa: PLC0415  # as below

            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))


class _Handle:
    """An open directory, by which the system tells each thread of a failed write once; closed with its thread."""

    def __init__(self, path: Path) -> None:
        self.file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def __del__(self) -> None:
        os.close(self.file)


def fsync_directory(path: str | Path) -> None:
    """Makes the names in a directory durable; does nothing where directories cannot be opened (Windows).

    Raises:
        OSError: The disk refuses.
    """
    if sys.platform == "win32":
        return
    directory = os.open(path, os.O_RDONLY)
    try:
        _fsync(directory)
    finally:
        os.close(directory)


def _fsync(file: int) -> None:
    if sys.platform == "darwin":
        fcntl.fcntl(file, fcntl.F_FULLFSYNC)  # fsync leaves it in the drive's own cache there
    else:
        os.fsync(file)


@cache
def _syncfs() -> Callable[[int], int] | None:
    """Returns the system's `syncfs`, if it is there and reports failed writes, as it does since Linux 5.8."""
    if sys.platform != "linux":
        return None
    try:
        import ctypes  # noqa: PLC0415  # slow to load, and reading has no use for it
    except ModuleNotFoundError:
        return None  # a Python that was built without it

    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    if found is None or (int(found[1]), int(found[2])) < (5, 8):
        return None
    syncfs: Callable[[int], int] | None = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    return syncfs
