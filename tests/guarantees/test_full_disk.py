"""A disk of 3 MB that is full: what is refused says so, what was stored stays readable, and freeing space is enough.

It takes root. `pytest -m slow --full tests/guarantees/test_full_disk.py`: filled up to each number of pages.
"""

import os
import subprocess
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from gitsession import (
    ImportFailure,
    MessageEntry,
    SessionMeta,
    Store,
    Unavailable,
    import_transcripts,
    new_commit,
    verify,
)
from tests.importing import talk
from tests.scratches import used_at_once

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounting takes root"),
]

PAGE = 4096


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk], check=True)
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def fill(disk: Path, leave: int) -> Path:
    """Fills a disk with one file, but for so many pages."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        file.truncate(0)
        found = os.statvfs(disk)
        for _ in range(max(found.f_bfree - leave, 0)):
            file.write(b"x" * PAGE)
    return ballast


def empty_files(path: Path) -> list[str]:
    """Returns the files without content below the objects, the refs and the logs."""
    found = (one for part in ("objects", "refs", "logs") for one in (path / part).rglob("*"))
    return [str(one.relative_to(path)) for one in found if one.is_file() and one.stat().st_size == 0]


def large(number: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": "".join(f"{number * place:x} " for place in range(6000))}]


@pytest.mark.parametrize("kind", ["commit", "append", "create", "import", "import that sets aside what it knows"])
def test_a_disk_that_fills_up_at_any_step_costs_nothing_that_was_stored(
    disk: Path, tmp_path: Path, scale: Callable[[int, int], int], kind: str
) -> None:
    """The disk is left with 0, 1, 2 … pages, so that each step of the write is the one that finds it full in turn."""
    path = disk / "store.git"
    store = Store.init(path)
    store.create(SessionMeta("s"))
    store.append("s", MessageEntry({"n": 0}, "first"))
    held = ["first"]
    refusals: list[str] = []
    for pages in range(0, 24, scale(3, 1)):

        def write(pages: int = pages) -> None:
            if kind == "commit":
                store.bind("s").commit(new_commit(store.info("s").head, large(pages)))
            elif kind == "append":
                store.append("s", MessageEntry(large(pages)[0], f"e{pages}", None, ""))
            elif kind == "create":
                store.create(SessionMeta(f"new{pages}", title="x" * 60_000))
            else:
                transcript = tmp_path / f"talk-{pages}.jsonl"
                transcript.write_bytes(b"".join(talk(60, f"r{pages}")))
                with used_at_once() if kind != "import" else nullcontext():
                    (result,) = import_transcripts(store, [transcript])
                if isinstance(result, ImportFailure):
                    raise result.error

        ballast = fill(disk, pages)
        before = store.info("s").oid
        full = False
        try:
            write()
        except Unavailable as error:
            refusals.append(str(error))
            full = True
            assert store.info("s").oid == before
        assert empty_files(path) == []
        reader = Store.open(path)
        assert [entry.id for entry in reader.load("s")][: len(held)] == held
        assert [finding for finding in verify(reader) if finding.damage] == []
        ballast.unlink()
        if full:
            write()
        held = [entry.id for entry in store.load("s")]
        with warnings.catch_warnings(action="error"):
            store.list()
    assert len(refusals) > 1
    assert [text for text in refusals if "the disk is full" not in text] == []
    assert any("set aside" in text for text in refusals) == (kind == "import that sets aside what it knows")
    fsck = subprocess.run(["git", "-C", path, "fsck", "--strict"], capture_output=True, check=False)
    assert (fsck.returncode, b"error" in fsck.stderr) == (0, False), fsck.stderr.decode()


def test_a_message_larger_than_the_disk_is_refused_with_the_reason(disk: Path) -> None:
    store = Store.init(disk / "store.git")
    store.create(SessionMeta("s"))
    with pytest.raises(Unavailable, match="the disk is full"):
        store.append("s", MessageEntry({"content": os.urandom(8_000_000).hex()}, "large"))
    assert store.load("s") == []
    assert empty_files(store.path) == []
    store.append("s", MessageEntry({"n": 0}, "first"))
    assert [entry.id for entry in store.load("s")] == ["first"]


def test_a_store_that_is_made_on_a_full_disk_is_made_once_there_is_space(disk: Path) -> None:
    for pages in range(6):
        path = disk / f"{pages}.git"
        ballast = fill(disk, pages)
        try:
            Store.init(path)
        except Unavailable as error:
            said = str(error)
        else:
            said = "the disk is full"
        ballast.unlink()
        assert "the disk is full" in said
        Store.init(path).create(SessionMeta("s"))
        assert [meta.id for meta in Store.open(path).list()] == ["s"]
