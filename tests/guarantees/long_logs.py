"""Logs in the formats of all agents that write any: short records, as many as one likes, and a few abandoned lines."""

import json
from collections.abc import Callable, Iterator
from hashlib import md5
from pathlib import Path
from typing import Any

Values = Iterator[dict[str, Any]]

# After how many records the user goes back to an earlier message, where a format knows that.
_BACK = 1999

_WORDS = "some words of a conversation that has no end"


def long_log(path: Path, name: str, records: int) -> Path:
    """Writes a log of so many records, in the format of the name given, and returns where it is."""
    with path.open("w", encoding="utf-8") as file:
        for value in LOGS[name](records):
            file.write(value if isinstance(value, str) else json.dumps(value, separators=(",", ":")) + "\n")
    return path


def _uuid(number: int) -> str:
    digits = md5(b"%d" % number, usedforsecurity=False).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def _time(number: int) -> str:
    return f"2026-03-{number // 86400 % 28 + 1:02}T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"


def _goes_back(number: int) -> bool:
    return number > 0 and number % _BACK == 0


def _claude_code(records: int) -> Values:
    for number in range(records):
        parent = None if number == 0 else _uuid(number - 3 if _goes_back(number) else number - 1)
        message = {"role": "user", "content": f"{number} {_WORDS}"}
        if number % 2:
            message = {"role": "assistant", "id": f"msg_{number}", "model": "m", "content": _WORDS}
        at = {"uuid": _uuid(number), "parentUuid": parent, "timestamp": _time(number), "sessionId": "s"}
        yield {"type": message["role"], **at, "promptId": _uuid(-number), "message": message}


def _codex(records: int) -> Values:
    for number in range(records):
        kind, payload = (
            "response_item",
            {"type": "message", "role": "assistant", "content": _said("output_text", number)},
        )
        if number == 0:
            kind, payload = "session_meta", {"id": "s", "cwd": "/home/dev", "timestamp": _time(0)}
        elif _goes_back(number):
            kind, payload = "event_msg", {"type": "thread_rolled_back", "num_turns": 1}
        elif number % 3 == 1:
            kind, payload = "event_msg", {"type": "user_message", "message": f"{number} {_WORDS}"}
        elif number % 3 == 2:
            payload |= {"role": "user", "content": _said("input_text", number - 1)}
        yield {"timestamp": _time(number), "type": kind, "payload": payload}


def _said(kind: str, number: int) -> list[dict[str, str]]:
    return [{"type": kind, "text": f"{number} {_WORDS}"}]


def _pi(records: int) -> Values:
    yield {"type": "session", "version": 3, "id": "s", "timestamp": _time(0), "cwd": "/home/dev"}
    for number in range(1, records):
        parent = f"{number - 3 if _goes_back(number) else number - 1:08x}" if number > 1 else None
        message = {"role": "user" if number % 2 else "assistant", "content": _said("text", number)}
        yield {
            "type": "message",
            "id": f"{number:08x}",
            "parentId": parent,
            "timestamp": _time(number),
            "message": message,
        }


def _gemini(records: int) -> Values:
    yield {"sessionId": "s", "projectHash": "3f1b7a52c0de", "startTime": _time(0), "lastUpdated": _time(0)}
    for number in range(1, records):
        # An answer is written once more when its tools have run.
        own, kind = f"m{number // 3 * 3 if number % 3 == 1 else number}", "gemini" if number % 3 < 2 else "user"
        said = {"id": own, "timestamp": _time(number), "type": kind, "content": f"{number} {_WORDS}"}
        yield {"$rewindTo": f"m{number - 2}"} if _goes_back(number) else said


def _copilot(records: int) -> Values:
    for number in range(records):
        kind, data = "user.message" if number % 2 else "assistant.message", {"content": f"{number} {_WORDS}"}
        if number == 0:
            kind, data = "session.start", {"sessionId": "s", "startTime": _time(0)}
        elif _goes_back(number):
            kind, data = "session.snapshot_rewind", {"upToEventId": _uuid(number - 2)}
        yield {
            "type": kind,
            "data": data,
            "id": _uuid(number),
            "timestamp": _time(number),
            "parentId": _uuid(number - 1),
        }


def _droid(records: int) -> Values:
    yield {"type": "session_start", "id": "s", "title": "A long one", "version": 2, "cwd": "/home/dev"}
    for number in range(1, records):
        message = {"role": "user" if number % 2 else "assistant", "content": _said("text", number)}
        yield {"type": "message", "id": _uuid(number), "timestamp": _time(number), "message": message}


def _modular_agent(records: int) -> Values:
    yield {"id": "s", "version": 1, "created_at": _time(0)}
    for number in range(1, records):
        yield {"type": "message", "id": _uuid(number), "timestamp": _time(number), "message": _message(number)}


def _message(number: int) -> dict[str, Any]:
    return {"role": "user" if number % 2 else "assistant", "content": f"{number} {_WORDS}"}


def _chat(records: int) -> Values:
    return map(_message, range(records))


def _chat_log(records: int) -> Values:
    return ({"messages": [_message(1), _message(number)]} for number in range(records))


def _langchain(records: int) -> Values:
    for number in range(records):
        kind = "ai" if number % 2 else "human"
        yield {"type": kind, "data": {"type": kind, "id": _uuid(number), "content": f"{number} {_WORDS}"}}


def _openhands(records: int) -> Values:
    for number in range(records):
        said = {"source": "agent" if number % 2 else "user", "message": f"{number} {_WORDS}", "action": "message"}
        yield {"id": number, "timestamp": _time(number)[:-1], **said, "args": {"content": said["message"]}}


def _aider(records: int) -> Iterator[str]:
    yield "# aider chat started at 2026-03-02 09:00:00\n\n"
    for number in range(1, records):
        yield f"{'#### ' if number % 2 else ''}{number} {_WORDS}\n\n"


LOGS: dict[str, Callable[[int], Iterator[Any]]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "pi": _pi,
    "gemini": _gemini,
    "copilot": _copilot,
    "droid": _droid,
    "openhands": _openhands,
    "modular-agent": _modular_agent,
    "langchain": _langchain,
    "chat": _chat,
    "chat-log": _chat_log,
    "aider": _aider,
}
