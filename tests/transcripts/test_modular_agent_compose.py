"""Sessions for modular-agent: forks of its own, and those of others."""

import json
from pathlib import PurePath

import pytest
from compositions import ID, again, draft, lines, stored, whole
from transcript_files import FIXTURES

from gitsession.model import CompactionEntry, MessageEntry, UnknownEntry
from gitsession.transcripts import FORMATS
from gitsession.transcripts.modular_agent_compose import compose

MODULAR_AGENT = FORMATS["modular-agent"]
FIXTURE = FIXTURES / "modular-agent" / "compaction.jsonl"


def test_a_fork_has_the_entries_of_its_origin_and_names_it() -> None:
    records = stored(FIXTURE)
    header, *entries = lines(MODULAR_AGENT, records)
    before = records[0].value
    news = {"id": ID, "parent_session": before["id"], "created_at": "2026-03-02T11:00:05.000Z"}
    assert header == {**before, **news}
    assert entries == [record.value for record in records[1:]]


def test_what_is_added_keeps_its_shape_and_hangs_on_what_came_before() -> None:
    odd = {"role": "user", "parts": [{"text": "hi"}], "custom": 1}
    added = [
        MessageEntry(odd, id="x1", timestamp="2026-03-03T09:00:00+01:00"),
        CompactionEntry("so far", "x1", 7, id="x2", timestamp=""),
    ]
    message, compaction = lines(MODULAR_AGENT, stored(FIXTURE), added)[-2:]
    assert message == {
        "type": "message",
        "message": odd,
        "id": "x1",
        "parent_id": "e3",
        "timestamp": "2026-03-03T09:00:00+01:00",
    }
    assert compaction == {
        "type": "compaction",
        "summary": "so far",
        "first_kept_id": "x1",
        "tokens_before": 7,
        "id": "x2",
        "parent_id": "x1",
        "timestamp": "2026-03-03T08:00:00.000Z",
    }
    assert again(MODULAR_AGENT, (), added[:1])[0].message == odd


def test_what_is_no_message_has_an_id_that_what_follows_can_name() -> None:
    log = [
        UnknownEntry({"type": "bashExecution", "command": "env"}, "b1", "2026-03-03T09:00:00Z"),
        UnknownEntry({"type": "label", "id": "l1"}, "l1", "2026-03-03T09:00:00Z"),
        MessageEntry({"role": "user", "content": "a"}, id="u1", timestamp="2026-03-03T09:00:00Z"),
    ]
    made = compose(draft(MODULAR_AGENT)._replace(log=log))
    _, command, label, message = (json.loads(one) for one in made.lines)
    told = {"id": "b1", "timestamp": "2026-03-03T09:00:00Z"}
    assert command == {"type": "bashExecution", "command": "env", **told}
    assert label == {"type": "label", "id": "l1"}
    assert message["parent_id"] == "l1"


def test_a_session_of_another_agent_begins_with_a_header() -> None:
    assert lines(MODULAR_AGENT, title="Ways")[0] == {
        "id": ID,
        "version": 1,
        "parent_session": "s",
        "created_at": "2026-03-02T09:00:00.000Z",
        "title": "Ways",
    }


def test_no_command_resumes_it() -> None:
    made = compose(draft(MODULAR_AGENT))
    assert (made.path, made.resume, made.prepare) == (PurePath(f"{ID}.jsonl"), None, None)


@pytest.mark.parametrize("own", ["..", "../../x", "/etc", "a b"])
def test_an_id_that_could_be_something_else_is_not_used(own: str) -> None:
    made = compose(whole(MODULAR_AGENT, stored(FIXTURE), own))
    assert (made.rewritten, made.path.name) == (True, f"{ID}.jsonl")
