"""Maintenance that runs by itself: after a command that writes, in a process of its own, when the store wants it."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

    from gitsession import Store

# Processes that were started and go on by themselves; a `watch` asks after them, or they would stay as zombies.
_started: "list[subprocess.Popen[bytes]]" = []


def start_if_due(store: "Store") -> None:
    """Starts the maintenance of a store if it is due, and does not wait for it."""
    from gitsession import Unavailable, is_maintenance_due  # noqa: PLC0415  # slower to load than the help to print

    _started[:] = [process for process in _started if process.poll() is None]
    try:
        if not _started and is_maintenance_due(store):
            _start(store)
    except (OSError, Unavailable):
        return  # the command has done what it was asked for; the next one tries again


def _start(store: "Store") -> None:
    import subprocess  # noqa: PLC0415  # most commands start nothing

    command = [sys.executable, "-m", __package__ or "", "--store", str(store.path), "maintain", "--background"]
    nowhere = subprocess.DEVNULL
    _started.append(
        subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True, cwd="/")
    )
