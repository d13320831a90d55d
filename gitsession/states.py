"""Transcripts that are written anew when they grow: which branch of the session holds an earlier state of one.

The records of such a transcript are told apart by their ids. A branch holds an earlier state if all its records are in
the file: those of a document first and in the same order, those of a directory anywhere. The import then adds what is
new, and a version of what changed. What the file no longer has, somebody took out of it: then it is no later state of
that branch. FORMAT.md, "Transcripts that are written anew".
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gitsession.branching import Base, Branches
from gitsession.errors import Corrupt
from gitsession.layout import decode_commit_id
from gitsession.reading import State
from gitsession.record_ids import RecordIds
from gitsession.repo.codec import object_id
from gitsession.transcripts.base import Growth, Record
from gitsession.transcripts.stored import encode_record
from gitsession.transcripts.versions import key_of, version_id
from gitsession.tree import Delta


class Place(NamedTuple):
    """Where a record of the file stands: the commit it has or gets, and the number of its delta if it is stored."""

    commit_id: str
    delta: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import does with the records of a file, in their order.

    Attributes:
        base: What the new ones follow.
        places: Where each stands.
    """

    base: Base
    places: tuple[Place, ...]


@dataclass(slots=True)
class _Stored:
    """The versions of one record that a branch holds: the numbers of their deltas, by their blobs."""

    versions: dict[str, int] = field(default_factory=dict)
    commit_id: str = ""
    last: str = ""
    count: int = 0


def plan(branches: Branches, name: str, growth: Growth, records: Sequence[Record]) -> Plan | None:
    """Returns how a file goes on with a branch of its session; None if it goes on with none.

    Args:
        branches: The branches of the session.
        name: The name of the format.
        growth: How the transcript grows.
        records: All its records.
    """
    ids = RecordIds()
    keyed = {ids.take(number, record): record for number, record in enumerate(records)}
    best: Plan | None = None
    for state, deltas in branches.held():
        stored = _stored(deltas)
        found = None if stored is None else _plan(state, stored, name, growth, keyed)
        if found is not None and (best is None or _known(found) > _known(best)):
            best = found
    return best


def _known(one: Plan) -> int:
    return sum(place.delta is not None for place in one.places)


def _stored(deltas: Sequence[Delta]) -> dict[str, _Stored] | None:
    """Returns the records that the deltas of a branch hold, by their ids."""
    found: dict[str, _Stored] = {}
    for delta in deltas:
        try:
            commit_id = decode_commit_id(delta.encoded_id)
        except Corrupt:
            return None
        one = found.setdefault(key_of(commit_id, found), _Stored())
        one.versions[delta.blob] = delta.number
        one.commit_id, one.last = commit_id, delta.blob
        one.count += 1
    return found


def _plan(state: State, stored: dict[str, _Stored], name: str, growth: Growth, keyed: dict[str, Record]) -> Plan | None:
    places = []
    older = True
    for key, record in keyed.items():
        one = stored.get(key)
        blobs = [] if one is None else [_blob(name, version_id(key, number + 1), record) for number in range(one.count)]
        if one is not None and blobs[-1] == one.last:
            places.append(Place(one.commit_id, one.versions[one.last]))
        else:
            places.append(Place(version_id(key, 1 if one is None else one.count + 1), None))
            older = older and one is not None and not one.versions.keys().isdisjoint(blobs)
    base = Base(state.session_id, state, state.oid)
    if older:
        # Every record is there as it is, or was: the branch holds this state, and perhaps later ones.
        return Plan(base, tuple(Place(place.commit_id, place.delta or 0) for place in places))
    held = list(stored)
    goes_on = {*held} <= keyed.keys() if growth == "directory" else list(keyed)[: len(held)] == held
    # The first record names the transcript; a file that has nothing else in common is another one of the same name.
    akin = len(held) < 2 or any(place.delta is not None for place in places[1:])
    return Plan(base, tuple(places)) if goes_on and akin else None


def _blob(name: str, commit_id: str, record: Record) -> str:
    return object_id("blob", encode_record(name, commit_id, record) + b"\n")
