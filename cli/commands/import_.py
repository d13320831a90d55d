"""`gitsession import`."""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from gitsession import FORMATS, ImportFailure, ImportResult, UnknownTranscript, import_bundle, import_transcripts

from .. import options, syncing
from ..errors import exit_code
from ..output import note, progress_bar, write, write_json
from ..text import count, one_line, pad

# How many files of a directory are named that are no transcripts; an agent keeps hundreds beside its own.
NAMED = 10


@dataclass(slots=True)
class Tally:
    """What an import did, counted."""

    sessions: set[str] = field(default_factory=set)
    commits: int = 0
    problems: int = 0
    skipped: int = 0
    passed_over: int = 0
    exit_code: int = 0
    lines: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        parts = [count(len(self.sessions), "session"), f"{count(self.commits, 'new commit')}"]
        if self.problems:
            parts.append(f"{count(self.problems, 'line')} that could not be read")
        if self.skipped:
            parts.append(f"{count(self.skipped, 'file')} skipped")
        return ", ".join(parts)


@options.command(
    "import",
    examples=(
        "gitsession import ~/.claude/projects",
        "gitsession import session.jsonl",
        "gitsession import --format claude-code session.jsonl",
    ),
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
@click.option("--format", "name", type=click.Choice([*FORMATS]), help="What the files are; else their content tells.")
def command(settings: options.Settings, paths: tuple[Path, ...], name: str | None) -> None:
    """Import transcripts of coding agents.

    PATH is a file, or a directory in which transcripts are found by their content. Each record becomes one commit, as
    it stands; importing again adds what is new. The store is made if there is none.

    What is no transcript is named on stderr, and the rest is imported. The exit code tells of it where it is a PATH
    that you gave, and not where it only lies in a directory.

    A PATH that ends in .bundle is what `gitsession bundle` wrote; its sessions are taken, and printed, as by `pull`.

    With --json each file is an object: path, session, format, new_commits, branch_created, problems (each with line
    and reason), abandoned (the sessions of abandoned lines), rewritten_from, unfinished; or path, skipped.
    """
    bundles = [path for path in paths if path.suffix == ".bundle" and path.is_file()]
    for path in bundles:
        with syncing.reported(as_json=settings.json) as tell:
            tell(import_bundle(settings.make(), path, progress=syncing.progress()))
    if bundles and len(bundles) == len(paths):
        return
    paths = tuple(path for path in paths if path not in bundles)
    tally = Tally()
    try:
        for done in _imported(settings, paths, name):
            values = _result(tally, done) if isinstance(done, ImportResult) else _failure(tally, done, paths)
            if settings.json:
                write_json([values])
    finally:
        # After the progress bar, whose line they would break; and also of what was done before an error.
        for line in tally.notes:
            note(line)
        if tally.passed_over > NAMED:
            note(f"and {count(tally.passed_over - NAMED, 'more file')} that no format knows; --json names them")
    if not settings.json:
        write([*tally.lines, str(tally)], paged=False)
    click.get_current_context().exit(tally.exit_code)


def _imported(
    settings: options.Settings, paths: Sequence[Path], name: str | None
) -> Iterator[ImportResult | ImportFailure]:
    """Imports what the paths name, behind a progress bar on a terminal, and yields what became of each file."""
    total = sum(map(_size, paths)) if sys.stderr.isatty() else 0
    with progress_bar("Importing", total) as bar:
        yield from import_transcripts(settings.make(), paths, format=name, progress=bar.update)


def _size(path: Path) -> int:
    """Returns how many bytes a file has, or all files below a directory; what cannot be read counts as nothing."""
    if path.is_dir():
        return sum(_size(Path(directory, name)) for directory, _, names in os.walk(path) for name in names)
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _result(tally: Tally, done: ImportResult) -> dict[str, Any]:
    """Counts a file that was imported, and returns its JSON object."""
    tally.sessions.add(done.session)
    tally.commits += done.new_commits
    tally.problems += len(done.problems)
    path = str(done.path)
    tally.notes += [f"{path}:{problem.line}: {problem.reason}" for problem in done.problems]
    if done.unfinished:
        tally.notes.append(f"{path}: its last line is still being written; import it again when it is complete")
    if done.rewritten_from is not None:
        tally.notes.append(
            f"{path}: it does not go on where {done.rewritten_from} stands, so it is beside it, as {done.session}"
        )
    if done.new_commits:
        tally.lines.append(f"{done.new_commits:>7,}  {pad(one_line(done.session), 36)}  {one_line(path)}")
    return {
        "path": path,
        "session": done.session,
        "format": done.format,
        "new_commits": done.new_commits,
        "branch_created": done.branch_created,
        "problems": [{"line": problem.line, "reason": problem.reason} for problem in done.problems],
        "abandoned": [*done.abandoned],
        "rewritten_from": done.rewritten_from,
        "unfinished": done.unfinished,
    }


def _failure(tally: Tally, failure: ImportFailure, named: Sequence[Path]) -> dict[str, Any]:
    """Counts a file that was not imported, and returns its JSON object."""
    tally.skipped += 1
    # In a directory lies what lies there; what was named is expected to be imported.
    expected = failure.path in named or not isinstance(failure.error, UnknownTranscript)
    if expected:
        tally.exit_code = tally.exit_code or exit_code(type(failure.error))
    else:
        tally.passed_over += 1
    if expected or tally.passed_over <= NAMED:
        tally.notes.append(str(failure.error))
    return {"path": str(failure.path), "skipped": str(failure.error)}
