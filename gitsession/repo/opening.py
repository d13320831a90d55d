"""What a repository must be to be opened as a store: within reach, of plain files, and in one place."""

import errno
import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from gitsession.errors import NotAStore
from gitsession.repo.files import MOST_BYTES, MOST_GROWN_BYTES, open_plain
from gitsession.repo.refs import OWN_DIRECTORY

# What is read when a repository is opened.
PLAIN_FILES: Mapping[str, int] = {
    "HEAD": MOST_BYTES,
    "config": MOST_BYTES,
    "packed-refs": MOST_GROWN_BYTES,
    "shallow": MOST_BYTES,
}

MAKE_ONE = "make a store with `gitsession init` or `Store.init`, or name another path"
ELSEWHERE = "name another path; a store is made in a directory that is new or empty"

# What libgit2 says of a repository that it will not open, and what that means here.
_REFUSALS = {
    "object format": "is a repository of SHA-256 objects, which cannot be opened; gitsession stores are SHA-1",
    "refstorage": "keeps its refs in a reftable, which cannot be opened; migrate it to files with `git refs migrate`",
    "not owned": "belongs to another user; if you trust it, run `git config --global --add safe.directory {path}`",
    "partialclone": "is a partial clone, whose objects are elsewhere; clone it without --filter",
}


def refusal(path: Path, error: Exception) -> str:
    """Says what it means that libgit2 does not open a repository."""
    text = str(error).lower()
    for sign, meaning in _REFUSALS.items():
        if sign in text:
            return meaning.format(path=shlex.quote(str(path.resolve())))
    if (path / "HEAD").exists() or (path / ".git").exists():
        return f"is a git repository that cannot be opened: {error}"
    empty = path.is_dir() and not any(path.iterdir())
    return f"is no git repository; {MAKE_ONE if empty else ELSEWHERE}"


def require_reachable(path: Path) -> None:
    """Refuses a directory that may not be looked into; one that is not there is not refused here."""
    try:
        with os.scandir(path):
            (path / "HEAD").lstat()
    except PermissionError as error:
        raise closed(path, error) from error
    except OSError:
        return  # what is wrong shows when it is opened, or made


def closed(path: Path, error: PermissionError) -> NotAStore:
    """Returns the error of a store whose files may not be read."""
    return NotAStore(str(path), f"cannot be opened: no permission for {error.filename}; the store must belong to you")


def check_config(path: Path, config: Mapping[str, str | None]) -> None:
    """Refuses a repository whose configuration says that its objects are elsewhere."""
    for name, value in config.items():
        if name.startswith("remote.") and name.endswith(".promisor") and value != "false":
            raise NotAStore(str(path), _REFUSALS["partialclone"])


def require_plain(path: Path, file: Path, most: int) -> None:
    """Refuses a file that libgit2 would wait for, such as a pipe, or that would fill the memory."""
    try:
        opened, _ = open_plain(file, most)
    except PermissionError as error:
        if file.name in ("HEAD", "config"):
            raise closed(path, error) from error
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.EISDIR, errno.ENXIO, errno.EFBIG):
            raise NotAStore(str(path), f"{file} cannot be read: {error.strerror}") from error
    else:
        os.close(opened)


def refuse_links(path: Path, git_directory: Path) -> None:
    """Refuses a store in which a directory is a link: what is written to it would land somewhere else."""
    ends = ["objects/info", "objects/pack", "refs/heads", "logs/refs/heads"]
    ends += [f"{OWN_DIRECTORY}/{name}" for name in ("locks", "cache/ids", "cache/directories", "cache/milestones")]
    names = {part for end in ends for part in (end, *map(str, Path(end).parents))} - {"."}
    with os.scandir(git_directory / "objects") as entries:
        links = [f"objects/{entry.name}" for entry in entries if entry.is_symlink()]
    links += sorted(name for name in names if (git_directory / name).is_symlink())
    if links:
        raise NotAStore(
            str(path), f"its directory {links[0]} is a link to another place; move the content back into it"
        )
