"""`gitsession new`."""

import click

from gitsession import SessionMeta

from .. import options
from ..output import print_session


@options.command(
    "new",
    examples=("gitsession new", "gitsession new --id fix-login-2 --title 'Fix the login, second try'"),
    writes=True,
)
@click.option("--id", "session_id", metavar="ID", help="Its id, any text; by default a random UUID.")
@click.option("--title", metavar="TEXT", help="What to call it.")
def command(settings: options.Settings, session_id: str | None, title: str | None) -> None:
    """Make a new, empty session.

    Prints its id; with --json the session, as `list` does. The store is made if there is none.
    """
    meta = SessionMeta(title=title) if session_id is None else SessionMeta(session_id, title=title)
    store = settings.make()
    print_session(store.info(store.create(meta)), as_json=settings.json)
