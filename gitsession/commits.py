"""The commits of a repository, read, and walked from one backwards: each the first parent of the one before."""

import re
from collections.abc import Callable, Iterator

from gitsession.milestones import Jump, Milestones
from gitsession.repo.codec import Commit, decode_commit
from gitsession.repo.repository import Repository

_PARENT = re.compile(rb"tree [0-9a-f]{40}\nparent ([0-9a-f]{40})\n")


class Commits:
    """The commits of a repository. May be shared between threads."""

    def __init__(
        self, repository: Repository, milestones: Milestones, is_borne_out: Callable[[str, Jump], bool]
    ) -> None:
        """Takes the repository, the jumps that are kept, and what tells whether one from a commit can be believed."""
        self._is_borne_out = is_borne_out
        self._repository = repository
        self._objects = repository.objects
        self._milestones = milestones

    def read(self, oid: str) -> Commit:
        """Returns a git commit.

        Raises:
            Corrupt: It is missing or damaged.
        """
        return decode_commit(self._objects.read(oid, "commit"), oid)

    def history(self, oid: str) -> Iterator[tuple[str, Commit]]:
        """Yields a commit and those before it, each the first parent of the one before, with their ids.

        The history of a shallow clone ends where it is cut off.
        """
        shallow = self._repository.shallow()
        seen: str | None = oid
        while seen is not None:
            commit = self.read(seen)
            yield seen, commit
            seen = commit.parents[0] if commit.parents and seen not in shallow else None

    def ancestors(self, oid: str) -> Iterator[str]:
        """Yields the ids that `history` does."""
        shallow = self._repository.shallow()
        seen: str | None = oid
        while seen is not None:
            yield seen
            seen = None if seen in shallow else self._parent(seen)

    def back(self, oid: str, steps: int) -> str | None:
        """Returns the commit so many steps before another one; None where the history is shorter, or cut off.

        Raises:
            Corrupt: A commit is missing or damaged.
        """
        shallow = self._repository.shallow()
        milestone, walked = "", 0
        jumped: set[str] = set()  # no second time from the same, so that jumps that lie do not lead round for ever
        found: str | None = oid
        while found is not None and steps:
            if self._milestones.is_one(found):
                if milestone and self._is_borne_out(milestone, Jump(found, walked)):
                    self._milestones.put(milestone, Jump(found, walked))
                milestone, walked = found, 0
                jump = None if shallow or found in jumped else self._milestones.find(found)
                if jump is not None and jump.steps <= steps and self._is_borne_out(found, jump):
                    jumped.add(found)
                    found, steps, milestone = jump.oid, steps - jump.steps, ""
                    continue
            found = None if found in shallow else self._parent(found)
            steps, walked = steps - 1, walked + 1
        return found

    def _parent(self, oid: str) -> str | None:
        content = self._objects.read(oid, "commit")
        if plain := _PARENT.match(content):
            return plain[1].decode()
        return next(iter(decode_commit(content, oid).parents), None)
