"""The command as a process: pipes that close, Ctrl-C, full disks, streams that are not as usual."""

import json
import os
import pty
import pwd
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import COMMAND, Result, Run

Process = Callable[..., Result]


@pytest.fixture
def long_session(gitsession: Run) -> str:
    """Makes a session that does not fit a pipe, and returns its id."""
    gitsession("append", "long", "--parent", "", stdin="\n".join(json.dumps({"text": "x" * 1000}) for _ in range(500)))
    return "long"


@pytest.mark.parametrize("command", [["show", "long", "--full"], ["export", "long"], ["show", "long", "--json"]])
def test_a_closed_pipe_ends_the_command_quietly(long_session: str, process: Process, command: list[str]) -> None:
    done = subprocess.Popen([*COMMAND, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.stdout is not None
    assert done.stderr is not None
    done.stdout.read(10)
    done.stdout.close()
    assert (done.stderr.read(), done.wait(60)) == (b"", 141)
    done.stderr.close()


FULL = "stdout cannot be written: No space left on device"


def on_a_full_disk(*command: str) -> Result:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, *command], stdout=full, stderr=subprocess.PIPE, check=False)
    return Result(done.returncode, "", done.stderr.decode())


@pytest.mark.parametrize(
    "command",
    [
        ["--help"],
        ["--version"],
        ["list", "--help"],
        ["list"],
        ["show", "long"],
        ["export", "long"],
        ["path"],
        ["import", "missing"],
    ],
)
def test_a_full_disk_under_stdout_is_told(long_session: str, process: Process, command: list[str]) -> None:
    done = on_a_full_disk(*command)
    assert (done.code, done.err.splitlines()[-1]) == (1, f"gitsession: {FULL}")


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["append", "long", "--parent", "{head}", "--id", "c2", "--text", "once"], "the commit c2"),
        (["append", "long", "--text", "once"], "the commit commit-"),
        (["new", "--id", "second"], "the session second"),
        (["fork", "long", "third"], "the session third"),
        (["import", "{file}"], "what was imported"),
        (["import", "{file}", "missing"], "what was imported"),
    ],
)
def test_what_was_stored_is_told_where_it_cannot_be_printed(
    gitsession: Run, long_session: str, process: Process, tmp_path: Path, command: list[str], told: str
) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text('{"role": "user", "content": "Hello"}\n')
    head = gitsession("list", "--json").values[0]["head"]
    before = gitsession("list", "--json").out
    command = [word.format(head=head, file=file) for word in command]
    done = on_a_full_disk(*command)
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith(f"gitsession: {told}")
    assert done.err.endswith(f" is stored, but {FULL}\n")
    assert gitsession("list", "--json").out != before
    as_json = on_a_full_disk("--json", "append", "long", "--text", "twice").error
    assert as_json["message"] == f"{as_json['stored']} is stored, but {FULL}"


def test_ctrl_c_ends_the_command_with_130_and_without_a_traceback(process: Process, fix_login: str) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "append", fix_login], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stderr is not None
        assert child.stderr.readline() == b"Reading messages as JSON from the terminal; end with Ctrl-D.\n"
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert (child.returncode, out, err) == (130, b"", b"gitsession: interrupted\n")


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("ascii", rb"\u65e5\u672c \xe9"),
        ("latin-1", b"\\u65e5\\u672c \xe9"),
        ("utf-8", "日本 é".encode()),
    ],
)
def test_any_text_is_printed_in_any_encoding(process: Process, encoding: str, expected: bytes) -> None:
    process("new", "--id", "s", "--title", "日本 é")
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run([*COMMAND, "list"], capture_output=True, check=True, env=environment)
    assert (expected in done.stdout, done.stderr) == (True, b"")


def test_closed_streams_are_no_traceback(gitsession: Run, fix_login: str) -> None:
    command = " ".join(COMMAND)
    for line, code, told in (
        (
            f"{command} append fix-login <&-",
            10,
            b"gitsession: stdin, line 1, column 1: it is closed; nothing was written\n",
        ),
        (f"{command} import - --name s.jsonl <&-", 15, b"stdin: is empty\n"),
        (f"{command} list >&-", 0, b""),
        (f"{command} show nobody 2>&-", 5, b""),
    ):
        done = subprocess.run(["sh", "-c", line], capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (code, told)


def test_an_empty_home_is_none(process: Process) -> None:
    done = process("path", HOME="", GITSESSION_STORE="", XDG_DATA_HOME="")
    known = process("path", HOME=pwd.getpwuid(os.getuid()).pw_dir, GITSESSION_STORE="", XDG_DATA_HOME="")
    assert done == known == Result(0, known.out, "")


def test_a_store_that_cannot_be_made_is_told(process: Process, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = process("--store", tmp_path / "file" / "store.git", "new")
    assert (done.code > 0, done.out) == (True, "")
    assert done.err.startswith("gitsession: ")
    assert done.err.count("\n") == 1


def test_what_nobody_foresaw_is_one_line_without_a_traceback(process: Process, tmp_path: Path) -> None:
    broken = tmp_path / "pygit2.py"
    broken.write_text("raise ZeroDivisionError('by design')")
    done = process("list", PYTHONPATH=str(tmp_path))
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("gitsession: internal error: ZeroDivisionError: by design; ")
    assert done.err.count("\n") == 1
    assert "Traceback" in process("list", PYTHONPATH=str(tmp_path), GITSESSION_TRACEBACK="1").err


def test_ctrl_c_while_the_command_is_loaded_is_no_traceback(process: Process, tmp_path: Path) -> None:
    """A module that presses it stands in the way of the one that is loaded first."""
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    done = process("list", PYTHONPATH=str(tmp_path))
    assert done == Result(-signal.SIGINT, "", "")


def test_the_help_loads_neither_the_library_nor_libgit2() -> None:
    code = (
        "import sys; from gitsession_cli.main import run; code = run(['--help']); "
        "sys.exit(code or bool({'gitsession', 'pygit2', 'subprocess'} & {*sys.modules}))"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False).returncode == 0
