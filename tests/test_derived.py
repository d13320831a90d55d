"""Which of the sessions that an import derived from one are lines that were left, and in which session each was."""

from pathlib import Path

import pytest

from gitsession import Graph, MessageEntry, SessionCommit, Store
from tests.importing import WENT_BACK, answer, new_store, prompt, take, take_bytes, tips

# What another file of the same name goes on with from `b`, and a line that was left in it: it ended with `n`.
REWRITTEN = (
    *WENT_BACK[:2],
    prompt("m", "b", "Otherwise", 5),
    answer("n", "m", "So", 5),
    prompt("o", "b", "Or else", 6),
    answer("p", "o", "Or so", 6),
)


@pytest.fixture
def store(store_path: Path) -> Store:
    return new_store(store_path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "abc.jsonl"


def named(store: Store) -> dict[str, tuple[list[str], list[str]]]:
    """Returns of each session that names others the lines that were left in it, and what goes on beside it."""
    found = {}
    for name in tips(store):
        derived = [*store.derived(name)]
        lines = [info.id for info, left_in in derived if left_in == name]
        assert lines == [info.id for info in store.lines(name)]
        beside = [info.id for info, left_in in derived if left_in is None]
        if lines or beside:
            found[name] = (lines, beside)
    told = [name for lists in found.values() for names in lists for name in names]
    assert sorted(told) == sorted(name for name in tips(store) if name != "abc"), "each is named in one place"
    return found


def test_a_line_is_named_where_it_was_left_if_that_goes_on_beside_the_session(store: Store, path: Path) -> None:
    take_bytes(store, b"".join(WENT_BACK), path)
    assert take_bytes(store, b"".join(REWRITTEN), path).session == "abc.m"
    assert named(store) == {"abc": (["abc.d"], ["abc.m"]), "abc.m": (["abc.n"], [])}
    assert [left_in for _, left_in in store.derived("abc")] == ["abc", None, "abc.m"]


def test_a_line_that_ended_before_the_file_was_rewritten_is_named_in_the_session_alone(
    store: Store, path: Path
) -> None:
    take_bytes(store, b"".join([*WENT_BACK, prompt("x", "f")]), path)
    assert take_bytes(store, b"".join([*WENT_BACK, prompt("y", "f")]), path).session == "abc.y"
    assert named(store) == {"abc": (["abc.d"], ["abc.y"])}


def test_a_line_that_ended_in_what_both_begin_with_is_named_in_the_session_itself(store: Store, path: Path) -> None:
    take_bytes(store, b"".join(WENT_BACK[:4]) + prompt("x", "d"), path)
    assert take_bytes(store, b"".join(WENT_BACK), path).session == "abc.e"
    # Only in the rewritten file did the user go back, but to what the session has as well.
    assert named(store) == {"abc": (["abc.d"], ["abc.e"])}


def test_of_two_that_go_on_beside_it_the_one_from_which_the_other_parted_has_the_line(store: Store, path: Path) -> None:
    take_bytes(store, b"".join(WENT_BACK), path)
    take_bytes(store, b"".join([*REWRITTEN, prompt("q", "p", "More", 7)]), path)
    longer = [*REWRITTEN, prompt("z", "p", "Another", 7), answer("zz", "z", "Yes", 7)]
    assert take_bytes(store, b"".join(longer), path).session == "abc.z"
    assert named(store) == {"abc": (["abc.d"], ["abc.m", "abc.z"]), "abc.m": (["abc.n"], [])}


def test_a_file_that_was_rewritten_from_its_beginning_has_its_own_lines(store: Store, path: Path) -> None:
    take_bytes(store, b"".join(WENT_BACK), path)
    (second,) = take_bytes(store, prompt("a", None, "Good day", 0) + b"".join(WENT_BACK[1:]), path).abandoned
    assert named(store) == {"abc": (["abc.d"], ["abc.a"]), "abc.a": ([second], [])}


def test_a_line_that_something_was_appended_to_is_none_that_was_left_in_the_session(store: Store, path: Path) -> None:
    take_bytes(store, b"".join(WENT_BACK[:2]), path)
    store.append("abc", MessageEntry({"role": "user", "content": "mine"}))

    take_bytes(store, b"".join([*WENT_BACK[:2], prompt("n", None, "From the beginning", 5)]), path)

    assert named(store) == {"abc": ([], ["abc.n"]), "abc.n": (["abc.b"], [])}


def test_a_line_that_somebody_went_on_with_stays_where_it_was_left(store: Store, path: Path) -> None:
    take_bytes(store, b"".join(WENT_BACK), path)
    take_bytes(store, b"".join(REWRITTEN), path)
    store.bind("abc.n").commit(SessionCommit("mine", store.info("abc.n").head, [{"role": "user", "content": "Mine"}]))
    assert named(store) == {"abc": (["abc.d"], ["abc.m"]), "abc.m": (["abc.n"], [])}


def test_without_the_session_itself_what_goes_on_beside_it_keeps_its_lines(store: Store, path: Path, git) -> None:
    take_bytes(store, b"".join(WENT_BACK), path)
    take_bytes(store, b"".join(REWRITTEN), path)
    git("-C", store.path, "branch", "-D", "abc")
    assert [info.id for info in store.lines("abc.m")] == ["abc.n"]
    assert take(store, path)[0].session == "abc"


def test_other_sessions_of_its_header_have_no_lines_of_it(store: Store, path: Path, git) -> None:
    take_bytes(store, b"".join(WENT_BACK), path)
    git("-C", store.path, "branch", "copy", "abc")
    store.fork("abc", "fork")
    assert [name for name in tips(store) if store.lines(name)] == ["abc"]


def test_a_line_of_what_goes_on_beside_is_drawn_in_that(store: Store, path: Path) -> None:
    take_bytes(store, b"".join(WENT_BACK), path)
    take_bytes(store, b"".join(REWRITTEN), path)
    found = [(one.entry.commit_id, one.sessions) for one in Graph(store, "abc.n")]
    assert found == [(one.entry.commit_id, one.sessions) for one in Graph(store, "abc.m")]
    assert [one for one in found if one[1]] == [
        *(("p", ("abc.m",)), ("n", ("abc.n",)), ("f", ("abc",)), ("d", ("abc.d",)))
    ]
