"""The conversation of a pi session."""

import json
from typing import Any

import pytest
from pi_logs import PI, answer, entry, message, user
from transcript_files import FIXTURES, records_of

from gitsession.model import CompactionEntry, MessageEntry, UnknownEntry, build_context
from gitsession.transcripts import Record
from gitsession.transcripts.composing import signed_thoughts
from gitsession.transcripts.losses import losses
from gitsession.transcripts.normalized import normalized


def fixture(name: str) -> list[Record]:
    return records_of(FIXTURES / "pi" / f"{name}.jsonl")


def messages(log: list[Record]) -> list[dict[str, Any]]:
    return [one.message for one in PI.fold(log) if isinstance(one, MessageEntry)]


def context(log: list[Record]) -> list[str]:
    return [one["content"] for one in build_context(PI.fold(log))]


def test_what_claude_signed_is_known() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "thinkingSignature": "x"},
        {"type": "thinking", "thinking": "[Reasoning redacted]", "thinkingSignature": "y", "redacted": True},
        {"type": "text", "text": "I look."},
    ]
    (known,) = messages([message("a1", None, "assistant", blocks, api="anthropic-messages", model="claude-x")])
    assert [block["type"] for block in signed_thoughts(known)] == ["thinking", "redacted_thinking"]
    (other,) = messages([message("a1", None, "assistant", blocks, api="openai-responses", model="gpt-x")])
    assert other["reasoning"] == "hm"
    assert "reasoning_details" not in other


def test_blocks_of_an_answer_become_a_normal_message() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "thinkingSignature": "x"},
        {"type": "text", "text": "I look."},
        {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a.py"}},
    ]
    assert messages([message("a1", None, "assistant", blocks, model="m")]) == [
        {
            "role": "assistant",
            "content": "I look.",
            "reasoning": "hm",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path":"a.py"}'}}
            ],
            "model": "m",
        }
    ]


def test_what_is_no_answer_and_no_prompt_is_told_apart() -> None:
    shown = [(one["role"], one.get("meta", False), one.get("is_error", False)) for one in messages(fixture("tools"))]
    assert shown == [
        ("user", False, False),
        ("assistant", False, False),
        ("tool", False, False),
        ("tool", False, True),
        ("assistant", False, False),
        ("tool", False, False),
        ("user", True, False),  # a reminder of an extension
        ("assistant", False, False),
        ("user", False, False),  # a command that the user ran; one kept from the model is no message
        ("user", False, False),
        ("assistant", True, False),  # that a request failed
        ("assistant", False, False),
        ("user", True, False),  # a note of an extension
    ]


def test_a_command_of_the_user_is_shown_with_what_it_printed() -> None:
    log = [message("b1", None, "bashExecution", None, command="ls", output="a\nb\n")]
    assert messages(log) == [{"role": "user", "content": "! ls\na\nb"}]
    assert messages([message("b1", None, "bashExecution", None, command="true", output="")])[0]["content"] == "! true"


def test_a_command_that_was_kept_from_the_model_is_shown_and_no_message() -> None:
    env = {"command": "env", "output": "HOME=/", "excludeFromContext": True, "timestamp": 1772445609000}
    log = [user("u1", None, "one"), message("b1", "u1", "bashExecution", None, **env), user("u2", "b1", "two")]
    kept = PI.fold(log)[1]
    assert isinstance(kept, UnknownEntry)
    assert kept.id == "b1"
    assert context(log) == ["one", "two"]
    shown = [*normalized(PI.fold(log))][1]
    assert (shown["role"], shown["type"], shown["meta"]) == ("system", "bashExecution", True)
    assert json.loads(shown["content"]).items() >= {"command": "env", "output": "HOME=/"}.items()
    assert [str(loss) for loss in losses("codex", PI.fold(log))] == ["1 entry of another kind"]


def test_the_summary_of_a_branch_is_context() -> None:
    assert {"role": "user", "content": "Three was tried twice.", "meta": True} in messages(fixture("branches"))
    assert messages([entry("b1", None, "branch_summary", fromId="root", summary="")]) == []


@pytest.mark.parametrize("name", ["compaction", "version-1", "tau"])
def test_a_compaction_keeps_what_it_says(name: str) -> None:
    summary, kept = {"tau": ("The modules were read.", "Name the longest")}.get(
        name, ("All modules were read.", "Now list the errors")
    )
    shown = context(fixture(name))
    assert shown[:2] == [f"[Conversation summary]\n{summary}", kept]
    assert len(messages(fixture(name))) > len(shown) - 1


def test_a_compaction_that_carries_its_messages_kept_the_ones_they_repeat() -> None:
    log = fixture("retained")
    assert context(log[:-1])[:2] == ["[Conversation summary]\nAll modules were read.", "Now list the errors"]
    assert [one.tokens_before for one in PI.fold(log) if isinstance(one, CompactionEntry)] == [23010, 99]


def test_a_compaction_that_keeps_nothing_keeps_what_follows() -> None:
    gone = entry("c1", "a1", "compaction", summary="so far", firstKeptEntryId="gone", tokensBefore=1)
    log = [user("u1", None, "one"), answer("a1", "u1", "1"), gone]
    assert context(log) == ["[Conversation summary]\nso far"]
    assert context([*log, user("u2", "c1", "two")]) == ["[Conversation summary]\nso far", "two"]


def test_what_a_compaction_kept_begins_with_the_next_message() -> None:
    change = entry("m1", "a1", "model_change", provider="p", modelId="m")
    log = [user("u1", None, "one"), answer("a1", "u1", "1"), change, user("u2", "m1", "two")]
    log.append(entry("c1", "u2", "compaction", summary="so far", firstKeptEntryId="m1", tokensBefore=1))
    assert context(log) == ["[Conversation summary]\nso far", "two"]


@pytest.mark.parametrize("index", [-1, 0, 99])
def test_an_index_that_names_no_entry_keeps_nothing(index: int) -> None:
    compaction = Record(b"", {"type": "compaction", "summary": "so far", "firstKeptEntryIndex": index})
    head = Record(b"", {"type": "session", "id": "s"})
    first = Record(b"", {"type": "message", "message": {"role": "user", "content": "one"}})
    assert context([head, first, compaction]) == ["[Conversation summary]\nso far"]


@pytest.mark.parametrize("content", [None, 5, [5, None, {}], {"type": "text"}, []])
def test_content_of_any_shape_says_nothing_or_something(content: object) -> None:
    log = [message(f"m{place}", None, role, content) for place, role in enumerate(("user", "assistant", "custom"))]
    assert messages(log[:1]) == messages(log[1:2]) == messages(log[2:]) == []
