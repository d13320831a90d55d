"""The store of one session: the contract with atomic commits and a parent check."""

import threading
from collections.abc import Iterator, Sequence
from typing import overload

from gitsession.building import NewDelta
from gitsession.conversation import entry_view, message_lines
from gitsession.errors import InvalidCommit
from gitsession.jsonl import committed_line, message_line
from gitsession.layout import branch_of
from gitsession.model import MessageEntry, Messages, Session, SessionCommit
from gitsession.reading import Reader, State
from gitsession.view import View
from gitsession.writing import Writer


class SessionStore:
    """One session of a store: `load` it, `commit` to it. May be shared between threads.

    Attributes:
        session_id: The session's id.
    """

    def __init__(self, session_id: str, reader: Reader, writer: Writer) -> None:
        branch_of(session_id)
        self.session_id = session_id
        self._reader = reader
        self._writer = writer
        self._lines = LoadedLines(reader)

    def load(self) -> Session:
        """Returns the session as it is now; one that was never written has no head and no messages.

        Raises:
            Corrupt: Stored data is corrupt.
            Unavailable: The store could not be reached.
        """
        tip = self._reader.find_tip(self.session_id)
        if tip is None:
            return Session(None)
        state = self._reader.state(self.session_id, tip)
        return Session(state.head, Messages.from_lines(self._lines.at(state)))

    def commit(self, commit: SessionCommit) -> Session:
        """Stores a commit, whole or not at all, and returns the session that results.

        A commit that the session holds already, with the same parent and the same messages, changes nothing and
        returns the session as it is now. So after `Unavailable`, whose outcome is unknown, the same commit may be
        tried again.

        Raises:
            ParentConflict: The commit's parent is not the head.
            Corrupt: The session holds the id with another parent or other messages; or stored data is corrupt.
            InvalidCommit: It has no messages, an unusable id, or a message that is no JSON object.
            Unavailable: The store could not finish.
        """
        messages = commit.messages
        if not messages:
            raise InvalidCommit("the commit has no messages")
        if isinstance(messages, Messages):
            lines = [committed_line(line, place) for place, line in enumerate(messages.lines)]
        else:
            lines = [message_line(message, place) for place, message in enumerate(messages)]
        delta = NewDelta(commit.id, b"\n".join(lines) + b"\n", lambda: _views(lines))
        state = self._writer.commit(self.session_id, delta, commit.parent)
        return Session(state.head, Messages.from_lines(self._lines.after(state)))


class LoadedLines:
    """The message lines of a session, kept between loads: a session that grew costs what it grew by."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._guard = threading.Lock()

    def at(self, state: State) -> Sequence[bytes]:
        """Returns the lines of a session, read now."""
        return tuple(message_lines(self._reader.deltas(state)))

    def after(self, state: State) -> Sequence[bytes]:
        """Returns the lines of a session that was just written, read when they are looked at."""
        return LazyLines(self, state)


class LazyLines(Sequence[bytes]):
    """Lines that are read from the store when they are first looked at."""

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


def _views(lines: Sequence[bytes]) -> list[View]:
    made = Messages.from_lines(lines[:100])
    views = [entry_view(MessageEntry(message, "", None, "")) for message in made]
    return views + views[-1:] * (len(lines) - len(views))
