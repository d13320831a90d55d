"""What a remote has, asked without fetching it."""

import re
from dataclasses import dataclass
from typing import Literal

from gitsession.errors import Corrupt, SessionError
from gitsession.layout import HEADS, is_ref_name, session_id_of
from gitsession.sides import relation
from gitsession.store import Store
from gitsession.sync.git import Git
from gitsession.sync.remotes import require_remote

_LINE = re.compile(r"([0-9a-f]{40})\trefs/heads/([^\n]+)")


@dataclass(frozen=True, slots=True)
class RemoteSession:
    """A session as a remote has it now.

    Attributes:
        id: The session's id.
        branch: Its branch, without `refs/heads/`.
        oid: The git commit, 40 hex digits.
        here: How the session in the store stands to it: absent, same, behind, ahead, diverged; or unknown, where the
            remote has commits that were not fetched.
    """

    id: str
    branch: str
    oid: str
    here: Literal["absent", "same", "behind", "ahead", "diverged", "unknown"]


def remote_sessions(store: Store, remote: str = "origin", *, timeout: float | None = None) -> list[RemoteSession]:
    """Returns the sessions that a remote has, sorted by id. Nothing is fetched.

    Raises:
        RemoteNotFound: The store has no such remote.
        RemoteUnavailable: It could not be reached.
    """
    require_remote(store, remote)
    listed = remote_branches(Git(store.path, timeout=timeout), remote)
    heads = dict(store.repository.refs.below(HEADS))
    found = [
        RemoteSession(session_id_of(branch), branch, oid, _here(store, heads.get(HEADS + branch), oid))
        for branch, oid in listed.items()
    ]
    return sorted(found, key=lambda session: session.id)


def remote_branches(git: Git, remote: str) -> dict[str, str]:
    """Returns the branches that a remote has, and their commits. Names that git does not allow are left out.

    Raises:
        RemoteUnavailable: It could not be reached.
    """
    done = git.run("ls-remote", "--heads", "--quiet", "--", remote)
    if done.code:
        raise done.failure(remote)
    found = {branch: oid for oid, branch in _LINE.findall(done.out)}
    return {branch: oid for branch, oid in found.items() if is_ref_name(branch)}


def knows(store: Store, oid: str) -> bool:
    """Tells whether the store holds a commit, whole or not."""
    try:
        return store.repository.objects.find(oid) is not None
    except Corrupt:
        return False


def _here(
    store: Store, ours: str | SessionError | None, theirs: str
) -> Literal["absent", "same", "behind", "ahead", "diverged", "unknown"]:
    if ours is None:
        return "absent"
    if ours == theirs:
        return "same"
    try:
        if isinstance(ours, SessionError):
            raise ours
        if not knows(store, theirs):
            return "unknown"
        found = relation(store.reader, ours, theirs)
    except SessionError:
        return "unknown"
    return "diverged" if found.diverged else "ahead" if found.ours else "behind"
