"""`gitsession bundle`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from gitsession import SessionNotFound, SyncRefused, write_bundle

from .. import options, syncing
from ..errors import NothingToBundle
from ..output import on_terminal, write, write_bytes, write_json
from ..text import count

STDOUT = Path("-")


@options.command(
    "bundle",
    examples=(
        "gitsession bundle sessions.bundle",
        "gitsession bundle fix.bundle fix-login 'other-*'",
        "gitsession bundle - > sessions.bundle",
    ),
)
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@syncing.sessions
def command(settings: options.Settings, path: Path, sessions: tuple[str, ...]) -> None:
    """Write sessions to one file, for a machine without a network.

    `gitsession import FILE` takes them in there; so do `git clone` and `git fetch`. SESSION is an id, or a pattern
    with `*`; by default all are written. All of them are read first, so that what is damaged is named and left out.

    A bundle that is there already is replaced; any other file is left alone. `-` is stdout.

    With --json, but for stdout: path, sessions (their ids).
    """
    store = settings.open()
    names = syncing.chosen(store, sessions)
    try:
        with _file(path) as file:
            written = write_bundle(store, file, names, progress=syncing.progress())
    except SessionNotFound as error:
        raise error if names else NothingToBundle from None
    except SyncRefused as error:
        if error.results:
            _tell(path, error.results, as_json=settings.json)
        raise SyncRefused(str(path), error.refused, error.results) from error
    _tell(path, written, as_json=settings.json)


@contextmanager
def _file(path: Path) -> Iterator[Path]:
    """Gives the file to write to; in place of stdout one that is copied there once it is whole."""
    if path != STDOUT:
        yield path
        return
    if on_terminal():
        raise click.UsageError("a bundle is nothing to read; send stdout to a file or a pipe, or name a FILE")
    with TemporaryDirectory() as directory:
        file = Path(directory, "sessions.bundle")
        try:
            yield file
        finally:
            # Also where some sessions are damaged and the others were written.
            if file.exists():
                with file.open("rb") as stream:
                    write_bytes(iter(partial(stream.read, 1 << 20), b""))


def _tell(path: Path, written: Sequence[object], *, as_json: bool) -> None:
    if path == STDOUT:
        return
    if as_json:
        write_json([{"path": str(path), "sessions": [*written]}])
    else:
        write([count(len(written), "session") + " written"])
