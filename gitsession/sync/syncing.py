"""Sync: pull, then push, until nothing is left to be sent."""

from collections.abc import Iterable

from gitsession.errors import SessionNotFound
from gitsession.store import Store
from gitsession.sync.fetching import fetch_into
from gitsession.sync.git import Git, Progress
from gitsession.sync.pulling import foreseen, merge
from gitsession.sync.pushing import push_selected
from gitsession.sync.remotes import require_remote
from gitsession.sync.results import SyncResult, checked
from gitsession.sync.selection import Selection
from gitsession.sync.sending import absent_here

# How often it begins anew when another client pushed the same session between our pull and our push.
_ATTEMPTS = 5


def sync(
    store: Store,
    remote: str = "origin",
    sessions: Iterable[str] | None = None,
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
    timeout: float | None = None,
) -> list[SyncResult]:
    """Pulls, and then pushes: afterwards the store and the remote agree, but for sessions that went on on both sides.

    Args:
        store: The store.
        remote: The name of the remote.
        sessions: Ids, and patterns with `*`, `?` or `[…]`; all sessions where it is None.
        dry_run: Whether to change nothing, and to return what would be done as far as the remote's list tells.
        progress: Is told what git says while it is at work.
        timeout: For how long one run of git may take, in seconds.

    Returns:
        The sessions that moved, here (`pull`) or there (`push`).

    Raises:
        Diverged: Some sessions went on here and there.
        SyncRefused: Some cannot be pulled or pushed: see there.
        SessionNotFound: Neither side has a session of an id that was given, or one that fits a pattern.
        RemoteUnavailable: The remote could not be reached, or the connection was lost.
        Unavailable: What it sent could not be stored.
        RemoteNotFound: The store has no such remote.
    """
    git = Git(store.path, store.repository.disk.durable, progress, timeout)
    require_remote(store, remote, pushes=True)
    selection = Selection.of(sessions)
    results: dict[tuple[str, str], SyncResult] = {}
    for _ in range(_ATTEMPTS):
        pulled = _pull(store, git, remote, selection, dry_run=dry_run)
        stuck = {result.session for result in pulled if dry_run or result.status in ("refused", "diverged")}
        pushed = push_selected(store, git, remote, selection, dry_run=dry_run)
        # What is refused by the one is refused by the other, and needs to be told once.
        pushed = [result for result in pushed if result.session not in stuck]
        results = {key: one for key, one in results.items() if one.status in ("new", "moved")}
        results |= {(one.session, one.action): one for one in [*pulled, *pushed] if one.status != "behind"}
        if dry_run or not any(one.raced or one.status in ("behind", "diverged") for one in pushed):
            break
    return checked(remote, results.values())


def _pull(store: Store, git: Git, remote: str, selection: Selection, *, dry_run: bool) -> list[SyncResult]:
    fetched = fetch_into(store, git, remote, selection, dry_run=dry_run)
    absent = absent_here(store, selection) if fetched.missing else []
    for name in fetched.missing:
        if name in absent:
            raise SessionNotFound(name)
    refused = [result for result in fetched.results if result.status == "refused"]
    pulled = foreseen(store, remote, fetched.results) if dry_run else merge(store, remote, selection)
    return [*refused, *pulled]
