from pathlib import Path

import pytest

from gitsession import (
    ImportFailure,
    ImportResult,
    SessionMeta,
    Store,
    import_transcripts,
)
from gitsession.errors import SessionExists
from tests.importing import (
    FIXTURES,
    new_store,
    take,
    take_bytes,
    talk,
    tips,
)


@pytest.fixture
def store(store_path: Path) -> Store:
    return new_store(store_path)


class TestOtherSessions:
    """A session whose id begins like another's is not a branch of it."""

    @pytest.mark.parametrize("names", [("abc", "abc.old"), ("abc.old", "abc")])
    def test_a_copy_under_a_longer_name_is_a_session_of_its_own(
        self, store: Store, tmp_path: Path, names: tuple[str, str]
    ) -> None:
        content = b"".join(talk(4))
        for name in names:
            take_bytes(store, content, tmp_path / f"{name}.jsonl")

        alone = new_store(tmp_path / "alone.git")
        take(alone, tmp_path / "abc.jsonl")
        assert {"abc", "abc.old"} == tips(store).keys()
        assert tips(alone)["abc"] == tips(store)["abc"]
        assert store.info("abc.old").meta.id == "abc.old"

    def test_another_session_under_a_longer_name_is_left_alone(self, store: Store, tmp_path: Path) -> None:
        take_bytes(store, b"".join(talk(4, "q")), tmp_path / "abc.old.jsonl")
        before = tips(store)["abc.old"]

        result = take_bytes(store, b"".join(talk(4)), tmp_path / "abc.jsonl")

        assert (result.session, result.rewritten_from) == ("abc", None)
        assert before == tips(store)["abc.old"]

    def test_a_session_made_by_hand_is_not_gone_on_with(self, store: Store, tmp_path: Path) -> None:
        store.create(SessionMeta("abc", title="Mine"))
        alone = new_store(tmp_path / "alone.git")

        result = take_bytes(store, b"".join(talk(4)), tmp_path / "abc.jsonl")

        take(alone, tmp_path / "abc.jsonl")
        assert store.info("abc").title == "Mine"
        assert result.session == "abc.r0"
        assert tips(alone)["abc"] == tips(store)["abc.r0"]
        assert take(store, tmp_path / "abc.jsonl")[0].new_commits == 0

    def test_a_branch_that_was_deleted_comes_back_as_it_was(self, store: Store, git) -> None:
        path = FIXTURES / "claude-code" / "rewind.jsonl"
        take(store, path)
        before = tips(store)
        git("-C", store.path, "branch", "-D", "rewind")

        take(store, path)

        assert before == tips(store)

    def test_a_branch_in_the_way_is_named_and_the_rest_is_imported(self, store: Store, tmp_path: Path, git) -> None:
        take_bytes(store, b"".join(talk(4)), tmp_path / "other.jsonl")
        git("-C", store.path, "branch", "abc/mine", "other")
        (tmp_path / "abc.jsonl").write_bytes(b"".join(talk(4)))
        (tmp_path / "last.jsonl").write_bytes(b"".join(talk(4)))

        results = list(import_transcripts(store, [tmp_path / "abc.jsonl", tmp_path / "last.jsonl"]))

        failed, done = sorted(results, key=lambda one: isinstance(one, ImportResult))
        assert isinstance(failed, ImportFailure)
        assert isinstance(failed.error, SessionExists)
        assert "abc/mine" in str(failed.error)
        assert isinstance(done, ImportResult)
        assert {"abc/mine", "last", "other"} == tips(store).keys()
