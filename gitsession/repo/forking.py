"""What a forked process must not take over from its parent: locks that are held by threads which it does not have.

A fork copies one thread alone. A lock that another one held would be held in the copy for ever, and what that thread
was just changing would stay half changed. So whatever threads share is made anew there.
"""

import os
from typing import Protocol
from weakref import WeakSet


class Shared(Protocol):
    """Something that threads share under a lock."""

    def renew(self) -> None:
        """Makes the lock anew, and what it guards, in a forked process."""


_shared: WeakSet[Shared] = WeakSet()


def renew_when_forked(shared: Shared) -> None:
    """Has something made anew in every process that is forked from now on, as long as it exists."""
    _shared.add(shared)


def _renew_all() -> None:
    for shared in list(_shared):
        shared.renew()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_renew_all)
