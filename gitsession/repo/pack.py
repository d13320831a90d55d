"""Writing packs: the way of an import, whose thousands of objects become one file.

Trees of a session grow at their end, so each is stored as what it adds to the one before.
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
from typing import BinaryIO

from gitsession.repo.codec import GitObject
from gitsession.repo.files import private, read_file, translated, unavailable
from gitsession.repo.gc import is_gone
from gitsession.repo.locks import try_lock
from gitsession.repo.objects import Objects
from gitsession.repo.pack_entry import encode_delta, encode_whole, find_delta

# What the mark of a pack says first that is being imported.
_HOLDER = "gitsession"

# How long a chain of deltas may grow, as in git's own packs.
_MAX_DEPTH = 50
_READ_SIZE = 1 << 20


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
        self._depths: dict[bytes, int] = {}
        self._name = ""
        self._size = 0
        self._index_content = b""
        self._mark: BinaryIO | None = None
        with translated("write to the store"):
            self._file = open(self._temporary, "w+b", opener=private)  # noqa: SIM115
            self._write_header(0)
        self._size = self._file.tell()

    def close(self) -> None:
        """Lets go of the pack and removes the temporary files; what was stored stays under its own name."""
        with suppress(OSError):  # a full disk does not take what is still in memory, which is thrown away anyway
            self._file.close()
        if self._mark is not None:
            with suppress(OSError):
                self._mark.close()
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
            base: One that begins, or ends, like it and was added before, where there is one.

        Raises:
            Unavailable: The disk refuses.
        """
        name = bytes.fromhex(made.oid)
        if name in self._entries:
            return
        offset = self._size
        entry = None
        depth = 0
        if base is not None and (before := bytes.fromhex(base.oid)) in self._depths:
            depth = self._depths[before] + 1
            if depth <= _MAX_DEPTH and (delta := find_delta(base.content, made.content)) is not None:
                entry = encode_delta(delta, offset - self._entries[before][0])
        if entry is None:
            depth, entry = 0, encode_whole(made)
        if made.kind == "tree":
            self._depths[name] = depth
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
        self._mark = open(self._directory / (self._name + ".keep"), "wb", opener=private)  # noqa: SIM115
        with suppress(OSError):  # where the file system has no locks
            try_lock(self._mark.fileno())
        self._mark.write(f"{_HOLDER} {os.getpid()} {socket.gethostname()}\n".encode())
        self._mark.flush()

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
    """Tells whether the mark of a pack is one of ours whose process is gone: it holds the system's lock on it."""
    try:
        words = read_file(path, 4096).decode("utf-8", "replace").split()
        if len(words) != 3 or words[0] != _HOLDER or not is_gone(words[1], words[2], path.stat().st_mtime):
            return False
        with path.open("r+b") as file:
            return try_lock(file.fileno())
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
