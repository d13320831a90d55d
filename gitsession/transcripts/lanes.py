"""Where a log goes on from another record than the one before, told from the line that each of its records belongs to.

The lines of a transcript whose records name what they follow may stand in the file side by side, as when two windows
are open on one session.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gitsession.columns import Column
from gitsession.transcripts.base import Return

REMAINS = 0
"""The lane of the line that the agent would resume; the others are numbered from 1."""

NOBODYS = -1
"""The lane of what is in no line, and the place of no record."""


class Lane(NamedTuple):
    """A line that was left: the places of its last record, and of the one that it goes on from; `NOBODYS` for none."""

    last: int
    at: int


def returns(lanes: Column, lines: Sequence[Lane]) -> Iterator[Return]:
    """Yields where a log goes on from another record than the one before.

    What is in no line goes with what is before it, as far as that line went.

    Args:
        lanes: For each record the number of its lane.
        lines: The lines, those of lane 1 and further.
    """
    latest: list[int | None] = [None, *(None if line.at == NOBODYS else line.at for line in lines)]
    lane = REMAINS
    for place, own in enumerate(lanes):
        if own != NOBODYS:
            lane = own
        elif lane != REMAINS and place > lines[lane - 1].last:
            lane = REMAINS
        at = latest[lane]
        # In a file that is damaged a record may follow a later one.
        if place and at != place - 1 and (at is None or at < place):
            yield Return(place, at)
        latest[lane] = place
