"""Where the conversations of a session's log go on from another commit than the one before, since the user went back.

The log is gone through once, however many lines were left in it. What is kept of it meanwhile is an outline of each
record, some 100 bytes.
"""

from collections.abc import Iterable

from gitsession.columns import Scratch
from gitsession.reading import Reader, State
from gitsession.summary import named_delta
from gitsession.transcripts import FORMATS
from gitsession.transcripts.base import Return
from gitsession.transcripts.outlines import Outlines
from gitsession.transcripts.stored import decode_record, is_record


def followed(reader: Reader, state: State, end: int) -> dict[int, str | None]:
    """Returns which commits the deltas go on from that do not follow the one before: oids, None for none.

    Args:
        reader: The store.
        state: The session.
        end: Up to which delta they are wanted.

    Raises:
        Corrupt: Stored data is corrupt.
    """
    found = {one.place: one.at for one in _returns(reader, state) if one.place <= end}
    oids = _commits(reader, state, {at for at in found.values() if at is not None})
    return {place: None if at is None else oids[at] for place, at in found.items()}


def _returns(reader: Reader, state: State) -> Iterable[Return]:
    """Returns where the transcript goes on from another record that a log begins with; what was appended follows it."""
    log = Outlines(Scratch())
    own = ""
    for content in reader.contents(state):
        name, record = decode_record(content[:-1]) if is_record(content) else ("", None)
        own = own or name
        if record is None or name != own or name not in FORMATS:
            break
        outline = FORMATS[name].outline(record)
        log.append(outline._replace(id=record.id), size=len(content))
    return FORMATS[own].returns(log, Scratch()) if own in FORMATS else ()


def _commits(reader: Reader, state: State, numbers: set[int]) -> dict[int, str | None]:
    """Returns the commits that added deltas; None where the history is cut off, as in a shallow clone."""
    found: dict[int, str | None] = {}
    oid: str | None = state.oid
    count = state.tree.count
    for number in sorted(numbers, reverse=True):
        while oid is not None and count > number + 1:
            oid = reader.commits.back(oid, count - number - 1)
            count = 0 if oid is None else reader.glance("", oid).deltas
        while oid is not None and not _adds(reader, oid, number):
            oid = reader.commits.back(oid, 1)
        found[number] = oid
    return found


def _adds(reader: Reader, oid: str, number: int) -> bool:
    """Tells whether a commit whose last delta has a number added it; one that changes the header alone has it too."""
    added = named_delta(reader.commits.read(oid).message)
    if added is not None and added[0] == number:
        return True
    before = reader.commits.back(oid, 1)
    return before is None or reader.glance("", before).deltas <= number
