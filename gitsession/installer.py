"""Putting an exported transcript where its agent looks for it, and never over anything that is there.

It is written beside its place, under a name that no agent looks for, and then moved there as a whole: so nobody finds
half of it, whatever stops the writing.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import SpooledTemporaryFile, TemporaryDirectory
from typing import IO, BinaryIO, cast

from gitsession.errors import NothingToExport, TranscriptExists
from gitsession.exporter import Export
from gitsession.transcripts import FORMATS, bundle

# What is kept in memory of a transcript before it is written to a temporary file, in bytes.
_SPOOLED = 16 * 1024 * 1024
# How the name of a folder begins that holds what is not yet in its place; `.` keeps it out of listings.
_UNFINISHED = ".gitsession-"


def install_transcript(export: Export, path: Path) -> bool:
    """Writes a transcript where its agent finds it, and never over a file that is there.

    Args:
        export: The transcript.
        path: The file, or the folder; its directories are made.

    Returns:
        Whether it was written; False if the same transcript is there already.

    Raises:
        NothingToExport: Nobody says anything in it.
        TranscriptExists: Another file is there.
        OSError: The disk refuses; then nothing is left of it.
    """
    if export.empty:
        raise NothingToExport(export.session_id)
    with SpooledTemporaryFile(_SPOOLED) as content:
        # Composed as a whole before, so that an error leaves no half of it for the agent to find.
        content.writelines(export.lines)
        path.parent.mkdir(parents=True, exist_ok=True)
        return _install_folder(export, path, content) if export.folder else _install_file(path, content)


def _install_file(path: Path, content: IO[bytes]) -> bool:
    if not os.path.lexists(path):
        with TemporaryDirectory(prefix=_UNFINISHED, dir=path.parent) as unfinished:
            # Without the ending by which an agent knows its own.
            made = Path(unfinished, "transcript")
            _write(made, _chunks(content))
            with suppress(FileExistsError):
                _move(made, path)
                return True
    if path.is_file() and _holds(path, content):
        return False
    raise TranscriptExists(str(path), _size(path))


def _move(file: Path, path: Path) -> None:
    """Gives a file its place, and raises `FileExistsError` where that is taken."""
    try:
        os.link(file, path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links, such as exFAT: the name is taken first, and then what took it is replaced.
        path.touch(0o600, exist_ok=False)
        file.replace(path)


def _install_folder(export: Export, path: Path, content: IO[bytes]) -> bool:
    if not os.path.lexists(path):
        with TemporaryDirectory(prefix=_UNFINISHED, dir=path.parent) as unfinished:
            # One level deeper than an agent's own folders, so that it is none of theirs if it is left behind.
            made = Path(unfinished, path.name)
            made.mkdir(0o700)
            for name, whole in _files(export, content):
                file = made / name
                file.parent.mkdir(exist_ok=True)
                _write(file, [whole])
            try:
                # Refused where something has come there meanwhile, unless that is an empty directory.
                made.rename(path)
            except OSError:
                if not os.path.lexists(path):
                    raise
            else:
                return True
    if path.is_dir() and _is_same(path, _files(export, content)):
        return False
    raise TranscriptExists(str(path), _size(path))


def _write(path: Path, content: Iterable[bytes]) -> None:
    """Writes a file that is open to its owner alone, where none is yet."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        stream.writelines(content)


def _files(export: Export, content: IO[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yields the files of a folder, the one by which it is recognised last."""
    content.seek(0)
    first: tuple[str, bytes] | None = None
    for record in FORMATS[export.format].read(cast("BinaryIO", content)):
        if bundle.is_file(record.value):
            file = record.value["path"], record.value["text"].encode("utf-8", "surrogateescape")
            if first is None:
                first = file
            else:
                yield file
    if first is not None:
        yield first


def _is_same(path: Path, files: Iterator[tuple[str, bytes]]) -> bool:
    """Tells whether a folder has these files, and no others in the directories below it that it has them in."""
    own: set[Path] = set()
    for name, whole in files:
        file = path / name
        if not file.is_file() or file.read_bytes() != whole:
            return False
        own.add(file)
    inner = {file.parent for file in own} - {path}
    # What is hidden is a lock of the agent's, or the like.
    return {file for each in inner for file in each.iterdir() if not file.name.startswith(".")} <= own


def _size(path: Path) -> int | None:
    """Returns how many bytes there are in a file or a folder; None where there is neither."""
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size if path.exists() else None


def _holds(path: Path, content: IO[bytes]) -> bool:
    """Tells whether a file holds just this."""
    with path.open("rb") as there:
        return all(there.read(len(chunk)) == chunk for chunk in _chunks(content)) and not there.read(1)


def _chunks(content: IO[bytes]) -> Iterator[bytes]:
    content.seek(0)
    while chunk := content.read(1 << 16):
        yield chunk
