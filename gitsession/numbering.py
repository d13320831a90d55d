"""Numbers for texts: what a dict of strings would tell, in memory that does not grow with them."""

from array import array
from hashlib import blake2b

from gitsession.columns import Scratch

_DIGEST_BYTES = 16
_ITEM_BYTES = _DIGEST_BYTES + 4

# So many are in a dict, the last ones that came; the others lie in scratch space, in so many buckets.
_RECENT = 1 << 15
_BUCKET_BITS = 13


class Numbering:
    """Gives each text a number, in the order in which they come, from 0.

    Where there is scratch space for it, a text is known by its digest of 128 bits, which no two texts are expected to
    have in common: so little is held of one, however long it is.
    """

    def __init__(self, scratch: Scratch | None = None) -> None:
        """Begins without a text.

        Args:
            scratch: Where they lie if they are many, in some 40 bytes each; None for memory.
        """
        self._scratch = scratch
        self._count = 0
        self._recent: dict[bytes, int] = {}
        self._older: _Buckets | None = None

    def __len__(self) -> int:
        return self._count

    def __contains__(self, text: str) -> bool:
        return self.find(text) is not None

    def find(self, text: str) -> int | None:
        """Returns the number of a text; None if it was never added.

        Raises:
            Unavailable: The scratch space cannot be read.
        """
        return self._find(self._key(text))

    def add(self, text: str) -> int:
        """Returns the number of a text, a new one if it has none yet.

        Raises:
            Unavailable: The scratch space is full, or cannot be read.
        """
        key = self._key(text)
        number = self._find(key)
        if number is None:
            number = self._recent[key] = self._count
            self._count += 1
            if self._scratch is not None and len(self._recent) == _RECENT:
                if self._older is None:
                    self._older = _Buckets(self._scratch)
                self._older.add(self._recent)
                self._recent = {}
        return number

    def _key(self, text: str) -> bytes:
        encoded = text.encode("utf-8", "surrogatepass")
        return encoded if self._scratch is None else blake2b(encoded, digest_size=_DIGEST_BYTES).digest()

    def _find(self, key: bytes) -> int | None:
        number = self._recent.get(key)
        return number if number is not None or self._older is None else self._older.find(key)


class _Buckets:
    """Digests and their numbers in scratch space: each in one of several buckets, by how it begins."""

    def __init__(self, scratch: Scratch) -> None:
        self._scratch = scratch
        self._places = array("Q", [0]) * (1 << _BUCKET_BITS)
        self._counts = array("I", [0]) * (1 << _BUCKET_BITS)

    def find(self, digest: bytes) -> int | None:
        bucket = _bucket(digest)
        content = self._scratch.read(self._places[bucket], self._counts[bucket] * _ITEM_BYTES)
        place = content.find(digest)
        while place > 0 and place % _ITEM_BYTES:  # the same bytes by chance, across two items
            place = content.find(digest, place + 1)
        start = place + _DIGEST_BYTES
        return None if place < 0 else int.from_bytes(content[start : start + 4], "little")

    def add(self, numbers: dict[bytes, int]) -> None:
        """Adds digests that are not there yet."""
        items: dict[int, bytearray] = {}
        for digest, number in numbers.items():
            items.setdefault(_bucket(digest), bytearray()).extend(digest + number.to_bytes(4, "little"))
        for bucket, content in items.items():
            self._append(bucket, bytes(content))

    def _append(self, bucket: int, content: bytes) -> None:
        held = self._counts[bucket]
        count = held + len(content) // _ITEM_BYTES
        place = self._places[bucket]
        if count > _room(held):
            content = self._scratch.read(place, held * _ITEM_BYTES) + content
            place = self._places[bucket] = self._scratch.reserve(_room(count) * _ITEM_BYTES)
            held = 0
        self._scratch.write(place + held * _ITEM_BYTES, content)
        self._counts[bucket] = count


def _room(count: int) -> int:
    """Returns how many items a bucket of so many has room for: a power of two, so that it moves seldom."""
    return 1 << (count - 1).bit_length() if count else 0


def _bucket(digest: bytes) -> int:
    return int.from_bytes(digest[:4], "big") >> 32 - _BUCKET_BITS
