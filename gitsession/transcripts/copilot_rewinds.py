"""What the rewinds in a transcript of GitHub Copilot CLI took back."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitsession.columns import Scratch
from gitsession.transcripts.base import AbandonedLine, Record, Return
from gitsession.transcripts.fields import mapping, text
from gitsession.transcripts.standing import NONE, Standing

REWIND = "session.snapshot_rewind"
"""The event that takes back another one, and all after it."""


def kept(log: Sequence[Record]) -> list[Record]:
    """Returns the events that no rewind took back."""
    standing = _walk(log, None).standing
    return [log[standing.place(index)] for index in range(len(standing))]


def abandoned(log: Sequence[Record], scratch: Scratch | None = None) -> list[AbandonedLine]:
    """Returns the lines that a rewind took back."""
    return _walk(log, scratch).lines if _is_rewound(log) else []


def returns(log: Sequence[Record], scratch: Scratch | None = None) -> Iterable[Return]:
    """Returns where a rewind took something back."""
    return _walk(log, scratch).returns if _is_rewound(log) else ()


def _is_rewound(log: Sequence[Record]) -> bool:
    """Tells whether there is a rewind: most have none, and to put the events of a large file together takes time."""
    return any(text(record.value, "type") == REWIND for record in log)


class _Walked(NamedTuple):
    """What stands after all rewinds, the lines that they took back, and where."""

    standing: Standing
    lines: list[AbandonedLine]
    returns: list[Return]


def _walk(log: Sequence[Record], scratch: Scratch | None) -> _Walked:
    standing = Standing(scratch)
    lines: list[AbandonedLine] = []
    back_at: list[Return] = []
    fresh = False  # whether somebody spoke since the last rewind
    for place, record in enumerate(log):
        fresh = fresh or text(record.value, "type") in ("user.message", "assistant.message")
        back = text(mapping(record.value, "data"), "upToEventId") if text(record.value, "type") == REWIND else ""
        standing.append(record.id or "", place)
        index = standing.find(back) if back else None
        if index is None:
            continue
        end = len(standing) - 1
        last, at = (_id(log, standing.place(one)) for one in (end - 1, index - 1))
        if fresh and last and index < end:
            lines.append(AbandonedLine(last, at))
        if index < end:
            kept = standing.place(index - 1)
            # Where nobody spoke since the last rewind, it goes further back along the same line.
            start = place if fresh or not back_at else back_at.pop().place
            back_at.append(Return(start, None if kept == NONE else min(kept, start - 1)))
        standing.cut(index)
        standing.append(record.id or "", place)
        fresh = False
    return _Walked(standing, lines, back_at)


def _id(log: Sequence[Record], place: int) -> str | None:
    return None if place == NONE else log[place].id
