"""`gitsession list`."""

from collections.abc import Sequence
from typing import Any

from gitsession import BrokenSession, SessionInfo

from .. import options
from ..output import local_time, on_terminal, session_json, style, table, write, write_json
from ..text import clip, one_line

HEADER = ("SESSION", "TITLE", "AGENT", "DELTAS", "LAST ACTIVITY", "PARENT")
# Ids up to this length stand as they are; longer ones (a UUID has 36) are cut, but never below the second number.
WHOLE = 20
SHORTEST = 8


@options.command("list", examples=("gitsession list", "gitsession list -n 5", "gitsession list --json"))
@options.limit
def command(settings: options.Settings, limit: int | None) -> None:
    """List the sessions, the latest first.

    On a terminal an id is cut to the beginning that names it; in a pipe it is whole. With --json each session is an
    object with the keys id, branch, title, agent, deltas, head, oid, created_at, updated_at and parent_session; one
    that cannot be read has id, branch, oid, error and message.
    """
    sessions = [*settings.open().sessions()]
    shown = sessions[:limit]
    if settings.json:
        write_json(map(_json, shown))
    elif sessions:
        names = abbreviations([found.id for found in sessions]) if on_terminal() else {}
        write(table(HEADER, [_row(found, names) for found in shown], right=3, shrink=(1, 5, 0)))


def _json(found: SessionInfo | BrokenSession) -> dict[str, Any]:
    if isinstance(found, SessionInfo):
        return session_json(found)
    error = {"error": type(found.error).__name__, "message": str(found.error)}
    return {"id": found.id, "branch": found.branch, "oid": found.oid, **error}


def _row(found: SessionInfo | BrokenSession, names: dict[str, str]) -> tuple[str, ...]:
    name = one_line(names.get(found.id, found.id))
    if isinstance(found, BrokenSession):
        return (name, style(f"cannot be read: {one_line(str(found.error))}", fg="red"), "", "", "", "")
    parent = found.parent_session or ""
    return (
        name,
        one_line(clip(found.title or "", 200)),
        one_line(found.agent or ""),
        str(found.deltas),
        local_time(found.updated_at),
        one_line(names.get(parent, parent)),
    )


def abbreviations(ids: Sequence[str]) -> dict[str, str]:
    """Returns for each long id its shortest beginning, of at least eight characters, that no other id has.

    Ids that go on from an id after a dot are derived from it, and do not count against it, as in `Store.find`.
    """
    ordered = sorted(ids)
    shortest = dict.fromkeys(ordered, SHORTEST)
    for place, name in enumerate(ordered):
        for other in ordered[place + 1 :]:
            common = _common(name, other)
            shortest[other] = max(shortest[other], common + 1)
            if not other.startswith(name + "."):
                shortest[name] = max(shortest[name], common + 1)
                break
    return {name: name[:length] for name, length in shortest.items() if len(name) > WHOLE}


def _common(a: str, b: str) -> int:
    """Returns how many characters two strings have in common at their beginning."""
    for place, (mine, other) in enumerate(zip(a, b, strict=False)):
        if mine != other:
            return place
    return min(len(a), len(b))
