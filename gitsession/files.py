"""Opens what a transcript consists of: one file, or the files of a bundle as one stream."""

import io
from collections.abc import Sequence
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


def listing(directory: PurePath) -> list[str]:
    """Returns the names in a directory, in order; none where there is none."""
    try:
        return sorted(entry.name for entry in Path(directory).iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
