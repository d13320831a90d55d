"""Where each agent keeps its own things: the directory that its environment variable names, or its usual one."""

import os
from collections.abc import Mapping
from pathlib import Path, PurePath

from .places import expanded

_HOMES: Mapping[str, str] = {
    "claude-code": "${CLAUDE_CONFIG_DIR:-~/.claude}",
    "codex": "${CODEX_HOME:-~/.codex}",
    "pi": "${PI_CODING_AGENT_DIR:-~/.pi/agent}",
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
    if name == "pi" and environment.get(_PI_SESSIONS):
        return expanded(f"${{{_PI_SESSIONS}}}", environment, home) / path.name
    return expanded(_HOMES[name], environment, home) / path
