"""Which files an import has taken to their end already, so that what did not change since is not parsed again.

The cache is a file in the store's own directory, and may be deleted at any time: it makes an import quick, and never
its answer another one. An entry is believed only if all that the answer was made from is still as it was: the file
(path, size, times, inode), what was asked for, the branches that the file's records are on, the version of the commits'
text, and the code that reads files. A file that changed within two seconds before it was looked at is not remembered: a
further change in the same tick of the file system's clock would not show. For a session in a database its rows say what
the file system says of a file.

The file is a log of JSON lines, the last one of a path holds. Each import appends its lines in one write, so several
may run at once; a line that cannot be read is as if it were not there. Where the cache cannot be read or written,
there is none.
"""

import json
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from gitsession.jsonl import FORMAT, TEXTS
from gitsession.repo.files import MOST_GROWN_BYTES, append_file, private, read_file
from gitsession.results import ImportResult, Problem

# As git's "racily clean" rule, for the coarsest clock of a file system in use (FAT: two seconds).
_RACY_NS = 2_000_000_000

# A file with more is taken anew each time: every import reads the whole log into memory.
_MOST_PROBLEMS = 1000

# A log is rewritten when it has this many lines, and twice as many as there are paths.
_MOST_LINES = 2000


@dataclass(frozen=True, slots=True)
class Asked:
    """What an import was asked to do with a file: the format that was forced, if any, and whether to redact."""

    format: str | None = None
    redact: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """What the file system says of a transcript's files, and when it was asked.

    Attributes:
        path: The first of them, absolute.
        state: Of one file the size, the modification and change times (in ns) and the inode; of several all that, and
            their paths, as a digest.
        size: How many bytes they have.
        racy: Whether a further change might not show in the state.
    """

    path: str
    state: list[int] | str
    size: int
    racy: bool

    @classmethod
    def at(cls, paths: Iterable[Path]) -> "Look":
        """Returns what is said of files now, of one or of many.

        Raises:
            OSError: One of them is not there, or cannot be asked about.
        """
        digest, state, first = sha256(), [0], ""
        count = size = newest = 0
        for path in paths:
            stat = path.stat()
            count += 1
            state = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
            first = first or os.path.abspath(path)  # noqa: PTH100  # a link stays one
            digest.update(f"{path}\0{state}\n".encode("utf-8", "surrogateescape"))
            size += stat.st_size
            newest = max(newest, *state[1:3])
        racy = time.time_ns() - newest < _RACY_NS
        return cls(first, state if count == 1 else digest.hexdigest(), size, racy)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a file that did not change.

    Attributes:
        result: What an import of it would say again.
        refs: The branches that its records are on, and the commits that they were at; None for one that was not there.
    """

    result: ImportResult
    refs: Mapping[str, str | None]


class ImportCache:
    """The cache of one store, as one import uses it."""

    def __init__(self, directory: Path) -> None:
        """Names the cache in the store's own directory; it is read when it is first asked."""
        self._path = directory / "imports.jsonl"
        self._entries: dict[str, dict[str, Any]] | None = None
        self._new: list[dict[str, Any]] = []
        self._lines = 0

    def format_of(self, path: Path) -> str | None:
        """Returns the format that a file had when it was imported the last time; None if that is not known."""
        if self._entries is None:
            self._entries = self._read()
        entry = self._entries.get(os.path.abspath(path))  # noqa: PTH100  # as above
        name = entry.get("format") if entry else None
        return name if isinstance(name, str) else None

    def find(self, path: Path, look: Look, asked: Asked) -> Known | None:
        """Returns what is known of a file; None if it has to be read. The caller compares the branches."""
        if self._entries is None:
            self._entries = self._read()
        entry = self._entries.get(look.path)
        if entry is None or [entry.get(key) for key in _KEY] != [look.state, *_terms(asked)]:
            return None
        try:
            name, session, refs = entry["format"], entry["session"], dict(entry["refs"])
            flags = {key: entry[key] for key in ("unfinished", "behind", "redacted")}
            problems = tuple(Problem(int(line), str(reason)) for line, reason in entry["problems"])
        except (KeyError, TypeError, ValueError, OverflowError):
            return None
        texts = (name, session, *(oid for oid in refs.values() if oid is not None))
        if not all(isinstance(text, str) for text in texts) or not all(
            flag in (False, True) for flag in flags.values()
        ):
            return None
        result = ImportResult(path, name, session, 0, branch_created=False, problems=problems, **flags)
        return Known(result, refs)

    def add(self, look: Look, asked: Asked, result: ImportResult, refs: Mapping[str, str | None]) -> None:
        """Remembers a file that was imported to its end and looked the same before and after."""
        if look.racy or _code() is None or len(result.problems) > _MOST_PROBLEMS:
            return
        terms = dict(zip(_KEY, [look.state, *_terms(asked)], strict=True))
        told = {"format": result.format, "session": result.session, "unfinished": result.unfinished}
        told |= {"behind": result.behind, "redacted": result.redacted}
        problems = [[problem.line, problem.reason] for problem in result.problems]
        self._new.append({"path": look.path, **terms, **told, "problems": problems, "refs": dict(refs)})

    def save(self) -> None:
        """Writes what was added since the last time; what cannot be written is forgotten."""
        if not self._new:
            return
        # It begins with a newline, in case that the last writer was cut off in its line.
        text = "\n" + "".join(json.dumps(entry) + "\n" for entry in self._new)
        with suppress(OSError):
            append_file(self._path, text.encode())
        if self._entries is not None:
            self._entries |= {entry["path"]: entry for entry in self._new}
            self._lines += len(self._new)
            if self._lines > max(_MOST_LINES, 2 * len(self._entries)):
                self._rewrite(self._entries)
        self._new = []

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            lines = read_file(self._path, most=MOST_GROWN_BYTES, follow=False).split(b"\n")
        except FileNotFoundError:
            return {}
        except OSError:
            self._lines = _MOST_LINES  # so that it is replaced by one that can be read
            return {}
        found: dict[str, dict[str, Any]] = {}
        for line in lines:
            with suppress(ValueError, RecursionError):
                entry = json.loads(line) if line else None
                if isinstance(entry, dict) and isinstance(entry.get("path"), str):
                    found[entry["path"]] = entry
        self._lines = len(lines)
        return found

    def _rewrite(self, entries: dict[str, dict[str, Any]]) -> None:
        """Leaves the last line of each path; what another import appends meanwhile is forgotten, and found anew."""
        temporary = self._path.with_name(f"imports.{os.urandom(8).hex()}.tmp")
        with suppress(OSError):
            with open(temporary, "xb", opener=private) as file:  # pathlib takes no opener
                file.writelines(json.dumps(entry).encode() + b"\n" for entry in entries.values())
            temporary.replace(self._path)
            self._lines = len(entries)


_KEY = ("state", "code", "chosen", "redact")


def _terms(asked: Asked) -> list[Any]:
    return [_code(), asked.format, asked.redact]


@cache
def _code() -> str | None:
    """Returns what tells one version of this package from another; None where it does not lie in a directory.

    It is made from the modules themselves, so that no change of a format can be forgotten here.
    """
    digest = sha256(f"{FORMAT} {TEXTS}".encode())
    package = Path(__file__).parent
    try:
        for directory in (package, package / "transcripts"):
            for entry in sorted(os.scandir(directory), key=lambda entry: entry.name):
                if entry.name.endswith(".py"):
                    stat = entry.stat()
                    digest.update(
                        f"{entry.path}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode("utf-8", "surrogateescape")
                    )
    except OSError:
        return None
    return digest.hexdigest()[:16]
