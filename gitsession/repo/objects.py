"""The object database of a git repository: loose objects by hand, packs through libgit2.

Loose objects are read here, with limits and a hash check, because libgit2 (1.9.7) never returns from reading one that
was cut short. They are written here because that names the system's own error, and costs half. libgit2 is given a
database of packs alone, so that it cannot meet a loose object.
"""

import errno
import os
import threading
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import TypeVar

import pygit2

from gitsession.errors import Corrupt, Unavailable
from gitsession.repo.codec import MAX_OBJECT_BYTES, MAX_SMALL_BYTES, decode_loose, deflate, object_id, too_large
from gitsession.repo.files import fsync_directory, read_file, translated, unavailable, write_all

# A pack keeps its files open; libgit2 closes the least used above this, so that hundreds of packs read under a limit
# of 256 open files.
pygit2.settings.mwindow_file_limit = 64

T = TypeVar("T")

_KINDS = {
    pygit2.enums.ObjectType.COMMIT: "commit",
    pygit2.enums.ObjectType.TREE: "tree",
    pygit2.enums.ObjectType.BLOB: "blob",
    pygit2.enums.ObjectType.TAG: "tag",
}


class Objects:
    """The objects of one repository. May be shared between threads: each has a pack database of its own.

    Attributes:
        path: The `objects` directory.
        durable: Whether objects are synced to disk before they are named.
    """

    def __init__(self, path: Path, *, durable: bool) -> None:
        self.path = path
        self.durable = durable
        self._root = f"{path}{os.sep}"
        self._local = threading.local()
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
            found = self._find_loose(oid, limit) or self._find_packed(oid, limit)
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

    def exists(self, oid: str) -> bool:
        """Tells whether an object is there and sound, with fresh eyes: nothing that was seen before is believed."""
        self._local.packs = None
        try:
            return self.find(oid) is not None
        except Corrupt:
            return False

    def write(self, kind: str, content: bytes) -> str:
        """Stores one object; see `write_all`."""
        return self.write_all([(kind, content)])[0]

    def write_all(self, objects: Iterable[tuple[str, bytes]]) -> list[str]:
        """Stores objects, kinds and contents, and returns their ids; after it returns they survive a power cut.

        An object that is there already is kept and its age renewed, so that `git gc` spares it; a damaged one is
        replaced.

        Raises:
            Unavailable: The disk refuses; what was written is garbage that `git gc` removes.
        """
        oids = []
        fresh: set[str] = set()
        with translated("write to the store"):
            for kind, content in objects:
                oid = object_id(kind, content)
                oids.append(oid)
                if not self._renew(oid):
                    fresh |= self._write_loose(oid, deflate(b"%b %d\0%b" % (kind.encode(), len(content), content)))
            if self.durable:
                for directory in fresh:
                    fsync_directory(directory)
        return oids

    def _path_of(self, oid: str) -> str:
        return f"{self._root}{oid[:2]}{os.sep}{oid[2:]}"

    def _renew(self, oid: str) -> bool:
        """Renews the age of a loose object that is there and sound; tells whether there was one."""
        path = self._path_of(oid)
        try:
            os.utime(path)
            decode_loose(read_file(path), oid)
        except (FileNotFoundError, PermissionError, Corrupt):
            return False
        return True

    def _write_loose(self, oid: str, packed: bytes) -> set[str]:
        """Writes one object file and returns the directories whose names must be synced."""
        path = self._path_of(oid)
        # In objects/ and moved: a name made in the fan-out directory costs several times as much on ext4.
        temporary = f"{self._root}tmp_obj_{os.getpid()}_{threading.get_ident()}_{next(self._temporary)}"
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o444)
        try:
            try:
                write_all(file, packed)
                if self.durable:
                    os.fsync(file)
            finally:
                os.close(file)
            return self._publish(temporary, path)
        except BaseException:
            _remove_quietly(temporary)
            raise

    def _publish(self, temporary: str, path: str) -> set[str]:
        directory = os.path.dirname(path)  # noqa: PTH120  # strings: this is the hot path
        changed = {directory}
        while True:
            try:
                os.replace(temporary, path)  # noqa: PTH105
            except FileNotFoundError:
                # The fan-out directory is new, or `git gc` has just removed it because it was empty.
                try:
                    os.mkdir(directory)  # noqa: PTH102
                    changed.add(self._root)
                except FileExistsError:
                    if not os.path.lexists(temporary):
                        raise
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

    def _packed_header(self, oid: str) -> tuple[int, int] | None:
        """Returns the kind and the size of an object of a pack; None if there is none."""
        packs = getattr(self._local, "packs", None)
        if packs is None:
            packs = self._local.packs = pygit2.Odb()
            packs.add_backend(pygit2.OdbBackendPack(str(self.path)), 1)
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
        return _KINDS[pygit2.enums.ObjectType(kind)], content


class LooseBatch:
    """The objects of one commit, which become loose objects: the way of a single commit."""

    def __init__(self, objects: Objects, items: Iterable[tuple[str, bytes]]) -> None:
        """Takes kinds and contents, blobs first, the commit last."""
        self._objects = objects
        self._items = list(items)

    def store(self) -> None:
        """Stores the objects durably.

        Raises:
            Unavailable: The disk refuses.
        """
        self._objects.write_all(self._items)

    def restore(self) -> None:
        """Stores again what a collection took."""
        for kind, content in self._items:
            if not self._objects.exists(object_id(kind, content)):
                self._objects.write(kind, content)


def _remove_quietly(path: str) -> None:
    try:
        os.unlink(path)  # noqa: PTH108
    except OSError:
        return
