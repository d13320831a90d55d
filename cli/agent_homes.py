"""Where each agent keeps its own things: the directory that its environment variable names, or its usual one."""

import os
from collections.abc import Mapping
from pathlib import Path, PurePath

# For each format the variable and the directory below the user's home.
_HOMES: Mapping[str, tuple[str, str]] = {
    "claude-code": ("CLAUDE_CONFIG_DIR", ".claude"),
    "codex": ("CODEX_HOME", ".codex"),
    "pi": ("PI_CODING_AGENT_DIR", ".pi/agent"),
}
# pi alone can be told where its sessions are; there they lie in no directories of their own.
_PI_SESSIONS = "PI_CODING_AGENT_SESSION_DIR"


def agent_path(
    name: str, path: PurePath, environment: Mapping[str, str] = os.environ, home: Path | None = None
) -> Path:
    """Returns where an agent looks for a transcript.

    Args:
        name: The agent's format.
        path: The path below its own directory.
        environment: The environment variables.
        home: The user's home.

    Raises:
        RuntimeError: There is no home directory.
    """
    if name == "pi" and (sessions := environment.get(_PI_SESSIONS)):
        return Path(sessions).expanduser() / path.name
    variable, usual = _HOMES[name]
    named = environment.get(variable)
    return (Path(named).expanduser() if named else (home or Path.home()) / usual) / path
