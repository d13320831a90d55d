"""Fetching: what is known of a remote's sessions is brought up to date; the store's own are left alone."""

import random
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gitsession.errors import SessionError, SessionNotFound
from gitsession.layout import MAX_REF_CHARACTERS, REMOTES, session_id_of
from gitsession.sides import tracked_branches
from gitsession.store import Store
from gitsession.sync.git import Git, Progress, exactly, said
from gitsession.sync.listing import remote_branches
from gitsession.sync.remotes import require_remote
from gitsession.sync.results import SyncResult, checked
from gitsession.sync.selection import Selection, refspec

_OPTIONS = ("--no-tags", "--no-prune", "--no-recurse-submodules", "--no-write-fetch-head", "--refmap=", "--stdin")
_REJECTED = re.compile(
    r"^ ! (?:\[[^\]\n]*\]|\S+) +(?P<source>\S+) +-> (?P<to>\S+)(?: +\((?P<reason>[^\n]*)\))?$", re.MULTILINE
)
# Another fetch into the same store moved the ref at the same moment.
_RACED = re.compile(r"cannot lock ref 'refs/remotes/[^']*': (?:is at|reference already exists|Unable to create)")
_MISSING = re.compile(r"couldn't find remote ref refs/heads/(\S+)")
# What git says of an object that it checked, or the remote's of one that it cannot read: the fault lies in one session,
# and the others can still be fetched.
_BAD_OBJECT = re.compile(
    r"fsck error|error: object [0-9a-f]{40}:|repository corruption on the remote side|pack has bad object at offset"
    r"|error: inflate returned"
)

# Git finds that the remote has less than is known of it.
_NOT_FORWARD = re.compile(r"\(non-fast-forward\)")

# How often that is looked at again before it is believed.
_MOST_DOUBTS = 4

# How often a fetch is begun anew when another one into the same store was faster.
_MOST_RACES = 20


@dataclass(slots=True)
class Fetched:
    """What a fetch did.

    Attributes:
        results: What became of the sessions.
        missing: What was asked for and the remote does not have: ids, and patterns.
    """

    results: list[SyncResult] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def fetch(
    store: Store,
    remote: str = "origin",
    sessions: Iterable[str] | None = None,
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
    timeout: float | None = None,
) -> list[SyncResult]:
    """Brings what is known of a remote's sessions up to date; no session of the store moves.

    Args:
        store: The store.
        remote: The name of the remote.
        sessions: Ids, and patterns with `*`, `?` or `[…]`; all sessions where it is None. Only these are fetched.
        dry_run: Whether to change nothing, and to return what would be done as far as the remote's list tells.
        progress: Is told what git says while it is at work.
        timeout: For how long it may take, in seconds.

    Returns:
        The sessions of which something new is known.

    Raises:
        SyncRefused: The remote no longer holds what it held of some, or sent objects that are none, or has no such
            session. All others were fetched.
        SessionNotFound: It has none of the sessions that were asked for.
        RemoteUnavailable: The remote could not be reached, or the connection was lost.
        Unavailable: What it sent could not be stored.
        RemoteNotFound: The store has no such remote.
    """
    git = Git(store.path, store.repository.disk.durable, progress, timeout)
    require_remote(store, remote)
    selection = Selection.of(sessions)
    fetched = fetch_into(store, git, remote, selection, dry_run=dry_run)
    return checked(remote, [*fetched.results, *missing_results(remote, selection, fetched.missing)])


def fetch_into(store: Store, git: Git, remote: str, selection: Selection, *, dry_run: bool) -> Fetched:
    """Fetches as `fetch` does, and returns also what was refused."""
    before = tracked(store, remote, selection)
    fetched = Fetched()
    missing: set[str] = set()
    if dry_run:
        after = {branch: oid for branch, oid in remote_branches(git, remote).items() if selection.takes(branch)}
        rejected: dict[str, str] = {}
    else:
        refspecs = selection.refspecs(remote, lambda: [*remote_branches(git, remote)])
        rejected = _transfer(git, remote, refspecs, before, missing) if refspecs else {}
        overlong: list[str] = []
        after = tracked(store, remote, selection, overlong)
        fetched.results += _given_up(git, remote, overlong)
    fetched.missing = selection.absent({*after, *rejected} - missing)
    for branch in sorted({*after, *rejected}):
        session, old, new = session_id_of(branch), before.get(branch), after.get(branch)
        if branch in rejected:
            fetched.results.append(SyncResult(session, "fetch", "refused", old, None, rejected[branch]))
        elif old != new:
            fetched.results.append(SyncResult(session, "fetch", "moved" if old else "new", old, new))
    return fetched


def missing_results(remote: str, selection: Selection, missing: Sequence[str]) -> list[SyncResult]:
    """Returns the results of what was asked for and a remote does not have.

    Raises:
        SessionNotFound: It has nothing of what was asked for.
    """
    if missing and len(missing) == len(selection.names or ()):
        raise SessionNotFound(missing[0], remote)
    return [SyncResult(name, "fetch", "refused", reason=f"{remote} has no such session") for name in missing]


def tracked(store: Store, remote: str, selection: Selection, overlong: list[str] | None = None) -> dict[str, str]:
    """Returns what is known of a remote's sessions: branches and commits; adds names out of bounds to `overlong`."""
    branches = selection.branches()
    if branches is not None:
        found = [(branch, store.repository.refs.find(f"{REMOTES}{remote}/{branch}")) for branch in branches]
        return {branch: oid for branch, oid in found if oid is not None}
    known: dict[str, str] = {}
    for _, branch, oid in tracked_branches(store.reader, remote):
        if not isinstance(oid, SessionError):
            if selection.takes(branch):
                known[branch] = oid
        elif overlong is not None and len(f"{REMOTES}{remote}/{branch}") > MAX_REF_CHARACTERS:
            overlong.append(branch)
    return known


def _given_up(git: Git, remote: str, overlong: Sequence[str]) -> list[SyncResult]:
    """Takes away what a fetch brought under names out of bounds: a thousand directories, one within the other."""
    if overlong:
        done = git.run("update-ref", "--stdin", stdin=exactly([f"delete {REMOTES}{remote}/{one}" for one in overlong]))
        git.check_stored(done)
    reason = f"its ref would have more than {MAX_REF_CHARACTERS} characters here; it was not taken"
    return [SyncResult(f"{session_id_of(one)[:60]}…", "fetch", "refused", reason=reason) for one in overlong]


def _transfer(
    git: Git, remote: str, refspecs: Sequence[str], before: dict[str, str], missing: set[str]
) -> dict[str, str]:
    """Fetches, adds to `missing`, and returns the branches that were refused, and why."""
    asked = [*refspecs]
    races = doubts = 0
    while asked:
        done = git.run("fetch", *_OPTIONS, *git.flags(), "--", remote, stdin=exactly(asked))
        if done.code == 0:
            break
        git.check_stored(done)
        absent = {f for f in _MISSING.findall(done.err) if refspec(f, remote) in asked}
        if absent:
            missing |= absent
            asked = [one for one in asked if one not in {refspec(branch, remote) for branch in absent}]
            continue
        if _BAD_OBJECT.search(done.err):
            return _transfer_apart(git, remote, asked, before, missing, said(done.err))
        if _RACED.search(done.err) and races < _MOST_RACES:
            races += 1
            time.sleep(random.uniform(0, 0.02 * races))  # noqa: S311  # spreads the fetches
            continue
        rejected = {
            found["to"].removeprefix(f"{remote}/"): _reason(remote, found["reason"] or "git refuses it")
            for found in _REJECTED.finditer(done.err.replace("\r", "\n"))
        }
        if not rejected:
            raise done.failure(remote)
        if _NOT_FORWARD.search(done.err) and doubts < _MOST_DOUBTS:
            # A commit at the server may have moved what is known of it on, while git still had the list from before.
            doubts += 1
            time.sleep(random.uniform(0, 0.05 * doubts))  # noqa: S311  # spreads the fetches
            continue
        return rejected
    return {}


def _transfer_apart(
    git: Git, remote: str, asked: Sequence[str], before: dict[str, str], missing: set[str], fault: str
) -> dict[str, str]:
    """Fetches by halves what cannot be fetched as a whole, so that one bad session holds up no other."""
    if len(asked) == 1 and "*" not in asked[0]:
        branch = asked[0].partition(":")[0].removeprefix("refs/heads/")
        return {branch: f"{remote} sent objects that are damaged or forbidden: {fault}"}
    if any("*" in one for one in asked):
        chosen = re.compile("|".join(re.escape(one.partition(":")[0]).replace(r"\*", ".*") for one in asked))
        listed = remote_branches(git, remote)
        fresh = [branch for branch, oid in listed.items() if before.get(branch) != oid]
        asked = [refspec(branch, remote) for branch in fresh if chosen.fullmatch(f"refs/heads/{branch}")]
    if not asked:
        return {}
    half = (len(asked) + 1) // 2
    rejected: dict[str, str] = {}
    for part in (asked[:half], asked[half:]):
        if len(part) == len(asked):
            return rejected | _transfer_apart(git, remote, part, before, missing, fault)
        rejected |= _transfer(git, remote, part, before, missing)
    return rejected


def _reason(remote: str, reason: str) -> str:
    if reason == "non-fast-forward":
        return (
            f"its history at {remote} was rewritten and no longer holds what it held; nothing here was changed "
            f"(`git fetch {remote}` takes the new history for what is known of {remote}, should that be right)"
        )
    return reason
