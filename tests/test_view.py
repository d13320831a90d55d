"""Messages of all shapes, for reading."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsession.parts import TOO_DEEP, Part, compact
from gitsession.view import View, readable, view

JSON_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)

# Keys and words that the tables look for, so that what Hypothesis builds gets past the first look.
KNOWN_KEYS = """
    role type content parts text thinking reasoning summary tool_calls function function_call functionCall name id
    arguments input output source image image_url url data media_type model meta message is_error refusal
"""
KNOWN_WORDS = """
    user assistant model tool toolResult system text thinking tool_use tool_result function_call reasoning image
    document function_call_output web_search_call message data:image/png;base64,AAAA
"""
KEYS = st.sampled_from(KNOWN_KEYS.split())
WORDS = st.sampled_from(KNOWN_WORDS.split())
JSON = st.recursive(
    JSON_SCALARS | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=5), inner, max_size=5),
    max_leaves=20,
)
OBJECTS = st.dictionaries(KEYS | st.text(max_size=5), JSON, max_size=6)


def text(said: str) -> Part:
    return Part("text", said)


SHAPES: dict[str, tuple[dict[str, Any], View]] = {
    "OpenAI chat, a string": ({"role": "user", "content": "hi"}, View("user", (text("hi"),))),
    "OpenAI chat, a developer": ({"role": "developer", "content": "be kind"}, View("system", (text("be kind"),))),
    "OpenAI chat, parts": (
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "what is this"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAAAA=="}},
                {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
            ],
        },
        View(
            "user",
            (text("what is this"), Part("image", "image/png, 4 bytes"), Part("image", "https://example.com/a.png")),
        ),
    ),
    "OpenAI chat, tool calls": (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "."}'}},
                {"id": "c2", "type": "custom", "custom": {"name": "sh", "input": "ls -l"}},
            ],
        },
        View("assistant", (Part("tool_call", '{"path": "."}', "ls", "c1"), Part("tool_call", "ls -l", "sh", "c2"))),
    ),
    "OpenAI chat, a tool's result": (
        {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
        View("tool", (Part("tool_result", "a.py", id="c1"),)),
    ),
    "OpenAI chat, a refusal": (
        {"role": "assistant", "content": None, "refusal": "I cannot"},
        View("assistant", (text("I cannot"),)),
    ),
    "OpenAI chat, reasoning": (
        {"role": "assistant", "reasoning_content": "hm", "content": "yes", "model": "m-1"},
        View("assistant", (Part("reasoning", "hm"), text("yes")), "m-1"),
    ),
    "OpenAI chat, a function call as it was": (
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        View("assistant", (Part("tool_call", "{}", "f"),)),
    ),
    "OpenAI chat, a function's result as it was": (
        {"role": "function", "name": "f", "content": "4"},
        View("tool", (Part("tool_result", "4", "f"),)),
    ),
    "OpenAI Responses, a message": (
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "yo", "annotations": []}]},
        View("assistant", (text("yo"),)),
    ),
    "OpenAI Responses, an input": (
        {"role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": "input_image", "file_id": "f-1"}]},
        View("user", (text("a"), Part("image", "f-1"))),
    ),
    "OpenAI Responses, reasoning": (
        {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "first, look"}]},
        View("assistant", (Part("reasoning", "first, look"),)),
    ),
    "OpenAI Responses, encrypted reasoning": (
        {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"},
        View("assistant", (Part("reasoning", ""),)),
    ),
    "OpenAI Responses, a function call": (
        {"type": "function_call", "id": "fc", "call_id": "c9", "name": "f", "arguments": '{"a":1}'},
        View("assistant", (Part("tool_call", '{"a":1}', "f", "c9"),)),
    ),
    "OpenAI Responses, a function's output": (
        {"type": "function_call_output", "call_id": "c9", "output": "done"},
        View("tool", (Part("tool_result", "done", id="c9"),)),
    ),
    "OpenAI Responses, a call of a built-in tool": (
        {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search", "query": "q"}},
        View("assistant", (Part("tool_call", '{"type":"search","query":"q"}', "web_search", "ws"),)),
    ),
    "Anthropic, thinking and a tool": (
        {
            "role": "assistant",
            "model": "claude-x",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "redacted_thinking", "data": "zz"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file": "a.py", "n": 3}},
            ],
        },
        View(
            "assistant",
            (
                Part("reasoning", "hm"),
                Part("reasoning", ""),
                text("I look."),
                Part("tool_call", '{"file":"a.py","n":3}', "Read", "t1"),
            ),
            "claude-x",
        ),
    ),
    "Anthropic, a user message that holds only results": (
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "is_error": True,
                    "content": [
                        {"type": "text", "text": "no such file"},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                    ],
                }
            ],
        },
        View("tool", (Part("tool_result", "no such file\n[image/png, 3 bytes]", id="t1", error=True),)),
    ),
    "Anthropic, a result and a word": (
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "4"}, "and now?"]},
        View("user", (Part("tool_result", "4", id="t"), text("and now?"))),
    ),
    "Anthropic, a tool of the server": (
        {
            "role": "assistant",
            "content": [
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "s1",
                    "content": [{"type": "web_search_result", "title": "T", "url": "u", "encrypted_content": "e"}],
                },
            ],
        },
        View(
            "assistant", (Part("tool_call", '{"query":"q"}', "web_search", "s1"), Part("tool_result", "T u", id="s1"))
        ),
    ),
    "Anthropic, documents": (
        {
            "role": "user",
            "content": [
                {
                    "type": "document",
                    "title": "Plan",
                    "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"},
                },
                {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "as text"}},
            ],
        },
        View("user", (Part("other", "[Plan, application/pdf, 3 bytes]"), text("as text"))),
    ),
    "pi, a tool call": (
        {"role": "assistant", "content": [{"type": "toolCall", "id": "1", "name": "bash", "arguments": {"c": "ls"}}]},
        View("assistant", (Part("tool_call", '{"c":"ls"}', "bash", "1"),)),
    ),
    "pi, a tool's result": (
        {
            "role": "toolResult",
            "toolCallId": "1",
            "toolName": "bash",
            "content": [{"type": "text", "text": "boom"}],
            "isError": True,
        },
        View("tool", (Part("tool_result", "boom", "bash", "1", error=True),)),
    ),
    "modular-agent, a call": (
        {
            "role": "assistant",
            "content": "",
            "thinking": "hm",
            "tool_calls": [{"function": {"id": "i", "name": "n", "parameters": {"a": 1}}}],
        },
        View("assistant", (Part("reasoning", "hm"), Part("tool_call", '{"a":1}', "n", "i"))),
    ),
    "Gemini, a model": (
        {
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True},
                {"text": "look"},
                {"functionCall": {"name": "f", "args": {"z": 1}}},
                {"inlineData": {"mimeType": "image/webp", "data": "AAAA"}},
            ],
        },
        View(
            "assistant",
            (
                Part("reasoning", "hm"),
                text("look"),
                Part("tool_call", '{"z":1}', "f"),
                Part("image", "image/webp, 3 bytes"),
            ),
        ),
    ),
    "Gemini, a function's response": (
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "o"}}}]},
        View("tool", (Part("tool_result", "o", "f"),)),
    ),
    "Bedrock": (
        {"role": "assistant", "content": [{"text": "a"}, {"toolUse": {"toolUseId": "u", "name": "f", "input": {}}}]},
        View("assistant", (text("a"), Part("tool_call", "{}", "f", "u"))),
    ),
    "what a fold makes": (
        {"role": "tool", "content": "x", "tool_call_id": "c", "name": "Bash", "is_error": True},
        View("tool", (Part("tool_result", "x", "Bash", "c", error=True),)),
    ),
    "injected context": (
        {"role": "user", "content": "the date is", "meta": True},
        View("meta", (text("the date is"),)),
    ),
    "a message in an envelope": (
        {"type": "user", "message": {"role": "user", "content": "hi"}},
        View("user", (text("hi"),)),
    ),
    "a block of a kind that is not known": (
        {"role": "user", "content": [{"type": "hologram", "x": 1}]},
        View("user", (Part("other", '{"type":"hologram","x":1}'),)),
    ),
    "a role that is not known": ({"role": "narrator", "content": "once"}, View("meta", (text("once"),))),
    "a role that is not known, and no content": (
        {"role": "narrator", "x": 1},
        View("meta", (text('{"role":"narrator","x":1}'),)),
    ),
    "nothing known": ({"x": [1, None]}, View("meta", (text('{"x":[1,null]}'),))),
    "nothing at all": ({}, View("meta", (text("{}"),))),
    "no content": ({"role": "user", "content": ""}, View("user")),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_is_seen_as_who_speaks_and_what_is_said(shape: str) -> None:
    message, expected = SHAPES[shape]
    assert expected == view(message)


@given(OBJECTS)
def test_no_json_object_is_too_odd(message: dict[str, Any]) -> None:
    seen = view(message)
    assert seen.who in {"user", "assistant", "system", "tool", "meta"}
    assert all(isinstance(part.text + part.name + part.id, str) for part in seen.parts)
    assert isinstance(readable(seen), str)


@pytest.mark.parametrize("around", [lambda inner: [inner], lambda inner: {"content": inner}, lambda i: {"text": [i]}])
def test_a_message_of_any_depth_is_seen(around: Any) -> None:
    content: Any = "core"
    for _ in range(5000):
        content = around(content)
    assert TOO_DEEP in readable(view({"role": "user", "content": content}))
    assert TOO_DEEP in readable(view({"content": content}))


def test_what_is_too_deep_does_not_depend_on_the_stack() -> None:
    deep: Any = 0
    for _ in range(100):
        deep = [deep]
    assert compact(deep) == "[" * 100 + "0" + "]" * 100
    assert compact([deep]) == TOO_DEEP
    assert compact([{"a": [0] * 3}] * 200).startswith('[{"a":[0,0,0]},')


def test_readable_tells_the_kinds_of_parts_apart() -> None:
    parts = (
        Part("reasoning", "hm"),
        Part("reasoning", ""),
        text("I look."),
        Part("tool_call", '{"a":1}', "ls"),
        Part("tool_result", "a.py"),
        Part("tool_result", "boom", error=True),
        Part("tool_result", ""),
        Part("image", "image/png, 3 bytes"),
        Part("image", ""),
        Part("other", "[Plan]"),
    )
    expected = (
        '[reasoning] hm\n[reasoning]\nI look.\nls({"a":1})\na.py\n[error] boom\n[image/png, 3 bytes]\n[image]\n[Plan]'
    )
    assert expected == readable(View("assistant", parts))
