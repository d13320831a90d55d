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


def abandoned(one: Format, log: Sequence[Record]) -> list[AbandonedLine]:
    """Returns the abandoned lines of a log, which its outlines tell as well, in scratch space too."""
    lines = one.abandoned(log)
    outlined = [one.outline(record) for record in log]
    assert lines == one.abandoned(outlined)
    with used_at_once() as space:
        assert lines == one.abandoned(outlined, space)
    return lines
