"""What an import says: each file as a line or an object, and all of it counted."""

import os
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from gitsession import (
    FORMATS,
    ImportFailure,
    ImportResult,
    SessionError,
    Store,
    UnknownTranscript,
    UnreadableDatabase,
    scan,
)

from .output import note
from .text import count, one_line, pad

# How many are named of the files of a directory that are no transcripts, and of the secrets; an agent keeps hundreds
# of files beside its own, and a session that printed a secret once does so again and again.
NAMED = 10


@dataclass(slots=True)
class Tally:
    """What an import did, counted. As a text it is the summary.

    Attributes:
        named: The paths that the user gave: what is wrong with one of them is told by the exit code.
        quiet: Whether nothing is said of what is usual where agents are at work: places and databases without a
            session, and what is still being written or was taken back. Files that are called as an agent's own and are
            no transcripts are told by what is wrong with them, the first of each.
        error: The first thing that was wrong with what the user expects to be imported.
    """

    named: Collection[Path] = ()
    quiet: bool = False
    sessions: set[str] = field(default_factory=set)
    commits: int = 0
    problems: int = 0
    left: int = 0
    skipped: int = 0
    closed: int = 0
    passed_over: int = 0
    alike: dict[str, tuple[UnknownTranscript, int]] = field(default_factory=dict)  # by the reason, the first and all
    stored: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    error: SessionError | None = None
    lines: list[str] = field(default_factory=list)
    held_in: dict[str, None] = field(default_factory=dict)
    notes: list[str | ImportResult] = field(default_factory=list)  # what is said of a file, and files with problems

    def __str__(self) -> str:
        parts = [count(len(self.sessions), "session"), f"{count(self.commits, 'new commit')}"]
        if self.left:
            parts.append(f"{count(self.left, 'line')} that {'was' if self.left == 1 else 'were'} left")
        if self.problems:
            parts.append(f"{count(self.problems, 'line')} that could not be read")
        if self.skipped:
            parts.append(f"{count(self.skipped, 'file')} skipped")
        if self.closed:
            parts.append(f"{count(self.closed, 'directory', 'directories')} skipped")
        if self.stored:
            parts.append(f"{count(self.stored.total(), 'secret')} stored")
        if self.left_out:
            parts.append(f"{count(self.left_out.total(), 'secret')} left out")
        return ", ".join(parts)

    def add(self, done: ImportResult | ImportFailure) -> None:
        """Counts what became of a file."""
        if isinstance(done, ImportResult):
            self._add_result(done)
        else:
            self._add_failure(done)

    def noted(self) -> Iterator[str]:
        """Yields the notes, line by line."""
        for one in self.notes:
            if isinstance(one, str):
                yield one
            else:
                for problem in one.problems:
                    where = f"{one.path}: {problem.file}" if problem.file else str(one.path)
                    yield f"{where}:{problem.line}: {problem.reason}"

    def tell(self) -> None:
        """Prints the notes to stderr."""
        for line in self.noted():
            note(line)
        for error, number in islice(self.alike.values(), NAMED):
            more = f" (and {count(number - 1, 'more file')})" if number > 1 else ""
            note(f"{error.path}{more}: {error.reason}")
        untold = sum(number for _, number in islice(self.alike.values(), NAMED, None))
        if untold := untold + max(0, self.passed_over - NAMED):
            note(f"and {count(untold, 'more file')} that no format knows; --json names them")
        if self.stored:
            first = f", of which the first {NAMED} are named above" if self.stored.total() > NAMED else ""
            note(stored_secrets(self.stored, first))

    def _add_result(self, done: ImportResult) -> None:
        self.sessions.add(done.session)
        self.commits += done.new_commits
        self.problems += len(done.problems)
        self.left += len(done.abandoned)
        self.held_in |= dict.fromkeys(done.held_in)
        path = str(done.path)
        if done.problems:
            self.notes.append(done)
        for secret in done.secrets:
            if not done.redacted and self.stored.total() < NAMED:
                what = f"{path}:{secret.line}: a secret" if secret.line else f"{path}: a secret in its name"
                self.notes.append(f"{what} was stored: {secret.kind}")
            (self.left_out if done.redacted else self.stored)[secret.kind] += 1
        if done.unfinished and not self.quiet:
            self.notes.append(f"{path}: a part of it is still being written; import it again when it is complete")
        if done.behind and not self.quiet:
            self.notes.append(f"{path}: it is at an earlier state than {done.session}, which keeps the later one")
        if done.rewritten_from is not None:
            self.notes.append(
                f"{path}: it does not go on where {done.rewritten_from} stands, so it is beside it, as {done.session}"
            )
        if done.new_commits or done.abandoned:
            self.lines += result_lines(done)

    def _add_failure(self, failure: ImportFailure) -> None:
        if not failure.path.is_dir():
            self.skipped += 1
        elif not _is_open_directory(failure.path):
            self.closed += 1
        # In a directory lies what lies there; what was named is expected to be imported.
        error = failure.error
        if failure.path in self.named or not isinstance(error, UnknownTranscript):
            self.error = self.error or error
            self.notes.append(failure_text(failure))
        elif not self.quiet:
            self.passed_over += 1
            if self.passed_over <= NAMED:
                self.notes.append(str(error))
        elif not error.without_sessions and not _is_open_directory(failure.path):
            first, number = self.alike.get(error.reason, (error, 0))
            self.alike[error.reason] = first, number + 1


def _is_open_directory(path: Path) -> bool:
    return path.is_dir() and os.access(path, os.R_OK | os.X_OK)


def failure_text(failure: ImportFailure) -> str:
    """Returns why a file was not imported, with its path."""
    told = str(failure.error)
    if isinstance(failure.error, UnknownTranscript | UnreadableDatabase) or str(failure.path) in told:
        return told
    return f"{failure.path}: {told}"


def stored_secrets(kinds: Counter[str], which: str = "") -> str:
    """Returns how many secrets of which kinds were stored, and what to do about them."""
    told = ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common())
    return (
        f"{count(kinds.total(), 'secret')} stored{which}: {told}; "
        "`gitsession scan` shows where, --redact leaves them out"
    )


def result_lines(done: ImportResult) -> list[str]:
    """Returns a file that was imported as one line, with one more for each line that was left in it."""
    left = [f"{'left':>7}  {one_line(name)}" for name in done.abandoned[:NAMED]]
    if more := len(done.abandoned) - NAMED:
        left += [f"{'left':>7}  and {more:,} more; `gitsession log --graph` shows them"] if more > 0 else []
    path = FORMATS[done.format].folder(done.path)
    return [f"{done.new_commits:>7,}  {pad(one_line(done.session), 36)}  {one_line(str(path))}", *left]


def held_note(store: Store, sessions: Iterable[str]) -> str | None:
    """Returns what to do about sessions that hold what was left out of others; None where they hold no secret."""
    names = [name for one in sessions for name in (one, *(info.id for info, _ in store.derived(one)))]
    holding = [store.info(name) for name in names if any(scan(store, name))]
    if not holding:
        return None
    told = ", ".join(one_line(info.id) for info in holding)
    branches = shlex.join(info.branch for info in holding)
    return (
        f"{told}, stored before, still {'holds' if len(holding) == 1 else 'hold'} secrets: revoke them where they were "
        f"issued. To take them out: `gitsession git branch -D {branches}`, `gitsession git gc --prune=now`, and delete "
        f"{one_line(str(store.path / 'gitsession' / 'cache'))}"
    )


def as_json(done: ImportResult | ImportFailure) -> dict[str, Any]:
    """Returns what became of a file as its JSON object, whose keys are stable."""
    if isinstance(done, ImportFailure):
        error = done.error
        return {
            "path": str(done.path),
            "skipped": error.reason if isinstance(error, UnknownTranscript) else str(error),
        }
    return {
        "path": str(done.path),
        "session": done.session,
        "format": done.format,
        "new_commits": done.new_commits,
        "branch_created": done.branch_created,
        "problems": [
            {"line": problem.line, "reason": problem.reason} | ({"file": problem.file} if problem.file else {})
            for problem in done.problems
        ],
        "abandoned": [*done.abandoned],
        "rewritten_from": done.rewritten_from,
        "unfinished": done.unfinished,
        "behind": done.behind,
        "secrets": [{"line": secret.line, "kind": secret.kind} for secret in done.secrets],
        "redacted": done.redacted,
        "held_in": [*done.held_in],
    }
