"""watch, as a process that follows files which change under it."""

import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from gitsession_cli import watching as watching_module
from gitsession_cli.signals import Stop
from watchfiles import Change

from gitsession import Store
from tests.opencode_databases import Program

from .conftest import COMMAND
from .test_import import record

FIXTURES = Path(__file__).parents[2] / "fixtures"
PATIENCE = 20.0


class Watch:
    """A running `gitsession watch`."""

    def __init__(self, child: "subprocess.Popen[bytes]") -> None:
        assert child.stdout is not None
        assert child.stderr is not None
        self.child = child
        self.out = child.stdout
        self.err = child.stderr
        self._buffer = b""

    def line(self, within: float = PATIENCE) -> str:
        """Returns the next line of stdout; "" if there is none in time."""
        end = time.monotonic() + within
        while b"\n" not in self._buffer:
            if not select.select([self.out], [], [], max(0, end - time.monotonic()))[0]:
                return ""
            self._buffer += os.read(self.out.fileno(), 65536)
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode()

    def words(self) -> list[str]:
        return self.line().split()

    def end(self, with_signal: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Ends it, and returns its exit code and what it said on stderr."""
        self.child.send_signal(with_signal)
        _, err = self.child.communicate(timeout=PATIENCE)
        return self.child.returncode, err.decode()


Watching = Callable[..., "contextmanager[Watch]"]


@pytest.fixture
def watching(store_path: Path) -> Callable[..., Iterator[Watch]]:
    """Returns a context that runs the command, and waits until it follows."""

    @contextmanager
    def run(*arguments: str | Path, **environment: str) -> Iterator[Watch]:
        command = [*COMMAND, "--store", str(store_path), "watch", *map(str, arguments)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment}
        ) as child:
            try:
                assert child.stderr is not None
                assert child.stderr.readline().startswith(b"Following ")
                yield Watch(child)
            finally:
                child.kill()

    return run  # type: ignore[return-value]


def put(path: Path, *texts: str, mode: str = "w") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    begun = len(path.read_text().splitlines()) if mode == "a" else 0
    with path.open(mode) as file:
        file.writelines(json.dumps(record(begun + number, text)) + "\n" for number, text in enumerate(texts))
    return path


def said(store_path: Path, session: str) -> list[str]:
    messages = Store.open(store_path).messages(session)
    return [str(message["content"]) for message in messages]


def test_what_is_there_is_imported_and_then_what_is_written(
    watching: Watching, tmp_path: Path, store_path: Path
) -> None:
    path = put(tmp_path / "agent" / "s1.jsonl", "Hello")
    (tmp_path / "agent" / "notes.txt").write_text("no transcript\n")
    with watching(tmp_path / "agent") as watch:
        assert watch.words() == ["1", "s1", str(path)]
        put(path, "Hi", "Bye", mode="a")
        assert watch.words() == ["2", "s1", str(path)]
        other = put(tmp_path / "agent" / "new" / "deep" / "s2.jsonl", "Hello")
        assert watch.words() == ["1", "s2", str(other)]
        assert watch.end() == (0, "Ended: 2 sessions, 4 new commits\n")
    assert len(said(store_path, "s1")) == 3


def test_many_writes_of_one_turn_are_few_imports(watching: Watching, tmp_path: Path) -> None:
    path = put(tmp_path / "agent" / "s1.jsonl", "Hello")
    with watching(tmp_path / "agent") as watch:
        watch.line()
        for number in range(10):
            put(path, f"text {number}", mode="a")
            time.sleep(0.01)
        counts = [int(watch.words()[0])]
        while sum(counts) < 10:
            counts.append(int(watch.words()[0]))
    assert (sum(counts), len(counts) < 5) == (10, True)


def test_files_that_are_replaced_truncated_or_deleted_are_survived(
    watching: Watching, tmp_path: Path, store_path: Path
) -> None:
    path = put(tmp_path / "agent" / "s1.jsonl", "Hello", "Hi")
    with watching(tmp_path / "agent") as watch:
        watch.line()
        put(tmp_path / "other.jsonl", "Hello", "Hi", "Bye").replace(path)
        assert watch.words() == ["1", "s1", str(path)]
        path.write_bytes(b"")
        assert watch.line(1) == ""
        put(path, "Hello", "Something else")
        assert watch.words() == ["1", "s1.u1", str(path)]
        path.unlink()
        assert watch.line(1) == ""
        put(path, "Hello", "Hi", "Bye", "See you")
        assert watch.words() == ["1", "s1", str(path)]
        code, told = watch.end()
    assert code == 0
    assert "Traceback" not in told


def test_a_directory_that_appears_goes_and_comes_again_is_followed(watching: Watching, tmp_path: Path) -> None:
    agent = tmp_path / "home" / "agent"
    with watching(agent) as watch:
        assert watch.line(0.7) == ""
        path = put(agent / "s1.jsonl", "Hello")
        assert watch.words() == ["1", "s1", str(path)]
        put(path, "Hi", mode="a")
        assert watch.words()[0] == "1"
        shutil.rmtree(agent)
        time.sleep(1)
        put(agent / "s1.jsonl", "Hello", "Hi", "Bye")
        assert watch.words()[0] == "1"
        put(path, "See you", mode="a")
        assert watch.words()[0] == "1"
        assert watch.end()[0] == 0


def test_a_single_file_is_followed_through_its_replacement(watching: Watching, tmp_path: Path) -> None:
    path = put(tmp_path / "s1.jsonl", "Hello")
    with watching(path) as watch:
        assert watch.words()[0] == "1"
        put(tmp_path / "other.jsonl", "Hello", "Hi").replace(path)
        assert watch.words() == ["1", "s1", str(path)]


def test_a_line_that_is_still_written_waits(watching: Watching, tmp_path: Path) -> None:
    path = put(tmp_path / "agent" / "s1.jsonl", "Hello")
    with watching(tmp_path / "agent") as watch:
        watch.line()
        text = json.dumps(record(1, "Hi"))
        with path.open("a") as file:
            file.write(text[:30])
        assert watch.line(1) == ""
        with path.open("a") as file:
            file.write(text[30:] + "\n")
        assert watch.words()[0] == "1"
        assert watch.end() == (0, "Ended: 1 session, 2 new commits\n")


def test_the_agents_places_are_followed_as_json(watching: Watching, tmp_path: Path) -> None:
    with watching("--json", CLAUDE_CONFIG_DIR=str(tmp_path / "claude")) as watch:
        path = put(tmp_path / "claude" / "projects" / "x" / "s1.jsonl", "Hello")
        value = json.loads(watch.line())
        assert (value["path"], value["new_commits"]) == (str(path), 1)


def test_a_part_that_is_written_beside_its_session_is_followed(watching: Watching, tmp_path: Path) -> None:
    storage = tmp_path / "opencode" / "storage"
    shutil.copytree(FIXTURES / "opencode" / "storage", storage)
    (session,) = storage.glob("session/*/*.json")
    with watching(XDG_DATA_HOME=str(tmp_path)) as watch:
        assert watch.words() == ["15", session.stem, str(session)]
        (storage / "message" / session.stem / "msg_04.json").write_text(
            json.dumps({"id": "msg_04", "sessionID": session.stem, "role": "user", "time": {"created": 1}})
        )
        assert watch.words() == ["1", session.stem, str(session)]
        part = storage / "part" / "msg_04" / "prt_0401.json"
        part.parent.mkdir()
        part.write_text(
            json.dumps(
                {"id": "prt_0401", "messageID": "msg_04", "sessionID": session.stem, "type": "text", "text": "And now?"}
            )
        )
        assert watch.words() == ["1", session.stem, str(session)]


@pytest.mark.slow
@pytest.mark.parametrize("followed", ["the places", "the database", "its directory"])
def test_a_database_is_followed_in_its_log(watching: Watching, tmp_path: Path, followed: str) -> None:
    data = tmp_path / "opencode"
    data.mkdir()
    program = Program(data / "opencode.db")
    program.session()
    program.say("Hello", "1")
    paths = {"the places": [], "the database": [program.path], "its directory": [data]}[followed]
    with watching(*paths, XDG_DATA_HOME=str(tmp_path), OPENCODE_DB="") as watch:
        assert watch.words() == ["2", "ses_1", f"{program.path}/ses_1"]
        before = program.path.stat().st_mtime_ns
        program.database.execute("BEGIN")
        program.say("Hi", "2")
        program.database.execute("COMMIT")
        assert watch.words() == ["1", "ses_1", f"{program.path}/ses_1"]
        assert program.path.stat().st_mtime_ns == before
        if followed == "the places":
            other = Program(data / "opencode-dev.db")
            other.session("ses_9")
            assert watch.words() == ["1", "ses_9", f"{other.path}/ses_9"]
            other.close()
        assert watch.end()[0] == 0
    program.close()


def test_a_store_below_what_is_followed_does_not_wake_it_up(watching: Watching, tmp_path: Path) -> None:
    path = put(tmp_path / "s1.jsonl", "Hello")
    with watching(tmp_path) as watch:
        assert watch.words() == ["1", "s1", str(path)]
        before = os.times()
        time.sleep(1)
        assert watch.line(0.1) == ""
        assert watch.end()[0] == 0
    # Imports that are set off by imports would take all the time there is.
    assert os.times().children_user - before.children_user < 5


@pytest.mark.parametrize("with_signal", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_at_once_and_cleanly(watching: Watching, tmp_path: Path, with_signal: signal.Signals) -> None:
    (tmp_path / "agent").mkdir()
    with watching(tmp_path / "agent") as watch:
        time.sleep(0.3)
        begun = time.monotonic()
        assert watch.end(with_signal) == (0, "Ended: 0 sessions, 0 new commits\n")
        assert time.monotonic() - begun < 5


def test_where_the_system_watches_no_more_it_looks_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool | None] = []

    def refuse(*paths: Path, force_polling: bool | None, **_: Any) -> Iterator[set[tuple[Change, str]]]:
        asked.append(force_polling)
        if len(asked) == 1:
            raise OSError(28, "OS file watch limit reached")
        yield set()

    monkeypatch.setattr(watching_module, "watch", refuse)
    follower = watching_module.Follower([tmp_path], tmp_path / "store.git", Stop())
    assert next(follower.changes()) == [tmp_path]
    assert asked == [None, True]


def test_without_its_package_the_extra_is_named(store_path: Path, tmp_path: Path) -> None:
    (tmp_path / "watchfiles.py").write_text("raise ModuleNotFoundError('no', name='watchfiles')\n")
    done = subprocess.run(
        [*COMMAND, "--store", str(store_path), "watch", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.count(b"\n") == 1
    assert b"`pip install 'gitsession[watch]'`" in done.stderr
