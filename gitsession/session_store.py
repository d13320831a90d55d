"""The store of one session: the contract with atomic commits and a parent check."""

from collections.abc import Mapping, Sequence
from typing import Any

from gitsession.building import NewDelta
from gitsession.errors import InvalidCommit
from gitsession.jsonl import committed_line, message_line
from gitsession.layout import branch_of
from gitsession.lines import LazyLines, LoadedLines
from gitsession.model import Messages, Session, SessionCommit
from gitsession.reading import Reader
from gitsession.repo.repository import Repository
from gitsession.view import View, view
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

    def __reduce__(self) -> tuple[object, ...]:
        return _bound, (self._reader.repository, self.session_id)

    def load(self) -> Session:
        """Returns the session as it is now; one that was never written has no head and no messages.

        Raises:
            Corrupt: Stored data is corrupt.
            Unavailable: The store could not be reached.
        """
        tip = self._reader.find_tip(self.session_id)
        if tip is None:
            return Session(None)
        state = self._reader.present(self.session_id, tip)
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
        if commit.parent is not None and not isinstance(commit.parent, str):
            raise InvalidCommit("the commit's parent must be a commit id, or None")
        if isinstance(messages, Messages):
            lines = [committed_line(line, place) for place, line in enumerate(messages.lines)]
        else:
            lines = [message_line(message, place) for place, message in enumerate(messages)]
        delta = NewDelta(commit.id, b"\n".join(lines) + b"\n", lambda: _views(messages))
        state = self._writer.commit(self.session_id, delta, commit.parent)
        return Session(state.head, Messages.from_lines(LazyLines(self._lines, state)))


def _bound(repository: Repository, session_id: str) -> SessionStore:
    """Returns the store of a session in another process, made of what it is made of here."""
    reader = Reader(repository)
    return SessionStore(session_id, reader, Writer(repository, reader))


def _views(messages: Sequence[Mapping[str, Any]]) -> list[View]:
    views = [view(message) for message in messages[:100]]
    return views + views[-1:] * (len(messages) - len(views))
