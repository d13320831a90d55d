"""The tree of a pi session: which line the agent would resume, and which ones were left."""

import pytest
from pi_logs import answer, entry, ids, left, message, user
from transcript_files import FIXTURES, records_of

from gitsession.transcripts import FORMATS, Record

START = [user("u1", None, "one"), answer("a1", "u1", "1")]


def test_the_last_entry_in_the_file_ends_the_line() -> None:
    log = [*START, user("u2", "a1", "two"), answer("a2", "u2", "2"), user("u3", "a1", "three")]
    assert ids(log) == ["u1", "a1", "u3"]
    assert left(log) == [("a2", "a1")]
    assert ids(log[:4]) == ["u1", "a1", "u2", "a2"]
    assert left(log[:4]) == []


def test_an_entry_of_any_kind_ends_the_line() -> None:
    log = [*START, user("u2", "a1", "two"), entry("l1", "a1", "label", targetId="a1", label="here")]
    assert ids(log) == ["u1", "a1"]
    assert left(log) == [("u2", "a1")]


def test_a_mark_of_the_leaf_does_not_end_the_line() -> None:
    log = [*START, Record(b"", {"type": "leaf", "id": "x", "entry_id": "u1"}, id="x")]
    assert ids(log) == ["u1", "a1"]


def test_lines_may_be_left_within_a_line_that_was_left() -> None:
    log = [*START, user("u2", "a1", "2"), answer("a2", "u2", "2"), user("u3", "a2", "3"), user("u4", "a2", "4")]
    log.append(user("u5", "a1", "5"))
    assert left(log) == [("u3", "a2"), ("u4", "a1")]


def test_what_nobody_said_is_no_line() -> None:
    log = [*START, entry("l1", "a1", "label", targetId="a1", label="x"), entry("c1", "a1", "custom", customType="x")]
    assert left([*log, user("u2", "a1", "two")]) == []


def test_the_first_prompt_may_be_asked_anew() -> None:
    log = [*START, user("u2", None, "another")]
    assert ids(log) == ["u2"]
    assert left(log) == [("a1", None)]


def test_two_programs_that_write_to_one_file_leave_two_lines() -> None:
    log = [
        *START,
        user("x1", "a1", "here"),
        user("y1", "a1", "there"),
        answer("x2", "x1", "h"),
        answer("y2", "y1", "t"),
    ]
    assert ids(log) == ["u1", "a1", "y1", "y2"]
    assert left(log) == [("x2", "a1")]


@pytest.mark.parametrize("parent", [5, {}, "", []])
@pytest.mark.parametrize("field", ["parentId", "parent_id"])
def test_an_entry_with_a_broken_link_follows_the_one_before_it(field: str, parent: object) -> None:
    value = {"type": "message", "id": "u2", field: parent, "message": {"role": "user", "content": "two"}}
    log = [*START, Record(b"", value, id="u2"), answer("a2", "u2", "2")]
    assert ids(log) == ["u1", "a1", "u2", "a2"]
    assert left(log) == []


@pytest.mark.parametrize(
    ("root", "shown"),
    [
        (answer("x", None, "2"), ["x"]),
        (message("x", None, "toolResult", "ok", toolCallId="t1"), ["x"]),
        (entry("x", None, "message", message="lost"), []),
        (entry("x", None, "compaction", summary="so far"), ["x"]),
    ],
    ids=["an answer", "a result", "no message", "a summary"],
)
def test_what_begins_no_conversation_follows_the_entry_before_it(root: Record, shown: list[str]) -> None:
    assert ids([*START, root]) == ["u1", "a1", *shown]
    assert left([*START, root]) == []
    assert ids([*START, root, user("u2", "x", "two")]) == ["u1", "a1", *shown, "u2"]
    assert ids([root, user("u2", "x", "two")]) == [*shown, "u2"]


def test_an_id_that_is_used_again_in_another_place_is_another_entry() -> None:
    log = [*START, user("d", "a1", "two"), answer("a2", "d", "2"), user("d", "a2", "three"), answer("a3", "d", "3")]
    assert ids(log) == ["u1", "a1", "d", "a2", "d", "a3"]
    assert left(log) == []
    assert ids([*log, user("u4", "a2", "four")]) == ["u1", "a1", "d", "a2", "u4"]


def test_an_entry_whose_parent_is_not_in_the_file_follows_the_one_before_it() -> None:
    log = [*START, user("u2", "gone", "two"), answer("a2", "u2", "2")]
    assert ids(log) == ["u1", "a1", "u2", "a2"]
    assert left(log) == []
    assert ids([*START, Record(b'{"type":"mess'), *log[2:]]) == ["u1", "a1", "u2", "a2"]
    assert ids(log[2:]) == ["u2", "a2"]
    assert ids([*START, user("u2", "u2", "two")]) == ["u1", "a1", "u2"]


def test_entries_after_the_same_missing_one_leave_a_line() -> None:
    log = [*START, user("u2", "gone", "two"), answer("a2", "u2", "2"), user("u3", "gone", "three")]
    assert ids(log) == ["u1", "a1", "u3"]
    assert left(log) == [("a2", "a1")]


def test_a_missing_entry_is_none_that_another_names() -> None:
    log = [*START, user("u2", "gone", "two")]
    assert FORMATS["pi"].fold(log)[-1].id == "u2"
    compaction = entry("c1", "u2", "compaction", summary="so far", firstKeptEntryId="gone", tokensBefore=1)
    assert ids([*log, compaction, user("u3", "c1", "three")]) == ["u1", "a1", "u2", "c1", "u3"]


def test_a_cycle_is_walked_once() -> None:
    log = [user("u1", "a1", "one"), answer("a1", "u1", "1")]
    assert sorted(ids(log)) == ["a1", "u1"]
    assert left(log) == []


def test_of_two_entries_with_one_id_the_later_counts() -> None:
    log = [*START, Record(b"", user("u1", None, "other").value, id="u1.2"), answer("a2", "u1", "2")]
    assert ids(log) == ["u1.2", "a2"]


def test_entries_without_ids_follow_each_other() -> None:
    log = records_of(FIXTURES / "pi" / "version-1.jsonl")
    assert [name.partition("-")[2] for name in ids(log)] == ["1", "2", "4", "5", "6", "7", "8"]
    assert left(log) == []


def test_the_fixture_leaves_three_lines() -> None:
    log = records_of(FIXTURES / "pi" / "branches.jsonl")
    assert left(log) == [(log[4].id, log[2].id), (log[6].id, log[2].id), (log[8].id, log[2].id)]


def test_a_long_log_is_read_in_linear_time() -> None:
    log = [user("u0", None, "start")]
    for turn in range(1, 10_000):
        log.append(user(f"u{turn}", f"u{turn - 1}", "go on"))
        if turn % 10 == 0:
            log.append(answer(f"x{turn}", f"u{turn - 5}", "left"))
            log.append(answer(f"y{turn}", f"u{turn}", "kept"))
    assert len(ids(log)) == 10_000
    assert len(left(log)) > 900
