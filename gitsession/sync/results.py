"""What a sync says of each session."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from gitsession.errors import Diverged, SyncRefused

# new: made here, or there. moved: moved forward here, or there. behind: the remote has gone on, so there is nothing to
# push. diverged: both have gone on; nothing was done. refused: something is wrong; nothing was done.
Status = Literal["new", "moved", "behind", "diverged", "refused"]


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What became of one session; one that is the same on both sides has no result.

    Attributes:
        session: The session's id.
        action: fetch (what is known of the remote), pull (the session here), or push (the session there).
        status: new, moved, behind, diverged, or refused.
        old: The git commit it was at, 40 hex digits; None where it did not exist, or that is not known.
        new: The git commit it is at now, or would be; None where nothing was done.
        reason: Why nothing was done.
        raced: Whether nothing was done because somebody else's push came first; a pull and a push will do.
    """

    session: str
    action: Literal["fetch", "pull", "push"]
    status: Status
    old: str | None = None
    new: str | None = None
    reason: str | None = None
    raced: bool = False


def checked(remote: str, results: Iterable[SyncResult]) -> list[SyncResult]:
    """Returns results in which nothing is refused.

    Raises:
        Diverged: Sessions went on on both sides, and nothing else is wrong.
        SyncRefused: Sessions are refused.
    """
    found = [*results]
    refused = _reasons(found, ["refused", "diverged"])
    if any(result.status == "refused" for result in found):
        raise SyncRefused(remote, refused, found)
    if refused:
        raise Diverged(remote, refused, found)
    return found


def _reasons(results: Sequence[SyncResult], statuses: Sequence[Status]) -> dict[str, str]:
    return {result.session: result.reason or "" for result in results if result.status in statuses}
