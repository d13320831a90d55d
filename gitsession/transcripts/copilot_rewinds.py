"""What the rewinds in a transcript of GitHub Copilot CLI took back."""

from collections.abc import Sequence

from gitsession.transcripts.base import AbandonedLine, Record
from gitsession.transcripts.fields import mapping, text

REWIND = "session.snapshot_rewind"
"""The event that takes back another one, and all after it."""


def rewound(log: Sequence[Record]) -> tuple[list[Record], list[AbandonedLine]]:
    """Returns the events that no rewind took back, and the lines that one did."""
    kept: list[Record] = []
    lines = []
    fresh = False  # whether somebody spoke since the last rewind
    for record in log:
        fresh = fresh or text(record.value, "type") in ("user.message", "assistant.message")
        kept.append(record)
        back = text(mapping(record.value, "data"), "upToEventId") if text(record.value, "type") == REWIND else ""
        place = next((place for place, one in enumerate(kept) if back and one.id == back), None)
        if place is None:
            continue
        last = kept[-2].id if len(kept) > 1 else None
        if fresh and last and place < len(kept) - 1:
            lines.append(AbandonedLine(last, kept[place - 1].id if place else None))
        kept, fresh = [*kept[:place], record], False
    return kept, lines
