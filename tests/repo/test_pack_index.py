"""The index of a pack: searched in memory, or in its file, however the ids lie in it."""

import gc
import random
import sys
from pathlib import Path

import pytest

from gitsession.repo import pack_index as index_module
from gitsession.repo.pack_index import IndexFiles, PackIndex
from tests.hostile import pack_index


@pytest.fixture(params=["held", "read", "read in parts"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets an index be held in memory, or read from its file: all ids that begin alike at once, or a few of them."""
    monkeypatch.setattr(index_module, "_HELD_BYTES", 1 << 20 if request.param == "held" else 0)
    monkeypatch.setattr(index_module, "_WINDOW", 4 if request.param == "read in parts" else 256)


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def drawn(count: int) -> list[bytes]:
    """Returns ids as they are in truth: drawn by lot."""
    chance = random.Random(count)
    return [chance.randbytes(20) for _ in range(count)]


def crowded(count: int) -> list[bytes]:
    """Returns ids that somebody chose: most lie at one end of what begins alike."""
    chance = random.Random(count)
    return [b"\x07" + bytes(chance.choice((1, 15))) + chance.randbytes(20) for _ in range(count)]


def written(path: Path, ids: list[bytes]) -> list[bytes]:
    """Writes an index, and returns its ids in their order; the offset of each is its place, or far behind."""
    ids = sorted({one[:20] for one in ids})
    path.write_bytes(pack_index([(one, 0, (1 << 33) + place if place % 3 else place) for place, one in enumerate(ids)]))
    return ids


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("made", [drawn(0), drawn(1), drawn(700), crowded(300), [bytes(20), b"\xff" * 20]])
def test_what_it_names_is_found_and_nothing_else(tmp_path: Path, made: list[bytes]) -> None:
    path = tmp_path / "x.idx"
    ids = written(path, made)
    index = PackIndex.find_sound(str(path), IndexFiles())
    assert index is not None
    assert index.count == len(ids)
    assert [index.find(one) for one in ids] == list(range(len(ids)))
    assert [index.offset(place) for place in range(len(ids))] == [
        (1 << 33) + place if place % 3 else place for place in range(len(ids))
    ]
    for other in (*drawn(50), *(one[:19] + bytes([one[19] ^ 1]) for one in ids)):
        assert index.find(other) == (ids.index(other) if other in ids else None)
    for prefix in {one.hex()[:length] for one in (*ids[::50], *drawn(3)) for length in (2, 3, 5, 40)}:
        assert list(index.beginning(prefix)) == [one.hex() for one in ids if one.hex().startswith(prefix)]


@pytest.mark.usefixtures("way")
def test_ids_out_of_order_lead_to_nothing_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "x.idx"
    ids = [b"\x07" + one for one in drawn(400)]
    path.write_bytes(pack_index([(one[:20], 0, 0) for one in ids]))
    index = PackIndex.find_sound(str(path), IndexFiles())
    assert index is not None
    for place, one in enumerate(ids):
        assert index.find(one[:20]) in (place, None)
        assert set(index.beginning(one.hex()[:40])) <= {one.hex()[:40]}


def test_bytes_across_two_ids_are_none(tmp_path: Path) -> None:
    path = tmp_path / "x.idx"
    first, second = bytes(20), bytes(10) + b"0123456789"
    ids = written(path, [first, second])
    index = PackIndex.find_sound(str(path), IndexFiles())
    assert index is not None
    assert [index.find(one) for one in (*ids, bytes(5) + bytes(10) + b"01234")] == [0, 1, None]


def test_few_are_held_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "_ALL_HELD_BYTES", 10_000)
    files = IndexFiles()
    for number in range(100):
        ids = written(tmp_path / f"{number}.idx", drawn(50))
        index = PackIndex.find_sound(str(tmp_path / f"{number}.idx"), files)
        assert index is not None
        assert [index.find(one) for one in ids] == list(range(50))
        assert bool(index._content) == (number < 3)


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
def test_few_files_are_kept_open_and_none_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "_HELD_BYTES", 0)
    gc.collect()
    before = open_files()
    known = {str(tmp_path / f"{number}.idx"): drawn(number + 1) for number in range(40)}
    files = IndexFiles()
    indexes = []
    for path, ids in known.items():
        written(Path(path), ids)
        indexes.append(PackIndex.find_sound(path, files))
    for _ in range(2):
        for index in indexes:
            assert index is not None
            assert {index.find(one) for one in known[index.path]} == set(range(index.count))
            assert open_files() <= before + 16
    del files, index, indexes
    gc.collect()
    assert open_files() == before


def test_one_that_is_gone_names_nothing_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "_HELD_BYTES", 0)
    monkeypatch.setattr(index_module, "_MOST_OPEN", 1)
    paths = [tmp_path / "0.idx", tmp_path / "1.idx"]
    ids = [written(path, drawn(5)) for path in paths]
    files = IndexFiles()
    indexes = [PackIndex.find_sound(str(path), files) for path in paths]
    paths[0].unlink()
    assert [index.find(one[0]) if index else "" for index, one in zip(indexes, ids, strict=True)] == [None, 0]
    assert PackIndex.find_sound(str(paths[0]), files) is None
