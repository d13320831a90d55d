"""opencode's database with something odd in one column of one row: that session is told or taken, the rest is taken."""

import re
from pathlib import Path
from typing import Any

import pytest

from gitsession import ImportFailure, ImportResult, Store, UnreadableDatabase, import_transcripts, scan, verify
from gitsession.opencode_database import find_sessions
from gitsession.transcripts.opencode_rows import NEEDED, OPTIONAL
from tests.importing import new_store, original
from tests.opencode_databases import DATABASE, SCHEMA, printed, simple

# SQLite takes any of them in any column, unless the table is strict.
ODD = {
    "bytes": b"\xff",
    "text as bytes": b"text",
    "nothing": None,
    "a number": 7,
    "a large number": 2**63 - 1,
    "a negative number": -(2**63),
    "a fraction": 0.5,
    "infinity": float("inf"),
    "empty text": "",
    "other text": "text",
    "NUL": "a\0b",
    "an array": "[]",
    "an object": "{}",
    "a lone surrogate": '"\\ud83d"',
    "deep nesting": "[" * 5000 + "]" * 5000,
    "a large integer": "9" * 5000,
}
NO_UTF_8 = "no UTF-8"
COLUMNS = [
    *(("session", name) for name in (*NEEDED["session"], *OPTIONAL)),
    *((table, name) for table in ("message", "part") for name in NEEDED[table]),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Returns a database in which nothing says what a column may hold."""
    path = tmp_path_factory.mktemp("odd") / DATABASE
    loose = re.sub(r"\b(?:text|integer|real|PRIMARY KEY|NOT NULL)(?=[\s,)])", "", SCHEMA)
    simple(path, loose.replace("id ,", "id,")).close()
    return path.read_bytes()


@pytest.fixture
def store(store_path: Path) -> Store:
    return new_store(store_path)


def spoilt(path: Path, made: bytes, table: str, column: str, how: str) -> Path:
    import sqlite3  # noqa: PLC0415

    path.write_bytes(made)
    opened = sqlite3.connect(path, isolation_level=None)
    opened.execute("PRAGMA synchronous = OFF")
    row = {"session": "ses_1", "message": "msg_1", "part": "prt_1"}[table]
    value: Any = ODD.get(how)
    mark = "CAST(x'61ff62' AS TEXT)" if how == NO_UTF_8 else "?"
    opened.execute(f"UPDATE {table} SET {column} = {mark} WHERE id = ?", [*([] if how == NO_UTF_8 else [value]), row])
    opened.close()
    return path


@pytest.mark.parametrize(("table", "column"), COLUMNS, ids=".".join)
def test_one_odd_value_loses_no_other_session(
    store: Store, tmp_path: Path, made: bytes, table: str, column: str
) -> None:
    for number, how in enumerate((*ODD, NO_UTF_8)):
        directory = tmp_path / str(number)
        directory.mkdir()
        path = spoilt(directory / DATABASE, made, table, column, how)
        results = [*import_transcripts(store, path)]
        taken = {one.path.name: one for one in results if isinstance(one, ImportResult)}
        failed = [one for one in results if isinstance(one, ImportFailure)]
        assert "ses_2" in taken, (how, failed)
        assert original(store, taken["ses_2"].session) == printed("ses_2"), how
        for one in failed:
            assert isinstance(one.error, UnreadableDatabase), how
            assert one.path.parent == path, how
            assert str(one.error).startswith(f"{one.path}: "), how
            assert str(one.error).isprintable(), how
        if (table, column) in (("session", "id"), ("message", "session_id"), ("part", "message_id")):
            continue  # what it belongs to is not known
        assert len(taken) + len(failed) == 2, how
        assert len(find_sessions(path)) == 2, how
    assert [*verify(store)] == [*scan(store)] == []
