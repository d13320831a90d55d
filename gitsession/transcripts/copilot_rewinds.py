"""What the rewinds in a transcript of GitHub Copilot CLI took back."""

from collections.abc import Sequence

from gitsession.columns import Scratch
from gitsession.transcripts.base import AbandonedLine, Record
from gitsession.transcripts.fields import mapping, text
from gitsession.transcripts.standing import NONE, Standing

REWIND = "session.snapshot_rewind"
"""The event that takes back another one, and all after it."""


def kept(log: Sequence[Record]) -> list[Record]:
    """Returns the events that no rewind took back."""
    standing, _ = _walk(log, None)
    return [log[standing.place(index)] for index in range(len(standing))]


def abandoned(log: Sequence[Record], scratch: Scratch | None = None) -> list[AbandonedLine]:
    """Returns the lines that a rewind took back."""
    # Most have none, and to put the events of a large file together takes time.
    return _walk(log, scratch)[1] if any(text(record.value, "type") == REWIND for record in log) else []


def _walk(log: Sequence[Record], scratch: Scratch | None) -> tuple[Standing, list[AbandonedLine]]:
    standing = Standing(scratch)
    lines = []
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
        standing.cut(index)
        standing.append(record.id or "", place)
        fresh = False
    return standing, lines


def _id(log: Sequence[Record], place: int) -> str | None:
    return None if place == NONE else log[place].id
