"""Runs the command: in this process for what it prints, as a process of its own where the process matters."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from gitsession_cli.main import run

COMMAND = (sys.executable, "-m", "gitsession_cli")

CONVERSATION = [
    {"role": "user", "content": "Why does the login fail?"},
    {
        "role": "assistant",
        "model": "model-x",
        "content": "Let me look.",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "shell", "arguments": '{"command":"cat login.py"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "name": "shell", "content": "\n".join(f"line {n}" for n in range(100))},
    {"role": "assistant", "content": "The token has expired."},
]


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def values(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def error(self) -> Any:
        return json.loads(self.err)


Run = Callable[..., Result]


@pytest.fixture
def gitsession(store_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Returns a function that runs the command on the test's store."""
    monkeypatch.setenv("GITSESSION_STORE", str(store_path))

    def invoke(*arguments: str | Path, stdin: str | bytes = b"") -> Result:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        capfdbinary.readouterr()
        code = run([*map(str, arguments)])
        out, err = capfdbinary.readouterr()
        return Result(code, out.decode(), err.decode())

    return invoke


@pytest.fixture
def process(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Returns a function that runs the command as a process on the test's store."""
    monkeypatch.setenv("GITSESSION_STORE", str(store_path))

    def invoke(*arguments: str | Path, stdin: bytes = b"", **environment: str) -> Result:
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)],
            input=stdin,
            capture_output=True,
            check=False,
            timeout=60,
            env={**os.environ, **environment},
        )
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    return invoke


@pytest.fixture
def fix_login(gitsession: Run) -> str:
    """Makes a session with a conversation of four commits, and returns its id."""
    gitsession("new", "--id", "fix-login", "--title", "Fix the login")
    for number, message in enumerate(CONVERSATION):
        parent = f"c{number - 1}" if number else ""
        done = gitsession("append", "fix-login", "--parent", parent, "--id", f"c{number}", stdin=json.dumps(message))
        assert done == Result(0, f"c{number}\n", "")
    return "fix-login"
