"""Scratch space in a file that nobody can see: what is written comes back, nothing is left, a refusal says why."""

import os
import random
import sys
from contextlib import closing
from pathlib import Path

import pytest

from gitsession import Store, Unavailable, import_transcripts
from gitsession.repo.scratch import ScratchFile
from tests.guarantees.children import Say, together
from tests.importing import new_store, prompt, take, take_bytes, talk
from tests.scratches import used_at_once

if sys.platform != "win32":
    import resource

WHY = "cannot set aside in the store what does not fit into memory: File too large"


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the file begin with the first byte."""
    monkeypatch.setattr("gitsession.repo.scratch._IN_MEMORY", 0)


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.mark.parametrize("most", [0, 5000, 1 << 20])
def test_what_was_written_is_read_in_any_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr("gitsession.repo.scratch._IN_MEMORY", most)
    chance = random.Random(1)
    with closing(ScratchFile(tmp_path)) as scratch:
        kept = {}
        for number in range(300):
            content = chance.randbytes(number)
            kept[scratch.put(content)] = content
            late = scratch.reserve(10)
            if number % 3:
                scratch.write(late, b"0123456789")
                scratch.write(late + 3, b"abc")
                kept[late] = b"012abc6789"
        for place, content in sorted(kept.items(), key=lambda item: -item[0]):
            assert content == scratch.read(place, len(content))


def test_little_of_it_takes_no_file(tmp_path: Path) -> None:
    with closing(ScratchFile(tmp_path / "missing")) as scratch:
        assert scratch.read(scratch.put(b"little"), 6) == b"little"
        with pytest.raises(Unavailable, match="No such file"):
            scratch.put(bytes(1 << 20))


@pytest.mark.usefixtures("at_once")
@pytest.mark.skipif(os.name != "posix", reason="elsewhere an open file has a name")
def test_its_file_has_no_name(tmp_path: Path) -> None:
    with closing(ScratchFile(tmp_path)) as scratch:
        place = scratch.put(b"x" * 5000)
        assert list(tmp_path.iterdir()) == []
        assert scratch.read(place, 5000) == b"x" * 5000


@pytest.mark.usefixtures("at_once")
@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
def test_it_is_gone_when_it_is_closed(tmp_path: Path) -> None:
    before = open_files()
    scratch = ScratchFile(tmp_path)
    scratch.put(b"x")
    assert open_files() == before + 1
    scratch.close()
    assert open_files() == before


@pytest.mark.usefixtures("at_once")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_file_that_may_not_grow_is_unavailable_with_the_reason(tmp_path: Path) -> None:
    def writing(say: Say) -> None:
        scratch = ScratchFile(tmp_path)
        place = scratch.put(b"x" * 3000)
        # Read back, and the file that says it, has room.
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        for _ in range(2):
            try:
                scratch.put(b"y" * 3000)
            except Unavailable as error:
                say(str(error))
        say(str(scratch.read(place, 3000) == b"x" * 3000))

    assert together([writing]) == [[WHY, WHY, "True"]]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_an_import_for_which_there_is_no_room_is_unavailable_and_works_later(tmp_path: Path) -> None:
    store, path = new_store(tmp_path / "store.git"), tmp_path / "abc.jsonl"
    lines = talk(300)
    take_bytes(store, b"".join(lines), path)
    path.write_bytes(b"".join([*lines, prompt("more", "r299")]))

    def importing(say: Say) -> None:
        # A file that has grown: its beginning is known, so that nothing else is written before its end.
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        with used_at_once():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
            try:
                list(import_transcripts(Store.open(store.path), [path]))
            except Unavailable as error:
                say(str(error))
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            say(f"{take(Store.open(store.path), path)[0].new_commits}")

    assert together([importing]) == [[WHY, "1"]]
