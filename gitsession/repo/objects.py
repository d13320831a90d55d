"""The object database of a git repository: loose objects by hand, packs through libgit2.

Loose objects are read here, with limits and a hash check, because libgit2 (1.9.7) never returns from reading one that
was cut short. They are written here because that names the system's own error, and costs half. libgit2 is given a
database of packs alone, so that it cannot meet a loose object.
"""

import errno
import os
import shutil
import threading
import weakref
from collections.abc import Callable, Sequence
from hashlib import sha1
from itertools import count
from pathlib import Path
from typing import TypeVar

import pygit2

from gitsession.errors import Corrupt, Unavailable
from gitsession.repo.codec import (
    MAX_OBJECT_BYTES,
    MAX_SMALL_BYTES,
    GitObject,
    decode_loose,
    encode_loose,
    git_object,
    object_id,
    too_large,
)
from gitsession.repo.disk import Disk
from gitsession.repo.files import read_file, translated, unavailable, write_all

# A pack keeps its files open; libgit2 closes the least used above this, so that hundreds of packs read under a limit
# of 256 open files.
pygit2.settings.mwindow_file_limit = 64

T = TypeVar("T")

# A database of packs keeps up to 16 MB of what it has unpacked from each, and what it has mapped of their files. So
# after this many bytes another one takes its place. A tree is the end of a chain of deltas.
_MOST_UNPACKED = 32 * 1024 * 1024
_CHAIN = 50

# The numbers that git gives the kinds of objects.
_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}


class Objects:
    """The objects of one repository. May be shared between threads: each has a pack database of its own.

    Attributes:
        path: The `objects` directory.
        disk: What makes them durable.
    """

    def __init__(self, path: Path, disk: Disk) -> None:
        self.path = path
        self.disk = disk
        self._root = f"{path}{os.sep}"
        self._local = threading.local()
        self._sound_indexes: set[tuple[str, int, int, int]] = set()
        self._salt = os.urandom(4).hex()
        self._temporary = count()

    def read(self, oid: str, kind: str, *, limit: int | None = None) -> bytes:
        """Returns the content of an object of the kind given.

        Args:
            oid: Its id.
            kind: What it must be.
            limit: The most bytes that it may have; by default what an object of its kind may have in a store.

        Raises:
            Corrupt: It is missing, damaged, of another kind, or larger than an object may be.
            Unavailable: The disk could not be read.
        """
        found = self.find(oid, limit or (MAX_OBJECT_BYTES if kind == "blob" else MAX_SMALL_BYTES))
        if found is None:
            raise Corrupt(f"the {kind} {oid} is missing", oid=oid)
        if found[0] != kind:
            raise Corrupt(f"the object {oid} is a {found[0]}, where a {kind} is expected", oid=oid)
        return found[1]

    def find(self, oid: str, limit: int = MAX_OBJECT_BYTES) -> tuple[str, bytes] | None:
        """Returns the kind and the content of an object, checked against its id; None if there is none.

        Raises:
            Corrupt: It is damaged, or larger than the limit.
            Unavailable: The disk could not be read.
        """
        try:
            found = self._find_nearest(oid, limit)
        except Corrupt:
            # A sound copy in a pack makes up for a damaged file.
            found = self._find_packed(oid, limit)
            if found is None:
                raise
        if found is None:
            # The object may have been packed, or its pack replaced, between the two looks; a new database knows every
            # pack that there is.
            self._local.packs = None
            found = self._find_loose(oid, limit) or self._find_packed(oid, limit)
        return found

    def _find_nearest(self, oid: str, limit: int) -> tuple[str, bytes] | None:
        """Looks among the loose objects and in the packs; first where the last object was that was found."""
        if getattr(self._local, "in_pack", False) and (found := self._find_packed(oid, limit)) is not None:
            return found
        found = self._find_loose(oid, limit)
        self._local.in_pack = found is None
        return found or self._find_packed(oid, limit)

    def has(self, oid: str) -> bool:
        """Tells whether an object seems to be there, without reading it: a file that is not empty, or a pack's item.

        Raises:
            Corrupt: Its pack is damaged.
            Unavailable: The disk could not be read.
        """
        try:
            return os.stat(self._path_of(oid)).st_size > 0 or self._packed(self._packed_header, oid) is not None  # noqa: PTH116
        except FileNotFoundError:
            return self._packed(self._packed_header, oid) is not None

    def check_packed(self, oid: str) -> None:
        """Checks an object of a pack against its id.

        Raises:
            Corrupt: It is not there, damaged, or larger than an object may be.
            Unavailable: The disk could not be read.
        """
        if self._find_packed(oid, MAX_OBJECT_BYTES) is None:
            raise Corrupt(f"the object {oid} cannot be found in its pack", oid=oid)

    def is_loose(self, oid: str) -> bool:
        """Tells whether there is a file for an object, whatever it holds."""
        return os.path.exists(self._path_of(oid))  # noqa: PTH110  # strings: the hot path

    def exists(self, oid: str) -> bool:
        """Tells whether an object is there and sound, with fresh eyes: nothing that was seen before is believed."""
        self._local.packs = None
        try:
            return self.find(oid) is not None
        except Corrupt:
            return False

    def write(self, kind: str, content: bytes) -> str:
        """Stores one object and returns its id; see `write_all`."""
        made = git_object(kind, content)
        self.write_all([made])
        return made.oid

    def write_all(self, objects: Sequence[GitObject]) -> None:
        """Stores objects. Their contents are on disk before they have their names; the names are at the next barrier.

        An object that is there already is written anew: that heals a damaged one, and renews the age of a sound one,
        so that `git gc` spares it.

        Raises:
            Unavailable: The disk refuses; what was written is garbage that `git gc` removes.
        """
        left = list(objects)
        with translated("write to the store"):
            while left:
                # `git gc --prune=now` removes temporary files, those in use as well: what it took is written again.
                left = self._write_once(left)

    def _write_once(self, objects: Sequence[GitObject]) -> list[GitObject]:
        """Stages objects and gives them their names; returns those whose temporary files vanished meanwhile."""
        staged: list[str] = []
        published = 0
        try:
            staged.extend(map(self._stage, objects))
            self.disk.barrier()
            vanished = []
            changed: set[str] = set()
            for temporary, made in zip(staged, objects, strict=True):
                directories = self._publish(temporary, made.oid)
                changed.update(directories)
                if not directories:
                    vanished.append(made)
                published += 1
            for directory in changed:
                self.disk.directory(directory)
        finally:
            for temporary in staged[published:]:
                _remove_quietly(temporary)
        return vanished

    def _path_of(self, oid: str) -> str:
        return f"{self._root}{oid[:2]}{os.sep}{oid[2:]}"

    def _stage(self, made: GitObject) -> str:
        """Writes one object to a temporary file and returns its path."""
        # In objects/ and moved: a name made in the fan-out directory costs several times as much on ext4.
        temporary = f"{self._root}tmp_obj_{os.getpid()}_{self._salt}_{next(self._temporary)}"
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o400)
        try:
            write_all(file, encode_loose(made))
            self.disk.file(file)
        except BaseException:
            _remove_quietly(temporary)
            raise
        finally:
            os.close(file)
        return temporary

    def _publish(self, temporary: str, oid: str) -> tuple[str, ...]:
        """Gives a staged object its name, and returns the directories whose names have changed; none if it vanished."""
        directory = f"{self._root}{oid[:2]}"
        changed: tuple[str, ...] = (directory,)
        while True:
            try:
                os.replace(temporary, f"{directory}{os.sep}{oid[2:]}")  # noqa: PTH105  # strings: the hot path
            except FileNotFoundError:
                # The fan-out directory is new, or `git gc` has just removed it because it was empty.
                try:
                    os.mkdir(directory, 0o700)  # noqa: PTH102
                    changed = (directory, self._root)
                except FileExistsError:
                    if not os.path.lexists(temporary):
                        return ()
            else:
                return changed

    def _find_loose(self, oid: str, limit: int) -> tuple[str, bytes] | None:
        try:
            return decode_loose(read_file(self._path_of(oid)), oid, limit)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unavailable(error, f"read the object {oid}") from error

    def _find_packed(self, oid: str, limit: int) -> tuple[str, bytes] | None:
        found = self._packed(lambda name: self._read_packed(name, limit), oid)
        if found is not None and object_id(*found) != oid:
            raise Corrupt(f"the object {oid} is damaged in its pack", oid=oid)
        return found

    def _packed(self, read: Callable[[str], T | None], oid: str) -> T | None:
        """Asks the packs, and asks again with fresh eyes before an error is believed."""
        try:
            return read(oid)
        except (pygit2.GitError, OSError, ValueError):
            # The pack may have been replaced under us, and libgit2's texts can be stale: a new database decides.
            self._local.packs = None
        try:
            return read(oid)
        except (pygit2.GitError, OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE, errno.EIO, errno.EACCES):
                raise unavailable(error, f"read the object {oid}") from error
            if "open files" in str(error):
                raise Unavailable(f"cannot read the object {oid}: too many open files in this process") from error
            raise Corrupt(f"the object {oid} is damaged in its pack: {error}", oid=oid) from error

    def _packs_path(self) -> str:
        """Returns the directory whose packs libgit2 is to read.

        It follows a damaged index out of its bounds. So where one is, it is given a directory of links to the others.
        """
        try:
            entries = list(os.scandir(self.path / "pack"))
        except FileNotFoundError:
            return str(self.path)
        indexes = [entry for entry in entries if entry.name.endswith(".idx") or entry.name == "multi-pack-index"]
        sound = [entry for entry in indexes if self._is_sound(entry)]
        if len(sound) == len(indexes):
            return str(self.path)
        from tempfile import mkdtemp  # noqa: PLC0415  # slow to load, and damage is rare

        links = mkdtemp(prefix="gitsession-")
        weakref.finalize(self, shutil.rmtree, links, ignore_errors=True)
        directory = Path(links, "pack")
        directory.mkdir()
        for entry in sound:
            if entry.name.endswith(".idx"):
                for path in (Path(entry.path), Path(entry.path).with_suffix(".pack")):
                    (directory / path.name).symlink_to(path.absolute())
        return links

    def _is_sound(self, index: os.DirEntry[str]) -> bool:
        """Tells whether the sum of an index is right; each is read once, as long as it does not change."""
        found = index.stat()
        state = (index.name, found.st_ino, found.st_size, found.st_mtime_ns)
        if state not in self._sound_indexes:
            content = read_file(index.path)
            if sha1(content[:-20], usedforsecurity=False).digest() != content[-20:]:
                return False
            self._sound_indexes.add(state)
        return True

    def _packed_header(self, oid: str) -> tuple[int, int] | None:
        """Returns the kind and the size of an object of a pack; None if there is none."""
        packs = getattr(self._local, "packs", None)
        if packs is None:
            path = self._packs_path()
            packs = self._local.packs = pygit2.Odb()
            packs.add_backend(pygit2.OdbBackendPack(path), 1)
            self._local.unpacked = 0
        try:
            kind, size = packs.read_header(pygit2.Oid(hex=oid))
        except KeyError:
            return None
        return kind, size

    def _read_packed(self, oid: str, limit: int) -> tuple[str, bytes] | None:
        header = self._packed_header(oid)
        if header is None:
            return None
        if header[1] > limit:
            raise too_large(oid, header[1], limit)
        try:
            kind, content = self._local.packs.read(pygit2.Oid(hex=oid))
        except KeyError:
            return None
        found = _KINDS[kind]
        self._local.unpacked += len(content) * (_CHAIN if found == "tree" else 1)
        if self._local.unpacked > _MOST_UNPACKED:
            self._local.packs = None
        return found, content


class LooseBatch:
    """The objects of one commit, which become loose objects: the way of a single commit."""

    def __init__(self, objects: Objects, items: Sequence[GitObject]) -> None:
        """Takes the objects, blobs first, the commit last."""
        self._objects = objects
        self._items = items

    def store(self) -> None:
        """Stores the objects; they are durable at the next barrier.

        Raises:
            Unavailable: The disk refuses.
        """
        self._objects.write_all(self._items)

    def restore(self) -> bool:
        """Stores again what a collection took; tells whether it took anything."""
        held = self._objects
        gone = [item for item in self._items if not held.is_loose(item.oid) and not held.exists(item.oid)]
        if gone:
            self._objects.write_all(gone)
        return bool(gone)


def _remove_quietly(path: str) -> None:
    try:
        os.unlink(path)  # noqa: PTH108
    except OSError:
        return
