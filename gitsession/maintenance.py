"""Maintenance of a store: git packs what lies about in single files, while others read and write.

Nothing is ever deleted but what is elsewhere too: no object is pruned, so a commit whose branch has not moved yet loses
nothing. What nobody needs goes with the user's own `git gc`.

- `pack-refs` puts the refs into one file.
- `repack`, without `-a`, packs the loose objects that refs reach, and `prune-packed` removes their files. (`repack -d`
  does both, but not where objects are precious: FORMAT.md.) It walks the history, and so knows the paths by which git
  finds what is alike; the task `loose-objects` of `git maintenance` does not, and its pack of a store is some three
  times as large.
- `multi-pack-index` puts the smaller packs together, as the task `incremental-repack` does.
- `commit-graph write --split` adds the new commits to git's index of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from gitsession.errors import StoreBusy, Unavailable
from gitsession.store import Store
from gitsession.sync.git import Git, said
from gitsession.sync.settings import settings, why_hooked

# So that a large store leaves memory and processors to those who work.
_GENTLY = ("-c", "pack.threads=1", "-c", "pack.windowMemory=128m")

# The most that a pack may have to be put together with others, as in git's own maintenance.
_MOST_PACK_BYTES = 2 * 1024**3


@dataclass(frozen=True, slots=True)
class Maintenance:
    """What a maintenance of a store did.

    Attributes:
        loose_before: How many objects were files of their own.
        loose_after: How many are.
        packs_before: How many packs there were.
        packs_after: How many there are.
        bytes_before: What all objects took.
        bytes_after: What they take.
        removed: How many temporary files that killed processes had left were removed; all older than two weeks.
    """

    loose_before: int
    loose_after: int
    packs_before: int
    packs_after: int
    bytes_before: int
    bytes_after: int
    removed: int


def maintain(store: Store, *, progress: Callable[[str], None] | None = None) -> Maintenance:
    """Packs what has gathered in a store, and returns what that did. Others may read and write meanwhile.

    The library never does this by itself, and starts no process but where one is asked for: call it, in a thread or a
    process of your own, when `is_maintenance_due` says so.

    Args:
        store: The store.
        progress: Is told the name of each step as it begins.

    Raises:
        StoreBusy: Another maintenance is at work.
        GitNotFound: There is no git.
        Unavailable: Git failed, and said why; what was done until then stays done. Or the store's own settings would
            have it run programs as hooks.
    """
    upkeep = store.repository.upkeep
    with upkeep.hold() as held:
        if not held:
            raise StoreBusy(str(upkeep.lock), None)
        runner = Git(store.path, durable=store.repository.disk.durable)
        if reason := why_hooked(settings(runner)):
            raise Unavailable(f"cannot pack what is in {store.path}: {reason}")
        before = upkeep.size()
        git = partial(_run, runner, progress or _tell_nobody)
        removed = upkeep.remove_left_over()
        git("pack-refs", "--all", "--prune")
        git("repack", "-l", "-q")
        git("prune-packed", "-q")
        packs = upkeep.pack_sizes()
        if len(packs) > 1:
            # All but the largest, of which git's own maintenance keeps out as well.
            size = min(packs[-2] + 1, _MOST_PACK_BYTES)
            git("multi-pack-index", "write")
            git("multi-pack-index", "repack", f"--batch-size={size}")
            git("multi-pack-index", "expire")
        else:
            upkeep.remove_pack_index()  # for one pack it only takes space
        if packs:
            git("commit-graph", "write", "--reachable", "--split")
        after = upkeep.size()
    return Maintenance(before.loose, after.loose, before.packs, after.packs, before.bytes, after.bytes, removed)


def _run(git: Git, tell: Callable[[str], None], command: str, *arguments: str) -> None:
    tell(command)
    done = git.run(*_GENTLY, command, *arguments)
    if done.code != 0:
        raise Unavailable(f"git {command} failed: {said(done.err) or f'it ended with {done.code}'}")


def _tell_nobody(_: str) -> None:
    """Takes what nobody asked for."""
