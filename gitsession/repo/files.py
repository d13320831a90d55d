"""Files: read and written whole, and the one place where an OSError becomes an error of ours."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from gitsession.errors import Unavailable
from gitsession.repo.disk import Disk

# Flags that not every system has.
BINARY = getattr(os, "O_BINARY", 0)
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_HAS_PREAD = hasattr(os, "pread")

# What a file may have where nothing else is said: HEAD, the configuration, the mark of a shallow clone.
MOST_BYTES = 16 << 20

# What a file may have that grows with the number of sessions or of commits: packed refs, logs, caches.
MOST_GROWN_BYTES = 1 << 30

_ADVICE = {
    errno.ENOSPC: "the disk is full; free some space and try again",
    errno.EDQUOT: "the disk quota is used up; free some space and try again",
    errno.EROFS: "the disk is read-only; reading works, writing does not",
    errno.EACCES: "permission denied; the store must belong to you",
    errno.EPERM: "the operation is not permitted; the store must belong to you",
    errno.EMFILE: "too many open files in this process; close some, or raise its limit (ulimit -n)",
    errno.ENFILE: "too many open files on this machine; try again",
    errno.EIO: "the disk reports an input/output error; check it, then run `gitsession verify`",
}


def unavailable(error: OSError, doing: str) -> Unavailable:
    """Returns the error that an OSError of the store's files becomes.

    Args:
        error: What the system said.
        doing: What was being done, as in "cannot <doing>".
    """
    reason = _ADVICE.get(error.errno or 0) or error.strerror or str(error)
    return Unavailable(f"cannot {doing}: {reason}")


class translated:  # noqa: N801  # a context manager, named as those of contextlib are; a class, since that is quicker
    """Turns an OSError inside the block into `Unavailable`, with what was being done."""

    def __init__(self, doing: str) -> None:
        self._doing = doing

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise unavailable(error, self._doing) from error
        if isinstance(error, ImportError):
            # Parts of Python are loaded when they are first needed, from files that may not be opened just then.
            raise Unavailable(f"cannot {self._doing}: a part of Python cannot be loaded: {error}") from error


def write_all(file: int, content: bytes) -> None:
    """Writes all of the content to an open file, however little the system takes at a time."""
    written = os.write(file, content)
    while written < len(content):
        written += os.write(file, content[written:])


def open_plain(path: Path | str, most: int | None = MOST_BYTES, *, follow: bool = True) -> tuple[int, int]:
    """Opens a plain file to read it, and returns it with its size.

    Args:
        path: Where it is.
        most: How many bytes it may have; None where it is not read to its end.
        follow: Whether it may be a link, as git's own files may.

    Raises:
        OSError: As the system says; also for what is no plain file, such as a device that never ends, for a file that
            is larger, and for a large one with holes: a few bytes on the disk would fill the memory.
    """
    # Without O_NONBLOCK, opening a pipe that somebody left in place of a file would wait for ever.
    file = os.open(path, os.O_RDONLY | NONBLOCK | BINARY | (0 if follow else NO_FOLLOW))
    try:
        return file, _checked_size(file, path, most)
    except OSError:
        os.close(file)
        raise


def read_file(path: Path | str, limit: int | None = None, *, most: int = MOST_BYTES, follow: bool = True) -> bytes:
    """Returns the content of a plain file, at most `limit` bytes of it; the rest as in `open_plain`.

    Raises:
        OSError: As `open_plain`.
    """
    file, size = open_plain(path, most if limit is None else None, follow=follow)
    try:
        # One byte more than there seems to be tells the end, and a file that grows meanwhile is read on.
        left = size + 1 if limit is None else limit
        content = os.read(file, left)
        while len(content) < left and (more := os.read(file, left - len(content))):
            content += more
        while limit is None and len(content) >= left and (more := os.read(file, 1 << 20)):
            content += more
    finally:
        os.close(file)
    return content


def read_at(file: int, place: int, size: int) -> bytes:
    """Returns bytes from a place of an open file, fewer where it ends."""
    if _HAS_PREAD:
        return os.pread(file, size, place)
    os.lseek(file, place, os.SEEK_SET)
    return os.read(file, size)


def append_file(path: Path | str, content: bytes) -> None:
    """Adds to the end of a plain file in one write, which is whole unless the process or the disk ends in it.

    The file is made, for its owner alone, if it is not there.

    Raises:
        OSError: As the system says; also for a link, a pipe or a device, which would lead out of the store.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | NONBLOCK | NO_FOLLOW | BINARY
    file = os.open(path, flags, 0o600)
    try:
        _checked_size(file, path, None)
        os.write(file, content)
    finally:
        os.close(file)


def _checked_size(file: int, path: Path | str, most: int | None) -> int:
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode):
        code = errno.EISDIR if stat.S_ISDIR(found.st_mode) else errno.EINVAL
        raise OSError(code, "it is no plain file", str(path))
    if most is not None and found.st_size > most:
        raise OSError(errno.EFBIG, f"it has {found.st_size:,} bytes, and at most {most:,} are read", str(path))
    if most is not None and found.st_size > MOST_BYTES and _has_holes(file, found.st_size):
        raise OSError(errno.EFBIG, f"it has {found.st_size:,} bytes, some of which were never written", str(path))
    return found.st_size


def _has_holes(file: int, size: int) -> bool:
    """Tells whether parts of a file were never written; False where the system cannot tell.

    How many blocks a file takes would say less: some file systems compress, or allocate later.
    """
    if not hasattr(os, "SEEK_HOLE"):
        return False
    try:
        hole = os.lseek(file, 0, os.SEEK_HOLE)
        os.lseek(file, 0, os.SEEK_SET)
    except OSError:
        return False
    return hole < size


def read_start(path: str) -> bytes:
    """Returns what one look at a file gives, up to 4 KB: all of a short one, as a rule, and `read_file` for certain.

    Raises:
        OSError: As the system says.
    """
    file = os.open(path, os.O_RDONLY | NONBLOCK | BINARY)
    try:
        return os.read(file, 4096)
    finally:
        os.close(file)


def private(path: str, flags: int) -> int:
    """Opens a file for `open`, made readable by its owner alone whatever the umask."""
    return os.open(path, flags, 0o600)


def entries_below(directory: Path | str) -> Iterator[os.DirEntry[str]]:
    """Yields all files and directories below a directory, each directory before what it holds; none if there is none.

    Not by recursion: the name of a ref may have a thousand levels.
    """
    left = [os.fspath(directory)]
    while left:
        try:
            with os.scandir(left.pop()) as found:
                entries = list(found)
        except (FileNotFoundError, NotADirectoryError):
            continue
        left += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        yield from entries


def require_repository(path: str) -> None:
    """Refuses to take a store that has gone, as with a disk that is no longer mounted, for one that holds nothing.

    Raises:
        Unavailable: There is no repository at the path any more.
    """
    if not os.access(os.path.join(path, "HEAD"), os.F_OK):  # noqa: PTH118  # strings: the hot path
        raise Unavailable(f"the store {path} is gone; its disk may not be mounted")


def make_directories(path: Path) -> None:
    """Makes a directory and its parents, for their owner alone, where nothing depends on them after a power cut."""
    try:
        path.mkdir(0o700, exist_ok=True)
    except FileNotFoundError:
        make_directories(path.parent)
        path.mkdir(0o700, exist_ok=True)


def make_directory(path: Path, disk: Disk) -> None:
    """Makes a directory and its parents, for their owner alone; durable with the name in the parent.

    Raises:
        OSError: As the system says.
    """
    if path.is_dir():
        return
    make_directory(path.parent, disk)
    with contextlib.suppress(FileExistsError):
        path.mkdir(0o700)
    disk.directory(path.parent)
