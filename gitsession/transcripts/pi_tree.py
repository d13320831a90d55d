"""The tree that the entries of a pi session form, and the line in it that the agent would resume.

Each entry names the one it follows. The line ends with the last entry in the file. An entry whose parent is missing
begins a line; of two entries with one id the later counts; a cycle is walked once. In the first version entries had
no ids: each follows the one before it.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from gitsession.transcripts.base import AbandonedLine, Record
from gitsession.transcripts.fields import mapping, text

ROLES = ("user", "assistant", "toolResult", "tool")
"""The roles of messages that make a line worth keeping: what was said, not what an extension noted."""


def parent_of(value: dict[str, Any]) -> str:
    """Returns the id of the entry that one follows; "" where it follows none."""
    return text(value, "parentId") or text(value, "parent_id")


def is_entry(value: Any) -> bool:
    """Tells whether a record is an entry of the tree: not a header, and not the leaf mark that old releases wrote."""
    return bool(text(value, "type")) and text(value, "type") not in ("session", "leaf")


class Tree:
    """The entries of a session that follow each other. All its places are positions in the sequence of records."""

    def __init__(self, records: Sequence[Record]) -> None:
        """Links the entries."""
        self._records = records
        self.places: dict[str, int] = {}
        entries = [place for place, record in enumerate(records) if is_entry(record.value)]
        for place in entries:
            if name := text(self.value(place), "id"):
                self.places[name] = place
        self.parents: dict[int, int | None] = {}
        before: int | None = None
        for place in entries:
            value = self.value(place)
            name = text(value, "id")
            parent = self.places.get(parent_of(value)) if name else before
            self.parents[place] = None if parent == place else parent
            before = place
        self.leaf = before

    def value(self, place: int) -> dict[str, Any]:
        """Returns the value of an entry."""
        value = self._records[place].value
        assert isinstance(value, dict)  # noqa: S101  # only such records are linked
        return value

    def entry_id(self, place: int) -> str:
        """Returns the id under which an entry is known: its commit's, its own, or one that is made of its place."""
        return self._records[place].id or text(self.value(place), "id") or f"record-{place}"

    def back(self, place: int | None) -> Iterator[int]:
        """Yields an entry and those before it, each once."""
        seen = set()
        while place is not None and place not in seen:
            seen.add(place)
            yield place
            place = self.parents[place]

    def line(self) -> list[int]:
        """Returns the entries of the line that the agent would resume, the first one first."""
        return list(self.back(self.leaf))[::-1]

    def abandoned(self) -> list[AbandonedLine]:
        """Returns the lines that the user left, in the order in which they ended."""
        followed = {parent for parent in self.parents.values() if parent is not None}
        ends = [place for place in self.parents if place not in followed and place != self.leaf]
        seen = set(self.back(self.leaf))
        found: list[tuple[int, int | None]] = []
        for end in reversed(ends):
            own: list[int] = []
            point: int | None = None
            for place in self.back(end):
                if place in seen:
                    point = place
                    break
                own.append(place)
            seen.update(own)
            spoken = [place for place in own if self._is_spoken(place)]
            if spoken:
                common = next((place for place in self.back(point) if self._is_spoken(place)), None)
                found.append((max(spoken), common))
        found.sort(key=lambda pair: pair[0])
        return [AbandonedLine(self.entry_id(last), None if at is None else self.entry_id(at)) for last, at in found]

    def _is_spoken(self, place: int) -> bool:
        value = self.value(place)
        return text(value, "type") == "message" and text(mapping(value, "message"), "role") in ROLES
