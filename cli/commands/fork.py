"""`gitsession fork`."""

import click

from .. import options
from ..output import print_session


@options.command(
    "fork",
    examples=("gitsession fork fix-login another-way", "gitsession fork fix-login from-the-start --at '#1'"),
    writes=True,
)
@options.session
@click.argument("new_id", metavar="[NEW]", required=False)
@options.at
@click.option("--title", metavar="TEXT", help="What to call it; by default as its source.")
def command(settings: options.Settings, session: str, new_id: str | None, at: str | None, title: str | None) -> None:
    """Make a session that goes on from another.

    NEW is the id of the new session, by default a random UUID, and is printed. No message is copied: a fork is a
    branch, at the last commit of SESSION or at an earlier one. With --json the session is printed, as `list` does.
    """
    store = settings.open()
    made = store.fork(store.find(session), new_id, at=at, title=title)
    print_session(store.info(made), as_json=settings.json)
