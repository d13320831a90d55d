"""The conversation of a Gemini CLI transcript, and the lines that a rewind left behind.

A message that is written again stands in the place of the first. `$rewindTo` takes back a message and all after it, or,
if there is none of that id, everything. `$set` with messages replaces the history: where it begins with the summary of
what was compressed, that is a compaction, and what it stands for is still shown before it.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from gitsession.blocks import flat_text
from gitsession.columns import Scratch
from gitsession.model import CompactionEntry
from gitsession.transcripts import document
from gitsession.transcripts.base import AbandonedLine, Record, Return
from gitsession.transcripts.fields import integer, mapping, text
from gitsession.transcripts.folding import Conversation, entries_of
from gitsession.transcripts.gemini_records import SNAPSHOT, is_message, messages_of, times_of
from gitsession.transcripts.standing import NONE, Standing


class _Slot(NamedTuple):
    """What a message, or a compaction, says now; and the id of its first entry."""

    value: dict[str, Any]
    entry_id: str
    first_kept: str | None = None
    compaction: bool = False


def fold(log: Sequence[Record]) -> Conversation:
    """Returns the conversation of a log."""
    records = document.now(log)
    slots: list[_Slot] = []
    history = _History(records, slots=slots)
    for _ in history.walk():
        pass
    entries: Conversation = []
    at = ""
    for index, slot in enumerate(slots):
        at = records[history.standing.place(index)].timestamp or text(slot.value, "timestamp") or at
        if slot.compaction:
            summary = flat_text(slot.value.get("content"))
            tokens = integer(mapping(slot.value, "tokens"), "total")
            entries.append(CompactionEntry(summary, slot.first_kept, tokens, id=slot.entry_id, timestamp=at))
        else:
            entries += entries_of(messages_of(slot.value, attached=True), slot.entry_id, at, times_of(slot.value))
    return entries


def abandoned(log: Sequence[Record], scratch: Scratch | None = None) -> list[AbandonedLine]:
    """Returns the lines that a rewind took back."""
    return list(_History(log, scratch).walk()) if _is_rewound(log) else []


def returns(log: Sequence[Record], scratch: Scratch | None = None) -> Iterable[Return]:
    """Returns where a rewind took something back."""
    if not _is_rewound(log):
        return ()
    history = _History(log, scratch)
    for _ in history.walk():
        pass
    return history.returns


def _is_rewound(log: Sequence[Record]) -> bool:
    """Tells whether there is a rewind: most have none, and to put the history of a large file together takes time."""
    return any(text(record.value, "$rewindTo") for record in log)


class _History:
    """The messages of a transcript, by their ids, in their order.

    Attributes:
        standing: Those that stand, each with the record that it stands in.
        returns: Where the user went back.
    """

    def __init__(
        self, records: Sequence[Record], scratch: Scratch | None = None, slots: list[_Slot] | None = None
    ) -> None:
        """Begins before the first record.

        Args:
            records: All of a transcript.
            scratch: Where the messages lie if they are many; None for memory.
            slots: Gets what each message that stands says; None where nobody asks.
        """
        self.standing = Standing(scratch)
        self.returns: list[Return] = []
        self._records = records
        self._slots = slots
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
                self._put(_Slot(value, record.id or f"record-{place}"), place)
            elif isinstance(found := mapping(value, "$set").get("messages"), list):
                self._replace([one for one in found if is_message(one)], place, record.id or f"record-{place}")

    def _put(self, slot: _Slot, place: int) -> None:
        """Puts a message at the end, or where one with its id stands."""
        index = self.standing.put(slot.value["id"], place)
        if self._slots is None:
            return
        if index == len(self._slots):
            self._slots.append(slot)
        self._slots[index] = slot

    def _cut(self, index: int) -> int:
        """Takes the messages from an index on away, and returns the place of the last of their records."""
        if self._slots is not None:
            del self._slots[index:]
        return self.standing.cut(index)

    def _find(self, name: str) -> tuple[int, str] | None:
        """Returns the place and the entry id of a message that stands."""
        index = self.standing.find(name)
        if index is None:
            return None
        return self.standing.place(index), "" if self._slots is None else self._slots[index].entry_id

    def _rewind(self, back: str) -> AbandonedLine | None:
        index = self.standing.find(back) or 0
        # Where all is taken back, it goes on from what stands before the first message.
        kept, first = self.standing.place(index - 1), self.standing.first(index)
        last = self._cut(index)
        if last == NONE:
            return None
        at = first - 1 if kept == NONE else kept
        # What an earlier rewind left standing is no line of its own: the line that it took back goes through it.
        if last <= self._rewound:
            if at < self.returns[-1].place:
                self.returns[-1] = self.returns[-1]._replace(at=None if at == NONE else at)
            return None
        # What is kept may have been written again after it.
        self.returns.append(Return(max(last, kept) + 1, None if at == NONE else at))
        own_id = self._records[last].id
        return AbandonedLine(own_id, None if kept == NONE else self._records[kept].id) if own_id else None

    def _replace(self, messages: list[dict[str, Any]], place: int, own_id: str) -> None:
        compressed = bool(messages) and SNAPSHOT in flat_text(messages[0].get("content"))
        old = {one["id"]: self._find(one["id"]) for one in messages}
        if not compressed:
            self._cut(0)
        else:
            summary, *rest = messages
            # The agent answers its own summary, which nobody said.
            answered = bool(rest) and text(rest[0], "type") == "gemini" and old[rest[0]["id"]] is None
            messages = rest[1:] if answered else rest
            kept = next((found[1] for one in messages if (found := old[one["id"]]) is not None), None)
            first = kept or (f"{own_id}/1" if messages else None)
            self._put(_Slot(summary, own_id, first, compaction=True), place)
        for number, one in enumerate(messages, start=1):
            # The history that was compressed goes on; another one is replaced.
            before = self._find(one["id"]) if compressed else old[one["id"]]
            here, entry_id = (place, f"{own_id}/{number}") if before is None else before
            self._put(_Slot(one, entry_id), here)
