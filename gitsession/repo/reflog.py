"""The reflogs: which commits a ref was at. A line is written before its ref moves, by whoever holds the ref's lock."""

import errno
import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from gitsession.repo.disk import Disk
from gitsession.repo.files import BINARY, MOST_GROWN_BYTES, NO_FOLLOW, entries_below, make_directory, read_file

_LOG_LINE = re.compile(rb"([0-9a-f]{40}) ([0-9a-f]{40}) [^\0\n]*> -?[0-9]+ [+-][0-9]{4}(?:\t[^\0\n]*)?")
_PERSON = "gitsession <meta@gitsession.invalid>"

# What is read at a time where the end of the last whole line is looked for.
_STEP = 1 << 20

# What stands in a line where there was no commit before, or is none any more.
NO_COMMIT = "0" * 40


class Move(NamedTuple):
    """One line of a reflog: from which commit to which a ref moved; None stands for no commit."""

    old: str | None
    new: str | None


class Log(NamedTuple):
    """A ref's log.

    Attributes:
        moves: The moves that it tells of, oldest first.
        damaged: The numbers of the lines that cannot be read.
        unfinished: Whether it ends in the middle of a line, which counts as none.
    """

    moves: tuple[Move, ...]
    damaged: tuple[int, ...]
    unfinished: bool


def read_log(path: Path, name: str) -> Log:
    """Reads a ref's log."""
    try:
        content = read_file(path / "logs" / name, most=MOST_GROWN_BYTES)
    except OSError as error:
        # One that is too large is there, and its first line has no end that can be looked for.
        return Log((), (1,) if error.errno == errno.EFBIG else (), unfinished=False)
    moves, damaged = [], []
    *lines, rest = content.split(b"\n")
    for number, line in enumerate(lines, 1):
        match = _LOG_LINE.fullmatch(line)
        if match is None:
            damaged.append(number)
        else:
            old, new = match[1].decode(), match[2].decode()
            moves.append(Move(old if old != NO_COMMIT else None, new if new != NO_COMMIT else None))
    return Log(tuple(moves), tuple(damaged), bool(rest))


def logged_names(path: Path, prefix: str) -> list[str]:
    """Returns the names of the refs below a prefix that have a log, sorted."""
    logs = f"{path / 'logs'}{os.sep}"
    return sorted(
        entry.path[len(logs) :].replace(os.sep, "/")
        for entry in entries_below(logs + prefix)
        if entry.is_file() and not entry.name.endswith(".lock")
    )


def add_line(path: str, old: str | None, new: str, reason: str, disk: Disk) -> bytes:
    """Adds a line to a ref's log and returns it.

    It is not synced by itself: the log is a second witness, and after a power cut the ref is the better one.

    Args:
        path: The log; it and its directories are made.
        old: The commit that the ref was at; None for a new one.
        new: The commit that it will be at.
        reason: Why.
        disk: The disk.

    Raises:
        OSError: The disk refuses; then nothing is left of the line.
    """
    line = f"{old or NO_COMMIT} {new} {_PERSON} {int(time.time())} +0000\t{reason}\n".encode()
    # A link in place of the log would lead out of the store.
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | BINARY | NO_FOLLOW
    try:
        file = os.open(path, flags, 0o600)
    except FileNotFoundError:
        make_directory(Path(path).parent, disk)
        file = os.open(path, flags, 0o600)
    try:
        _remove_half_line(file)
        written = 0
        try:
            while written < len(line):
                written += os.write(file, line[written:])
        except OSError:
            _take_back(file, path, written)
            raise
    finally:
        os.close(file)
    return line


def take_back_line(path: str, line: bytes) -> None:
    """Takes a line back from the end of a ref's log, so that no log tells of a move that its writer gave up."""
    with suppress(OSError):
        file = os.open(path, os.O_RDWR | BINARY | NO_FOLLOW)
        try:
            os.lseek(file, -len(line), os.SEEK_END)
            if os.read(file, len(line)) == line:
                _take_back(file, path, len(line))
        finally:
            os.close(file)


def _remove_half_line(file: int) -> None:
    """Removes what a power cut has left of the last line: its ref did not move, and the next line is none of its."""
    end = os.lseek(file, 0, os.SEEK_END)
    if end == 0 or _read_at(file, end - 1, 1) == b"\n":
        return
    while end:
        start = max(end - _STEP, 0)
        place = _read_at(file, start, end - start).rfind(b"\n")
        end = start
        if place >= 0:
            end += place + 1
            break
    os.ftruncate(file, end)


def _read_at(file: int, place: int, length: int) -> bytes:
    os.lseek(file, place, os.SEEK_SET)
    return os.read(file, length)


def _take_back(file: int, path: str, written: int) -> None:
    """Takes back what was written to the end of a log, so that a full disk leaves no half line and no empty log."""
    with suppress(OSError):
        size = os.fstat(file).st_size - written
        os.ftruncate(file, size)
        if size == 0:
            os.unlink(path)  # noqa: PTH108
