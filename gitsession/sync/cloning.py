"""Cloning: a new store with a remote, and the sessions that the remote has."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from gitsession.errors import NotAStore, SyncRefused
from gitsession.repo.files import translated
from gitsession.store import Store
from gitsession.sync.git import Progress
from gitsession.sync.pulling import pull
from gitsession.sync.remotes import add_remote, usable_url
from gitsession.sync.results import SyncResult


def clone(
    url: str,
    path: str | os.PathLike[str],
    *,
    remote: str = "origin",
    sessions: Iterable[str] | None = None,
    durable: bool = True,
    wait: float = 30.0,
    progress: Progress | None = None,
    timeout: float | None = None,
) -> Store:
    """Makes a store from what a remote has. Its settings are a new store's own; none come from the remote.

    Args:
        url: Where the remote is: see `add_remote`.
        path: A directory that is empty or does not exist.
        remote: What the remote is called.
        sessions: Ids, and patterns with `*`, `?` or `[…]`; all sessions where it is None. Only these are fetched.
        durable: As in `Store.init`.
        wait: As in `Store.init`.
        progress: Is told what git says while it is at work.
        timeout: For how long it may take, in seconds.

    Raises:
        NotAStore: Something is at the path.
        InvalidRemote: The URL cannot be used.
        SyncRefused: Some sessions were refused: see `pull`. The clone has the others; where there are none, it is
            taken away again.
        SessionNotFound: The remote has none of the sessions that were asked for; nothing is left at the path.
        RemoteUnavailable: The remote could not be reached, or the connection was lost; nothing is left at the path.
        Unavailable: What it sent could not be stored; nothing is left at the path either.
    """
    target = Path(path)
    usable_url(url)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise NotAStore(str(target), "there is something already; clone to a path where nothing is")
    made = not target.exists()
    store = Store.init(target, durable=durable, wait=wait)
    # Nothing is acknowledged before the end, so one barrier there does for all, where there is one.
    disk = store.repository.disk
    hasty = Store.open(target, durable=False, wait=wait) if disk.at_once else store
    try:
        add_remote(hasty, remote, url)
        try:
            pull(hasty, remote, sessions, progress=progress, timeout=timeout)
        finally:
            with translated(f"make the clone at {target} durable"):
                disk.barrier()
    except BaseException as error:
        if not (isinstance(error, SyncRefused) and any(_arrived(result) for result in error.results)):
            _empty(target, itself=made)
        raise
    return store


def _arrived(result: object) -> bool:
    return isinstance(result, SyncResult) and (result.action, result.status) == ("pull", "new")


def _empty(path: Path, *, itself: bool) -> None:
    if itself:
        shutil.rmtree(path, ignore_errors=True)
        return
    for entry in path.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
