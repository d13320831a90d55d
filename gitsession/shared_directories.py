"""Walks the deltas of many sessions; a directory that several have, as branches of one history do, is walked once.

Only full directories can be shared, for the last one grows. So a further branch costs a few directories of each level,
however long the history is that it shares.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from gitsession.errors import Corrupt
from gitsession.repo.objects import Objects
from gitsession.tree import (
    DIRECTORY_SIZE,
    TOP_SIZE,
    Delta,
    SessionTree,
    directory_deltas,
    middle_directories,
    root_directories,
)

# A directory's tag, the number of its first delta, and its tree: what all that it says follows from.
_Key = tuple[str, int, str]


@dataclass(slots=True)
class Directory:
    """The deltas of one directory, at most 100; `settled` is set by who has no need to see them again."""

    deltas: list[Delta]
    settled: bool = False


class SharedDirectories:
    """Remembers which directories of a repository were walked and settled."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._settled: set[_Key] = set()

    def walk(self, tree: SessionTree) -> Iterator[Directory]:
        """Yields the directories of a tree but those that were settled; after one that is not, the next in any case.

        Raises:
            Corrupt: A directory is damaged, or a number is missing.
        """
        expected, settled = 0, True
        for top, middle_oid in root_directories(tree):
            start = top * TOP_SIZE
            key = (tree.tag, start, middle_oid)
            if settled and key in self._settled and expected == start:
                expected += TOP_SIZE
                continue
            all_settled = 0
            for middle, oid in middle_directories(self._objects, middle_oid, tree.tag):
                first = start + middle * DIRECTORY_SIZE
                own_key = (tree.tag, first, oid)
                if settled and own_key in self._settled and expected == first:
                    expected += DIRECTORY_SIZE
                else:
                    directory = Directory(directory_deltas(self._objects, oid, tree.tag))
                    for delta in directory.deltas:
                        if delta.number != expected:
                            raise Corrupt(f"delta {expected} is missing in the tree {oid}", oid=oid)
                        expected += 1
                    yield directory
                    settled = directory.settled
                    if settled and len(directory.deltas) == DIRECTORY_SIZE:
                        self._settled.add(own_key)
                all_settled += own_key in self._settled
            if all_settled == DIRECTORY_SIZE:
                self._settled.add(key)
        if expected != tree.count:
            raise Corrupt(f"delta {expected} is missing in the tree {tree.oid}", oid=tree.oid)
