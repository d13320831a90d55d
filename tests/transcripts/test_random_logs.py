"""Logs that no agent would write, with circles and damage: their lines are the same in scratch space as in memory."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from transcript_files import read

from gitsession.record_ids import RecordIds
from gitsession.transcripts import FORMATS
from tests.scratches import abandoned

# Few, so that records name each other, themselves, and one that is missing.
ids = st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "h", "missing"])
some = st.sampled_from(["one", "two"])


def sometimes(value: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from([None, None, None, value])


RECORDS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "claude-code": st.fixed_dictionaries(
        {
            "type": st.sampled_from(["user", "assistant", "user", "assistant", "system", "progress"]),
            "uuid": ids,
            "parentUuid": st.one_of(st.none(), ids),
            "message": st.fixed_dictionaries({"id": some, "content": some}),
            "isSidechain": sometimes(True),
            "isMeta": sometimes(True),
            "subtype": sometimes("compact_boundary"),
            "logicalParentUuid": st.one_of(st.none(), ids),
        }
    ),
    "pi": st.fixed_dictionaries(
        {
            "type": st.sampled_from(["message", "message", "message", "custom", "session"]),
            "id": st.one_of(ids, st.just("")),
            "parentId": st.one_of(st.none(), ids),
            "message": st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "other"])}),
        }
    ),
    "codex": st.one_of(
        st.builds(
            lambda role, said: {"type": "response_item", "payload": {"type": "message", "role": role, "content": said}},
            st.sampled_from(["user", "assistant", "developer"]),
            some,
        ),
        st.builds(
            lambda kind, turns: {"type": "event_msg", "payload": {"type": kind, "message": "one", "num_turns": turns}},
            st.sampled_from(["user_message", "agent_message", "task_started", "thread_rolled_back"]),
            st.integers(0, 2),
        ),
    ),
    "gemini": st.one_of(
        st.fixed_dictionaries({"id": ids, "type": st.sampled_from(["user", "gemini"]), "content": some}),
        st.builds(lambda back: {"$rewindTo": back}, ids),
        st.builds(
            lambda first, named: {
                "$set": {"messages": [{"id": one, "type": "user", "content": first} for one in named]}
            },
            st.sampled_from(["", "<state_snapshot>"]),
            st.lists(ids, max_size=3),
        ),
    ),
    "copilot": st.builds(
        lambda kind, own, back: {"type": kind, "id": own, "data": {"content": "x", "upToEventId": back}},
        st.sampled_from(["user.message", "assistant.message", "session.snapshot_rewind"]),
        st.one_of(ids, st.just("")),
        ids,
    ),
}


@given(
    st.sampled_from(sorted(RECORDS)).flatmap(lambda name: st.tuples(st.just(name), st.lists(RECORDS[name]))), st.data()
)
def test_they_leave_the_same_lines(made: tuple[str, list[dict[str, Any]]], data: st.DataObject) -> None:
    name, values = made
    written = [json.dumps(value) for value in values]
    if written and data.draw(st.booleans()):
        written[data.draw(st.integers(0, len(written) - 1))] = "damaged"
    numbers = RecordIds()
    records = read(FORMATS[name], "".join(line + "\n" for line in written).encode())
    log = [record._replace(id=numbers.take(place, record), line=0) for place, record in enumerate(records)]
    known = {record.id for record in log}
    for line in abandoned(FORMATS[name], log, damaged=True):
        assert line.last in known
        assert line.at in {*known, None}
