"""`gitsession log`."""

from collections.abc import Iterable, Iterator
from itertools import islice

import click

from gitsession import Graph, GraphEntry

from .. import options
from ..graph import drawn
from ..output import columns, log_json, log_line, note, write, write_json
from ..text import one_line


@options.command(
    "log",
    examples=(
        "gitsession log fix-login",
        "gitsession log fix-login -n 5",
        "gitsession log fix-login --at '#2'",
        "gitsession log fix-login --graph",
    ),
)
@options.session
@options.at
@options.limit
@click.option("--graph", is_flag=True, help="Draw the lines that were left, and the forks, beside the session.")
def command(settings: options.Settings, session: str, at: str | None, limit: int | None, graph: bool) -> None:
    """List the commits of a session, the latest first.

    One line each: the number of its delta, the beginning of its git object id, its time, who spoke, what was said. All
    but the last two can be given as REV. Where a line ended that was left, stands the name of its session. With --json:
    oid, parent_oid, delta, commit_id, who, author, subject, body, time, lines (the names).

    With --graph the commits of its forks are there too, and of whatever else shares its history; at the last commit of
    each session stands its name. A commit stands above the one that its line of conversation goes on from, also where
    the file of an imported session holds others in between. With --json, follows is the object id of that one.
    """
    store = settings.open()
    session_id = store.find(session)
    if graph:
        found = Graph(store, session_id, at=at)
        for broken in found.left_out:
            note(f"gitsession: {one_line(broken.id)} is left out: {one_line(str(broken.error))}")
        _write_graph(islice(found, limit), as_json=settings.json)
        return
    entries = islice(store.log(session_id, at=at), limit)
    left: dict[str, list[str]] = {}
    for line in store.lines(session_id):
        left.setdefault(line.oid, []).append(line.id)
    if settings.json:
        write_json({**log_json(entry), "lines": left.get(entry.oid, [])} for entry in entries)
    else:
        room = columns()
        write((log_line(entry, room, left.get(entry.oid, ())) for entry in entries), paged=True)


def _write_graph(found: Iterable[GraphEntry], *, as_json: bool) -> None:
    if as_json:
        write_json({**log_json(one.entry), "lines": [*one.sessions], "follows": one.follows} for one in found)
    else:
        write(_lines(found, columns()), paged=True)


def _lines(found: Iterable[GraphEntry], room: int | None) -> Iterator[str]:
    for before, one in drawn(found):
        if one is None:
            yield before
        else:
            yield before + log_line(one.entry, None if room is None else room - len(before), one.sessions)
