"""Reading packs: their entries are unpacked here, within limits that are looked at first.

An object is an entry of its own, or a delta over another one. How large everything is that a delta needs stands before
each content, so a small object over a huge base is refused before that takes any memory. The formats are git's
(gitformat-pack): pack version 2.
"""

import mmap
import os
import zlib
from contextlib import suppress
from pathlib import Path

from gitsession.errors import Corrupt
from gitsession.repo.codec import MAX_OBJECT_BYTES, object_id, too_large
from gitsession.repo.files import open_plain
from gitsession.repo.pack_index import IndexFiles, PackIndex

# The numbers that git gives the kinds of objects, and the two kinds of deltas.
_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_OFS_DELTA = 6
_REF_DELTA = 7

# Git takes no base of more than this many times the size.
_BASE_TIMES = 32

# No git makes longer chains of deltas.
_MAX_DEPTH = 4096

# What is kept of unpacked objects, since the next is likely to be a delta over one: so much, none of them larger.
_KEPT_BYTES = 8 * 1024 * 1024
_LARGEST_KEPT = 256 * 1024

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
            files = IndexFiles()
            found = (PackIndex.find_sound(name, files) for name in names)
            self._packs = [_Pack(index, self._kept) for index in found if index is not None]

    def find(self, oid: str, limit: int) -> tuple[str, bytes] | None:
        """Returns the kind and the content of an object, checked against its id; None if no pack holds it.

        Raises:
            Corrupt: It is damaged in each pack that holds it, or larger than the limit.
            OSError: As the system says.
        """
        digest = bytes.fromhex(oid)
        damage: Corrupt | None = None
        for number, pack in enumerate(self._packs):
            place = pack.index.find(digest)
            if place is None or not (pack.content or self._opened(pack)):
                continue
            try:
                kind, content = pack.read(pack.index.offset(place), oid, limit)
            except Corrupt as error:
                damage = error
            except (zlib.error, IndexError, ValueError) as error:
                damage = Corrupt(f"the object {oid} is damaged in its pack: {error}", oid=oid)
            else:
                if object_id(kind, content) == oid:
                    pack.sound[place >> 3] |= 1 << (place & 7)
                    self._tell_read()
                    if number:  # the next object is likely to be in the same pack
                        self._packs.insert(0, self._packs.pop(number))
                    return kind, content
                damage = Corrupt(f"the object {oid} is damaged in its pack", oid=oid)
        if damage is not None:
            raise damage
        return None

    def sound(self, index: str) -> bytes:
        """Returns for each place of an index 1 if its object was read, and had its id; b"" for an unknown one."""
        pack = next((pack for pack in self._packs if pack.index.path == index), None)
        return b"" if pack is None else bytes(pack.sound[one >> 3] >> (one & 7) & 1 for one in range(pack.index.count))

    def beginning(self, prefix: str) -> set[str]:
        """Returns the ids in the indexes that begin like this."""
        return {oid for pack in self._packs for oid in pack.index.beginning(prefix)}

    def holds(self, oid: str) -> bool:
        """Tells whether an index names an object."""
        digest = bytes.fromhex(oid)
        return any(pack.index.find(digest) is not None for pack in self._packs)

    def let_go(self) -> None:
        """Gives back what is mapped of the packs: it stays where the system keeps files."""
        if hasattr(mmap, "MADV_DONTNEED"):
            for pack in self._open:
                if isinstance(pack.content, mmap.mmap):
                    pack.content.madvise(mmap.MADV_DONTNEED)

    def _tell_read(self) -> None:
        self._reads += 1
        if self._reads % _HELD_READS == 0:
            self.let_go()

    def _opened(self, pack: "_Pack") -> bool:
        """Opens a pack, and closes the one that was opened first; False if it is empty or gone, replaced by another."""
        try:
            pack.content = _mapped(pack.index.path.removesuffix("idx") + "pack")
        except FileNotFoundError:
            return False
        if pack.content:
            self._open.append(pack)
        if len(self._open) > _MOST_OPEN:
            self._open.pop(0).content = b""
        return bool(pack.content)


class _Pack:
    """One pack.

    Attributes:
        index: Its index.
        content: The pack; empty while it is not open.
        sound: A bit for each place of the index: whether its object was read, and had its id.
    """

    def __init__(self, index: PackIndex, kept: "_Kept") -> None:
        """Takes an index, and where unpacked objects are kept."""
        self.index = index
        self.content: bytes | mmap.mmap = b""
        self._kept = kept
        self.sound = bytearray(index.count + 7 >> 3)

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
        while (found := self._kept.find(self.index.path, offset)) is None:
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
            self._kept.keep(self.index.path, offset, kind_name, content)
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
            place = self.index.find(content[start : start + 20])
            if place is None:
                raise ValueError("it lacks the base of a delta")
            return self.index.offset(place), start + 20
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
