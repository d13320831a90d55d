"""The tree that the records of a Claude Code transcript form, and the line in it that the agent would resume.

Each record names the one it follows. A uuid that stands there twice means the later record. The rules for the end of
the line are those of the agent's SDK: of all records that nobody follows, back to the nearest that user or model
spoke, the last in the file that is not aside (a subagent's, a teammate's). Injected context at the end of a line does
not count for its place, so that a reminder written late does not revive an old line, nor hides a new one.

Broken links are met as they come; a cycle is walked once. Where the file does not have the parent that a record names
(that line cannot be read, or was never written), or it names itself, the record follows what was said before it in the
file: what is missing hides no more than itself. All that name the same missing parent follow the same record. So does
one that names none and can begin nothing (`parent_of`), or has no uuid. The agent itself would forget what stands
before the gap. A uuid that is used again for something else, in another place, means the later record from there on.

An import makes the tree of a whole file, however long: so it is columns of numbers, some 60 bytes a record in all.
"""

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Any

from gitsession.columns import Column, Scratch, column
from gitsession.transcripts.base import Record
from gitsession.transcripts.claude_prompts import prompt, told, waiting
from gitsession.transcripts.claude_records import (
    CHAIN,
    is_aside,
    is_boundary,
    is_spoken,
    is_summary,
    is_synthetic,
    parent_of,
)
from gitsession.transcripts.fields import mapping, text
from gitsession.transcripts.meanings import NONE, Meanings

# What takes the place of a record that is missing is kept as so many less its own place.
_STAND_IN = NONE - 1
# What a record follows that names nothing usable: what was said before it.
_BEFORE = NONE - 1

# As much of a prompt as two records are compared by; their outlines have more.
_COMPARED = 200

# What a record is, as bits of a byte.
_LINKED, _SPOKEN, _ASIDE, _META, _BOUNDARY, _SUMMARY, _ATTACHED = (1 << bit for bit in range(7))


class Tree:
    """The records of a transcript that follow each other. All its places are positions in the sequence of records."""

    def __init__(self, records: Sequence[Record], scratch: Scratch | None = None) -> None:
        """Links the records.

        Args:
            records: All of a transcript.
            scratch: Where the tree of many of them lies; None for memory.
        """
        self._records = records
        self._scratch = scratch
        self._meanings = Meanings(scratch, len(records), ids=3)  # of the uuids
        self._places = self._meanings.places  # see `_link`
        self._kinds = self.column("B")
        self._said = self.column("Q")  # what `_saying` tells of each
        self._words = self.column("Q")
        self._parents = self.column("i", NONE)
        for place, record in enumerate(records):
            value = record.value
            if text(value, "type") in CHAIN:
                self._take(place, value, text(value, "uuid"))
        self._link()
        self._circling: Column | None = None  # for each record more than 0 if it follows itself; None where none does
        self._find_circles()
        if self._circling is not None:
            self._open_circles(self._circling)

    def column(self, code: str, fill: int = 0) -> Column:
        """Returns a number for each record."""
        return column(self._scratch, code, len(self._records), fill)

    def _take(self, place: int, value: dict[str, Any], uuid: str) -> None:
        """Notes a record, in the stead of an earlier one of its uuid.

        Until `_link` its parent is what a uuid means, not a place, and what a boundary has said, which says nothing, is
        what the one means that it follows in the file's logic, from 1.
        """
        named = parent_of(value)
        self._parents[place] = _BEFORE if named is None else self._meanings.of(named)
        meaning = self._meanings.of(uuid)
        earlier = NONE if meaning == NONE else self._places[meaning]
        self._said[place], self._words[place] = _saying(value)
        if earlier != NONE and self._is_another(earlier, place):
            meaning = self._meanings.anew(uuid)
        elif earlier != NONE:
            self._kinds[earlier] = 0
            if self._parents[place] < 0 and not is_boundary(value):
                # A copy that a fork or a compaction wrote without its parent.
                self._parents[place] = self._parents[earlier]
        if meaning != NONE:
            self._places[meaning] = place
        self._kinds[place] = (
            _LINKED
            | (is_spoken(value) and _SPOKEN)
            | (is_aside(value) and _ASIDE)
            | (value.get("isMeta") is True and _META)
            | (is_summary(value) and _SUMMARY)
            | (text(value, "type") == "attachment" and _ATTACHED)
        )
        if is_boundary(value):
            self._kinds[place] |= _BOUNDARY
            self._said[place] = self._meanings.of(text(value, "logicalParentUuid")) + 1

    def _is_another(self, earlier: int, place: int) -> bool:
        """Tells whether a record is no later state of the one that has its uuid.

        It stands in another place, and says something else or follows that one.
        """
        if self._parents[earlier] == self._parents[place]:
            return False
        if self._words[earlier] != self._words[place]:
            return True
        return self._meanings.leads_back(place, earlier, self._parents)

    def _link(self) -> None:
        """Makes places of the numbers of parents.

        A uuid that no record has gets the place of the one that stands in for it, below `NONE`.
        """
        # The last that was said, or an attachment that follows it, which may be a prompt: not aside and aside.
        spoken = [NONE, NONE]
        for place, kind in enumerate(self._kinds):
            if not kind & _LINKED:
                continue
            aside = bool(kind & _ASIDE)
            named, before = self._parents[place], spoken[aside]
            parent = NONE if named < 0 else self._places[named]
            if parent == place or named == _BEFORE:
                parent = before
            elif parent == NONE and NONE not in (named, before):
                parent = self._places[named] = _STAND_IN - before
            if parent < NONE:
                parent = _STAND_IN - parent
            if kind & _BOUNDARY:
                logical, self._said[place] = self._said[place] - 1, 0
                if parent == NONE:
                    # What was compacted stays a part of the conversation, so the line goes on behind the boundary.
                    parent = NONE if logical == NONE else max(self._places[logical], NONE)
                    parent = spoken[False] if parent == NONE else parent
            self._parents[place] = NONE if parent == place else parent
            if kind & _SPOKEN or (kind & _ATTACHED and parent == before):
                spoken[aside] = place

    def _open_circles(self, circling: Column) -> None:
        """Has a compaction in a circle follow what was said before it in the file.

        What it kept was written again after it, in the place of what it follows.
        """
        spoken, found = NONE, False
        for place, kind in enumerate(self._kinds):
            if kind & _BOUNDARY and circling[place] > 0 and self._parents[place] > place:
                self._parents[place], found = spoken, True
            elif kind & _SPOKEN and not kind & _ASIDE:
                spoken = place
        if found:
            self._find_circles()

    def linked(self) -> Iterator[int]:
        """Yields the records of the tree, in the order of the file."""
        return (place for place, kind in enumerate(self._kinds) if kind & _LINKED)

    def parent(self, place: int) -> int:
        """Returns the record that one follows; `NONE` for a beginning."""
        return self._parents[place]

    def find(self, uuid: str) -> int | None:
        """Returns the record of a uuid; None if there is none."""
        return self._meanings.find(uuid)

    def value(self, place: int) -> dict[str, Any]:
        """Returns the value of a record of the tree."""
        value = self._records[place].value
        assert isinstance(value, dict)  # noqa: S101  # only such records are linked
        return value

    def entry_id(self, place: int) -> str:
        """Returns the id under which a record is known: its commit's, or the one it carries itself."""
        return self._records[place].id or text(self.value(place), "uuid") or f"record-{place}"

    def is_aside(self, place: int) -> bool:
        """Tells whether a record belongs to a subagent or to another member of a team."""
        return bool(self._kinds[place] & _ASIDE)

    def is_spoken(self, place: int) -> bool:
        """Tells whether a record is a part of what user and model say to each other."""
        return bool(self._kinds[place] & _SPOKEN)

    def is_meta(self, place: int) -> bool:
        """Tells whether a record is context that was injected."""
        return bool(self._kinds[place] & _META)

    def is_summary(self, place: int) -> bool:
        """Tells whether a record is the summary that stands for what was compacted."""
        return bool(self._kinds[place] & _SUMMARY)

    def said(self, place: int) -> int:
        """Returns what tells what was typed, or a model's answer, from others; 0 for anything else."""
        return self._said[place] if self._kinds[place] & _LINKED else 0

    def circles(self) -> Column | None:
        """Returns for each record the nearest one, itself or one before it, that follows itself; None if none does."""
        circling = self._circling
        return None if circling is None else self.nearest(lambda place: circling[place] > 0)

    def back(self, place: int) -> Iterator[int]:
        """Yields a record and those before it, each once."""
        entered = NONE  # the first one that follows itself: no other is met again before it
        while place != NONE:
            if self._circling is not None and entered == NONE and self._circling[place] > 0:
                entered = place
            yield place
            place = self._parents[place]
            if place == entered:
                return

    def leaf(self) -> int:
        """Returns the end of the line that the agent would resume; `NONE` if nobody spoke."""
        followed = self.column("B")
        for place in self.linked():
            if (parent := self._parents[place]) != NONE:
                followed[parent] = 1
        spoken = self.nearest(self.is_spoken)
        typed = self.nearest(lambda place: self._kinds[place] & (_SPOKEN | _META) == _SPOKEN)
        ends = (spoken[place] for place in self.linked() if not followed[place])
        best = max(((not self.is_aside(end), typed[end], end) for end in ends if end != NONE), default=None)
        if best is not None:
            return best[2]
        return max(filter(self.is_spoken, self.linked()), default=NONE)

    def line(self) -> list[int]:
        """Returns the records of the line that the agent would resume, the first one first."""
        return list(self.back(self.end()))[::-1]

    def end(self) -> int:
        """Returns the last record of the line that the agent would resume; `NONE` if nobody spoke.

        Attachments after the last that was said are of it: they may be prompts that wait for the model.
        """
        end = self.leaf()
        for place in range(end + 1, len(self._kinds) if end != NONE else 0):
            if self._kinds[place] & _ATTACHED and self._parents[place] == end:
                end = place
        return end

    def nearest(self, wanted: Callable[[int], object]) -> Column:
        """Returns for each record the nearest one that is wanted, itself or one before it; `NONE` where none is."""
        unknown = NONE - 1
        nearest = self.column("i", unknown)
        for start in self.linked():
            passed, found = 0, NONE
            for place in self.back(start):
                if nearest[place] != unknown:
                    found = nearest[place]
                    break
                passed += 1
                if wanted(place):
                    found = place
                    break
            for place in islice(self.back(start), passed):
                nearest[place] = found
        return nearest

    def _find_circles(self) -> None:
        """Finds the records that follow themselves, by passing over all others, from the ends on."""
        followers = self.column("i")
        for place in self.linked():
            if (parent := self._parents[place]) != NONE:
                followers[parent] += 1
        for start in self.linked():
            place = start
            while place != NONE and not followers[place]:
                followers[place] = NONE
                place = self._parents[place]
                if place != NONE:
                    followers[place] -= 1
        self._circling = followers if any(count > 0 for count in followers) else None


def _saying(value: dict[str, Any]) -> tuple[int, int]:
    """Returns what tells a typed prompt or command, or a model's answer, from others; 0 for anything else.

    They are digests of 64 bits. What is written twice, as when a session is resumed, has the same ones, and so have all
    parts of an answer. The second depends on the words of a prompt alone, not on when it was typed, and is there for
    what the agent itself says as well.
    """
    if said := prompt(value) or told(value):
        return _digest(f"{text(value, 'promptId') or text(value, 'timestamp')} {said}"), _digest(said[:_COMPARED])
    if said := waiting(value):
        return _digest(f"queued {said}"), _digest(said[:_COMPARED])
    own = _digest(text(mapping(value, "message"), "id"))
    spoke = text(value, "type") == "assistant" and value.get("isApiErrorMessage") is not True
    return own if spoke and not is_synthetic(value) else 0, own


def _digest(key: str) -> int:
    return int.from_bytes(blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") if key else 0
