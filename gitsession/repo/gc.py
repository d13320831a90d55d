"""Whether `git gc` is at work, so that a commit is acknowledged only when it has survived it.

`git gc --prune=now` deletes every object that no ref reached when it looked, also one that a ref has reached since.
It makes `gc.pid` before it looks at the refs and removes it after the last deletion. So once a ref has moved and there
is no `gc.pid`, no collection can be running that has not seen the move.
"""

import os
import socket
import time
from pathlib import Path

from gitsession.repo.files import read_file

# git itself takes a `gc.pid` that is older than this for a left-over.
_FORGOTTEN_SECONDS = 12 * 3600


def gc_is_running(path: Path) -> bool:
    """Tells whether a collection is at work in the repository; one whose process on this host is gone is not.

    Where that cannot be told, one is.
    """
    pid_file = path / "gc.pid"
    try:
        age = time.time() - pid_file.stat().st_mtime
        words = read_file(pid_file, 4096).decode("utf-8", "replace").split()
    except FileNotFoundError:
        return False
    except OSError:
        return True  # not known, so it is asked again
    if age > _FORGOTTEN_SECONDS:
        return False
    here = len(words) == 2 and words[0].isdigit() and words[1] == socket.gethostname()
    return not here or _is_alive(int(words[0]))


def _is_alive(pid: int) -> bool:
    if os.name == "nt":
        return True  # signal 0 would end the process there
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def wait_for_gc(path: Path, deadline: float) -> bool:
    """Waits until no collection is at work; tells whether that came before the deadline, a time.monotonic() time."""
    pause = 0.005
    while gc_is_running(path):
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 1.5, 0.25)
    return True
