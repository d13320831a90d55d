"""`gitsession watch`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gitsession import ImportFailure, Store, Unavailable, UnknownTranscript, import_transcripts

from .. import options
from ..errors import MissingExtra
from ..import_report import Tally, as_json, result_lines
from ..output import flush, note, stored, write, write_json
from ..places import takes_own_files, watched_paths
from ..signals import Stop, asked
from ..text import count

if TYPE_CHECKING:
    from ..watching import Follower


@options.command("watch", examples=("gitsession watch", "gitsession watch --redact ~/.claude/projects"), writes=True)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=options.PATH)
@click.option("--redact", is_flag=True, help="Leave secrets out, with a mark in place of each.")
def command(settings: options.Settings, paths: tuple[Path, ...], redact: bool) -> None:
    """Import what agents write, as they write it.

    Follows the PATHs, or the places where agents keep their files (`gitsession formats`), also those that are not
    there yet: for one that never comes it waits for ever. A database is followed while it is in use, and a session in
    it imported when the agent's turn is over. First imports what is there. Prints one line for each import: how many
    records, the session, the file.

    Ends with Ctrl-C or SIGTERM, which is no error: the exit code is 0. What was printed is stored; what it is reading
    just then is stored as far as it came. A second one ends it at once. With --json each import is an object as of
    `gitsession import`. Needs the extra `watch`: `pip install 'gitsession[watch]'`.
    """
    with asked() as stop:
        store = settings.make()
        followed = [*paths] or watched_paths()
        takes = (lambda _: True) if paths else takes_own_files()
        watched = _Watch(store, settings, stop, takes, redact=redact)
        follower = _follower(followed, store, stop)
        note(f"Following {count(len(followed), 'place')}; Ctrl-C ends it.")
        try:
            for changed in follower.changes():
                watched.take(changed)
        finally:
            if stop.is_set():
                note(f"Ended: {watched.tally}")


def _follower(paths: Sequence[Path], store: Store, stop: Stop) -> "Follower":
    try:
        from ..watching import Follower  # noqa: PLC0415  # what it needs is an extra
    except ImportError as error:
        if error.name is None or not error.name.startswith("watchfiles"):
            raise
        raise MissingExtra("watch", "watch") from error
    return Follower(paths, store.path, stop)


class _Watch:
    """Imports what changed, and says so."""

    def __init__(
        self, store: Store, settings: options.Settings, stop: Stop, takes: Callable[[Path], bool], *, redact: bool
    ) -> None:
        self.tally = Tally(quiet=True)
        self._store = store
        self._json = settings.json
        self._settings = settings
        self._stop = stop
        self._redact = redact
        self._takes = takes
        self._left: list[Path] = []
        self._told: set[str] = set()

    def take(self, changed: Sequence[Path]) -> None:
        """Imports files and directories; what the store cannot take now is tried again with the next ones."""
        new = (path for path in changed if path.is_dir() or self._takes(path))
        paths = [*dict.fromkeys([*self._left, *new])]
        self._left = []
        try:
            taken = import_transcripts(
                self._store, paths, redact=self._redact, settled=True, stop=self._stop.is_set, takes=self._takes
            )
            for done in taken:
                # What is no transcript, or none yet, is passed over: agents keep much beside theirs.
                if isinstance(done, ImportFailure) and isinstance(done.error, UnknownTranscript):
                    continue
                self.tally.add(done)
                self._tell_notes()
                if isinstance(done, ImportFailure) or not done.new_commits:
                    continue
                stored("what was imported")
                if self._json:
                    write_json([as_json(done)])
                else:
                    write(result_lines(done))
                flush()
        except Unavailable as error:
            self._left = paths
            self.tally.notes.append(f"gitsession: {error}")
            self._tell_notes()
        self._settings.maintain_if_due()

    def _tell_notes(self) -> None:
        """Tells what is new of the notes: a file has the same broken line each time that it grows."""
        for line in self.tally.noted():
            if line not in self._told:
                note(line)
        self._told.update(self.tally.noted())
        self.tally.notes.clear()
