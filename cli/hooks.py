"""The hooks of agents: what they call at the end of a turn, and what gitsession does when it is called."""

import itertools
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import click

from gitsession import ImportFailure, SessionError, holds_transcripts, import_transcripts

from .hook_settings import HOOKS
from .import_report import failure_text, stored_secrets
from .options import Settings
from .output import note
from .places import places, takes_own_files
from .text import one_line

# The fields in which agents name the transcript, and the session where they name that alone.
_PATHS = ("transcript_path", "transcriptPath", "agent_transcript_path")
_SESSIONS = ("thread-id", "session_id", "sessionId")
# The agents that name neither: they keep one file, in the directory in which they work or above it.
_UNSAID = ("aider",)


def import_for_hook(settings: Settings, agent: str, arguments: Sequence[str], *, redact: bool) -> None:
    """Imports what an agent says that it has written, as a JSON object in the last argument or on stdin.

    Nothing is printed to stdout, which agents read, and no error is raised: an agent must not stop, or be told to go
    on, because its session could not be stored. What is wrong is one line on stderr, and so are the secrets that were
    stored: agents keep it in their logs or show it to the user, and give it to no model where the exit code is 0.
    """
    try:
        given = arguments[-1] if arguments else sys.stdin.read() if sys.stdin else ""
        said = _said(given)
        paths = [*_named(said, agent)]
        if not paths:
            note(f"gitsession: nothing was imported: {_why_none(said, agent)}")
            return
        if agent not in HOOKS:
            note(f"gitsession: {_no_agent(agent)}; what was named is imported")
        takes = takes_own_files()
        if not settings.is_there and not holds_transcripts(paths, takes=takes):
            note("gitsession: nothing was imported: there is no transcript yet")
            return
        secrets = Counter[str]()
        for done in import_transcripts(settings.make(), paths, redact=redact, takes=takes):
            if isinstance(done, ImportFailure):
                note(f"gitsession: {failure_text(done)}")
            elif not done.redacted:
                secrets.update(secret.kind for secret in done.secrets)
        if secrets:
            note(f"gitsession: {stored_secrets(secrets)}")
    except (SessionError, OSError, ValueError, RuntimeError, click.UsageError) as error:
        note(f"gitsession: nothing was imported: {error}")


def _said(given: str) -> Mapping[str, Any]:
    """Returns what the agent has said.

    Raises:
        ValueError: It is no JSON object.
    """
    if not given.strip():
        raise ValueError("stdin is empty; an agent gives its hook a JSON object there, or as the last argument")
    try:
        value = json.loads(given)
    except RecursionError as error:
        raise ValueError("what was given nests too deeply") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"what was given is no JSON object: it cannot be read from {where} on") from error
    if not isinstance(value, dict):
        raise ValueError("what was given is no JSON object")  # noqa: TRY004  # of JSON, and no argument
    return value


def _named(said: Mapping[str, Any], agent: str) -> Iterator[Path]:
    """Yields what is to be imported: the files that are named, or those of the session that is. Never anything else."""
    files = [Path(said[key]).expanduser() for key in _PATHS if isinstance(said.get(key), str) and said[key]]
    for path in files:
        yield path
        # Claude Code keeps a session's subagents in a directory of its name.
        if path.with_suffix("").is_dir():
            yield path.with_suffix("")
    if files:
        return
    if agent in _UNSAID:
        yield from _nearby(agent)
        return
    session = _session(said)
    found = ([*_of_session(place, session)] for place in _own(agent) if session)
    # What a newer version has taken over lies in the older one's place as well.
    yield from next(filter(None, found), ())


def _why_none(said: Mapping[str, Any], agent: str) -> str:
    session, own = _session(said), _own(agent)
    if agent not in HOOKS:
        return f"no transcript is named, and {_no_agent(agent)}"
    if not session:
        return "no transcript is named, and no session"
    if not own:
        return f"no transcript is named, and {one_line(agent)} has left no files where agents keep them"
    return f"no file of the session {one_line(session)} is in {', '.join(map(str, own))}"


def _no_agent(agent: str) -> str:
    return f"{one_line(agent)} is no agent that is known; known are {', '.join(HOOKS)}"


def _session(said: Mapping[str, Any]) -> str:
    return next((said[key] for key in _SESSIONS if isinstance(said.get(key), str) and said[key]), "")


def _nearby(agent: str) -> Iterator[Path]:
    """Yields where the file of an agent is that keeps it where it works: the nearest one."""
    for place in (place.path for place in places() if place.format.name == agent):
        upwards = (directory / place.name for directory in (place.parent, *place.parent.parents))
        yield from itertools.islice(filter(Path.is_file, upwards if place.parent == Path.cwd() else [place]), 1)


def _spellings(session: str) -> tuple[str, ...]:
    """Returns how names spell an id: as it is, and a UUID also without the strokes, as OpenHands does."""
    try:
        return session, UUID(session).hex
    except ValueError:
        return (session,)


def _own(agent: str) -> list[Path]:
    return [place.path for place in places() if place.format.name == agent and place.exists]


def _of_session(place: Path, session: str) -> Iterator[Path]:
    """Yields the files and directories in a place whose names have the session's id in them, or that in a database."""
    if place.is_file() and Path(session).name == session and holds_transcripts([place / session]):
        yield place / session
    ids = _spellings(session)
    takes = takes_own_files()
    for directory, directories, names in os.walk(place):
        own = (name for name in names if takes(Path(directory, name)))
        yield from (Path(directory, name) for name in (*directories, *own) if any(one in name for one in ids))
        directories[:] = [name for name in directories if not any(one in name for one in ids)]
