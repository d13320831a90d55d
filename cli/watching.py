"""Following files and directories: which of them changed, and so have to be imported.

Directories are watched by `watchfiles`. What it cannot watch is looked at twice a second: single files, which agents
replace, and directories that are not there, or no longer the ones that were watched. A database changes in the log
beside it, long before it does itself. After each beginning of a watch all that is there counts as changed, so nothing
is lost between two watches.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR
from typing import TYPE_CHECKING

from watchfiles import Change, watch

from .places import matching

if TYPE_CHECKING:
    from .signals import Stop

# How long it waits for more changes of the same turn, and for how long at most, in milliseconds.
QUIET = 200
LONGEST = 2000
# How often it looks at what is not watched, in milliseconds.
LOOK = 500

# What the log beside a database is called, after the database.
_LOG = "-wal"


@dataclass(frozen=True, slots=True)
class _Look:
    """What tells that there is another file or directory at a path now."""

    is_directory: bool
    state: tuple[int, ...]


class Follower:
    """Follows paths, which need not exist."""

    def __init__(self, paths: Sequence[Path], ignored: Path, stop: "Stop") -> None:
        """Begins to follow.

        Args:
            paths: Files and directories; what has a `*` in its last part stands for all that matches, now or later.
            ignored: A directory that is passed over: the store, which changes whenever something was imported.
            stop: Tells when to end.
        """
        self._paths = [*dict.fromkeys(path.absolute() for path in paths)]
        self._ignored = (ignored.absolute(), ignored.resolve())
        self._stop = stop
        self._seen: dict[Path, _Look | None] = {}
        self._polling = False

    def changes(self) -> Iterator[list[Path]]:
        """Yields, until it is to end, what may have changed: first all that is there; files and whole directories."""
        while not self._stop.is_set():
            changed = self._changed()
            directories = [*filter(self._is_directory, self._paths)]
            if not directories:
                if changed:
                    yield self._sorted(changed)
                time.sleep(LOOK / 1000)
                continue
            try:
                yield from self._watched(directories, changed)
            except OSError:
                # A directory went away before it was watched; or the system watches no more of them.
                self._polling = all(path.exists() for path in directories)
                self._seen |= dict.fromkeys(changed)
                time.sleep(LOOK / 1000)

    def _watched(self, directories: Sequence[Path], changed: set[Path]) -> Iterator[list[Path]]:
        """Watches directories until one of them is no longer what it was."""
        for events in watch(
            *directories,
            watch_filter=None,
            debounce=LONGEST,
            step=QUIET,
            rust_timeout=LOOK,
            yield_on_timeout=True,
            ignore_permission_denied=True,
            force_polling=self._polling or None,
            stop_event=self._stop,
        ):
            changed |= {path for change, name in events if (path := self._followed(change, Path(name)))}
            moved = self._changed()
            new = {*filter(self._is_directory, moved)}
            changed |= moved - new
            if changed:
                yield self._sorted(changed)
                changed = set()
            if new or not all(map(self._is_directory, directories)):
                # A directory is taken when it is watched, so that nothing happens unseen in between.
                for path in new:
                    self._seen[path] = None
                return

    def _followed(self, change: Change, path: Path) -> Path | None:
        """Returns the path that an event is about, if it has to be imported."""
        if change == Change.deleted or any(map(path.is_relative_to, self._ignored)) or not path.exists():
            return None
        if path.name.endswith(_LOG) and (database := path.with_name(path.name.removesuffix(_LOG))).exists():
            return database
        # A new directory can have had files before it was watched; a known one changes with each of its files.
        return path if change == Change.added or not path.is_dir() else None

    def _changed(self) -> set[Path]:
        """Returns which of the paths are not as they were seen the last time, and are there."""
        now = {path: _look(path) for pattern in self._paths for path in matching(pattern)}
        changed = {path for path, look in now.items() if look is not None and look != self._seen.get(path)}
        self._seen = now
        return changed

    def _is_directory(self, path: Path) -> bool:
        seen = self._seen.get(path)
        return seen is not None and seen.is_directory

    @staticmethod
    def _sorted(paths: set[Path]) -> list[Path]:
        """Returns paths in order, without those that lie in another of them."""
        return sorted(path for path in paths if not paths & {*path.parents})


def _look(path: Path) -> _Look | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    if S_ISDIR(stat.st_mode):
        return _Look(True, (stat.st_dev, stat.st_ino))
    real = path.resolve()
    log = None if real.name.endswith(_LOG) else _look(real.with_name(real.name + _LOG))
    return _Look(False, (stat.st_ino, stat.st_size, stat.st_mtime_ns, *(log.state if log is not None else ())))
