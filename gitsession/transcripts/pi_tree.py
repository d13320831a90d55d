"""The tree that the entries of a pi session form, and the line in it that the agent would resume.

Each entry names the one it follows. The line ends with the last entry in the file. An entry whose parent is missing
begins a line; of two entries with one id the later counts; a cycle is walked once. In the first version entries had
no ids: each follows the one before it.
"""

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from gitsession.numbering import Numbering
from gitsession.transcripts.base import AbandonedLine, Record
from gitsession.transcripts.fields import mapping, text

ROLES = ("user", "assistant", "toolResult", "tool")
"""The roles of messages that make a line worth keeping: what was said, not what an extension noted."""

# What stands for a parent where there is none: the entry begins a line, or the record is no entry.
_NONE, _NO_ENTRY = -1, -2
# How an entry was passed on the ways back from the ends of lines: not by 0, an earlier way, or the present one.
_BEFORE, _NOW = 1, 2


def parent_of(value: dict[str, Any]) -> str:
    """Returns the id of the entry that one follows; "" where it follows none."""
    return text(value, "parentId") or text(value, "parent_id")


def is_entry(value: Any) -> bool:
    """Tells whether a record is an entry of the tree: not a header, and not the leaf mark that old releases wrote."""
    return bool(text(value, "type")) and text(value, "type") not in ("session", "leaf")


class Tree:
    """The entries of a session that follow each other. All its places are positions in the sequence of records.

    An import makes it of a whole file, so it is kept in arrays of numbers, some 60 bytes an entry in all.
    """

    def __init__(self, records: Sequence[Record]) -> None:
        """Links the entries."""
        self._records = records
        self._names = Numbering()
        self._places = array("i")  # by the numbers of the ids: the last entries that have them
        self._parents = array("i", [_NO_ENTRY]) * len(records)
        self._spoken = bytearray(len(records))
        for place, record in enumerate(records):
            if is_entry(record.value) and (name := text(record.value, "id")):
                number = self._names.add(name)
                self._places[number : number + 1] = array("i", [place])
        before: int | None = None
        for place, record in enumerate(records):
            if is_entry(record.value):
                parent = self.find(parent_of(record.value)) if text(record.value, "id") else before
                self._parents[place] = _NONE if parent is None or parent == place else parent
                self._spoken[place] = _is_spoken(record.value)
                before = place
        self.leaf = before

    def entries(self) -> Iterator[int]:
        """Yields the entries, in the order of the file."""
        return (place for place, parent in enumerate(self._parents) if parent != _NO_ENTRY)

    def find(self, name: str) -> int | None:
        """Returns the entry of an id; None if there is none."""
        number = self._names.find(name)
        return None if number is None else self._places[number]

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
        while place != _NONE and place not in seen:
            seen.add(place)
            yield place
            place = self._parents[place]

    def line(self) -> list[int]:
        """Returns the entries of the line that the agent would resume, the first one first."""
        return [] if self.leaf is None else list(self.back(self.leaf))[::-1]

    def abandoned(self) -> list[AbandonedLine]:
        """Returns the lines that the user left, in the order in which they ended."""
        followed = bytearray(len(self._parents))
        for parent in self._parents:
            if parent >= 0:
                followed[parent] = True
        passed = bytearray(len(self._parents))
        found: list[tuple[int, int | None]] = []
        # The line of the leaf first, of the others the last one.
        ends = (place for place in range(len(followed) - 1, -1, -1) if not followed[place])
        for end in chain([] if self.leaf is None else [self.leaf], ends):
            last, point = self._walk(end, passed)
            if last != _NONE and end != self.leaf:
                common = next((place for place in self.back(point) if self._spoken[place]), None)
                found.append((last, common))
        found.sort(key=lambda pair: pair[0])
        return [AbandonedLine(self.entry_id(last), None if at is None else self.entry_id(at)) for last, at in found]

    def _walk(self, end: int, passed: bytearray) -> tuple[int, int]:
        """Goes back from the end of a line to an entry that was passed before, or to the beginning.

        Returns the last entry of the way that somebody spoke, and the one that was passed before.
        """
        place, last = end, _NONE
        while place >= 0 and not passed[place]:
            passed[place] = _NOW
            last = max(last, place if self._spoken[place] else _NONE)
            place = self._parents[place]
        point = place if place >= 0 and passed[place] != _NOW else _NONE
        place = end
        while place >= 0 and passed[place] == _NOW:
            passed[place] = _BEFORE
            place = self._parents[place]
        return last, point


def _is_spoken(value: dict[str, Any]) -> bool:
    return text(value, "type") == "message" and text(mapping(value, "message"), "role") in ROLES
