"""All that is said in a Claude Code session is to be read in its conversation, or where a line was left."""

import re
from collections.abc import Sequence

from claude_logs import CLAUDE_CODE, answer, boundary, left, other, result, user
from hypothesis import given
from hypothesis import strategies as st

from gitsession.model import MessageEntry
from gitsession.transcripts import Record

SAID = ("typed", "answer", "part")
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
    typed = {"command": "<command-name>/cost</command-name>", "interrupted": "[Request interrupted by user]"}
    return user(own, parent, typed.get(kind, said), isMeta=kind == "injected" or None, **stamp)


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
