"""Messages of any shape as normal messages."""

from typing import Any

import pytest

from gitsession.transcripts.shapes import normal_messages

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}

FILE = {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,eA=="}}
SOURCE = {"type": "base64", "media_type": "application/pdf", "data": "eA=="}
LOOK = {"name": "look", "arguments": '{"a":1}'}


def image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "user", "content": "a", "extra": 1}, [{"role": "user", "content": "a"}]),
        ({"role": "developer", "content": "a"}, [{"role": "system", "content": "a"}]),
        ({"role": "assistant", "content": None, "tool_calls": [CALL]}, [{"role": "assistant", "tool_calls": [CALL]}]),
        ({"role": "user", "content": "a", "name": "dev"}, [{"role": "user", "content": "a"}]),
        (
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}]},
            [{"role": "assistant", "content": "a", "reasoning": "hm"}],
        ),
        (
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True}],
            },
            [{"role": "tool", "content": "no", "tool_call_id": "c1", "is_error": True}],
        ),
        ({"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}]}, []),
        ({"role": "model", "parts": [{"text": "a"}]}, [{"role": "assistant", "content": "a"}]),
        (
            {"role": "assistant", "content": "a", "thinking": "hm"},
            [{"role": "assistant", "content": "a", "reasoning": "hm"}],
        ),
        (
            {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
            [{"role": "assistant", "tool_calls": [CALL]}],
        ),
        (
            {"type": "function_call_output", "call_id": "c1", "output": "a"},
            [{"role": "tool", "content": "a", "tool_call_id": "c1"}],
        ),
        (
            {
                "role": "user",
                "content": [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "b"}],
            },
            [{"role": "user", "content": [{"type": "text", "text": "a"}, image("b")]}],
        ),
        (
            {"role": "user", "parts": [{"inlineData": {"mimeType": "image/gif", "data": "eA=="}}, {"text": "a"}]},
            [{"role": "user", "content": [image("data:image/gif;base64,eA=="), {"type": "text", "text": "a"}]}],
        ),
        (
            {"role": "user", "content": [{"image": {"format": "jpeg", "source": {"bytes": "eA=="}}}]},
            [{"role": "user", "content": [image("data:image/jpeg;base64,eA==")]}],
        ),
        (
            {"role": "user", "content": [{"type": "input_image", "file_id": "f1"}]},
            [{"role": "user", "content": "[f1]"}],
        ),
        (
            {
                "type": "function_call_output",
                "call_id": "c1",
                "output": [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "b"}],
            },
            [{"role": "tool", "content": [{"type": "text", "text": "a"}, image("b")], "tool_call_id": "c1"}],
        ),
        (
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "a", "cache_control": {}}],
                "tool_calls": [{"index": 0, "function": {"name": "look", "arguments": {"a": 1}}}],
            },
            [{"role": "assistant", "content": "a", "tool_calls": [{**CALL, "id": "", "function": LOOK}]}],
        ),
        ({"role": "user", "content": [FILE | {"cache": 1}]}, [{"role": "user", "content": [FILE]}]),
        (
            {"role": "user", "content": [{"type": "file", "file": {"file_id": "f"}}]},
            [{"role": "user", "content": "[f]"}],
        ),
        (
            {"role": "user", "content": [{"type": "document", "title": "a.pdf", "source": SOURCE}]},
            [{"role": "user", "content": [FILE]}],
        ),
        ({"role": "user", "content": ""}, [{"role": "user", "content": ""}]),
        ({"unheard": "of"}, [{"role": "user", "content": '{"unheard":"of"}', "meta": True}]),
    ],
)
def test_a_message_says_the_same(message: dict[str, Any], expected: list[dict[str, Any]]) -> None:
    assert normal_messages(message) == expected
