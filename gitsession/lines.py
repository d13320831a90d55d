"""The message lines of one session, kept between loads: a session that grew costs what it grew by."""

import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple, overload

from gitsession.conversation import message_lines
from gitsession.inherited import conversation_deltas, inherited
from gitsession.model import MESSAGE_PREFIX
from gitsession.reading import Reader, State
from gitsession.repo.forking import renew_when_forked
from gitsession.tree import common_count

# The lines of larger deltas are not kept in memory.
_FAR_BYTES = 1024 * 1024


class LoadedLines:
    """The lines of a session as far as they were loaded. May be shared between threads."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.renew()
        renew_when_forked(self)

    def renew(self) -> None:
        """Forgets the lines, in a forked process: a thread of its parent may just have been adding some."""
        self._guard = threading.Lock()
        self._state: State | None = None
        self._lines: list[bytes | FarLine] = []
        self._inherited: tuple[str, ...] = ()

    def at(self, state: State) -> Sequence[bytes]:
        """Returns the lines of a state of the session, read now as far as they are not known.

        Raises:
            Corrupt: Stored data is corrupt.
        """
        with self._guard:
            known = self._state
            found = inherited(self._reader, state)
            if (
                known is None
                or self._inherited != found.key()
                or common_count(self._reader.objects, known.tree, state.tree) < known.tree.count
            ):
                self._lines, known = [], None
            fresh = self._plain(state, 0 if known is None else known.tree.count)
            if fresh is None:
                # Records are folded as a whole, and other entries are looked into.
                self._lines = list[bytes | FarLine](message_lines(conversation_deltas(self._reader, state, found)))
            else:
                self._lines += fresh
            self._state, self._inherited = state, found.key()
            return Window(self._lines, len(self._lines))

    def _plain(self, state: State, start: int) -> "list[bytes | FarLine] | None":
        """Returns the lines from delta `start` on if all are messages that were committed as such; else None."""
        fresh: list[bytes | FarLine] = []
        for content, oid in self._reader.joined(state, start):
            if oid and len(content) > _FAR_BYTES:
                far = list(_far_lines(self._reader, content, oid))
                if None in far:
                    return None
                fresh += filter(None, far)
                continue
            if not content.startswith(MESSAGE_PREFIX) or not content.endswith(b"\n"):
                return None
            lines = content[:-1].split(b"\n")
            if content.count(b"\n" + MESSAGE_PREFIX) != len(lines) - 1:
                return None
            fresh += lines
        return fresh


class FarLine(NamedTuple):
    """A long line, or one of a large delta: it is read when it is looked at, so that the others take little memory.

    Attributes:
        reader: What reads it.
        oid: The delta's blob.
        begin: Where the line begins in it.
        end: Where it ends.
    """

    reader: Reader
    oid: str
    begin: int
    end: int

    def read(self) -> bytes:
        """Returns the line.

        Raises:
            Corrupt: The delta is missing or damaged.
        """
        return self.reader.objects.read(self.oid, "blob")[self.begin : self.end]


def _far_lines(reader: Reader, content: bytes, oid: str) -> Iterator[FarLine | None]:
    """Yields the lines of a delta; None for what is no message that was committed as such."""
    begin = 0
    while begin < len(content):
        end = content.find(b"\n", begin)
        yield FarLine(reader, oid, begin, end) if end > 0 and content.startswith(MESSAGE_PREFIX, begin) else None
        if end < 0:
            return
        begin = end + 1


def _near(line: bytes | FarLine) -> bytes:
    return line if isinstance(line, bytes) else line.read()


class LazyLines(Sequence[bytes]):
    """The lines of a session that was just written, read when they are first looked at."""

    __slots__ = ("_found", "_loaded", "_state")

    def __init__(self, loaded: LoadedLines, state: State) -> None:
        self._loaded = loaded
        self._state = state
        self._found: Sequence[bytes] | None = None

    def _lines(self) -> Sequence[bytes]:
        if self._found is None:
            self._found = self._loaded.at(self._state)
        return self._found

    @overload
    def __getitem__(self, place: int) -> bytes: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[bytes]: ...
    def __getitem__(self, place: int | slice) -> bytes | Sequence[bytes]:
        return self._lines()[place]

    def __len__(self) -> int:
        return len(self._lines())

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._lines())


class Window(Sequence[bytes]):
    """The first lines of a list that only ever grows."""

    __slots__ = ("_length", "_lines")

    def __init__(self, lines: list[bytes | FarLine], length: int) -> None:
        self._lines = lines
        self._length = length

    @overload
    def __getitem__(self, place: int) -> bytes: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[bytes]: ...
    def __getitem__(self, place: int | slice) -> bytes | Sequence[bytes]:
        if isinstance(place, slice):
            lines = [self._lines[one] for one in range(*place.indices(self._length))]
            return Window(lines, len(lines))
        if not -self._length <= place < self._length:
            raise IndexError(place)
        return _near(self._lines[place if place >= 0 else place + self._length])

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[bytes]:
        return map(_near, self._lines[: self._length])
