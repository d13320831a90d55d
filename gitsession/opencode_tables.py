"""The tables of opencode's database: whether they are there, and their rows, which may be made by anybody.

A table may be a view that computes for ever, a column may be one that blows itself up, and pages may lead round in
circles. So only tables and columns are read that hold what was written, and of their text no more than the database has
room for.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitsession.databases import DatabaseFault
from gitsession.transcripts.opencode_rows import NEEDED, OPTIONAL, Row

if TYPE_CHECKING:
    from sqlite3 import Connection

_MIGRATIONS = ("__drizzle_migrations", "data_migration", "migration")
# In which a version to come keeps what is said.
_LATER = "session_message"


def fault_of(table: str, row: Row) -> str | None:
    """Returns what is wrong with a row that opencode would not have written; None for nothing."""
    if any(isinstance(value, bytes) for value in row.values()):
        return f"is not as opencode writes it: a row of the table {table} holds bytes"
    if not isinstance(row["id"], str):
        return f"is not as opencode writes it: the id of a row of the table {table} is no text"
    return None


class Tables:
    """opencode's tables in a database that is being read."""

    def __init__(self, opened: "Connection") -> None:
        """Looks for them.

        Raises:
            DatabaseFault: They are others than those that are known here.
        """
        self._opened = opened
        self._left = self._number("PRAGMA page_count") * self._number("PRAGMA page_size")
        self._columns = {table: self._own(table) for table in (*NEEDED, *_MIGRATIONS, _LATER)}
        missing = [f"{table}.{name}" for table in NEEDED for name in NEEDED[table] if name not in self._columns[table]]
        self.are_there = not all(f"session.{name}" in missing for name in ("slug", "project_id"))
        if missing and self.are_there:
            raise DatabaseFault(
                f"was written by a version of opencode that is not known here: there is no {', '.join(missing)} in it"
            )

    def rows(self, table: str, rest: str, *values: str) -> Iterator[Row]:
        """Yields rows of a table, with the columns that are needed of it, and of a session with what else it has.

        Args:
            table: One of `NEEDED`.
            rest: What follows the table's name in the query.
            values: Those of its parameters.
        """
        optional = [name for name in OPTIONAL if table == "session" and name in self._columns[table]]
        names = [*NEEDED[table], *optional]
        query = f"SELECT {', '.join(names)} FROM {table} {rest}"  # noqa: S608  # of words that stand in this package
        for found in self._opened.execute(query, values):
            self._left -= sum(len(value) for value in found if isinstance(value, str | bytes))
            if self._left < 0:
                raise DatabaseFault("is damaged: there is more text in it than it has room for")
            yield dict(zip(names, found, strict=True))

    def sound_rows(self, table: str, rest: str, *values: str) -> Iterator[Row]:
        """Yields what `rows` does.

        Raises:
            DatabaseFault: A row is none that opencode would have written.
        """
        for row in self.rows(table, rest, *values):
            if fault := fault_of(table, row):
                raise DatabaseFault(fault)
            yield row

    def counted(self, of: str, *values: str) -> dict[str, tuple[object, ...]]:
        """Returns how many messages or parts there are of each session, and what changes with each of their times.

        Args:
            of: `message` or `part`.
            values: The id of the session, where it is only one.
        """
        numbers = f"count(*), max({of}.time_updated), sum({of}.time_updated & 1048575)"
        # A part is its message's, whatever session it names itself.
        tables = "message" if of == "message" else "message JOIN part ON part.message_id = message.id"
        where = "WHERE message.session_id = ?" if values else ""
        query = f"SELECT message.session_id, {numbers} FROM {tables} {where} GROUP BY message.session_id"  # noqa: S608  # as above
        return {str(session): tuple(found) for session, *found in self._opened.execute(query, values)}

    def last(self, session: str) -> Row | None:
        """Returns the last message of a session."""
        return next(
            self.rows("message", "WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT 1", session), None
        )

    def is_later(self, session: str) -> bool:
        """Tells whether what is said in a session is kept as a version to come does."""
        query = f"SELECT 1 FROM {_LATER} WHERE session_id = ? AND type IN ('user', 'assistant') LIMIT 1"  # noqa: S608  # as above
        return bool(self._columns[_LATER]) and self._opened.execute(query, [session]).fetchone() is not None

    def migrations(self) -> list[int]:
        """Returns numbers that change with each migration."""
        there = [f"SELECT count(*) FROM {name}" for name in _MIGRATIONS if self._columns[name]]  # noqa: S608  # as above
        return [self._number(query) for query in ("PRAGMA schema_version", *there)]

    def _number(self, query: str) -> int:
        return int(self._opened.execute(query).fetchone()[0])

    def _own(self, table: str) -> set[str]:
        """Returns the columns of a table that hold what was written; none of what is no table."""
        query = "SELECT 1 FROM sqlite_master WHERE name = ? AND type = 'table' AND rootpage > 0"
        if self._opened.execute(query, [table]).fetchone() is None:
            return set()
        return {row[1] for row in self._opened.execute(f"PRAGMA table_xinfo({table})") if not row[6]}
