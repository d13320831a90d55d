"""`gitsession remote`."""

import click

from gitsession import add_remote, remotes, remove_remote

from .. import options
from ..output import write, write_json
from ..text import count, one_line


@options.command(
    "remote",
    examples=(
        "gitsession remote add backup server.git",
        "gitsession remote list",
        "gitsession remote remove backup",
    ),
)
@click.argument(
    "action",
    type=click.Choice(["add", "list", "remove"]),
    default="list",
    metavar="[list | add NAME URL | remove NAME]",
)
@click.argument("name", required=False, metavar="")  # said above, as they depend on it
@click.argument("url", required=False, metavar="")
@click.option("--force", is_flag=True, help="Remove it also where it has what no session here has.")
def command(settings: options.Settings, action: str, name: str | None, url: str | None, force: bool) -> None:
    """Name the stores that this one syncs with.

    `add NAME URL`, `list`, or `remove NAME`. They are git's own remotes. URL is what git takes: https, ssh,
    user@host:path, or a path. Removing one forgets what it had, and leaves the sessions alone. With --json each remote
    is an object: name, url, sessions (how many it was last known to have).
    """
    if (action, name is None, url is None) not in (
        ("add", False, False),
        ("list", True, True),
        ("remove", False, True),
    ):
        raise click.UsageError("Give `add NAME URL`, `list`, or `remove NAME`.", click.get_current_context())
    store = settings.make() if action == "add" else settings.open()
    if name is not None and url is not None:
        add_remote(store, name, url)
    elif name is not None:
        remove_remote(store, name, force=force)
    elif settings.json:
        write_json({"name": one.name, "url": one.url, "sessions": one.sessions} for one in remotes(store))
    else:
        found = remotes(store)
        write([f"{one_line(one.name)}  {one_line(one.url)}  {count(one.sessions, 'session')}" for one in found])
