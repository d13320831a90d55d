"""`gitsession hook`."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from .. import options
from ..output import note, table, write, write_json
from ..places import expanded
from ..text import one_line

# How long an agent waits for an import, in seconds; one of a turn takes a fraction of one.
TIMEOUT = 60


@dataclass(frozen=True, slots=True)
class Hook:
    """How one agent is told to call a command at the end of each turn.

    Attributes:
        file: The file that says so, as a format declares its places.
        render: Makes what is put there from the words of the command.
        how: What to do with it.
    """

    file: str
    render: Callable[[Sequence[str]], str]
    how: str = "merge it with what is there"


def _settings(*events: str, timeout: int = TIMEOUT) -> Callable[[Sequence[str]], str]:
    """Returns what makes the settings of Claude Code, and of those that have taken over their shape."""

    def render(words: Sequence[str]) -> str:
        call = {"hooks": [{"type": "command", "command": shell_line(words), "timeout": timeout}]}
        return json.dumps({"hooks": {event: [call] for event in events}}, indent=2)

    return render


def _copilot(words: Sequence[str]) -> str:
    call = {"type": "command", "bash": shell_line(words), "timeoutSec": TIMEOUT}
    return json.dumps({"version": 1, "hooks": {"agentStop": [call], "sessionEnd": [call]}}, indent=2)


def _codex(words: Sequence[str]) -> str:
    # A JSON text of strings is one of TOML as well.
    return f"notify = {json.dumps([*words])}"


_CLAUDE_EVENTS = ("Stop", "SubagentStop", "SessionEnd")
HOOKS: Mapping[str, Hook] = {
    "claude-code": Hook("${CLAUDE_CONFIG_DIR:-~/.claude}/settings.json", _settings(*_CLAUDE_EVENTS)),
    "codex": Hook("${CODEX_HOME:-~/.codex}/config.toml", _codex, "put it above the first line that begins with ["),
    "gemini": Hook(
        "${GEMINI_CLI_HOME:-~}/.gemini/settings.json",
        _settings("AfterAgent", "SessionEnd", timeout=TIMEOUT * 1000),  # Gemini counts in milliseconds
    ),
    "copilot": Hook("${COPILOT_HOME:-~/.copilot}/hooks/gitsession.json", _copilot, "it is the whole file"),
    "droid": Hook("~/.factory/settings.json", _settings(*_CLAUDE_EVENTS)),
}


@options.command("hook", examples=("gitsession hook", "gitsession hook claude-code", "gitsession hook codex --redact"))
@click.argument("agent", required=False, type=click.Choice([*HOOKS]), metavar="[AGENT]")
@click.option("--redact", is_flag=True, help="Leave secrets out of what is imported.")
def command(settings: options.Settings, agent: str | None, redact: bool) -> None:
    """Print what makes an agent import its own sessions.

    Prints what belongs into the agent's settings, so that it calls `gitsession import` at the end of each turn, and
    says on stderr where to put it; nothing is changed. Without an AGENT it lists those that have hooks. For the others
    `gitsession watch` does the same from outside. With --json: agent, file, text, command (its words).
    """
    if agent is None:
        rows = [(name, _path(hook)) for name, hook in HOOKS.items()]
        if settings.json:
            write_json({"agent": name, "file": path} for name, path in rows)
        else:
            write(table(("AGENT", "SETTINGS"), [(name, one_line(path)) for name, path in rows], right=-1, shrink=(1,)))
        return
    hook = HOOKS[agent]
    words = [*_program(), "import", "--hook", agent]
    if settings.store is not None:
        words += ["--store", os.path.abspath(settings.store)]  # noqa: PTH100  # a link may be moved later
    words += ["--redact"] if redact else []
    if settings.json:
        write_json([{"agent": agent, "file": _path(hook), "text": hook.render(words), "command": words}])
        return
    where = f"This belongs into {_path(hook)}; {hook.how}."
    write([hook.render(words)])
    note(where)


def shell_line(words: Sequence[str]) -> str:
    """Returns a command line for the system's shell."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _program() -> list[str]:
    """Returns how to call this very program from anywhere: agents have a PATH of their own."""
    called = Path(sys.argv[0])
    if called.stem == "gitsession":
        found = shutil.which(called)
        if found is not None:
            return [str(Path(found).absolute())]
    return [sys.executable, "-m", "gitsession_cli"]


def _path(hook: Hook) -> str:
    return str(expanded(hook.file, os.environ))
