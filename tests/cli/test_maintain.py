"""`gitsession maintain`, and what starts it in the background."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitsession import Store, is_maintenance_due
from tests.cli.conftest import Result, Run


def sample(path: Path) -> None:
    """Makes a store seem to hold thousands of loose objects."""
    directory = path / "objects" / "17"
    directory.mkdir(exist_ok=True)
    for number in range(100):
        (directory / f"{number:038x}").touch()


def test_it_says_what_it_packed(gitsession: Run, fix_login: str) -> None:
    done = gitsession("maintain")
    assert (done.code, done.err) == (0, "")
    assert " loose objects and 0 packs, " in done.out
    assert ": now 0 and 1, " in done.out
    assert gitsession("show", fix_login).code == 0


def test_its_numbers_as_json(gitsession: Run, fix_login: str) -> None:
    (value,) = gitsession("maintain", "--json").values
    assert [*value] == [
        "loose_before",
        "loose_after",
        "packs_before",
        "packs_after",
        "bytes_before",
        "bytes_after",
        "removed",
    ]
    assert (value["loose_after"], value["packs_after"], value["removed"]) == (0, 1, 0)


def test_a_command_that_writes_starts_it_when_it_is_due(
    process: Callable[..., Result], gitsession: Run, fix_login: str, store_path: Path
) -> None:
    sample(store_path)
    assert process("new", "--id", "another").code == 0
    deadline = time.monotonic() + 60
    while is_maintenance_due(Store.open(store_path)) or not [*store_path.glob("objects/pack/*.pack")]:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("arguments", [("--no-maintain", "new"), ("list",)])
def test_it_is_not_started_where_it_may_not_be_or_nothing_was_written(
    process: Callable[..., Result], fix_login: str, store_path: Path, arguments: tuple[str, ...]
) -> None:
    sample(store_path)
    assert process(*arguments).code == 0
    assert is_maintenance_due(Store.open(store_path))
    assert not (store_path / "gitsession" / "maintenance").exists()
