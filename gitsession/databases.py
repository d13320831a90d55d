"""Opens SQLite databases that belong to other programs: for reading, and without a trace in them or beside them.

A database that its program keeps with a write-ahead log is three files: the database, the log (`-wal`) with the changes
that are not in it yet, and an index of the log (`-shm`) by which those agree who have it open. SQLite makes what is
missing of them also for who only reads, and leaves it there. So it depends on what is there how the database is opened:

- The log and its index are there: a program has it open, or ended without closing it. They are used as they are
  (`readonly_shm`). What a live writer does meanwhile is not seen, and neither side hinders the other.
- There is no log, or an empty one: the database is closed, and whole by itself. It is read as a file that does not
  change (`immutable`); if it did change, what was read is thrown away, and it is read again.
- The log is there without its index: only who may write could read it. A copy is read.
- It is kept with no such log: SQLite makes no files for who only reads (`mode=ro`).

The database is somebody's file: its schema may be made to run for ever or to blow a value up, and its pages to lead
round in circles. So it is read for no longer than a sound file of its size can take.
"""

import shutil
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from stat import S_ISREG
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

from gitsession.errors import UnreadableDatabase

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

_MAGIC = b"SQLite format 3\0"
HEAD_BYTES = len(_MAGIC)
"""How much of a file tells whether it is a database."""

# The byte of the head that says whether there is a log, and what it says then.
_KIND = 19
_LOGGED = 2
# How often it is read anew when it changed meanwhile, and how long is waited before that, in seconds.
_ATTEMPTS = 10
_PAUSE = 0.05
# How long is waited for a program that has locked it, in seconds.
_TIMEOUT = 5
# How many steps of SQLite's machine reading may take: for each byte of the files, and besides. A row of an agent's
# has more bytes than it takes steps.
_STEPS_A_BYTE = 20
_STEPS = 1_000_000
# After how many steps is looked, which is also how long a signal waits.
_LOOK = 100_000


class DatabaseFault(Exception):
    """What a reader found wrong with a database; says what is wrong, as the end of a sentence."""


class _Changed(Exception):
    """The database changed while it was read in a way that does not take notice."""


def is_database(head: bytes) -> bool:
    """Tells by the beginning of a file whether it is an SQLite database."""
    return head.startswith(_MAGIC)


def read_database(path: Path, read: Callable[["sqlite3.Connection"], T], part: Path | None = None) -> T:
    """Reads a database in one transaction, and returns what a function makes of it.

    Args:
        path: A file that is an SQLite database.
        read: Reads from a connection. It may be called several times, of which the last one counts.
        part: How an error names what is read, where the damage may be nowhere else.

    Raises:
        UnreadableDatabase: It is locked or damaged, or cannot be read for another reason.
        OSError: The file cannot be read.
    """
    try:
        import sqlite3  # noqa: PLC0415  # few transcripts lie in a database, and some Pythons come without it
    except ImportError as error:
        raise UnreadableDatabase(str(path), "is a database, and this Python comes without `sqlite3`") from error

    # SQLite looks for the other files beside the database itself, not beside a link to it.
    real = path.resolve()
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_PAUSE)
        try:
            return _read(real, read)
        except _Changed:
            continue
        except DatabaseFault as fault:
            raise UnreadableDatabase(str(part or path), str(fault)) from fault
        except sqlite3.OperationalError as error:
            raise UnreadableDatabase(str(path), _hindrance(error)) from error
        except sqlite3.Error as error:
            raise UnreadableDatabase(str(part or path), f"is damaged: {error}") from error
    raise UnreadableDatabase(str(path), "kept changing while it was read; try again")


def _read(real: Path, read: Callable[["sqlite3.Connection"], T]) -> T:
    import sqlite3  # noqa: PLC0415  # as above

    log, index = (real.with_name(real.name + end) for end in ("-wal", "-shm"))
    before = [_state(one) for one in (real, log, index)]
    if before[1] and before[2]:
        try:
            return _connected(real, "mode=ro&readonly_shm=1", read)
        except sqlite3.OperationalError as error:
            # Its program has just opened or closed it, and the index is not yet there or no longer.
            if _code(error) == sqlite3.SQLITE_READONLY or not (_state(log) and _state(index)):
                raise _Changed from error
            raise
    if before[1] and before[1][0]:
        with TemporaryDirectory() as directory:
            copy = Path(directory, "copy")
            shutil.copyfile(real, copy)
            shutil.copyfile(log, copy.with_name("copy-wal"))
            if [_state(one) for one in (real, log, index)] != before:
                raise _Changed
            return _connected(copy, "mode=rw", read)
    with real.open("rb") as file:
        head = file.read(_KIND + 1)
    if head[_KIND:] != bytes([_LOGGED]):
        return _connected(real, "mode=ro", read)
    try:
        found = _connected(real, "mode=ro&immutable=1", read)
    except (sqlite3.Error, DatabaseFault) as error:
        # What was read may have been the one half of the old state and the other half of the new one.
        if _state(real) != before[0]:
            raise _Changed from error
        raise
    if _state(real) != before[0]:
        raise _Changed
    return found


def _state(path: Path) -> tuple[int, ...] | None:
    """Returns what tells that a file has changed, its size first; None where there is none.

    Raises:
        DatabaseFault: It is a pipe, a link or the like, which SQLite might follow.
    """
    try:
        stat = path.lstat()
    except FileNotFoundError:
        return None
    if not S_ISREG(stat.st_mode):
        raise DatabaseFault(f"cannot be read, since {path.name} is no file")
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def _connected(path: Path, how: str, read: Callable[["sqlite3.Connection"], T]) -> T:
    import sqlite3  # noqa: PLC0415  # as above

    size = sum(state[0] for end in ("", "-wal") if (state := _state(path.with_name(path.name + end))))
    left = (_STEPS + _STEPS_A_BYTE * size) // _LOOK

    def look() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    with closing(sqlite3.connect(f"{path.as_uri()}?{how}", uri=True, timeout=_TIMEOUT, isolation_level=None)) as opened:
        # What is no UTF-8 was not written by the program itself; it hides nothing of what was.
        opened.text_factory = lambda raw: raw.decode("utf-8", "replace")
        opened.set_progress_handler(look, _LOOK)
        try:
            # What is wrong with a page is to be noticed before it is used, and a schema is to call no function.
            opened.execute("PRAGMA cell_size_check = ON")
            opened.execute("PRAGMA trusted_schema = OFF")
            opened.execute("BEGIN")
            return read(opened)
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_INTERRUPT:
                raise
            if left >= 0:
                # A signal came while SQLite was at work, which has no other word for it.
                raise KeyboardInterrupt from error
            raise DatabaseFault("is damaged: reading it comes to no end") from error


def _code(error: "sqlite3.Error") -> int:
    """Returns the primary code of an error of SQLite's; 0 for one of Python's own."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _hindrance(error: "sqlite3.OperationalError") -> str:
    import sqlite3  # noqa: PLC0415  # as above

    if _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return "is locked by another program; try again when that is done"
    if _code(error) == sqlite3.SQLITE_READONLY:
        return "was left in the middle of a change; start its own program, which mends that, and try again"
    if _code(error) == sqlite3.SQLITE_CANTOPEN:
        return "cannot be opened, or its -wal and -shm cannot"
    return f"cannot be read: {error}"
