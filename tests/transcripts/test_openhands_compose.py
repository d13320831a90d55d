"""Conversations for OpenHands: forks of its own, and those of others."""

import json
import re
from pathlib import PurePath
from typing import Any

import pytest
from compositions import ID, Entries, again, composed, draft, lines, stored, whole
from transcript_files import FIXTURES, read

from gitsession.model import CompactionEntry, MessageEntry
from gitsession.transcripts import FORMATS, Record, bundle, recognise
from gitsession.transcripts.composing import NO_RESULT
from gitsession.transcripts.openhands_compose import compose
from gitsession.transcripts.openhands_events import PROMPT

OPENHANDS = FORMATS["openhands"]
DIRECTORY = FIXTURES / "openhands"
OWN = "3f0b8c52-7a41-4d7e-9c1d-2b6f5e8a9041"
FOLDER = DIRECTORY / "conversations" / OWN.replace("-", "")
# What the agent's SDK takes for the file of an event.
EVENT_FILE = re.compile(r"events/event-(\d{5})-([0-9a-fA-F-]{8,})\.json")
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}


def fixture() -> list[Record]:
    return stored(FOLDER / "base_state.json")


def entry(own: str, **message: Any) -> MessageEntry:
    return MessageEntry(message, id=own, timestamp="2026-03-03T10:00:00+01:00")


def call(own: str, name: str = "read", arguments: str = "{}") -> dict[str, Any]:
    return {"id": own, "type": "function", "function": {"name": name, "arguments": arguments}}


def files(records: list[Record], entries: Entries = (), **fields: Any) -> dict[str, Any]:
    """Returns the files of a composed conversation, as what they hold by their paths."""
    return {one["path"]: json.loads(one["text"]) for one in lines(OPENHANDS, records, entries, **fields)}


def events(entries: Entries) -> list[dict[str, Any]]:
    """Returns the events of a conversation that another agent had, as the SDK reads them."""
    found = files([], entries)
    names = [EVENT_FILE.fullmatch(path) for path in found]
    assert [(name and int(name[1]), name and name[2]) for name in names] == [
        (place, event["id"]) for place, event in enumerate(found.values())
    ]
    return [*found.values()]


def changed(records: list[Record], path: str, new_path: str = "", **fields: Any) -> list[Record]:
    """Returns records with one file changed, or under another name."""
    made = []
    for record in records:
        if record.value["path"] == path:
            value = {"path": new_path or path, "text": json.dumps({**json.loads(record.value["text"]), **fields})}
            record = record._replace(value=value, raw=json.dumps(value).encode())  # noqa: PLW2901
        made.append(record)
    return made


def test_messages_have_the_sdks_shape() -> None:
    calls = [call("c1", arguments='{"path": "a"}'), call("c.2", "a tool", "no object"), call("c3")]
    entries = [
        entry("e1", role="system", content="Be brief."),
        entry("e2", role="user", content=[{"type": "text", "text": "Look"}, IMAGE]),
        entry("e3", role="system", content="It is late."),
        entry("e4", role="assistant", content="I look.", reasoning="hm", tool_calls=calls, model="m"),
        entry("e5", role="tool", content=[{"type": "text", "text": "x"}, IMAGE], tool_call_id="c1", name="read"),
        entry("e6", role="tool", content="no", tool_call_id="c3", name="read", is_error=True),
        entry("e7", role="assistant", content="Done.", reasoning="so", model="m"),
    ]
    system, prompt, context, first, second, third, seen, unknown, failed, answer = events(entries)
    assert {event["timestamp"] for event in events(entries)} == {"2026-03-03T09:00:00.000"}
    assert system.items() >= {"kind": "SystemPromptEvent", "source": "agent", "tools": []}.items()
    assert system["system_prompt"] == {"type": "text", "text": "Be brief."}
    parts = [{"type": "text", "text": "Look"}, {"type": "image", "image_urls": ["data:image/png;base64,eA=="]}]
    assert prompt.items() >= {"kind": "MessageEvent", "source": "user"}.items()
    assert prompt["llm_message"] == {"role": "user", "content": parts}
    assert (context["source"], context["llm_message"]["role"]) == ("environment", "user")
    assert first.items() >= {"kind": "ActionEvent", "source": "agent", "action": None, "tool_name": "read"}.items()
    assert (first["thought"], first["reasoning_content"]) == ([{"type": "text", "text": "I look."}], "hm")
    given = {"id": "c1", "name": "read", "arguments": '{"path":"a"}', "origin": "completion"}
    assert (first["tool_call_id"], first["tool_call"]) == ("c1", given)
    # A thought stands with the first call alone; the SDK puts the calls of one response into one message.
    assert (second["thought"], "reasoning_content" in second) == ([], False)
    assert (second["tool_call"]["id"], second["tool_call"]["name"]) == ("c_2", "a_tool")
    assert json.loads(second["tool_call"]["arguments"]) == {"input": "no object"}
    assert len({one["llm_response_id"] for one in (first, second, third)}) == 1
    observation = {"kind": "MCPToolObservation", "tool_name": "read", "is_error": False}
    assert seen["observation"] == {**observation, "content": [{"type": "text", "text": "x"}, parts[1]]}
    assert (seen["kind"], seen["action_id"], seen["tool_call_id"]) == ("ObservationEvent", first["id"], "c1")
    assert (unknown["kind"], unknown["tool_call_id"], unknown["error"]) == ("AgentErrorEvent", "c_2", NO_RESULT)
    assert (failed["observation"]["is_error"], failed["action_id"]) == (True, third["id"])
    spoken = {"role": "assistant", "content": [{"type": "text", "text": "Done."}], "reasoning_content": "so"}
    assert (answer["source"], answer["llm_message"]) == ("agent", spoken)


def test_a_session_without_a_system_prompt_gets_one() -> None:
    system, prompt = events([entry("e1", role="user", content="Look")])
    assert system["system_prompt"]["text"].startswith(PROMPT)
    assert "/home/dev/project" in system["system_prompt"]["text"]
    assert prompt["kind"] == "MessageEvent"
    # What a person was told at the beginning is none.
    notice = entry("e1", role="system", content="A chat began.", meta=True)
    assert [one["kind"] for one in events([notice])] == ["SystemPromptEvent", "MessageEvent"]


def test_a_system_prompt_that_was_added_is_no_part_of_the_session() -> None:
    entries = [entry("e1", role="user", content="Look"), entry("e2", role="assistant", content="Here.")]
    found = again(OPENHANDS, (), entries)
    assert [one.message for one in found if isinstance(one, MessageEntry)] == [one.message for one in entries]
    # Nor is it what another agent is told.
    assert [one["type"] for one in lines(FORMATS["pi"], (), found)] == ["session", "message", "message"]
    told = {"role": "system", "content": f"{PROMPT} Be brief."}
    (first, *_) = again(OPENHANDS, (), [MessageEntry(told, id="s"), *entries])
    assert isinstance(first, MessageEntry)
    assert first.message == told


def test_what_says_nothing_is_no_event() -> None:
    entries = [
        entry("e1", role="user", content="Look"),
        entry("e2", role="assistant", reasoning="hm"),
        entry("e3", role="user", content=""),
    ]
    assert [one["kind"] for one in events(entries)] == ["SystemPromptEvent", "MessageEvent"]
    assert lines(OPENHANDS) == []


def test_no_state_is_made_up_for_a_session_of_another_agent() -> None:
    made = composed(OPENHANDS, (), [entry("e1", role="user", content="Look")])
    assert (made.folder, made.path) == (True, PurePath(ID.replace("-", "")))
    assert made.resume is not None
    assert made.resume(made.path) == ("openhands", "--resume", ID)
    content = b"".join(made.lines)
    assert b"base_state.json" not in content
    assert recognise(content, "x.jsonl") is OPENHANDS


def test_a_compaction_forgets_what_it_does_not_keep() -> None:
    entries = [
        *(entry(f"e{number}", role="user", content=f"{number}") for number in range(3)),
        CompactionEntry("so far", "e2", 9, id="k", timestamp="2026-03-03T09:00:00Z"),
        entry("e4", role="user", content="4"),
        CompactionEntry("all", None, None, id="l", timestamp="2026-03-03T09:00:00Z"),
    ]
    _, zero, one, two, first, four, second = events(entries)
    assert first.items() >= {"kind": "Condensation", "summary": "so far", "summary_offset": 1}.items()
    assert first["forgotten_event_ids"] == [zero["id"], one["id"]]
    # The SDK shows a summary as an event, under an id of its own.
    assert second["forgotten_event_ids"] == [f"{first['id']}-summary", two["id"], four["id"]]


def test_the_id_of_a_call_stands_for_one_call() -> None:
    answer = {"role": "assistant", "tool_calls": [call("c1")]}
    result = {"role": "tool", "content": "x", "tool_call_id": "c1"}
    entries = [entry(f"e{place}", **one) for place, one in enumerate([answer, result, answer, result])]
    _, first, seen, again, seen_again = events(entries)
    assert (first["tool_call_id"], seen["tool_call_id"]) == ("c1", "c1")
    assert again["tool_call_id"] == again["tool_call"]["id"] == seen_again["tool_call_id"] != "c1"
    fork = files(fixture(), [entry("e1", role="assistant", tool_calls=[call("call_a")])])
    assert [*fork.values()][-1]["tool_call_id"] != "call_a"


def test_half_of_a_surrogate_pair_is_replaced() -> None:
    odd = call("c1", arguments=r'{"a": "\ud83d", "b": "\\ud83d \ud83d\ude00"}')
    _, prompt, action, _ = events(
        [entry("e1", role="user", content="a \ud83d\ud83d b"), entry("e2", role="assistant", tool_calls=[odd])]
    )
    assert prompt["llm_message"]["content"][0]["text"] == "a ?? b"
    assert json.loads(action["tool_call"]["arguments"]) == {"a": "?", "b": "\\ud83d \U0001f600"}


def test_a_fork_has_the_files_of_its_origin_under_a_new_id() -> None:
    records = fixture()
    made = files(records)
    state = made.pop("base_state.json")
    origin = json.loads(records[0].value["text"])
    folder = f"/home/dev/.openhands/conversations/{ID.replace('-', '')}"
    told = {"id": ID, "execution_status": "idle", "persistence_dir": folder}
    assert state == {key: value for key, value in {**origin, **told}.items() if key in state}
    assert origin.keys() - state.keys() == {"stats", "last_user_message_id", "blocked_actions", "blocked_messages"}
    texts = {one["path"]: one["text"] for one in lines(OPENHANDS, records)}
    assert {path: texts[path] for path in made} == {one.value["path"]: one.value["text"] for one in records[1:]}


def test_a_fork_does_not_stand_where_its_origin_went_back_to() -> None:
    records = changed(fixture(), "base_state.json", leaf_event_id="gone", head_is_empty=False)
    assert not {"leaf_event_id", "head_is_empty"} & files(records)["base_state.json"].keys()


@pytest.mark.parametrize(("end", "calls", "at"), [(4, ["call_a"], 3), (5, ["call_a", "call_b"], 4), (6, ["call_b"], 5)])
def test_a_call_without_a_result_gets_one_in_a_fork(end: int, calls: list[str], at: int) -> None:
    found = [*files(fixture()[:end]).values()][1:]
    assert [(one["kind"], one["tool_call_id"], one["error"]) for one in found[at:]] == [
        ("AgentErrorEvent", own, NO_RESULT) for own in calls
    ]
    assert found[at]["timestamp"].startswith("2026-03-05T08:30:0")
    added = [entry("e1", role="user", content="Go on.")]
    (*_, result, prompt) = files(fixture()[:end], added).values()
    assert (result["kind"], prompt["kind"]) == ("AgentErrorEvent", "MessageEvent")


def test_a_result_follows_its_call_also_within_a_fork() -> None:
    records = [record for record in fixture() if "event-00005" not in record.value["path"]]
    made = files(records)
    kinds = [one.get("kind") for one in made.values()]
    assert kinds[5:8] == ["ObservationEvent", "AgentErrorEvent", "MessageEvent"]
    # The SDK reads no further than to the first number that is missing.
    assert [path[13:18] for path in made if path.startswith("events/")] == [f"{place:05}" for place in range(9)]


def test_a_compaction_in_a_fork_keeps_events_of_its_origin() -> None:
    records = fixture()
    kept = OPENHANDS.fold(records)[-2].id
    compaction = CompactionEntry("so far", kept, None, id="k", timestamp="2026-03-06T09:00:00Z")
    (*before, gone) = files(records, [compaction]).values()
    # The summary that was there, and all but the last prompt.
    assert gone["forgotten_event_ids"] == [f"{before[-1]['id']}-summary", before[2]["id"], before[7]["id"]]


@pytest.mark.parametrize(
    "path", ["../x", "/etc/x", "events/../../x", "events/event-1-..json", "events/event-1-a/b.json", "C:\\x", "x.json"]
)
def test_no_file_has_a_path_that_the_agent_does_not_use(path: str) -> None:
    records = changed(fixture(), fixture()[-1].value["path"], path)
    made = compose(whole(OPENHANDS, records, OWN))
    assert made.rewritten
    names = [json.loads(line)["path"] for line in made.lines]
    assert names == [record.value["path"] for record in records[:-1]]


def test_a_file_that_is_there_twice_is_written_once() -> None:
    records = fixture()
    twice = [*records, records[0]._replace(id="again"), records[-1]._replace(id="more")]
    made = compose(whole(OPENHANDS, twice, OWN))
    names = [json.loads(line)["path"] for line in made.lines]
    assert (made.rewritten, len(names), len({*names})) == (True, 11, 11)


@pytest.mark.parametrize("own", ["s", "../../x", "3f0b8c52", "{3f0b8c52-7a41-4d7e-9c1d-2b6f5e8a9041}"])
def test_an_id_that_the_agent_does_not_take_is_not_used(own: str) -> None:
    made = compose(whole(OPENHANDS, fixture(), own))
    assert (made.rewritten, made.path) == (True, PurePath(ID.replace("-", "")))


def test_a_whole_conversation_keeps_its_id() -> None:
    made = compose(whole(OPENHANDS, fixture(), OWN))
    assert (made.rewritten, made.path) == (False, PurePath(FOLDER.name))
    assert made.resume is not None
    assert made.resume(made.path) == ("openhands", "--resume", OWN)


@pytest.mark.parametrize("name", ["trajectory.json", "events.jsonl", "history.json"])
def test_a_trajectory_becomes_a_conversation(name: str) -> None:
    records = stored(DIRECTORY / name)
    made = compose(whole(OPENHANDS, records, "trajectory"))
    assert made.rewritten
    system, prompt, action, seen, *_ = (json.loads(json.loads(line)["text"]) for line in made.lines)
    assert system["system_prompt"]["text"] == "You are OpenHands agent, a helpful assistant."
    assert prompt["llm_message"]["content"][0]["text"] == "List the files."
    assert (action["tool_name"], seen["observation"]["content"][0]["text"]) == ("execute_bash", "a.txt")


def test_what_was_composed_is_forked_like_any_other() -> None:
    content = b"".join(composed(OPENHANDS, (), [entry("e1", role="user", content="Look")]).lines)
    records = [record._replace(line=0) for record in read(OPENHANDS, content)]
    assert all(bundle.is_file(record.value) for record in records)
    made = compose(draft(OPENHANDS, records, [entry("e2", role="user", content="More")])._replace(id=OWN))
    assert [json.loads(line)["path"][:18] for line in made.lines] == [f"events/event-{place:05}" for place in range(3)]
