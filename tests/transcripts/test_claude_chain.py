"""The tree of a Claude Code transcript: which line the agent would resume, and which ones were left."""

import pytest
from claude_logs import answer, boundary, call, ids, left, other, record, result, summary, user
from transcript_files import FIXTURES, records_of

from gitsession.transcripts import FORMATS, Record
from gitsession.transcripts.fields import text

START = [user("u1", None, "one"), answer("a1", "u1", "1", "m1")]


def test_the_last_line_in_the_file_is_resumed() -> None:
    log = [*START, user("u2", "a1", "two"), answer("a2", "u2", "2", "m2"), user("u3", "a1", "three")]
    assert ids(log) == ["u1", "a1", "u3"]
    assert left(log) == [("a2", "a1")]


def test_an_earlier_log_shows_the_line_that_was_left() -> None:
    log = [*START, user("u2", "a1", "two"), answer("a2", "u2", "2", "m2"), user("u3", "a1", "three")]
    assert ids(log[:4]) == ["u1", "a1", "u2", "a2"]
    assert left(log[:4]) == []


def test_the_first_prompt_may_be_asked_anew() -> None:
    log = [*START, user("u2", None, "another")]
    assert ids(log) == ["u2"]
    assert left(log) == [("a1", None)]


def test_a_prompt_answered_twice_leaves_an_answer() -> None:
    log = [*START, user("u2", "a1", "two"), answer("a2", "u2", "2", "m2"), answer("a3", "u2", "two", "m3")]
    assert left(log) == [("a2", "u2")]


def test_lines_may_be_left_within_a_line_that_was_left() -> None:
    log = [
        *START,
        user("u2", "a1", "two"),
        answer("a2", "u2", "2", "m2"),
        user("u3", "a2", "three"),
        user("u4", "a2", "four"),
        user("u5", "a1", "five"),
    ]
    assert left(log) == [("u3", "a2"), ("u4", "a1")]


COMMAND = "<command-message>review</command-message>\n<command-name>/review</command-name>"
TWO = [*START, user("u2", "a1", "two"), answer("a2", "u2", "2", "m2")]
QUEUED = {"type": "queued_command", "prompt": "meanwhile", "commandMode": "prompt"}


@pytest.mark.parametrize(
    ("log", "lines"),
    [
        ([*TWO, user("c1", "a1", COMMAND), user("c2", "c1", "Do it", isMeta=True), answer("a3", "c2", "3", "m3")],
         [("a2", "a1")]),
        ([*START, user("c1", "a1", COMMAND), answer("a2", "c1", "2", "m2"), user("u2", "a1", "two")], [("a2", "a1")]),
        ([*START, user("c1", "a1", "<bash-input>make</bash-input>"), user("c2", "c1", "<bash-stdout>no</bash-stdout>"),
          user("u2", "c2", "why?"), answer("a2", "u2", "2", "m2"), user("u3", "a1", "three")], [("a2", "a1")]),
        ([*START, user("c1", "a1", "Caveat", isMeta=True), user("c2", "c1", "<command-name>/model</command-name>"),
          user("c3", "c2", "<local-command-stdout>Set</local-command-stdout>"), user("u2", "c3", "two"),
          user("u3", "a1", "three")], [("u2", "a1")]),
        ([START[0], call("a1", "u1", "t1", "m1"), result("r1", "a1", "t1"),
          other("x1", "r1", "attachment", attachment=QUEUED), answer("a2", "x1", "2", "m2"),
          user("u2", "r1", "two")], [("a2", "r1")]),
        ([START[0], other("x1", "u1", "attachment", attachment=QUEUED), user("i1", "x1", "[Request interrupted"),
          user("u2", "u1", "two")], [("i1", "u1")]),
        ([*TWO, user("u3", "a2", "three"), user("u4", "u2", "four")], [("u3", "u2")]),
        ([START[0], call("a1", "u1", "t1", "m1"), result("r1", "a1", "t1"), call("a2", "r1", "t2", "m2"),
          result("r2", "a2", "t2"), answer("a3", "r2", "3", "m3"), user("u2", "r1", "two")], [("a3", "r1")]),
        ([user("c1", None, COMMAND), answer("a1", "c1", "1", "m1"), user("u2", None, "two")], [("a1", None)]),
        ([answer("a1", "gone", "1", "m1"), user("u2", None, "two")], [("a1", None)]),
        ([*START, user("u2", None, "<command-name>/cost</command-name>")], [("a1", None)]),
        ([*TWO, user("u3", "a1", "three"), user("n1", "a2", "a late reminder", isMeta=True)], [("a2", "a1")]),
    ],
    ids=[
        "for a command", "after a command", "after a command of the shell", "after what a command prints",
        "after a prompt that was queued", "with a prompt that was queued", "for a prompt after one that has an answer",
        "for a prompt in the middle of a turn", "from the beginning after a command", "after a prompt that is gone",
        "for a command at the beginning", "with a reminder that was written late",
    ],
)  # fmt: skip
def test_a_line_is_left_where_something_is_said_in_it_whatever_it_begins_with(
    log: list[Record], lines: list[tuple[str, str | None]]
) -> None:
    assert left(log) == lines


def test_what_stands_between_does_not_hide_a_branch() -> None:
    log = [
        *START,
        other("s1", "a1", "system", subtype="turn_duration"),
        user("u2", "s1", "two"),
        other("x1", "a1", "attachment"),
        user("u3", "x1", "three"),
    ]
    assert left(log) == [("u2", "a1")]


@pytest.mark.parametrize(
    "beside",
    [
        [
            call("a2", "a1", "t1", "m1"),
            call("a3", "a2", "t2", "m1"),
            result("r1", "a2", "t1"),
            result("r2", "a3", "t2"),
        ],
        [other("p1", "a1", "progress"), other("x1", "a1", "attachment"), other("s1", "a1", "system")],
        [answer("e1", "a1", "API Error", "m8", isApiErrorMessage=True), answer("a2", "a1", "2", "m2")],
        [answer("a2", "u1", "1", "m1")],
        [user("u2", "a1", "injected", isMeta=True), user("u3", "a1", "two")],
        [user("u2", "a1", "[Request interrupted by user]"), user("u3", "a1", "two")],
        [user("u2", "a1", "two", promptId="p"), user("u3", "a1", "two", promptId="p")],
        [user("u2", None, "two", isSidechain=True), user("u3", None, "three", isSidechain=True)],
        [user("u2", None, "a session of its own", sessionId="other")],
        [user("c1", "a1", COMMAND), user("u2", "a1", "two")],
        [answer("s1", "a1", "No response requested.", "m8", model="<synthetic>"), user("u2", "a1", "two")],
        [user("u2", "a1", "two"), answer("a2", "u2", "2", "m2"), user("u1b", None, "one")],
    ],
    ids=[
        "parallel calls",
        "notices",
        "a failed request",
        "an answer written twice",
        "injected context",
        "an interruption",
        "a prompt written twice",
        "subagents",
        "several sessions",
        "a command alone",
        "words of the agent itself",
        "a session that is being written again",
    ],
)
def test_other_branch_points_leave_nothing(beside: list[Record]) -> None:
    assert left([*START, *beside]) == []


def test_a_compaction_leaves_nothing() -> None:
    log = [*START, boundary("b1", "a1"), summary("s1", "b1", "so far"), user("u2", "s1", "two")]
    assert left(log) == []


COMPACTED = [*START, user("u2", "a1", "two"), answer("a2", "u2", "2", "m2"), boundary("b1", "a2")]
AFTER = [*COMPACTED, summary("s1", "b1", "so far"), user("u3", "s1", "three"), answer("a3", "u3", "3", "m3")]


def test_who_goes_back_to_before_a_compaction_leaves_what_was_said_after_it() -> None:
    log = [*AFTER, user("u4", "a2", "four"), answer("a4", "u4", "4", "m4")]
    assert ids(log) == ["u1", "a1", "u2", "a2", "u4", "a4"]
    assert left(log) == [("a3", "a2")]
    assert left([*AFTER, user("u4", "a1", "four")]) == [("a3", "a1")]
    assert left([*AFTER, user("u4", "s1", "four")]) == [("a3", "a2")]


def test_a_session_that_was_compacted_twice_after_one_message_leaves_a_line() -> None:
    again = [boundary("b2", "a2"), summary("s2", "b2", "so far"), user("u4", "s2", "four")]
    assert ids([*AFTER, *again]) == ["u1", "a1", "u2", "a2", "s2", "u4"]
    assert left([*AFTER, *again]) == [("a3", "a2")]


def test_what_the_model_goes_on_with_after_a_compaction_is_told_from_a_prompt_beside_it() -> None:
    log = [*COMPACTED, summary("s1", "b1", "so far"), answer("a3", "s1", "3", "m3"), user("u4", "a2", "four")]
    assert left(log) == [("a3", "a2")]


@pytest.mark.parametrize(
    "after",
    [
        [summary("s1", "b1", "so far"), user("u4", "a2", "four")],
        [summary("s1", "b1", "so far"), boundary("b2", "a2"), summary("s2", "b2", "once more"), user("u4", "s2", "4")],
        [summary("s1", "b1", "so far"), boundary("b2", "s1"), summary("s2", "b2", "once more"), user("u4", "s2", "4")],
        [summary("s1", "b1", "so far"), user("u3", "s1", "<command-name>/cost</command-name>"), user("u4", "a2", "4")],
    ],
    ids=["undone", "done again", "compacted once more", "only a command"],
)
def test_a_compaction_after_which_nobody_spoke_leaves_nothing(after: list[Record]) -> None:
    assert left([*COMPACTED, *after]) == []


def test_prompts_after_the_summary_with_which_a_file_begins_leave_a_line() -> None:
    log = [boundary("b1", "elsewhere"), summary("s1", "b1", "so far"), user("u1", "s1", "one"), user("u2", "s1", "two")]
    assert left(log) == [("u1", "s1")]


def test_a_subagents_line_is_taken_only_where_there_is_no_other() -> None:
    aside = [user("x1", None, "count", isSidechain=True), answer("y1", "x1", "2", "m9", isSidechain=True)]
    assert ids([*START, *aside]) == ["u1", "a1"]
    assert ids(aside) == ["x1", "y1"]


def test_injected_context_neither_revives_an_old_line_nor_hides_a_new_one() -> None:
    new = [*START, user("u2", "a1", "two"), answer("a2", "u2", "2", "m2")]
    assert ids([*new, user("n1", "a1", "reminder", isMeta=True)]) == ["u1", "a1", "u2", "a2"]
    assert ids([*new, user("n1", "a2", "reminder", isMeta=True)]) == ["u1", "a1", "u2", "a2", "n1"]


def test_the_later_of_two_records_with_one_uuid_counts() -> None:
    log = [*START, user("u2", "a1", "first words"), user("u2", "a1", "last words")]
    assert [entry.message["content"] for entry in FORMATS["claude-code"].fold(log)] == ["one", "1", "last words"]


def test_a_record_that_is_its_own_parent_follows_what_was_said_before_it() -> None:
    assert ids([user("u1", "u1", "my own parent"), answer("a1", "u1", "1", "m1")]) == ["u1", "a1"]
    assert ids([*START, user("u2", "u2", "my own parent")]) == ["u1", "a1", "u2"]


def test_a_record_whose_parent_is_not_in_the_file_follows_what_was_said_before_it() -> None:
    log = [*START, user("u2", "nobody", "two"), answer("a2", "u2", "2", "m2")]
    assert ids(log) == ["u1", "a1", "u2", "a2"]
    assert left(log) == []
    assert ids(log[2:]) == ["u2", "a2"]


def test_prompts_after_the_same_missing_record_leave_a_line() -> None:
    log = [*START, user("u2", "nobody", "two"), answer("a2", "u2", "2", "m2"), user("u3", "nobody", "three")]
    assert ids(log) == ["u1", "a1", "u3"]
    assert left(log) == [("a2", "a1")]


def test_a_line_that_cannot_be_read_hides_no_other() -> None:
    damaged = Record(b'{"parentUuid":"a1","uu', problem="it is no JSON")
    log = [*START, damaged, answer("a2", "u2", "2", "m2"), user("u3", "a2", "three")]
    assert ids(log) == ["u1", "a1", "a2", "u3"]
    assert left(log) == []
    assert ids([*START, damaged, damaged, user("u4", "a3", "four")]) == ["u1", "a1", "u4"]


def test_what_was_asked_anew_after_a_line_that_cannot_be_read_is_told_apart() -> None:
    log = [START[0], Record(b"{", problem="it is no JSON"), user("u2", "a1", "two"), user("u3", "a1", "three")]
    assert ids(log) == ["u1", "u3"]
    assert left(log) == [("u2", "u1")]


def test_records_that_follow_each_other_in_a_circle_are_walked_once() -> None:
    circle = [user("u1", "a2", "one"), answer("a1", "u1", "1", "m1"), answer("a2", "a1", "2", "m2")]
    assert ids(circle) == ["u1", "a1", "a2"]
    assert left([*circle, user("u2", "a1", "two"), user("u3", "a1", "three")]) == []


FAILED = answer("e1", None, "API Error: overloaded", "m8", isApiErrorMessage=True)
LOST = record({"type": "user", "uuid": "u2", "parentUuid": None, "message": "lost"})


@pytest.mark.parametrize(
    ("root", "shown"),
    [
        (FAILED, ["e1"]),
        (answer("a2", None, "from nowhere", "m2"), ["a2"]),
        (call("a2", None, "t1", "m2"), ["a2"]),
        (result("r1", None, "t1"), ["r1"]),
        (LOST, []),
        (user("u2", None, []), []),
        (user("u2", None, None), []),
        (user("s1", None, "so far", isCompactSummary=True), ["s1"]),
        (other("s1", None, "system", subtype="api_error"), []),
        (user("u2", "", "two"), ["u2"]),
        (record({"type": "user", "uuid": "u2", "parentUuid": [], "message": {"content": "two"}}), ["u2"]),
        (record({"type": "user", "uuid": "", "parentUuid": "a1", "message": {"content": "two"}}), ["record-2"]),
        (record({"type": "user", "uuid": 5, "parentUuid": None, "message": {"content": "two"}}), ["record-2"]),
    ],
    ids=[
        *("a failed request", "an answer", "a call", "a result", "no message", "nothing", "no content", "a summary"),
        *("a notice", "an empty parent", "a parent that is none", "an empty uuid", "a uuid that is none"),
    ],
)
def test_what_begins_no_conversation_follows_what_was_said_before_it(root: Record, shown: list[str]) -> None:
    assert ids([*START, root]) == ["u1", "a1", *shown]
    assert left([*START, root]) == []
    after = [user("u3", text(root.value, "uuid") or "lost", "three"), answer("a3", "u3", "3", "m3")]
    assert ids([*START, root, *after]) == ["u1", "a1", *shown, "u3", "a3"]
    assert left([*START, root, *after]) == []
    assert ids([root, *after]) == [*(["record-0"] if "record-2" in shown else shown), "u3", "a3"]


@pytest.mark.parametrize(
    "root",
    [
        user("u2", None, "two"),
        user("u2", None, [{"type": "image", "source": {}}]),
        user("u2", None, COMMAND),
        user("u2", None, "Caveat", isMeta=True),
        other("u2", None, "attachment"),
        other("u2", None, "system", subtype="local_command"),
        record({"type": "user", "uuid": "u2", "message": {"content": "two"}}),
    ],
    ids=["a prompt", "an image", "a command", "injected context", "an attachment", "what a command prints", "no link"],
)
def test_what_begins_a_conversation_leaves_the_one_before_it(root: Record) -> None:
    log = [*START, root, user("u3", "u2", "three"), answer("a3", "u3", "3", "m3")]
    assert ids(log)[-2:] == ["u3", "a3"]
    assert left(log) == [("a1", None)]


TWICE = [*START, user("d", "a1", "two"), answer("a2", "d", "2", "m2")]


@pytest.mark.parametrize(
    ("again", "shown"),
    [
        ([user("d", "a2", "three")], ["u1", "a1", "d", "a2", "d", "a3"]),
        ([user("d", "a2", "two")], ["u1", "a1", "d", "a2", "d", "a3"]),
        ([result("d", "a2", "t1")], ["u1", "a1", "d", "a2", "d", "a3"]),
        ([user("d", "a1", "three")], ["u1", "a1", "d", "a3"]),
        ([user("d", None, "two")], ["u1", "a1", "d", "a3"]),
    ],
    ids=["a prompt", "the same prompt", "a result", "a prompt in its place", "a copy without its parent"],
)
def test_a_uuid_that_is_used_again_in_another_place_is_another_record(again: list[Record], shown: list[str]) -> None:
    assert ids([*TWICE, *again, answer("a3", "d", "3", "m3")]) == shown


def test_a_uuid_that_is_used_again_leaves_a_line_only_where_one_was_left() -> None:
    log = [*TWICE, user("d", "a2", "three"), answer("a3", "d", "3", "m3")]
    assert left(log) == []
    assert left([*TWICE, user("d", "u1", "three"), answer("a3", "d", "3", "m3")]) == [("a2", "u1")]
    assert left([*log, *log, user("u4", "a3", "four")]) == []


def test_a_subagent_follows_nobody_else_over_a_line_that_cannot_be_read() -> None:
    damaged = Record(b"{", problem="it is no JSON")
    log = [*START, damaged, answer("y1", "x1", "2", "m9", isSidechain=True)]
    assert ids(log) == ["u1", "a1"]


def test_a_cycle_is_walked_once() -> None:
    log = [user("u1", "a1", "one"), answer("a1", "u1", "1", "m1")]
    assert sorted(ids(log)) == ["a1", "u1"]
    assert left(log) == []


def test_nobody_spoke() -> None:
    log = [other("s1", None, "system"), Record(b"no JSON", problem="it is no JSON")]
    assert ids(log) == []
    assert left(log) == []


def test_the_fixture_with_a_rewind_leaves_two_lines() -> None:
    log = records_of(FIXTURES / "claude-code" / "rewind.jsonl")
    assert left(log) == [(log[5].id, log[1].id), (log[9].id, log[8].id)]


@pytest.mark.parametrize("name", ["tools", "compaction", "compaction-kept", "sidechain", "resumed"])
def test_the_other_fixtures_leave_none(name: str) -> None:
    assert left(records_of(FIXTURES / "claude-code" / f"{name}.jsonl")) == []


def test_a_long_log_is_folded_in_linear_time() -> None:
    log = [user("u0", None, "start")]
    for turn in range(5_000):
        before = log[-1].id
        log += [call(f"a{turn}", before, f"t{turn}", f"m{turn}"), other(f"p{turn}", f"a{turn}", "progress")]
        log += [result(f"r{turn}", f"a{turn}", f"t{turn}")]
    assert len(ids(log)) == 10_001
    assert left(log) == []
