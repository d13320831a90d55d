"""What the ids of a transcript's records mean, as far as it was read: an id that is used again may mean another record.

Records name what they follow by ids. Until all are read, a record's parent is what an id means there: a number, which
stays when the id comes to mean another record, and under which a later version of the same record can be put.
"""

from gitsession.columns import Column, Scratch, column
from gitsession.numbering import Numbering

NONE = -1
"""The place of no record: what a beginning follows; and what no id means."""


class Meanings:
    """What the ids mean so far.

    Attributes:
        places: By meanings, the places of the last records that have them; `NONE` for one that no record has yet.
    """

    def __init__(self, scratch: Scratch | None, records: int, ids: int) -> None:
        """Begins a transcript.

        Args:
            scratch: Where what many ids mean lies; None for memory.
            records: How many records there are.
            ids: How many ids each has at most, its own and those that it names.
        """
        self._names = Numbering(scratch)  # of the ids, those of missing records too
        self._meant = column(scratch, "i", most=ids * records)
        self.places = column(scratch, "i", most=(ids + 1) * records)
        # So many steps back are made at most, that the time stays in proportion to the file.
        self._steps = 10 * records

    def of(self, name: str) -> int:
        """Returns what an id means so far; `NONE` for an empty one."""
        if not name:
            return NONE
        number = self._names.add(name)
        if number == len(self._meant):
            self._meant.append(len(self.places))
            self.places.append(NONE)
        return self._meant[number]

    def anew(self, name: str) -> int:
        """Lets an id mean another record from here on; what follows the earlier one stays with it."""
        meaning = self._meant[self._names.add(name)] = len(self.places)
        self.places.append(NONE)
        return meaning

    def find(self, name: str) -> int | None:
        """Returns the place of the last record of an id; None if there is none."""
        number = self._names.find(name)
        place = NONE if number is None else self.places[self._meant[number]]
        return None if place <= NONE else place

    def leads_back(self, place: int, earlier: int, parents: Column) -> bool:
        """Tells whether a record follows an earlier one, as far as it was looked back often enough.

        Args:
            place: The place of the record.
            earlier: That of the earlier one.
            parents: By places, what the ids of the parents mean; below 0 where that is nothing.
        """
        while place not in (NONE, earlier) and self._steps:
            meaning = parents[place]
            place = NONE if meaning < 0 else self.places[meaning]
            self._steps -= 1
        return place == earlier
