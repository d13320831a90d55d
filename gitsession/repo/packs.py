"""Reading packs: their indexes are searched and their entries unpacked here, within limits that are looked at first.

An object is an entry of its own, or a delta over another one. How large everything is that a delta needs stands before
each content, so a small object over a huge base is refused before that takes any memory. The formats are git's
(gitformat-pack): pack version 2, index version 2. A damaged index leads to no object, or to one with another id.
"""

import mmap
import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from gitsession.errors import Corrupt
from gitsession.repo.codec import MAX_OBJECT_BYTES, object_id, too_large
from gitsession.repo.files import open_plain, read_file

# The numbers that git gives the kinds of objects, and the two kinds of deltas.
_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_OFS_DELTA = 6
_REF_DELTA = 7

_INDEX_MAGIC = b"\xfftOc\0\0\0\x02"
_NAMES = 1032  # where the ids begin in an index
_FAN_OUT = struct.Struct(">256I")
_SUM_BYTES = 20

# Git takes no base of more than this many times the size.
_BASE_TIMES = 32

# No git makes longer chains of deltas.
_MAX_DEPTH = 4096

# What is kept of unpacked objects, since the next is likely to be a delta over one: so much, none of them larger.
_KEPT_BYTES = 8 * 1024 * 1024
_LARGEST_KEPT = 256 * 1024

# Larger indexes are mapped, which costs an open file each; smaller ones, of which there can be hundreds, are read.
_MAPPED_ABOVE = 1024 * 1024

# The packs that are kept open, the last ones that were used: hundreds are read under a limit of 256 open files.
_MOST_OPEN = 8

# A look into a pack maps 64 KB or more around it. What as many reads have mapped is given back, or a process would seem
# to hold the packs that it has read.
_HELD_READS = 512


class Packs:
    """The packs that a repository had when they were looked for. For one thread."""

    def __init__(self, directory: Path) -> None:
        """Looks for the packs; one without a sound index is as good as none.

        Raises:
            OSError: As the system says.
        """
        self._kept = _Kept()
        self._reads = 0
        self._open: list[_Pack] = []
        self._packs: list[_Pack] = []
        with suppress(FileNotFoundError):
            names = sorted(entry.path for entry in os.scandir(directory) if entry.name.endswith(".idx"))
            found = ((name, _index(name)) for name in names)
            self._packs = [_Pack(name, index, self._kept) for name, index in found if index is not None]

    def find(self, oid: str, limit: int) -> tuple[str, bytes] | None:
        """Returns the kind and the content of an object, checked against its id; None if no pack holds it.

        Raises:
            Corrupt: It is damaged in each pack that holds it, or larger than the limit.
            OSError: As the system says.
        """
        digest = bytes.fromhex(oid)
        damage: Corrupt | None = None
        for number, pack in enumerate(self._packs):
            place = pack.find(digest)
            if place is None or not (pack.content or self._opened(pack)):
                continue
            try:
                kind, content = pack.read(pack.offset(place), oid, limit)
            except Corrupt as error:
                damage = error
            except (zlib.error, IndexError, ValueError) as error:
                damage = Corrupt(f"the object {oid} is damaged in its pack: {error}", oid=oid)
            else:
                if object_id(kind, content) == oid:
                    pack.sound[place] = 1
                    self._tell_read()
                    if number:  # the next object is likely to be in the same pack
                        self._packs.insert(0, self._packs.pop(number))
                    return kind, content
                damage = Corrupt(f"the object {oid} is damaged in its pack", oid=oid)
        if damage is not None:
            raise damage
        return None

    def sound(self, index: str) -> bytes | bytearray:
        """Returns for each place of an index whether its object was read, and had its id; b"" for an unknown one."""
        return next((pack.sound for pack in self._packs if pack.path == index), b"")

    def beginning(self, prefix: str) -> set[str]:
        """Returns the ids in the indexes that begin like this."""
        return {oid for pack in self._packs for oid in pack.beginning(prefix)}

    def holds(self, oid: str) -> bool:
        """Tells whether an index names an object."""
        digest = bytes.fromhex(oid)
        return any(pack.find(digest) is not None for pack in self._packs)

    def _tell_read(self) -> None:
        """Counts an object that was read, and gives pages back after some: they stay where the system keeps files."""
        self._reads += 1
        if self._reads % _HELD_READS == 0 and hasattr(mmap, "MADV_DONTNEED"):
            for pack in self._open:
                if isinstance(pack.content, mmap.mmap):
                    pack.content.madvise(mmap.MADV_DONTNEED)

    def _opened(self, pack: "_Pack") -> bool:
        """Opens a pack, and closes the one that was opened first; False if it is empty or gone, replaced by another."""
        try:
            pack.content = _mapped(pack.path.removesuffix("idx") + "pack")
        except FileNotFoundError:
            return False
        if pack.content:
            self._open.append(pack)
        if len(self._open) > _MOST_OPEN:
            self._open.pop(0).content = b""
        return bool(pack.content)


class _Pack:
    """One pack: its index, which has the ids of its objects, sorted, and where they are; and its content.

    Attributes:
        path: The file of the index.
        content: The pack; empty while it is not open.
        sound: For each place of the index 1 if its object was read, and had its id.
    """

    def __init__(self, path: str, index: "bytes | mmap.mmap", kept: "_Kept") -> None:
        """Takes an index whose header is right, and where unpacked objects are kept."""
        self.path = path
        self.content: bytes | mmap.mmap = b""
        self._index = index
        self._kept = kept
        self._firsts: tuple[int, ...] = (0, *_FAN_OUT.unpack_from(index, 8))
        self._offsets = _NAMES + 24 * self._firsts[-1]
        self.sound = bytearray(self._firsts[-1])

    def find(self, digest: bytes) -> int | None:
        """Returns the place of an object in the index; None if it is not there."""
        place = self._place(digest)
        return place if self._index[_NAMES + 20 * place : _NAMES + 20 * place + 20] == digest else None

    def beginning(self, prefix: str) -> Iterator[str]:
        """Yields the ids that begin like this."""
        place = self._place(bytes.fromhex(prefix.ljust(40, "0")))
        while place < self._firsts[-1]:
            oid = self._index[_NAMES + 20 * place : _NAMES + 20 * place + 20].hex()
            if not oid.startswith(prefix):
                return
            yield oid
            place += 1

    def _place(self, digest: bytes) -> int:
        """Returns the place of the first id that is not below another one."""
        index = self._index
        low, high = self._firsts[digest[0]], self._firsts[digest[0] + 1]
        while low < high:
            middle = (low + high) >> 1
            start = _NAMES + 20 * middle
            if index[start : start + 20] < digest:
                low = middle + 1
            else:
                high = middle
        return low

    def offset(self, place: int) -> int:
        """Returns where the object at a place of the index begins in the pack."""
        start = self._offsets + 4 * place
        offset = int.from_bytes(self._index[start : start + 4], "big")
        if offset >> 31:  # its number among the 64-bit offsets, which follow the others
            start = self._offsets + 4 * self._firsts[-1] + 8 * (offset & 0x7FFFFFFF)
            offset = int.from_bytes(self._index[start : start + 8], "big")
        return offset

    def read(self, offset: int, oid: str, limit: int) -> tuple[str, bytes]:
        """Returns the kind and the content of the object that begins there.

        Raises:
            Corrupt: It, or what it needs, is larger than the limit allows.
            ValueError, IndexError, zlib.error: It is damaged.
        """
        # What is needed on the way may be larger than the object, but not by as much as one likes.
        most = min(_BASE_TIMES * limit, MAX_OBJECT_BYTES)
        deltas: list[tuple[int, bytes]] = []
        held = 0
        while (found := self._kept.find(self.path, offset)) is None:
            kind, size, start = self._header(offset)
            if kind in _KINDS:
                if size > (most if deltas else limit):
                    raise too_large(oid, size, most if deltas else limit)
                found = _KINDS[kind], self._unpacked(start, size)
                break
            base, start = self._base(kind, offset, start)
            held += size
            if held > most:
                raise too_large(oid, held, most)
            delta = self._unpacked(start, size)
            made = _delta_sizes(delta)[1]
            if made > (most if deltas else limit):
                raise too_large(oid, made, most if deltas else limit)
            deltas.append((offset, delta))
            if len(deltas) > _MAX_DEPTH:
                raise ValueError("its chain of deltas has no end")
            offset = base
        kind_name, content = found
        while deltas:
            self._kept.keep(self.path, offset, kind_name, content)
            offset, delta = deltas.pop()
            content = _patched(content, delta)
        if len(content) > limit:
            raise too_large(oid, len(content), limit)
        return kind_name, content

    def _header(self, offset: int) -> tuple[int, int, int]:
        """Returns the kind and the size that an entry announces, and where it goes on."""
        content = self.content
        byte = content[offset]
        kind, size, shift = byte >> 4 & 7, byte & 15, 4
        while byte & 0x80:
            offset += 1
            byte = content[offset]
            size |= (byte & 0x7F) << shift
            shift += 7
        return kind, size, offset + 1

    def _base(self, kind: int, offset: int, start: int) -> tuple[int, int]:
        """Returns where the base of a delta begins, and where the delta goes on."""
        content = self.content
        if kind == _REF_DELTA:
            place = self.find(content[start : start + 20])
            if place is None:
                raise ValueError("it lacks the base of a delta")
            return self.offset(place), start + 20
        if kind != _OFS_DELTA:
            raise ValueError(f"{kind} is no kind of object")
        byte = content[start]
        back = byte & 0x7F
        while byte & 0x80:
            start += 1
            byte = content[start]
            back = (back + 1) << 7 | byte & 0x7F
        if not 0 < back < offset:
            raise ValueError("the base of a delta is outside")
        return offset - back, start + 1

    def _unpacked(self, start: int, size: int) -> bytes:
        """Returns the content of an entry, which must be of this size."""
        # A stream is hardly ever longer than its content, and never by much.
        end = start + size + (size >> 3) + 64
        packed = self.content[start:end] if size < _LARGEST_KEPT else memoryview(self.content)[start:end]
        stream = zlib.decompressobj()
        found = stream.decompress(packed, size + 1)
        if len(found) != size or not stream.eof:
            raise ValueError("an entry is cut short, or of another size")
        return found


class _Kept:
    """Unpacked objects over which deltas lie, the last ones that were used."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int], tuple[str, bytes]] = {}
        self._bytes = 0

    def find(self, pack: str, offset: int) -> tuple[str, bytes] | None:
        """Returns the kind and the content of the object that begins there; None if it is not kept."""
        return self._found.get((pack, offset))

    def keep(self, pack: str, offset: int, kind: str, content: bytes) -> None:
        """Keeps an object, unless it is large; what was kept first goes first."""
        if len(content) > _LARGEST_KEPT:
            return
        old = self._found.pop((pack, offset), None)
        self._bytes += len(content) - (0 if old is None else len(old[1]))
        self._found[(pack, offset)] = (kind, content)
        while self._bytes > _KEPT_BYTES:
            self._bytes -= len(self._found.pop(next(iter(self._found)))[1])


def _patched(base: bytes, delta: bytes) -> bytes:
    """Returns what a delta makes of its base."""
    base_size, size, place = _delta_sizes(delta)
    if base_size != len(base):
        raise ValueError("a delta is over another base")
    source = memoryview(base) if base_size > _LARGEST_KEPT else base
    parts: list[bytes | memoryview] = []
    left, end = size, len(delta)
    while place < end and left >= 0:
        operation = delta[place]
        place += 1
        if operation & 0x80:
            begin = length = 0
            for bit in range(4):
                if operation >> bit & 1:
                    begin |= delta[place] << 8 * bit
                    place += 1
            for bit in range(3):
                if operation >> bit & 0x10:
                    length |= delta[place] << 8 * bit
                    place += 1
            length = length or 0x10000
            parts.append(source[begin : begin + length])
        else:
            length = operation
            parts.append(delta[place : place + length])
            place += length
        left -= length
    content = b"".join(parts) if left == 0 else b""
    if len(content) != size:
        raise ValueError("a delta makes something of another size")
    return content


def _index(path: str) -> "bytes | mmap.mmap | None":
    """Returns the index of a pack; None if its header is wrong, or it is gone."""
    try:
        content = read_file(path) if os.stat(path).st_size <= _MAPPED_ABOVE else _mapped(path)  # noqa: PTH116
    except FileNotFoundError:
        return None
    if len(content) < _NAMES + 2 * _SUM_BYTES or content[:8] != _INDEX_MAGIC:
        return None
    firsts = _FAN_OUT.unpack_from(content, 8)
    in_order = all(one <= other for one, other in pairwise(firsts))
    return content if in_order and len(content) >= _NAMES + 28 * firsts[-1] + 2 * _SUM_BYTES else None


def _mapped(path: str) -> "bytes | mmap.mmap":
    """Returns the content of a plain file, of which is read what is looked at."""
    file, size = open_plain(path, None)
    try:
        return mmap.mmap(file, 0, access=mmap.ACCESS_READ) if size else b""
    finally:
        os.close(file)


def _delta_sizes(delta: bytes) -> tuple[int, int, int]:
    """Returns the sizes of a delta's base and of what it makes, and where its operations begin."""
    place = 0
    sizes = []
    for _ in range(2):
        size = shift = 0
        more = True
        while more:
            byte = delta[place]
            size |= (byte & 0x7F) << shift
            shift += 7
            place += 1
            more = byte > 0x7F
        sizes.append(size)
    return sizes[0], sizes[1], place
