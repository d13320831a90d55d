"""The one shape of messages, whoever wrote them."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from transcript_files import TRANSCRIPTS, format_of, name_of, records_of

from gitsession.model import CompactionEntry, Message, MessageEntry, UnknownEntry
from gitsession.transcripts.normalized import normalized

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
AT = "2026-03-02T10:00:00+01:00"


def is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def is_part(part: Any) -> bool:
    return (
        (part["type"] == "file" and part["file"]["file_data"].startswith("data:"))
        or (part.keys() == {"type", "text"} and part["type"] == "text" and isinstance(part["text"], str))
        or (part.keys() == {"type", "image_url"} and part["type"] == "image_url" and is_text(part["image_url"]["url"]))
    )  # fmt: skip


def is_call(call: Any) -> bool:
    function = call["function"]
    return (
        [*call] == ["id", "type", "function"]
        and call["type"] == "function"
        and [*function] == ["name", "arguments"]
        and all(isinstance(one, str) for one in (call["id"], *function.values()))
        and isinstance(json.loads(function["arguments"]), dict)
    )


def is_content(value: Any) -> bool:
    pictured = isinstance(value, list) and any("text" not in part for part in value)
    return isinstance(value, str) or (pictured and all(map(is_part, value)))


def is_calls(value: Any) -> bool:
    return isinstance(value, list) and value != [] and all(map(is_call, value))


def is_signed(value: Any) -> bool:
    """Tells whether these are thoughts with signatures, or encrypted ones."""
    kinds = {"reasoning.text": ["type", "text", "signature"], "reasoning.encrypted": ["type", "data"]}
    return value != [] and all([*one] == kinds[one["type"]] and all(map(is_text, one.values())) for one in value)


def is_true(value: Any) -> bool:
    return value is True


# In their order.
FIELDS: dict[str, Callable[[Any], bool]] = {
    "id": is_text,
    "timestamp": lambda value: value is None or TIME.fullmatch(value) is not None,
    "role": {"user", "assistant", "system", "tool"}.__contains__,
    "content": is_content,
    "reasoning": is_text,
    "reasoning_details": is_signed,
    "tool_calls": is_calls,
    "tool_call_id": is_text,
    "name": is_text,
    "is_error": is_true,
    "model": is_text,
    "meta": is_true,
    "type": is_text,
}
OF_ONE_ROLE = {
    "reasoning": "assistant",
    "reasoning_details": "assistant",
    "tool_calls": "assistant",
    "tool_call_id": "tool",
    "name": "tool",
    "is_error": "tool",
    "type": "system",
}


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=name_of)
def test_every_transcript_gives_messages_of_one_shape(path: Any) -> None:
    """Each line is of the shape that FORMAT.md describes, whichever agent or provider wrote the transcript."""
    entries = format_of(path).fold(records_of(path))
    found: list[Message] = list(normalized(entries))
    called: dict[str, str] = {}
    for message in found:
        assert [*message] == [field for field in FIELDS if field in message]
        assert [*message][:4] == ["id", "timestamp", "role", "content"]
        for field, value in message.items():
            assert FIELDS[field](value), (field, value)
            assert OF_ONE_ROLE.get(field, message["role"]) == message["role"]
        for call in message.get("tool_calls", ()):
            called[call["id"]] = call["function"]["name"]
        if message["role"] == "tool":
            assert message.get("name", "") == called.get(message.get("tool_call_id", ""), message.get("name", ""))
        assert json.loads(json.dumps(message)) == message
    assert len({message["id"] for message in found}) == len(found)
    assert {message["id"].partition("/")[0] for message in found} <= {entry.id.partition("/")[0] for entry in entries}
    assert bool(found) == bool(entries)


def test_results_in_one_message_of_a_provider_are_messages_of_their_own_with_the_names_of_their_tools() -> None:
    calls = [{"type": "tool_use", "id": f"c{n}", "name": f"look{n}", "input": {"at": n}} for n in range(2)]
    results = [{"type": "tool_result", "tool_use_id": f"c{n}", "content": "", "is_error": n == 1} for n in range(2)]
    thought = {"type": "thinking", "thinking": "hm"}
    found = normalized(
        [
            MessageEntry({"role": "assistant", "content": [thought, *calls], "model": "m"}, id="a", timestamp=AT),
            MessageEntry(
                {"role": "user", "content": [*results, {"type": "text", "text": "Go on"}]}, id="b", timestamp=""
            ),
        ]
    )
    functions = [{"name": f"look{n}", "arguments": f'{{"at":{n}}}'} for n in range(2)]
    asked = [{"id": f"c{n}", "type": "function", "function": function} for n, function in enumerate(functions)]
    assert list(found) == [
        {
            "id": "a",
            "timestamp": "2026-03-02T09:00:00.000Z",
            "role": "assistant",
            "content": "",
            "reasoning": "hm",
            "tool_calls": asked,
            "model": "m",
        },
        {"id": "b", "timestamp": None, "role": "tool", "content": "", "tool_call_id": "c0", "name": "look0"},
        {
            "id": "b/1",
            "timestamp": None,
            "role": "tool",
            "content": "",
            "tool_call_id": "c1",
            "name": "look1",
            "is_error": True,
        },
        {"id": "b/2", "timestamp": None, "role": "user", "content": "Go on"},
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("*** Begin Patch", '{"input":"*** Begin Patch"}'),
        ('["ls"]', '{"input":"[\\"ls\\"]"}'),
        ('{ "input": "a" }', '{ "input": "a" }'),
        ('{"n": 1.50}', '{"n": 1.50}'),
        ("", "{}"),
    ],
)
def test_arguments_are_an_object_as_json_text(given: str, expected: str) -> None:
    calls = [{"id": "c", "type": "function", "function": {"name": "apply_patch", "arguments": given}}]
    (found,) = normalized([MessageEntry({"role": "assistant", "tool_calls": calls}, id="a", timestamp=AT)])
    assert found["tool_calls"][0]["function"] == {"name": "apply_patch", "arguments": expected}


def test_what_is_no_message_is_told_apart() -> None:
    found = normalized(
        [
            CompactionEntry("so far", id="c", timestamp="2026-03-02T09:00:00.123456Z"),
            UnknownEntry({"type": "vote", "for": "a"}, id="u", timestamp="today"),
        ]
    )
    assert list(found) == [
        {
            "id": "c",
            "timestamp": "2026-03-02T09:00:00.123456Z",
            "role": "system",
            "content": "[Conversation summary]\nso far",
            "meta": True,
            "type": "compaction",
        },
        {
            "id": "u",
            "timestamp": None,
            "role": "system",
            "content": '{"type":"vote","for":"a"}',
            "meta": True,
            "type": "vote",
        },
    ]
