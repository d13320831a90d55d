"""Reading takes no write access: a store on a disk that is mounted read-only is read like any other.

It takes root. `pytest -m slow tests/guarantees/test_read_only.py`.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from gitsession_cli.main import run

from gitsession import MessageEntry, SessionMeta, Store, Unavailable, import_transcripts, plan_repair, verify
from tests.importing import FIXTURES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounting takes root"),
]

MESSAGES = 120


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """Returns a store on a disk that has become read-only."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", disk], check=True)
    try:
        store = Store.init(disk / "store.git", durable=False)
        store.create(SessionMeta("s"))
        for number in range(MESSAGES):
            store.append("s", MessageEntry({"role": "user", "content": f"message {number}"}))
        for _ in import_transcripts(store, [FIXTURES / "claude-code" / "simple.jsonl"]):
            pass
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        yield store.path
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_every_way_to_read_works(path: Path) -> None:
    store = Store.open(path)
    assert sorted(meta.id for meta in store.list()) == ["s", "simple"]
    assert len(store.load("s")) == len(store.bind("s").load().messages) == MESSAGES
    assert store.info("s", at="#10").deltas == 11
    assert sum(1 for _ in store.log("s")) == MESSAGES + 1
    assert store.diff("s", "simple").common == 0
    original = (FIXTURES / "claude-code" / "simple.jsonl").read_bytes()
    assert b"".join(store.original("simple")) == original
    assert list(verify(store)) == []
    assert plan_repair(store) == []


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("show", "s"),
        ("log", "s"),
        ("diff", "s", "simple"),
        ("export", "s"),
        ("export", "simple", "--format", "original"),
        ("verify",),
        ("repair",),
    ],
    ids=" ".join,
)
def test_every_command_that_reads_works(path: Path, words: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["--store", str(path), *words]) == 0
    assert capfd.readouterr().err == ""


def test_what_writes_is_refused_with_the_reason_and_changes_nothing(
    path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    store = Store.open(path)
    with pytest.raises(Unavailable, match="read-only"):
        store.append("s", MessageEntry({}))
    with pytest.raises(Unavailable, match="read-only"):
        store.create(SessionMeta("new"))
    assert run(["--store", str(path), "append", "s", "--text", "hello"]) != 0
    printed = capfd.readouterr()
    assert printed.out == ""  # no id before it is stored
    assert "read-only" in printed.err
    assert len(store.load("s")) == MESSAGES
