"""hook: what it prints works as it is printed; the tests do what the agents do with it."""

import json
import os
import re
import shlex
import shutil
import subprocess
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gitsession_cli.hook_settings import HOOKS

from tests.opencode_databases import simple
from tests.secrets_made_up import SECRETS

from .conftest import COMMAND, Result, Run
from .test_import import transcript

FIXTURES = Path(__file__).parents[2] / "fixtures"

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


def call(command: str | list[str], given: Any = None, cwd: str | Path = "/", **environment: str) -> Result:
    """Calls a command as an agent does: by a shell in another directory, without the user's own environment."""
    done = subprocess.run(
        command,
        shell=isinstance(command, str),
        input=b"" if given is None else json.dumps(given).encode(),
        capture_output=True,
        check=False,
        cwd=cwd,
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


def words_of(script: str) -> list[str]:
    """Returns the words of the command that a script calls."""
    found = re.search(r"^const \[program, \.\.\.words\] = (\[.*\])$", script, re.MULTILINE)
    assert found is not None
    return json.loads(found[1])


@pytest.fixture
def opencode(tmp_path: Path) -> dict[str, str]:
    """Returns the environment in which opencode has two sessions in its database, and one in the older folder too."""
    (tmp_path / "opencode").mkdir()
    simple(tmp_path / "opencode" / "opencode.db").die()
    folder = tmp_path / "opencode" / "storage" / "session" / "global"
    folder.mkdir(parents=True)
    info = {"id": "ses_2", "projectID": "global", "directory": "/home/dev", "title": "Old", "time": {"created": 1}}
    (folder / "ses_2.json").write_text(json.dumps(info))
    return {"XDG_DATA_HOME": str(tmp_path)}


def test_opencode_gives_the_session_as_the_last_argument(gitsession: Run, opencode: dict[str, str]) -> None:
    words = words_of(printed(gitsession, "opencode"))
    assert call([*words, json.dumps({"session_id": "ses_2"})], **opencode) == Result(0, "", "")
    assert [(value["id"], value["deltas"]) for value in gitsession("list", "--json").values] == [("ses_2", 2)]


@pytest.mark.parametrize("name", ["ses_3", "../opencode.db/ses_1", "/etc/passwd", ""])
def test_a_session_that_is_not_in_the_database_is_not_imported(
    gitsession: Run, opencode: dict[str, str], name: str, store_path: Path
) -> None:
    done = call([*words_of(printed(gitsession, "opencode")), json.dumps({"session_id": name})], **opencode)
    assert (done.code, done.out, done.err.count("\n")) == (0, "", 1)
    assert not store_path.exists()


def test_pi_gives_the_file_as_the_last_argument(gitsession: Run, path: Path) -> None:
    words = words_of(printed(gitsession, "pi", "--redact"))
    assert words[-1] == "--redact"
    assert call([*words, json.dumps({"transcript_path": str(path)})]) == Result(0, "", "")
    assert gitsession("list", "--json").values[0]["id"] == "s1"


OPENCODE_RUNS = """
const { Gitsession } = await import(process.argv[2])
const { event } = await Gitsession({})
await event({ event: { type: "session.updated", properties: { sessionID: "ses_2" } } })
event({ event: { type: "session.idle", properties: { sessionID: "ses_1" } } })
process.exit(0)
"""
PI_RUNS = """
const { default: extension } = await import(process.argv[2])
const handlers = {}
extension({ on: (event, handler) => { handlers[event] = handler } })
const at = (file) => ({ sessionManager: { getSessionFile: () => file } })
await handlers.agent_end({}, at(process.argv[3]))
await handlers.session_shutdown({}, at(undefined))
process.exit(0)
"""


def run_script(script: str, directory: Path, runs: str, *arguments: str, **environment: str) -> Result:
    """Runs a script as its agent does, which goes on after it, and ends."""
    (directory / "gitsession.mjs").write_text(script)
    (directory / "agent.mjs").write_text(runs)
    command = ["node", str(directory / "agent.mjs"), str(directory / "gitsession.mjs"), *arguments]
    return call(command, **environment)


node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")


@node
def test_opencode_may_end_before_the_import_does(
    gitsession: Run, opencode: dict[str, str], tmp_path: Path, store_path: Path
) -> None:
    script = printed(gitsession, "opencode")
    assert run_script(script, tmp_path, OPENCODE_RUNS, **opencode) == Result(0, "", "")
    end = time.monotonic() + 20
    while time.monotonic() < end and not (store_path.exists() and gitsession("list", "--json").out):
        time.sleep(0.05)
    assert [value["id"] for value in gitsession("list", "--json").values] == ["ses_1"]


@node
def test_pi_waits_for_the_import(gitsession: Run, path: Path, tmp_path: Path) -> None:
    assert run_script(printed(gitsession, "pi"), tmp_path, PI_RUNS, str(path)) == Result(0, "", "")
    assert [value["id"] for value in gitsession("list", "--json").values] == ["s1"]


@node
@pytest.mark.parametrize(("agent", "runs"), [("opencode", OPENCODE_RUNS), ("pi", PI_RUNS)])
def test_a_script_whose_program_is_gone_disturbs_nobody(gitsession: Run, tmp_path: Path, agent: str, runs: str) -> None:
    script = printed(gitsession, agent)
    gone = script.replace(json.dumps(words_of(script)[0]), '"/nowhere/gitsession"')
    assert run_script(gone, tmp_path, runs, "x") == Result(0, "", "")


def test_openhands_names_a_directory_by_the_digits_of_its_session(gitsession: Run, tmp_path: Path) -> None:
    session = "5d7a1a0c-1a55-4f0a-9a5f-6f6f0f6f0a01"
    here = tmp_path / "conversations"
    for name in (session.replace("-", ""), "5d7a1a0c1a554f0a9a5f6f6f0f6f0a02"):
        shutil.copytree(FIXTURES / "openhands" / "conversations" / session, here / name)
    settings = json.loads(printed(gitsession, "openhands"))
    ((hook,),) = (group["hooks"] for group in settings["stop"])
    given = {"event_type": "Stop", "session_id": session, "working_dir": "/home/me", "metadata": {}}
    assert call(hook["command"], given, OPENHANDS_CONVERSATIONS_DIR=str(here)) == Result(0, "", "")
    assert len(gitsession("list", "--json").values) == 1


def test_aider_tells_nothing_and_keeps_its_file_where_it_works(gitsession: Run, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "deep" / "down").mkdir(parents=True)
    history = project / ".aider.chat.history.md"
    history.write_text("\n# aider chat started at 2026-03-02 09:00:00\n\n#### Hello\n\nHi\n\n")
    notify, line = printed(gitsession, "aider").splitlines()
    assert notify == "notifications: true"
    command = json.loads(line.removeprefix("notifications-command: "))
    # What is typed on the terminal is not for it.
    assert call(command, "Hello", cwd=project / "deep" / "down") == Result(0, "", "")
    (value,) = gitsession("list", "--json").values
    assert value["agent"] == "aider"
    moved = history.rename(tmp_path / "moved.md")
    assert call(command, cwd=project, AIDER_CHAT_HISTORY_FILE=str(moved)) == Result(0, "", "")
    done = call(command, cwd=project)
    assert (done.code, done.out) == (0, "")
    assert done.err == "gitsession: nothing was imported: no transcript is named, and no session\n"


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
        ("claude-code", [], "what was given is no JSON object"),
        ("claude-code", {"transcript_path": 5}, "no transcript is named, and no session"),
        ("claude-code", {"thread-id": "s3"}, "no file of the session s3 is in "),
        ("nope", {"thread-id": "s1"}, "no transcript is named, and nope is no agent that is known; known are "),
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


def test_secrets_that_a_hook_stores_are_told_on_stderr(gitsession: Run, path: Path, tmp_path: Path) -> None:
    path.write_bytes(transcript("Hello", f"Hi {SECRETS['github-pat']}"))
    given = json.dumps({"transcript_path": str(path)})
    done = gitsession("import", "--hook", "claude-code", given)
    expected = "gitsession: 1 secret stored: 1 github-pat; `gitsession scan` shows where, --redact leaves them out\n"
    assert (done.code, done.out, done.err) == (0, "", expected)
    done = gitsession("--store", tmp_path / "other.git", "import", "--redact", "--hook", "claude-code", given)
    assert (done.code, done.out, done.err) == (0, "", "")


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
    store = tmp_path / "file" / "s.git"
    done = gitsession("import", "--hook", "codex", "--store", store, stdin=json.dumps(claude(path)))
    assert (done.code, done.out, done.err.count("\n")) == (0, "", 1)


def test_the_agents_with_hooks_are_listed(gitsession: Run) -> None:
    assert [line.split()[0] for line in gitsession("hook").out.splitlines()] == ["AGENT", *HOOKS]
    assert [value["agent"] for value in gitsession("hook", "--json").values] == [*HOOKS]
    assert gitsession("hook", "nobody").code == 2


def test_what_is_printed_names_the_program_that_printed_it(gitsession: Run) -> None:
    words = json.loads(gitsession("hook", "codex", "--json").out)["command"]
    assert words[: len(COMMAND)] == [*COMMAND]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (b"", "stdin is empty; an agent gives its hook a JSON object there, or as the last argument"),
        (b" \n", "stdin is empty; an agent gives its hook a JSON object there, or as the last argument"),
        (b"{", "what was given is no JSON object: it cannot be read from line 1, column 2 on"),
        (b"[1]", "what was given is no JSON object"),
        (b"[" * 100_000, "what was given nests too deeply"),
    ],
)
def test_what_no_agent_would_give_is_told_in_words(gitsession: Run, given: bytes, told: str) -> None:
    assert gitsession("import", "--hook", "codex", stdin=given) == Result(
        0, "", f"gitsession: nothing was imported: {told}\n"
    )


def test_an_agent_that_nobody_knows_is_told_with_those_that_are_known(gitsession: Run, path: Path) -> None:
    done = gitsession("import", "--hook", "nope", stdin=b"{}")
    assert (done.code, done.out) == (0, "")
    assert "nope is no agent that is known; known are claude-code, codex, " in done.err
    done = gitsession("import", "--hook", "nope", stdin=json.dumps(claude(path)))
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("gitsession: nope is no agent that is known; known are claude-code, codex, ")
    assert [value["id"] for value in gitsession("list", "--json").values] == ["s1"]
    asked = gitsession("hook", "nope")
    assert asked.code == 2
    assert "'nope' is not one of 'claude-code', 'codex', " in asked.err
