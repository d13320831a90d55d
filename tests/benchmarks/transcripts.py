"""Transcripts of Claude Code's kind, made up so that they weigh what real ones do.

Real ones were measured: 258 of three agents, 2.6 KB a record, gzip makes a quarter of them. Most records are short and
mostly the same fields again; the bytes are in the results of tools, which stand in a record twice; and the signatures
of what the model thought are random. Prose and code are Python's own: its modules, and its help.
"""

import base64
import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

_MODULES = Path(json.__file__).parent.parent
_MODEL = "claude-sonnet-4-5-20250929"


def transcript(path: Path, records: int, size: int, seed: int = 7) -> Path:
    """Writes a transcript of so many records, of about so many bytes each once they are many."""
    with path.open("w", encoding="utf-8") as file:
        written = 0
        for number, record in zip(range(records), _Talk(seed).records(), strict=False):
            # What is read from a file is as long as the mean still has room for.
            room = (number + 1) * size - written
            text = json.dumps(record(max(room, 200)), separators=(",", ":"), ensure_ascii=False) + "\n"
            written += len(text.encode())
            file.write(text)
    return path


@cache
def _modules() -> list[tuple[str, list[str]]]:
    """Returns the names and the lines of Python's modules."""
    names = sorted(path for path in _MODULES.glob("*.py") if path.stat().st_size > 4000)
    return [(path.name, path.read_text("utf-8", "replace").splitlines()) for path in names]


@cache
def _paragraphs() -> list[str]:
    return [text for topic in sorted(topics) for text in topics[topic].split("\n\n") if 40 < len(text) < 1500]


class _Talk:
    """One session: a person asks, the model thinks, reads, changes and runs, and says what it did."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._seed = seed
        self._session = self._uuid()
        self._number = 0
        self._parent: str | None = None
        # A session is about a few files.
        self._files = self._chance.sample(_modules(), 12)

    def records(self) -> Iterator[Any]:
        """Yields functions that make the records, given how long one may be."""
        while True:
            yield lambda _: self._own("file-history-snapshot", messageId=self._uuid(), snapshot=self._snapshot())
            yield lambda _: self._said("user", self._prose(1), promptId=self._uuid())
            for _ in range(self._chance.randint(2, 14)):
                if self._chance.random() < 0.4:
                    yield lambda _: self._answer([self._thought()])
                if self._chance.random() < 0.4:
                    yield lambda _: self._answer([{"type": "text", "text": self._sentence()}])
                yield from self._chance.choice((self._read, self._read, self._run, self._edit))()
            yield lambda _: self._answer([{"type": "text", "text": self._prose(self._chance.randint(2, 5))}])
            yield lambda _: self._record(
                "system", subtype="turn_duration", durationMs=self._chance.randint(2000, 90000)
            )

    def _read(self) -> Iterator[Any]:
        name, lines = self._chance.choice(self._files)
        path, call = f"/home/dev/project/src/{name}", self._call_id()
        yield lambda _: self._called(call, "Read", {"file_path": path})

        def result(room: int) -> dict[str, Any]:
            count = min(room * self._chance.randint(1, 3) // 120 + 1, len(lines))
            first = self._chance.randrange(max(len(lines) - count, 0) // 50 + 1) * 50
            part = lines[first : first + count]
            numbered = "\n".join(f"{number:6}→{line}" for number, line in enumerate(part, first + 1))
            file = {"filePath": path, "content": "\n".join(part), "numLines": len(part), "startLine": first + 1}
            return self._result(call, numbered, {"type": "text", "file": file | {"totalLines": len(lines)}})

        yield result

    def _run(self) -> Iterator[Any]:
        name, lines = self._chance.choice(self._files)
        call, word = self._call_id(), self._chance.choice(("self", "return", "import", "raise", "None"))
        told = {"command": f'grep -rn "{word}" src/{name}', "description": f"Look for {word} in {name}"}
        yield lambda _: self._called(call, "Bash", told)

        def result(room: int) -> dict[str, Any]:
            found = [f"{number}:{line}" for number, line in enumerate(lines, 1) if word in line]
            output = "\n".join(found[: room // 80 + 1])
            return self._result(call, output, {"stdout": output, "stderr": "", "interrupted": False, "isImage": False})

        yield result

    def _edit(self) -> Iterator[Any]:
        name, lines = self._chance.choice(self._files)
        path, call, first = f"/home/dev/project/src/{name}", self._call_id(), self._chance.randrange(len(lines) - 20)
        old = "\n".join(lines[first : first + self._chance.randint(1, 12)])
        new = f"{old.replace('self', 'this', 2)}\n    # {self._sentence()}"
        change = {"old_string": old, "new_string": new}
        yield lambda _: self._called(call, "Edit", {"file_path": path, **change})
        patch = [{"oldStart": first, "lines": [f"-{line}" for line in old.split("\n")] + [f"+{new}"]}]
        said = f"The file {path} has been updated."
        result = {"filePath": path, "oldString": old, "newString": new, "structuredPatch": patch}
        yield lambda _: self._result(call, said, result)

    def _thought(self) -> dict[str, Any]:
        signature = base64.b64encode(self._chance.randbytes(self._chance.randint(200, 1200))).decode()
        return {"type": "thinking", "thinking": self._prose(1), "signature": signature}

    def _called(self, call: str, name: str, given: dict[str, Any]) -> dict[str, Any]:
        return self._answer([{"type": "tool_use", "id": call, "name": name, "input": given}])

    def _result(self, call: str, text: str, whole: dict[str, Any]) -> dict[str, Any]:
        block = {"tool_use_id": call, "type": "tool_result", "content": text}
        return self._said("user", [block], sourceToolAssistantUUID=self._parent, toolUseResult=whole)

    def _answer(self, content: list[Any]) -> dict[str, Any]:
        tokens = self._chance.randint(10_000, 150_000)
        usage = {"input_tokens": 4, "cache_read_input_tokens": tokens, "output_tokens": self._chance.randint(1, 900)}
        answer = {"model": _MODEL, "id": f"msg_{self._call_id()[6:]}", "type": "message"}
        more = {"stop_reason": None, "stop_sequence": None, "usage": usage | {"service_tier": "standard"}}
        return self._said("assistant", content, {**answer, **more}, requestId=f"req_{self._call_id()[6:]}")

    def _said(self, role: str, content: Any, message: Any = None, **fields: Any) -> dict[str, Any]:
        return self._record(role, message={**(message or {}), "role": role, "content": content}, **fields)

    def _record(self, kind: str, **fields: Any) -> dict[str, Any]:
        before, self._parent = self._parent, self._uuid()
        place = {"cwd": "/home/dev/project", "sessionId": self._session, "version": "2.1.30", "gitBranch": "main"}
        head = {"parentUuid": before, "isSidechain": False, "userType": "external", **place}
        return {**head, "type": kind, **fields, "uuid": self._parent, "timestamp": self._time()}

    def _own(self, kind: str, **fields: Any) -> dict[str, Any]:
        return {"type": kind, **fields, "isSnapshotUpdate": False}

    def _snapshot(self) -> dict[str, Any]:
        return {"messageId": self._uuid(), "trackedFileBackups": {}, "timestamp": self._time()}

    def _prose(self, count: int) -> str:
        return "\n\n".join(self._chance.sample(_paragraphs(), count))

    def _sentence(self) -> str:
        return " ".join(self._prose(1).partition(". ")[0].split())

    def _time(self) -> str:
        self._number += 1
        second = self._number * 7
        day, hour, minute = second // 86400 % 28 + 1, second // 3600 % 24, second // 60 % 60
        return f"2026-03-{day:02d}T{hour:02d}:{minute:02d}:{second % 60:02d}.{self._chance.randrange(1000):03d}Z"

    def _call_id(self) -> str:
        letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789"
        return f"toolu_01{''.join(self._chance.choices(letters, k=22))}"

    def _uuid(self) -> str:
        digits = f"{self._chance.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-9{digits[17:20]}-{digits[20:]}"
