"""The files of transcripts: which lie below a directory, and what one consists of, one file or many as one stream."""

import io
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import BinaryIO, cast

from gitsession.numbering import Numbering
from gitsession.transcripts import FORMATS
from gitsession.transcripts.base import Bundled, Format
from gitsession.transcripts.bundle import line_of, order
from gitsession.transcripts.document import damage

LOOKED_AT = 64 * 1024
"""How much of a file that is no transcript is looked at to say what it is."""

# How much of a file its folder is recognised by.
_FIRST_BYTES = 16 * 1024 * 1024


def whole(bundled: Bundled | None, stream: BinaryIO) -> BinaryIO:
    """Returns the transcript that a file is, or the first file of.

    Args:
        bundled: What its format's `bundle` tells of it.
        stream: The file, open for reading at its beginning.

    Returns:
        The transcript, to be read once: each file is read when it is come to, which raises `OSError` where it cannot be
        read. One that vanished since its directory was listed is left out.
    """
    return stream if bundled is None else cast("BinaryIO", io.BufferedReader(_Lines(_lines(*bundled, stream))))


def paths_of(path: Path, bundled: Bundled | None) -> Iterator[Path]:
    """Yields the paths of the files that a transcript consists of, given that of the file that it is recognised by."""
    if bundled is None:
        yield path
    else:
        yield from map(Path(bundled[0]).joinpath, bundled[1])


def _lines(root: PurePath, names: Sequence[str], stream: BinaryIO) -> Iterator[bytes]:
    yield line_of(names[0], stream.read())
    for name in sorted(names[1:], key=order):
        try:
            content = Path(root, name).read_bytes()
        except FileNotFoundError:
            continue
        yield line_of(name, content)


class _Lines(io.RawIOBase):
    """Lines that are made when they are come to, as a stream."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines
        self._line = memoryview(b"")  # what is left of one

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview", /) -> int:  # type: ignore[override]  # any writable buffer
        self._line = self._line or memoryview(next(self._lines, b""))
        count = min(len(buffer), len(self._line))
        buffer[:count] = self._line[:count]
        self._line = self._line[count:]
        return count


def walk(path: Path, onerror: Callable[[OSError], None] | None = None) -> Iterator[tuple[Path, list[str]]]:
    """Yields each directory from a path down, in the order of their names, and the names of its files.

    Git directories are passed over, the store among them: nobody keeps transcripts there, and an object may hold what
    looks like one. So are files that an agent keeps beside its transcripts.
    """
    companions = [one.companion for one in FORMATS.values()]
    for directory, directories, names in os.walk(path, onerror=onerror):
        if _is_git_directory(directories, names):
            directories.clear()
            continue
        directories.sort()
        here = PurePath(directory)
        yield Path(directory), [name for name in names if not any(known(here / name) for known in companions)]


def files_of(path: Path) -> Iterator[Path]:
    """Yields a path that is no directory, or the files below one."""
    if not path.is_dir():
        yield path
    for directory, names in walk(path):
        yield from (directory / name for name in names)


def may_be_read(path: Path) -> bool:
    """Tells whether a path is a file: to open a pipe or a socket could take for ever."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # opening it tells what is wrong


def looks_like(head: bytes) -> str:
    """Says what a file is that is no transcript.

    Args:
        head: Its beginning, of as many bytes as `LOOKED_AT` says if there are so many.
    """
    if not head:
        return "is empty"
    if b"\0" in head:
        return "is a binary file, and no transcript"
    if (found := damage(head, whole=len(head) < LOOKED_AT)) is not None:
        place, is_cut = found
        line = 1 + head.count(b"\n", 0, place)
        if is_cut and line == 1:
            return f"seems to be JSON that is cut in its first line, after byte {place}"
        told = f"is cut after byte {place}" if is_cut else f"is damaged at byte {place + 1}"
        return f"seems to be JSON that {told} (line {line}); `--format` with the name of its format takes it in"
    return "is no transcript of a format that is known here; see `gitsession formats`"


def listing(directory: PurePath) -> list[str]:
    """Returns the names in a directory, in order; none where there is none."""
    try:
        return sorted(entry.name for entry in Path(directory).iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_git_directory(directories: Sequence[str], files: Sequence[str]) -> bool:
    """Tells by what is in a directory whether it is git's, as git itself does."""
    return "HEAD" in files and {"objects", "refs"} <= {*directories}


def first_of_many(path: Path, stream: BinaryIO) -> Format | None:
    """Returns the format of a folder of files none of which is recognised by itself, given the first of them.

    Args:
        path: The file.
        stream: The file, open for reading.
    """
    for one in FORMATS.values():
        bundled = one.bundle(path, listing) if one.owner(path, listing) == path else None
        if bundled is not None:
            stream.seek(0)
            first = line_of(bundled[1][0], stream.read(_FIRST_BYTES))
            return one if one.recognise(first, bundled[0].name) else None
    return None


class PathSet:
    """Paths of files, as many as a directory may hold: some 140 bytes each."""

    def __init__(self) -> None:
        self._paths = Numbering()

    def __contains__(self, path: PurePath) -> bool:
        return str(path) in self._paths

    def update(self, paths: Iterable[PurePath]) -> None:
        """Adds paths."""
        for path in paths:
            self._paths.add(str(path))
