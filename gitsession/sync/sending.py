"""What is here to be sent: git gives up on all branches of a push or a bundle where it cannot read one of them."""

from collections.abc import Sequence
from typing import NamedTuple

from gitsession.errors import Corrupt, SessionNotFound
from gitsession.layout import HEADS, session_id_of
from gitsession.store import Store
from gitsession.sync.selection import Selection


class Outgoing(NamedTuple):
    """The branches that a selection means.

    Attributes:
        branches: Those that can be sent.
        damaged: What is wrong with each of the others.
    """

    branches: Sequence[str]
    damaged: dict[str, Corrupt]


def outgoing(store: Store, selection: Selection) -> Outgoing:
    """Returns the branches that a selection means, those apart whose last commit cannot be read.

    Raises:
        SessionNotFound: There is no session of an id that was given.
    """
    found = _found(store, selection)
    damaged: dict[str, Corrupt] = {}
    for branch, value in found.items():
        try:
            if isinstance(value, Corrupt):
                raise value
            store.reader.commit(value)
        except Corrupt as error:
            damaged[branch] = error
    return Outgoing([branch for branch in found if branch not in damaged], damaged)


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
        if value is None:
            raise SessionNotFound(session_id_of(branch))
        found[branch] = value
    return found
