"""git on the store."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from gitsession_cli.main import COMMANDS

from .conftest import COMMAND, Run

FIXTURES = Path(__file__).parents[2] / "fixtures"


def test_everything_after_git_belongs_to_git(gitsession: Run, fix_login: str) -> None:
    assert gitsession("git", "log", "--oneline", "-n", "1", "--format=%s", "fix-login").out == (
        "assistant: The token has expired.\n"
    )
    assert gitsession("git", "--version").out.startswith("git version")
    assert gitsession("git", "grep", "-h", "-o", "token", "fix-login").out == "token\n"


def test_a_work_tree_is_a_store_to_git_too(gitsession: Run, fix_login: str, store_path: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    gitsession("git", "clone", "-q", "-b", fix_login, store_path, tree)
    assert gitsession("--store", tree, "path").out == f"{tree}/.git\n"
    assert gitsession("--store", tree, "list").code == 0
    subject = gitsession("git", "log", "-1", "--format=%s", fix_login).out
    assert gitsession("--store", tree, "git", "log", "-1", "--format=%s", fix_login).out == subject


def test_the_exit_code_is_gits(gitsession: Run, fix_login: str) -> None:
    assert gitsession("git", "rev-parse", "--verify", "-q", "refs/heads/nobody").code == 1
    assert gitsession("git", "nonsense").code == 1
    assert gitsession("git", "show", "nobody").code == 128


def test_a_git_hook_does_not_turn_git_to_its_own_repository(
    gitsession: Run, fix_login: str, store_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_WORK_TREE", "GIT_COMMON_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    assert gitsession("git", "rev-parse", "--absolute-git-dir").out == f"{store_path}\n"
    assert gitsession("git", "cat-file", "-t", "fix-login").out == "commit\n"


def test_replacement_objects_are_not_shown(gitsession: Run, fix_login: str) -> None:
    head = gitsession("git", "rev-parse", "fix-login").out.strip()
    subject = gitsession("git", "log", "-1", "--format=%s", head).out
    gitsession("git", "update-ref", f"refs/replace/{head}", f"{head}~1")
    assert gitsession("git", "log", "-1", "--format=%s", head).out == subject


NEED_GIT = {
    "git": ["log"],
    "maintain": [],
    "bundle": ["x.bundle"],
    "remote": ["list"],
    "clone": ["server.git", "copy.git"],
    "push": [],
    "pull": [],
    "fetch": [],
    "sync": [],
    "list": ["--remote", "origin"],
    "import": ["fix.bundle"],
}
NEED_NO_GIT = {
    "init": [],
    "path": [],
    "verify": [],
    "repair": [],
    "scan": [],
    "list": [],
    "show": ["fix-login"],
    "log": ["fix-login"],
    "diff": ["fix-login", "fix-login"],
    "export": ["fix-login", "--format", "codex"],
    "import": ["session.jsonl"],
    "new": ["--id", "a"],
    "append": ["fix-login", "--text", "Hello"],
    "fork": ["fix-login", "b"],
    "formats": [],
    "hook": ["claude-code"],
    "watch": ["--help"],
}


def test_what_needs_git_misses_it_by_name_and_all_else_works_without_it(
    gitsession: Run, fix_login: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {*NEED_GIT, *NEED_NO_GIT} == {name for section in COMMANDS.values() for name in section}
    monkeypatch.chdir(tmp_path)
    gitsession("bundle", "fix.bundle", fix_login)
    (tmp_path / "session.jsonl").write_bytes((FIXTURES / "claude-code" / "simple.jsonl").read_bytes())
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    set_up = (FIXTURES.parent / "README.md").read_text("utf-8").partition("## Set up")[2].partition("```")[0]
    for name, arguments in NEED_GIT.items():
        done = gitsession(name, *arguments)
        assert (done.code, done.out) == (27, ""), name
        assert "git is not installed" in done.err
        assert f"`{name}" in set_up or name == "import"
    for name, arguments in NEED_NO_GIT.items():
        assert gitsession(name, *arguments).code == 0, name


def test_ctrl_c_is_gits_and_its_exit_code_stands(fix_login: str) -> None:
    # A process group of its own, as a shell makes one, since a terminal sends the signal to all of it.
    command = [*COMMAND, "git", "-c", "alias.wait=!echo ready; exec sleep 60", "wait"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        os.killpg(child.pid, signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert (child.returncode, out, err) == (130, "", "")
