"""Pushing: sessions go to a remote, each by its own ref and never by force; the remote says of each what it did."""

import re
from collections.abc import Iterable, Sequence

from gitsession.errors import AccessDenied, RemoteUnavailable, SessionError, SessionNotFound
from gitsession.layout import HEADS, REMOTES, session_id_of
from gitsession.sides import relation
from gitsession.store import Store
from gitsession.sync.git import Finished, Git, Progress, said
from gitsession.sync.listing import remote_branches
from gitsession.sync.remotes import require_remote
from gitsession.sync.results import SyncResult, checked
from gitsession.sync.selection import Selection
from gitsession.sync.sending import absent_here, outgoing, unreadable

# One line a ref of `git push --porcelain`: a flag, from:to, what was done, and why not.
_LINE = re.compile(
    r"^(?P<flag>[ +\-*=!])\t(?P<source>[^\t:]*):refs/heads/(?P<branch>[^\t]*)\t(?P<summary>[^\t(]*?)"
    r"(?: ?\((?P<reason>.*)\))?$",
    re.MULTILINE,
)
_BAD_OBJECT = re.compile(r"fsck error|error: object [0-9a-f]{40}:")
# The server's own compare-and-swap failed: somebody else's push came first. Servers say it each in their way.
RACED = re.compile(
    r"cannot lock ref|failed to update ref|failed to lock|incorrect old value|reference already exists|"
    r"fetch first|stale info|remote ref updated since checkout",
    re.IGNORECASE,
)

# How many refs one git is given: they stand on its command line.
_TOGETHER = 400


def push(
    store: Store,
    remote: str = "origin",
    sessions: Iterable[str] | None = None,
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
    timeout: float | None = None,
) -> list[SyncResult]:
    """Sends sessions to a remote, as far as they continue what it has.

    Nothing is forced. The user's own pre-push hook (in their `core.hooksPath`) runs, and may refuse it all; one that
    lies in the store is not run, and nothing is pushed while it is there.

    Args:
        store: The store.
        remote: The name of the remote.
        sessions: Ids, and patterns with `*`, `?` or `[…]`; all sessions where it is None.
        dry_run: Whether to send nothing, and to return what would be sent.
        progress: Is told what git says while it is at work.
        timeout: For how long it may take, in seconds.

    Returns:
        The sessions that were sent, and those of which the remote has more than is here.

    Raises:
        Diverged: Some sessions went on here and there.
        SyncRefused: The remote refuses some, or they are damaged here. All others were sent.
        SessionNotFound: There is no session of an id that was given, or none that fits a pattern; nothing was sent.
        RemoteUnavailable: The remote could not be reached, or the connection was lost; some may have been sent.
        RemoteNotFound: The store has no such remote.
    """
    git = Git(store.path, store.repository.disk.durable, progress, timeout)
    require_remote(store, remote, pushes=True)
    selection = Selection.of(sessions)
    if absent := absent_here(store, selection):
        raise SessionNotFound(absent[0])
    return checked(remote, push_selected(store, git, remote, selection, dry_run=dry_run))


def push_selected(store: Store, git: Git, remote: str, selection: Selection, *, dry_run: bool) -> list[SyncResult]:
    """Pushes as `push` does, and returns also what was refused; names that mean nothing here are passed over."""
    branches, damaged = outgoing(store, selection)
    if branches and not damaged and selection.names is None:
        branches = ["*"]
    results = [_damaged(store, remote, branch, str(error)) for branch, error in damaged.items()]
    for start in range(0, len(branches), _TOGETHER):
        results += _send(store, git, remote, branches[start : start + _TOGETHER], dry_run=dry_run)
    return results


def _damaged(store: Store, remote: str, branch: str, why: str) -> SyncResult:
    theirs = _tip(store, f"{REMOTES}{remote}/{branch}")
    return SyncResult(session_id_of(branch), "push", "refused", theirs, None, f"it is damaged here: {why}")


def _send(store: Store, git: Git, remote: str, branches: Sequence[str], *, dry_run: bool) -> list[SyncResult]:
    options = ["--dry-run"] if dry_run else []
    refspecs = [f"{HEADS}{branch}:{HEADS}{branch}" for branch in branches]
    done = git.run("push", "--porcelain", *git.flags(), *options, "--", remote, *refspecs, hooks=True)
    told = outcomes(done)
    if done.late:
        raise done.failure(remote)
    if done.code and not any(flag == "!" for flag, _ in told.values()):
        return _send_whole(store, git, remote, branches, done.failure(remote), dry_run=dry_run)
    # A server that refuses one object refuses the whole pack, so what it refused is sent again by halves.
    unpacked = [branch for branch, (_, reason) in told.items() if reason == "unpacker error"]
    results: list[SyncResult] = []
    if unpacked:
        if not _BAD_OBJECT.search(done.err):
            error = RemoteUnavailable(remote, f"it could not store what was sent: {said(done.err)}")
            return _send_whole(store, git, remote, branches, error, dry_run=dry_run)
        half = (len(unpacked) + 1) // 2
        if len(unpacked) == 1:
            told[unpacked[0]] = ("!", f"its objects are damaged or forbidden: {said(done.err)}")
        else:
            told = {branch: found for branch, found in told.items() if branch not in unpacked}
            for part in (unpacked[:half], unpacked[half:]):
                results += _send(store, git, remote, part, dry_run=dry_run)
    found = [_result(store, remote, branch, *outcome) for branch, outcome in told.items()]
    return results + [result for result in found if result is not None]


def _send_whole(
    store: Store, git: Git, remote: str, branches: Sequence[str], error: RemoteUnavailable, *, dry_run: bool
) -> list[SyncResult]:
    """Sends again, without the sessions that are damaged here: one of them fails a push of all.

    Raises:
        RemoteUnavailable: `error`, where none is, or where the remote does not answer at all: all that is to be sent
            has to be read to find them.
    """
    if isinstance(error, AccessDenied) or not _answers(git, remote):
        raise error
    if branches == ["*"]:
        branches, _ = outgoing(store, Selection.of(None))
    damaged = unreadable(store, git, branches, remote)
    if not damaged:
        raise error
    whole = [branch for branch in branches if branch not in damaged]
    results = [_damaged(store, remote, branch, why) for branch, why in damaged.items()]
    for start in range(0, len(whole), _TOGETHER):
        results += _send(store, git, remote, whole[start : start + _TOGETHER], dry_run=dry_run)
    return results


def _answers(git: Git, remote: str) -> bool:
    try:
        remote_branches(git, remote)
    except RemoteUnavailable:
        return False
    return True


def outcomes(done: Finished) -> dict[str, tuple[str, str]]:
    """Returns what `git push --porcelain` told of each branch: the flag, and the reason or what was done."""
    return {found["branch"]: (found["flag"], found["reason"] or found["summary"]) for found in _LINE.finditer(done.out)}


def _result(store: Store, remote: str, branch: str, flag: str, told: str) -> SyncResult | None:
    session = session_id_of(branch)
    if flag == "=":
        return None
    if flag == "*":
        return SyncResult(session, "push", "new", None, _tip(store, HEADS + branch))
    if flag == " ":
        old, _, new = told.partition("..")
        return SyncResult(session, "push", "moved", old, new)
    ours, theirs = _tip(store, HEADS + branch), _tip(store, f"{REMOTES}{remote}/{branch}")
    if told in ("non-fast-forward", "fetch first", "needs force"):
        return _not_forward(store, remote, session, ours, theirs)
    reason = f"{remote} refuses it: {told}"
    return SyncResult(session, "push", "refused", theirs, None, reason, raced=bool(RACED.search(told)))


def _not_forward(store: Store, remote: str, session: str, ours: str | None, theirs: str | None) -> SyncResult:
    """Returns the result of a session of which the remote has commits that are not in the session here."""
    try:
        found = None if ours is None or theirs is None else relation(store.reader, ours, theirs)
    except SessionError:
        found = None
    if found is not None and found.diverged:
        reason = f"it went on on both sides: commits of its own here {found.ours}, in {session}@{remote} {found.theirs}"
        return SyncResult(session, "push", "diverged", theirs, None, reason)
    if found is not None and found.theirs:
        return SyncResult(session, "push", "behind", theirs, None, f"{remote} has more of it; pull takes it here")
    reason = f"{remote} has commits of it that are not known here; pull first"
    return SyncResult(session, "push", "refused", theirs, None, reason, raced=True)


def _tip(store: Store, ref: str) -> str | None:
    try:
        return store.repository.refs.find(ref)
    except SessionError:
        return None
