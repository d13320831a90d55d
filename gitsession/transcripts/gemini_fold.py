"""The conversation of a Gemini CLI transcript, and the lines that were left behind.

A message that is written again stands in the place of the first. `$rewindTo` takes back a message and all after it, or,
if there is none of that id, everything. `$set` with messages replaces the history. Where that begins with the summary
of what was compressed, it is a compaction, and what it stands for is still shown before it, until it is taken back
itself.

The agent sets the history for reasons of its own as well: to mask long results, when it resumes a session (without its
notices and commands), and to take back what a failed or cancelled request had added. So a line is left by it where an
answer is gone after which nothing is kept, as with `/restore` and `/chat resume`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gitsession.blocks import flat_text
from gitsession.columns import MANY, Scratch, column
from gitsession.model import CompactionEntry
from gitsession.transcripts import document
from gitsession.transcripts.base import AbandonedLine, Record, Return
from gitsession.transcripts.fields import integer, mapping, text
from gitsession.transcripts.folding import Conversation, entries_of
from gitsession.transcripts.gemini_records import ANSWER, is_message, is_snapshot, messages_of, saying, times_of
from gitsession.transcripts.standing import NONE, Standing


@dataclass(slots=True)
class _Slot:
    """What a message, or the summary of a compaction, says now.

    Attributes:
        value: The message.
        entry_id: The id of its first entry.
        place: The record that it stands in.
        order: Where it is shown among the others.
        kept: Of a summary: from where on the messages before it were kept; None for a message.
        hidden: It is not shown: the agent's answer to its own summary, which nobody said.
    """

    value: dict[str, Any]
    entry_id: str
    place: int
    order: int
    kept: int | None = None
    hidden: bool = False


def fold(log: Sequence[Record]) -> Conversation:
    """Returns the conversation of a log."""
    records = document.now(log)
    history = _History(records, shown=True)
    for _ in history.walk():
        pass
    entries: Conversation = []
    firsts: list[tuple[int, str]] = []  # of the messages that are shown: their order, and their first entry
    kept: dict[int, int] = {}  # by the indexes of compactions among the entries: from where on messages were kept
    at = ""
    for slot in history.shown():
        at = records[slot.place].timestamp or text(slot.value, "timestamp") or at
        if slot.kept is not None:
            kept[len(entries)] = slot.kept
            entries.append(_compaction(slot, at))
        elif messages := messages_of(slot.value, attached=True):
            firsts.append((slot.order, slot.entry_id))
            entries += entries_of(messages, slot.entry_id, at, times_of(slot.value))
    for index, start in kept.items():
        compaction = entries[index]
        if isinstance(compaction, CompactionEntry):
            entries[index] = replace(compaction, first_kept_id=next((own for at, own in firsts if at >= start), None))
    return entries


def _compaction(slot: _Slot, at: str) -> CompactionEntry:
    tokens = integer(mapping(slot.value, "tokens"), "total")
    return CompactionEntry(flat_text(slot.value.get("content")), None, tokens, id=slot.entry_id, timestamp=at)


def abandoned(log: Sequence[Record], scratch: Scratch | None = None) -> list[AbandonedLine]:
    """Returns the lines that a rewind took back, or a history that was set."""
    return list(_History(log, scratch).walk()) if _is_changed(log) else []


def returns(log: Sequence[Record], scratch: Scratch | None = None) -> Iterable[Return]:
    """Returns where a rewind, or a history that was set, took something back."""
    if not _is_changed(log):
        return ()
    history = _History(log, scratch)
    for _ in history.walk():
        pass
    return history.returns


def _is_changed(log: Sequence[Record]) -> bool:
    """Tells whether anything may be taken back: mostly not, and to put a large file's history together takes time."""
    return any(text(one.value, "$rewindTo") or "messages" in mapping(one.value, "$set") for one in log)


class _History:
    """The messages of a transcript, by their ids, in the order in which the agent has them.

    Attributes:
        returns: Where the user went back.
    """

    def __init__(self, records: Sequence[Record], scratch: Scratch | None = None, *, shown: bool = False) -> None:
        """Begins before the first record.

        Args:
            records: All of a transcript.
            scratch: Where the messages lie if they are many; None for memory.
            shown: Whether it is asked what the messages say, and not only where lines were left.
        """
        self.returns: list[Return] = []
        self._records = records
        self._start: int | None = None  # the place of the first message
        self._standing = Standing(scratch)
        self._said = column(scratch, "Q", most=MANY)  # what is said in each that stands
        self._slots: list[_Slot] | None = [] if shown else None  # what each that stands says
        self._before: list[_Slot] = []  # what compactions stand for
        self._order = 0
        self._rewound = NONE  # where the last rewind stands
        # The ids of the summary that the history begins with, and of the agent's answer to it; "" for none.
        self._summary = self._answer = ""

    def walk(self) -> Iterator[AbandonedLine]:
        """Goes through the records, and yields the lines that were left."""
        for place, record in enumerate(self._records):
            value = record.value
            line = None
            if back := text(value, "$rewindTo"):
                line = self._rewind(back)
                self._rewound = place
            elif is_message(value):
                self._put(_Slot(value, self._entry_id(place), place, NONE))
            elif isinstance(found := mapping(value, "$set").get("messages"), list):
                line = self._set([one for one in found if is_message(one)], place)
            if line is not None:
                yield line

    def shown(self) -> list[_Slot]:
        """Returns what is shown, in order: all that stands, and what compactions stand for."""
        found = [slot for slot in self._slots or () if not slot.hidden]
        self._keep(found)
        return sorted([*self._before, *found], key=lambda slot: slot.order)

    def _entry_id(self, place: int) -> str:
        return self._records[place].id or f"record-{place}"

    def _put(self, slot: _Slot) -> None:
        """Puts a message at the end, or where one with its id stands; then it is shown where that was."""
        if self._start is None:
            self._start = slot.place
        index = self._standing.put(slot.value["id"], slot.place)
        said = 0 if slot.hidden else saying(slot.value)
        if index == len(self._said):
            self._said.append(said)
        self._said[index] = said
        if self._slots is None:
            return
        if index == len(self._slots):
            self._slots.append(slot)
        else:
            slot.order = self._slots[index].order
        if slot.order == NONE:
            slot.order = self._order
            self._order += 1
        self._slots[index] = slot

    def _cut(self, index: int) -> int:
        """Takes the messages from an index on away, and returns the place of the last of their records."""
        while len(self._said) > index:
            self._said.pop()
        if self._slots is not None:
            if index < len(self._slots):
                order = self._slots[index].order
                self._before = [slot for slot in self._before if slot.order < order]
            del self._slots[index:]
        last = self._standing.cut(index)
        if self._summary and self._standing.find(self._summary) is None:
            # The summary itself is taken back, and with it what it stands for.
            self._summary, self._before = "", []
        return last

    def _rewind(self, back: str) -> AbandonedLine | None:
        index = self._standing.find(back) or 0
        kept, first = self._standing.place(index - 1), self._standing.first(index)
        last = self._cut(index)
        return self._line(last, first, kept)

    def _line(self, last: int, first: int, kept: int) -> AbandonedLine | None:
        """Notes that the user went back.

        Args:
            last: The last record of what was taken back.
            first: Its first record.
            kept: The last one that was kept; `NONE` where none was.
        """
        if last == NONE:
            return None
        summary = self._standing.find(self._summary) if self._summary else None
        compacted = NONE if summary is None else self._standing.place(summary)
        if last < compacted:
            # It was kept by a compaction, which the line that goes on has, and this one has not.
            kept = first - 1
        elif kept != NONE:
            kept = max(kept, compacted)
        # Where all is taken back, it goes on from what stands before the first message.
        at = (self._start or 0) - 1 if kept == NONE else kept
        # What an earlier rewind left standing is no line of its own: the line that it took back goes through it.
        if last <= self._rewound:
            if at < self.returns[-1].place:
                self.returns[-1] = self.returns[-1]._replace(at=None if at == NONE else at)
            return None
        # What is kept may have been written again after it.
        self.returns.append(Return(max(last, kept) + 1, None if at == NONE else at))
        own_id = self._records[last].id
        return AbandonedLine(own_id, None if kept == NONE else self._records[kept].id) if own_id else None

    def _set(self, messages: list[dict[str, Any]], place: int) -> AbandonedLine | None:
        """Replaces the history; returns the line that was left by it."""
        start = _summary_of(messages)
        summary = "" if start is None else text(messages[start], "id")
        line = self._gone(messages, place) if summary in ("", self._summary) else None
        answer = self._answer_in(messages[start + 1 :]) if start is not None else ""
        known = self._known(messages)
        self._forget(known, summary)
        number, own_id = 0, self._entry_id(place)
        for index, value in enumerate(messages):
            hidden = value["id"] == answer
            number += index != start and not hidden
            slot = _Slot(value, own_id if index == start else f"{own_id}/{number}", place, NONE, hidden=hidden)
            if (before := known.get(value["id"])) is not None:
                slot.place, slot.entry_id = before.place, before.entry_id
                slot.order = before.order if summary else NONE
            if index == start:
                slot.kept = NONE
            self._put(slot)
        self._summary, self._answer = summary, answer
        return line

    def _answer_in(self, rest: list[dict[str, Any]]) -> str:
        """Returns the id of the agent's answer to its own summary, given what follows that; "" where there is none."""
        first = text(rest[0], "id") if rest and text(rest[0], "type") == "gemini" else ""
        return first if first == self._answer or self._standing.find(first) is None else ""

    def _known(self, messages: list[dict[str, Any]]) -> dict[str, _Slot]:
        """Returns what stands of the messages that are set, or is shown, by their ids."""
        wanted = {one["id"] for one in messages}
        if self._slots is not None:
            return {own: slot for slot in (*self._before, *self._slots) if (own := slot.value["id"]) in wanted}
        found = {own: index for own in wanted if (index := self._standing.find(own)) is not None}
        return {own: _Slot({}, "", self._standing.place(index), NONE) for own, index in found.items()}

    def _forget(self, known: dict[str, _Slot], summary: str) -> None:
        """Lets nothing stand, before a history is set; what a compaction stands for is shown all the same.

        Args:
            known: What of it stands in the new history as well.
            summary: The id of the summary with which that begins; "" for none.
        """
        slots = [slot for slot in self._slots or () if not slot.hidden]
        end = self._order
        if summary and summary == self._summary:
            # What comes after all that is kept, or after the summary, is taken back.
            kept = max((one.order for one in slots if one.value["id"] in known and saying(one.value)), default=0)
            end = min([kept, *(one.order for one in slots if one.kept is not None)])
        else:
            self._keep(slots)
        gone = [slot for slot in slots if slot.order < end]
        before = [slot for slot in (*self._before, *gone) if slot.value["id"] not in known] if summary else []
        self._summary = ""
        self._cut(0)
        self._before = before

    def _keep(self, slots: list[_Slot]) -> None:
        """Tells the summary that the history begins with from where on it keeps messages."""
        for slot in slots:
            if slot.kept is not None:
                slot.kept = min(one.order for one in slots if one.order <= slot.order)

    def _gone(self, messages: list[dict[str, Any]], place: int) -> AbandonedLine | None:
        """Returns the line that is left where a history is set that has no compaction in it that is new."""
        indexes = {one["id"]: self._standing.find(one["id"]) for one in messages}
        # A history that was saved somewhere comes back with other ids.
        copies = {saying(one) for one in messages if indexes[one["id"]] is None}
        kept, last, first, answered = NONE, NONE, NONE, False
        summary = self._standing.find(self._summary) if self._summary else None
        for index in range(len(self._said) - 1, -1, -1):
            # With a summary goes all that it stands for.
            said = self._said[index] or (index == summary and ANSWER)
            if not said:
                continue
            if said in copies or index in indexes.values():
                kept = self._standing.place(index)
                break
            first = self._standing.place(index)
            last = max(last, first)
            answered = answered or bool(said & ANSWER)
        if not answered or last <= self._rewound:
            return None
        line = self._line(last, first, kept)
        self._rewound = place
        return line


def _summary_of(messages: list[dict[str, Any]]) -> int | None:
    """Returns the index of the summary that a history begins with, after injected context; None for none."""
    for index, one in enumerate(messages):
        if is_snapshot(one):
            return index
        if text(one, "type") != "user" or saying(one):
            return None
    return None
