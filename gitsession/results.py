"""What an import says of each file."""

from dataclasses import dataclass
from pathlib import Path

from gitsession.errors import SessionError


@dataclass(frozen=True, slots=True)
class Problem:
    """A place of a file that is no proper record; it is stored as the text that it is.

    Attributes:
        line: The number of its first line, from 1.
        reason: What is wrong with it.
        file: The file, below the directory of the transcript, where that consists of many; "" where it is one file.
    """

    line: int
    reason: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class FoundSecret:
    """A secret in a record that was new, or in the name of a file that was.

    Attributes:
        line: The number of the record's first line in the file, from 1; 0 for one in the file's name.
        kind: Its kind, as gitleaks names it.
    """

    line: int
    kind: str


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What the import of one file did.

    Attributes:
        path: The file. For a session in a database it is the path that it would have if that were a directory.
        format: The name of its format.
        session: The id of the session that holds it now.
        new_commits: How many records were new.
        branch_created: Whether the session is a new one.
        problems: What could not be read as a record.
        abandoned: The sessions of abandoned lines that were made.
        rewritten_from: The session that the file no longer repeats, where it goes on beside it.
        unfinished: Whether a last line, or files of a folder, still being written, were left for the next import.
        behind: Whether the session holds a later state than the file, which went back to an earlier one.
        secrets: What looks like a secret in the new records: stored, or taken out if `redacted`.
        redacted: Whether secrets are taken out of this session's records.
        held_in: The sessions, stored before, that the file was imported into with what is taken out here.
    """

    path: Path
    format: str
    session: str
    new_commits: int
    branch_created: bool
    problems: tuple[Problem, ...] = ()
    abandoned: tuple[str, ...] = ()
    rewritten_from: str | None = None
    unfinished: bool = False
    behind: bool = False
    secrets: tuple[FoundSecret, ...] = ()
    redacted: bool = False
    held_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportFailure:
    """A file that was not imported.

    Attributes:
        path: The file, or the session in a database.
        error: Why not.
    """

    path: Path
    error: SessionError
