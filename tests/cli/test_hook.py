"""hook: what it prints works as it is printed; the tests do what the agents do with it."""

import json
import os
import shlex
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gitsession_cli.commands.hook import HOOKS

from tests.secrets_made_up import SECRETS

from .conftest import COMMAND, Result, Run
from .test_import import transcript

# The events of each agent's settings after which it calls the hook, and what it gives to it then.
EVENTS = {
    "claude-code": {"Stop", "SubagentStop", "SessionEnd"},
    "gemini": {"AfterAgent", "SessionEnd"},
    "droid": {"Stop", "SubagentStop", "SessionEnd"},
    "copilot": {"agentStop", "sessionEnd"},
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    directory = tmp_path / ".claude" / "projects" / "x"
    directory.mkdir(parents=True)
    (directory / "s1.jsonl").write_bytes(transcript("Hello", "Hi"))
    return directory / "s1.jsonl"


def printed(gitsession: Run, agent: str, *options: str) -> str:
    done = gitsession("hook", agent, *options)
    assert (done.code, done.err.count("\n")) == (0, 1)
    assert HOOKS[agent].file.rpartition("/")[2] in done.err
    return done.out


def call(command: str | list[str], given: Any = None, **environment: str) -> Result:
    """Calls a command as an agent does: by a shell in another directory, without the user's own environment."""
    done = subprocess.run(
        command,
        shell=isinstance(command, str),
        input=b"" if given is None else json.dumps(given).encode(),
        capture_output=True,
        check=False,
        cwd="/",
        env={"PATH": os.defpath, "HOME": os.environ["HOME"], **environment},
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def claude(path: Path, event: str = "Stop") -> dict[str, Any]:
    return {"session_id": "s1", "transcript_path": str(path), "cwd": "/home/me", "hook_event_name": event}


@pytest.mark.parametrize("agent", ["claude-code", "gemini", "droid"])
def test_an_agent_with_settings_like_claude_code(gitsession: Run, path: Path, agent: str) -> None:
    settings = json.loads(printed(gitsession, agent))
    assert {*settings["hooks"]} == EVENTS[agent]
    for event, groups in settings["hooks"].items():
        (group,) = groups
        (hook,) = group["hooks"]
        assert hook["type"] == "command"
        assert call(hook["command"], claude(path, event)) == Result(0, "", "")
        assert gitsession("list", "--json").values[0]["deltas"] == 2


def test_copilot(gitsession: Run, path: Path) -> None:
    settings = json.loads(printed(gitsession, "copilot"))
    assert (settings["version"], {*settings["hooks"]}) == (1, EVENTS["copilot"])
    (hook,) = settings["hooks"]["agentStop"]
    given = {"timestamp": 1, "cwd": "/", "sessionId": "s1", "transcriptPath": str(path), "stopReason": "end_turn"}
    assert call(["bash", "-c", hook["bash"]], given) == Result(0, "", "")
    assert gitsession("list", "--json").values[0]["id"] == "s1"


def test_codex_gives_its_json_as_the_last_argument(gitsession: Run, path: Path) -> None:
    settings = tomllib.loads(printed(gitsession, "codex"))
    given = {"type": "agent-turn-complete", "thread-id": "s1", "turn-id": "1", "transcript_path": str(path)}
    assert call([*settings["notify"], json.dumps(given)]) == Result(0, "", "")
    assert gitsession("list", "--json").values[0]["id"] == "s1"


def test_a_session_that_is_only_named_is_looked_for_in_the_agents_places(
    gitsession: Run, path: Path, tmp_path: Path
) -> None:
    (path.parent / "s2.jsonl").write_bytes(transcript("Hello"))
    command = shlex.join(json.loads(gitsession("hook", "claude-code", "--json").out)["command"])
    here = {"CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}
    assert call(command, {"thread-id": "s2"}, **here) == Result(0, "", "")
    assert [value["id"] for value in gitsession("list", "--json").values] == ["s2"]


@pytest.mark.parametrize(
    ("agent", "given", "why"),
    [
        ("claude-code", {}, "no transcript is named, and no session"),
        ("claude-code", [], "no transcript is named, and no session"),
        ("claude-code", {"transcript_path": 5}, "no transcript is named, and no session"),
        ("claude-code", {"thread-id": "s3"}, "no file of the session s3 is in "),
        ("nope", {"thread-id": "s1"}, "no transcript is named, and nope has left no files"),
    ],
)
def test_what_is_not_named_is_not_imported(
    process: Callable[..., Result], path: Path, tmp_path: Path, store_path: Path, agent: str, given: Any, why: str
) -> None:
    here = {"CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}
    done = process("import", "--hook", agent, stdin=json.dumps(given).encode(), **here)
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith(f"gitsession: nothing was imported: {why}")
    assert not store_path.exists()


def test_the_subagents_of_a_session_come_with_it(gitsession: Run, path: Path) -> None:
    agent = path.with_suffix("") / "subagents" / "agent-1.jsonl"
    agent.parent.mkdir(parents=True)
    agent.write_bytes(transcript("Do it"))
    done = gitsession("import", "--hook", "claude-code", stdin=json.dumps(claude(path)))
    assert done == Result(0, "", "")
    assert sorted(value["id"] for value in gitsession("list", "--json").values) == ["s1", "s1/agent-1"]


def test_options_are_kept_in_what_is_printed(gitsession: Run, path: Path, tmp_path: Path) -> None:
    store = tmp_path / "my store.git"
    path.write_bytes(transcript(f"key {SECRETS['github-pat']}"))
    text = gitsession("hook", "claude-code", "--redact", "--store", store).out
    command = json.loads(text)["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert call(command, claude(path)) == Result(0, "", "")
    assert "[redacted:github-pat]" in gitsession("--store", store, "export", "s1").out


@pytest.mark.parametrize(
    "given",
    ["", "no json", "[" * 100_000, "[1]", '{"transcript_path": 7}', '{"transcript_path": "/nowhere/s.jsonl"}'],
)
def test_an_agent_is_never_stopped_by_what_goes_wrong(gitsession: Run, given: str, store_path: Path) -> None:
    done = gitsession("import", "--hook", "claude-code", stdin=given)
    assert (done.code, done.out, done.err.count("\n")) == (0, "", 1)
    assert "nothing was imported" in done.err
    assert not store_path.exists()


def test_an_agent_is_not_stopped_by_a_store_that_cannot_be_made(gitsession: Run, path: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = gitsession("import", "--hook", "x", "--store", tmp_path / "file" / "s.git", stdin=json.dumps(claude(path)))
    assert (done.code, done.out, done.err.count("\n")) == (0, "", 1)


def test_the_agents_with_hooks_are_listed(gitsession: Run) -> None:
    assert [line.split()[0] for line in gitsession("hook").out.splitlines()] == ["AGENT", *HOOKS]
    assert [value["agent"] for value in gitsession("hook", "--json").values] == [*HOOKS]
    assert gitsession("hook", "nobody").code == 2


def test_what_is_printed_names_the_program_that_printed_it(gitsession: Run) -> None:
    words = json.loads(gitsession("hook", "codex", "--json").out)["command"]
    assert words[: len(COMMAND)] == [*COMMAND]
