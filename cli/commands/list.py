"""`gitsession list`."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any

import click

from gitsession import BrokenSession, OtherSide, SessionInfo, Store

from .. import options
from ..output import columns, local_time, session_json, style, table, write, write_json
from ..text import clip, clip_middle, count, one_line

HEADER = ("SESSION", "TITLE", "AGENT", "DELTAS", "LAST ACTIVITY", "PARENT")
# Ids up to this length stand as they are; longer ones (a UUID has 36) are cut, but never below the second number.
WHOLE = 20
SHORTEST = 8


@options.command("list", examples=("gitsession list", "gitsession list -n 5", "gitsession list --remote origin"))
@options.limit
@click.option("--remote", metavar="NAME", help="List what a remote has now, without fetching it.")
def command(settings: options.Settings, limit: int | None, remote: str | None) -> None:
    """List the sessions, the latest first.

    What a remote has of a session that is not in the session here stands below it, as SESSION@REMOTE. On a terminal an
    id is cut to the beginning that names it, and what does not fit is left out; in a pipe all is whole. DELTAS counts
    what was added: a delta is what one commit adds.

    Here and wherever else times are shown, they are in your time zone; with --json they are as they are stored, those
    of gitsession in UTC. updated_at has whole seconds, as git has, so it may be before a created_at of the same second.

    Behind a PARENT stands how the session came out of it: (left) is a line of conversation that the user left in it,
    (beside) what goes on beside it, as its file was rewritten or another one has its name, (fork) a fork.

    With --json each session is an object with the keys id, branch, title, agent, deltas, head, oid, created_at,
    updated_at, parent_session and origin (left, beside, fork or null); one of a remote has session, remote, ours,
    theirs (how many deltas each side has of its own) and diverged besides. One that cannot be read has id, branch, oid,
    error and message. With --remote: id, branch, oid, and here (absent, same, behind, ahead, diverged; unknown where
    only a fetch can tell).
    """
    store = settings.open()
    if remote is not None:
        _list_remote(store, remote, limit, as_json=settings.json)
        return
    sessions = [*store.sessions()]
    shown = [*_with_sides(store, sessions, limit)]
    origins = store.origins([found for found in shown if isinstance(found, SessionInfo)])
    if settings.json:
        write_json(_side_json(store, one) if isinstance(one, OtherSide) else _json(one, origins) for one in shown)
    elif shown:
        room = columns()
        names = {} if room is None else narrowed(abbreviations([found.id for found in sessions]), room)
        write(
            table(
                HEADER, [_row(found, names, origins) for found in shown], right=3, shrink=(1, 5), drop=(5, 2, 4, 3, 1)
            ),
            paged=True,
        )


def _with_sides(
    store: Store, sessions: Sequence[SessionInfo | BrokenSession], limit: int | None
) -> Iterator[SessionInfo | BrokenSession | OtherSide]:
    """Yields the sessions, each before its other sides, and at the end what only a remote has."""
    sides = {session: [*found] for session, found in groupby(store.other_sides(), lambda side: side.session)}
    for session in sessions[:limit]:
        yield session
        yield from sides.pop(session.id, [])
    left = None if limit is None else max(0, limit - len(sessions))
    yield from islice((side for found in sides.values() for side in found if not side.exists_here), left)


def _list_remote(store: Store, remote: str, limit: int | None, *, as_json: bool) -> None:
    from gitsession import remote_sessions  # noqa: PLC0415  # it runs git, which a list of the store has no need of

    found = remote_sessions(store, remote)[:limit]
    if as_json:
        write_json({"id": one.id, "branch": one.branch, "oid": one.oid, "here": one.here} for one in found)
    elif found:
        rows = [(one_line(one.id), one.here, one.oid[:10]) for one in found]
        write(table(("SESSION", "HERE", "COMMIT"), rows), paged=True)


def _side_json(store: Store, side: OtherSide) -> dict[str, Any]:
    found: dict[str, Any]
    if side.error is None:
        found = session_json(store.info(side.id))
    else:
        found = {"id": side.id, "branch": None, "oid": side.oid}
        found |= {"error": type(side.error).__name__, "message": str(side.error)}
    own = {"ours": side.ours, "theirs": side.theirs, "diverged": side.diverged}
    return {**found, "session": side.session, "remote": side.remote, **own}


def _side_row(side: OtherSide, names: dict[str, str]) -> tuple[str, ...]:
    if side.error is not None:
        told = style(f"cannot be read: {one_line(str(side.error))}", fg="red")
    elif not side.exists_here:
        told = f"{count(side.theirs, 'delta')}; not here"
    elif side.diverged:
        told = f"diverged: {side.theirs} of its own, {side.ours} here"
    else:
        told = f"ahead: {side.theirs} of its own"
    return (f"{one_line(names.get(side.session, side.session))}@{one_line(side.remote)}", told, "", "", "", "")


def _json(found: SessionInfo | BrokenSession, origins: Mapping[str, str]) -> dict[str, Any]:
    if isinstance(found, SessionInfo):
        return session_json(found) | {"origin": origins.get(found.id)}
    error = {"error": type(found.error).__name__, "message": str(found.error)}
    return {"id": found.id, "branch": found.branch, "oid": found.oid, **error}


def _row(
    found: SessionInfo | BrokenSession | OtherSide, names: dict[str, str], origins: Mapping[str, str]
) -> tuple[str, ...]:
    if isinstance(found, OtherSide):
        return _side_row(found, names)
    name = one_line(names.get(found.id, found.id))
    if isinstance(found, BrokenSession):
        return (name, style(f"cannot be read: {one_line(str(found.error))}", fg="red"), "", "", "", "")
    parent = found.parent_session or ""
    origin = f" ({origins[found.id]})" if found.id in origins else ""
    return (
        name,
        one_line(clip(found.title or "", 200)),
        one_line(found.agent or ""),
        str(found.deltas),
        local_time(found.updated_at),
        one_line(names.get(parent, parent)) + origin,
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


def narrowed(names: dict[str, str], room: int) -> dict[str, str]:
    """Returns names that fit a narrow terminal, as long as each is still another one."""
    cut = {session: clip_middle(name, room) for session, name in names.items()}
    return cut if len({*cut.values()}) == len({*names.values()}) else names


def _common(a: str, b: str) -> int:
    """Returns how many characters two strings have in common at their beginning."""
    for place, (mine, other) in enumerate(zip(a, b, strict=False)):
        if mine != other:
            return place
    return min(len(a), len(b))
