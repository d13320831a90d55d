"""What stands of a transcript in which the last of it may be taken back: names in their order, each with its record."""

from gitsession.columns import MANY, Scratch, column
from gitsession.numbering import Numbering

NONE = -1
"""The place of nothing."""


class Standing:
    """Names, each with the place of a record; the last ones can be taken away."""

    def __init__(self, scratch: Scratch | None) -> None:
        """Begins with none.

        Args:
            scratch: Where they lie if they are many; None for memory.
        """
        self._names = Numbering(scratch)
        self._where = column(scratch, "q", most=MANY)  # by the numbers of the names: their indexes
        self._numbers = column(scratch, "q", most=MANY)  # by the indexes
        self._places = column(scratch, "q", most=MANY)

    def __len__(self) -> int:
        return len(self._numbers)

    def find(self, name: str) -> int | None:
        """Returns the index of a name, that of the first one where it stands twice; None if it does not stand."""
        number = self._names.find(name)
        return None if number is None or self._where[number] == NONE else self._where[number]

    def place(self, index: int) -> int:
        """Returns the place of the record at an index; `NONE` for an index below 0."""
        return self._places[index] if index >= 0 else NONE

    def first(self, index: int) -> int:
        """Returns the first place that one of the records from an index on has; `NONE` where none is."""
        return min((self._places[one] for one in range(index, len(self))), default=NONE)

    def append(self, name: str, place: int) -> None:
        """Puts a name at the end, also one that stands already."""
        number = self._number(name)
        if self._where[number] == NONE:
            self._where[number] = len(self._numbers)
        self._numbers.append(number)
        self._places.append(place)

    def put(self, name: str, place: int) -> int:
        """Gives a name another record where it stands, or puts it at the end; returns its index."""
        number = self._number(name)
        index = self._where[number]
        if index == NONE:
            index = self._where[number] = len(self._numbers)
            self._numbers.append(number)
            self._places.append(place)
        else:
            self._places[index] = place
        return index

    def cut(self, index: int) -> int:
        """Takes the names from an index on away; returns the last place that one of them had, `NONE` if none is."""
        last = NONE
        while len(self._numbers) > index:
            last = max(last, self._places.pop())
            number = self._numbers.pop()
            if self._where[number] == len(self._numbers):
                self._where[number] = NONE
        return last

    def _number(self, name: str) -> int:
        number = self._names.add(name)
        if number == len(self._where):
            self._where.append(NONE)
        return number
