"""`gitsession show`."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

import click

from gitsession import Message, MissingHistory, SessionInfo, normalized

from .. import options
from ..conversation import message_lines, title_lines
from ..output import note, style, write, write_json
from ..text import one_line

# In how many entries before the last ones their calls are looked for.
CALLS_BEFORE = 50


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

    A `>` stands before a tool call, `|` before its result, `!` before one that failed; who speaks is `meta` for what no
    person typed and no model said. With --json each message is an object, in the one shape that `export --format
    messages` writes and its --help describes. Lines that were left in a session are sessions of their own, named above
    its conversation; so is what goes on beside it, since its file was rewritten, or another one has its name.
    """
    store = settings.open()
    session_id = store.find(session)
    # A few more than are shown: the call that names the tool of a result stands before it.
    entries = store.load(session_id, at=at, last=None if limit is None else limit + CALLS_BEFORE)
    messages: Iterable[Message] = normalized(entries)
    if limit is not None:
        messages = deque(messages, maxlen=limit)
    missing = store.missing_history(session_id, at=at)
    if settings.json:
        write_json(messages)
        if missing is not None:
            note(f"left out: {one_line(str(missing))}")
    else:
        derived = [*store.derived(session_id)] if at is None else []
        write(_lines(store.info(session_id, at=at), derived, missing, messages, full=full), paged=True)


def _lines(
    info: SessionInfo,
    derived: Sequence[tuple[SessionInfo, str | None]],
    missing: MissingHistory | None,
    messages: Iterable[Message],
    *,
    full: bool,
) -> Iterator[str]:
    yield from title_lines(info)
    if missing is not None:
        yield style(one_line(f"left out: {missing}"), dim=True)
    for what, where in (
        ("lines that were left", info.id),
        ("beside it, from a rewritten file or another of its name", None),
    ):
        if names := [one.id for one, left_in in derived if left_in == where]:
            yield style(one_line(f"{what}: {', '.join(names)}"), dim=True)
    for message in messages:
        yield from message_lines(message, full=full)
