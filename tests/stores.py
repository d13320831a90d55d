"""What tests of stores share: messages of every shape, and all that a store holds."""

import subprocess
from pathlib import Path
from typing import Any

from gitsession import Store

HELLO = {"role": "user", "content": "Hello"}
HI = {"role": "assistant", "content": "Hi! What can I do?"}

# The shapes of messages that providers and agents use, one conversation each.
SHAPES: dict[str, list[dict[str, Any]]] = {
    "openai chat": [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {}}]},
        {
            "role": "assistant",
            "content": None,
            "refusal": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"deep": true}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "a cat"},
    ],
    "openai responses": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAA=="},
        {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "a cat"},
        {"type": "compaction", "encrypted_content": "gAAAAB=="},
    ],
    "anthropic": [
        {"role": "user", "content": "Hello"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "EqQB"},
                {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"deep": True, "at": [1, 2.5, None]}},
            ],
            "model": "claude-x",
            "usage": {"input_tokens": 12, "cache_read_input_tokens": 0},
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "no cat", "is_error": True}],
        },
    ],
    "pig": [
        {"role": "user", "content": [{"type": "text", "text": "Hello"}], "timestamp": 1753000000000},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "thinkingSignature": "x"},
                {"type": "toolCall", "id": "t1", "name": "look", "arguments": {"deep": True}},
            ],
            "provider": "p",
            "model": "m",
            "stopReason": "toolUse",
            "usage": {"input": 1, "output": 2, "cost": {"total": 0.000123}},
        },
        {"role": "toolResult", "toolCallId": "t1", "toolName": "look", "content": [], "isError": False},
    ],
    "modular-agent": [
        {"role": "user", "content": "Hello", "id": "m1", "streaming": False},
        {
            "role": "assistant",
            "content": "",
            "thinking": "hm",
            "tool_calls": [{"function": {"name": "look", "parameters": {"deep": True}}}],
            "streaming": False,
        },
        {"role": "tool", "tool_name": "look", "content": "a cat"},
    ],
    "anything": [{}, {"": {"": [{}, [], "", None, True, False]}}, {"type": "gitsession/record"}, {"message": HELLO}],
}


def git_output(path: Path, *arguments: str) -> str:
    """Returns what git prints in a repository."""
    done = subprocess.run(["git", "-C", str(path), *arguments], capture_output=True, check=True)
    return done.stdout.decode()


def everything(store: Store) -> tuple[str, str, str]:
    """Returns what a store holds: its refs, all objects that they reach, and the logs of the refs."""
    refs = git_output(store.path, "for-each-ref")
    objects = git_output(store.path, "rev-list", "--objects", "--all")
    logs = "".join(path.read_text() for path in sorted((store.path / "logs").rglob("*")) if path.is_file())
    return refs, objects, logs
