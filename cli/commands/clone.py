"""`gitsession clone`."""

from pathlib import Path

import click

from gitsession import clone

from .. import options, syncing
from ..output import stored, write_json, write_name


@options.command(
    "clone",
    examples=("gitsession clone server.git copy.git", "gitsession clone server.git part.git --session 'fix-*'"),
    writes=True,
)
@click.argument("url", metavar="URL")
@click.argument("path", metavar="[PATH]", required=False, type=options.PATH)
@click.option("--remote", default="origin", show_default=True, metavar="NAME", help="What to call the remote.")
@click.option("--session", "sessions", multiple=True, metavar="SESSION", help="Take just these: an id, or a pattern.")
def command(settings: options.Settings, url: str, path: Path | None, remote: str, sessions: tuple[str, ...]) -> None:
    """Make a store from what a remote has.

    URL is what `git clone` takes: https, ssh, user@host:path, or a path. PATH is where the store is made, by default
    where --store says. git fetches, with your ssh settings, credentials and proxies. With --json: path, sessions.
    """
    with syncing.reported(as_json=settings.json, names=sessions):
        store = clone(
            url,
            settings.path if path is None else path,
            remote=remote,
            sessions=sessions or None,
            progress=syncing.progress(),
        )
        stored("what the remote has")
        if settings.json:
            write_json([{"path": str(store.path), "sessions": sum(1 for _ in store.sessions())}])
        else:
            write_name(str(store.path))
