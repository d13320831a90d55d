"""Databases of other programs: read as they are at that moment, and left without a trace."""

import os
import signal
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from gitsession import UnreadableDatabase, databases
from gitsession.databases import is_database, read_database
from tests.opencode_databases import untouched


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits for nobody."""
    monkeypatch.setattr(databases, "_TIMEOUT", 0)
    monkeypatch.setattr(databases, "_PAUSE", 0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "there").mkdir()
    return tmp_path / "there" / "some #%? 1.db"


def opened(path: Path, log: bool = True) -> sqlite3.Connection:
    """Returns the connection of the program that the database belongs to."""
    connection = sqlite3.connect(path, isolation_level=None)
    if log:
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE t (n)")
    connection.execute("INSERT INTO t VALUES (1)")
    return connection


def read(path: Path) -> list[int]:
    return read_database(path, lambda found: [n for (n,) in found.execute("SELECT n FROM t ORDER BY n")])


def files(path: Path) -> list[str]:
    return sorted(file.name.removeprefix(path.name) for file in path.parent.iterdir())


def killed(path: Path) -> None:
    """Leaves what a program leaves that ends without closing its database."""
    connection = opened(path)
    left = {file: file.read_bytes() for file in path.parent.iterdir()}
    connection.close()
    for file, content in left.items():
        file.write_bytes(content)


def closed(path: Path) -> None:
    opened(path).close()


def killed_with_an_empty_log(path: Path) -> None:
    connection = opened(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    left = {file: file.read_bytes() for file in path.parent.iterdir()}
    connection.close()
    for file, content in left.items():
        file.write_bytes(content)


def without_index(path: Path) -> None:
    killed(path)
    path.with_name(f"{path.name}-shm").unlink()


def with_empty_log(path: Path) -> None:
    closed(path)
    path.with_name(f"{path.name}-wal").touch()


def with_index_alone(path: Path) -> None:
    killed(path)
    closed_copy = path.with_name("copy")
    closed(closed_copy)
    closed_copy.replace(path)
    path.with_name(f"{path.name}-wal").unlink()


def without_log(path: Path) -> None:
    opened(path, log=False).close()


STATES = [
    (killed, ["", "-shm", "-wal"]),
    (killed_with_an_empty_log, ["", "-shm", "-wal"]),
    (closed, [""]),
    (without_index, ["", "-wal"]),
    (with_empty_log, ["", "-wal"]),
    (with_index_alone, ["", "-shm"]),
    (without_log, [""]),
]


@pytest.mark.parametrize(("leave", "there"), STATES, ids=[leave.__name__ for leave, _ in STATES])
def test_what_a_program_left_is_read_and_stays_as_it_is(
    path: Path, leave: Callable[[Path], None], there: list[str]
) -> None:
    leave(path)
    assert files(path) == there
    with untouched(path):
        assert read(path) == [1]
    link = path.parent.parent / "link.db"
    link.symlink_to(path)
    with untouched(link), untouched(path):
        assert read(link) == [1]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
@pytest.mark.parametrize("leave", [leave for leave, _ in STATES], ids=[leave.__name__ for leave, _ in STATES])
def test_a_directory_that_may_not_be_written_to_is_no_hindrance(path: Path, leave: Callable[[Path], None]) -> None:
    leave(path)
    for file in path.parent.iterdir():
        file.chmod(0o400)
    path.parent.chmod(0o500)
    assert read(path) == [1]
    path.parent.chmod(0o700)


def test_a_program_that_has_it_open_is_not_hindered_and_seen_up_to_its_last_commit(path: Path) -> None:
    program = opened(path)
    program.execute("BEGIN IMMEDIATE")
    program.execute("INSERT INTO t VALUES (2)")
    with untouched(path):
        assert read(path) == [1]
    program.execute("COMMIT")
    assert read(path) == [1, 2]

    def read_while_it_goes_on(found: sqlite3.Connection) -> list[int]:
        before = found.execute("SELECT count(*) FROM t").fetchone()
        program.execute("INSERT INTO t VALUES (3)")
        program.execute("PRAGMA wal_checkpoint(PASSIVE)")
        return [*before, *found.execute("SELECT count(*) FROM t").fetchone()]

    assert read_database(path, read_while_it_goes_on) == [2, 2]
    assert read(path) == [1, 2, 3]
    program.close()
    assert files(path) == [""]


def test_a_closed_database_that_changes_meanwhile_is_read_again(path: Path) -> None:
    closed(path)
    seen = []

    def read_and_change(found: sqlite3.Connection) -> int:
        seen.append(found.execute("SELECT count(*) FROM t").fetchone()[0])
        if len(seen) == 1:
            with sqlite3.connect(path) as program:
                program.execute("INSERT INTO t VALUES (2)")
            program.close()
            raise sqlite3.DatabaseError("what comes of half a state")
        return seen[-1]

    assert read_database(path, read_and_change) == 2
    assert len(seen) == 2


def test_one_that_keeps_changing_is_given_up(path: Path) -> None:
    closed(path)

    def read_and_change(found: sqlite3.Connection) -> None:
        with sqlite3.connect(path) as program:
            program.execute("INSERT INTO t VALUES (2)")
        program.close()

    with pytest.raises(UnreadableDatabase, match="kept changing while it was read; try again"):
        read_database(path, read_and_change)


@pytest.mark.parametrize("log", [True, False])
def test_one_that_is_locked_is_told_as_such(path: Path, log: bool) -> None:
    program = opened(path, log)
    program.execute("PRAGMA locking_mode = EXCLUSIVE")
    program.execute("BEGIN EXCLUSIVE")
    program.execute("INSERT INTO t VALUES (2)")
    with pytest.raises(UnreadableDatabase, match="is locked by another program; try again when that is done"):
        read(path)
    program.close()


def test_a_change_that_was_left_half_done_is_told_as_such(path: Path) -> None:
    program = opened(path, log=False)
    program.execute("PRAGMA cache_size = 1")
    program.execute("BEGIN")
    program.execute(
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 90000) INSERT INTO t SELECT n FROM c"
    )
    left = {file: file.read_bytes() for file in path.parent.iterdir()}
    program.close()
    for file, content in left.items():
        file.write_bytes(content)
    with untouched(path), pytest.raises(UnreadableDatabase, match="was left in the middle of a change"):
        read(path)


def test_damage_is_told_as_such(path: Path) -> None:
    closed(path)
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * 4096)
    with pytest.raises(UnreadableDatabase, match=r"\.db: is damaged: ") as caught:
        read(path)
    assert caught.value.path == str(path)
    path.write_bytes(content[:100])
    with pytest.raises(UnreadableDatabase, match="is damaged: "):
        read(path)


def test_a_link_beside_it_is_not_followed(path: Path) -> None:
    killed(path)
    log = path.with_name(f"{path.name}-wal")
    log.rename(path.parent.parent / "log")
    log.symlink_to(path.parent.parent / "log")
    with pytest.raises(UnreadableDatabase, match="-wal is no file"):
        read(path)


def test_reading_that_comes_to_no_end_is_ended(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "_STEPS", 100_000)
    closed(path)
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"
    with pytest.raises(UnreadableDatabase, match="is damaged: reading it comes to no end"):
        read_database(path, lambda found: found.execute(endless).fetchone())


def test_a_signal_ends_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "_STEPS", 10**12)
    closed(path)
    began = threading.Event()
    sender = threading.Thread(target=lambda: began.wait() and os.kill(os.getpid(), signal.SIGINT))
    sender.start()

    def read_without_end(found: sqlite3.Connection) -> None:
        began.set()
        found.execute("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT 1 FROM c) SELECT count(*) FROM c").fetchone()

    with pytest.raises(KeyboardInterrupt):
        read_database(path, read_without_end)
    sender.join()


@pytest.mark.parametrize(
    ("head", "expected"), [(b"SQLite format 3\0\x10", True), (b"SQLite format 2", False), (b"", False)]
)
def test_it_is_recognised_by_its_head(head: bytes, expected: bool) -> None:
    assert is_database(head) == expected
