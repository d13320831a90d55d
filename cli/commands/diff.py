"""`gitsession diff`."""

from collections.abc import Iterator

import click

from gitsession import Diff, LogEntry

from .. import options
from ..output import columns, log_json, log_line, style, write, write_json
from ..text import count, one_line


@options.command(
    "diff", examples=("gitsession diff fix-login other-way", "gitsession diff fix-login fix-login --at-a '#1'")
)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--at-a", metavar="REV", help="An earlier state of A, as with --at elsewhere.")
@click.option("--at-b", metavar="REV", help="An earlier state of B.")
def command(settings: options.Settings, a: str, b: str, at_a: str | None, at_b: str | None) -> None:
    """Compare two sessions.

    Shows how many deltas they have in common, and then the commits that each has of its own, the first ones first.
    With --json: a, b (the ids), common, only_a, only_b (the commits, as `log` prints them).
    """
    store = settings.open()
    ids = (store.find(a), store.find(b))
    found = store.diff(*ids, at_a=at_a, at_b=at_b)
    if settings.json:
        only = {"only_a": [*map(log_json, found.a)], "only_b": [*map(log_json, found.b)]}
        write_json([{"a": ids[0], "b": ids[1], "common": found.common, **only}])
    else:
        write(_lines(found, *ids), paged=True)


def _lines(found: Diff, a: str, b: str) -> Iterator[str]:
    yield f"{count(found.common, 'delta')} in common"
    yield from _own("-", "red", a, found.a)
    yield from _own("+", "green", b, found.b)


def _own(sign: str, colour: str, session_id: str, entries: tuple[LogEntry, ...]) -> Iterator[str]:
    room = columns()
    yield ""
    yield style(f"only in {one_line(session_id)}: {count(len(entries), 'commit')}", bold=True)
    for entry in entries:
        yield style(sign, fg=colour) + " " + log_line(entry, room and room - 2)
