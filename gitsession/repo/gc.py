"""Whether `git gc` is at work, so that a commit is acknowledged only when it has survived it.

`git gc --prune=now` deletes every object that no ref reached when it looked, also one that a ref has reached since.
It makes `gc.pid` before it looks at the refs and removes it after the last deletion. So once a ref has moved, and there
is no `gc.pid` or another one than was there then, no collection is running that has not seen the move. Others may have
begun since, one after the other, and need not be waited for.
"""

import os
import socket
import time
from pathlib import Path

from gitsession.repo.files import read_file

# git itself takes a `gc.pid` that is older than this for a left-over.
_FORGOTTEN_SECONDS = 12 * 3600

# How far the clocks of a file system and of the processes may be apart.
_CLOCKS_SECONDS = 60


class _Unknown:
    """Stands for a collection of which it cannot be told whether it runs."""


_UNKNOWN = _Unknown()


def wait_for_gc(path: Path, deadline: float) -> bool:
    """Waits until the collection that is at work now has ended, if one is.

    Args:
        path: The repository.
        deadline: For how long, as a time.monotonic() time.

    Returns:
        Whether it has ended.
    """
    pid_file = f"{path}{os.sep}gc.pid"
    first = _find_gc(pid_file)
    now = first
    pause = 0.005
    while now is not None and (now is _UNKNOWN or now == first):
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)
        now = _find_gc(pid_file)
        first = now if first is _UNKNOWN else first
    return True


def _find_gc(pid_file: str) -> object:
    """Returns what tells the collection that is at work from any other; None if there is none."""
    try:
        found = os.stat(pid_file)  # noqa: PTH116  # strings: the hot path
        words = read_file(pid_file, 4096).decode("utf-8", "replace").split()
    except FileNotFoundError:
        return None
    except OSError:
        return _UNKNOWN  # so it is asked again
    process, host = words if len(words) == 2 else ("", "")
    if is_gone(process, host, found.st_mtime):
        return None
    return found.st_ino, found.st_mtime_ns, tuple(words)


def is_gone(process: str, host: str, since: float) -> bool:
    """Tells whether a process that left its mark is gone for certain, or is forgotten after twelve hours.

    Args:
        process: Its id.
        host: The name of its machine.
        since: When it was there, in seconds since 1970.
    """
    is_here = host == socket.gethostname() and process.isdigit()
    if is_here and _is_collector(int(process)):
        return False
    if time.time() - since > _FORGOTTEN_SECONDS:
        return True
    return is_here and not _may_be_alive(int(process), since)


def _is_collector(pid: int) -> bool:
    """Tells whether a process is git, and so the collection; a clock that was set may make it younger than its mark."""
    try:
        return read_file(f"/proc/{pid}/comm", 4096).strip() == b"git"
    except OSError:
        return False


def _may_be_alive(pid: int, since: float) -> bool:
    """Tells whether a process may still be there that was there at a time, in seconds since 1970."""
    if os.name == "nt":
        return True  # signal 0 would end the process there
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # it is there, and belongs to somebody else
    began = _began(pid)
    return began is None or began < since + _CLOCKS_SECONDS


def _began(pid: int) -> float | None:
    """Returns when a process began, in seconds since 1970; None where the system does not tell as Linux does."""
    try:
        ticks = int(read_file(f"/proc/{pid}/stat", 4096).rpartition(b")")[2].split()[19])
        boot = next(line for line in read_file("/proc/stat").split(b"\n") if line.startswith(b"btime "))
        return int(boot.split()[1]) + ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, StopIteration):
        return None
