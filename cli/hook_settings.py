"""What makes each agent call a command at the end of a turn: the text, and the file that it belongs into.

Checked with the agents themselves. An agent must not be disturbed by it: nothing is printed that it would read, it does
not wait for long, and it does not fail where the command does.
"""

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

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


def _openhands(words: Sequence[str]) -> str:
    # Not at the end of a session as well: where there is a hook for that, its own interface ends with a traceback.
    call = {"type": "command", "command": shell_line(words), "timeout": TIMEOUT}
    return json.dumps({"stop": [{"hooks": [call]}]}, indent=2)


def _aider(words: Sequence[str]) -> str:
    # Without an argument the import would read what is typed. As JSON, a text is one of YAML as well.
    return f"notifications: true\nnotifications-command: {json.dumps(shell_line([*words, '{}']))}"


def _opencode(words: Sequence[str]) -> str:
    # opencode waits for no plugin, and may end at once: the import goes on without it.
    return _script(
        "opencode",
        words,
        "detached: true",
        """\
export const Gitsession = async () => ({
  event: async ({ event }) => {
    if (event.type !== "session.idle") return
    try {
      const said = JSON.stringify({ session_id: event.properties.sessionID })
      spawn(program, [...words, said], options).on("error", () => {}).unref()
    } catch {}
  },
})""",
    )


def _pi(words: Sequence[str]) -> str:
    return _script(
        "pi",
        words,
        "detached: false",
        """\
export default function (pi) {
  const save = (_event, context) =>
    new Promise((done) => {
      try {
        const file = context.sessionManager.getSessionFile()
        if (!file) return done()
        const child = spawn(program, [...words, JSON.stringify({ transcript_path: file })], options)
        child.on("error", () => done()).on("close", () => done())
      } catch {
        done()
      }
    })
  pi.on("agent_end", save)
  pi.on("session_shutdown", save)
}""",
    )


def _script(agent: str, words: Sequence[str], detached: str, plugin: str) -> str:
    """Returns a module of JavaScript that imports what it has found out about; `plugin` says when, and what that is.

    That is the last argument of the command, since a pipe may not be empty yet when the agent ends. What goes wrong is
    told to nobody: an agent would show it in the middle of its own words.
    """
    return f"""\
// Imports each session into gitsession when its turn is over. Made by `gitsession hook {agent}`.
import {{ spawn }} from "node:child_process"

const [program, ...words] = {json.dumps([*words])}
const options = {{ stdio: "ignore", timeout: {TIMEOUT * 1000}, windowsHide: true, {detached} }}

{plugin}"""


_WHOLE = "it is the whole file"
_CLAUDE_EVENTS = ("Stop", "SubagentStop", "SessionEnd")
HOOKS: Mapping[str, Hook] = {
    "claude-code": Hook("${CLAUDE_CONFIG_DIR:-~/.claude}/settings.json", _settings(*_CLAUDE_EVENTS)),
    "codex": Hook("${CODEX_HOME:-~/.codex}/config.toml", _codex, "put it above the first line that begins with ["),
    "gemini": Hook(
        "${GEMINI_CLI_HOME:-~}/.gemini/settings.json",
        _settings("AfterAgent", "SessionEnd", timeout=TIMEOUT * 1000),  # Gemini counts in milliseconds
    ),
    "pi": Hook("${PI_CODING_AGENT_DIR:-~/.pi/agent}/extensions/gitsession.js", _pi, _WHOLE),
    "opencode": Hook("${XDG_CONFIG_HOME:-~/.config}/opencode/plugin/gitsession.js", _opencode, _WHOLE),
    "openhands": Hook("~/.openhands/hooks.json", _openhands),
    "aider": Hook("~/.aider.conf.yml", _aider, "merge it with what is there. It is called in place of aider's bell"),
    "copilot": Hook("${COPILOT_HOME:-~/.copilot}/hooks/gitsession.json", _copilot, _WHOLE),
    "droid": Hook("~/.factory/settings.json", _settings(*_CLAUDE_EVENTS)),
}


def shell_line(words: Sequence[str]) -> str:
    """Returns a command line for the system's shell."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)
