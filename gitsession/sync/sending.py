"""What is here to be sent: git gives up on all branches of a push or a bundle where it cannot read one of them."""

from collections.abc import Sequence
from typing import NamedTuple

from gitsession.errors import Corrupt, SessionError
from gitsession.layout import HEADS, REMOTES
from gitsession.store import Store
from gitsession.sync.git import Git, exactly, said
from gitsession.sync.selection import Selection

# Git sends what is packed as it stands, damaged or not, unless it has to make each object anew.
_READ_ALL = ("--no-reuse-object", "--no-use-bitmap-index", "--compression=0", "--window=0")


class Outgoing(NamedTuple):
    """The branches that a selection means.

    Attributes:
        branches: Those that can be sent.
        damaged: What is wrong with each of the others.
    """

    branches: Sequence[str]
    damaged: dict[str, Corrupt]


def outgoing(store: Store, selection: Selection) -> Outgoing:
    """Returns the branches that a selection means, those apart whose last commit cannot be read."""
    found = _found(store, selection)
    damaged: dict[str, Corrupt] = {}
    for branch, value in found.items():
        try:
            if isinstance(value, Corrupt):
                raise value
            store.reader.commits.read(value)
        except Corrupt as error:
            damaged[branch] = error
    return Outgoing([branch for branch in found if branch not in damaged], damaged)


def absent_here(store: Store, selection: Selection) -> list[str]:
    """Returns the names of a selection that mean no session of the store: ids and patterns."""
    return selection.absent(_found(store, selection))


def unreadable(store: Store, git: Git, branches: Sequence[str], remote: str | None = None) -> dict[str, str]:
    """Returns those of some branches of which git cannot read all that is to be sent, and what it says of each.

    All of it is read. Git does not tell which they are when it gives up on all, so it is asked again by halves.
    Where it takes too long, none are returned.

    Args:
        store: The store.
        git: Git on it.
        branches: The branches.
        remote: The remote they go to; what it has of them is not read. None where all of it is to be sent.
    """
    names = [HEADS + branch for branch in branches]
    if remote is not None:
        there = [f"{REMOTES}{remote}/{branch}" for branch in branches]
        names += [f"^{ref}" for ref in there if _is_whole(store, ref)]
    done = git.run("pack-objects", "--revs", "--stdout", "-q", *_READ_ALL, stdin=exactly(names), discard=True)
    if done.code == 0 or done.late:
        return {}
    if len(branches) == 1:
        return {branches[0]: said(done.err)}
    half = (len(branches) + 1) // 2
    parts = (branches[:half], branches[half:])
    return {branch: why for part in parts for branch, why in unreadable(store, git, part, remote).items()}


def _is_whole(store: Store, ref: str) -> bool:
    """Tells whether a ref is there, and its commit."""
    try:
        tip = store.repository.refs.find(ref)
        return tip is not None and store.reader.commits.read(tip) is not None
    except SessionError:
        return False


def _found(store: Store, selection: Selection) -> dict[str, str | Corrupt]:
    refs = store.repository.refs
    named = selection.branches()
    if named is None:
        heads = ((name.removeprefix(HEADS), value) for name, value in refs.below(HEADS))
        return {branch: value for branch, value in heads if selection.takes(branch)}
    found: dict[str, str | Corrupt] = {}
    for branch in named:
        try:
            value = refs.find(HEADS + branch)
        except Corrupt as error:
            found[branch] = error
            continue
        if value is not None:
            found[branch] = value
    return found
