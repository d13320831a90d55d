"""A git repository as a store needs it: opened with care, and moved from one head to the next safely."""

import os
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

import pygit2

from gitsession.errors import Corrupt, NotAStore, Unavailable, UnsupportedFormat
from gitsession.jsonl import FORMAT
from gitsession.layout import HEADER_NAME, HEADS
from gitsession.repo.codec import decode_commit, decode_tree
from gitsession.repo.disk import Disk
from gitsession.repo.files import (
    make_directory,
    read_file,
    translated,
    write_all,
)
from gitsession.repo.gc import wait_for_gc
from gitsession.repo.locks import SessionLocks
from gitsession.repo.objects import Objects
from gitsession.repo.opening import (
    ELSEWHERE,
    MAKE_ONE,
    PLAIN_FILES,
    check_config,
    closed,
    refusal,
    refuse_links,
    require_plain,
    require_reachable,
)
from gitsession.repo.refs import OWN_DIRECTORY, RefBlocked, RefMoved, Refs
from gitsession.repo.upkeep import Upkeep

# Version 0 is SHA-1 objects and refs in files by definition, whatever git's defaults become.
CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\tsharedRepository = 0600
\tlogAllRefUpdates = true
\tfsync = all
[receive]
\tdenyNonFastForwards = true
\tdenyDeletes = true
[transfer]
\tfsckObjects = true
[gitsession]
\tformat = 1
"""

# What git takes for "true" in its configuration.
TRUE = ("true", "yes", "on", "1")


class Move(NamedTuple):
    """A branch that is to be moved.

    Attributes:
        branch: Its name, without `refs/heads/`.
        expected: The commit it must be at; None for a branch that must not exist.
        new: The commit it is moved to.
        reason: What the reflog says.
    """

    branch: str
    expected: str | None
    new: str
    reason: str


class Batch(Protocol):
    """Objects that are to be stored before a ref moves to the last of them."""

    def store(self) -> None:
        """Stores the objects, durably."""

    def restore(self) -> bool:
        """Stores again those that a collection took before the ref reached them; tells whether there were any."""


class Repository:
    """One open repository. May be shared between threads.

    Attributes:
        path: The git directory.
        disk: What makes writing durable.
        objects: Its objects.
        refs: Its refs.
        locks: The locks of its writers.
        upkeep: What its maintenance looks at.
        maintains: Whether it may be maintained without being asked (`gitsession.maintain`).
        ignores_case: Whether its file system takes `A` and `a` for the same branch.
        wait: For how long a lock, or a collection, is waited for, in seconds.
    """

    def __init__(self, path: Path, *, durable: bool, wait: float, ignores_case: bool, maintains: bool = True) -> None:
        self.path = path
        self.disk = Disk(path, durable=durable)
        self.objects = Objects(path / "objects", self.disk)
        self.refs = Refs(path, self.disk, wait=wait)
        self.locks = SessionLocks(path / OWN_DIRECTORY / "locks", wait=wait)
        self.upkeep = Upkeep(path, path / OWN_DIRECTORY)
        self.maintains = maintains
        self.ignores_case = ignores_case
        self.wait = wait

    def __reduce__(self) -> tuple[object, ...]:
        # In another process it is opened again: locks, caches and open files stay where they are.
        return partial(Repository.open, durable=self.disk.durable, wait=self.wait), (self.path,)

    @classmethod
    def init(cls, path: Path, *, durable: bool, wait: float) -> "Repository":
        """Makes a bare repository, readable by its owner alone, or opens the store that is there.

        Raises:
            NotAStore: Something else is there.
            Unavailable: The disk refuses.
        """
        require_reachable(path)
        with translated(f"make a store at {path}"):
            if path.exists() and not path.is_dir():
                raise NotAStore(str(path), "is a file; a store is a directory")
            if not path.is_dir() or _is_unfinished(path):
                _make(path, durable=durable)
        return cls.open(path, durable=durable, wait=wait)

    @classmethod
    def open(cls, path: Path, *, durable: bool, wait: float) -> "Repository":
        """Opens the repository of a store: a bare one, or the `.git` of a work tree.

        Raises:
            NotAStore: There is none, it cannot be opened, or it holds something else.
            UnsupportedFormat: It was written in a version that is not known here.
            Unavailable: The disk could not be read.
        """
        require_reachable(path)
        if not path.exists():
            raise NotAStore(str(path), f"there is no store; {MAKE_ONE}")
        for file, most in ((path / place / name, most) for place in ("", ".git") for name, most in PLAIN_FILES.items()):
            require_plain(path, file, most)
        try:
            found = pygit2.Repository(str(path), pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
        except (pygit2.GitError, KeyError, ValueError, OSError) as error:
            raise NotAStore(str(path), refusal(path, error)) from error
        git_directory = Path(found.path)
        try:
            config = {entry.name: entry.value for entry in found.config}
        except (pygit2.GitError, KeyError, ValueError, OSError) as error:
            raise NotAStore(str(path), f"its git configuration cannot be read: {error}") from error
        check_config(path, config)
        try:
            refuse_links(path, git_directory)
        except PermissionError as error:
            raise closed(path, error) from error
        if (git_directory / "objects" / "info" / "alternates").exists():
            raise NotAStore(
                str(path),
                "borrows objects from another repository (objects/info/alternates); "
                "run `git repack -a -d` in it and remove that file",
            )
        ignores_case = config.get("core.ignorecase") in TRUE
        maintains = config.get("gitsession.maintain", TRUE[0]) in TRUE
        made = cls(git_directory, durable=durable, wait=wait, ignores_case=ignores_case, maintains=maintains)
        if "gitsession.format" not in config:
            made.require_sessions()
        elif config["gitsession.format"] != str(FORMAT):
            raise UnsupportedFormat(str(path), config["gitsession.format"], [FORMAT])
        return made

    def require_sessions(self) -> None:
        """Refuses a repository that is not marked as a store and holds no session: an ordinary one.

        Raises:
            NotAStore: It has branches, and none of the first 100 is a session.
        """
        seen = 0
        for prefix in (HEADS, "refs/remotes/"):
            for _, value in self.refs.below(prefix):
                seen += 1
                if isinstance(value, str) and self._is_session(value):
                    return
                if seen == 100:
                    break
        if seen or (self.path.name == ".git"):
            raise NotAStore(str(self.path), f"is a git repository, but no store of sessions; {ELSEWHERE}")

    def shallow(self) -> frozenset[str]:
        """Returns the commits whose parents are elsewhere: where the history of a shallow clone begins.

        Raises:
            Unavailable: The disk could not be read.
        """
        try:
            with translated("read where the history begins"):
                return frozenset(read_file(self.path / "shallow").decode("ascii", "replace").split())
        except Unavailable as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return frozenset()
            raise

    def move(self, move: Move, batch: Batch) -> None:
        """Stores objects and then moves a branch to the commit among them; the caller holds the session's lock.

        When it returns, the move survives a power cut (where durable). `outlive_gc` is for a `git gc` that runs
        meanwhile.

        Raises:
            RefMoved: The branch is elsewhere; nothing was changed.
            RefBlocked: A branch stands in the way of a new one.
            StoreBusy: A lock stayed held.
            Unavailable: The disk refuses. Where the branch has moved all the same, trying again finds it so.
        """
        batch.store()
        self._swap(move)

    def move_all(self, moves: Iterable[Move], batch: Batch) -> list[tuple[Move, RefMoved | RefBlocked]]:
        """Stores objects and then moves branches to commits among them, each under its session's lock.

        When it returns, the moves survive a power cut (where durable), and any `git gc` that ran meanwhile.

        Returns:
            The moves that could not be made, because the branch is elsewhere, and why.

        Raises:
            StoreBusy: A lock stayed held.
            Unavailable: The disk refuses; some branches may have moved.
        """
        self.let_gc_end()
        batch.store()
        failed: list[tuple[Move, RefMoved | RefBlocked]] = []
        for move in moves:
            try:
                with self.locks.hold(move.branch):
                    self._swap(move)
            except (RefMoved, RefBlocked) as error:
                failed.append((move, error))
        self.outlive_gc(batch)
        return failed

    def settle(self, branch: str) -> None:
        """Makes durable where a branch is.

        Raises:
            Unavailable: The disk refuses.
        """
        with translated(f"make the branch {branch} durable"):
            self.refs.settle(HEADS + branch)

    def let_gc_end(self) -> None:
        """Waits for the end of a collection that is at work, before a branch is moved.

        It might not see the branch move, and a writer that is killed then can store nothing again. One that begins
        now packs for longer, before it looks at the refs and prunes, than a branch takes to move.

        Raises:
            Unavailable: It runs for longer than the store waits.
        """
        with translated("look for a running `git gc`"):
            over = wait_for_gc(self.path, self._deadline())
        if not over:
            raise self._outlasted("nothing was written")

    def outlive_gc(self, batch: Batch) -> None:
        """Waits for the end of a collection that may not have seen a branch move, and stores again what it took.

        The objects are looked for also where none is running: one may have ended just before. What is there then, no
        later one takes.

        Args:
            batch: The objects that the branch was moved to.

        Raises:
            Unavailable: It runs for longer than the store waits, or the disk refuses.
        """
        with translated("look for a running `git gc`"):
            over = wait_for_gc(self.path, self._deadline())
            if batch.restore():
                self.disk.barrier()
        if not over:
            raise self._outlasted("the commit may be lost to it")

    def _outlasted(self, outcome: str) -> Unavailable:
        return Unavailable(
            f"`git gc` has been running for too long, and {outcome}: try it again later. If the process that "
            f"{self.path / 'gc.pid'} names is gone, delete that file"
        )

    def _swap(self, move: Move) -> None:
        name = HEADS + move.branch
        try:
            self.refs.compare_and_swap(name, move.expected, move.new, reason=move.reason)
        except Unavailable:
            # In doubt: the branch may have moved before the error. If it has, all that can be missing is its sync.
            if self.refs.find(name) != move.new:
                raise
            self.settle(move.branch)

    def _deadline(self) -> float:
        return time.monotonic() + max(self.wait, 1.0)

    def _is_session(self, oid: str) -> bool:
        try:
            tree = decode_commit(self.objects.read(oid, "commit"), oid).tree
            items = decode_tree(self.objects.read(tree, "tree"), tree)
        except Corrupt:
            return False  # one damaged branch does not decide about the store
        return any(item.name == HEADER_NAME.encode() for item in items)


def _make(path: Path, *, durable: bool) -> None:
    disk = Disk(path, durable=durable)
    make_directory(path.parent, disk)
    path.mkdir(mode=0o700, exist_ok=True)
    path.chmod(0o700)
    disk.directory(path.parent)
    for directory in ("objects/info", "objects/pack", "refs/heads", "refs/tags", f"{OWN_DIRECTORY}/locks"):
        make_directory(path / directory, disk)
    # HEAD last: git takes a directory without one for no repository.
    for name, content in (("config", CONFIG), ("HEAD", "ref: refs/heads/main\n")):
        if not (path / name).exists():
            import tempfile  # noqa: PLC0415  # a store is made once, and opened often

            file, temporary = tempfile.mkstemp(prefix=f"{name}.", dir=path)
            write_all(file, content.encode())
            disk.file(file)
            os.close(file)
            disk.barrier()
            Path(temporary).replace(path / name)
    disk.directory(path)
    disk.barrier()


def _is_unfinished(path: Path) -> bool:
    """Tells whether a directory is empty, or a store that is being made or whose making was cut short."""
    made = {"objects", "refs", OWN_DIRECTORY, "config"}
    return all(entry.name in made or entry.name.startswith(("config.", "HEAD.")) for entry in path.iterdir())
