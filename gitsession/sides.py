"""The other side of a session: what a remote was last known to have of it, read as `S@remote`.

`git fetch` keeps it under `refs/remotes/<remote>/<branch>`. It is read like any session and never written to: the next
fetch moves it on. Git's own commits tell how two sides stand to each other, since a session has one line of commits.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from gitsession.errors import SessionError
from gitsession.layout import HEADS, REMOTES, session_id_of
from gitsession.reading import Reader


class Relation(NamedTuple):
    """How two states of a session stand to each other.

    Attributes:
        meeting: The last commit that both have; None where they have none in common.
        ours: How many commits ours has of its own.
        theirs: How many commits theirs has of its own.
    """

    meeting: str | None
    ours: int
    theirs: int

    @property
    def diverged(self) -> bool:
        """Whether each has commits that the other lacks."""
        return bool(self.ours and self.theirs)


@dataclass(frozen=True, slots=True)
class OtherSide:
    """A session as a remote was last known to have it.

    Attributes:
        id: The name under which it is read, `S@remote`.
        session: The session's id.
        remote: The name of the remote.
        oid: The git commit, 40 hex digits; None where the ref is damaged.
        exists_here: Whether the store has a session `session`.
        ours: How many deltas the session has here that the remote lacks.
        theirs: How many deltas the remote has that the session lacks here; 0 where it is the header that changed.
        diverged: Whether both have commits that the other lacks.
        error: What is wrong, where one of the two cannot be read; the numbers are 0 then.
    """

    id: str
    session: str
    remote: str
    oid: str | None
    exists_here: bool
    ours: int
    theirs: int
    diverged: bool = False
    error: SessionError | None = None


def other_sides(reader: Reader) -> Iterator[OtherSide]:
    """Yields what the remotes have that is not in the store's own sessions, sorted by session and remote."""
    tracked = [*tracked_branches(reader)]
    heads = dict(reader.repository.refs.below(HEADS)) if tracked else {}
    found = []
    for remote, branch, theirs in tracked:
        ours = heads.get(HEADS + branch)
        if ours != theirs or isinstance(theirs, SessionError):
            found.append(_other_side(reader, session_id_of(branch), remote, ours, theirs))
    shown = [side for side in found if side is not None]
    yield from sorted(shown, key=lambda side: (side.session, side.remote))


def tracked_branches(reader: Reader, remote: str | None = None) -> Iterator[tuple[str, str, str | SessionError]]:
    """Yields what remotes, or one, were last known to have: the remote, the branch, and its commit or its fault."""
    prefix = REMOTES if remote is None else f"{REMOTES}{remote}/"
    for name, value in reader.repository.refs.below(prefix):
        found, _, branch = name.removeprefix(REMOTES).partition("/")
        # `HEAD` is a symbolic ref that git makes; no session is called so (see `layout.encode_session_id`).
        if branch and branch != "HEAD":
            yield found, branch, value


def relation(reader: Reader, ours: str, theirs: str) -> Relation:
    """Returns how two commits stand to each other; costs as many steps as they are apart.

    Raises:
        Corrupt: A commit is missing or damaged.
    """
    walks = [_Walk(reader, ours), _Walk(reader, theirs)]
    while True:
        for walk, other in (walks, reversed(walks)):
            if walk.oid is not None and walk.oid in other.places:
                return Relation(walk.oid, walks[0].places[walk.oid], walks[1].places[walk.oid])
        for walk in walks:
            walk.step()
        if walks[0].oid is None and walks[1].oid is None:
            return Relation(None, len(walks[0].places), len(walks[1].places))


class _Walk:
    """A walk from a commit backwards."""

    def __init__(self, reader: Reader, oid: str) -> None:
        self._walk = reader.commits.ancestors(oid)
        self.oid: str | None = oid
        self.places: dict[str, int] = {}
        self.step()

    def step(self) -> None:
        """Goes one commit back."""
        self.oid = next(self._walk, None)
        if self.oid is not None:
            self.places[self.oid] = len(self.places)


def _other_side(
    reader: Reader, session_id: str, remote: str, ours: str | SessionError | None, theirs: str | SessionError
) -> OtherSide | None:
    """Returns the other side of a session; None where the session here has gone on from it."""
    name = f"{session_id}@{remote}"
    oid = theirs if isinstance(theirs, str) else None
    try:
        for value in (ours, theirs):
            if isinstance(value, SessionError):
                raise value
        count = reader.state(session_id, str(theirs)).tree.count
        if ours is None:
            return OtherSide(name, session_id, remote, oid, exists_here=False, ours=0, theirs=count)
        found = relation(reader, str(ours), str(theirs))
        if not found.theirs:
            return None
        common = 0 if found.meeting is None else reader.state(session_id, found.meeting).tree.count
        mine = reader.state(session_id, str(ours)).tree.count
    except SessionError as error:
        return OtherSide(name, session_id, remote, oid, exists_here=ours is not None, ours=0, theirs=0, error=error)
    return OtherSide(
        name,
        session_id,
        remote,
        oid,
        exists_here=True,
        ours=mine - common,
        theirs=count - common,
        diverged=found.diverged,
    )
