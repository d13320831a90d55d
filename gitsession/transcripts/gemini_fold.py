"""The conversation of a Gemini CLI transcript, and the lines that a rewind left behind.

A message that is written again stands in the place of the first. `$rewindTo` takes back a message and all after it, or,
if there is none of that id, everything. `$set` with messages replaces the history: where it begins with the summary of
what was compressed, that is a compaction, and what it stands for is still shown before it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from gitsession.blocks import flat_text
from gitsession.model import CompactionEntry
from gitsession.transcripts.base import AbandonedLine, Record
from gitsession.transcripts.fields import integer, mapping, text
from gitsession.transcripts.folding import Conversation, entries_of
from gitsession.transcripts.gemini_records import SNAPSHOT, is_message, messages_of
from gitsession.transcripts.versions import latest


class _Slot(NamedTuple):
    """A message, or a compaction, as it stands now; the place of its record, and the first entry's id."""

    value: dict[str, Any]
    place: int
    entry_id: str
    first_kept: str | None = None
    compaction: bool = False


def fold(log: Sequence[Record]) -> Conversation:
    """Returns the conversation of a log."""
    records = latest(log)
    history = _History(records)
    for _ in history.walk():
        pass
    entries: Conversation = []
    at = ""
    for slot in history.slots.values():
        at = records[slot.place].timestamp or text(slot.value, "timestamp") or at
        if slot.compaction:
            summary = flat_text(slot.value.get("content"))
            tokens = integer(mapping(slot.value, "tokens"), "total")
            entries.append(CompactionEntry(summary, slot.first_kept, tokens, id=slot.entry_id, timestamp=at))
        else:
            entries += entries_of(messages_of(slot.value), slot.entry_id, at)
    return entries


def abandoned(log: Sequence[Record]) -> list[AbandonedLine]:
    """Returns the lines that a rewind took back."""
    # Most have none, and to put the history of a large file together takes memory.
    return list(_History(log).walk()) if any(text(record.value, "$rewindTo") for record in log) else []


class _History:
    """The messages of a transcript, by their ids, in their order."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self.slots: dict[str, _Slot] = {}
        self._rewound = -1  # where the last rewind stands

    def walk(self) -> Iterator[AbandonedLine]:
        for place, record in enumerate(self._records):
            value = record.value
            if back := text(value, "$rewindTo"):
                line = self._rewind(back)
                if line is not None:
                    yield line
                self._rewound = place
            elif is_message(value):
                self.slots[value["id"]] = _Slot(value, place, record.id or f"record-{place}")
            elif isinstance(found := mapping(value, "$set").get("messages"), list):
                self._replace([one for one in found if is_message(one)], place, record.id or f"record-{place}")

    def _rewind(self, back: str) -> AbandonedLine | None:
        names = list(self.slots)
        dropped = names[names.index(back) :] if back in self.slots else names
        kept = names[: len(names) - len(dropped)]
        gone = [self.slots.pop(name) for name in dropped]
        last = max((slot.place for slot in gone), default=-1)
        # What an earlier rewind left standing is no line of its own: the line that it took back goes through it.
        if last <= self._rewound or not self._records[last].id:
            return None
        at = self._records[self.slots[kept[-1]].place].id if kept else None
        return AbandonedLine(self._records[last].id or "", at)

    def _replace(self, messages: list[dict[str, Any]], place: int, own_id: str) -> None:
        compressed = bool(messages) and SNAPSHOT in flat_text(messages[0].get("content"))
        old = self.slots
        if not compressed:
            self.slots = {}
        else:
            summary, *rest = messages
            # The agent answers its own summary, which nobody said.
            messages = rest[1:] if rest and text(rest[0], "type") == "gemini" and rest[0]["id"] not in old else rest
            kept = next((old[one["id"]].entry_id for one in messages if one["id"] in old), None)
            first = kept or (f"{own_id}/1" if messages else None)
            self.slots[summary["id"]] = _Slot(summary, place, own_id, first, compaction=True)
        for number, one in enumerate(messages, start=1):
            before = old.get(one["id"])
            entry_id = f"{own_id}/{number}" if before is None else before.entry_id
            self.slots[one["id"]] = _Slot(one, place if before is None else before.place, entry_id)
