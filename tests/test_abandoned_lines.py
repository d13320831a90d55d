from pathlib import Path

import pytest

from gitsession import (
    SessionCommit,
    Store,
)
from gitsession.branching import Branches
from gitsession.layout import HEADS
from tests.importing import (
    WENT_BACK,
    answer,
    new_store,
    original,
    prompt,
    take,
    take_bytes,
    tips,
)


@pytest.fixture
def store(store_path: Path) -> Store:
    return new_store(store_path)


class TestAbandonedLines:
    def test_get_a_branch_where_they_ended(self, store: Store, tmp_path: Path) -> None:
        result = take_bytes(store, b"".join(WENT_BACK), tmp_path / "abc.jsonl")

        assert result.abandoned == ("abc.d",)
        assert store.info("abc", at="d").oid == tips(store)["abc.d"]
        said = [message["content"] for message in store.messages("abc.d")]
        assert said == ["Hello", "Hi", "First try", "No good"]

    def test_get_it_when_the_user_went_back_however_the_file_grows(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "abc.jsonl"
        results = [take_bytes(store, b"".join(WENT_BACK[:length]), path) for length in range(1, 7)]

        assert [one.abandoned for one in results] == [(), (), (), (), ("abc.d",), ()]
        assert store.info("abc", at="d").oid == tips(store)["abc.d"]

    def test_are_not_moved_when_the_user_went_on_with_them(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "abc.jsonl"
        take_bytes(store, b"".join(WENT_BACK), path)
        store.bind("abc.d").commit(
            SessionCommit("mine", store.info("abc.d").head, [{"role": "user", "content": "Mine"}])
        )
        before = tips(store)

        result = take_bytes(store, b"".join([*WENT_BACK, prompt("g", "f", "More", 3)]), path)

        assert (result.session, result.new_commits, result.abandoned) == ("abc", 1, ())
        assert before["abc.d"] == tips(store)["abc.d"]

    def test_get_another_name_where_a_rewritten_file_ended_one_at_the_same_record(
        self, store: Store, tmp_path: Path
    ) -> None:
        path = tmp_path / "abc.jsonl"
        take_bytes(store, b"".join(WENT_BACK), path)
        rewritten = (prompt("a", None, "Good day", 0), *WENT_BACK[1:])

        result = take_bytes(store, b"".join(rewritten), path)

        assert result.session == "abc.a"
        (line_of_it,) = result.abandoned
        assert store.info("abc.a", at="d").oid == store.info(line_of_it).oid
        assert take(store, path)[0].abandoned == ()

    def test_get_another_name_where_the_rewritten_file_has_taken_it(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "abc.jsonl"
        take_bytes(store, b"".join(WENT_BACK[:2]) + prompt("x", "b"), path)
        # The first new record is the whole abandoned line.
        rewritten = (*WENT_BACK[:2], prompt("c", "b", "First try", 1), *WENT_BACK[4:])

        result = take_bytes(store, b"".join(rewritten), path)

        assert result.session == "abc.c"
        (line_of_it,) = result.abandoned
        assert store.info("abc.c", at="c").oid == store.info(line_of_it).oid
        assert b"".join(rewritten) == original(store, "abc.c")
        assert take(store, path)[0].abandoned == ()

    def test_get_it_where_the_file_was_rewritten_behind_them(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "abc.jsonl"
        take_bytes(store, b"".join(WENT_BACK[:4]) + prompt("x", "d"), path)

        result = take_bytes(store, b"".join(WENT_BACK), path)

        assert (result.session, result.abandoned) == ("abc.e", ("abc.d",))
        assert store.info("abc", at="d").oid == tips(store)["abc.d"]

    def test_do_not_make_a_prefix_ambiguous(self, store: Store, tmp_path: Path) -> None:
        take_bytes(store, b"".join(WENT_BACK), tmp_path / "abc-def.jsonl")

        assert store.find("abc") == "abc-def"
        assert store.find("abc-def.d") == "abc-def.d"

    @pytest.mark.parametrize("first", ["Hello", "Good day"])
    def test_are_compared_as_one_with_the_session_however_many_they_are(
        self, store: Store, tmp_path: Path, first: str
    ) -> None:
        """Also where the file was rewritten from its beginning, so that half of them are those of a derived branch."""
        path = tmp_path / "abc.jsonl"
        lines = [prompt("r0", None, "Hello"), answer("r1", "r0")]
        for number in range(2, 60, 2):
            lines += prompt(f"r{number}", "r1", f"Try {number}"), answer(f"r{number + 1}", f"r{number}")
        take_bytes(store, b"".join(lines), path)
        lines[0] = prompt("r0", None, first)
        take_bytes(store, b"".join(lines), path)
        assert len(tips(store)) == 29 * (1 if first == "Hello" else 2)

        branches = Branches(store.reader, "abc", store.repository.refs.names(HEADS))
        result = take_bytes(store, b"".join([*lines, prompt("last", "r59")]), path)

        assert len(branches._leaders) == (1 if first == "Hello" else 2)
        assert (result.new_commits, result.abandoned) == (1, ())
