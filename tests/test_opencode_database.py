"""opencode's database: each session in it is the one that its export is, and is read again only when it changed."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitsession import Store, holds_transcripts, opencode_database
from gitsession.opencode_database import find_sessions, open_session
from tests.importing import commits, failures, new_store, original, take, tips
from tests.opencode_databases import DATABASE, OLD_SCHEMA, THEN, Program, now, printed, simple, untouched
from tests.secrets_made_up import SECRETS


@pytest.fixture
def store(store_path: Path) -> Store:
    return new_store(store_path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "opencode").mkdir()
    return tmp_path / "opencode" / DATABASE


@pytest.fixture
def program(path: Path) -> Iterator[Program]:
    made = simple(path)
    yield made
    made.close()


def exports(directory: Path) -> list[Path]:
    files = [directory / f"{name}.json" for name in ("ses_1", "ses_2")]
    for file in files:
        file.write_bytes(printed(file.stem))
    return files


def count_reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Returns a list that gets the id of each session whose messages are read."""
    read: list[str] = []
    original_messages = opencode_database._messages

    def messages(tables: Any, session: str) -> Iterator[Any]:
        read.append(session)
        return original_messages(tables, session)

    monkeypatch.setattr(opencode_database, "_messages", messages)
    return read


class TestASession:
    def test_is_the_one_that_its_export_is(self, store: Store, program: Program, tmp_path: Path) -> None:
        results = take(store, program.path)
        assert [(one.path, one.session, one.format, one.new_commits) for one in results] == [
            (program.path / "ses_1", "ses_1", "opencode", 3),
            (program.path / "ses_2", "ses_2", "opencode", 2),
        ]
        other = new_store(tmp_path / "other.git")
        take(other, *exports(tmp_path))
        assert tips(store) == tips(other)
        assert original(store, "ses_1") == printed("ses_1")
        assert {one.new_commits for one in (*take(store, *exports(tmp_path)), *take(other, program.path))} == {0}

    def test_is_read_the_same_way_however_opencode_ended(self, store: Store, path: Path, tmp_path: Path) -> None:
        simple(path).die()
        with untouched(path):
            assert [one.new_commits for one in take(store, path)] == [3, 2]
        other = new_store(tmp_path / "other.git")
        opencode = sqlite3.connect(path)
        opencode.execute("SELECT * FROM session").fetchone()
        opencode.close()
        assert [file.name for file in path.parent.iterdir()] == [DATABASE]
        take(other, path)
        assert tips(store) == tips(other)

    def test_of_an_older_version_is_what_that_printed(self, store: Store, path: Path) -> None:
        simple(path, OLD_SCHEMA).close()
        take(store, path)
        document = json.loads(printed())
        del document["info"]["cost"], document["info"]["tokens"]
        assert json.loads(original(store, "ses_1")) == document

    def test_that_grows_gets_what_is_new(self, store: Store, program: Program) -> None:
        take(store, program.path)
        program.say("And ß?", "4", at=THEN + 9000)
        program.database.execute("UPDATE session SET time_updated = ? WHERE id = 'ses_1'", [THEN + 9000])
        assert {one.session: one.new_commits for one in take(store, program.path)} == {"ses_1": 2, "ses_2": 0}
        assert commits(store, "ses_1") == ["document", "msg_1", "msg_2", "document.v2", "msg_4"]

    def test_of_which_all_changed_in_its_first_turn_is_the_same(self, store: Store, program: Program) -> None:
        take(store, program.path)
        program.database.execute("UPDATE session SET time_updated = ?, title = 'On umlauts'", [THEN + 9000])
        program.database.execute("UPDATE part SET data = json_set(data, '$.text', json_extract(data, '$.text') || '!')")
        assert {one.session: one.new_commits for one in take(store, program.path)} == {"ses_1": 3, "ses_2": 2}
        assert [message["content"] for message in store.messages("ses_2")] == ["And else?!"]

    def test_has_its_messages_in_the_order_of_their_times_and_its_parts_in_that_of_their_ids(
        self, store: Store, path: Path
    ) -> None:
        program = Program(path)
        program.session()
        for name, at in (("b", 5), ("C", 5), ("a", 7), ("d", 1)):
            program.message(f"msg_{name}", {"role": "user"}, at=THEN + at)
        for name in ("b", "a", "C"):
            program.part(f"prt_{name}", "msg_a", {"type": "text", "text": name}, session="ses_of_another")
        take(store, path)
        assert commits(store, "ses_1")[1:] == ["msg_d", "msg_C", "msg_b", "msg_a"]
        parts = json.loads(original(store, "ses_1"))["messages"][3]["parts"]
        assert [(part["id"], part["sessionID"]) for part in parts] == [
            ("prt_C", "ses_of_another"),
            ("prt_a", "ses_of_another"),
            ("prt_b", "ses_of_another"),
        ]
        program.close()

    def test_can_be_named_alone(self, store: Store, program: Program) -> None:
        (result,) = take(store, program.path / "ses_2")
        assert (result.path, result.session, result.new_commits) == (program.path / "ses_2", "ses_2", 2)
        ((_, error),) = failures(store, program.path / "ses_3")
        assert str(error) == f"{program.path}/ses_3: is no session of this database"
        assert holds_transcripts([program.path / "ses_2"])
        assert not holds_transcripts([program.path / "ses_3", program.path.parent / "nothing.db" / "ses_1"])

    def test_is_found_in_a_directory_and_the_log_is_no_file_that_nobody_knows(
        self, store: Store, program: Program
    ) -> None:
        assert [one.session for one in take(store, program.path.parent)] == ["ses_1", "ses_2"]

    def test_loses_its_secrets_as_any_other(self, store: Store, path: Path) -> None:
        program = Program(path)
        program.session()
        program.say(f"key {SECRETS['github-pat']}", "1")
        (result,) = take(store, path, redact=True)
        assert result.redacted
        assert SECRETS["github-pat"].encode() not in original(store, "ses_1")
        program.close()


class TestWhatDidNotChange:
    def test_is_not_read_again(self, store: Store, program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
        first = take(store, program.path)
        read = count_reads(monkeypatch)
        again = take(store, program.path)
        assert read == []
        assert [(one.path, one.session, one.format) for one in again] == [
            (one.path, one.session, one.format) for one in first
        ]
        program.say("More", "4", "ses_2", THEN + 9000)
        assert [one.new_commits for one in take(store, program.path)] == [0, 1]
        assert read == ["ses_2"]

    @pytest.mark.parametrize(
        ("change", "changed"),
        [
            ("UPDATE session SET cost = 0.5 WHERE id = 'ses_1'", ["ses_1"]),
            ("UPDATE part SET data = '{}', time_updated = time_updated + 1 WHERE id = 'prt_1'", ["ses_1"]),
            ("UPDATE message SET data = '{}', time_updated = time_updated + 1 WHERE id = 'msg_1'", ["ses_1"]),
            ("DELETE FROM part WHERE id = 'prt_3'", ["ses_2"]),
            ("DELETE FROM message WHERE id = 'msg_2'", ["ses_1"]),
            ("UPDATE part SET session_id = 'ses_9', data = '{}', time_updated = 5 WHERE id = 'prt_1'", ["ses_1"]),
            ("INSERT INTO migration VALUES ('m', 1)", ["ses_1", "ses_2"]),
            ("UPDATE session SET title = title", []),
        ],
    )
    def test_is_told_by_the_rows(
        self, store: Store, program: Program, monkeypatch: pytest.MonkeyPatch, change: str, changed: list[str]
    ) -> None:
        take(store, program.path)
        read = count_reads(monkeypatch)
        program.database.execute(change)
        take(store, program.path)
        assert read == changed

    def test_is_not_sure_of_what_was_written_just_now(
        self, store: Store, program: Program, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        program.say("Now", "4", "ses_2", now())
        take(store, program.path)
        read = count_reads(monkeypatch)
        program.database.execute("UPDATE part SET data = json_set(data, '$.text', 'Now!') WHERE id = 'prt_4'")
        assert [one.new_commits for one in take(store, program.path)] == [0, 1]
        assert read == ["ses_2"]

    def test_is_told_from_what_was_read_and_not_from_what_was_listed(self, program: Program) -> None:
        first, _ = find_sessions(program.path)
        program.say("Meanwhile", "4", at=THEN + 9000)
        with open_session(first) as (stream, look):
            assert b"Meanwhile" in stream.read()
        assert look.state != first.look.state
        assert look.state == find_sessions(program.path, "ses_1")[0].look.state


class TestASessionAtWork:
    @pytest.mark.parametrize(
        ("ago", "role", "settled", "taken"),
        [
            (0, "user", True, ["ses_2"]),
            (0, "user", False, ["ses_1", "ses_2"]),
            (0, "assistant", True, ["ses_1", "ses_2"]),
            (3_600_000, "user", True, ["ses_1", "ses_2"]),
        ],
    )
    def test_can_be_left_until_its_turn_is_over_or_given_up(
        self, store: Store, program: Program, ago: int, role: str, settled: bool, taken: list[str]
    ) -> None:
        at = now() - ago
        program.message("msg_9", {"role": role, "time": {"created": at, "completed": at}, "finish": "stop"}, at=at)
        assert [one.session for one in take(store, program.path, settled=settled)] == taken

    def test_is_taken_where_it_is_named(self, store: Store, program: Program) -> None:
        program.say("Now", "9", at=now())
        assert [one.session for one in take(store, program.path / "ses_1", settled=True)] == ["ses_1"]


class TestTheFolderOfOlderVersions:
    def test_is_left_alone_where_the_database_has_taken_it_over(self, store: Store, program: Program) -> None:
        folder = program.path.parent / "storage" / "session" / "global"
        folder.mkdir(parents=True)
        for name in ("ses_1", "ses_old"):
            info = {"id": name, "projectID": "global", "directory": "/home/dev", "title": "Old", "time": {"created": 1}}
            (folder / f"{name}.json").write_text(json.dumps(info))
        results = take(store, program.path, folder.parent)
        assert [one.session for one in results] == ["ses_1", "ses_2", "ses_old"]
        (alone,) = take(store, folder / "ses_1.json")
        assert alone.session.startswith("ses_1.")
