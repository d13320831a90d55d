"""The sessions that were derived from one: the lines that were left in it, and what goes on beside it.

Both have names that begin with the session's. A line is a name for a commit of the session, or of what goes on beside
it: another branch begins with all that it holds. Where somebody went on with one, it is still named by the last record
that both have in common. What a file goes on with that was rewritten is named by its first own record. The record of a
file in a folder, whose id is its path, gives the name of the file; earlier releases took all of the path.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import count, islice

from gitsession.errors import SessionError
from gitsession.layout import decode_commit_id, derived_id
from gitsession.reading import Reader, State
from gitsession.tree import common_count, deltas_of

# With how many others a branch is compared to find one that begins with it.
_MOST_COMPARED = 8

# How many names of one record are tried: several branches may be named by it.
_MOST_NAMES = 9


# The id of a file of a folder, with a number behind it, or that of a version.
_FILE = re.compile(r"(?s)([^:]+):(?:[^:]+:)*([^:]+)\.json((?:\.v?[1-9][0-9]*)?)")


def derived_from(reader: Reader, session_id: str, listed: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yields the sessions that were derived from one, by name, and whether each is a line that was left.

    Those that cannot be read are left out.

    Args:
        reader: The store.
        session_id: The session.
        listed: The names of all branches, as refs.
    """
    states = []
    for name, value in reader.derived(session_id, listed):
        with suppress(SessionError):
            if isinstance(value, str) and (state := reader.state(name, value)).meta.id == session_id:
                states.append(state)
    tip = reader.find_tip(session_id)
    others = [reader.state(session_id, tip)] if tip is not None and states else []
    lines = set()
    # The longest first, since a shorter one may be the beginning of it.
    for state in sorted(states, key=lambda one: -one.tree.count):
        if _is_line(reader, session_id, state, others[:_MOST_COMPARED]):
            lines.add(state.session_id)
        else:
            others.append(state)
    yield from ((state.session_id, state.session_id in lines) for state in states)


def _is_line(reader: Reader, session_id: str, state: State, others: Iterable[State]) -> bool:
    common = max((common_count(reader.objects, other.tree, state.tree) for other in others), default=0)
    if common in (0, state.tree.count):
        return common > 0
    last = decode_commit_id(next(deltas_of(reader.objects, state.tree, common - 1)).encoded_id)
    known = (names(session_id, last), former_names(session_id, last))
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
