"""`gitsession bundle`."""

from collections.abc import Sequence
from pathlib import Path

import click

from gitsession import SessionNotFound, SyncRefused, write_bundle

from .. import options, syncing
from ..errors import NothingToBundle
from ..output import write, write_json
from ..text import count


@options.command(
    "bundle", examples=("gitsession bundle sessions.bundle", "gitsession bundle fix.bundle fix-login 'other-*'")
)
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@syncing.sessions
def command(settings: options.Settings, path: Path, sessions: tuple[str, ...]) -> None:
    """Write sessions to one file, for a machine without a network.

    `gitsession import FILE` takes them in there; so do `git clone` and `git fetch`. SESSION is an id, or a pattern
    with `*`; by default all are written. With --json: path, sessions (their ids).
    """
    store = settings.open()
    names = syncing.chosen(store, sessions)
    try:
        _tell(path, write_bundle(store, path, names, progress=syncing.progress()), as_json=settings.json)
    except SessionNotFound as error:
        raise error if names else NothingToBundle from None
    except SyncRefused as error:
        if error.results:
            _tell(path, error.results, as_json=settings.json)
        raise


def _tell(path: Path, written: Sequence[object], *, as_json: bool) -> None:
    if as_json:
        write_json([{"path": str(path), "sessions": [*written]}])
    else:
        write([count(len(written), "session") + " written"])
