"""Hostile repositories: nothing is written outside of the store, nothing is run, nothing grows or hangs."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gitsession import Store, new_commit
from tests.hostile_cases import CASES

SECONDS = 5.0
MEGABYTES = 200
ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("good") / "store.git"
    store = Store.init(path, durable=False)
    session = store.bind("good").load()
    for number in range(3):
        session = store.bind("good").commit(new_commit(session.head, [{"role": "user", "content": f"{number}"}]))
    return path


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], Any]]:
    """Returns a function that tries everything with a store, and returns what came of it."""
    told = tmp_path_factory.mktemp("probe") / "stderr"
    command = [sys.executable, "-m", "tests.probe"]
    with (
        told.open("wb") as errors,
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        asked, answered = process.stdin, process.stdout

        def ask(store: Path) -> Any:
            asked.write(f"{store}\n".encode())
            asked.flush()
            outcome = json.loads(answered.readline())
            assert isinstance(outcome, dict), (outcome, told.read_text()[-3000:])
            assert json.loads(answered.readline()) == 0
            return outcome

        yield ask
        asked.close()


def outside(path: Path) -> dict[str, bytes | None]:
    """Returns all that lies in a directory: the bytes of its files."""
    found = sorted(path.rglob("*"))
    return {str(each): each.read_bytes() if each.is_file() else None for each in found}


# What takes seconds, since it is unpacked or walked as far as the limits allow.
LONG = {
    "a loose object that unpacks to 1 GiB",
    "a packed object that unpacks to 1 GiB",
    "a small packed object over one of 1 GiB",
    "an object that unpacks to more than it says",
    "20,000 nested trees",
    "a tree of 600,000 items",
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in CASES])
def test_a_hostile_repository_does_no_harm(name: str, good: Path, probe: Callable[[Path], Any], tmp_path: Path) -> None:
    build, expected = CASES[name]
    store = tmp_path / "store.git"
    shutil.copytree(good, store)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("")
    build(store)
    before = outside(tmp_path / "outside")
    result = probe(store)
    assert outside(tmp_path / "outside") == before
    assert result["slowest"][1] < SECONDS, result["slowest"]
    assert result["megabytes"] < MEGABYTES
    outcomes = result["outcomes"]
    if expected == "refused":
        assert outcomes["open"].startswith("NotAStore: "), outcomes
        return
    assert outcomes["open"] == "done"
    assert bool(result["findings"]) == (expected == "found"), (result["findings"], outcomes)
    assert {outcomes[name] for name in ("list", "sessions", "verify", "verify fast", "plan", "load good")} == {"done"}
