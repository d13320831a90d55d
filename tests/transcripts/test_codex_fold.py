"""The conversation of a Codex rollout."""

from typing import Any

from codex_logs import CODEX, answer, call, given, item, log, output, record, typed
from transcript_files import FIXTURES, records_of

from gitsession.model import CompactionEntry, MessageEntry, build_context
from gitsession.transcripts import Record

URL = "data:image/png;base64,eA=="


def messages(records: list[Record]) -> list[dict[str, Any]]:
    return [entry.message for entry in CODEX.fold(records) if isinstance(entry, MessageEntry)]


def fixture(name: str) -> list[Record]:
    return records_of(FIXTURES / "codex" / f"{name}.jsonl")


def thought(text: str) -> Record:
    return item("reasoning", summary=[{"type": "summary_text", "text": text}])


def test_what_the_model_says_between_two_inputs_is_one_message() -> None:
    model = record("turn_context", {"model": "m"})
    records = log(typed("one"), model, thought("hm"), answer("I look."), call("c1"), call("c2", "read"), output("c1"))
    assert messages(records)[1:] == [
        {
            "role": "assistant",
            "content": "I look.",
            "reasoning": "hm",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "shell", "arguments": "{}"}},
                {"id": "c2", "type": "function", "function": {"name": "read", "arguments": "{}"}},
            ],
            "model": "m",
        },
        {"role": "tool", "content": "ok", "tool_call_id": "c1", "name": "shell"},
    ]
    assert [entry.id for entry in CODEX.fold(records)] == ["r0", "r3", "r8"]


def test_what_would_change_the_order_begins_another_message() -> None:
    records = log(typed("one"), answer("I look."), answer("I still do."), call("c1"), thought("hm"), answer("Done."))
    assert [message.get("content") for message in messages(records)] == ["one", "I look.", "I still do.", "Done."]


def test_each_kind_of_tool_is_a_call_with_its_result() -> None:
    calls = [call for message in messages(fixture("tools")) for call in message.get("tool_calls", ())]
    named = [(call["function"]["name"], call["id"]) for call in calls]
    assert named == [
        ("exec_command", "call_tools_01"),
        ("exec_command", "call_tools_02"),
        ("apply_patch", "call_patch"),
        ("web_search", "call-4"),
        ("local_shell", "call_shell"),
        ("view_image", "call_tools_03"),
        ("exec_command", "call_tools_04"),
    ]
    results = [message for message in messages(fixture("tools")) if message["role"] == "tool"]
    assert [(one["tool_call_id"], one["name"], one.get("is_error", False)) for one in results] == [
        ("call_tools_02", "exec_command", False),
        ("call_tools_01", "exec_command", False),
        ("call_patch", "apply_patch", False),
        ("call_shell", "local_shell", True),
        ("call_tools_03", "view_image", False),
    ]


def test_a_patch_is_kept_as_the_text_that_it_is() -> None:
    patch = item("custom_tool_call", name="apply_patch", call_id="c1", input="*** Begin Patch")
    assert messages(log(patch))[0]["tool_calls"][0]["function"]["arguments"] == "*** Begin Patch"


def test_images_are_parts_and_the_marks_around_them_are_not() -> None:
    content = [
        {"type": "input_text", "text": "<image name=[Image #1]>"},
        {"type": "input_image", "image_url": URL},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "What is this?"},
    ]
    expected = [{"type": "image_url", "image_url": {"url": URL}}, {"type": "text", "text": "What is this?"}]
    assert messages(log(item("message", role="user", content=content)))[0]["content"] == expected
    made = item("image_generation_call", id="ig_1", status="completed", result="eA==")
    assert messages(log(made))[0]["content"] == [expected[0]]


def test_outputs_have_every_shape_that_was_ever_written() -> None:
    shapes: list[Any] = ["a", [{"type": "input_text", "text": "a"}], {"content": "a", "success": True}]
    shapes.append({"content_items": [{"type": "input_text", "text": "a"}], "content": None})
    results = messages(log(*[output("c", shape) for shape in shapes]))
    assert [result["content"] for result in results] == ["a"] * 4
    assert messages(log(output("c", {"content": "no", "success": False})))[0]["is_error"] is True


def test_what_an_editor_put_before_a_prompt_stands_before_it() -> None:
    said = "# Context from my IDE setup:\n## Open tabs:\n- a.py\n## My request for Codex:\nWhy?"
    beside, prompt = messages(log(item("message", role="user", content=[{"type": "input_text", "text": said}])))
    assert beside["meta"] is True
    assert beside["content"].endswith("## My request for Codex:")
    assert prompt == {"role": "user", "content": "Why?"}


def test_what_agents_tell_each_other_is_context() -> None:
    told = [message for message in messages(fixture("subagent")) if message["role"] == "user"]
    assert [message["content"] for message in told] == ["Count the modules.", "Count those of the tests as well."]
    assert all(message["meta"] for message in told)


def test_a_compaction_stands_where_it_was_made_and_keeps_what_follows() -> None:
    entries = CODEX.fold(fixture("compaction"))
    summaries = [entry.summary for entry in entries if isinstance(entry, CompactionEntry)]
    assert summaries == [
        "All modules were read; there are twelve errors.",
        # Of a history in whose place nothing readable stands but a prompt.
        "Which one is the root?\n\n[a summary that its provider has encrypted]",
        "The root is known.",
    ]
    assert [message["content"] for message in build_context(entries)] == [
        "[Conversation summary]\nThe root is known.",
        "And its children?",
        "Eight.",
    ]


def test_early_rollouts_hold_the_items_themselves() -> None:
    shown = [(one["role"], one.get("meta", False)) for one in messages(fixture("early"))]
    # What an editor puts before a prompt is no part of it.
    asked = [("user", True), ("user", True), ("user", False)]
    answered = [("assistant", False), ("tool", False), ("assistant", False)]
    assert shown == [*asked, *answered, ("user", False)]


def test_times_and_models_are_those_of_the_records() -> None:
    entries = [entry for entry in CODEX.fold(fixture("tools")) if isinstance(entry, MessageEntry)]
    models = [entry.message["model"] for entry in entries if entry.message["role"] == "assistant"]
    assert models == ["gpt-5.4-codex"] * 5 + ["gpt-5.4"]
    assert all(entry.timestamp.startswith("2026-03-02T09:") for entry in entries)


def test_nothing_is_said_where_nothing_is_readable() -> None:
    encrypted = item("reasoning", summary=[], content=None, encrypted_content="x")
    assert messages(log(encrypted, item("ghost_snapshot"), item("compaction"), record("world_state", {}))) == []
    assert messages(log(given(""))) == [{"role": "user", "content": ""}]
