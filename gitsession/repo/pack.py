"""Writing packs: the way of an import, whose thousands of objects become one file.

Trees of a session grow at their end, so each is stored as what it has in common with the one before and the rest.
Git's own `repack` finds better deltas later; these keep an import small and fast. The formats are git's
(gitformat-pack): pack version 2, index version 2.
"""

import os
import socket
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha1
from pathlib import Path

from gitsession.repo.codec import GitObject, deflate, deflate_stored
from gitsession.repo.files import private, read_file, translated, unavailable
from gitsession.repo.gc import is_gone
from gitsession.repo.objects import Objects

_KINDS = {"commit": 1, "tree": 2, "blob": 3}
_OFS_DELTA = 6

# What the mark of a pack says first that is being imported.
_HOLDER = "gitsession"

# How long a chain of deltas may grow, as in git's own packs.
_MAX_DEPTH = 50
_READ_SIZE = 1 << 20

# Deltas below this are not compressed.
_STORED_BELOW = 256


class PackWriter:
    """A pack that is being written; as a batch, it is stored whole, and stored again if a collection took it."""

    def __init__(self, objects: Objects) -> None:
        """Opens a temporary file in the pack directory, where `git gc` removes one that a killed process left.

        Raises:
            Unavailable: The disk refuses.
        """
        self._disk = objects.disk
        self._directory = objects.path / "pack"
        self._temporary = self._directory / f"tmp_pack_{os.getpid()}_{id(self):x}"
        self._entries: dict[bytes, tuple[int, int]] = {}
        self._depths: dict[str, int] = {}
        self._name = ""
        self._size = 0
        self._index_content = b""
        with translated("write to the store"):
            self._file = open(self._temporary, "w+b", opener=private)  # noqa: SIM115
            self._write_header(0)
        self._size = self._file.tell()

    def close(self) -> None:
        """Lets go of the pack and removes the temporary files; what was stored stays under its own name."""
        with suppress(OSError):  # a full disk does not take what is still in memory, which is thrown away anyway
            self._file.close()
        # By now the refs have moved: whoever repacks from now on sees them.
        held = [self._directory / (self._name + ".keep")] if self._name else []
        for path in (self._temporary, self._temporary_index, *held):
            with suppress(OSError):
                path.unlink()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def size(self) -> int:
        """How many bytes were written."""
        return self._size

    def add(self, made: GitObject, base: GitObject | None = None) -> None:
        """Adds an object.

        Args:
            made: The object.
            base: One that begins like it and was added before, where there is one.

        Raises:
            Unavailable: The disk refuses.
        """
        name = bytes.fromhex(made.oid)
        if name in self._entries:
            return
        offset = self._size
        content = made.content
        depth = self._depths.get(base.oid, _MAX_DEPTH) if base else _MAX_DEPTH
        if base is not None and depth < _MAX_DEPTH and (delta := _delta(base.content, content)) is not None:
            back = offset - self._entries[bytes.fromhex(base.oid)][0]
            entry = _entry_header(_OFS_DELTA, len(delta)) + _offset(back) + _stream(delta)
            self._depths[made.oid] = depth + 1
        else:
            packed = _stream(content) if made.kind == "tree" else deflate(content, 3)
            entry = _entry_header(_KINDS[made.kind], len(content)) + packed
            if made.kind == "tree":
                self._depths[made.oid] = 0
        try:
            self._file.write(entry)
        except OSError as error:
            raise unavailable(error, "write to the store") from error
        self._size += len(entry)
        self._entries[name] = (offset, zlib.crc32(entry))

    def store(self) -> None:
        """Finishes the pack and names it, the index last: it is whole before anybody can see it.

        Raises:
            Unavailable: The disk refuses.
        """
        if not self._entries:
            return
        with translated("write to the store"):
            self._write_header(len(self._entries))
            checksum = self._checksum()
            self._file.seek(0, os.SEEK_END)
            self._file.write(checksum)
            self._file.flush()
            self._index_content = self._index(checksum)
            self._name = f"pack-{checksum.hex()}"
            self._disk.file(self._file.fileno())
            self._write(self._temporary_index, iter([self._index_content]))
            self._disk.barrier()
            self._hold()
            self._publish()

    def restore(self) -> bool:
        """Names the pack again if a collection took it before the ref reached its objects; tells whether it did."""
        if not self._name or all((self._directory / (self._name + ending)).exists() for ending in (".pack", ".idx")):
            return False
        with translated("write to the store"):
            self._publish()
        return True

    @property
    def _temporary_index(self) -> Path:
        return self._temporary.with_name(self._temporary.name.replace("tmp_pack", "tmp_idx"))

    def _hold(self) -> None:
        """Marks the pack as one to keep before it is there, and unmarks those that killed processes left.

        `git repack -ad`, also that of `git gc`, drops each pack that it met, with all that no ref reached when it
        looked; a marked one it leaves alone.
        """
        for path in self._directory.glob("*.keep"):
            if _is_left(path):
                with suppress(OSError):
                    path.unlink()
        with open(self._directory / (self._name + ".keep"), "wb", opener=private) as file:
            file.write(f"{_HOLDER} {os.getpid()} {socket.gethostname()}\n".encode())

    def _publish(self) -> None:
        for source, ending in ((self._temporary, ".pack"), (self._temporary_index, ".idx")):
            while not _link(source, self._directory / (self._name + ending)):
                # `git gc --prune=now` removes temporary files, those in use as well; an open file can still be read.
                self._write(source, self._blocks() if source is self._temporary else iter([self._index_content]))
                self._disk.barrier()
        self._disk.directory(self._directory)

    def _write(self, path: Path, content: Iterator[bytes]) -> None:
        with open(path, "wb", opener=private) as file:  # pathlib takes no opener
            file.writelines(content)
            file.flush()
            self._disk.file(file.fileno())

    def _blocks(self) -> Iterator[bytes]:
        self._file.seek(0)
        while block := self._file.read(_READ_SIZE):
            yield block

    def _write_header(self, count: int) -> None:
        self._file.seek(0)
        self._file.write(struct.pack(">4sII", b"PACK", 2, count))

    def _checksum(self) -> bytes:
        self._file.flush()
        total = sha1(usedforsecurity=False)
        for block in self._blocks():
            total.update(block)
        return total.digest()

    def _index(self, checksum: bytes) -> bytes:
        content = b"".join(self._index_parts(checksum))
        return content + sha1(content, usedforsecurity=False).digest()

    def _index_parts(self, checksum: bytes) -> Iterator[bytes]:
        names = sorted(self._entries)
        firsts = [0] * 256
        for name in names:
            firsts[name[0]] += 1
        total = 0
        for place, count in enumerate(firsts):
            total += count
            firsts[place] = total
        yield b"\xfftOc" + struct.pack(">I256I", 2, *firsts)
        yield b"".join(names)
        yield struct.pack(f">{len(names)}I", *(self._entries[name][1] for name in names))
        far: list[int] = []
        offsets = []
        for name in names:
            offset = self._entries[name][0]
            if offset >= 1 << 31:
                far.append(offset)
                offset = 1 << 31 | (len(far) - 1)
            offsets.append(offset)
        yield struct.pack(f">{len(offsets)}I", *offsets) + struct.pack(f">{len(far)}Q", *far)
        yield checksum


def _is_left(path: Path) -> bool:
    """Tells whether the mark of a pack is one of ours whose process is gone."""
    try:
        words = read_file(path, 4096).decode("utf-8", "replace").split()
        return len(words) == 3 and words[0] == _HOLDER and is_gone(words[1], words[2], path.stat().st_mtime)
    except OSError:
        return False


def _link(source: Path, target: Path) -> bool:
    """Gives a file its name, unless that is taken; returns False where the file is gone."""
    try:
        source.chmod(0o400)
        os.link(source, target)
    except FileExistsError:
        return True
    except FileNotFoundError:
        return False
    return True


def _entry_header(kind: int, size: int) -> bytes:
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


def _size(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def _stream(delta: bytes) -> bytes:
    # A delta is hardly more than the id and the name that were added, which nothing makes much shorter.
    return deflate_stored(delta) if len(delta) < _STORED_BELOW else deflate(delta, 1)


def _delta(base: bytes, content: bytes) -> bytes | None:
    """Returns the delta that copies the common beginning and holds the rest; None where that saves too little."""
    common = _common_length(base, content)
    if common < 64 or common > 0xFFFFFF:
        return None
    delta = bytearray(_size(len(base)) + _size(len(content)))
    # One copy instruction from offset 0 takes three bytes of length, of which libgit2 and git read all.
    place = 0
    while place < common:
        length = min(common - place, 0xFFFF)
        operation, arguments = 0x80, bytearray()
        for bit, shift in enumerate((0, 8, 16, 24)):
            if byte := place >> shift & 0xFF:
                operation |= 1 << bit
                arguments.append(byte)
        for bit, shift in enumerate((0, 8)):
            if byte := length >> shift & 0xFF:
                operation |= 0x10 << bit
                arguments.append(byte)
        delta.append(operation)
        delta += arguments
        place += length
    for start in range(common, len(content), 127):
        piece = content[start : start + 127]
        delta.append(len(piece))
        delta += piece
    return bytes(delta) if len(delta) < len(content) // 2 else None


def _common_length(a: bytes, b: bytes) -> int:
    """Returns how many bytes two contents have in common at their beginning."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
