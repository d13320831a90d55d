"""A store, and files, that one may not read: what is said, and with which exit code."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .conftest import COMMAND, Result, Run

FIXTURES = Path(__file__).parents[2] / "fixtures"

# Root may read everything, but without these two rights it is as anybody else.
_RIGHTS = "-dac_override,-dac_read_search"
_AS_ANYBODY = ("setpriv", f"--bounding-set={_RIGHTS}", f"--inh-caps={_RIGHTS}")

pytestmark = pytest.mark.skipif(
    os.name == "nt" or (os.geteuid() == 0 and shutil.which("setpriv") is None), reason="needs a user who is not root"
)


@pytest.fixture
def anybody(store_path: Path) -> Callable[..., Result]:
    """Returns a function that runs the command on the test's store as one whom permissions bind."""

    def run(*arguments: str | Path) -> Result:
        command = [*(_AS_ANYBODY if os.geteuid() == 0 else ()), *COMMAND, "--store", str(store_path)]
        done = subprocess.run(
            [*command, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        return Result(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def closed(gitsession: Run, store_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """Makes a store, and takes the permissions from what the test names of it."""
    gitsession("new", "--id", "s")
    path = (store_path / request.param).resolve()
    mode = path.stat().st_mode
    path.chmod(0)
    yield path
    path.chmod(mode)


@pytest.mark.parametrize("closed", ["", "..", "HEAD", "config", "objects", "refs"], indirect=True)
def test_a_store_that_may_not_be_read_cannot_be_opened(anybody: Callable[..., Result], closed: Path) -> None:
    transcript = FIXTURES / "claude-code" / "simple.jsonl"
    commands = [["list"], ["append", "s", "--text", "x"], ["new"], ["import", transcript], ["verify"], ["init"]]
    # All find it when they open the store; which part of it is closed makes no difference to them.
    for command in commands if closed.name == "store.git" else commands[:2]:
        done = anybody(*command)
        assert (done.code, done.out) == (3, ""), command
        assert ": cannot be opened: no permission for " in done.err
        assert done.err.endswith("; the store must belong to you\n")
        assert done.err.count("\n") == 1
    if closed.name == "store.git":
        assert anybody("git", "log").code == 3


def test_a_directory_that_may_not_be_read_is_counted(anybody: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    done = anybody("import", tmp_path / "closed")
    assert (done.code, done.out) == (15, "0 sessions, 0 new commits, 1 directory skipped\n")
    assert done.err == f"{tmp_path}/closed: cannot be read: Permission denied\n"
