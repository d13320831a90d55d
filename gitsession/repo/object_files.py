"""The files of the object database, checked by hand: loose objects, packs and their indexes, and what git derives.

Every loose and every packed object is hashed again.
"""

import hashlib
import os
import re
import struct
import sys
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from gitsession.errors import Corrupt, SessionError
from gitsession.repo.codec import check_loose
from gitsession.repo.files import MOST_GROWN_BYTES, open_plain, read_file
from gitsession.repo.objects import Objects

_STEP = 256 * 1024
_LOOSE_NAME = re.compile(r"[0-9a-f]{38}")
_INDEX_MAGIC = b"\xfftOc\0\0\0\x02"
_PACK_HEADER = struct.Struct(">4sII")

# The objects of one pack that are named one by one when they are damaged.
_MOST_NAMED = 20

_RESTORE = "copy the object from a clone or a backup"
_REBUILD_INDEX = "run `git index-pack` on the pack to make its index anew"
# What git derives from the objects, and makes again when it is gone.
_DERIVED = ("*.rev", "*.bitmap", "*.mtimes", "multi-pack-index")


class Fault(NamedTuple):
    """What is wrong with a file of the repository.

    Attributes:
        oid: The object that is damaged; None where it is another file.
        problem: What is wrong.
        advice: What can be done.
        damage: Whether something is lost or unsafe; False for a remark.
    """

    oid: str | None
    problem: str
    advice: str
    damage: bool = True


def count_objects(objects: Objects) -> int:
    """Returns how many objects a check will look at, about."""
    loose = sum(len(files) for _, files in _loose_directories(objects.path))
    return loose + sum(max(path.stat().st_size - 1072, 0) // 32 for path in _packs(objects.path, "*.idx"))


def object_faults(objects: Objects, advance: Callable[[int], None]) -> Iterator[Fault]:
    """Yields what is wrong with any stored object, reachable or not: each is read and hashed, if it was not just now.

    Args:
        objects: The object database.
        advance: Called with a number of objects that were checked.
    """
    for directory, files in _loose_directories(objects.path):
        for name in files:
            fault = _loose_fault(objects, directory.name + name, directory / name)
            if fault is not None:
                yield fault
        advance(len(files))
    for path in _packs(objects.path, "*.idx"):
        yield from _packed_faults(objects, path, advance)


def pack_faults(objects: Objects, *, fast: bool) -> Iterator[Fault]:
    """Yields what is wrong with the files of packs, and those derived from them, as files: their parts and checksums.

    Args:
        objects: The object database.
        fast: Whether the checksums over whole files are left out.
    """
    packs = {path.stem: path for path in _packs(objects.path, "*.pack")}
    indexes = {path.stem: path for path in _packs(objects.path, "*.idx")}
    for name in sorted(packs.keys() | indexes.keys()):
        if name not in packs:
            yield Fault(None, f"the pack {name}.pack is missing, and its index is there", _RESTORE)
        elif name not in indexes:
            yield Fault(None, f"the pack {name}.pack has no index, so its objects cannot be found", _REBUILD_INDEX)
        else:
            yield from _pair_faults(packs[name], indexes[name], fast=fast)
    if not fast:
        info = objects.path / "info"
        derived = [path for pattern in _DERIVED for path in _packs(objects.path, pattern)]
        for path in (*derived, info / "commit-graph", *sorted(info.glob("commit-graphs/*.graph"))):
            if path.exists() and not _sum_is_right(path):
                advice = "delete it; git makes it again from the objects"
                yield Fault(None, f"{path.relative_to(objects.path.parent)} is damaged", advice)


def _loose_directories(root: Path) -> Iterator[tuple[Path, list[str]]]:
    for number in range(256):
        directory = root / f"{number:02x}"
        try:
            files = sorted(filter(_LOOSE_NAME.fullmatch, os.listdir(directory)))  # noqa: PTH208  # names are enough
        except (FileNotFoundError, NotADirectoryError):
            continue
        yield directory, files


def _packs(root: Path, pattern: str) -> list[Path]:
    return sorted((root / "pack").glob(pattern))


def _loose_fault(objects: Objects, oid: str, path: Path) -> Fault | None:
    try:
        check_loose(_pieces(path), oid)
    except FileNotFoundError:
        return None  # packed since the directory was read; the packs are read later
    except OSError as error:
        return Fault(oid, f"the object {oid} cannot be read: {error.strerror}", "check the disk and the permissions")
    except Corrupt as error:
        try:
            objects.check_packed(oid)
        except SessionError:
            return Fault(oid, error.message, _RESTORE)
        return Fault(oid, f"{error.message}, but a pack holds it as well", f"delete {path}", damage=False)
    return None


def _pieces(path: Path) -> Iterator[bytes]:
    file, _ = open_plain(path, MOST_GROWN_BYTES)
    try:
        while piece := os.read(file, _STEP):
            yield piece
    finally:
        os.close(file)


def _pair_faults(pack: Path, index: Path, *, fast: bool) -> Iterator[Fault]:
    """Checks a pack and its index against each other, and each against the checksum at its end."""
    try:
        with pack.open("rb") as file:
            head = file.read(_PACK_HEADER.size)
            file.seek(max(file.seek(0, os.SEEK_END) - 20, 0))
            pack_end = file.read(20)
        with index.open("rb") as file:
            index_head = file.read(1032)
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - 40, 0))
            named_end = file.read(20)
    except OSError as error:
        yield Fault(None, f"the pack {pack.name} cannot be read: {error.strerror}", "check the disk")
        return
    count = int.from_bytes(index_head[1028:1032], "big")
    magic, version, announced = _PACK_HEADER.unpack(head) if len(head) == _PACK_HEADER.size else (b"", 0, 0)
    if magic != b"PACK" or version not in (2, 3):
        yield Fault(None, f"the pack {pack.name} is damaged: it has no header", "copy the pack from a backup")
    elif not fast and not _sum_is_right(pack):
        yield Fault(None, f"the pack {pack.name} is damaged: its checksum is wrong", "copy the pack from a backup")
    if not index_head.startswith(_INDEX_MAGIC) or size < 1072 + 28 * count:
        yield Fault(None, f"the pack's index {index.name} is damaged: its header is wrong", _REBUILD_INDEX)
    elif named_end != pack_end or count != announced:
        yield Fault(None, f"the pack's index {index.name} is that of another pack", _REBUILD_INDEX)
    elif not fast and not _sum_is_right(index):
        yield Fault(None, f"the pack's index {index.name} is damaged: its checksum is wrong", _REBUILD_INDEX)


def _sum_is_right(path: Path) -> bool:
    """Tells whether a file ends with the checksum of what comes before it, as git's derived files do."""
    digest = hashlib.sha1(usedforsecurity=False)
    try:
        opened, size = open_plain(path, sys.maxsize)
        with os.fdopen(opened, "rb") as file:
            left = size - 20
            if left < 0:
                return False
            while left > 0 and (piece := file.read(min(left, _STEP))):
                digest.update(piece)
                left -= len(piece)
            return file.read(20) == digest.digest()
    except OSError:
        return False


def _packed_faults(objects: Objects, index: Path, advance: Callable[[int], None]) -> Iterator[Fault]:
    """Hashes the objects of one pack that were not yet, in the order in which they lie there."""
    try:
        content = read_file(index, most=MOST_GROWN_BYTES)
    except OSError:
        return  # told by `pack_faults`, as is what makes an index unreadable
    count = int.from_bytes(content[1028:1032], "big")
    if not content.startswith(_INDEX_MAGIC) or len(content) < 1072 + 28 * count:
        return
    offsets = array("I", content[1032 + 24 * count : 1032 + 28 * count])
    offsets.byteswap()
    sound = objects.sound_places(index)
    left = [place for place in range(count) if not sound[place]] if len(sound) == count else [*range(count)]
    advance(count - len(left))
    damaged = 0
    for done, place in enumerate(sorted(left, key=offsets.__getitem__), 1):
        oid = content[1032 + 20 * place : 1052 + 20 * place].hex()
        try:
            objects.check_packed(oid)
        except SessionError as error:
            damaged += 1
            if damaged <= _MOST_NAMED:
                yield Fault(oid, str(error), _RESTORE)
        if done % 256 == 0:
            advance(256)
    if damaged > _MOST_NAMED:
        yield Fault(None, f"{damaged - _MOST_NAMED} more objects of {index.stem}.pack are damaged", _RESTORE)
    advance(len(left) % 256)
