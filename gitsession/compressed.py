"""Transcripts that an agent has compressed: read as if they were not, and left alone beside their plain file.

Codex compresses its older rollouts with Zstandard. The library for it comes with Python from 3.14 on, and before that
with the extra `zstd`.
"""

import io
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, cast

from gitsession.errors import UnknownTranscript

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    try:
        from backports import zstd
    except ImportError:
        zstd = None  # type: ignore[assignment]  # a module, or none

SUFFIX = ".zst"
_MAGIC = b"\x28\xb5\x2f\xfd"


def open_transcript(path: Path) -> BinaryIO:
    """Opens a transcript for reading bytes, decompressed where it is compressed.

    Raises:
        OSError: It cannot be read. Reading raises it too, where what is compressed is damaged.
        UnknownTranscript: It is compressed, and the library for it is not installed.
    """
    stream = path.open("rb")
    compressed = stream.peek(len(_MAGIC)).startswith(_MAGIC)
    if not compressed:
        return stream
    if zstd is None:
        stream.close()
        reason = "is compressed with Zstandard; `pip install 'gitsession[zstd]'` lets it be read"
        raise UnknownTranscript(str(path), reason)
    return cast("BinaryIO", io.BufferedReader(_Decompressed(stream)))


def plain_name(path: Path) -> Path:
    """Returns the path that a transcript has when it is not compressed."""
    return path.with_suffix("") if path.suffix == SUFFIX else path


def without_compressed_copies(names: Sequence[str]) -> list[str]:
    """Returns the names of a directory's files without those whose plain file lies beside them, and wins."""
    there = set(names)
    return [name for name in names if not (name.endswith(SUFFIX) and name.removesuffix(SUFFIX) in there)]


class _Decompressed(io.RawIOBase):
    """What a compressed file holds; damage is an `OSError`, as that of a file is."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._file = zstd.ZstdFile(stream)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview", /) -> int:  # type: ignore[override]  # any writable buffer
        try:
            return self._file.readinto(buffer)
        except (zstd.ZstdError, EOFError) as error:
            raise OSError(f"what is compressed in it is damaged: {error}") from error

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._file.seek(offset, whence)

    def close(self) -> None:
        if not self.closed:
            with closing(self._stream), closing(self._file):
                super().close()
