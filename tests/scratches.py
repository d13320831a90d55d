"""Scratch space that is used from the first record on, not from one of many thousands."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from gitsession import columns, numbering
from gitsession.columns import Scratch
from gitsession.repo import scratch
from gitsession.transcripts import AbandonedLine, Format, Record, outlines


@contextmanager
def used_at_once() -> Iterator[Scratch]:
    """Gives scratch space, in which columns lie in pages of four numbers, and of texts all but the last three.

    An import within it has a file for its own at once.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"IN_MEMORY": 0, "_PAGE_BITS": 2, "_PAGE": 4, "_MASK": 3, "_HELD": 2}.items():
            patch.setattr(columns, name, value)
        patch.setattr(numbering, "_RECENT", 3)
        patch.setattr(outlines, "_TOGETHER", 4)
        patch.setattr(scratch, "_IN_MEMORY", 0)
        yield Scratch()


def abandoned(one: Format, log: Sequence[Record], *, damaged: bool = False) -> list[AbandonedLine]:
    """Returns the abandoned lines of a log, which its outlines tell as well, in scratch space too; so the returns.

    Who goes back in it as its returns tell finds in each line what that goes on from, and in what remains no end of a
    line, unless the log is damaged.
    """
    lines, back = one.abandoned(log), [*one.returns(log)]
    outlined = [one.outline(record) for record in log]
    assert (lines, back) == (one.abandoned(outlined), [*one.returns(outlined)])
    with used_at_once() as space:
        assert (lines, back) == (one.abandoned(outlined, space), [*one.returns(outlined, space)])
    follows = {one.place: one.at for one in back}
    assert [*follows] == sorted(follows)
    assert all(at is None or 0 <= at < place for place, at in follows.items())
    places = {record.id: place for place, record in enumerate(log)}

    def passed(name: str) -> list[int]:
        found: list[int] = []
        place = places.get(name)
        while place is not None and place >= 0:
            found.append(place)
            place = follows.get(place, place - 1)
        return found

    for line in lines if not damaged else ():
        assert line.at is None or line.at not in places or places[line.at] in passed(line.last)
    remaining = [passed(entry.id.partition("/")[0]) for entry in one.fold(log)[-1:] if not damaged]
    assert all(places.get(line.last) not in way for line in lines for way in remaining)
    return lines
