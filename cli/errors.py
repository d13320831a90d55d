"""The one place where errors become a line on stderr and an exit code.

A line says what is wrong and what to do. With `--json` it is an object: `error` (the name of the class), `message`,
`exit_code`, and the attributes of the error.
"""

import errno
import json
from collections.abc import Mapping, Sequence
from typing import Any

import click

from gitsession import (
    AccessDenied,
    AmbiguousName,
    Corrupt,
    Diverged,
    GitNotFound,
    InvalidBundle,
    InvalidCommit,
    InvalidRemote,
    InvalidSessionId,
    NotAStore,
    NothingToExport,
    NotImported,
    ParentConflict,
    RemoteExists,
    RemoteNotFound,
    RemoteUnavailable,
    RevisionNotFound,
    SessionError,
    SessionExists,
    SessionNotFound,
    StoreBusy,
    SyncRefused,
    TranscriptExists,
    Unavailable,
    UnknownTranscript,
    UnreadableDatabase,
    UnsupportedFormat,
)

from .output import NotPrinted, note
from .text import one_line


class InvalidInput(SessionError):
    """What stands on stdin cannot be taken.

    Attributes:
        line: Where, from 1.
        column: Where in the line, in characters from 1.
        reason: What is wrong.
    """

    def __init__(self, line: int, column: int, reason: str) -> None:
        super().__init__(f"stdin, line {line}, column {column}: {reason}; nothing was written")
        self.line = line
        self.column = column
        self.reason = reason


class NothingToImport(SessionError):
    """No agent left files where agents keep them.

    Attributes:
        places: Where was looked.
    """

    def __init__(self, places: Sequence[str]) -> None:
        super().__init__(f"no agent has left files here; looked in {', '.join(places)}; name a PATH to import it")
        self.places = [*places]


class NothingToBundle(SessionError):
    """The store has no session to bundle."""

    def __init__(self) -> None:
        super().__init__("the store has no sessions, so no bundle was written")


class MissingExtra(SessionError):
    """A command needs a package that was not installed with gitsession.

    Attributes:
        extra: The name of the extra that brings it.
    """

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs a package that is not installed; `pip install 'gitsession[{extra}]'` brings it")
        self.extra = extra


# The exit codes, which the README lists. A class has that of the nearest class above it that stands here. 0 is
# success, 130 an interrupt, 141 a closed pipe.
EXIT_CODES: Mapping[type[Exception], int] = {
    SessionError: 1,
    OSError: 1,
    MissingExtra: 1,
    click.ClickException: 2,
    NotAStore: 3,
    UnsupportedFormat: 4,
    SessionNotFound: 5,
    NothingToBundle: 5,
    RevisionNotFound: 6,
    AmbiguousName: 7,
    SessionExists: 8,
    InvalidSessionId: 9,
    InvalidCommit: 10,
    InvalidInput: 10,
    ParentConflict: 11,
    Corrupt: 12,
    Unavailable: 13,
    StoreBusy: 14,
    UnknownTranscript: 15,
    NothingToImport: 15,
    NotImported: 16,
    TranscriptExists: 17,
    UnreadableDatabase: 19,
    RemoteUnavailable: 20,
    AccessDenied: 21,
    SyncRefused: 22,
    Diverged: 23,
    RemoteNotFound: 24,
    RemoteExists: 25,
    InvalidRemote: 26,
    GitNotFound: 27,
    InvalidBundle: 28,
    NothingToExport: 29,
}

# What `scan` ends with when it found any: no error, but a script wants to know.
SECRETS_FOUND = 18

REPORTED: tuple[type[Exception], ...] = (SessionError, OSError, click.ClickException)


def exit_code(kind: type[BaseException]) -> int:
    """Returns the exit code of an error's class."""
    return next((EXIT_CODES[parent] for parent in kind.__mro__ if parent in EXIT_CODES), 1)


def report(error: Exception, *, as_json: bool) -> int:
    """Tells an error on stderr, and returns its exit code."""
    code = exit_code(type(error))
    message = _message(error)
    if as_json:
        value = {"error": _name(error), "message": message, "exit_code": code, **_attributes(error)}
        note(json.dumps(value, default=str))
    else:
        note(f"gitsession: {one_line(message)}")
    return code


def _name(error: Exception) -> str:
    if isinstance(error, click.ClickException):
        return "UsageError"
    return "OSError" if isinstance(error, OSError) else type(error).__name__


def _message(error: Exception) -> str:
    match error:
        case click.UsageError():
            command = error.ctx.command_path if error.ctx else "gitsession"
            return f"{error.format_message().rstrip('.')}; `{command} --help` shows how it is used"
        case click.ClickException():
            return error.format_message()
        case NotPrinted():
            return str(error)
        case ParentConflict(actual=None):
            return "the session has no commits yet; --parent '' is for its first one"
        case ParentConflict():
            wanted = (
                "--parent '' is for one without commits" if error.expected is None else f"not at {error.expected!r}"
            )
            return f"the session is at {error.actual!r}, {wanted}; `gitsession show` shows what is in it"
        case FileNotFoundError(filename=None):
            return f"the current directory is gone: {error.strerror}"
        case OSError(strerror=str() as reason):
            where = f"{error.filename}: " if error.filename is not None else ""
            advice = "; make room and try again, nothing is lost" if error.errno == errno.ENOSPC else ""
            return f"{where}{reason}{advice}"
        case _:
            return str(error) or type(error).__name__


def _attributes(error: Exception) -> dict[str, Any]:
    """Returns what the error keeps for programs; nobody needs to parse its message."""
    match error:
        case click.ClickException():
            return {}
        case NotPrinted():
            return {"errno": error.errno, "stored": error.stored}
        case OSError():
            return {"errno": error.errno, "path": error.filename}
        case SyncRefused():
            # The results stand on stdout, one a line.
            return {"remote": error.remote, "refused": error.refused}
        case _:
            return vars(error)
