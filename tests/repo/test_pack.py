import random
import resource
import struct
import subprocess
from hashlib import sha1
from pathlib import Path

import pytest

from gitsession import Store, Unavailable
from gitsession.repo.batch import GrowingBatch
from gitsession.repo.codec import BLOB_MODE, GitObject, git_object, tree_item
from gitsession.repo.pack import PackWriter
from tests.conftest import Git
from tests.importing import new_store, packs


@pytest.fixture
def store(store_path: Path) -> Store:
    return new_store(store_path)


@pytest.fixture
def writer(store: Store):
    writer = PackWriter(store.repository.objects)
    yield writer
    writer.close()


def trees(length: int) -> list[GitObject]:
    """Returns trees of which each is the one before with one item more."""
    content, made = b"", []
    for number in range(length):
        content += tree_item(BLOB_MODE, f"{number:06d}", git_object("blob", b"%d" % number).oid)
        made.append(git_object("tree", content))
    return made


class TestAFullDisk:
    def test_leaves_no_temporary_file(self, store: Store) -> None:
        """A limit on the size of files stands for it; it holds for this process, and is lifted again."""
        writer = PackWriter(store.repository.objects)
        limit, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, most))
        try:
            for number in range(5):
                writer.add(git_object("blob", random.Random(number).randbytes(9_000)))
            with pytest.raises(Unavailable, match="cannot write to the store"):
                writer.add(git_object("blob", random.Random(9).randbytes(90_000)))
            writer.close()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
        assert list(store.path.rglob("tmp_*")) == []


class TestAPack:
    def test_is_valid_to_git_and_read_back(self, store: Store, writer: PackWriter, git: Git) -> None:
        made = [git_object("blob", content) for content in (b"", b"x", bytes(range(256)) * 1000, b"y" * 70_000)]
        made += [git_object("blob", b"%d" % number) for number in range(300)]
        grown = trees(300)
        for one in made:
            writer.add(one)
        for before, one in zip([None, *grown], grown, strict=False):
            writer.add(one, before)
        writer.store()

        (path,) = packs(store)
        git("-C", store.path, "verify-pack", path.with_suffix(".idx"))
        git("-C", store.path, "index-pack", "--strict", "-o", store.path / "again.idx", path)
        assert (store.path / "again.idx").read_bytes() == path.with_suffix(".idx").read_bytes()
        for one in (*made, *grown):
            assert (one.kind, one.content) == store.repository.objects.find(one.oid)

    def test_holds_an_object_once(self, store: Store, writer: PackWriter) -> None:
        for _ in range(3):
            writer.add(git_object("blob", b"same"))

        assert len(writer) == 1

    def test_takes_little_for_a_tree_that_grows(self, writer: PackWriter) -> None:
        grown = trees(100)
        for before, one in zip([None, *grown], grown, strict=False):
            writer.add(one, before)

        assert writer.size < sum(len(one.content) for one in grown) / 10

    def test_has_chains_of_at_most_50(self, store: Store, writer: PackWriter, git: Git) -> None:
        grown = trees(200)
        for before, one in zip([None, *grown], grown, strict=False):
            writer.add(one, before)
        writer.store()

        lengths = git("-C", store.path, "verify-pack", "-s", packs(store)[0].with_suffix(".idx"))
        assert "chain length = 50" in lengths
        assert "chain length = 51" not in lengths

    def test_leaves_nothing_behind_when_it_is_empty_or_given_up(self, store: Store, writer: PackWriter) -> None:
        writer.store()
        other = PackWriter(store.repository.objects)
        other.add(git_object("blob", b"x"))
        other.close()
        writer.close()

        assert list((store.path / "objects" / "pack").iterdir()) == []

    def test_is_named_although_a_collection_removed_its_temporary_file(
        self, store: Store, writer: PackWriter, git: Git
    ) -> None:
        made = git_object("blob", b"x" * 1000)
        writer.add(made)
        git("-C", store.path, "prune", "--expire=now")
        assert list((store.path / "objects" / "pack").iterdir()) == []

        writer.store()

        assert ("blob", made.content) == store.repository.objects.find(made.oid)

    def test_comes_back_when_a_collection_took_it(self, store: Store, writer: PackWriter) -> None:
        made = git_object("blob", b"x" * 1000)
        writer.add(made)
        writer.store()
        for path in (store.path / "objects" / "pack").iterdir():
            path.unlink()

        writer.restore()

        assert store.repository.objects.exists(made.oid)

    def test_may_be_there_already(self, store: Store) -> None:
        for _ in range(2):
            writer = PackWriter(store.repository.objects)
            writer.add(git_object("blob", b"x"))
            writer.store()
            writer.close()

        assert len(packs(store)) == 1


class TestTheIndex:
    def test_has_a_second_table_for_offsets_beyond_2_gib(self, store: Store, writer: PackWriter) -> None:
        far = {
            b"\x01" * 20: (12, 1),
            b"\x02" * 20: ((1 << 31) - 1, 2),
            b"\x03" * 20: (1 << 31, 3),
            b"\xff" * 20: (5 << 33, 4),
        }
        writer._entries.update(far)

        index = writer._index(b"c" * 20)

        assert struct.unpack_from(">4sI", index) == (b"\xfftOc", 2)
        counts = struct.unpack_from(">256I", index, 8)
        assert (*counts[:5], counts[255]) == (0, 1, 2, 3, 3, 4)
        names = 8 + 1024
        assert list(far) == [index[names + 20 * place : names + 20 * place + 20] for place in range(4)]
        assert struct.unpack_from(">4I", index, names + 80) == (1, 2, 3, 4)
        assert struct.unpack_from(">4I", index, names + 96) == (12, (1 << 31) - 1, 1 << 31, 1 << 31 | 1)
        assert struct.unpack_from(">2Q", index, names + 112) == (1 << 31, 5 << 33)
        assert index[names + 128 :] == b"c" * 20 + sha1(index[:-20]).digest()


def test_git_takes_a_pack_of_large_objects(store: Store, writer: PackWriter) -> None:
    writer.add(git_object("blob", random.Random(1).randbytes(3_000_000)))
    writer.add(git_object("blob", b"z" * 20_000_000))
    writer.store()

    done = subprocess.run(["git", "-C", store.path, "verify-pack", packs(store)[0].with_suffix(".idx")], check=False)
    assert done.returncode == 0


class TestAGrowingBatch:
    @pytest.mark.parametrize(("count", "loose", "packed"), [(1, 1, 0), (100, 100, 0), (101, 0, 1), (500, 0, 1)])
    def test_becomes_loose_objects_or_a_pack(self, store: Store, count: int, loose: int, packed: int) -> None:
        batch = GrowingBatch(store.repository.objects)
        made = [git_object("blob", b"%d" % number) for number in range(count)]
        batch.add((one, None) for one in made)
        assert count == len(batch)

        batch.store()
        batch.close()

        assert (loose, packed) == (len(list((store.path / "objects").glob("??/*"))), len(packs(store)))
        assert all(store.repository.objects.exists(one.oid) for one in made[::50])

    def test_of_few_large_objects_is_a_pack(self, store: Store) -> None:
        batch = GrowingBatch(store.repository.objects)
        for number in range(3):
            batch.add([(git_object("blob", b"%d" % number * 2_000_000), None)])
        batch.store()
        batch.close()

        assert len(packs(store)) == 1

    @pytest.mark.parametrize("count", [3, 300])
    def test_is_stored_again_when_a_collection_took_it(self, store: Store, count: int, git: Git) -> None:
        batch = GrowingBatch(store.repository.objects)
        made = [git_object("blob", b"%d" % number) for number in range(count)]
        batch.add((one, None) for one in made)
        batch.store()
        for path in (store.path / "objects" / "pack").glob("*.keep"):
            path.unlink()  # as if a collection did not heed it
        git("-C", store.path, "gc", "--quiet", "--prune=now")
        assert not store.repository.objects.exists(made[0].oid)

        assert batch.restore()
        assert not batch.restore()
        batch.close()

        assert all(store.repository.objects.exists(one.oid) for one in made)

    def test_that_is_empty_may_be_stored(self, store: Store) -> None:
        batch = GrowingBatch(store.repository.objects)
        batch.restore()
        batch.store()
        batch.close()

        assert packs(store) == []
