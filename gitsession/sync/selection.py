"""Which sessions a sync is about: all, some by their ids, or those whose ids match a pattern."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from gitsession.layout import HEADS, REMOTES, branch_of, session_id_of

_PATTERN = re.compile(r"[*?\[]")
# A pattern that means the same for a branch name as for a session id, so that git can be asked for just these.
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*\*[A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Selection:
    """The sessions that a sync is about.

    Attributes:
        names: Session ids, and patterns with `*`, `?` or `[…]`; None for all sessions.
    """

    names: tuple[str, ...] | None

    @classmethod
    def of(cls, sessions: Iterable[str] | None) -> "Selection":
        """Takes what a caller gives; a single text is one id or pattern, not its letters.

        Raises:
            InvalidSessionId: One is no session's id.
        """
        sessions = [sessions] if isinstance(sessions, str) else sessions
        chosen = cls(None if sessions is None else tuple(dict.fromkeys(sessions)))
        chosen.branches()
        return chosen

    def branches(self) -> list[str] | None:
        """Returns the branches of the sessions, where all are named by their ids; None where some have to be found."""
        if self.names is None or any(map(_PATTERN.search, self.names)):
            return None
        return [branch_of(name) for name in self.names]

    def takes(self, branch: str) -> bool:
        """Tells whether a branch's session is one of them."""
        if self.names is None:
            return True
        session_id = session_id_of(branch)
        return any(session_id == name or _matches(session_id, name) for name in self.names)

    def absent(self, branches: Iterable[str]) -> list[str]:
        """Returns the names, ids and patterns, which mean none of some branches."""
        there = {session_id_of(branch) for branch in branches}
        return [
            name for name in self.names or () if name not in there and not any(_matches(one, name) for one in there)
        ]

    def refspecs(self, remote: str, listed: Callable[[], Sequence[str]]) -> list[str]:
        """Returns what git is to fetch: one refspec for each session, so that no other is asked for.

        Args:
            remote: The name of the remote.
            listed: Returns the branches that the remote has; asked only where a pattern says too little to git.
        """
        if self.names is None:
            return [refspec("*", remote)]
        names = [name for name in self.names if not _PATTERN.search(name)]
        patterns = [name for name in self.names if _PATTERN.search(name)]
        plain = [pattern for pattern in patterns if _PLAIN.fullmatch(pattern)]
        branches = [*map(branch_of, names), *plain]
        if len(plain) < len(patterns):
            branches += [branch for branch in listed() if self.takes(branch)]
        return [refspec(branch, remote) for branch in dict.fromkeys(branches)]


def refspec(branch: str, remote: str) -> str:
    """Returns what git is to fetch for a branch, never by force: what is known of a remote only moves forward."""
    return f"{HEADS}{branch}:{REMOTES}{remote}/{branch}"


def _matches(session_id: str, pattern: str) -> bool:
    return bool(_PATTERN.search(pattern)) and fnmatchcase(session_id, pattern)
