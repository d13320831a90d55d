"""opencode's database where it is not as it should be: one bad thing hides no other, and each is told."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitsession import (
    ImportFailure,
    ImportResult,
    Store,
    UnknownTranscript,
    UnreadableDatabase,
    databases,
    holds_transcripts,
    import_transcripts,
    opencode_database,
)
from gitsession.opencode_database import StoredSession, find_sessions
from tests.importing import failures, new_store, original, take
from tests.opencode_databases import DATABASE, OLD_SCHEMA, THEN, Program, printed, simple


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "_TIMEOUT", 0)
    monkeypatch.setattr(databases, "_PAUSE", 0)


@pytest.fixture
def store(store_path: Path) -> Store:
    return new_store(store_path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / DATABASE


@pytest.fixture
def program(path: Path) -> Iterator[Program]:
    made = simple(path)
    yield made
    made.close()


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Returns another transcript."""
    (tmp_path / "other.json").write_bytes(printed("ses_2"))
    return tmp_path / "other.json"


def spoilt(program: Program, *statements: str) -> None:
    for statement in statements:
        program.database.execute(statement)


class TestADatabase:
    def test_with_a_bad_row_loses_that_session_alone(self, store: Store, program: Program) -> None:
        spoilt(program, "UPDATE part SET data = '{' WHERE id = 'prt_1'")
        failed, result = import_transcripts(store, program.path)
        assert isinstance(failed, ImportFailure)
        assert isinstance(failed.error, UnreadableDatabase)
        assert (failed.path, failed.error.path) == (program.path / "ses_1", f"{program.path}/ses_1")
        assert failed.error.reason.startswith("the part 'prt_1' is not as opencode writes one: its data is no JSON")
        assert isinstance(result, ImportResult)
        assert result.session == "ses_2"

    @pytest.mark.parametrize(
        ("statements", "why"),
        [
            (["ALTER TABLE message DROP COLUMN data"], "there is no message.data in it"),
            (["DROP TABLE part"], "there is no part.id, part.message_id, "),
            (["ALTER TABLE message RENAME TO m", "CREATE VIEW message AS SELECT * FROM m"], "there is no message.id, "),
            (
                [
                    "ALTER TABLE part RENAME COLUMN data TO d",
                    "ALTER TABLE part ADD COLUMN data AS (printf('%.*c', 9, d))",
                ],
                "there is no part.data in it",
            ),
        ],
    )
    def test_of_another_version_is_told_as_such_once(
        self, store: Store, program: Program, statements: list[str], why: str
    ) -> None:
        spoilt(program, *statements)
        ((path, error),) = failures(store, program.path)
        assert isinstance(error, UnreadableDatabase)
        assert path == program.path
        assert error.reason.startswith("was written by a version of opencode that is not known here: ")
        assert why in error.reason

    def test_whose_sessions_are_kept_in_a_way_to_come_gives_no_empty_ones(self, store: Store, program: Program) -> None:
        spoilt(
            program,
            "CREATE TABLE session_message (id text, session_id text, type text, seq integer, data text)",
            "INSERT INTO session_message VALUES ('msg_9', 'ses_2', 'user', 1, '{}')",
            "INSERT INTO session_message VALUES ('msg_8', 'ses_1', 'user', 1, '{}')",
            "DELETE FROM message WHERE session_id = 'ses_2'",
        )
        failed, result = import_transcripts(store, program.path)
        assert isinstance(result, ImportResult)
        assert isinstance(failed, ImportFailure)
        assert "as a version of opencode does that is not known here" in str(failed.error)

    @pytest.mark.parametrize(
        ("schema", "why"),
        [
            ("", "is an SQLite database, and none in which opencode keeps sessions"),
            ("CREATE TABLE session (id text, token text)", "is an SQLite database, and none in which"),
            ("CREATE VIEW session AS SELECT 1 AS slug", "is an SQLite database, and none in which"),
            (OLD_SCHEMA, "is a database of opencode's without a session"),
        ],
    )
    def test_without_sessions_is_no_transcript(self, store: Store, path: Path, schema: str, why: str) -> None:
        Program(path, schema).die()
        ((failed, error),) = failures(store, path)
        assert isinstance(error, UnknownTranscript)
        assert failed == path
        assert error.reason.startswith(why)
        assert not holds_transcripts([path])

    def test_that_is_locked_is_told_once_and_other_transcripts_go_on(
        self, store: Store, program: Program, other: Path
    ) -> None:
        program.database.execute("PRAGMA locking_mode = EXCLUSIVE")
        spoilt(program, "BEGIN EXCLUSIVE", "DELETE FROM part")
        failed, result = import_transcripts(store, [program.path, other])
        assert isinstance(failed, ImportFailure)
        assert str(failed.error) == f"{program.path}: is locked by another program; try again when that is done"
        assert isinstance(result, ImportResult)

    def test_that_is_locked_after_its_sessions_were_listed_is_told_once(
        self, store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        program = simple(path)
        program.database.execute("PRAGMA journal_mode = DELETE")
        program.close()
        other = sqlite3.connect(path, isolation_level=None)

        def find_and_lock(database: Path) -> list[StoredSession]:
            found = find_sessions(database)
            other.execute("BEGIN EXCLUSIVE")
            return found

        monkeypatch.setattr(opencode_database, "find_sessions", find_and_lock)
        (failed,) = import_transcripts(store, path)
        assert isinstance(failed, ImportFailure)
        assert str(failed.error) == f"{path}: is locked by another program; try again when that is done"
        other.close()

    def test_that_is_damaged_loses_what_is_damaged(self, store: Store, path: Path) -> None:
        program = simple(path)
        for number in range(40):
            program.say("x" * 3000, f"n{number:03d}", "ses_2", THEN + 7000 + number)
        program.close()
        content = bytearray(path.read_bytes())
        page = content.rindex(b"x" * 3000) // 4096 * 4096
        content[page : page + 4096] = b"\xff" * 4096
        path.write_bytes(content)
        for _ in range(2):  # nothing is remembered of it
            failed, result = import_transcripts(store, path)
            assert isinstance(failed, ImportFailure)
            assert str(failed.error).startswith(f"{path}/ses_2: is damaged: ")
            assert isinstance(result, ImportResult)
            assert original(store, "ses_1") == printed("ses_1")

    def test_is_no_transcript_of_another_agents(self, store: Store, program: Program) -> None:
        found = failures(store, program.path, format="claude-code")
        reason = "is a database, in which only opencode keeps sessions"
        assert [str(error) for _, error in found] == [f"{program.path}: {reason}"]
        assert [one.new_commits for one in take(store, program.path, format="opencode")] == [3, 2]

    def test_with_more_text_than_room_is_damaged(
        self, store: Store, program: Program, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        endless = "SELECT id, session_id, time_created, time_updated, data FROM message"
        del endless
        monkeypatch.setattr(
            "gitsession.opencode_tables.Tables._number", lambda self, query: 2 if "PRAGMA p" in query else 9
        )
        ((_, error),) = failures(store, program.path)
        assert "there is more text in it than it has room for" in str(error)


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "a/b", "..", ".", "", "\0", "é %2F", "ses_1.json", "x.zst"])
def test_an_id_never_names_another_file(store: Store, path: Path, name: str) -> None:
    program = Program(path)
    program.session(name)
    program.say("Hello", "1", name)
    (result,) = take(store, path)
    assert result.path.parent == path
    if name:
        assert [one.new_commits for one in take(store, result.path)] == [0]
    program.close()


def test_bytes_in_place_of_text_are_refused(store: Store, program: Program) -> None:
    program.database.execute("UPDATE part SET data = CAST(data AS BLOB) WHERE id = 'prt_1'")
    failed, _ = import_transcripts(store, program.path)
    assert isinstance(failed, ImportFailure)
    assert str(failed.error).endswith("ses_1: is not as opencode writes it: a row of the table part holds bytes")
