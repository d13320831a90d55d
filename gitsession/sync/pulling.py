"""Pulling: the store's own sessions move to what is known of a remote's, where that continues them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gitsession.errors import SessionError, StoreBusy
from gitsession.layout import HEADS, session_id_of
from gitsession.repo.refs import RefBlocked, RefMoved
from gitsession.repo.repository import Move
from gitsession.sides import Relation, relation
from gitsession.store import Store
from gitsession.sync.continuation import check_continuation
from gitsession.sync.fetching import fetch_into, missing_results, tracked
from gitsession.sync.git import Git, Progress
from gitsession.sync.listing import knows
from gitsession.sync.remotes import require_remote
from gitsession.sync.results import SyncResult, checked
from gitsession.sync.selection import Selection

# How often a session is looked at anew when it was written to at the same moment.
_ATTEMPTS = 10


def pull(
    store: Store,
    remote: str = "origin",
    sessions: Iterable[str] | None = None,
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
    timeout: float | None = None,
) -> list[SyncResult]:
    """Fetches, and moves each session here to what the remote has, where that continues it.

    A session that is new is made. One that went on here and there stays as it is; `S@remote` reads the other side.

    Args:
        store: The store.
        remote: The name of the remote.
        sessions: Ids, and patterns with `*`, `?` or `[…]`; all sessions where it is None.
        dry_run: Whether to change nothing, and to return what would be done as far as the remote's list tells.
        progress: Is told what git says while it is at work.
        timeout: For how long git may take, in seconds.

    Returns:
        The sessions that moved.

    Raises:
        Diverged: Some sessions went on here and there.
        SyncRefused: Some cannot be pulled: see `fetch`; or what the remote has of them is no continuation.
        SessionNotFound: The remote has none of the sessions that were asked for.
        RemoteUnavailable: The remote could not be reached, or the connection was lost.
        Unavailable: What it sent could not be stored.
        RemoteNotFound: The store has no such remote.
    """
    git = Git(store.path, store.repository.disk.durable, progress, timeout)
    require_remote(store, remote)
    selection = Selection.of(sessions)
    fetched = fetch_into(store, git, remote, selection, dry_run=dry_run)
    refused = [result for result in fetched.results if result.status == "refused"]
    missing = missing_results(remote, selection, fetched.missing)
    pulled = foreseen(store, remote, fetched.results) if dry_run else merge(store, remote, selection)
    return checked(remote, [*refused, *missing, *pulled])


def merge(store: Store, remote: str, selection: Selection) -> list[SyncResult]:
    """Moves the sessions here to what is known of a remote's, where that continues them; returns what became of each.

    Raises:
        Unavailable: The disk refuses.
    """
    results: list[SyncResult] = []
    waiting = tracked(store, remote, selection)
    for _ in range(_ATTEMPTS):
        waiting = _merge_once(store, remote, waiting, results)
        if not waiting:
            break
    reason = "it is being written to at this moment; try again"
    return results + [SyncResult(session_id_of(branch), "pull", "refused", reason=reason) for branch in sorted(waiting)]


@dataclass(frozen=True, slots=True)
class _Step:
    """A branch that is to be moved, and the result when it has."""

    move: Move
    result: SyncResult


def _merge_once(store: Store, remote: str, theirs: dict[str, str], results: list[SyncResult]) -> dict[str, str]:
    """Moves what can be moved, and returns the branches that were written to meanwhile."""
    heads = _heads(store, theirs)
    again: dict[str, str] = {}
    for branch, oid in sorted(theirs.items()):
        if heads.get(branch) == oid:
            continue
        found = _step(store, remote, branch, heads.get(branch), oid)
        try:
            if isinstance(found, _Step):
                found = _make(store, found)
        except RefMoved:
            again[branch] = oid
        else:
            results += [] if found is None else [found]
    return again


def _make(store: Store, step: _Step) -> SyncResult:
    """Moves a branch to a commit that is stored already.

    Raises:
        RefMoved: It is elsewhere now.
    """
    try:
        with store.repository.locks.hold(step.move.branch):
            store.repository.move(step.move, _Stored())
    except RefBlocked as error:
        reason = f"the branch {error.blocker.removeprefix(HEADS)} stands in the way"
    except StoreBusy as error:
        reason = str(error)
    else:
        return step.result
    return SyncResult(step.result.session, "pull", "refused", step.move.expected, None, reason)


def _step(
    store: Store, remote: str, branch: str, ours: str | SessionError | None, theirs: str
) -> _Step | SyncResult | None:
    """Returns what is to be done with a session: a move, nothing at all, or why it stays."""
    session = session_id_of(branch)
    reader = store.reader
    try:
        if isinstance(ours, SessionError):
            raise ours
        found = Relation(None, 0, 1) if ours is None else relation(reader, ours, theirs)
        if found.diverged:
            return SyncResult(session, "pull", "diverged", ours, None, _diverged(found, session, remote))
        if not found.theirs:
            return None
        state = reader.state(session, theirs)
        check_continuation(reader, None if ours is None else reader.state(session, ours), state)
        if ours is None and (twin := _case_twin(store, branch)) is not None:
            reason = f"this file system takes it for the session {session_id_of(twin)!r}"
            return SyncResult(session, "pull", "refused", reason=reason)
    except SessionError as error:
        old = ours if isinstance(ours, str) else None
        return SyncResult(session, "pull", "refused", old, None, f"it cannot move to what {remote} has of it: {error}")
    move = Move(branch, ours, theirs, f"pull: {remote}")
    return _Step(move, SyncResult(session, "pull", "new" if ours is None else "moved", ours, theirs))


def _diverged(found: Relation, session: str, remote: str) -> str:
    return (
        f"it went on on both sides: commits of its own here {found.ours}, in {session}@{remote} {found.theirs}; "
        "`gitsession diff` compares them"
    )


def foreseen(store: Store, remote: str, fetched: Iterable[SyncResult]) -> Iterator[SyncResult]:
    """Yields what a pull would do, told from what a fetch would bring."""
    for result in fetched:
        if result.new is None:
            continue
        branch = next(iter(Selection.of([result.session]).branches() or ()))
        ours = store.repository.refs.find(HEADS + branch)
        if ours == result.new:
            continue
        if ours is None or ours == result.old:
            yield SyncResult(result.session, "pull", "moved" if ours else "new", ours, result.new)
        elif knows(store, result.new):
            found = _step(store, remote, branch, ours, result.new)
            if found is not None:
                yield found.result if isinstance(found, _Step) else found
        elif result.old is not None and not relation(store.reader, ours, result.old).ours:
            yield SyncResult(result.session, "pull", "moved", ours, result.new)
        else:
            reason = f"it went on here, and {remote} has commits that are not here: a fetch will tell"
            yield SyncResult(result.session, "pull", "diverged", ours, None, reason)


class _Stored:
    """The objects of a fetch, which git has stored and which what is known of the remote keeps."""

    def store(self) -> None:
        """Does nothing."""

    def restore(self) -> bool:
        """Does nothing; returns that nothing was gone."""
        return False


def _heads(store: Store, wanted: dict[str, str]) -> dict[str, str | SessionError]:
    """Returns the store's own branches of these names, each with its commit or its fault."""
    if len(wanted) > 20:
        listed = {name.removeprefix(HEADS): value for name, value in store.repository.refs.below(HEADS)}
        return {branch: listed[branch] for branch in wanted if branch in listed}
    found: dict[str, str | SessionError] = {}
    for branch in wanted:
        try:
            oid = store.repository.refs.find(HEADS + branch)
        except SessionError as error:
            found[branch] = error
        else:
            if oid is not None:
                found[branch] = oid
    return found


def _case_twin(store: Store, branch: str) -> str | None:
    if not store.repository.ignores_case:
        return None
    names = (name.removeprefix(HEADS) for name, _ in store.repository.refs.below(HEADS))
    return next((name for name in names if name.casefold() == branch.casefold() and name != branch), None)
