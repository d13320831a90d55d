"""`gitsession scan`."""

import dataclasses

import click

from gitsession import StoredSecret, scan

from .. import options
from ..errors import SECRETS_FOUND
from ..output import style, write, write_json
from ..text import count, one_line


@options.command("scan", examples=("gitsession scan", "gitsession scan fix-login", "gitsession scan --json"))
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
def command(settings: options.Settings, sessions: tuple[str, ...]) -> None:
    """Look for secrets in what is stored.

    Finds API keys, tokens and private keys by their shape, passwords, logins and other keys by the words before them;
    in all sessions, or in those that are named. The README lists the kinds. Prints where each stands and what kind it
    is, never the secret itself. A secret that was stored is no secret any more: revoke it where it was issued.
    `gitsession import --redact` leaves them out.

    The exit code is 18 if anything was found. With --json each is an object: session, delta, commit_id, place, kind.
    """
    store = settings.open()
    found = [*scan(store, [store.find(name) for name in sessions] or None)]
    if settings.json:
        write_json(map(dataclasses.asdict, found))
    else:
        summary = f"{count(len(found), 'secret')} found" if found else "No secret found"
        write([*map(_line, found), summary], paged=bool(found))
    if found:
        click.get_current_context().exit(SECRETS_FOUND)


def _line(secret: StoredSecret) -> str:
    where = f"{one_line(secret.session)} #{secret.delta} {one_line(secret.place)}"
    return f"{where}  {style(secret.kind, fg='red')}"
