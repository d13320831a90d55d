"""What the command loads: no more than it needs, since loading takes longer than most of what it does."""

import subprocess
import sys
from pathlib import Path

import pytest

from gitsession import SessionMeta, Store

CHECK = """
import sys
from gitsession_cli.main import run
code = run(sys.argv[1:])
print(code, *sorted(sys.modules), file=sys.stderr)
"""

# pygit2 itself loads `ssl`.
SLOW = {"asyncio", "subprocess", "tempfile", "random", "platform", "ctypes"}
FORMATS = {"base", "records", "stored"}


def loaded(*arguments: str) -> set[str]:
    """Returns the modules that a run of the command has loaded in the end."""
    done = subprocess.run([sys.executable, "-c", CHECK, *arguments], capture_output=True, text=True, check=True)
    code, *modules = done.stderr.split()
    assert code == "0"
    return {*modules}


@pytest.fixture
def store(tmp_path: Path) -> str:
    Store.init(tmp_path / "s.git").create(SessionMeta("a"))
    return str(tmp_path / "s.git")


def test_the_help_loads_nothing_of_the_library() -> None:
    assert [name for name in loaded("--help") if name.startswith(("gitsession.", "pygit2"))] == []


def test_a_list_loads_what_reads_sessions_alone(store: str) -> None:
    own = {
        name.removeprefix("gitsession.") for name in loaded("--store", store, "list") if name.startswith("gitsession.")
    }
    assert "reading" in own
    assert set() == own & {"aio", "importer", "growth", "exporter", "verify", "history", "repair", "scan", "sync"}
    assert {f"transcripts.{name}" for name in FORMATS} == {name for name in own if name.startswith("transcripts.")}


def test_a_list_loads_nothing_that_is_slow_and_of_no_use(store: str) -> None:
    without = subprocess.run(
        [sys.executable, "-c", "import sys, click, pygit2; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set() == (loaded("--store", store, "list") - {*without.stdout.split()}) & SLOW
