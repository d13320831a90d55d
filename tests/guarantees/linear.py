"""Judges histories of a session: whether each operation could have happened at one moment between its begin and end.

The store gives the order itself: it is the session's chain of commits. So what is left to check is linear: that there
are moments in this order, each inside of its operation, such that every reader saw what was there at its own.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operation:
    """One call and what came of it.

    Attributes:
        begin: When it was called.
        end: When it returned; infinite where it never did.
        write: The id that it was to store; None for a reader.
        outcome: "ok", "failed" (nothing was stored), or "unknown".
        parent: The head that a commit asked for; "" for what asks for none.
        seen: The ids that it was shown, oldest first; None where it was shown nothing.
        head: The head that it was told, None for no head; "" where it was told none.
    """

    begin: float
    end: float
    write: str | None
    outcome: str
    parent: str | None = ""
    seen: tuple[str, ...] | None = None
    head: str | None = ""


def violations(chain: Sequence[str], operations: Sequence[Operation]) -> Iterator[str]:
    """Yields what cannot be: nothing if the operations are linearizable to this chain.

    Args:
        chain: The ids that the session holds in the end, oldest first.
        operations: All that was done; what writes one id was done one after the other.
    """
    places = {write: place for place, write in enumerate(chain)}
    if len(places) != len(chain):
        yield "an id is there twice"
    windows: dict[str, tuple[float, float]] = {}
    for write in {operation.write for operation in operations if operation.write is not None}:
        tries = sorted((one for one in operations if one.write == write), key=lambda one: one.begin)
        failed = max((place for place, one in enumerate(tries) if one.outcome == "failed"), default=-1)
        done = [one.end for one in tries if one.outcome == "ok"]
        if done and write not in places:
            yield f"{write} was acknowledged and is lost"
        if failed == len(tries) - 1 and write in places:
            yield f"{write} failed and is there all the same"
        if failed < len(tries) - 1:
            windows[write] = tries[failed + 1].begin, min(done, default=math.inf)
        asked = {one.parent for one in tries} - {""}
        before = chain[places[write] - 1] if places.get(write) else None
        if asked and write in places and asked != {before}:
            yield f"{write} follows {before}, not its parent"
    yield from (f"nobody wrote {write}" for write in chain if write not in windows)
    readers: dict[int, list[Operation]] = {}
    for operation in operations:
        count = _count_seen(operation, places)
        if operation.seen is not None and operation.seen != tuple(chain[:count]):
            yield f"a reader saw {operation.seen[-3:]}, which never was there"
        elif operation.write in places and operation.outcome == "failed" and places[operation.write] < (count or 0):
            yield f"{operation.write} was refused though it was there"
        elif (
            operation.write in places
            and operation.outcome == "ok"
            and count is not None
            and places[operation.write] >= count
        ):
            yield f"{operation.write} was acknowledged with a session that lacks it"
        elif count is not None:
            readers.setdefault(count, []).append(operation)
    moment = -math.inf
    for place in range(len(chain) + 1):
        if place:
            begin, end = windows.get(chain[place - 1], (-math.inf, math.inf))
            moment = max(moment, begin)
            if moment > end:
                yield f"{chain[place - 1]} ended before what comes before it had begun"
        seen = readers.get(place, [])
        yield from (f"a reader that saw {place} ended before they were there" for one in seen if moment > one.end)
        moment = max([moment, *(one.begin for one in seen)])


def _count_seen(operation: Operation, places: dict[str, int]) -> int | None:
    """Returns how many ids an operation was shown; None where it was shown nothing."""
    if operation.seen is not None:
        return len(operation.seen)
    if operation.head == "":
        return None
    return 0 if operation.head is None else places.get(operation.head, 10**9) + 1
