"""Where the agents keep their files on this machine: the places that the formats declare, in this environment."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePath

from gitsession import FORMATS, Format

from .location import home_directory

# `${NAME:-otherwise}` without another one in it, and so the innermost first.
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^${}]*))?\}")
# A part of a declared path; a variable, with another one in it at most, is of one part.
_PART = re.compile(r"(?:\$\{(?:[^{}]|\$\{[^{}]*\})*\}|[^/])+")


@dataclass(frozen=True, slots=True)
class Place:
    """A place where an agent keeps its files.

    Attributes:
        format: The format of its files.
        path: The directory, or the file; a pattern that no file matches.
        declared: How the format declares it.
    """

    format: Format
    path: Path
    declared: str

    @property
    def exists(self) -> bool:
        """Whether anything is there that can be looked at."""
        try:
            return self.path.exists()
        except OSError:
            return False

    @property
    def files(self) -> int:
        """How many of the agent's own files are there; those of one transcript count once."""
        if not self.path.is_dir():
            return int(self.exists)
        listing = cache(_names)
        own = (
            Path(directory, name)
            for directory, _, names in os.walk(self.path)
            for name in names
            if is_named_as_own(self.format, name)
        )
        return sum(self.format.owner(path, listing) in (None, path) for path in own)


def _names(directory: PurePath) -> Sequence[str]:
    try:
        return sorted(os.listdir(directory))  # noqa: PTH208  # no paths are wanted of thousands of files
    except OSError:
        return []


def places(environment: Mapping[str, str] = os.environ, home: Path | None = None) -> Iterator[Place]:
    """Yields the places of all formats, each path once, whether anything is there or not."""
    seen: set[Path] = set()
    for found in FORMATS.values():
        for declared in found.places:
            pattern = expanded(declared, environment, home)
            for path in matching(pattern) or [pattern]:
                if path not in seen:
                    seen.add(path)
                    yield Place(found, path, declared)


def is_named_as_own(found: Format, name: str) -> bool:
    """Tells whether a file in a place of an agent's is called as its own are; a copy that an editor left is not."""
    return not name.startswith((".", "#")) and any(fnmatchcase(name, pattern) for pattern in found.names)


def takes_own_files(environment: Mapping[str, str] = os.environ, home: Path | None = None) -> Callable[[Path], bool]:
    """Returns what tells of a file whether it is an agent's own, if it lies in an agent's place."""
    known = {place.path: place.format for place in places(environment, home)}

    def takes(path: Path) -> bool:
        found = next((known[one] for one in path.absolute().parents if one in known), None)
        return found is None or is_named_as_own(found, path.name)

    return takes


def watched_paths(environment: Mapping[str, str] = os.environ, home: Path | None = None) -> list[Path]:
    """Returns the paths that change when a transcript grows: all places, and where the pieces of bundles lie."""
    declared = [one for found in FORMATS.values() for one in (*found.places, *found.pieces)]
    return [*dict.fromkeys(expanded(one, environment, home) for one in declared)]


def matching(pattern: Path) -> list[Path]:
    """Returns what a path stands for that may have a `*` in its last part: itself, or the files that are there."""
    if "*" not in pattern.name or os.path.lexists(pattern):
        return [pattern]
    return sorted(pattern.parent.glob(pattern.name))


def expanded(declared: str, environment: Mapping[str, str], home: Path | None = None) -> Path:
    """Returns the path of a declared place; a variable that is empty is as if it were not set, as in a shell.

    A variable whose value is an absolute path stands for all that is before it, too.

    Raises:
        click.UsageError: There is no home directory.
    """

    def value(match: re.Match[str]) -> str:
        return environment.get(match[1]) or match[2] or ""

    parts = []
    for part in _PART.findall(declared):
        before, after = "", part
        while before != after:
            before, after = after, _VARIABLE.sub(value, after)
        parts.append(after)
    path = Path("/" if declared.startswith("/") else "", *parts)
    if path.parts[:1] == ("~",):
        path = (home or home_directory()).joinpath(*path.parts[1:])
    with suppress(FileNotFoundError):  # the current directory is gone, and so is what would be in it
        return path.absolute()
    return path
