"""The object database: loose objects and packs, sound and damaged."""

import os
import threading
import time
from pathlib import Path

import pytest

from gitsession import Corrupt, SessionCommit, Store, Unavailable
from gitsession.repo.codec import git_object
from gitsession.repo.objects import Objects
from gitsession.repo.repository import Repository
from tests.conftest import Git
from tests.stores import HELLO, HI


@pytest.fixture
def repository(store_path: Path) -> Repository:
    return Repository.init(store_path, durable=False, wait=1.0)


@pytest.fixture
def objects(repository: Repository) -> Objects:
    return repository.objects


def file_of(objects: Objects, oid: str) -> Path:
    return objects.path / oid[:2] / oid[2:]


def damage(path: Path, content: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(content)


DAMAGES = {
    "empty": lambda sound: b"",
    "cut in the middle": lambda sound: sound[: len(sound) // 2],
    "without its last byte": lambda sound: sound[:-1],
    "NULs": lambda sound: b"\0" * len(sound),
    "a NUL tail": lambda sound: sound[: len(sound) // 2] + b"\0" * (len(sound) - len(sound) // 2),
    "a flipped bit": lambda sound: sound[:-5] + bytes([sound[-5] ^ 4]) + sound[-4:],
    "another text": lambda sound: b"garbage",
}


@pytest.mark.parametrize("size", [0, 3, 5000, 3_000_000])
def test_an_object_that_was_written_is_read(objects: Objects, git: Git, size: int) -> None:
    content = b"x" * size
    oid = objects.write("blob", content)
    assert objects.read(oid, "blob") == content
    assert git("-C", objects.path.parent, "cat-file", "-t", oid) == "blob\n"


def test_no_temporary_file_is_left(objects: Objects) -> None:
    objects.write("blob", b"x")
    assert [path.name for path in objects.path.iterdir() if path.name.startswith("tmp")] == []


def test_an_object_that_is_missing_is_corrupt_and_named(objects: Objects) -> None:
    oid = "12" * 20
    assert objects.find(oid) is None
    assert not objects.exists(oid)
    with pytest.raises(Corrupt, match=f"the tree {oid} is missing") as caught:
        objects.read(oid, "tree")
    assert caught.value.oid == oid


def test_an_object_of_another_kind_is_corrupt(objects: Objects) -> None:
    oid = objects.write("blob", b"x")
    with pytest.raises(Corrupt, match=f"the object {oid} is a blob, where a tree is expected"):
        objects.read(oid, "tree")


@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.parametrize("size", [300, 100_000])
def test_a_damaged_loose_object_is_corrupt_at_once_and_heals_when_it_is_written_again(
    objects: Objects, kind: str, size: int
) -> None:
    content = b"abcdefghij" * (size // 10)
    oid = objects.write("blob", content)
    path = file_of(objects, oid)
    damage(path, DAMAGES[kind](path.read_bytes()))
    began = time.monotonic()
    with pytest.raises(Corrupt) as caught:
        objects.read(oid, "blob")
    assert caught.value.oid == oid
    assert not objects.exists(oid)
    assert time.monotonic() - began < 1
    assert objects.write("blob", content) == oid
    assert objects.read(oid, "blob") == content


def test_an_object_that_is_a_directory_is_unavailable(objects: Objects) -> None:
    oid = "12" * 20
    file_of(objects, oid).mkdir(parents=True)
    with pytest.raises(Unavailable, match=oid):
        objects.find(oid)


def test_writing_again_renews_the_age_so_that_gc_spares_it(objects: Objects) -> None:
    oid = objects.write("blob", b"x")
    path = file_of(objects, oid)
    path.touch()
    os.utime(path, (1, 1))
    objects.write("blob", b"x")
    assert time.time() - path.stat().st_mtime < 60


def test_packs_are_read_also_those_that_came_later(repository: Repository, git: Git) -> None:
    objects = repository.objects
    store = Store.open(repository.path, durable=False)
    store.bind("s").commit(SessionCommit("a", None, [HELLO]))
    oid = store.info("s").oid
    git("-C", repository.path, "gc", "-q")
    assert not file_of(objects, oid).exists()
    assert objects.read(oid, "commit") == objects.read(oid, "commit")
    store.bind("s").commit(SessionCommit("b", "a", [HI]))
    later = store.info("s").oid
    git("-C", repository.path, "repack", "-adq")
    assert objects.find(oid) is not None
    assert objects.read(later, "commit")


@pytest.mark.parametrize("change", [0x01, 0x55, 0xFF])
def test_a_damaged_pack_is_corrupt_at_once(store: Store, git: Git, change: int) -> None:
    head = None
    for number in range(30):
        head = store.bind("s").commit(SessionCommit(f"c{number}", head, [{"text": "x" * 200, "n": number}])).head
    git("-C", store.path, "gc", "-q")
    (pack,) = (store.path / "objects/pack").glob("*.pack")
    content = bytearray(pack.read_bytes())
    for place in range(40, len(content) - 20, 50):
        content[place] ^= change
    damage(pack, bytes(content))
    began = time.monotonic()
    with pytest.raises(Corrupt):
        list(Store.open(store.path).bind("s").load().messages)
    assert time.monotonic() - began < 2


def test_a_cut_pack_index_is_corrupt_or_missing_objects(store: Store, git: Git) -> None:
    store.bind("s").commit(SessionCommit("c", None, [HELLO]))
    git("-C", store.path, "gc", "-q")
    (index,) = (store.path / "objects/pack").glob("*.idx")
    damage(index, index.read_bytes()[:500])
    with pytest.raises(Corrupt):
        Store.open(store.path).bind("s").load()


def test_threads_read_and_write_the_same_objects(objects: Objects) -> None:
    faults: list[BaseException] = []

    def work() -> None:
        try:
            for number in range(50):
                content = b"%d" % number
                assert objects.read(objects.write("blob", content), "blob") == content
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


# What a session says of it.


@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.parametrize("which", ["commit", "tree", "blob", "header"])
def test_a_session_with_a_damaged_object_is_corrupt_and_hides_no_other(
    store: Store, git: Git, kind: str, which: str
) -> None:
    store.bind("good").commit(SessionCommit("c", None, [HI]))
    store.bind("s").commit(SessionCommit("c", None, [HELLO]))
    paths = git("-C", store.path, "ls-tree", "-r", "--name-only", "s").splitlines()
    name = {"commit": "s", "tree": "s^{tree}", "blob": f"s:{paths[0]}", "header": "s:session.json"}[which]
    oid = git("-C", store.path, "rev-parse", name).strip()
    path = store.path / "objects" / oid[:2] / oid[2:]
    damage(path, DAMAGES[kind](path.read_bytes()))
    again = Store.open(store.path, durable=False)
    with pytest.raises(Corrupt) as caught:
        list(again.bind("s").load().messages)
    assert caught.value.oid == oid
    assert again.bind("good").load().messages == [HI]
    if which != "blob":
        with pytest.warns(UserWarning, match=oid):
            assert [meta.id for meta in again.list()] == ["good"]


def test_a_temporary_file_that_a_collection_removes_is_written_again(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = os.replace
    removed: list[str] = []

    def removing_the_first(source: str, target: str) -> None:
        if not removed:
            removed.append(source)
            Path(source).unlink()
        publish(source, target)

    monkeypatch.setattr(os, "replace", removing_the_first)
    made = [git_object("blob", b"one"), git_object("blob", b"two")]
    repository.objects.write_all(made)
    assert len(removed) == 1
    assert [repository.objects.read(one.oid, "blob") for one in made] == [b"one", b"two"]
