"""The files of transcripts: which lie below a directory, and what one consists of, one file or many as one stream."""

import io
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import BinaryIO

from gitsession.transcripts.bundle import line_of, order


def whole(path: Path, bundled: tuple[PurePath, Sequence[PurePath]] | None, stream: BinaryIO) -> BinaryIO:
    """Returns the transcript that a file is, or the first file of.

    Args:
        path: The file.
        bundled: What its format's `bundle` tells of it.
        stream: The file, open for reading at its beginning.

    Raises:
        OSError: A file cannot be read. One that vanished since its directory was listed is left out.
    """
    if bundled is None:
        return stream
    root, paths = bundled
    named = {one.relative_to(root).as_posix(): Path(one) for one in paths if one != path}
    lines = [line_of(path.relative_to(root).as_posix(), stream.read())]
    for name in sorted(named, key=order):
        try:
            lines.append(line_of(name, named[name].read_bytes()))
        except FileNotFoundError:
            continue
    return io.BytesIO(b"".join(lines))


def walk(path: Path, onerror: Callable[[OSError], None] | None = None) -> Iterator[tuple[Path, list[str]]]:
    """Yields each directory from a path down, in the order of their names, and the names of its files.

    Git directories are passed over, the store among them: nobody keeps transcripts there, and an object may hold what
    looks like one.
    """
    for directory, directories, names in os.walk(path, onerror=onerror):
        if _is_git_directory(directories, names):
            directories.clear()
            continue
        directories.sort()
        yield Path(directory), names


def listing(directory: PurePath) -> list[str]:
    """Returns the names in a directory, in order; none where there is none."""
    try:
        return sorted(entry.name for entry in Path(directory).iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_git_directory(directories: Sequence[str], files: Sequence[str]) -> bool:
    """Tells by what is in a directory whether it is git's, as git itself does."""
    return "HEAD" in files and {"objects", "refs"} <= {*directories}
