"""Jumps through long histories: of each commit that is a milestone it is kept how far the one before it is.

One commit in about a thousand is a milestone, by its own id. So the way between two of them never changes, and a commit
far back is found in a few jumps, once somebody has walked there.

Whoever can write to the store can keep a jump that lies. So one is believed, and kept, only where the commits at its
ends bear it out: what is at the older one is what the newer one begins with, and a delta lies between them for each
step. Over commits that change the header alone there is no jump; they are rare, and are walked over.
"""

import re
from typing import NamedTuple

from gitsession.repo.cache import Cache

# Ids are as good as drawn by lot: 4 of 4,096 begin like this.
_BELOW = "004"

_KEPT = re.compile(rb"([0-9a-f]{40}) ([1-9][0-9]{0,8})")


class Jump(NamedTuple):
    """The milestone before another one, and how many commits back it is."""

    oid: str
    steps: int


class Milestones:
    """The jumps of a store's sessions."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def is_one(self, oid: str) -> bool:
        """Tells whether a commit is a milestone."""
        return oid < _BELOW

    def find(self, oid: str) -> Jump | None:
        """Returns the jump from a milestone; None where none is kept."""
        found = _KEPT.fullmatch(self._cache.find(oid) or b"")
        return None if found is None else Jump(found[1].decode(), int(found[2]))

    def put(self, oid: str, jump: Jump) -> None:
        """Keeps the jump from a milestone."""
        self._cache.put(oid, b"%b %d" % (jump.oid.encode(), jump.steps))
