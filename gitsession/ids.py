"""The index of a session's commit ids, kept in memory between commits, so that none is looked for by a scan."""

from gitsession.repo.cache import Cache
from gitsession.repo.objects import Objects
from gitsession.tree import DIRECTORY_SIZE, TOP_SIZE, SessionTree, bottom_directories, ids_of, top_directories


class IdIndex:
    """Maps the encoded commit ids of one session to the numbers of their deltas.

    It follows the session's tree: only directories that differ from those it has seen are read again, and it is never
    believed for a tree that it has not followed. The ids of a full directory of the root tree are kept on disk.
    """

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._tree_oid = ""
        self._bottoms: list[str] = []
        self._ids: list[str] = []
        self._numbers: dict[str, int] = {}

    def find(self, encoded_id: str) -> int | None:
        """Returns the number of the delta with this commit id; None if the session does not hold it."""
        return self._numbers.get(encoded_id)

    def parent_of(self, number: int) -> str | None:
        """Returns the encoded commit id of the delta before this one; None for the first."""
        return self._ids[number - 1] if number else None

    def follow(self, objects: Objects, tree: SessionTree) -> None:
        """Brings the index to a tree of the session.

        Raises:
            Corrupt: The tree is damaged.
        """
        if tree.oid == self._tree_oid:
            return
        bottoms = [oid for _, oid in bottom_directories(objects, tree)]
        same = 0
        for old, new in zip(self._bottoms, bottoms, strict=False):
            if old != new:
                break
            same += 1
        self._tree_oid = ""  # until it is done, so that an error leaves no half index that is believed
        for encoded_id in self._ids[same * 100 :]:
            self._numbers.pop(encoded_id, None)
        del self._ids[same * 100 :]
        for top in top_directories(tree)[same // DIRECTORY_SIZE :]:
            self._read(objects, tree, top)
        self._bottoms = bottoms
        self._tree_oid = tree.oid

    def _read(self, objects: Objects, tree: SessionTree, top: str) -> None:
        """Reads the ids of the directory of the root tree that the index has come to, from where it stands."""
        start = len(self._ids)
        full = start % TOP_SIZE == 0 and tree.count >= start + TOP_SIZE
        kept = self._cache.find(top) if full else None
        fresh = [] if kept is None else kept.decode("ascii", "replace").split("\n")
        if len(fresh) != TOP_SIZE:
            fresh = ids_of(objects, tree, start, min(start - start % TOP_SIZE + TOP_SIZE, tree.count))
            if full:
                self._keep(top, fresh)
        self._ids += fresh
        wanted = len(self._numbers) + len(fresh)
        self._numbers.update(zip(fresh, range(start, len(self._ids)), strict=True))
        if len(self._numbers) != wanted:  # of an id that a damaged session holds twice, the first counts
            self._numbers = {self._ids[number]: number for number in reversed(range(len(self._ids)))}

    def grow(self, old: SessionTree | None, new: SessionTree) -> None:
        """Takes over the delta that `new` has more than `old`, the tree that the index is at; None for no tree yet."""
        if self._tree_oid != (old.oid if old else "") or new.last_id is None:
            return
        number = new.count - 1
        self._numbers[new.last_id] = number
        self._ids.append(new.last_id)
        del self._bottoms[number // 100 :]
        self._bottoms.append(new.bottom_oid)
        self._tree_oid = new.oid
        if new.count % TOP_SIZE == 0:
            self._keep(top_directories(new)[-1], self._ids[-TOP_SIZE:])

    def _keep(self, top: str, ids: list[str]) -> None:
        """Keeps the ids of a full directory of the root tree for other processes."""
        self._cache.put(top, "\n".join(ids).encode("ascii"))
