"""The sessions that were derived from one: the lines that were left in it, and what goes on beside it.

Both have names that begin with the session's. A line is a name for a commit of the session, or of what goes on beside
it: another branch begins with all that it holds. Where somebody went on with one, it is still named by the last record
that both have in common. What a file goes on with that was rewritten is named by its first own record. The record of a
file in a folder, whose id is its path, gives the name of the file; earlier releases took all of the path.

A line was left in the session that has all of it, or most of it. Where several have, it was left before they parted: in
the session itself, or in that of them which parted from it first. But a record left it: not in one that ends with it,
or where what was appended follows it, and so goes on with it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import count, islice
from typing import NamedTuple

from gitsession.errors import SessionError
from gitsession.layout import branch_of, decode_commit_id, derived_id, derived_prefixes
from gitsession.reading import Reader, State
from gitsession.transcripts.stored import is_record
from gitsession.tree import common_count, deltas_of

# With how many others a branch is compared to find one that begins with it.
_MOST_COMPARED = 8

# How many names of one record are tried: several branches may be named by it.
_MOST_NAMES = 9


# The id of a file of a folder, with a number behind it, or that of a version.
_FILE = re.compile(r"(?s)([^:]+):(?:[^:]+:)*([^:]+)\.json((?:\.v?[1-9][0-9]*)?)")


class _Branch(NamedTuple):
    """A branch that is no line: the session's own, or what goes on beside it.

    Attributes:
        state: Where it is.
        start: The number of its first own delta.
    """

    state: State
    start: int


def derived_from(reader: Reader, session_id: str, listed: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Yields the sessions that were derived from one, by name, and where each was left if it is a line.

    What goes on beside a session has the lines alone that were left in it; the session has all of them, and it. Those
    that cannot be read are left out.

    Args:
        reader: The store.
        session_id: The session.
        listed: The names of all branches, as refs.

    Yields:
        The name, and the session in which the line was left; None for what goes on beside.
    """
    root = _root(reader, session_id)
    for state, left_in in _family(reader, root, listed):
        if session_id in (root, left_in):
            yield state.session_id, left_in


def _root(reader: Reader, session_id: str) -> str:
    """Returns the session that one was derived from, by its name and by its header; itself where it was not."""
    tip = reader.find_tip(session_id)
    claimed = session_id if tip is None else reader.present(session_id, tip).meta.id
    return claimed if branch_of(session_id).startswith(derived_prefixes(claimed)) else session_id


def _family(reader: Reader, root: str, listed: Sequence[str]) -> Iterator[tuple[State, str | None]]:
    """Yields all that was derived from a session, and where each was left if it is a line."""
    states = []
    for name, value in reader.derived(root, listed):
        with suppress(SessionError):
            if isinstance(value, str) and (state := reader.state(name, value)).meta.id == root:
                states.append(state)
    tip = reader.find_tip(root)
    others = [reader.state(root, tip)] if tip is not None and states else []
    lines = set()
    # The longest first, since a shorter one may be the beginning of it.
    for state in sorted(states, key=lambda one: -one.tree.count):
        if _is_line(reader, root, state, others[:_MOST_COMPARED]):
            lines.add(state.session_id)
        else:
            others.append(state)
    known = others[:_MOST_COMPARED]
    branches = [_Branch(one, -1 if one.session_id == root else _start(reader, root, one, known)) for one in known]
    for state in states:
        yield state, _left_in(reader, state, branches) if state.session_id in lines else None


def _left_in(reader: Reader, line: State, branches: Iterable[_Branch]) -> str:
    """Returns the session in which a line was left: of those that have most of it the one that had it first."""
    counts = [(common_count(reader.objects, one.state.tree, line.tree), one) for one in branches]
    most = max(count for count, _ in counts)
    found = [one for count, one in counts if count == most]
    if len(found) > 1:
        found = [one for one in found if goes_on_with_record(reader, one.state, most)] or found
    return min((one.start, one.state.session_id) for one in found)[1]


def goes_on_with_record(reader: Reader, state: State, number: int) -> bool:
    """Tells whether a record of a transcript is delta `number` of a state, and nothing that was appended."""
    delta = next(deltas_of(reader.objects, state.tree, number), None)
    return delta is not None and is_record(reader.objects.read(delta.blob, "blob"))


def _start(reader: Reader, root: str, state: State, others: Iterable[State]) -> int:
    """Returns the first delta of its own that a branch has which goes on beside its session: the one that names it."""
    counts = {common_count(reader.objects, one.tree, state.tree) for one in others if one is not state}
    return next((count for count in sorted(counts) if _is_named(reader, root, state, count)), max(counts, default=0))


def _is_line(reader: Reader, root: str, state: State, others: Iterable[State]) -> bool:
    common = max((common_count(reader.objects, other.tree, state.tree) for other in others), default=0)
    if common in (0, state.tree.count):
        return common > 0
    return _is_named(reader, root, state, common - 1)


def _is_named(reader: Reader, root: str, state: State, number: int) -> bool:
    """Tells whether a branch has its name from one of its deltas."""
    if number >= state.tree.count:
        return False
    record_id = decode_commit_id(next(deltas_of(reader.objects, state.tree, number)).encoded_id)
    known = (names(root, record_id), former_names(root, record_id))
    return any(state.session_id in islice(one, _MOST_NAMES) for one in known)


def names(session_id: str, record_id: str) -> Iterator[str]:
    """Yields the ids that a branch derived at a record may have, the best first, as many as are asked for."""
    file = _FILE.fullmatch(record_id)
    if file is None:
        return _numbered(session_id, record_id)
    # Its own file, and those beside it, are named by the session.
    name = file[1] if file[2] == session_id else file[2]
    return _numbered(session_id, name + file[3])


def former_names(session_id: str, record_id: str) -> Iterator[str]:
    """Yields the ids that earlier releases gave a branch derived at a record; those of `names`, but for folders."""
    return _numbered(session_id, record_id)


def _numbered(session_id: str, name: str) -> Iterator[str]:
    yield derived_id(session_id, name)
    for number in count(2):
        yield derived_id(session_id, f"{name}.{number}")
