r"""A text without the escapes that JSON writes for letters: what `\u0070` or `\/` stands for, and where it stood."""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Self

# Of what may stand in a secret, and of line ends; also in JSON within JSON. A quote and a backslash stay escapes, so
# that strings still end where they did.
_ESCAPE = re.compile(rb"\\++(?:u00(0[9aAdD]|2[013-9a-fA-F]|[346][0-9a-fA-F]|5[0-9abd-fABD-F]|7[0-9a-eA-E])|/)")

# Whether there is any; quicker than to look for each, and much quicker than what is exact.
_ANY = re.compile(rb"\\(?:u00|/)")


@dataclass(frozen=True, slots=True)
class Unescaped:
    """A text without escapes.

    Attributes:
        text: What is left; each escape is one byte in it.
    """

    text: bytes
    _places: list[int]  # of the escapes in it
    _starts: list[int]  # where they began in the whole text
    _ends: list[int]

    @classmethod
    def of(cls, text: bytes) -> Self | None:
        """Returns a text without its escapes; None where it has none."""
        if _ANY.search(text) is None:
            return None
        parts: list[bytes] = []
        places: list[int] = []
        starts: list[int] = []
        ends: list[int] = []
        size = last = 0
        for match in _ESCAPE.finditer(text):
            size += match.start() - last
            parts += [text[last : match.start()], bytes([int(match[1], 16)]) if match[1] else b"/"]
            places.append(size)
            starts.append(match.start())
            last = match.end()
            ends.append(last)
            size += 1
        return cls(b"".join([*parts, text[last:]]), places, starts, ends) if places else None

    def start(self, place: int) -> int:
        """Returns where in the whole text that begins which begins here in this one."""
        number = bisect_right(self._places, place) - 1
        if number >= 0 and self._places[number] == place:
            return self._starts[number]
        return self._behind(number, place)

    def end(self, place: int) -> int:
        """Returns where in the whole text that ends which ends here in this one."""
        return self._behind(bisect_left(self._places, place) - 1, place)

    def _behind(self, number: int, place: int) -> int:
        return place if number < 0 else self._ends[number] + place - self._places[number] - 1
