"""Exit codes, and what is said of an error."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from gitsession_cli.errors import EXIT_CODES, exit_code

import gitsession as library

from .conftest import COMMAND, Result, Run

ERRORS = [kind for kind in vars(library).values() if isinstance(kind, type) and issubclass(kind, library.SessionError)]


@pytest.mark.parametrize("kind", ERRORS)
def test_each_error_of_the_library_has_an_exit_code_of_its_own(kind: type[Exception]) -> None:
    assert kind in EXIT_CODES
    assert [other for other in ERRORS if exit_code(other) == exit_code(kind)] == [kind]


def test_no_exit_code_is_taken_by_the_shell() -> None:
    assert set(EXIT_CODES.values()) <= set(range(1, 64))


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (["list", "--nonsense"], 2, "UsageError"),
        (["nonsense"], 2, "UsageError"),
        (["show"], 2, "UsageError"),
        (["show", "nobody"], 5, "SessionNotFound"),
        (["log", "nobody"], 5, "SessionNotFound"),
        (["export", "nobody"], 5, "SessionNotFound"),
        (["fork", "nobody", "new"], 5, "SessionNotFound"),
        (["diff", "fix-login", "nobody"], 5, "SessionNotFound"),
        (["append", "nobody", "--text", "Hello"], 5, "SessionNotFound"),
        (["show", "fix-login", "--at", "nothing"], 6, "RevisionNotFound"),
        (["log", "fix-login", "--at", "#99"], 6, "RevisionNotFound"),
        (["export", "fix-login", "--at", "~99"], 6, "RevisionNotFound"),
        (["fork", "fix-login", "new", "--at", "zzz"], 6, "RevisionNotFound"),
        (["diff", "fix-login", "fix-login", "--at-b", "zzz"], 6, "RevisionNotFound"),
        (["show", "fix-"], 7, "AmbiguousName"),
        (["new", "--id", "fix-login"], 8, "SessionExists"),
        (["fork", "fix-login", "fix-logout"], 8, "SessionExists"),
        (["new", "--id", ""], 9, "InvalidSessionId"),
        (["append", "fix-login"], 10, "InvalidInput"),
        (["append", "fix-login", "--parent", "c1", "--text", "Hello"], 11, "ParentConflict"),
        (["append", "fix-login", "--parent", "c2", "--id", "c3", "--text", "Other"], 12, "Corrupt"),
    ],
)
def test_an_error_is_one_line_on_stderr_and_an_exit_code(
    gitsession: Run, fix_login: str, arguments: list[str], code: int, kind: str
) -> None:
    gitsession("new", "--id", "fix-logout")
    before = gitsession("list", "--json").values
    told = gitsession(*arguments)
    assert (told.code, told.out) == (code, "")
    assert told.err.startswith("gitsession: ")
    assert told.err.count("\n") == 1
    as_json = gitsession("--json", *arguments)
    assert (as_json.code, as_json.out) == (code, "")
    assert as_json.error["error"] == kind
    assert as_json.error["exit_code"] == code
    assert gitsession("list", "--json").values == before


def test_an_error_as_json_carries_its_attributes(gitsession: Run, fix_login: str) -> None:
    gitsession("new", "--id", "fix-logout")
    assert gitsession("show", "fix-", "--json").error["candidates"] == ["fix-login", "fix-logout"]
    conflict = gitsession("append", "fix-login", "--parent", "c1", "--text", "Hello", "--json").error
    assert (conflict["expected"], conflict["actual"]) == ("c1", "c3")


def test_an_ambiguous_name_lists_what_it_could_mean(gitsession: Run, fix_login: str) -> None:
    gitsession("new", "--id", "fix-logout")
    assert "'fix-login', 'fix-logout'" in gitsession("show", "fix-").err


@pytest.mark.parametrize("command", [["list"], ["show", "a"], ["log", "a"], ["verify"], ["git", "log"]])
def test_without_a_store_the_command_that_makes_one_is_named(
    gitsession: Run, store_path: Path, command: list[str]
) -> None:
    done = gitsession(*command)
    assert (done.code, done.out) == (3, "")
    assert str(store_path) in done.err
    assert "`gitsession" in done.err
    assert "init`" in done.err
    assert not store_path.exists()


def test_the_command_that_makes_a_store_is_told_as_it_must_be_typed(gitsession: Run, tmp_path: Path) -> None:
    done = gitsession("--store", tmp_path / "my store", "list")
    assert f"`gitsession --store '{tmp_path}/my store' init`" in done.err


def test_a_directory_that_is_no_store_is_left_alone(gitsession: Run, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("mine")
    for command in (["list"], ["new", "--id", "x"]):
        done = gitsession("--store", tmp_path / "notes", *command)
        assert (done.code, done.out) == (3, "")
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["a.txt"]


@pytest.mark.parametrize("arguments", [["import", ""], ["watch", ""], ["clone", "url", ""], ["list", "--store", ""]])
def test_an_empty_path_is_not_the_current_directory(gitsession: Run, store_path: Path, arguments: list[str]) -> None:
    done = gitsession(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "the path is empty; `.` is the current directory" in done.err
    assert not store_path.exists()


def test_a_number_that_is_none_is_told_in_words(gitsession: Run) -> None:
    assert "'x' is not a valid whole number" in gitsession("list", "-n", "x").err


def test_a_current_directory_that_is_gone_is_named(process: Callable[..., Result], tmp_path: Path) -> None:
    directory = tmp_path / "gone"
    line = f"cd {directory} && rmdir {directory} && {' '.join(COMMAND)}"
    for command in ("watch .", "--store s.git path"):
        directory.mkdir()
        done = subprocess.run(["sh", "-c", f"{line} {command}"], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == "gitsession: the current directory is gone: No such file or directory\n"


def test_a_usage_error_says_where_the_usage_is_shown(gitsession: Run) -> None:
    told = gitsession("list", "--nonsense").err
    assert told.startswith("gitsession: No such option")
    assert told.endswith("; `gitsession list --help` shows how it is used\n")


def test_what_an_error_quotes_cannot_steer_the_terminal(gitsession: Run, fix_login: str) -> None:
    done = gitsession("show", "\x1b[31mred\n\x9b2J")
    assert done.code == 5
    assert done.err.rstrip("\n").isprintable()
    assert json.loads(gitsession("show", "\x1b[31m", "--json").err)["session_id"] == "\x1b[31m"


@pytest.mark.parametrize(
    "arguments", [["new", "--title"], ["new", "--nope"], ["list", "-n", "x"], ["show"], ["list", "--store"]]
)
def test_a_usage_error_names_the_help_of_its_own_command(gitsession: Run, arguments: list[str]) -> None:
    done = gitsession(*arguments)
    assert done.code == 2
    assert f"`gitsession {arguments[0]} --help`" in done.err
