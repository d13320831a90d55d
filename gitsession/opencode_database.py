"""The sessions in opencode's database, each as the document that `opencode export` prints of it.

A session is named as if the database were a directory, and it a file there: `opencode.db/ses_48c1f0a2bffeX1`.

Whether a session has changed is told without reading its messages: by its own row, and by the number and the times of
the rows of its messages and parts. opencode sets the time of a row whenever it writes one; as it may write twice in one
millisecond, a session that changed within two seconds before it was looked at may have changed since. A migration
changes rows and leaves their times, but has a row of its own. What somebody changes by hand shows when opencode goes on
with the session.

A session changes many times in a turn, and each time the whole of it has to be read: who follows it may leave it until
the turn is over.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast
from urllib.parse import quote, unquote

from gitsession.databases import HEAD_BYTES, DatabaseFault, is_database, read_database
from gitsession.errors import UnknownTranscript, UnreadableDatabase
from gitsession.files import listing
from gitsession.import_cache import Look
from gitsession.opencode_tables import Tables, fault_of
from gitsession.transcripts.opencode_rows import Row, StrangeRow, document, is_over

if TYPE_CHECKING:
    from sqlite3 import Connection

# A row that changed since then may have changed again in the same millisecond.
_RACY_MS = 2000
# A turn in which nothing was written for so long has been given up.
_GIVEN_UP_MS = 10 * 60 * 1000
# What its databases are called; OPENCODE_DB gives one another name.
_NAMES = ("opencode.db", "opencode-*.db")
# What is kept in memory of a document before it is written to a temporary file, in bytes.
_SPOOLED = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session in a database, as it was looked at.

    Attributes:
        database: The database.
        id: The id of the session.
        look: What tells that it has not changed.
        is_at_work: Whether the agent is at work on it, as it seems: a turn has begun and is not over.
        fault: Why it cannot be read, if that shows in its own row.
    """

    database: Path
    id: str
    look: Look
    is_at_work: bool
    fault: str | None = None

    @property
    def path(self) -> Path:
        """How the session is called."""
        return _named(self.database, self.id)


class _Seen(NamedTuple):
    """What tells that a session has not changed, and when its rows changed last, in milliseconds since 1970."""

    id: str
    state: str
    newest: int
    is_at_work: bool
    fault: str | None


def find_sessions(path: Path, only: str | None = None) -> list[StoredSession]:
    """Returns the sessions in a database, in the order in which they were made.

    Args:
        path: The database.
        only: The id of a session; no other is looked at.

    Raises:
        UnknownTranscript: It is none of opencode's, or has no session, or not this one.
        UnreadableDatabase: It is locked, damaged, or of a version that is not known here.
        OSError: The file cannot be read.
    """
    found = read_database(path, lambda opened: _sessions(opened, only))
    if found is None:
        raise UnknownTranscript(str(path), "is an SQLite database, and none in which opencode keeps sessions")
    if not found and only is not None:
        raise UnknownTranscript(str(_named(path, only)), "is no session of this database")
    if not found:
        reason = "is a database of opencode's without a session"
        raise UnknownTranscript(str(path), reason, without_sessions=True)
    size = path.stat().st_size // len(found)
    return [StoredSession(path, seen.id, _look(path, seen, size), seen.is_at_work, seen.fault) for seen in found]


def refuse_spoilt(path: Path) -> None:
    """Looks at the name of a file that is no database.

    Raises:
        UnreadableDatabase: It is called as opencode's databases are.
    """
    if any(map(path.match, _NAMES)):
        raise UnreadableDatabase(str(path), "is called as opencode's database, and is none")


def find_session(path: Path) -> StoredSession | None:
    """Returns the session that a path names; None where it does not lead into a database.

    Raises:
        as `find_sessions`.
    """
    if not path.parent.is_file():
        return None
    with path.parent.open("rb") as file:
        found = is_database(file.read(HEAD_BYTES))
    return find_sessions(path.parent, unquote(path.name))[0] if found else None


@contextmanager
def open_session(session: StoredSession) -> Iterator[tuple[BinaryIO, Look]]:
    """Opens the document of a session for reading bytes, and tells what the session looked like when it was read.

    The document is written to a temporary file first, so that the database is read in one go: a program that has it
    open cannot clear its log away meanwhile.

    Raises:
        as `find_sessions`.
    """
    if session.fault is not None:
        raise UnreadableDatabase(str(session.path), session.fault)
    with SpooledTemporaryFile(_SPOOLED) as spooled:
        file = cast("BinaryIO", spooled)
        seen = read_database(session.database, lambda opened: _copy(opened, session.id, file), session.path)
        file.seek(0)
        yield file, _look(session.database, seen, session.look.size)


def belonging(sessions: Sequence[StoredSession]) -> Iterator[Path]:
    """Yields what is no transcript of its own beside a database: its log, and the older sessions that it took over.

    Older versions kept a session in a folder. A newer one takes them over when it runs for the first time, and leaves
    them as they are.
    """
    for database in {one.database for one in sessions}:
        yield from (database.with_name(database.name + end) for end in ("-wal", "-shm"))
        folders = database.parent / "storage" / "session"
        names = {f"{one.id}.json" for one in sessions if one.database == database}
        for project in listing(folders):
            yield from (folders / project / name for name in listing(folders / project) if name in names)


def _named(database: Path, session: str) -> Path:
    """Returns how a session is called, whose id may be anything: never the name of another file."""
    name = quote(session, safe="")
    return database / (name if name.strip(".") else name.replace(".", "%2E") or "%")


def _look(database: Path, seen: _Seen, size: int) -> Look:
    path = os.path.abspath(_named(database, seen.id))  # noqa: PTH100  # as that of a file
    return Look(path, seen.state, size, racy=time.time_ns() // 1_000_000 - seen.newest < _RACY_MS)


def _sessions(opened: "Connection", only: str | None) -> list[_Seen] | None:
    """Returns the sessions in a database; None where it is none of opencode's."""
    import sqlite3  # noqa: PLC0415  # few transcripts lie in a database, and some Pythons come without it

    tables = Tables(opened)
    if not tables.are_there:
        return None
    values = () if only is None else (only,)
    unsure = 0
    try:
        counted = [tables.counted(of, *values) for of in ("message", "part")]
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:
        # It is damaged somewhere. Each session by itself shows whether that is in it; and none is remembered.
        counted, unsure = [], time.time_ns()
    migrations = tables.migrations()
    where = "" if only is None else "WHERE id = ?"
    found = []
    for row in tables.rows("session", f"{where} ORDER BY time_created, id", *values):
        fault = fault_of("session", row)
        numbers = [one.get(str(row["id"]), ()) for one in counted]
        state = sha256(repr([migrations, row, numbers]).encode("utf-8", "surrogatepass")).hexdigest()
        times = [unsure, row["time_updated"], *(one[1] for one in numbers if one)]
        newest = max((at for at in times if isinstance(at, int)), default=0)
        is_recent = time.time_ns() // 1_000_000 - newest < _GIVEN_UP_MS
        is_at_work = is_recent and not fault and not is_over(tables.last(str(row["id"])))
        found.append(_Seen(str(row["id"]), state, newest, is_at_work, fault))
    return found


def _copy(opened: "Connection", session: str, file: BinaryIO) -> _Seen:
    """Writes the document of a session into a file, which may hold what was written before."""
    file.seek(0)
    file.truncate()
    found = _sessions(opened, session)
    tables = Tables(opened)
    rows = [*tables.sound_rows("session", "WHERE id = ?", session)]
    if not found or not rows:
        raise DatabaseFault("is no longer in the database")
    try:
        file.writelines(document(rows[0], _messages(tables, session)))
    except StrangeRow as error:
        raise DatabaseFault(str(error)) from error
    return found[0]


def _messages(tables: Tables, session: str) -> Iterator[tuple[Row, Iterator[Row]]]:
    """Yields the messages of a session in the order of an export, each with its parts."""
    row = None
    for row in tables.sound_rows("message", "WHERE session_id = ? ORDER BY time_created, id", session):
        yield row, tables.sound_rows("part", "WHERE message_id = ? ORDER BY id", row["id"])
    if row is None and tables.is_later(session):
        raise DatabaseFault("keeps what was said as a version of opencode does that is not known here")
