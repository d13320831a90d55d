"""The turns of a Codex rollout: what is said once, what was typed, what was rolled back."""

import pytest
from codex_logs import answer, call, event, given, item, left, log, output, record, rollback, said, typed
from transcript_files import FIXTURES, records_of

START = [*typed("one"), *answer("1")]


def test_what_is_said_twice_is_taken_once() -> None:
    assert said(log(START)) == [("user", "one"), ("assistant", "1")]


def test_the_events_tell_what_was_typed() -> None:
    records = log(given("<something_new>injected</something_new>"), START, given("injected as well"), typed("two"))
    assert said(records) == [
        ("context", "<something_new>injected</something_new>"),
        ("user", "one"),
        ("assistant", "1"),
        ("context", "injected as well"),
        ("user", "two"),
    ]


def test_a_prompt_that_the_model_is_given_in_other_words_is_shown_as_it_was_typed() -> None:
    records = log(given("# Context from my IDE setup:\nslug.py\none"), event("user_message", message="one"))
    assert said(records) == [("user", "one")]


def test_without_any_events_what_is_no_known_context_was_typed() -> None:
    records = log(given("<environment_context>x</environment_context>"), given("one"), answer("1")[1])
    assert said(records) == [
        ("context", "<environment_context>x</environment_context>"),
        ("user", "one"),
        ("assistant", "1"),
    ]


def test_a_turn_of_events_alone_is_shown_by_them() -> None:
    records = log(START, event("user_message", message="two"), event("agent_message", message="2"), START)
    assert said(records)[2:4] == [("user", "two"), ("assistant", "2")]


def test_thoughts_stand_in_events_where_the_items_have_none() -> None:
    thought = event("agent_reasoning", text="hm")
    readable = item("reasoning", summary=[{"type": "summary_text", "text": "hm"}], encrypted_content="x")
    shown = [("user", "one"), ("assistant", "1")]
    assert said(log(typed("one"), thought, answer("1"))) == shown
    assert said(log(typed("one"), thought, readable, answer("1"))) == shown


def test_a_prompt_within_a_turn_begins_no_other() -> None:
    turn = [event("task_started"), *typed("one"), call("c1"), output("c1"), *typed("faster"), *answer("1")]
    records = log(turn, event("task_complete"), typed("two"), answer("2"))
    assert [who for who, _ in said(records)] == ["user", "assistant", "tool", "user", "assistant", "user", "assistant"]


def test_newer_events_of_completed_items_are_understood() -> None:
    done = event("item_completed", item={"type": "UserMessage", "content": [{"type": "text", "text": "one"}]})
    replied = event("item_completed", item={"type": "AgentMessage", "content": [{"type": "text", "text": "1"}]})
    assert said(log(done, given("one"), answer("1")[1])) == [("user", "one"), ("assistant", "1")]
    assert said(log(done, replied)) == [("user", "one"), ("assistant", "1")]


def test_what_is_taken_back_turn_by_turn_is_one_line() -> None:
    turns = [START, typed("two"), answer("2"), typed("three"), answer("3")]
    at_once, in_steps = log(*turns, rollback(2), typed("new")), log(*turns, rollback(1), rollback(1), typed("new"))

    assert said(in_steps) == said(at_once)
    assert left(in_steps) == left(at_once)
    assert len(left(log(*turns, rollback(1), typed("new"), rollback(2)))) == 2


def test_a_rollback_takes_the_last_turns_back_and_leaves_a_line() -> None:
    records = log(START, typed("two"), answer("2"), rollback(1), typed("three"))
    assert said(records) == [("user", "one"), ("assistant", "1"), ("user", "three")]
    assert left(records) == [("r7", "r3")]
    # At an earlier commit the conversation is as it was then.
    assert said(records[:8])[-1] == ("assistant", "2")
    assert left(records[:8]) == []


def test_rollbacks_follow_each_other() -> None:
    records = log(START, typed("two"), answer("2"), typed("three"), rollback(1), typed("four"), rollback(2), typed("5"))
    assert said(records) == [("user", "one"), ("assistant", "1"), ("user", "5")]
    assert left(records) == [("r8", "r7"), ("r11", "r3")]


@pytest.mark.parametrize("turns", [0, -1, None, "1", True, 1.5])
def test_a_rollback_of_nothing_changes_nothing(turns: object) -> None:
    records = log(START, rollback(turns))
    assert said(records) == said(log(START))
    assert left(records) == []


def test_a_rollback_of_more_than_there_is_keeps_what_was_injected_first() -> None:
    records = log(given("<environment_context>x</environment_context>"), START, rollback(2**70))
    assert said(records) == [("context", "<environment_context>x</environment_context>")]
    assert left(records) == [("r4", None)]


def test_what_was_injected_for_a_turn_is_rolled_back_with_it() -> None:
    injected = item("message", role="developer", content=[{"type": "input_text", "text": "Be brief."}])
    records = log(START, injected, typed("two"), answer("2"), rollback(1))
    assert said(records) == [("user", "one"), ("assistant", "1")]


def test_a_rollback_over_a_compaction_takes_it_back() -> None:
    compacted = record("compacted", {"message": "so far"})
    records = log(START, typed("two"), compacted, answer("2"), rollback(1))
    assert said(records) == [("user", "one"), ("assistant", "1")]


def test_a_line_that_is_taken_back_ends_behind_its_compactions() -> None:
    compacted = [record("compacted", {"message": "so far"}), record("compacted", {"message": "once more"})]
    records = log(typed("one"), answer("1"), compacted, rollback(1), typed("two"))
    assert said(records) == [("user", "two")]
    assert left(records) == [("r5", None)]
    assert [who for who, _ in said(records[:6])] == ["user", "assistant", "compaction", "compaction"]


def test_the_fixture_leaves_two_lines() -> None:
    assert left(log(records_of(FIXTURES / "codex" / "rollback.jsonl"))) == [("r24", "r16"), ("r33", "r8")]


def test_a_long_log_is_read_in_linear_time() -> None:
    records = log(*[[*typed(f"{turn}"), call(f"c{turn}"), output(f"c{turn}")] for turn in range(5_000)])
    assert len(said(records)) == 15_000
