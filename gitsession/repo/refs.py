"""The refs of a git repository: read, listed, and compared and swapped, with git's own files and locks.

Loose refs are read before packed ones: `git pack-refs` writes the packed file before it removes the loose one, so a
ref that was there all the time is never missed. (libgit2 reads them the other way round when it lists.)
"""

import errno
import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from gitsession.errors import Corrupt, SessionError
from gitsession.layout import HEADS, is_ref_name
from gitsession.repo.disk import Disk
from gitsession.repo.files import (
    MOST_GROWN_BYTES,
    entries_below,
    make_directory,
    read_file,
    read_start,
    require_repository,
    translated,
    unavailable,
    write_all,
)
from gitsession.repo.locks import take_git_lock
from gitsession.repo.reflog import add_line, read_log, take_back_line

_OID = re.compile(rb"([0-9a-f]{40})[ \t\r\n]*")
_PACKED_LINE = re.compile(rb"^([0-9a-f]{40}) (refs/[^\n]+)$", re.MULTILINE)

# Where a store keeps what is its own beside git's files: locks, and in `kept` the refs that a repair replaced.
OWN_DIRECTORY = "gitsession"

# What can be done about a damaged ref.
_REPAIR = "`gitsession repair` tells what it can be set to"
_REMOVE = "remove it with `git symbolic-ref -d`"


class RefMoved(SessionError):
    """A compare-and-swap found another value than it expected; internal to the library.

    Attributes:
        actual: What the ref is at; None if it does not exist.
    """

    def __init__(self, name: str, actual: str | None) -> None:
        super().__init__(f"{name} has moved to {actual}")
        self.actual = actual


class RefBlocked(SessionError):
    """A new ref's name is a directory of another's, or below another; internal to the library.

    Attributes:
        blocker: The ref that stands in the way.
    """

    def __init__(self, name: str, blocker: str) -> None:
        super().__init__(f"{blocker} stands in the way of {name}")
        self.blocker = blocker


class _Packed(NamedTuple):
    """What `packed-refs` holds: by which file it was read, the values by the names, the directories these are in."""

    key: tuple[int, int, int] | None
    values: dict[str, str]
    directories: set[str]


_NONE_PACKED = _Packed(None, {}, set())


class Refs:
    """The refs of one repository.

    Attributes:
        path: The git directory.
        disk: What makes a new value durable before `compare_and_swap` returns.
        wait: For how long git's lock on a ref is waited for, in seconds.
    """

    def __init__(self, path: Path, disk: Disk, *, wait: float) -> None:
        self.path = path
        self.disk = disk
        self._root = f"{path}{os.sep}"
        self._scratch = path / OWN_DIRECTORY
        self.wait = wait
        self._packed = _NONE_PACKED

    def find(self, name: str) -> str | None:
        """Returns the object id that a ref holds, 40 hex digits; None if there is no such ref.

        Raises:
            Corrupt: Its file is damaged, or points to another ref.
            Unavailable: The disk could not be read.
        """
        path = f"{self._root}{name}"
        try:
            if match := _OID.fullmatch(read_start(path)):
                return match[1].decode()
            content = read_file(path, 4096)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return self._read_packed().values.get(name)
        except PermissionError as error:
            if os.path.isdir(path):  # noqa: PTH112  # what Windows says of a directory; this raises nothing
                return self._read_packed().values.get(name)
            raise unavailable(error, f"read the ref {name}") from error
        except OSError as error:
            raise unavailable(error, f"read the ref {name}") from error
        return _value(name, content)

    def moved_at(self, name: str) -> int:
        """Returns when a ref last moved, in nanoseconds of the file system's clock; 0 where its files do not tell."""
        for path in (f"{self._root}logs{os.sep}{name}", f"{self._root}{name}"):
            with suppress(OSError):
                return os.stat(path).st_mtime_ns  # noqa: PTH116  # strings, as everywhere here
        return 0

    def below(self, prefix: str) -> Iterator[tuple[str, str | Corrupt]]:
        """Yields the refs that begin with a prefix ending in "/", sorted by name, each with its value or its fault.

        Raises:
            Unavailable: The disk could not be read.
        """
        with translated("list the refs"):
            found: dict[str, str | Corrupt] = {}
            for name in self._loose_names(prefix):
                try:
                    content = read_file(self.path / name, 4096)
                    found[name] = _value(name, content)
                except FileNotFoundError:
                    continue  # packed or deleted since; the packed file, read below, tells which
                except Corrupt as error:
                    found[name] = error
                except OSError as error:
                    found[name] = Corrupt(f"the ref {name} cannot be read: {error.strerror}")
            packed = {name: oid for name, oid in self._read_packed().values.items() if name.startswith(prefix)}
        for name, value in sorted((packed | found).items()):
            yield name, value if is_ref_name(name) else Corrupt(f"git does not allow a ref of the name {name!a:.120}")

    def beginning(self, prefix: str, names: Sequence[str]) -> Iterator[tuple[str, str | Corrupt]]:
        """Yields the refs whose names begin with a prefix that ends within a name; as `below`.

        Args:
            prefix: The prefix.
            names: The names that there are, as `names` returned them: to list them takes time where there are many.
        """
        for place in range(bisect_left(names, prefix), len(names)):
            name = names[place]
            if not name.startswith(prefix):
                break
            try:
                value = self.find(name)
            except Corrupt as error:
                yield name, error
            else:
                if value is not None:
                    yield name, value

    def compare_and_swap(self, name: str, expected: str | None, new: str, *, reason: str) -> None:
        """Moves a ref from one value to another, or creates it where `expected` is None.

        The caller holds the advisory lock of the session.

        Raises:
            RefMoved: It holds another value; nothing was changed.
            RefBlocked: A ref stands in the way of a new one.
            StoreBusy: Another process holds the ref's lock.
            Unavailable: The disk refuses. The ref may have moved all the same: read it again.
        """

        def check() -> str | None:
            actual = self.find(name)
            if actual != expected:
                raise RefMoved(name, actual)
            if expected is None:
                self._check_free(Path(f"{self._root}{name}"), name)
            return expected

        self._set(name, new, check, reason)

    def replace_damaged(self, name: str, content: bytes, new: str, *, reason: str) -> None:
        """Sets a ref whose file is damaged; the caller holds the advisory lock of the session.

        Args:
            name: The ref.
            content: What its file holds, as `content` returned it: the expected value.
            new: The commit it is set to.
            reason: What the reflog says.

        Raises:
            RefMoved: The file holds something else; nothing was changed.
            StoreBusy: Another process holds the ref's lock.
            Unavailable: The disk refuses.
        """

        def check() -> str | None:
            if self.content(name) != content:
                raise RefMoved(name, None)
            moves = read_log(self.path, name).moves
            return moves[-1].new if moves else None

        self._set(name, new, check, reason)

    def packed(self, name: str) -> str | None:
        """Returns the value that a ref has among the packed ones, which its own file outweighs; None if it has none."""
        return self._read_packed().values.get(name)

    def content(self, name: str) -> bytes | None:
        """Returns what the file of a loose ref holds, up to 4 KB; None if there is none.

        Raises:
            Unavailable: The disk could not be read.
        """
        with translated(f"read the ref {name}"):
            try:
                return read_file(self.path / name, 4096)
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                return None

    def _set(self, name: str, new: str, check: Callable[[], str | None], reason: str) -> None:
        """Sets a ref under its lock, once `check` has found it as expected; `check` returns its old value."""
        path, log = f"{self._root}{name}", f"{self._root}logs{os.sep}{name}"
        lock = f"{path}.lock"
        with translated(f"move the ref {name}"):
            file = self._lock(path, name)
            logged = b""
            try:
                try:
                    old = check()
                    write_all(file, f"{new}\n".encode())
                    self.disk.file(file)
                finally:
                    os.close(file)
                # The log first: a crash leaves a line for a move that did not happen, never a move without a line,
                # so the log can tell a ref that fell back. Then the barrier: the ref may name the commit only when
                # all that it reaches is on disk, and so is the ref's own content.
                logged = add_line(log, old, new, reason, self.disk)
                self.disk.barrier()
                os.replace(lock, path)  # noqa: PTH105  # strings: the hot path
            except BaseException:
                if logged:
                    take_back_line(log, logged)
                with suppress(OSError):
                    os.unlink(lock)  # noqa: PTH108
                raise
            self.settle(name)

    def settle(self, name: str) -> None:
        """Makes the present value of a ref durable.

        Raises:
            OSError: The disk refuses.
        """
        with suppress(FileNotFoundError):  # git removes the directory of a ref that it has packed, and synced
            self.disk.directory(f"{self._root}{name}".rpartition("/")[0])
        self.disk.barrier()

    def names(self, directory: str) -> list[str]:
        """Returns the names of the refs below a prefix ending in "/", sorted.

        Raises:
            Unavailable: The disk could not be read.
        """
        with translated("list the refs"):
            names = set(self._loose_names(directory))
            return sorted(names.union(name for name in self._read_packed().values if name.startswith(directory)))

    def _lock(self, path: str, name: str) -> int:
        lock = f"{path}.lock"
        if name.count("/") > 2:  # the directories above the others are looked at when the store is opened
            for directory in Path(name).parents:
                for link in (self.path / directory, self.path / "logs" / directory):
                    if link.is_symlink():
                        raise OSError(errno.ELOOP, f"{link} is a link to another place")
        try:
            return take_git_lock(lock, wait=self.wait, scratch=self._scratch)
        except FileNotFoundError:
            make_directory(Path(path).parent, self.disk)
            return take_git_lock(lock, wait=self.wait, scratch=self._scratch)
        except NotADirectoryError:
            blocker = next(p for p in reversed(Path(path).parents) if p.is_file())
            raise RefBlocked(name, str(blocker.relative_to(self.path))) from None

    def _check_free(self, path: Path, name: str) -> None:
        """Refuses a new ref that is a directory of another, or below another, loose or packed."""
        packed = self._read_packed()
        for directory in _directories(name):
            if directory in packed.values:
                raise RefBlocked(name, directory)
        if name in packed.directories:
            raise RefBlocked(name, next(other for other in packed.values if other.startswith(f"{name}/")))
        if path.is_dir():
            directories = [path]
            for entry in entries_below(path):
                if not entry.is_dir(follow_symlinks=False):
                    raise RefBlocked(name, Path(entry.path).relative_to(self.path).as_posix())
                directories.append(Path(entry.path))
            for empty in reversed(directories):
                empty.rmdir()  # git leaves empty directories behind, and removes them like this

    def _read_packed(self) -> "_Packed":
        path = f"{self._root}packed-refs"
        try:
            stat = os.stat(path)  # noqa: PTH116  # strings: the hot path
            key = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
            if (packed := self._packed).key == key:
                return packed
            content = read_file(path, most=MOST_GROWN_BYTES)
        except FileNotFoundError:
            require_repository(str(self.path))
            return _NONE_PACKED
        except OSError as error:
            raise unavailable(error, "read the packed refs") from error
        values = {name.decode("utf-8", "surrogateescape"): oid.decode() for oid, name in _PACKED_LINE.findall(content)}
        # Most refs lie in one directory, so those above are looked for but once.
        lowest = {name.rpartition("/")[0] for name in values}
        self._packed = _Packed(key, values, lowest.union(*map(_directories, lowest)))
        return self._packed

    def _loose_names(self, prefix: str) -> Iterator[str]:
        for entry in entries_below(f"{self._root}{prefix}"):
            if not entry.name.endswith(".lock") and not entry.is_dir(follow_symlinks=False):
                yield entry.path[len(self._root) :].replace(os.sep, "/")


def problem_and_advice(fault: SessionError) -> tuple[str, str]:
    """Returns what is wrong with a ref, and what its error advises; "" where it advises nothing."""
    text = str(fault)
    advice = next((one for one in (_REPAIR, _REMOVE) if text.endswith(f"; {one}")), "")
    return text.removesuffix(f"; {advice}") if advice else text, advice


def _directories(name: str) -> Iterator[str]:
    """Yields the directories that a ref, or a directory, is in."""
    while name := name.rpartition("/")[0]:
        yield name


def _value(name: str, content: bytes) -> str:
    if match := _OID.fullmatch(content):
        return match[1].decode()
    if content.startswith(b"ref:"):
        target = content[4:].strip().decode("utf-8", "replace")
        raise Corrupt(f"{name} is a symbolic ref to {target!a}, which no session is; {_REMOVE}")
    what = "empty" if not content.strip(b"\0 \n") else "damaged"
    # Only branches are repaired: what is known of a remote is fetched again.
    raise Corrupt(f"the ref {name} is {what}" + (f"; {_REPAIR}" if name.startswith(HEADS) else ""))
