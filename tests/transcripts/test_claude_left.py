"""All that is said in a Claude Code session is to be read in its conversation, or where a line was left."""

import re
from collections.abc import Sequence

import pytest
from claude_logs import CLAUDE_CODE, answer, boundary, call, left, other, result, user
from hypothesis import given
from hypothesis import strategies as st

from gitsession.model import MessageEntry
from gitsession.transcripts import Record
from tests.scratches import abandoned

SAID = ("typed", "answer", "part", "shell", "review")
KINDS = (*SAID, "queued", "command", "injected", "interrupted", "result", "failed", "system", "compacted")

# What each record is, and how many records before the last one that is which it follows.
steps = st.tuples(st.sampled_from([*SAID, *KINDS]), st.one_of(st.just(0), st.integers(0, 6)))


def record(number: int, kind: str, before: Record | None) -> Record:
    """Returns a record of a kind; what is said in it is its number."""
    own, parent, said = f"r{number}", before.id if before else None, f"said {number}"
    stamp = {"timestamp": f"2026-03-02T09:00:{number:02d}.000Z"}
    match kind:
        case "answer":
            return answer(own, parent, said, f"m{number}", **stamp)
        case "part":
            answered = before.value.get("message", {}).get("id") if before else None
            return answer(own, parent, said, answered or f"m{number}", **stamp)
        case "failed":
            return answer(own, parent, "API Error", f"m{number}", isApiErrorMessage=True, **stamp)
        case "queued":
            attachment = {"type": "queued_command", "prompt": said, "commandMode": "prompt"}
            return other(own, parent, "attachment", attachment=attachment, **stamp)
        case "result":
            return result(own, parent, f"t{number}", **stamp)
        case "system":
            return other(own, parent, "system", subtype="turn_duration", **stamp)
        case "compacted":
            return boundary(own, parent)
    typed = {
        "command": "<command-name>/cost</command-name>",
        "interrupted": "[Request interrupted by user]",
        "shell": f"<bash-input>{said}</bash-input>",
        "review": f"<command-message>review</command-message>\n<command-args>{said}</command-args>",
    }
    origin = {"kind": "human"} if kind == "review" else None
    return user(own, parent, typed.get(kind, said), isMeta=kind == "injected" or None, origin=origin, **stamp)


def shown(log: Sequence[Record]) -> set[str]:
    """Returns what is to be read in the conversation of a log."""
    messages = [entry.message for entry in CLAUDE_CODE.fold(log) if isinstance(entry, MessageEntry)]
    return set(re.findall(r"said \d+", str(messages)))


@given(st.lists(steps, max_size=12))
def test_all_that_is_said_is_shown(made: list[tuple[str, int]]) -> None:
    log = [record(0, "typed", None)]
    wanted = {"said 0"}
    for number, (kind, back) in enumerate(made, 1):
        log.append(record(number, kind, log[-1 - back] if back < len(log) else None))
        if kind in SAID:
            wanted.add(f"said {number}")
    places = {one.id: place for place, one in enumerate(log)}
    assert wanted <= shown(log).union(*(shown(log[: places[last] + 1]) for last, _ in left(log)))


LINKS = ("no parent", "an empty parent", "a parent that is gone", "no uuid", "a uuid that was used")
whole = st.sampled_from([kind for kind in KINDS if kind != "part"])


@given(st.lists(st.tuples(whole, st.integers(0, 6), st.sampled_from([*[""] * 5, *LINKS])), max_size=9))
def test_all_that_is_said_is_shown_whatever_its_links_have_become(made: list[tuple[str, int, str]]) -> None:
    log = [record(0, "typed", None)._replace(id="c0")]
    wanted = {"said 0"}
    for number, (kind, back, link) in enumerate(made, 1):
        before = log[-1 - back] if back < len(log) else None
        value = dict(record(number, kind, before and before._replace(id=before.value["uuid"])).value)
        used = log[number * 7 % len(log)].value["uuid"]
        taken = [one.value for one in log if one.value["uuid"] == used]
        match link:
            case "no parent":
                value["parentUuid"] = None
            case "an empty parent":
                value["parentUuid"] = ""
            case "a parent that is gone":
                value["parentUuid"] = "gone"
            case "no uuid":
                value["uuid"] = ""
            # Words that stand in the place of others take it.
            case "a uuid that was used" if kind in SAID and value["parentUuid"] not in [
                one["parentUuid"] for one in taken
            ]:
                value["uuid"] = used
        log.append(Record(b"", value, id=f"c{number}"))
        if kind in SAID:
            wanted.add(f"said {number}")
    lines = abandoned(CLAUDE_CODE, log, damaged=True)
    assert wanted <= shown(log).union(*(shown(log[: int(line.last[1:]) + 1]) for line in lines))


START = [user("u1", None, "one"), answer("a1", "u1", "1", "m1")]
HUMAN = {"origin": {"kind": "human"}}
LOCAL = "<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args></command-args>"
REVIEW = "<command-message>review</command-message>\n<command-name>/review</command-name>"


def test_a_command_for_the_shell_before_which_the_user_went_back_is_a_line() -> None:
    log = [
        *START,
        user("c1", "a1", "<local-command-caveat>…</local-command-caveat>", isMeta=True),
        user("b1", "c1", "<bash-input>ls</bash-input>"),
        user("b2", "b1", "<bash-stdout>slug.py</bash-stdout><bash-stderr></bash-stderr>"),
    ]
    assert left([*log, user("u2", "c1", "two")]) == [("b2", "c1")]
    assert left([*log, user("u2", "b2", "two")]) == []


def test_a_command_that_stands_for_a_prompt_is_a_line_like_one_if_a_person_typed_it() -> None:
    interrupted = user("i1", "c2", "[Request interrupted by user]")
    log = [*START, user("c1", "a1", REVIEW, **HUMAN), user("c2", "c1", "Review it.", isMeta=True), interrupted]
    assert left([*log, user("u2", "a1", "two")]) == [("i1", "a1")]


def test_a_command_that_the_model_called_leaves_nothing_beside_a_parallel_call() -> None:
    log = [
        *START[:1],
        call("t1", "u1", "one", "m1"),
        call("t2", "t1", "two", "m1"),
        result("r1", "t1", "one"),
        user("c1", "r1", REVIEW),
        user("c2", "c1", "Review it.", isMeta=True),
        result("r2", "t2", "two"),
        answer("a2", "r2", "Done", "m2"),
    ]
    assert left(log) == []


@pytest.mark.parametrize(
    "beside",
    [
        [user("x1", "a1", LOCAL, **HUMAN), user("x2", "x1", "<local-command-stdout>opus</local-command-stdout>")],
        [user("x1", "a1", LOCAL.replace("model", "exit")), user("x2", "x1", "<local-command-stdout>Bye!")],
        [other("x1", "a1", "system", subtype="local_command", content=LOCAL)],
        [user("x1", "a1", "<bash-stdout>slug.py</bash-stdout><bash-stderr></bash-stderr>")],
        [user("x1", "a1", REVIEW, origin={"kind": "peer"})],
        [other("x1", "a1", "attachment", attachment={"type": "queued_command", "prompt": "wait"})],
    ],
)
def test_what_a_second_window_did_beside_the_conversation_is_no_line(beside: list[Record]) -> None:
    assert left([*START, *beside, user("u2", "a1", "two")]) == []


def test_a_command_that_a_resumed_session_wrote_again_leaves_nothing() -> None:
    shell = {"content": "<bash-input>ls</bash-input>", "timestamp": "2026-03-02T09:00:01.000Z"}
    log = [*START, user("b1", "a1", **shell), user("b2", "a1", **shell), user("u2", "b2", "two")]
    assert left(log) == []
