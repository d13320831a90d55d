"""The transcript that a session was imported from, put together from its records as they are stored."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice

from gitsession.conversation import split_lines
from gitsession.errors import NotImported
from gitsession.few import Few
from gitsession.reading import Reader, State
from gitsession.transcripts import FORMATS
from gitsession.transcripts.base import Record
from gitsession.transcripts.stored import PREFIX as RECORD_PREFIX
from gitsession.transcripts.stored import decode_record
from gitsession.tree import DIRECTORY_SIZE, Delta, deltas_of


def original(reader: Reader, session_id: str, state: State) -> Iterator[bytes]:
    """Yields the bytes of the transcript that a session was imported from, as they are read.

    Args:
        reader: The store.
        session_id: How the session was asked for.
        state: The session.

    Raises:
        NotImported: The session is none, or holds more than its transcript.
    """
    # What is no record was added at the end, as a rule; then it is told before anything is yielded.
    for delta in reader.last_deltas(state, 1):
        _decode(session_id, delta.commit_id, delta.content)
    log = _StoredLog(reader, session_id, state)
    name, first = log.read(0)[0] if state.tree.count else ("", Record(b""))
    if name not in FORMATS:
        fault = f"its format {name!r} is not known here" if name else "it was not imported"
        raise NotImported(session_id, fault)
    log.is_read_again = FORMATS[name].growth(first) != "log"
    return FORMATS[name].write(log)


class _StoredLog:
    """The records of a session, read from its store when they are asked for.

    Attributes:
        is_read_again: Whether they will be gone through more than once.
    """

    is_read_again = False

    def __init__(self, reader: Reader, session_id: str, state: State) -> None:
        self._reader = reader
        self._session_id = session_id
        self._state = state
        self._deltas = array("I")  # by the places of records, as far as they were gone through: the numbers of deltas
        self._few: list[Record] | None = None
        self._directory: tuple[int, list[Delta]] = (-1, [])  # that was read last, and the number of its first delta

    def __iter__(self) -> Iterator[Record]:
        if self._few is not None:
            yield from self._few
            return
        few = Few()
        place = 0
        for number, delta in enumerate(self._reader.deltas(self._state)):
            for _, record in _decode(self._session_id, delta.commit_id, delta.content):
                if place == len(self._deltas):
                    self._deltas.append(number)
                place += 1
                if self.is_read_again:
                    few.add(record)
                yield record
        self._few = few.all if self.is_read_again else None

    def __getitem__(self, place: int, /) -> Record:
        if self._few is not None:
            return self._few[place]
        if place >= len(self._deltas):
            return next(islice(self, place, None))
        number = self._deltas[place]
        return self.read(number)[place - bisect_left(self._deltas, number)][1]

    def read(self, number: int) -> list[tuple[str, Record]]:
        """Returns the records of a delta, each with the name of its format."""
        objects = self._reader.objects
        first = number - number % DIRECTORY_SIZE
        if self._directory[0] != first:
            self._directory = first, [*islice(deltas_of(objects, self._state.tree, first), DIRECTORY_SIZE)]
        delta = self._directory[1][number - first]
        return _decode(self._session_id, delta.encoded_id, objects.read(delta.blob, "blob"))


def _decode(session_id: str, commit_id: str, content: bytes) -> list[tuple[str, Record]]:
    """Returns the records of a delta of an imported session, each with the name of its format."""
    lines = split_lines(content, commit_id)
    if not all(line.startswith(RECORD_PREFIX) for line in lines):
        raise NotImported(session_id, "it holds entries that no transcript had")
    return [decode_record(line) for line in lines]
