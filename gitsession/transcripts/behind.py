"""What can be read behind a damaged message of a document, where all that follows it is one piece of text.

In a document that is printed over lines each message begins one, behind the same blanks. In any other the messages
behind the damage are those from which on everything is in order: one follows the other to the end of their array, what
stands around it is a whole document, and the array was opened before the damage. So no list within a message, and none
beside the messages, is taken for them. What stands between two damaged messages cannot be told from what is within one,
and is left.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from gitsession.transcripts.records import measure

# How many messages may be damaged until those behind them are given up.
_MOST_MISSED = 16
# How often the text may be gone through.
_MOST_PASSES = 16
# As many characters behind the messages are read at first; more where these do not tell whether the document ends.
_FEW = 1024
# What is cut may be at fault so far before its end: a word, a number or an escape, from its beginning on.
_CUT = 16
# What stands before a message.
_BEFORE = re.compile("[ \t\r\n,]*")
_BLANKS = re.compile("[ \t\r\n]*")
_NEXT = re.compile(r",[ \t\r\n]*(?=\{)")


def messages_behind(head: str, before: str, tail: str) -> Iterator[str]:
    """Yields the texts of the messages that can be read behind a damaged one.

    Args:
        head: The document up to its messages, with the bracket that opens their array.
        before: A message before the damage with what stands before it; "" where the first one is damaged.
        tail: What stands from the damaged message on.
    """
    blanks = before[: _end(_BEFORE, before, 0)]
    yield from _on_lines(blanks, tail) if "\n" in blanks else _Search(head, tail).up_to_the_end()


def _on_lines(blanks: str, tail: str) -> Iterator[str]:
    place = tail.find(blanks + "{", 1)
    missed = 0
    while place >= 0 and missed < _MOST_MISSED:
        place += len(blanks)
        try:
            end = measure.raw_decode(tail, place)[1]
        except (json.JSONDecodeError, RecursionError):
            missed, end = missed + 1, place
        else:
            yield tail[place:end]
        place = tail.find(blanks + "{", end)


class _Text(str):
    """A text whose lines are not counted: `json` would count them, from its beginning on, with each fault it finds."""

    __slots__ = ()

    def count(self, *_: Any) -> int:
        """Tells of no line."""
        return 0

    def rfind(self, *_: Any) -> int:
        """Finds no line."""
        return -1


class _TooLong(Exception):
    """The text was gone through as often as it may be."""


class _Search:
    """The search for the place from which on all that follows is in order."""

    def __init__(self, head: str, tail: str) -> None:
        self._head = head
        self._tail = _Text(tail)
        self._left = _MOST_PASSES * (len(head) + len(tail))  # how many characters may still be looked at
        self._passed = 0  # how far the last value was read, or what was none
        self._tried: set[int] = set()  # where an object begins from which on not all is in order

    def up_to_the_end(self) -> list[str]:
        """Returns the messages from that place on; none where there is no such place."""
        if self._tail[_end(_BLANKS, self._tail, 0) :].startswith("]"):
            return []  # it is no message that is damaged
        try:
            for match in _NEXT.finditer(self._tail, 1):
                if found := self._messages_from(match.end()):
                    within = self._is_within_what_follows(found[0][0], found[-1][1])
                    return [] if within else [self._tail[begin:end] for begin, end in found]
        except _TooLong:
            pass
        return []

    def _messages_from(self, place: int) -> list[tuple[int, int]]:
        """Returns where the objects from a place on begin and end, if all is in order from there on."""
        found: list[tuple[int, int]] = []
        while place not in self._tried:
            self._tried.add(place)
            end = self._value_end(self._tail, place)
            if end is None:
                return []
            found.append((place, end))
            if match := _NEXT.match(self._tail, _end(_BLANKS, self._tail, end)):
                place = match.end()
            else:
                return found if self._is_end(end) else []
        return []

    def _is_end(self, place: int) -> bool:
        """Tells whether the array of the messages ends here, and a whole document with it."""
        close = _end(_BLANKS, self._tail, place)
        if not self._tail.startswith("]", close):
            return False
        begin = close - len(self._head)  # where the whole document would begin in the text
        shown = _FEW
        while True:
            whole = _Text(self._head + self._tail[close : close + shown])
            end = self._value_end(whole, 0)
            if end is not None:
                return _end(_BLANKS, self._tail, begin + end) == len(self._tail)
            if close + shown >= len(self._tail) or self._passed < len(whole) - _CUT:
                return False
            shown *= 2

    def _is_within_what_follows(self, first: int, last: int) -> bool:
        """Tells whether the array that holds some objects begins behind the damage.

        Args:
            first: Where the first of them begins.
            last: Where the last one ends.
        """
        close = _end(_BLANKS, self._tail, last) + 1
        place = self._tail.find("[", 0, first)
        while place >= 0:
            if self._value_end(self._tail, place) == close:
                return True
            place = self._tail.find("[", place + 1, first)
        return False

    def _value_end(self, text: "_Text", place: int) -> int | None:
        """Returns where the value ends that begins at a place; None where there is none that ends."""
        end: int | None = None
        try:
            self._passed = end = measure.raw_decode(text, place)[1]
        except json.JSONDecodeError as error:
            self._passed = len(text) if error.msg.startswith("Unterminated") else error.pos
        except RecursionError:
            self._passed = len(text)
        self._left -= self._passed - place + 1
        if self._left < 0:
            raise _TooLong
        return end


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    return pattern.match(text, place).end()  # type: ignore[union-attr]  # it matches nothing at least
