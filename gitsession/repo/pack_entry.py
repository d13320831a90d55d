"""The entries of a pack, as bytes: an object in full, or what it adds to another one (gitformat-pack)."""

from functools import lru_cache

from gitsession.repo.codec import GitObject, deflate, deflate_stored

_KINDS = {"commit": 1, "tree": 2, "blob": 3}
_OFS_DELTA = 6

# Deltas and trees below this are not compressed: they are ids and names, which nothing makes much shorter.
_STORED_BELOW = 256

# The instructions of a delta: one copy takes two bytes of offset and two of length, one insertion up to 127 bytes.
_COPY_FIRST = b"\xb0"
_COPY = b"\xb3"
_MOST_COPIED = 0xFFFF
_MOST_INSERTED = 0x7F
_ID_LENGTH = 20


def encode_whole(made: GitObject) -> bytes:
    """Returns the entry of an object in full."""
    content = made.content
    packed = _stream(content) if made.kind == "tree" else deflate(content, 6)
    return _header(_KINDS[made.kind], len(content)) + packed


def encode_delta(delta: bytes, back: int) -> bytes:
    """Returns the entry of a delta against the entry that begins so many bytes before it."""
    return _header(_OFS_DELTA, len(delta)) + _offset(back) + _stream(delta)


def find_delta(base: bytes, content: bytes) -> bytes | None:
    """Returns the delta that copies the beginning and the end that two contents share, and holds what is between.

    None where that saves too little, or where they are larger than the trees of a session get.
    """
    if len(base) > _MOST_COPIED:
        return None
    common = _common_length(base, content)
    # Where the base is used up, as by items that were added at its end, nothing is left to share.
    left = min(len(base), len(content)) - common
    tail = _common_length(base[-left:][::-1], content[-left:][::-1]) if left else 0
    parts = [_size(len(base)), _size(len(content))]
    if common:
        parts += _COPY_FIRST, common.to_bytes(2, "little")
    for start in range(common, len(content) - tail, _MOST_INSERTED):
        piece = content[start : min(start + _MOST_INSERTED, len(content) - tail)]
        parts += bytes((len(piece),)), piece
    if tail:
        parts += _COPY, (len(base) - tail).to_bytes(2, "little"), tail.to_bytes(2, "little")
    delta = b"".join(parts)
    return delta if len(delta) < len(content) // 2 else None


def _common_length(a: bytes, b: bytes) -> int:
    """Returns how many bytes two contents have in common at their beginning; may leave out a few of a last id."""
    if b.startswith(a):
        return len(a)
    if len(a) > _ID_LENGTH and b.startswith(a[:-_ID_LENGTH]):
        return len(a) - _ID_LENGTH
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _stream(content: bytes) -> bytes:
    return deflate_stored(content) if len(content) < _STORED_BELOW else deflate(content, 6)


@lru_cache(4096)
def _header(kind: int, size: int) -> bytes:
    first, size = kind << 4 | size & 15, size >> 4
    encoded = bytearray()
    while size:
        encoded.append(first | 0x80)
        first, size = size & 0x7F, size >> 7
    encoded.append(first)
    return bytes(encoded)


def _offset(back: int) -> bytes:
    encoded = [back & 0x7F]
    while back := back >> 7:
        back -= 1
        encoded.append(back & 0x7F | 0x80)
    return bytes(reversed(encoded))


@lru_cache(4096)
def _size(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
