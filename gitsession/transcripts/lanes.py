"""Where a log goes on from another record than the one before, told from the lines of its tree that were left.

The lines of a transcript whose records name what they follow may stand in the file side by side, as when two windows
are open on one session. So each record belongs to a lane: that of the line which the agent would resume, or of one that
was left.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from gitsession.columns import Column
from gitsession.transcripts.base import Return

_REMAINS = 0
"""The lane of the line that the agent would resume; the others are numbered from 1."""

NOBODYS = -1
"""The lane of what is in no line, and the place of no record."""


class Left(NamedTuple):
    """A line that was left. Its places are those of records in the file.

    Attributes:
        last: The last that was said in it.
        at: The last that was said before it; `NOBODYS` where nothing was.
        end: The record from which its way back begins.
        steps: How many records are on that way.
    """

    last: int
    at: int
    end: int
    steps: int


def returns(lanes: Column, leaf: int, left: Sequence[Left], back: Callable[[int], Iterator[int]]) -> Iterator[Return]:
    """Yields where a log goes on from another record than the one before.

    What is in no line goes with what is before it, as far as that line went.

    Args:
        lanes: `NOBODYS` for each record; it is changed.
        leaf: The record that the agent would go on from.
        left: The lines that were left.
        back: Returns the places of a record and of those before it.
    """
    for place in back(leaf):
        lanes[place] = _REMAINS
    for number, line in enumerate(left, 1):
        for place in islice(back(line.end), line.steps):
            lanes[place] = number if place <= line.last else NOBODYS
    latest: list[int | None] = [None, *(None if line.at == NOBODYS else line.at for line in left)]
    lane = _REMAINS
    for place, own in enumerate(lanes):
        if own != NOBODYS:
            lane = own
        elif lane != _REMAINS and place > left[lane - 1].last:
            lane = _REMAINS
        at = latest[lane]
        # In a file that is damaged a record may follow a later one.
        if place and at != place - 1 and (at is None or at < place):
            yield Return(place, at)
        latest[lane] = place
