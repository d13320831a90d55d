"""The index of commit ids follows a session's tree, forwards, sideways and back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitsession import Corrupt, Store
from gitsession.ids import IdIndex
from gitsession.repo.cache import Cache
from gitsession.repo.codec import object_id
from gitsession.repo.objects import Objects
from gitsession.repo.repository import Repository
from gitsession.tree import SessionTree, bottom_directories

HEADER = object_id("blob", b"{}\n")
BLOB = object_id("blob", b"x\n")


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Objects:
    return Repository.init(tmp_path_factory.mktemp("ids") / "store.git", durable=False, wait=1.0).objects


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    return Cache(tmp_path_factory.mktemp("cache") / "ids")


@pytest.fixture(scope="module")
def line(objects: Objects) -> list[SessionTree]:
    """Returns a session as it was after each of 240 deltas."""
    return trees(objects, "c", 240)


def trees(objects: Objects, prefix: str, count: int, begin: SessionTree | None = None) -> list[SessionTree]:
    """Returns trees that grow by one delta each, all stored."""
    tree = begin or SessionTree("", "7b1c8a", HEADER)
    found = []
    for number in range(count):
        tree, needed = tree.with_delta(f"{prefix}{number}", BLOB)
        objects.write_all(needed)
        found.append(tree)
    return found


def names(index: IdIndex, prefix: str, count: int) -> list[int | None]:
    return [index.find(f"{prefix}{number}") for number in range(count)]


def test_an_index_finds_ids_and_their_parents(objects: Objects, cache: Cache) -> None:
    index = IdIndex(cache)
    assert index.find("c0") is None
    index.follow(objects, trees(objects, "c", 150)[-1])
    assert names(index, "c", 151) == [*range(150), None]
    assert [index.parent_of(number) for number in (0, 1, 100, 149)] == [None, "c0", "c99", "c148"]


def test_an_index_follows_a_fork_and_forgets_what_that_has_not(
    objects: Objects, cache: Cache, line: list[SessionTree]
) -> None:
    fork = trees(objects, "f", 120, line[104])
    index = IdIndex(cache)
    for tree, own, others in ((line[-1], 240, 0), (fork[-1], 105, 120), (line[-1], 240, 0), (line[50], 51, 0)):
        index.follow(objects, tree)
        assert names(index, "c", 240) == [number if number < own else None for number in range(240)]
        assert names(index, "f", 120) == [105 + number if number < others else None for number in range(120)]


@settings(max_examples=25)
@given(st.lists(st.integers(0, 239), min_size=1, max_size=6))
def test_wherever_it_goes_an_index_is_as_one_that_began_there(
    objects: Objects, cache: Cache, line: list[SessionTree], steps: list[int]
) -> None:
    index = IdIndex(cache)
    for step in steps:
        index.follow(objects, line[step])
        assert names(index, "c", 240) == [number if number <= step else None for number in range(240)]


@pytest.fixture
def small_directories(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has directories of 100 stand for those of 10,000."""
    objects = store.repository.objects
    monkeypatch.setattr("gitsession.ids.TOP_SIZE", 100)
    monkeypatch.setattr(
        "gitsession.ids.top_directories", lambda tree: [oid for _, oid in bottom_directories(objects, tree)]
    )


@pytest.mark.usefixtures("small_directories")
def test_an_index_that_grows_keeps_what_one_that_reads_keeps(store: Store) -> None:
    objects = store.repository.objects
    grown, read = Cache(store.path / "grown"), Cache(store.path / "read")
    index = IdIndex(grown)
    old = None
    for tree in trees(objects, "c", 250):
        index.grow(old, tree)
        old = tree
    assert old is not None
    IdIndex(read).follow(objects, old)
    assert {file.name: file.read_bytes() for file in read.path.iterdir()} == {
        file.name: file.read_bytes() for file in grown.path.iterdir()
    }
    assert names(index, "c", 251) == [*range(250), None]


@pytest.mark.usefixtures("small_directories")
@pytest.mark.parametrize("kept", ["as it was", "damaged", "cut short", "none"])
def test_the_ids_of_full_directories_are_the_same_from_what_was_kept(store: Store, kept: str) -> None:
    objects = store.repository.objects
    cache = Cache(store.path / "cache")
    tree = trees(objects, "c", 250)[-1]
    IdIndex(cache).follow(objects, tree)
    files = sorted(cache.path.iterdir())
    assert len(files) == 2
    for file in files:
        content = file.read_bytes()
        changed = {"damaged": content.replace(b"c1", b"d1"), "cut short": content[:-5]}.get(kept, content)
        file.write_bytes(changed) if kept != "none" else file.unlink()
    index = IdIndex(cache)
    index.follow(objects, tree)
    assert names(index, "c", 251) == [*range(250), None]


def test_an_index_of_a_session_that_lacks_a_delta_is_refused_and_of_one_id_twice_the_first_counts(
    objects: Objects, cache: Cache, line: list[SessionTree]
) -> None:
    tree, needed = line[103]._replace(count=105).with_delta("late", BLOB)
    objects.write_all(needed)
    with pytest.raises(Corrupt, match="do not follow each other from 100 on"):
        IdIndex(cache).follow(objects, tree)
    tree, needed = line[103].with_delta("c7", BLOB)
    objects.write_all(needed)
    index = IdIndex(cache)
    index.follow(objects, tree)
    assert (index.find("c7"), index.find("c103"), index.parent_of(104)) == (7, 103, "c103")
