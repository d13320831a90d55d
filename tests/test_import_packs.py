from pathlib import Path

import pytest

from gitsession import (
    Store,
)
from gitsession.errors import SessionExists
from tests.importing import (
    assert_flawless,
    failures,
    new_store,
    packs,
    take,
    take_bytes,
    talk,
    tips,
)


@pytest.fixture
def store(store_path: Path) -> Store:
    return new_store(store_path)


class TestPacks:
    def test_many_small_transcripts_become_one_pack(self, store: Store, tmp_path: Path) -> None:
        root = tmp_path / "files"
        root.mkdir()
        for number in range(300):
            (root / f"s{number:03d}.jsonl").write_bytes(b"".join(talk(4)))

        results = take(store, root)

        assert 300 == len(results) == len(tips(store))
        assert len(packs(store)) == 1
        assert list((store.path / "objects").glob("??/*")) == []
        assert_flawless(store)

    def test_one_new_record_becomes_a_few_loose_objects(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "abc.jsonl"
        take_bytes(store, b"".join(talk(200)), path)

        take_bytes(store, b"".join(talk(201)), path)

        assert len(packs(store)) == 1
        assert len(list((store.path / "objects").glob("??/*"))) == 5

    def test_nothing_temporary_is_left(self, store: Store, tmp_path: Path) -> None:
        take_bytes(store, b"".join(talk(200)), tmp_path / "abc.jsonl")

        assert list(store.path.rglob("tmp_*")) == []

    def test_a_long_file_is_stored_in_several(
        self, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = new_store(tmp_path / "whole.git")
        path = tmp_path / "abc.jsonl"
        take_bytes(whole, b"".join(talk(400)), path)
        monkeypatch.setattr("gitsession.import_run._BATCH_OBJECTS", 500)

        (result,) = take(store, path)

        assert (result.new_commits, result.branch_created) == (400, True)
        assert len(packs(store)) in range(3, 6)
        assert tips(whole) == tips(store)
        assert_flawless(store)

    def test_the_few_objects_that_a_long_file_ends_with_become_a_pack_too(
        self, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("gitsession.import_run._BATCH_OBJECTS", 500)
        for number, records in enumerate((101, 110, 202)):
            take_bytes(store, b"".join(talk(records)), tmp_path / f"s{number}.jsonl")

        assert list((store.path / "objects").glob("??/*")) == []
        assert_flawless(store)

    def test_a_long_file_whose_branch_is_in_the_way_is_given_up(
        self, store: Store, tmp_path: Path, git, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        take_bytes(store, b"".join(talk(4)), tmp_path / "other.jsonl")
        git("-C", store.path, "branch", "abc/mine", "other")
        (tmp_path / "abc.jsonl").write_bytes(b"".join(talk(400)))
        monkeypatch.setattr("gitsession.import_run._BATCH_OBJECTS", 500)

        ((_path, error),) = failures(store, tmp_path / "abc.jsonl")

        assert isinstance(error, SessionExists)
