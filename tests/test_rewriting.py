"""A file that was rewritten goes on beside what is stored: nothing in the store is overwritten."""

from pathlib import Path

import pytest

from gitsession import MessageEntry, Store

from .importing import answer, assert_flawless, new_store, original, prompt, take, take_bytes, talk, tips

R = talk(6)
LATER = [prompt("x4", "r3", "Another way"), answer("x5", "x4")]
LAST = [prompt("y4", "r3", "A third way"), answer("y5", "y4")]


@pytest.fixture
def store(store_path: Path) -> Store:
    return new_store(store_path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "abc.jsonl"


def joined(*lines: bytes) -> bytes:
    return b"".join(lines)


class TestARewrittenFile:
    def test_goes_on_as_a_branch_from_the_last_common_record(self, store: Store, path: Path) -> None:
        take_bytes(store, joined(*R), path)
        before = tips(store)

        result = take_bytes(store, joined(*R[:4], *LATER), path)

        assert (
            result.session,
            result.new_commits,
            result.branch_created,
            result.rewritten_from,
        ) == ("abc.x4", 2, True, "abc")
        assert before["abc"] == tips(store)["abc"]
        assert store.diff("abc", "abc.x4").common == 4
        assert joined(*R[:4], *LATER) == original(store, "abc.x4")

    def test_has_the_commits_of_one_that_was_never_anything_else(
        self, store: Store, path: Path, tmp_path: Path
    ) -> None:
        take_bytes(store, joined(*R), path)
        take_bytes(store, joined(*R[:4], *LATER), path)

        alone = new_store(tmp_path / "alone.git")
        take(alone, path)
        assert tips(alone)["abc"] == tips(store)["abc.x4"]

    def test_grows_on_its_branch(self, store: Store, path: Path) -> None:
        take_bytes(store, joined(*R), path)
        take_bytes(store, joined(*R[:4], LATER[0]), path)

        result = take_bytes(store, joined(*R[:4], *LATER), path)

        assert (
            result.session,
            result.new_commits,
            result.branch_created,
            result.rewritten_from,
        ) == ("abc.x4", 1, False, None)
        assert {"abc", "abc.x4"} == tips(store).keys()

    def test_may_be_rewritten_again_and_again(self, store: Store, path: Path) -> None:
        versions = [joined(*R), joined(*R[:4], *LATER), joined(*R[:4], *LAST), joined(*R[:2], *LAST), joined(*LAST)]
        sessions = [take_bytes(store, version, path).session for version in versions]

        assert len(set(sessions)) == 5
        assert versions == [original(store, session) for session in sessions]
        before = tips(store)
        # Back to each of them: all is there.
        again = [take_bytes(store, version, path) for version in versions]
        assert [(session, 0) for session in sessions] == [(one.session, one.new_commits) for one in again]
        assert before == tips(store)
        assert_flawless(store)

    def test_may_be_rewritten_at_one_record_again_and_again(self, store: Store, path: Path) -> None:
        versions = [joined(*R[:4], prompt("r4", "r3", f"Version {number}")) for number in range(4)]
        sessions = [take_bytes(store, version, path).session for version in versions]

        assert sessions[:2] == ["abc", "abc.r4"]
        assert len(set(sessions)) == 4
        assert versions == [original(store, session) for session in sessions]
        assert [take_bytes(store, version, path).new_commits for version in versions] == [0, 0, 0, 0]

    def test_goes_on_where_it_was_when_it_is_back_and_grows(self, store: Store, path: Path) -> None:
        take_bytes(store, joined(*R), path)
        take_bytes(store, joined(*R[:4], *LATER), path)

        result = take_bytes(store, joined(*R, prompt("r6", "r5")), path)

        assert (result.session, result.new_commits, result.rewritten_from) == ("abc", 1, None)

    def test_that_was_truncated_changes_nothing_until_it_grows_another_way(self, store: Store, path: Path) -> None:
        take_bytes(store, joined(*R), path)
        before = tips(store)

        truncated = take_bytes(store, joined(*R[:3]), path)

        assert (truncated.new_commits, truncated.session) == (0, "abc")
        assert before == tips(store)
        assert take_bytes(store, joined(*R), path).session == "abc"
        assert take_bytes(store, joined(*R[:4], *LATER), path).session == "abc.x4"

    def test_that_began_anew_shares_nothing(self, store: Store, path: Path) -> None:
        take_bytes(store, joined(*R), path)
        path.write_bytes(b"")

        result = take_bytes(store, joined(*LATER), path)

        assert (result.session, result.rewritten_from) == ("abc.x4", "abc")
        assert store.diff("abc", "abc.x4").common == 0
        assert joined(*LATER) == original(store, "abc.x4")

    def test_with_a_changed_time_or_a_changed_byte_is_rewritten(self, store: Store, path: Path) -> None:
        take_bytes(store, joined(*R), path)

        result = take_bytes(store, joined(*R[:3], R[3].replace(b'": "', b'":"', 1), *R[4:]), path)

        assert result.session == "abc.r3"
        assert {"abc", "abc.r3"} == tips(store).keys()

    def test_keeps_its_own_session_id_and_header(self, store: Store, path: Path) -> None:
        take_bytes(store, joined(*R), path)
        take_bytes(store, joined(*R[:4], *LATER), path)

        info = store.info("abc.x4")
        assert (info.id, info.parent_session) == ("abc.x4", "abc")
        assert store.find("ab") == "abc"


class TestEntriesOfTheUsers:
    ENTRY = MessageEntry({"role": "user", "content": "By hand"}, id="mine", timestamp="2026-01-06T00:00:00Z")

    def test_stay_where_they_are_while_the_file_goes_on_beside_them(self, store: Store, path: Path) -> None:
        take_bytes(store, joined(*R[:4]), path)
        store.append("abc", self.ENTRY)
        before = tips(store)["abc"]

        unchanged = take_bytes(store, joined(*R[:4]), path)
        grown = take_bytes(store, joined(*R), path)
        later = take_bytes(store, joined(*R, prompt("r6", "r5")), path)

        assert (unchanged.new_commits, unchanged.session) == (0, "abc")
        assert (grown.session, grown.new_commits, grown.rewritten_from) == ("abc.r4", 2, "abc")
        assert (later.session, later.new_commits) == ("abc.r4", 1)
        assert before == tips(store)["abc"]

    def test_on_the_derived_branch_give_another_one(self, store: Store, path: Path) -> None:
        take_bytes(store, joined(*R[:2]), path)
        store.append("abc", self.ENTRY)
        take_bytes(store, joined(*R[:4]), path)
        store.append("abc.r2", self.ENTRY)

        result = take_bytes(store, joined(*R), path)

        assert result.session == "abc.r4"
        assert joined(*R) == original(store, "abc.r4")

    def test_the_commits_are_those_of_the_file_alone(self, store: Store, path: Path, tmp_path: Path) -> None:
        take_bytes(store, joined(*R[:4]), path)
        store.append("abc", self.ENTRY)
        take_bytes(store, joined(*R), path)

        alone = new_store(tmp_path / "alone.git")
        take(alone, path)
        assert tips(alone)["abc"] == tips(store)["abc.r4"]


@pytest.mark.parametrize(
    "name", ["s" * 200, "s" * 190, "ä" * 33, "a" * 40, "HEAD", "ends.in.a.dot.", "con", "-x", "a b.lock"]
)
class TestSessionIdsThatAreHardToName:
    def test_are_found_again_with_their_derived_branches(self, store: Store, tmp_path: Path, name: str) -> None:
        path = tmp_path / f"{name}.jsonl"
        versions = [joined(*R), joined(*R[:4], *LATER), joined(*R[:4], *LAST), joined(*R[:4], *LATER, *LAST)]
        sessions = [take_bytes(store, version, path).session for version in versions]

        assert name == sessions[0]
        assert len(set(sessions)) == 3
        assert sessions[1] == sessions[3]
        before = tips(store)
        assert [take_bytes(store, version, path).new_commits for version in versions[2:]] == [0, 0]
        assert before == tips(store)

    def test_stay_the_meaning_of_their_prefix(self, store: Store, tmp_path: Path, name: str) -> None:
        path = tmp_path / f"{name}.jsonl"
        take_bytes(store, joined(*R), path)
        take_bytes(store, joined(*R[:4], *LATER), path)

        assert name == store.find(name)
        assert name == store.find(name[:2])


def test_abandoned_lines_of_a_session_with_a_long_id_are_made_once(store: Store, tmp_path: Path) -> None:
    path = tmp_path / f"{'s' * 190}.jsonl"
    content = joined(*talk(2), prompt("c", "r1", "One"), answer("d", "c"), prompt("e", "r1", "Two"), answer("f", "e"))

    first, second = take_bytes(store, content, path), take_bytes(store, content, path)

    assert (len(first.abandoned), len(second.abandoned)) == (1, 0)
    assert len(tips(store)) == 2
