"""What the folds of most formats share: records in their order, each of which is one message, several, or none."""

from collections.abc import Callable, Mapping, Sequence

from gitsession.columns import Scratch
from gitsession.model import CompactionEntry, Message, MessageEntry
from gitsession.transcripts.base import AbandonedLine, Record
from gitsession.transcripts.fields import text
from gitsession.transcripts.normal import without_files
from gitsession.view import View, view

Conversation = list[MessageEntry | CompactionEntry]


Times = Mapping[str, str]
"""When the results of calls came, by the ids of the calls."""


def _no_times(_record: Record) -> Times:
    return {}


def fold_each(
    log: Sequence[Record],
    messages: Callable[[Record], Sequence[Message] | CompactionEntry],
    times: Callable[[Record], Times] = _no_times,
) -> Conversation:
    """Returns the conversation of a log in which each record stands for itself.

    Args:
        log: The records, as they are now.
        messages: The messages of a record, or its compaction, which needs no id and no time. The record has the id
            that its first entry gets.
        times: When the results came that stand in a record with their calls, where it tells.
    """
    entries: Conversation = []
    at = ""
    for place, record in enumerate(log):
        at = record.timestamp or at
        own = record.id or f"record-{place}"
        said = messages(record._replace(id=own))
        if isinstance(said, CompactionEntry):
            entries.append(CompactionEntry(said.summary, said.first_kept_id, said.tokens_before, id=own, timestamp=at))
            continue
        entries += entries_of(said, own, at, times(record))
    return entries


def entries_of(messages: Sequence[Message], own_id: str, at: str, times: Times | None = None) -> list[MessageEntry]:
    """Returns the entries of a record's messages: the first has the record's id, the others have ids below it.

    Args:
        messages: What the record stands for.
        own_id: The record's id.
        at: When it was said.
        times: When the results came that are among the messages, as far as that is known.
    """
    known = times or {}
    return [
        MessageEntry(
            message,
            id=f"{own_id}/{number}" if number else own_id,
            timestamp=known.get(text(message, "tool_call_id"), at),
        )
        for number, message in enumerate(messages)
    ]


def shown_together(messages: Sequence[Message]) -> View | None:
    """Returns the messages of one record for reading, as said by whom the first one is by; None if there are none."""
    views = [view(without_files(message)) for message in messages]
    if not views:
        return None
    return View(views[0].who, tuple(part for one in views for part in one.parts), views[0].model)


def none_abandoned(_log: Sequence[Record], _scratch: Scratch | None = None) -> list[AbandonedLine]:
    """Returns no line: in this format none is ever left."""
    return []
