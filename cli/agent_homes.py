"""Where each agent keeps its own things: the directory that its environment variable names, or its usual one."""

import glob
import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePath
from unicodedata import normalize

from .places import expanded

_HOMES: Mapping[str, str] = {
    "claude-code": "${CLAUDE_CONFIG_DIR:-~/.claude}",
    "codex": "${CODEX_HOME:-~/.codex}",
    "pi": "${PI_CODING_AGENT_DIR:-~/.pi/agent}",
    "gemini": "${GEMINI_CLI_HOME:-~}/.gemini",
    "opencode": "${XDG_DATA_HOME:-~/.local/share}/opencode",
    "copilot": "${COPILOT_HOME:-~/.copilot}",
    "droid": "${FACTORY_HOME_OVERRIDE:-~}/.factory",
    "openhands": "${OPENHANDS_CONVERSATIONS_DIR:-${OPENHANDS_PERSISTENCE_DIR:-~/.openhands}/conversations}",
    "aider": "~/.aider",
}
INSTALLABLE = tuple(_HOMES)
"""The formats of agents that look for a transcript in a place that is known."""

# Claude Code cuts the name of a directory for a project here, and puts a hash behind it that depends on its version.
_CUT = 200
# How much of a transcript is looked at to see in which directory it was.
_HEAD_BYTES = 64 * 1024

# pi alone can be told where its sessions are; there they lie in no directories of their own.
_PI_SESSIONS = "PI_CODING_AGENT_SESSION_DIR"


def agent_path(
    name: str,
    path: PurePath,
    environment: Mapping[str, str] = os.environ,
    home: Path | None = None,
    *,
    cwd: str | None = None,
) -> Path:
    """Returns where an agent looks for a transcript.

    Args:
        name: The agent's format.
        path: The path below its own directory.
        environment: The environment variables.
        home: The user's home.
        cwd: The directory in which the agent goes on.

    Raises:
        click.UsageError: There is no home directory.
    """
    if name == "pi" and environment.get(_PI_SESSIONS):
        return expanded(f"${{{_PI_SESSIONS}}}", environment, home) / path.name
    root = expanded(_HOMES[name], environment, home)
    if name == "claude-code" and cwd is not None:
        path = _in_cut_project(root, path, cwd)
    return root / (_in_named_project(root, path) if name == "gemini" else path)


def _in_cut_project(root: Path, path: PurePath, cwd: str) -> PurePath:
    """Returns where Claude Code looks in a project whose name it has cut: in the directory that it has for it."""
    places, project, file = path.parts[0], path.parts[1], path.parts[2:]
    if len(project) <= _CUT or (root / places / project).is_dir():
        return path
    for known in sorted((root / places).glob(f"{glob.escape(project[: _CUT + 1])}*")):
        if any(_was_in(transcript, cwd) for transcript in sorted(known.glob("*.jsonl"))):
            return PurePath(places, known.name, *file)
    return path


def _was_in(transcript: Path, cwd: str) -> bool:
    """Tells whether a session was in a directory, by the beginning of its transcript."""
    with suppress(OSError), transcript.open("rb") as stream:
        for line in stream.read(_HEAD_BYTES).split(b"\n"):
            with suppress(ValueError, RecursionError):
                value = json.loads(line)
                if isinstance(value, dict) and isinstance(value.get("cwd"), str):
                    return normalize("NFC", value["cwd"]) == normalize("NFC", cwd)
    return False


def _in_named_project(root: Path, path: PurePath) -> PurePath:
    """Returns where Gemini CLI looks in a project that it has a directory for, under a name that its register knows.

    Any other project's directory is named by a hash; the agent takes that over when it first sees the project.
    """
    register: object = None
    with suppress(OSError, ValueError):
        register = json.loads((root / "projects.json").read_bytes())
    known = register.get("projects") if isinstance(register, dict) else None
    for directory, name in known.items() if isinstance(known, dict) else ():
        hashed = hashlib.sha256(os.fsencode(directory)).hexdigest()
        if path.parts[1:2] == (hashed,) and isinstance(name, str) and PurePath(name).name == name not in ("", ".."):
            return PurePath(path.parts[0], name, *path.parts[2:]) if (root / path.parts[0] / name).is_dir() else path
    return path
