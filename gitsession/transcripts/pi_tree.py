"""The tree that the entries of a pi session form, and the line in it that the agent would resume.

Each entry names the one it follows. The line ends with the last entry in the file. Of two entries with one id the later
counts; one that follows the other is an entry of its own, which the id means from there on. A cycle is walked once. In
the first version entries had no ids: each follows the one before it.

Where the file does not have the parent that an entry names (that line cannot be read, or is gone), or it names itself,
the entry follows the one before it in the file: what is missing hides no more than itself. All that name the same
missing parent follow the same entry. Only an entry that names no parent begins a line, and only if one can begin with
it (`begins`); another one follows the one before it as well. (The agent itself would forget what stands before a gap.)
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from gitsession.columns import Column, Scratch, column
from gitsession.transcripts import lanes
from gitsession.transcripts.base import AbandonedLine, Record, Return
from gitsession.transcripts.fields import mapping, text
from gitsession.transcripts.meanings import NONE, Meanings

ROLES = ("user", "assistant", "toolResult", "tool")
"""The roles of messages that make a line worth keeping: what was said, not what an extension noted."""

# The roles of messages that a conversation can begin with.
_FIRST_ROLES = ("user", "bashExecution", "custom", "hookMessage", "branchSummary", "system")

# What stands for the parent of a record that is no entry.
_NO_ENTRY = -2
# What an entry follows that names nothing usable: the one before it.
_FOLLOWS = -3
# What takes the place of an entry that is missing is kept as so many less its own place.
_STAND_IN = NONE - 1
# How an entry was passed on the ways back from the ends of lines: not by 0, an earlier way, or the present one.
_BEFORE, _NOW = 1, 2


def parent_of(value: dict[str, Any]) -> str | None:
    """Returns the id of the entry that one follows; "" where it follows none, None where it names nothing usable."""
    named = value.get("parentId")
    if named is None:
        named = value.get("parent_id")
    if isinstance(named, str) and named:
        return named
    return "" if named is None and begins(value) else None


def begins(value: dict[str, Any]) -> bool:
    """Tells whether a conversation can begin with an entry: not with an answer, a result, a summary or nothing."""
    kind = text(value, "type")
    return kind != "compaction" if kind != "message" else text(mapping(value, "message"), "role") in _FIRST_ROLES


def is_entry(value: Any) -> bool:
    """Tells whether a record is an entry of the tree: not a header, and not the leaf mark that old releases wrote."""
    return bool(text(value, "type")) and text(value, "type") not in ("session", "leaf")


class Tree:
    """The entries of a session that follow each other. All its places are positions in the sequence of records.

    An import makes it of a whole file, however long: so it is columns of numbers, some 15 bytes an entry in all.
    """

    def __init__(self, records: Sequence[Record], scratch: Scratch | None = None) -> None:
        """Links the entries.

        Args:
            records: All of a session.
            scratch: Where the tree of many of them lies; None for memory.
        """
        self._records = records
        self._scratch = scratch
        self._meanings = Meanings(scratch, len(records), ids=2)
        self._places = self._meanings.places
        self._parents = self._column("i", _NO_ENTRY)  # until they are linked, what the ids of the parents mean
        self._spoken = self._column("B")
        for place, record in enumerate(records):
            if is_entry(record.value):
                self._take(place, record.value)
        self.leaf = self._link()

    def _take(self, place: int, value: dict[str, Any]) -> None:
        """Notes an entry, in the stead of an earlier one of its id."""
        own = text(value, "id")
        named = parent_of(value) if own else None
        parent = self._parents[place] = _FOLLOWS if named is None else self._meanings.of(named)
        self._spoken[place] = _is_spoken(value)
        if (meaning := self._meanings.of(own)) != NONE:
            earlier = self._places[meaning]
            if (
                earlier != NONE
                and self._parents[earlier] != parent
                and self._meanings.leads_back(place, earlier, self._parents)
            ):
                meaning = self._meanings.anew(own)
            self._places[meaning] = place

    def _link(self) -> int | None:
        """Makes places of what the ids of parents mean; returns the last entry, None if there is none."""
        before = NONE
        for place in range(len(self._parents)):
            meaning = self._parents[place]
            if meaning == _NO_ENTRY:
                continue
            parent = before if meaning == _FOLLOWS else NONE if meaning == NONE else self._places[meaning]
            if parent == NONE != before and meaning >= 0:
                parent = self._places[meaning] = _STAND_IN - before
            if parent <= _STAND_IN:
                parent = _STAND_IN - parent
            self._parents[place] = before if parent == place else parent
            before = place
        return None if before == NONE else before

    def _column(self, code: str, fill: int = 0) -> Column:
        """Returns a number for each record."""
        return column(self._scratch, code, len(self._records), fill)

    def entries(self) -> Iterator[int]:
        """Yields the entries, in the order of the file."""
        return (place for place, parent in enumerate(self._parents) if parent != _NO_ENTRY)

    def find(self, name: str) -> int | None:
        """Returns the entry of an id; None if there is none."""
        return self._meanings.find(name)

    def value(self, place: int) -> dict[str, Any]:
        """Returns the value of an entry."""
        value = self._records[place].value
        assert isinstance(value, dict)  # noqa: S101  # only such records are linked
        return value

    def entry_id(self, place: int) -> str:
        """Returns the id under which an entry is known: its commit's, its own, or one that is made of its place."""
        return self._records[place].id or text(self.value(place), "id") or f"record-{place}"

    def back(self, place: int) -> Iterator[int]:
        """Yields an entry and those before it, each once."""
        seen = set()
        while place != NONE and place not in seen:
            seen.add(place)
            yield place
            place = self._parents[place]

    def line(self) -> list[int]:
        """Returns the entries of the line that the agent would resume, the first one first."""
        return [] if self.leaf is None else list(self.back(self.leaf))[::-1]

    def abandoned(self) -> list[AbandonedLine]:
        """Returns the lines that the user left, in the order in which they ended."""
        return [
            AbandonedLine(self.entry_id(one.last), None if one.at == NONE else self.entry_id(one.at))
            for one in self._left()
        ]

    def returns(self) -> Iterable[Return]:
        """Returns where the user went back, in the order of the file."""
        left = self._left()
        if not left or self.leaf is None:
            return ()
        return lanes.returns(self._column("i", lanes.NOBODYS), self.leaf, left, self.back)

    def _left(self) -> list[lanes.Left]:
        """Returns the lines that the user left, in the order in which they ended."""
        followed = self._column("B")
        for parent in self._parents:
            if parent >= 0:
                followed[parent] = 1
        passed = self._column("B")
        found = []
        # The line of the leaf first, of the others the last one.
        ends = (place for place in range(len(followed) - 1, -1, -1) if not followed[place])
        for end in chain([] if self.leaf is None else [self.leaf], ends):
            last, point, steps = self._walk(end, passed)
            if last != NONE and end != self.leaf:
                found.append(lanes.Left(last, self._spoken_before(point), end, steps))
        return sorted(found)

    def _spoken_before(self, place: int) -> int:
        """Returns the nearest entry that somebody spoke: this one, or one before it; `NONE` where there is none."""
        steps, look, mark = 0, 1, NONE
        while place not in (NONE, mark):
            if self._spoken[place]:
                return place
            # In a circle nobody may have spoken: it comes back to a mark that is set further and further on.
            steps += 1
            if steps == look:
                look, mark = 2 * look, place
            place = self._parents[place]
        return NONE

    def _walk(self, end: int, passed: Column) -> tuple[int, int, int]:
        """Goes back from the end of a line to an entry that was passed before, or to the beginning.

        Returns the last entry of the way that somebody spoke, the one that was passed before, and how many are between.
        """
        place, last, steps = end, NONE, 0
        while place >= 0 and not passed[place]:
            passed[place] = _NOW
            steps += 1
            last = max(last, place if self._spoken[place] else NONE)
            place = self._parents[place]
        point = place if place >= 0 and passed[place] != _NOW else NONE
        place = end
        while place >= 0 and passed[place] == _NOW:
            passed[place] = _BEFORE
            place = self._parents[place]
        return last, point, steps


def _is_spoken(value: dict[str, Any]) -> bool:
    return text(value, "type") == "message" and text(mapping(value, "message"), "role") in ROLES
