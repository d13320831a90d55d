"""The objects of an import, of one record or of thousands: few become loose objects, many become a pack."""

from collections.abc import Iterable

from gitsession.repo.codec import GitObject
from gitsession.repo.objects import LooseBatch, Objects
from gitsession.repo.pack import PackWriter

# As `transfer.unpackLimit` of git: fewer objects than this are not worth a pack of their own.
_LOOSE_OBJECTS = 100
_LOOSE_BYTES = 4 * 1024 * 1024


class GrowingBatch:
    """Objects that are collected, and stored together."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._items: list[tuple[GitObject, GitObject | None]] = []
        self._item_bytes = 0
        self._pack: PackWriter | None = None
        self._stored: LooseBatch | PackWriter | None = None

    def close(self) -> None:
        """Drops what was not stored, and the means to store it again."""
        if self._pack is not None:
            self._pack.close()

    def __len__(self) -> int:
        return len(self._items) if self._pack is None else len(self._pack)

    @property
    def is_pack(self) -> bool:
        """Whether the objects become a pack."""
        return self._pack is not None

    @property
    def size(self) -> int:
        """How many bytes it holds, packed where they are in a pack."""
        return self._item_bytes if self._pack is None else self._pack.size

    def add(self, items: Iterable[tuple[GitObject, GitObject | None]]) -> None:
        """Adds objects, each with an earlier one that is alike, where there is one.

        Raises:
            Unavailable: The disk refuses.
        """
        if self._pack is None:
            added = list(items)
            self._items += added
            self._item_bytes += sum(len(made.content) for made, _ in added)
            if len(self._items) <= _LOOSE_OBJECTS and self._item_bytes <= _LOOSE_BYTES:
                return
            self.into_pack()
            return
        for made, base in items:
            self._pack.add(made, base)

    def into_pack(self) -> None:
        """Makes it a pack, however few the objects are.

        Raises:
            Unavailable: The disk refuses.
        """
        if self._pack is None:
            self._pack = PackWriter(self._objects)
            items, self._items = self._items, []
            for made, base in items:
                self._pack.add(made, base)

    def store(self) -> None:
        """Stores the objects, durably.

        Raises:
            Unavailable: The disk refuses.
        """
        self._stored = self._pack or LooseBatch(self._objects, [made for made, _ in self._items])
        self._stored.store()

    def restore(self) -> bool:
        """Stores again what a collection took before a ref reached it; tells whether it took anything."""
        return self._stored is not None and self._stored.restore()
