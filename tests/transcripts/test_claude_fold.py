"""The conversation of a Claude Code transcript."""

from collections.abc import Callable
from typing import Any

import pytest
from claude_logs import answer, boundary, call, ids, left, other, record, result, summary, user
from transcript_files import FIXTURES, records_of

from gitsession.model import CompactionEntry, MessageEntry, build_context
from gitsession.transcripts import FORMATS, Record, claude_fold

CLAUDE_CODE = FORMATS["claude-code"]
START = [user("u1", None, "one"), answer("a1", "u1", "1", "m1")]


def messages(log: list[Record]) -> list[dict[str, Any]]:
    return [entry.message for entry in CLAUDE_CODE.fold(log) if isinstance(entry, MessageEntry)]


def fixture(name: str) -> list[Record]:
    return records_of(FIXTURES / "claude-code" / f"{name}.jsonl")


def context(log: list[Record]) -> list[str]:
    return [message["content"] for message in build_context(CLAUDE_CODE.fold(log))]


def test_the_blocks_of_an_answer_are_one_message() -> None:
    log = [
        user("u1", None, "one"),
        answer(
            "a1",
            "u1",
            [{"type": "thinking", "thinking": "hm", "signature": "s"}],
            "m1",
            timestamp="2026-03-02T09:00:00Z",
        ),
        answer("a2", "a1", "1", "m1"),
        call("a3", "a2", "t1", "m1"),
    ]
    assert CLAUDE_CODE.fold(log)[1] == MessageEntry(
        {
            "role": "assistant",
            "content": "1",
            "reasoning": "hm",
            "reasoning_details": [{"type": "reasoning.text", "text": "hm", "signature": "s"}],
            "tool_calls": [{"id": "t1", "type": "function", "function": {"name": "Read", "arguments": "{}"}}],
            "model": "m",
        },
        id="a1",
        timestamp="2026-03-02T09:00:00Z",
    )


def test_an_answer_that_is_still_being_written_has_what_is_there() -> None:
    log = [user("u1", None, "one"), answer("a1", "u1", "1", "m1"), call("a2", "a1", "t1", "m1")]
    assert "tool_calls" not in messages(log[:2])[-1]
    assert "tool_calls" in messages(log)[-1]


def test_what_stands_beside_the_parts_of_an_answer_is_taken_once() -> None:
    log = [
        user("u1", None, "one"),
        answer("a1", "u1", "1", "m1"),
        answer("a2", "a1", "2", "m1"),
        user("u2", "a1", "two"),
        answer("a3", "u2", "3", "m1"),
    ]
    assert [message["content"] for message in messages(log)] == ["one", "1\n2", "two", "3"]


def _parallel_calls(number: int) -> list[Record]:
    made = [call(f"a{n}", f"a{n - 1}" if n else "u1", f"t{n}", "m1") for n in range(number)]
    return [user("u1", None, "one"), *made, *(result(f"r{n}", f"a{n}", f"t{n}") for n in range(number))]


def _parted(number: int) -> list[Record]:
    """Returns an answer whose parts are parted by prompts, half of them beside the line."""
    log = [user("u1", None, "one"), answer("a0", "u1", "0", "m1")]
    for n in range(1, number):
        log += [answer(f"b{n}", f"a{n - 1}", f"beside {n}", "m1"), user(f"p{n}", f"a{n - 1}", "go on")]
        log.append(answer(f"a{n}", f"p{n}", str(n), "m1"))
    return log


def _summaries(number: int) -> list[Record]:
    return [user("u1", None, "one"), *(summary(f"s{n}", f"s{n - 1}" if n else "u1", "so far") for n in range(number))]


@pytest.mark.parametrize("made", [_parallel_calls, _parted, _summaries])
def test_the_work_is_in_proportion_to_the_records(
    made: Callable[[int], list[Record]], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = 0

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call_it(*arguments: Any) -> Any:
            nonlocal done
            done += 1
            return function(*arguments)

        return call_it

    for name in ("text", "calls", "is_boundary"):
        monkeypatch.setattr(claude_fold, name, counted(getattr(claude_fold, name)))
    for name in ("_is_beside", "_say", "_put"):
        monkeypatch.setattr(claude_fold._Fold, name, counted(getattr(claude_fold._Fold, name)))
    CLAUDE_CODE.fold(made(20))
    few, done = done, 0
    CLAUDE_CODE.fold(made(100))
    assert few < done < 6 * few


def test_blocks_are_not_compared_with_each_other() -> None:
    class Block(dict[str, Any]):
        compared = 0
        __hash__ = None

        def __eq__(self, other: object) -> bool:
            Block.compared += 1
            return super().__eq__(other)

    said = [Block(type="text", text=str(n % 40)) for n in range(80)]
    (message,) = messages([answer("a1", None, said, "m1")])
    assert message["content"] == "\n".join(map(str, range(40)))
    assert Block.compared == 0


def test_results_of_parallel_calls_follow_the_calls_in_the_order_of_the_file() -> None:
    log = [
        user("u1", None, "one"),
        call("a1", "u1", "t1", "m1"),
        call("a2", "a1", "t2", "m1"),
        call("a3", "a2", "t3", "m1"),
        result("r2", "a2", "t2"),
        result("r3", "a3", "t3"),
        result("r1", "a1", "t1"),
        answer("a4", "r3", "done", "m2"),
    ]
    assert ids(log) == ["u1", "a1", "r2", "r3", "r1", "a4"]
    assert [one["id"] for one in messages(log)[1]["tool_calls"]] == ["t1", "t2", "t3"]
    # Whichever result came last, all calls and results that are there are shown.
    assert ids(log[:5]) == ["u1", "a1", "r2"]
    assert ids(log[:7]) == ["u1", "a1", "r2", "r3", "r1"]


def test_calls_that_stand_beside_each_other_are_one_answer() -> None:
    log = [
        user("u1", None, "one"),
        call("a1", "u1", "t1", "m1"),
        call("a2", "u1", "t2", "m1"),
        result("r1", "a1", "t1"),
        result("r2", "a2", "t2"),
        answer("a3", "r2", "done", "m2"),
    ]
    assert ids(log) == ["u1", "a1", "r1", "r2", "a3"]


def test_several_results_in_one_record_are_several_messages() -> None:
    blocks = [{"type": "tool_result", "tool_use_id": name, "content": name} for name in ("t1", "t2")]
    log = [
        user("u1", None, "one"),
        call("a1", "u1", "t1", "m1"),
        call("a2", "a1", "t2", "m1"),
        user("r1", "a2", [*blocks, {"type": "text", "text": "go on"}]),
    ]
    assert ids(log) == ["u1", "a1", "r1", "r1/1", "r1/2"]
    assert [message["role"] for message in messages(log)] == ["user", "assistant", "tool", "tool", "user"]


def test_injected_context_between_a_call_and_its_result_comes_after_the_result() -> None:
    log = [
        user("u1", None, "one"),
        call("a1", "u1", "t1", "m1"),
        user("n1", "a1", "a skill", isMeta=True),
        result("r1", "n1", "t1"),
        answer("a2", "r1", "done", "m2"),
    ]
    assert ids(log) == ["u1", "a1", "r1", "n1", "a2"]


def test_what_was_put_beside_a_prompt_stands_on_its_side_of_it() -> None:
    opened, late = "<ide_opened_file>a.py</ide_opened_file>", "<system-reminder>It is late.</system-reminder>"
    blocks = [{"type": "text", "text": words} for words in (opened, f"{opened}Why?{late}", "And how?")]
    log = [user("u1", None, blocks), user("u2", "u1", f"{opened}Why?")]
    assert [(one["content"], one.get("meta", False)) for one in messages(log)] == [
        (f"{opened}\n{opened}", True),
        ("Why?\nAnd how?", False),
        (late, True),
        (opened, True),
        ("Why?", False),
    ]
    assert ids(log) == ["u1", "u1/1", "u1/2", "u2", "u2/1"]


def test_what_was_put_before_a_result_comes_after_it() -> None:
    late = {"type": "text", "text": "<system-reminder>It is late.</system-reminder>"}
    found = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}
    log = [user("u1", None, "one"), call("a1", "u1", "t1", "m1"), user("r1", "a1", [late, found])]
    assert [message["role"] for message in messages(log)] == ["user", "assistant", "tool", "user"]


def test_a_failed_result_says_so() -> None:
    failed = messages(fixture("tools"))[2]
    assert failed == {
        "role": "tool",
        "content": "Exit code 1\n1 failed, 3 passed",
        "tool_call_id": "toolu_tools03",
        "name": "Bash",
        "is_error": True,
    }


def test_a_prompt_typed_while_the_model_worked_is_a_message() -> None:
    assert {"role": "user", "content": "Keep the function short, please."} in messages(fixture("tools"))
    notice = {"type": "queued_command", "prompt": "a task ended", "commandMode": "task-notification"}
    assert ids([*START, other("x1", "a1", "attachment", attachment=notice)]) == ["u1", "a1"]


def test_what_no_person_typed_is_marked() -> None:
    log = [
        *START,
        user("n1", "a1", "a reminder", isMeta=True),
        answer("e1", "n1", "API Error", "m9", isApiErrorMessage=True),
    ]
    assert [message.get("meta") for message in messages(log)] == [None, None, True, True]


def test_images_are_parts() -> None:
    prompt, _, shot = messages(fixture("images"))[:3]
    assert prompt["content"][0] == {"type": "text", "text": "What is in this picture?"}
    assert prompt["content"][1]["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert [part["type"] for part in shot["content"]] == ["text", "image_url"]


def test_copies_are_taken_once() -> None:
    log = fixture("resumed")
    assert ids(log) == [log[place].id for place in (3, 4, 5, 6)]
    assert [message["content"] for message in messages(log)] == ["Say one", "One.", "Say two", "Two."]


def test_a_compaction_shows_what_it_stands_for_and_hides_it_from_the_context() -> None:
    log = fixture("compaction")
    entries = CLAUDE_CODE.fold(log)
    assert [entry.id for entry in entries] == [log[place].id for place in (0, 1, 2, 3, 5, 6, 7)]
    compaction = entries[4]
    assert isinstance(compaction, CompactionEntry)
    assert (compaction.first_kept_id, compaction.tokens_before) == (log[6].id, 155025)
    assert context(log) == [
        f"[Conversation summary]\n{compaction.summary}",
        "Which one is the root?",
        "`SessionError`.",
    ]


def test_messages_that_a_compaction_kept_stay_in_the_context() -> None:
    log = fixture("compaction-kept")
    assert context(log)[1:] == [
        "Now list the errors",
        "There are twelve.",
        "Which one is the root?",
        "`SessionError`.",
    ]
    # Before anything follows, the summary is the end of the line; the same messages are kept.
    assert context(log[:6])[1:] == ["Now list the errors", "There are twelve."]
    assert len(messages(log)) == 6


def test_a_boundary_without_a_summary_is_no_compaction_yet() -> None:
    assert ids(fixture("compaction")[:5]) == ids(fixture("compaction")[:4])


def test_after_two_compactions_the_last_one_counts() -> None:
    log = [
        *START,
        boundary("b1", "a1"),
        summary("s1", "b1", "first"),
        user("u2", "s1", "two"),
        boundary("b2", "u2"),
        summary("s2", "b2", "second"),
        user("u3", "s2", "three"),
    ]
    assert ids(log) == ["u1", "a1", "s1", "u2", "s2", "u3"]
    assert context(log) == ["[Conversation summary]\nsecond", "three"]


def test_a_boundary_that_names_nobody_goes_on_from_what_was_said_before() -> None:
    log = [*START, boundary("b1", None), summary("s1", "b1", "so far"), user("u2", "s1", "two")]
    assert ids(log) == ["u1", "a1", "s1", "u2"]


def test_a_stored_records_id_is_the_entrys() -> None:
    log = [Record(one.raw, one.value, id=f"commit-{place}") for place, one in enumerate(START)]
    assert ids(log) == ["commit-0", "commit-1"]


def test_a_record_without_a_time_takes_that_of_the_one_before() -> None:
    log = [user("u1", None, "one", timestamp="2026-03-02T09:00:00Z"), answer("a1", "u1", "1", "m1")]
    assert [entry.timestamp for entry in CLAUDE_CODE.fold(log)] == ["2026-03-02T09:00:00Z"] * 2
    assert [entry.timestamp for entry in CLAUDE_CODE.fold(START)] == ["", ""]


def test_records_of_any_shape_are_folded() -> None:
    for message in (None, [], "text", 1, {}, {"content": 1}, {"content": [None, 1, "a", {}, {"type": 1}]}, {"id": 1}):
        for kind in ("user", "assistant", "system", "attachment", "progress"):
            log = [*START, record({"type": kind, "uuid": "x", "parentUuid": "a1", "message": message})]
            assert ids(log)[:2] == ["u1", "a1"]
            CLAUDE_CODE.view(log[-1])


def test_the_result_of_a_call_whose_line_is_missing_is_shown() -> None:
    calls = [call("a2", "a1", "t1", "m1"), result("r1", "a2", "t1", "first"), result("r2", "a3", "t2", "second")]
    log = [*START, *calls, answer("a4", "r1", "done", "m2")]
    assert [one.get("content") for one in messages(log)] == ["one", "1", "first", "second", "done"]
    assert ids([*START, result("r1", "nobody", "t1"), user("u2", "a1", "two")]) == ["u1", "a1", "r1", "u2"]
    assert ids([START[0], result("r1", "nobody", "t1"), answer("a1", "u1", "1", "m1")]) == ["u1", "r1", "a1"]


def test_a_summary_whose_boundary_is_missing_is_shown_where_it_was_written() -> None:
    kept = [*START, summary("s1", "nobody", "so far"), user("u2", "a1", "two")]
    assert ids(kept) == ["u1", "a1", "s1", "u2"]
    assert ids([*START, summary("s1", "nobody", "so far"), user("u2", "s1", "two")]) == ["u1", "a1", "s1", "u2"]


def test_a_prompt_that_waited_is_not_skipped_over_a_missing_line() -> None:
    waiting = other("q1", "a1", "attachment", attachment={"type": "queued_command", "prompt": "wait"})
    assert ids([*START, waiting, answer("a3", "nobody", "3", "m3")]) == ["u1", "a1", "q1", "a3"]


def test_what_a_compaction_kept_and_wrote_again_hides_nothing_of_before() -> None:
    kept = {"preservedSegment": {"headUuid": "a1", "anchorUuid": "s1", "tailUuid": "a2"}}
    log = [
        *START,
        user("u2", "a1", "two"),
        answer("a2", "u2", "2", "m2"),
        boundary("b1", "a2", **kept),
        summary("s1", "b1", "so far"),
        answer("a2", "s1", "2", "m2"),
        user("u3", "a2", "three"),
    ]
    assert ids(log) == ["u1", "a1", "u2", "s1", "a2", "u3"]
    assert context(log) == ["[Conversation summary]\nso far", "1", "two", "2", "three"]
    assert left(log) == []


def test_copies_that_lost_their_parents_are_still_where_they_were() -> None:
    compacted = [boundary("b1", "a1"), summary("s1", "b1", "so far"), user("u2", "s1", "two")]
    copies = [user("u1", None, "one"), answer("a1", None, "1", "m1")]
    assert ids([*START, *compacted, *copies, answer("a2", "u2", "2", "m2")]) == ["u1", "a1", "s1", "u2", "a2"]
    assert left([*START, *compacted, *copies, answer("a2", "u2", "2", "m2")]) == []


def test_a_prompt_that_waits_at_the_end_is_shown() -> None:
    waiting = [
        other("q1", "a1", "attachment", attachment={"type": "queued_command", "prompt": "wait"}),
        other("x1", "q1", "attachment", attachment={"type": "skill_listing", "content": "-"}),
    ]
    assert ids([*START, *waiting]) == ["u1", "a1", "q1"]
    assert ids([*START, *waiting, user("u2", "a1", "two")]) == ["u1", "a1", "u2"]


def test_a_result_and_a_call_without_ids_are_shown_once() -> None:
    nameless = result("r1", "a1", "")
    log = [*START, nameless, answer("a2", "r1", [{"type": "tool_use", "name": "Read", "input": {}}], "m2")]
    assert ids(log) == ["u1", "a1", "r1", "a2"]
