"""The present states of sessions, checked: the commit, the header, the trees; the messages must seem to be there.

What several branches share is looked at once; what is wrong in it is told for each session.
"""

from collections.abc import Iterator

from gitsession.errors import SessionError
from gitsession.finding import Finding
from gitsession.history import REPAIR
from gitsession.reading import Reader
from gitsession.shared_directories import Directory, SharedDirectories
from gitsession.tree import Delta, SessionTree, find_delta


class PresentStates:
    """Checks the present states of a store's sessions, one after the other."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._objects = reader.objects
        self._directories = SharedDirectories(reader.objects)
        # Where a commit id stands in the sessions of one tag, as hashes: one that is met by chance costs a look.
        self._numbers: dict[int, int] = {}
        self._other_numbers: dict[int, set[int]] = {}

    def check(self, session_id: str, oid: str) -> Iterator[Finding]:
        """Yields what is wrong with a session at its present commit."""
        told: set[int] = set()
        try:
            tree = self._reader.state(session_id, oid).tree
            for directory in self._directories.walk(tree):
                directory.settled = True
                for delta in directory.deltas:
                    yield from self._check(session_id, oid, tree, directory, delta, told)
        except SessionError as error:
            yield Finding(session_id, oid, getattr(error, "oid", None), str(error), REPAIR)

    def _check(
        self, session_id: str, oid: str, tree: SessionTree, directory: Directory, delta: Delta, told: set[int]
    ) -> Iterator[Finding]:
        """Checks one delta; `told` are the numbers of those of which it was said that another has their id."""
        for number in self._other_places(tree.tag, delta):
            # Of two places one at least is in a directory that is not settled, so that each session gets to see it.
            directory.settled = False
            if number >= tree.count:
                continue
            other = find_delta(self._objects, tree, number)
            later = max(delta, other)
            if other.encoded_id == delta.encoded_id and later.number not in told:
                told.add(later.number)
                problem = f"delta {later.number} has the commit id {delta.encoded_id!a:.120} of another"
                yield Finding(session_id, oid, later.blob, problem, REPAIR)
        if not self._objects.has(delta.blob):
            directory.settled = False
            yield Finding(session_id, oid, delta.blob, f"delta {delta.number} is missing", REPAIR)

    def _other_places(self, tag: str, delta: Delta) -> list[int]:
        """Returns the other numbers that a commit id had in a session of this tag, and notes this one."""
        key = hash((tag, delta.encoded_id))
        first = self._numbers.setdefault(key, delta.number)
        if first != delta.number:
            self._other_numbers.setdefault(key, {first}).add(delta.number)
        elif key not in self._other_numbers:
            return []
        return sorted(self._other_numbers[key] - {delta.number})
