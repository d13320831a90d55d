"""Finds the arrays in a JSON document that messages may be in, without holding more of it than one element."""

import io
import json
from array import array
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import BinaryIO

from gitsession.transcripts.records import measure
from gitsession.transcripts.window import Window

# In how much of a file a document must begin.
_HEAD_BYTES = 64 * 1024

Paths = Sequence[tuple[str, ...]]
"""Where the array may be: keys from the outermost object inwards; no key at all for an array that is the document."""


@dataclass(slots=True)
class Elements:
    """The elements of an array that was found.

    Attributes:
        start: Where they begin, in bytes: after the bracket.
        ends: Where each of them ends.
        closed: Whether the array ends properly after the last one.
        depth: How many arrays and objects they lie in.
        passed: How many bytes stand before the document that they lie in, and are no part of it.
    """

    start: int
    depth: int
    ends: "array[int]" = field(default_factory=lambda: array("Q"))
    closed: bool = False
    passed: int = 0

    @property
    def end(self) -> int:
        """Where the last one ends."""
        return self.ends[-1] if self.ends else self.start


def find(stream: BinaryIO, paths: Paths) -> dict[int, Elements]:
    """Returns the arrays that are found on some of the paths, by their numbers; the first path is the one that counts.

    Lines of text before the document are passed over, such as a program's notices: see `beginning`.

    Args:
        stream: The document, open for reading bytes, at its beginning; it is gone back in.
        paths: Where the array may be. One that comes after the first that was found may be missing.
    """
    found = _Search(Window(stream), paths).found
    # What looks like an array may be the beginning of a notice.
    if any(one.ends or one.closed for one in found.values()):
        return found
    stream.seek(0)
    if passed := beginning(stream.read(_HEAD_BYTES)):
        stream.seek(passed)
        later = _Search(Window(stream, passed), paths).found
        for elements in later.values():
            elements.passed = passed
        found = later or found
    return found


def holds_array(stream: BinaryIO, paths: Paths) -> bool:
    """Tells whether there is an array on one of the paths, as far as can be seen."""
    if _Search(Window(stream), paths, only_starts=True).found:
        return True
    stream.seek(0)
    passed = beginning(stream.read(_HEAD_BYTES))
    stream.seek(passed)
    return passed > 0 and bool(_Search(Window(stream, passed), paths, only_starts=True).found)


def beginning(head: bytes) -> int:
    """Returns where the first line begins that can be the beginning of a document; 0 if that is the first, or none.

    Args:
        head: The beginning of a file.
    """
    place = 0
    for line in io.BytesIO(head[:_HEAD_BYTES]):
        text = line.decode("utf-8", "surrogateescape").strip("\ufeff \t\r\n")
        if text.startswith(("{", "[")):
            try:
                could_go_on = measure.raw_decode(text)[1] == len(text)
            except json.JSONDecodeError as error:
                could_go_on = error.pos >= len(text) or error.msg.startswith("Unterminated")
            except RecursionError:
                could_go_on = False
            if could_go_on:
                return place
        place += len(line)
    return 0


class _Settled(Exception):
    """No array that follows would be a better one."""


class _Search:
    """The search for arrays on several paths, in one walk over the outermost object.

    Attributes:
        found: Those that were found, by the numbers of their paths.
    """

    def __init__(self, window: Window, paths: Paths, *, only_starts: bool = False) -> None:
        """Goes through a document as far as an array can be found that is better than those before it.

        Args:
            window: Its beginning.
            paths: Where arrays are looked for, the best first.
            only_starts: Whether any array will do, and its elements are of no interest.
        """
        self.found: dict[int, Elements] = {}
        self._window = window
        self._only_starts = only_starts
        self._open = {*range(len(paths))}  # the paths that may still be found
        # Where it is no JSON any more, nothing can be found.
        with suppress(ValueError, _Settled):
            window.skip_blanks()
            self._value(dict(enumerate(paths)), 0)

    def _value(self, wanted: Mapping[int, tuple[str, ...]], depth: int) -> None:
        """Passes over a value, in which arrays are looked for on the paths that are left."""
        inner = {number: path for number, path in wanted.items() if path}
        here = min(wanted.keys() - inner.keys(), default=None)
        if here is not None and self._window.at("["):
            self._array(here, depth)
        elif inner and self._window.at("{"):
            self._object(inner, depth)
        else:
            self._window.value()
        self._open -= wanted.keys()
        if wanted and not any(number < min(self.found, default=number + 1) for number in self._open):
            raise _Settled

    def _object(self, wanted: Mapping[int, tuple[str, ...]], depth: int) -> None:
        window = self._window
        self._expect("{")
        more = not window.at("}")
        while more:
            if not window.at('"'):
                raise ValueError("a name is expected")
            name = window.value()
            window.skip_blanks()
            self._expect(":")
            # The first of several values of one name is the one that is looked into.
            self._value({number: path[1:] for number, path in wanted.items() if path[0] == name}, depth + 1)
            wanted = {number: path for number, path in wanted.items() if path[0] != name}
            window.skip_blanks()
            more = not window.at("}")
            if more:
                self._expect(",")
        window.step()

    def _expect(self, character: str) -> None:
        if not self._window.at(character):
            raise ValueError(f"{character} is expected")
        self._window.step()
        self._window.skip_blanks()

    def _array(self, number: int, depth: int) -> None:
        window = self._window
        window.step()
        elements = self.found[number] = Elements(window.offset, depth + 1)
        if self._only_starts:
            raise _Settled
        ends = elements.ends
        while True:
            window.skip_blanks()
            if ends and window.at(","):
                window.step()
                window.skip_blanks()
            elif ends or window.at("]"):
                self._expect("]")
                elements.closed = True
                return
            window.value()
            ends.append(window.offset)
