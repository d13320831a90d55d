"""Messages as OpenAI's chat API takes them, and as LangChain reads them: of every transcript there is."""

import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from losses import left
from transcript_files import TRANSCRIPTS, format_of, name_of, read, records_of

from gitsession.model import CompactionEntry, Message, build_context
from gitsession.transcripts import FORMATS, recognise
from gitsession.transcripts.chat_messages import langchain_messages, openai_messages
from gitsession.transcripts.composing import NO_RESULT
from gitsession.transcripts.shapes import normal_messages

Shape = Callable[[Iterable[Message]], Iterator[Message]]
SHAPES = {"openai": openai_messages, "langchain": langchain_messages}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}
TALK: list[Message] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Look"}, IMAGE]},
    {"role": "user", "content": "It is late.", "meta": True},
    {
        "role": "assistant",
        "content": "I look.",
        "reasoning": "hm",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}},
            {"id": "c.2", "type": "function", "function": {"name": "a tool", "arguments": ""}},
            {"id": "", "type": "function", "function": {"name": "write", "arguments": "[]"}},
        ],
        "model": "m",
    },
    {"role": "tool", "content": "no", "tool_call_id": "c.2", "name": "a tool", "is_error": True},
    {"role": "tool", "content": [{"type": "text", "text": "x"}, IMAGE], "tool_call_id": "c1", "name": "read"},
    {"role": "tool", "content": "whose?", "tool_call_id": "gone"},
    {"role": "assistant", "reasoning": "so"},
    {"role": "assistant", "content": "Done.", "model": "m"},
]


def shown(path: Path) -> list[Message]:
    """Returns what a model is shown of a transcript."""
    return build_context(format_of(path).fold(records_of(path)))


def test_messages_are_openais() -> None:
    one, two, three = ("c1", "c_2", "call_3_2")
    assert [*openai_messages(TALK)] == [
        TALK[0],
        TALK[1],
        {"role": "user", "content": "It is late."},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": one, "type": "function", "function": {"name": "read", "arguments": '{"path":"a"}'}},
                {"id": two, "type": "function", "function": {"name": "a_tool", "arguments": "{}"}},
                {"id": three, "type": "function", "function": {"name": "write", "arguments": '{"input":"[]"}'}},
            ],
        },
        {"role": "tool", "tool_call_id": one, "content": "x\n[image]"},
        {"role": "tool", "tool_call_id": two, "content": "no"},
        {"role": "tool", "tool_call_id": three, "content": NO_RESULT},
        {"role": "user", "content": "whose?"},
        {"role": "assistant", "content": "Done."},
    ]
    assert next(openai_messages([{**TALK[3], "content": ""}]))["content"] is None


def test_messages_are_langchains() -> None:
    _, prompt, _, answer, first, second, third, *_, last = langchain_messages(TALK)
    assert prompt["type"] == prompt["data"]["type"] == "human"
    assert prompt["data"]["content"] == TALK[1]["content"]
    data = answer["data"]
    assert (data["additional_kwargs"], data["response_metadata"]) == (
        {"reasoning_content": "hm"},
        {"model_name": "m"},
    )
    assert data["tool_calls"][0] == {"name": "read", "args": {"path": "a"}, "id": "c1", "type": "tool_call"}
    assert [one["data"]["status"] for one in (first, second, third)] == ["success", "error", "error"]
    assert (first["data"]["content"], first["data"]["name"]) == (TALK[5]["content"], "read")
    assert (last["type"], last["data"]["tool_calls"]) == ("ai", [])


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=name_of)
def test_a_provider_takes_every_transcript(path: Path) -> None:
    waiting: list[str] = []
    for message in openai_messages(shown(path)):
        assert message.keys() <= {"role", "content", "tool_calls", "tool_call_id"}
        if message["role"] == "tool":
            assert waiting.pop(0) == message["tool_call_id"]
            continue
        assert waiting == []
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        assert message["content"] or waiting
    assert waiting == []


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("path", TRANSCRIPTS, ids=name_of)
def test_what_is_read_again_is_the_same(path: Path, name: str) -> None:
    before = shown(path)
    content = b"".join(json.dumps(message).encode() + b"\n" for message in SHAPES[name](before))
    if not content:
        return
    own = recognise(content, "x.jsonl")
    assert own is FORMATS["chat" if name == "openai" else name]
    entries = own.fold(read(own, content))
    after = [
        one for entry in entries if not isinstance(entry, CompactionEntry) for one in normal_messages(entry.message)
    ]
    told = [one for message in before for one in normal_messages(message)]
    assert left(after, name) == left(told, name)


@pytest.mark.slow
@pytest.mark.parametrize("path", TRANSCRIPTS, ids=name_of)
def test_langchain_reads_every_transcript(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        core: Any = pytest.importorskip("langchain_core.messages")
        made = [*langchain_messages(shown(path))]
        found = core.messages_from_dict(made)
        asked = core.convert_to_openai_messages(found)
    assert [one.type for one in found] == [one["type"] for one in made]
    assert [one.content for one in found] == [one["data"]["content"] for one in made]
    assert [call["args"] for one in found for call in getattr(one, "tool_calls", ())] == [
        call["args"] for one in made for call in one["data"].get("tool_calls", ())
    ]
    assert [one["role"] for one in asked] == [one["role"] for one in openai_messages(shown(path))]
