"""`gitsession log`."""

from itertools import islice

from .. import options
from ..output import columns, log_json, log_line, write, write_json


@options.command(
    "log", examples=("gitsession log fix-login", "gitsession log fix-login -n 5", "gitsession log fix-login --at '#2'")
)
@options.session
@options.at
@options.limit
def command(settings: options.Settings, session: str, at: str | None, limit: int | None) -> None:
    """List the commits of a session, the latest first.

    One line each: the number of its delta, the beginning of its git object id, its time, who spoke, what was said. All
    but the last two can be given as REV. Where a line ended that was left, stands the name of its session. With --json:
    oid, parent_oid, delta, commit_id, who, author, subject, body, time, lines (the names).
    """
    store = settings.open()
    session_id = store.find(session)
    entries = islice(store.log(session_id, at=at), limit)
    left: dict[str, list[str]] = {}
    for line in store.lines(session_id):
        left.setdefault(line.oid, []).append(line.id)
    if settings.json:
        write_json({**log_json(entry), "lines": left.get(entry.oid, [])} for entry in entries)
    else:
        room = columns()
        write((log_line(entry, room, left.get(entry.oid, ())) for entry in entries), paged=True)
