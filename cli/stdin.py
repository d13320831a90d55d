"""A transcript on stdin: it is put into a file for the time of its import, since formats look at names, and go back."""

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from gitsession import ImportFailure, ImportResult, UnknownTranscript, UnreadableDatabase

STDIN = Path("-")

Done = ImportResult | ImportFailure


@contextmanager
def from_stdin(paths: Sequence[Path], name: str | None) -> Iterator[tuple[Sequence[Path], Callable[[Done], Done]]]:
    """Gives the paths of what is to be imported, and what names the one of stdin as the user did.

    Args:
        paths: The paths that the user gave.
        name: The name that the file on stdin has where it comes from.

    Raises:
        click.UsageError: There is a name and no `-`, or a `-` and no name that a file can have.
    """
    if STDIN not in paths:
        if name is not None:
            raise click.UsageError("--name is for a transcript on stdin, whose PATH is -")
        yield paths, lambda done: done
        return
    if not name or Path(name).name != name or paths.count(STDIN) > 1:
        raise click.UsageError("one - needs one --name, that of its file, without a directory")
    with TemporaryDirectory() as directory:
        file = Path(directory, name)
        with file.open("wb") as copy:
            if sys.stdin is not None:  # a closed one is an empty one
                shutil.copyfileobj(sys.stdin.buffer, copy)

        def named(done: Done) -> Done:
            if not done.path.is_relative_to(file):
                return done
            # A database holds sessions, which are called like files in it.
            path = STDIN / done.path.relative_to(file)
            if isinstance(done, ImportResult):
                return replace(done, path=path)
            error = done.error
            if isinstance(error, UnknownTranscript | UnreadableDatabase):
                error = type(error)("stdin", error.reason)
            return ImportFailure(path, error)

        yield [file if path == STDIN else path for path in paths], named
