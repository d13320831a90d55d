"""Locks: an advisory one that queues the writers of a session, and git's own `<file>.lock`.

The advisory lock is the system's (flock): it ends with the process that holds it, however that ends. It is taken
before any `<ref>.lock`, so whoever holds it knows that no writer of ours holds the ref's lock, and that one which is
there belongs to git (which holds it for milliseconds) or to a process that was killed.
"""

import contextlib
import os
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from gitsession.errors import StoreBusy
from gitsession.repo.files import BINARY, NO_FOLLOW, make_directories, require_repository, translated
from gitsession.repo.forking import renew_when_forked

if os.name == "nt":
    import msvcrt

    def try_lock(file: int) -> bool:
        """Takes the system's lock on an open file, if nobody has it; it ends when the file is closed."""
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]  # Windows alone
        except OSError:
            return False
        return True

    def unlock(file: int) -> None:
        """Gives the system's lock on an open file back."""
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]  # Windows alone
else:
    import fcntl

    def try_lock(file: int) -> bool:
        """Takes the system's lock on an open file, if nobody has it; it ends when the file is closed."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(file: int) -> None:
        """Gives the system's lock on an open file back, also where a forked process has the file open as well."""
        fcntl.flock(file, fcntl.LOCK_UN)


# Sessions share this many lock files, so that a store of many sessions does not fill up with them.
_STRIPES = 64

# A foreign `<ref>.lock` that is older than this was left by a killed process: git holds one for milliseconds.
STALE_SECONDS = 10.0

# For how long one was watched that is removed, at least: a clock that was set, or a machine that slept, makes one that
# is being held look old. A shorter wait than twice this is watched for its half.
_WATCHED_SECONDS = 1.0


class SessionLocks:
    """The advisory locks of a store's sessions.

    Attributes:
        path: The directory of the lock files, in the store's own directory in the repository.
        wait: For how long a live lock is waited for, in seconds.
    """

    def __init__(self, path: Path, *, wait: float) -> None:
        self.path = path
        self.wait = wait
        self._files: set[int] = set()
        self.renew()
        renew_when_forked(self)

    def renew(self) -> None:
        """Lets go, in a forked process, of what threads of its parent hold."""
        for file in self._files:
            with contextlib.suppress(OSError):
                os.close(file)
        self._files = set()
        # A first line of waiting within the process: threads queue here without polling.
        self._inner = [threading.Lock() for _ in range(_STRIPES)]

    @contextlib.contextmanager
    def hold(self, branch: str) -> Iterator[None]:
        """Holds the lock of a session's writers.

        Raises:
            StoreBusy: It stayed held for longer than the store waits.
            Unavailable: The lock file cannot be made.
        """
        stripe = crc32(branch.encode()) % _STRIPES
        path = f"{self.path}{os.sep}{stripe:02d}.lock"
        inner = self._inner[stripe]
        if not inner.acquire(timeout=self.wait):
            raise StoreBusy(path, None)
        try:
            with translated("lock the session"):
                file = self._open(path)
            self._files.add(file)
            try:
                for pause in pauses(self.wait):
                    with translated("lock the session"):
                        taken = try_lock(file)
                    if taken:
                        break
                    if pause is None:
                        raise StoreBusy(path, None)
                    time.sleep(pause)
                yield
            finally:
                # What was written is safe or not by now; the lock ends with the file, whatever closing it says. It is
                # given back before: a process that was forked meanwhile may have the file open for long.
                self._files.discard(file)
                with contextlib.suppress(OSError):
                    unlock(file)
                with contextlib.suppress(OSError):
                    os.close(file)
        finally:
            inner.release()

    def _open(self, path: str) -> int:
        flags = os.O_RDWR | os.O_CREAT | NO_FOLLOW
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:
            require_repository(str(self.path.parent.parent))
            make_directories(self.path)
            return os.open(path, flags, 0o600)


def pauses(wait: float) -> Iterator[float | None]:
    """Yields how long to sleep before each further try, growing and jittered, and None once `wait` seconds are over."""
    deadline = time.monotonic() + wait
    pause = 0.0005
    while time.monotonic() < deadline:
        # The last digits of the clock are random enough to part two that wait.
        yield pause * (0.5 + time.monotonic_ns() // 100 % 256 / 512)
        pause = min(pause * 1.5, 0.05)
    yield None


def take_git_lock(path: str, *, wait: float, scratch: Path) -> int:
    """Makes git's own lock file and returns it open for writing.

    The caller holds the session's advisory lock. A lock that a killed process left is removed, with a warning.

    Args:
        path: The lock file.
        wait: For how long it is waited for, in seconds.
        scratch: A directory on the same file system for files of a moment; none may appear among the refs.

    Raises:
        StoreBusy: It stayed held for longer than `wait` seconds.
        OSError: It cannot be made; FileNotFoundError where its directory does not exist.
    """
    seen, since = _seen(path), time.monotonic()
    for pause in pauses(wait):
        try:
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, 0o600)
        except FileExistsError:
            if (now := _seen(path)) != seen:
                seen, since = now, time.monotonic()
        watched = time.monotonic() - since
        age = _age(seen, watched, scratch) if seen else None
        is_stale = age is not None and age > STALE_SECONDS and watched >= min(_WATCHED_SECONDS, wait / 2)
        if seen and is_stale and _remove_stale(Path(path), seen, scratch):
            warnings.warn(f"removed {path}, which a killed process left {age:.0f} s ago", stacklevel=2)
        elif pause is None:
            raise StoreBusy(path, age)
        else:
            time.sleep(pause)
    raise AssertionError  # pauses() ends with None


class _Seen(NamedTuple):
    """What tells a lock from the next one of its name: its inode, and when it was made, in nanoseconds since 1970."""

    inode: int
    made: int


def _seen(path: str | Path) -> _Seen | None:
    """Returns the lock that there is now; None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116  # strings, as in its caller
    except OSError:
        return None
    return _Seen(found.st_ino, found.st_mtime_ns)


def _age(lock: _Seen, watched: float, scratch: Path) -> float | None:
    """Returns the age of a lock in seconds by the file system's own clock, which need not be this machine's.

    Args:
        lock: The lock.
        watched: For how long it was seen: what is made under a wrong clock, and lies ahead, is as old as that.
        scratch: Where a file can be made whose time is now.
    """
    probe = scratch / f"clock.{os.getpid()}.{threading.get_ident()}"
    try:
        probe.touch(0o600)
        try:
            return max((probe.stat().st_mtime_ns - lock.made) / 1e9, watched)
        finally:
            probe.unlink()
    except OSError:
        return None


def _remove_stale(path: Path, stale: _Seen, scratch: Path) -> bool:
    """Removes a stale lock, moved aside first, so that one taken anew in this moment is noticed and put back."""
    aside = scratch / f"stale.{os.getpid()}.{threading.get_ident()}"
    try:
        path.rename(aside)
        if _seen(aside) != stale:
            with contextlib.suppress(FileExistsError):
                os.link(aside, path)
            aside.unlink()
            return False
        aside.unlink()
    except OSError:
        return False
    return True
