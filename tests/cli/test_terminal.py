"""What differs between a terminal and a pipe."""

import json
import os
import pty
import struct
import subprocess
from collections.abc import Callable
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

import pytest

from .conftest import COMMAND, Result, Run

FIXTURES = Path(__file__).parents[2] / "fixtures"

Terminal = Callable[..., str]


@pytest.fixture
def terminal(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Returns a function that runs the command on a terminal of 80 columns, and returns what stands there then."""
    monkeypatch.setenv("GITSESSION_STORE", str(store_path))

    def run(*arguments: str | Path, columns: int = 80, **environment: str) -> str:
        ours, theirs = pty.openpty()
        ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        given = {name: text for name, text in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LESS")}
        child = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**given, "TERM": "xterm", "PAGER": "cat", **environment},
        )
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 65536):
                shown += chunk
        except OSError:
            pass  # how Linux tells that the other end is closed
        os.close(ours)
        assert child.wait(60) == 0, shown
        return shown.decode().replace("\r\n", "\n")

    return run


def test_colour_is_for_terminals(gitsession: Run, terminal: Terminal, fix_login: str) -> None:
    for command in (["list"], ["show", "fix-login"], ["log", "fix-login"], ["diff", "fix-login", "fix-login"]):
        assert "\x1b[" in terminal(*command), command
        assert "\x1b[" not in terminal(*command, NO_COLOR="1"), command
        assert "\x1b[" not in terminal(*command, TERM="dumb"), command
        assert "\x1b[" not in gitsession(*command).out, command


def test_the_pager_is_for_terminals(
    terminal: Terminal, process: Callable[..., Result], fix_login: str, tmp_path: Path
) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho LESS=$LESS\ncat\necho end of the pager\n")
    pager.chmod(0o755)
    shown = terminal("show", "fix-login", PAGER=str(pager))
    assert shown.startswith("LESS=FRX\n")
    assert shown.endswith("end of the pager\n")
    assert "Why does the login fail?" in shown
    assert "LESS=" not in process("show", "fix-login", PAGER=str(pager)).out
    assert "LESS=" not in terminal("show", "fix-login", "--json", PAGER=str(pager))


def test_the_pager_is_for_what_is_read_and_not_for_what_was_done(
    terminal: Terminal, fix_login: str, tmp_path: Path
) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\ncat >/dev/null\necho paged\n")
    pager.chmod(0o755)
    for command in (
        ["init"],
        ["path"],
        ["new", "--id", "second"],
        ["fork", "fix-login", "third"],
        ["append", "fix-login", "--text", "Hello"],
        ["maintain"],
        ["verify"],
        ["scan"],
        ["remote"],
        ["repair"],
        ["hook"],
    ):
        assert "paged" not in terminal(*command, PAGER=str(pager)), command
    for command in (["list"], ["show", "fix-login"], ["log", "fix-login"], ["export", "fix-login"], ["formats"]):
        assert terminal(*command, PAGER=str(pager)) == "paged\n", command


def test_a_pager_that_ends_early_or_is_missing_is_no_error(terminal: Terminal, fix_login: str) -> None:
    assert terminal("show", "fix-login", "--full", PAGER="true") == ""
    assert "Why does the login fail?" in terminal("show", "fix-login", PAGER="no-such-pager --really")
    assert "Why does the login fail?" in terminal("show", "fix-login", PAGER="")


def test_a_list_fits_the_terminal_and_is_whole_in_a_pipe(gitsession: Run, terminal: Terminal) -> None:
    ids = [gitsession("new", "--title", "日本語の題名 " * 10).out.strip() for _ in range(3)]
    for columns in (60, 80, 120):
        shown = terminal("list", columns=columns, NO_COLOR="1").splitlines()
        assert len(shown) == 4
        # A wide character takes two columns.
        assert all(sum(2 if character > "\u2e80" else 1 for character in line) <= columns for line in shown)
        assert {line.split()[0] for line in shown[1:]} == {one[:8] for one in ids}
    assert {line.split()[0] for line in gitsession("list").out.splitlines()[1:]} == {*ids}
    assert gitsession("list").out.count("日本語の題名 " * 9) == 3


def test_one_long_cell_does_not_widen_the_other_rows_of_a_pipe(gitsession: Run) -> None:
    for name in ("x" * 200, "short"):
        gitsession("new", "--id", name, "--title", "t" * 200 if name == "short" else "short")
    lines = gitsession("list").out.splitlines()
    assert all(f"{'x' * 200}  short" in line or len(line) < 360 for line in lines[1:])
    assert len(lines[0]) < 220
    assert any("t" * 200 in line for line in lines)


def test_an_id_is_itself_in_a_pipe_and_harmless_on_a_terminal(gitsession: Run, terminal: Terminal) -> None:
    strange = "a\nb\x1b[31m"
    assert gitsession("new", "--id", strange).out == f"{strange}\n"
    assert gitsession("append", strange, "--parent", "", "--id", strange, "--text", "x").out == f"{strange}\n"
    assert gitsession("fork", strange, strange + "2").out == f"{strange}2\n"
    assert terminal("new", "--id", strange + "3") == r"a\nb\x1b[31m3" + "\n"


def test_bytes_that_steer_a_terminal_are_escaped_on_one_and_kept_in_a_pipe(gitsession: Run, terminal: Terminal) -> None:
    gitsession("append", "s", "--parent", "", stdin=json.dumps({"text": "csi \x9b2J"}, ensure_ascii=False))
    assert r"csi \x9b2J" in terminal("export", "s")
    assert "csi \x9b2J" in gitsession("export", "s").out


def test_a_narrow_list_fits_and_tells_the_sessions_apart(gitsession: Run, terminal: Terminal) -> None:
    gitsession("import", FIXTURES / "claude-code" / "rewind.jsonl", FIXTURES / "pi" / "branches.jsonl")
    gitsession("new", "--title", "Another one")
    for columns in (20, 30, 40, 60):
        lines = terminal("list", columns=columns, NO_COLOR="1").splitlines()[1:]
        assert max(map(len, lines)) <= columns
        assert len({line.split()[0] for line in lines}) == len(lines) == 8


def test_what_is_to_be_copied_is_never_cut(gitsession: Run, terminal: Terminal) -> None:
    for command in ("formats", "hook"):
        whole = [line.split()[-1] for line in gitsession(command).out.splitlines()]
        assert [line.split()[-1] for line in terminal(command, columns=40, NO_COLOR="1").splitlines()] == whole


def test_a_dumb_terminal_gets_nothing_that_moves_the_cursor(terminal: Terminal) -> None:
    command = ("import", FIXTURES / "claude-code" / "rewind.jsonl")
    assert "\r" in terminal(*command) or "\x1b[" in terminal(*command)
    for name in ("import", "verify"):
        shown = terminal(*(command if name == "import" else [name]), TERM="dumb")
        assert "\x1b" not in shown
        assert "\r" not in shown
