"""The help: complete, equal to what the commands say, with examples that work."""

import json
import os
import shlex
import subprocess
from pathlib import Path

import click
import pytest
from gitsession_cli.main import COMMANDS
from gitsession_cli.main import gitsession as group
from gitsession_cli.options import Command

from gitsession import RESUMABLE, Store
from tests.opencode_databases import simple

from .conftest import COMMAND, Run

NAMES = [name for section in COMMANDS.values() for name in section]


def command(name: str) -> Command:
    found = group.get_command(click.Context(group), name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_overview_says_of_each_command_what_it_says_itself(name: str) -> None:
    texts = {key: text for section in COMMANDS.values() for key, text in section.items()}
    assert (command(name).help or "").split("\n")[0] == texts[name]
    assert command(name).name == name


def test_each_module_of_a_command_is_in_the_overview() -> None:
    import gitsession_cli.commands  # noqa: PLC0415  # its path is what is asked for

    modules = [path.stem for path in Path(gitsession_cli.commands.__path__[0]).glob("*.py") if path.stem != "__init__"]
    assert sorted(NAMES) == sorted(module.rstrip("_") for module in modules)


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []])
def test_the_overview_lists_all_commands(gitsession: Run, arguments: list[str]) -> None:
    done = gitsession(*arguments)
    assert (done.code, done.err) == (0, "")
    assert all(f"\n  {name} " in done.out for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_help_of_a_command_has_its_examples(gitsession: Run, name: str) -> None:
    done = gitsession(name, "--help")
    assert (done.code, done.err) == (0, "")
    assert command(name).examples
    assert all(f"\n  {example}\n" in done.out for example in command(name).examples)


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_the_help_run(gitsession: Run, fix_login: str, tmp_path: Path, name: str) -> None:
    gitsession("fork", "fix-login", "other-way", "--at", "#1")
    projects = tmp_path / ".claude" / "projects" / "-home-me"
    projects.mkdir(parents=True)
    record = {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": "s1",
        "timestamp": "2025-01-01T00:00:00Z",
        "message": {"role": "user", "content": "TODO"},
    }
    for path in (projects / "s1.jsonl", tmp_path / "session.jsonl"):
        path.write_text(json.dumps(record) + "\n")
    (tmp_path / ".local" / "share" / "opencode").mkdir(parents=True)
    simple(tmp_path / ".local" / "share" / "opencode" / "opencode.db").close()
    Store.init(tmp_path / "server.git", durable=False)
    gitsession("remote", "add", "origin", tmp_path / "server.git")
    gitsession("push", "fix-login")
    # A shell function stands for the installed command; `watch` is ended as a service would be.
    end = "timeout --preserve-status 2 " if name == "watch" else ""
    function = f'gitsession() {{ {end}{shlex.join(COMMAND)} "$@"; }}\n'
    for example in command(name).examples:
        if "grep" in example:
            gitsession("append", "fix-login", "--text", "TODO")
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", function + example],
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path)},
            capture_output=True,
            check=False,
        )
        told = b"" if name in ("watch", "hook") else done.stderr  # they say there what to do with what they print
        assert (done.returncode, told.decode()) == (0, ""), example


def test_the_help_of_export_has_a_line_for_each_format(gitsession: Run) -> None:
    shown = gitsession("export", "--help").out
    assert "\\b" not in shown
    assert [line.split()[0] for line in shown.splitlines() if line.startswith("  ") and "  " in line.strip()][:8] == [
        *("jsonl", "messages", "verbatim", "context", "openai", "langchain", "markdown", "original"),
    ]
    (agents,) = [line.split(", ") for line in map(str.strip, shown.splitlines()) if line.startswith("claude-code,")]
    assert {*agents} == {*RESUMABLE}


def test_the_version_is_printed(gitsession: Run) -> None:
    assert gitsession("--version").out.startswith("gitsession ")
