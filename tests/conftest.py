"""What all tests share: git without the user's configuration, and Hypothesis without chance."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from gitsession import Store

# On a build machine the same examples run every time; `HYPOTHESIS_PROFILE=thorough pytest` looks further.
settings.register_profile("ci", derandomize=True, database=None, deadline=None, max_examples=100, print_blob=True)
settings.register_profile("dev", deadline=None, max_examples=50)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))

_home = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option under which the tests of guarantees run with the promised numbers."""
    parser.addoption("--full", action="store_true", help="run the tests of guarantees with the promised numbers")


def pytest_configure(config: pytest.Config) -> None:
    """Cuts off the user's git configuration before any test module can import libgit2, which looks for it once."""
    for name in [name for name in os.environ if name.startswith(("GIT_", "GITSESSION_", "XDG_"))]:
        del os.environ[name]
    # Where the tests run in the background, Ctrl-C is ignored, and so it would be by the commands that they interrupt.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[_home] = tempfile.mkdtemp(prefix="gitsession-tests-")
    os.environ["HOME"] = config.stash[_home]
    os.environ["GIT_CONFIG_GLOBAL"] = os.devnull
    os.environ["GIT_CONFIG_NOSYSTEM"] = "1"


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(config.stash[_home], ignore_errors=True)


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    """Returns where a test may make its store; nothing is there yet."""
    return tmp_path / "store.git"


@pytest.fixture
def store(store_path: Path) -> "Store":
    """Returns a new store that does not wait for the disk."""
    from gitsession import Store  # noqa: PLC0415  # libgit2 is imported only after the configuration is cut off

    return Store.init(store_path, durable=False)


Git = Callable[..., str]


@pytest.fixture(scope="session")
def git() -> Git:
    """Returns a function that runs git and returns what it prints; a failure of git fails the test."""

    def run(*arguments: str | Path, cwd: Path | None = None, stdin: str = "") -> str:
        done = subprocess.run(
            ["git", *map(str, arguments)], cwd=cwd, input=stdin.encode(), capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout.decode()

    return run


@pytest.fixture
def scale(request: pytest.FixtureRequest) -> Callable[[int, int], int]:
    """Returns a function that picks the small number, or under `--full` the promised one."""
    full = bool(request.config.getoption("--full"))
    return lambda small, promised: promised if full else small
