"""OpenHands' trajectories and conversations."""

import json
from typing import Any

import pytest
from folded import assistant, call, conversation, tool, user
from transcript_files import FIXTURES, header_of, read, records_of

from gitsession.model import CompactionEntry, MessageEntry, build_context
from gitsession.transcripts import FORMATS, recognise
from gitsession.transcripts.bundle import line_of

OPENHANDS = FORMATS["openhands"]
DIRECTORY = FIXTURES / "openhands"
STATE = DIRECTORY / "conversations" / "5d7a1a0c-1a55-4f0a-9a5f-6f6f0f6f0a01" / "base_state.json"
SYSTEM = {"role": "system", "content": "You are OpenHands agent, a helpful assistant."}
MODEL = "claude-sonnet-4"
ANSWER = assistant("There is one file: a.txt.", model=MODEL)


@pytest.mark.parametrize("name", ["trajectory.json", "events.jsonl"])
def test_actions_and_observations_are_calls_and_results(name: str) -> None:
    messages = conversation(DIRECTORY / name)
    assert messages[:7] == [
        SYSTEM,
        user("List the files."),
        assistant("I list them.", tool_calls=[call("toolu_1", "execute_bash", '{"command":"ls"}')], model=MODEL),
        tool("a.txt", "toolu_1", "execute_bash"),
        SYSTEM,  # once more: the condensation kept it, and forgot what was said after it
        assistant(tool_calls=[call("toolu_2", "str_replace_editor", '{"path":"b.txt"}')], model=MODEL),
        tool("no such file", "toolu_2", "str_replace_editor", is_error=True),
    ]
    assert messages[8:] == [ANSWER]


def test_a_condensation_keeps_what_it_did_not_forget() -> None:
    entries = OPENHANDS.fold(read(OPENHANDS, (DIRECTORY / "events.jsonl").read_bytes()))
    summary = user("[Conversation summary]\nThe user wants a list.")
    assert isinstance(entries[7], CompactionEntry)
    assert build_context(entries) == [summary, SYSTEM, *(conversation(DIRECTORY / "events.jsonl")[5:7]), ANSWER]


def test_what_a_condensation_keeps_before_what_it_forgets_is_said_once_more() -> None:
    prompts = [prompt(f"m{number}") for number in range(6)]
    forget = [
        sdk("Condensation", f"k{number}", forgotten_event_ids=gone, summary=f"s{number}")
        for number, gone in enumerate([["m1", "m2"], ["k0-summary", "m3"], ["elsewhere"]])
    ]
    entries = fold_of(*prompts[:4], forget[0], prompts[4], forget[1], prompts[5], forget[2])
    assert len({entry.id for entry in entries}) == len(entries)
    for number, kept in enumerate((["m0", "m3"], ["m0", "m4"], ["m0", "m4", "m5"])):
        place = next(place for place, entry in enumerate(entries) if entry.id == f"k{number}")
        assert [one["content"] for one in build_context(entries[: place + 1])][1:] == kept
    # What was said before a condensation is in the order in which it was said.
    assert [entry.message["content"] for entry in fold_of(*prompts) if isinstance(entry, MessageEntry)] == [
        f"m{number}" for number in range(6)
    ]


def test_a_history_is_found_in_what_an_evaluation_writes() -> None:
    assert conversation(DIRECTORY / "history.json") == conversation(DIRECTORY / "events.jsonl")[:4]


def test_the_events_of_the_sdk_lie_in_files() -> None:
    assert conversation(STATE) == [
        {"role": "system", "content": "You are OpenHands agent."},
        user("Show the log."),
        {"role": "system", "content": "You are OpenHands agent."},
        assistant(
            "I look.",
            reasoning="The log is in /tmp.",
            tool_calls=[call("c1", "execute_bash", '{"command": "tail log"}')],
            model="claude-sonnet-4-5",
        ),
        tool("panic: boom", "c1", "execute_bash"),
        tool("Tool 'nope' not found.", "c2", "nope", is_error=True),
        ("The log shows a panic.", "events:event-00005-e5.json/1"),
        assistant(
            "It panics at the start.",
            reasoning="Clear.",
            reasoning_details=[{"type": "reasoning.text", "text": "Clear.", "signature": "c2ln"}],
            model="claude-sonnet-4-5",
        ),
    ]


def test_the_file_of_one_event_is_no_transcript() -> None:
    path = next((STATE.parent / "events").iterdir())
    assert recognise(path.read_bytes(), path.name) is None


def test_the_header_tells_conversation_and_directory() -> None:
    assert header_of(OPENHANDS, STATE, records_of(STATE)) == {
        "id": "5d7a1a0c-1a55-4f0a-9a5f-6f6f0f6f0a01",
        "created_at": "2026-03-02T10:00:00.123456Z",
        "agent": "openhands",
        "cwd": "/home/dev/project",
        "title": "Show the log.",
    }


def test_a_trajectory_is_named_by_its_file() -> None:
    path = DIRECTORY / "trajectory.json"
    assert header_of(OPENHANDS, path, records_of(path))["id"] == "trajectory"


def test_what_the_user_ran_is_no_call_of_the_model() -> None:
    event = {"id": 1, "timestamp": "2026-03-02T09:00:00", "source": "user", "action": "run", "args": {"command": "ls"}}
    assert OPENHANDS.fold(read(OPENHANDS, json.dumps([event]).encode())) == []


def test_a_thought_is_reasoning() -> None:
    event = {"id": 1, "timestamp": "t", "source": "agent", "action": "think", "args": {"thought": "Hm."}}
    (entry,) = OPENHANDS.fold(read(OPENHANDS, json.dumps([event]).encode()))
    assert entry.message == assistant(reasoning="Hm.")


def test_a_range_that_nobody_could_have_is_not_gone_through() -> None:
    args = {"summary": "s", "forgotten_events_start_id": 0, "forgotten_events_end_id": 10**12}
    event = {"id": 1, "timestamp": "t", "source": "agent", "action": "condensation", "args": args}
    (entry,) = OPENHANDS.fold(read(OPENHANDS, json.dumps([event]).encode()))
    assert entry.first_kept_id is None


def sdk(kind: str, own: str, **told: Any) -> dict[str, Any]:
    return {"kind": kind, "id": own, "timestamp": "2026-03-02T10:00:00", "source": "agent", **told}


def action(own: str, call_id: str, response: str, *thought: str) -> dict[str, Any]:
    given = {"id": call_id, "name": "read", "arguments": "{}", "origin": "completion"}
    known = {"tool_name": "read", "tool_call_id": call_id, "tool_call": given, "llm_response_id": response}
    return sdk("ActionEvent", own, thought=[{"type": "text", "text": one} for one in thought], action=None, **known)


def prompt(own: str) -> dict[str, Any]:
    return sdk("MessageEvent", own, llm_message={"role": "user", "content": [{"type": "text", "text": own}]})


def fold_of(*events: dict[str, Any]) -> list[Any]:
    return OPENHANDS.fold(read(OPENHANDS, b"".join(json.dumps(event).encode() + b"\n" for event in events)))


def events_of(*events: dict[str, Any]) -> list[Any]:
    return [getattr(entry, "message", None) or (entry.summary, entry.first_kept_id) for entry in fold_of(*events)]


def test_the_calls_of_one_answer_stand_in_one_message() -> None:
    state = sdk("ConversationStateUpdateEvent", "s", key="stats", value={})
    first, second, third = action("a1", "c1", "r1", "I look."), action("a2", "c2", "r1"), action("a3", "c3", "r2")
    calls = [call("c1", "read", "{}"), call("c2", "read", "{}")]
    assert events_of(first, state, second, third) == [
        assistant("I look.", tool_calls=calls),
        assistant(tool_calls=[call("c3", "read", "{}")]),
    ]
    # What has a result between them, or a thought of its own, was not one message to the model either.
    failed = sdk("AgentErrorEvent", "e", tool_name="read", tool_call_id="c1", error="no")
    assert len(events_of(first, failed, second)) == 3
    assert len(events_of(first, action("a2", "c2", "r1", "And there."))) == 2


def test_what_is_kept_of_an_answer_with_several_calls_is_all_of_it() -> None:
    gone = sdk("Condensation", "k", forgotten_event_ids=["m"], summary="so far", llm_response_id="r")
    prompt = sdk("MessageEvent", "m", llm_message={"role": "user", "content": [{"type": "text", "text": "Look."}]})
    assert events_of(prompt, action("a1", "c1", "r1"), action("a2", "c2", "r1"), gone)[-1] == ("so far", "a1")


def test_what_is_added_to_a_prompt_is_context() -> None:
    text = {"type": "text", "text": "Be quick."}
    system = sdk("SystemPromptEvent", "s", system_prompt={"type": "text", "text": "You help."}, tools=[])
    asked = {**prompt("m"), "source": "user", "extended_content": [text]}
    assert events_of({**system, "dynamic_context": text}, asked) == [
        {"role": "system", "content": "You help.\nBe quick."},
        user("m"),
        user("Be quick.", meta=True),
    ]
    assert events_of(system) == [{"role": "system", "content": "You help."}]


@pytest.mark.parametrize(
    ("counted", "signed", "expected"),
    [
        ({}, False, "gpt-4o"),  # the one that is set up
        ({}, True, None),  # which signs nothing
        ({"r1": "o3"}, False, "o3"),
        ({"r1": "claude-x"}, True, "claude-x"),
        ({"r2": "o3"}, False, None),  # which was not asked here
    ],
)
def test_the_model_of_an_answer_is_known(counted: dict[str, str], signed: bool, expected: str | None) -> None:
    usage = [{"response_id": own, "model": model} for own, model in counted.items()]
    state = {"id": "c", "agent": {"llm": {"model": "gpt-4o"}}, "workspace": {}, "persistence_dir": "d"}
    state["stats"] = {"usage_to_metrics": {"agent": {"token_usages": usage}}}
    blocks = [{"type": "thinking", "thinking": "hm", "signature": "s"}] if signed else []
    said = {"role": "assistant", "content": [{"type": "text", "text": "Here."}], "thinking_blocks": blocks}
    answer = sdk("MessageEvent", "e", llm_message=said, llm_response_id="r1")
    files = {"base_state.json": state, "events/event-00000-e.json": answer, "events/event-00001-m.json": prompt("m")}
    content = b"".join(line_of(name, json.dumps(value).encode()) for name, value in files.items())
    assert [entry.message.get("model") for entry in OPENHANDS.fold(read(OPENHANDS, content))] == [expected, None]


def test_images_are_read() -> None:
    content = [
        {"type": "text", "text": "Look"},
        {"type": "image", "image_urls": ["data:image/png;base64,eA==", "http://x/y"]},
    ]
    seen = sdk("ObservationEvent", "o", tool_name="read", tool_call_id="c1", observation={"content": content})
    prompt = sdk("MessageEvent", "m", llm_message={"role": "user", "content": content})
    parts = [{"type": "text", "text": "Look"}]
    parts += [{"type": "image_url", "image_url": {"url": url}} for url in ("data:image/png;base64,eA==", "http://x/y")]
    assert [one["content"] for one in events_of({**prompt, "source": "user"}, seen)] == [parts, parts]


def test_the_events_of_a_folder_are_in_the_order_of_their_numbers() -> None:
    lines = [line_of("base_state.json", json.dumps({"id": "s", "agent": {}, "workspace": {}}).encode())]
    for number in (100_000, 99_999, 7):
        said = {"role": "user", "content": [{"type": "text", "text": str(number)}]}
        event = json.dumps(sdk("MessageEvent", f"m{number}", llm_message=said)).encode()
        lines.append(line_of(f"events/event-{number:05}-m{number}.json", event))
    entries = OPENHANDS.fold(read(OPENHANDS, b"".join(lines)))
    assert [entry.message["content"] for entry in entries] == ["7", "99999", "100000"]
