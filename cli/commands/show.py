"""`gitsession show`."""

from collections.abc import Iterator, Sequence

import click

from gitsession import SessionEntry, SessionInfo

from .. import options
from ..conversation import entry_json, entry_lines, title_lines
from ..output import style, write, write_json
from ..text import one_line


@options.command(
    "show",
    examples=(
        "gitsession show fix-login",
        "gitsession show fix-login --full",
        "gitsession show fix-login -n 3",
        "gitsession show fix-login --at '#1'",
    ),
)
@options.session
@options.at
@click.option("-n", "--limit", type=options.COUNT, metavar="N", help="Show the last N messages alone.")
@click.option("--full", is_flag=True, help="Fold nothing.")
def command(settings: options.Settings, session: str, at: str | None, limit: int | None, full: bool) -> None:
    """Show the conversation of a session.

    A `>` stands before a tool call, `|` before its result, `!` before one that failed. With --json each message is an
    object: id, timestamp, who, model, parts (each with kind, text, name, id, error). `export` writes the messages as
    they are stored. Lines that were left are sessions of their own, named above the conversation.
    """
    store = settings.open()
    session_id = store.find(session)
    entries = store.load(session_id, at=at, last=limit)
    if settings.json:
        write_json(map(entry_json, entries))
    else:
        left = [one.id for one in store.lines(session_id)] if at is None else []
        write(_lines(store.info(session_id, at=at), left, entries, full=full), paged=True)


def _lines(info: SessionInfo, left: Sequence[str], entries: Sequence[SessionEntry], *, full: bool) -> Iterator[str]:
    yield from title_lines(info)
    if left:
        yield style(one_line(f"lines that were left: {', '.join(left)}"), dim=True)
    for entry in entries:
        yield from entry_lines(entry, full=full)
