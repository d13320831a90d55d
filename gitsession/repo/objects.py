"""The object database of a git repository: loose objects, and packs.

All is read here and in `packs`, with limits and a hash check: libgit2 (1.9.7) never returns from reading a loose object
that was cut short, follows a damaged index out of its bounds, and unpacks whatever a delta in a pack lies over. Loose
objects are written here because that names the system's own error, and costs half.
"""

import errno
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

from gitsession.errors import Corrupt
from gitsession.repo.codec import (
    MAX_OBJECT_BYTES,
    MAX_SMALL_BYTES,
    GitObject,
    decode_loose,
    encode_loose,
    git_object,
)
from gitsession.repo.disk import Disk
from gitsession.repo.files import BINARY, read_file, translated, unavailable, write_all
from gitsession.repo.packs import Packs


class Objects:
    """The objects of one repository. May be shared between threads: each looks for the packs itself.

    Attributes:
        path: The `objects` directory.
        disk: What makes them durable.
    """

    def __init__(self, path: Path, disk: Disk) -> None:
        self.path = path
        self.disk = disk
        self._root = f"{path}{os.sep}"
        self._local = threading.local()
        self._salt = os.urandom(4).hex()
        self._number = count()

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
            # The object may have been packed, or its pack replaced, between the two looks.
            self.look_anew()
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
            Unavailable: The disk could not be read.
        """
        try:
            return self._packed().holds(oid) or os.stat(self._path_of(oid)).st_size > 0  # noqa: PTH116
        except FileNotFoundError:
            return False
        except OSError as error:
            raise unavailable(error, f"look for the object {oid}") from error

    def beginning(self, prefix: str) -> set[str]:
        """Returns the ids that begin like this, of objects that seem to be there.

        Args:
            prefix: Two hex digits or more.

        Raises:
            Unavailable: The disk could not be read.
        """
        self.look_anew()
        found: set[str] = set()
        with translated("look for objects"):
            with suppress(FileNotFoundError, NotADirectoryError):
                found.update(prefix[:2] + name for name in os.listdir(self._root + prefix[:2]) if len(name) == 38)  # noqa: PTH208
            return {oid for oid in found if oid.startswith(prefix)} | self._packed().beginning(prefix)

    def check_packed(self, oid: str) -> None:
        """Checks an object of a pack against its id.

        Raises:
            Corrupt: It is not there, damaged, or larger than an object may be.
            Unavailable: The disk could not be read.
        """
        if self._find_packed(oid, MAX_OBJECT_BYTES) is None:
            raise Corrupt(f"the object {oid} cannot be found in its pack", oid=oid)

    def sound_places(self, index: Path) -> bytes:
        """Returns for each place of a pack's index 1 if its object was checked since `look_anew`; b"" for no pack."""
        with translated("look into the packs"):
            return self._packed().sound(str(index))

    def look_anew(self) -> None:
        """Forgets what was seen of the packs, in this thread."""
        self._local.packs = None

    def let_go(self) -> None:
        """Gives back the memory in which packs are mapped: for who reads a large part of them, each object once."""
        packs: Packs | None = getattr(self._local, "packs", None)
        if packs is not None:
            packs.let_go()

    def is_loose(self, oid: str) -> bool:
        """Tells whether there is a file for an object, whatever it holds."""
        return os.access(f"{self._root}{oid[:2]}{os.sep}{oid[2:]}", os.F_OK)

    def exists(self, oid: str) -> bool:
        """Tells whether an object is there and sound, with fresh eyes: nothing that was seen before is believed."""
        self.look_anew()
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
            # In objects/ and moved: a name made in the fan-out directory costs several times as much on ext4.
            prefix = f"{self._root}tmp_obj_{os.getpid()}_{self._salt}_"
            for made in objects:
                staged.append(f"{prefix}{next(self._number)}")
                file = os.open(staged[-1], os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, 0o400)
                try:
                    write_all(file, encode_loose(made))
                    self.disk.file(file)
                finally:
                    os.close(file)
            self.disk.barrier()
            vanished = []
            changed: set[str] = set()
            for temporary, made in zip(staged, objects, strict=True):
                if not self._publish(temporary, made.oid, changed):
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

    def _publish(self, temporary: str, oid: str, changed: set[str]) -> bool:
        """Gives a staged object its name, and adds the directories whose names change; False if it has vanished."""
        directory = f"{self._root}{oid[:2]}"
        changed.add(directory)
        while True:
            try:
                os.replace(temporary, f"{directory}{os.sep}{oid[2:]}")  # noqa: PTH105  # strings: the hot path
            except FileNotFoundError:
                # The fan-out directory is new, or `git gc` has just removed it because it was empty.
                try:
                    os.mkdir(directory, 0o700)  # noqa: PTH102
                    changed.add(self._root)
                except FileExistsError:
                    if not os.path.lexists(temporary):
                        return False
            else:
                return True

    def _find_loose(self, oid: str, limit: int) -> tuple[str, bytes] | None:
        try:
            # What zlib cannot make smaller, it makes a little larger.
            packed = read_file(self._path_of(oid), most=limit + limit // 1000 + MAX_SMALL_BYTES)
            return decode_loose(packed, oid, limit)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno == errno.EFBIG:
                raise Corrupt(f"the object {oid} cannot be read: {error.strerror}", oid=oid) from error
            raise unavailable(error, f"read the object {oid}") from error

    def _find_packed(self, oid: str, limit: int) -> tuple[str, bytes] | None:
        try:
            return self._packed().find(oid, limit)
        except OSError as error:
            raise unavailable(error, f"read the object {oid}") from error

    def _packed(self) -> Packs:
        """Returns the packs of this thread, which are looked for when they were not yet, or an object was missing."""
        packs: Packs | None = getattr(self._local, "packs", None)
        if packs is None:
            packs = self._local.packs = Packs(self.path / "pack")
        return packs


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
