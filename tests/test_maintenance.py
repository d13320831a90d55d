"""Maintenance: what gathers is packed, nothing is lost, and it is due when enough has gathered."""

import os
import sys
import time
from pathlib import Path

import pytest

from gitsession import SessionCommit, SessionMeta, Store, StoreBusy, is_maintenance_due, maintain, verify
from gitsession.repo.codec import git_object
from gitsession.repo.pack import PackWriter
from tests.conftest import Git
from tests.importing import take, talk
from tests.stores import everything

OLD = 15 * 24 * 3600


def grow(store: Store, session: str, count: int) -> None:
    """Adds commits of one message to a session."""
    bound = store.bind(session)
    first = store.info(session).deltas if session in {meta.id for meta in store.list()} else 0
    for number in range(first, first + count):
        bound.commit(SessionCommit(f"c{number}", f"c{number - 1}" if number else None, [{"n": number}]))


def sample(store: Store, count: int) -> None:
    """Puts files where the number of loose objects is guessed from."""
    directory = store.path / "objects" / "17"
    directory.mkdir(exist_ok=True)
    for number in range(count):
        (directory / f"{number:038x}").touch()


def packs(store: Store) -> list[Path]:
    return sorted((store.path / "objects" / "pack").glob("*.pack"))


def test_all_objects_are_packed_and_all_is_there(store: Store, git: Git) -> None:
    for session in ("a", "b"):
        grow(store, session, 30)
    loaded = store.load("a")
    kept = everything(store)
    loose = len([*store.path.glob("objects/??/*")])
    done = maintain(store)
    assert (done.loose_before, done.loose_after, done.packs_before, done.packs_after) == (loose, 0, 0, 1)
    assert done.bytes_after < done.bytes_before
    assert loaded == store.load("a") == Store.open(store.path).load("a")
    assert kept == everything(store)
    assert list(verify(store)) == []
    git("-C", store.path, "fsck", "--strict")
    assert (store.path / "packed-refs").exists()
    assert (store.path / "objects" / "info" / "commit-graphs").is_dir()


def test_small_packs_are_put_together(store: Store) -> None:
    for _ in range(5):
        grow(store, "a", 4)
        maintain(store)
    assert len(packs(store)) == 2
    assert store.info("a").deltas == 20
    assert list(verify(store)) == []


def test_one_pack_needs_no_index_of_several(store: Store, tmp_path: Path, git: Git) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"".join(talk(120)))
    take(store, tmp_path / "a.jsonl")
    git("-C", store.path, "multi-pack-index", "write")
    index = store.path / "objects" / "pack" / "multi-pack-index"
    assert index.exists()
    maintain(store)
    assert (len(packs(store)), index.exists()) == (1, False)
    assert list(verify(store)) == []


def test_the_pack_of_an_import_that_is_at_work_is_left_alone(store: Store) -> None:
    writer = PackWriter(store.repository.objects)
    writer.add(git_object("blob", b"x" * 1000))
    writer.store()
    written = packs(store)
    maintain(store)
    assert written == packs(store)
    writer.close()


def test_an_object_that_no_branch_reaches_stays(store: Store) -> None:
    grow(store, "a", 3)
    oid = store.repository.objects.write("blob", b"written, and its branch not moved yet")
    maintain(store)
    assert store.repository.objects.read(oid, "blob") == b"written, and its branch not moved yet"


def test_an_empty_store_is_maintained(store: Store) -> None:
    done = maintain(store)
    assert (done.loose_before, done.loose_after, done.packs_before, done.packs_after) == (0, 0, 0, 0)


def test_temporary_files_go_when_they_are_old(store: Store) -> None:
    store.create(SessionMeta("a"))
    objects = store.path / "objects"
    places = [objects, objects / "pack", store.path / "gitsession", next(objects.glob("??"))]
    old = [place / "tmp_obj_123_abcd_1" for place in places] + [store.path / "gitsession" / "stale.1.2"]
    young = [place / "tmp_obj_124_abcd_1" for place in places]
    other = objects / "pack" / "mine"
    for path in (*old, *young, other):
        path.touch()
    for path in (*old, other):
        os.utime(path, (time.time() - OLD, time.time() - OLD))
    assert maintain(store).removed == len(old)
    assert [path for path in old if path.exists()] == []
    assert [path for path in (*young, other) if not path.exists()] == []


def test_one_maintenance_runs_at_a_time(store: Store) -> None:
    with store.repository.upkeep.hold() as held:
        assert held
        with pytest.raises(StoreBusy, match="maintenance"):
            maintain(store)
        sample(store, 100)
        assert not is_maintenance_due(store)
    assert not is_maintenance_due(store)


def test_it_is_due_when_thousands_of_objects_are_loose(store: Store) -> None:
    sample(store, 27)
    assert not is_maintenance_due(store)
    sample(store, 28)
    assert is_maintenance_due(store)


def test_it_is_due_when_there_are_many_packs(store: Store) -> None:
    for number in range(50):
        (store.path / "objects" / "pack" / f"pack-{number}.pack").touch()
    assert not is_maintenance_due(store)
    (store.path / "objects" / "pack" / "pack-50.pack").touch()
    assert is_maintenance_due(store)


def test_what_could_not_be_packed_does_not_make_it_due_again(store: Store) -> None:
    sample(store, 29)
    assert is_maintenance_due(store)
    with store.repository.upkeep.hold():
        pass  # as one that left all as it was
    assert not is_maintenance_due(store)
    sample(store, 29 + 28)
    assert is_maintenance_due(store)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_a_pipe_in_place_of_its_mark_says_nothing(store: Store) -> None:
    sample(store, 29)
    os.mkfifo(store.path / "gitsession" / "maintenance")
    assert is_maintenance_due(store)


def test_a_store_may_turn_it_off(store: Store, git: Git) -> None:
    sample(store, 100)
    git("-C", store.path, "config", "gitsession.maintain", "false")
    assert not is_maintenance_due(Store.open(store.path))
