"""`gitsession fetch`."""

from gitsession import fetch

from .. import options, syncing


@options.command(
    "fetch", examples=("gitsession fetch", "gitsession fetch fix-login", "gitsession fetch 'fix-*'"), writes=True
)
@syncing.sessions
@syncing.remote
@syncing.dry_run
def command(settings: options.Settings, sessions: tuple[str, ...], remote: str, dry_run: bool) -> None:
    """Look what a remote has, and move no session here.

    SESSION is an id, or a pattern with `*`, and then no other session is fetched. What the remote has of a session is
    read as SESSION@REMOTE, by every command that reads.

    With --json each session that moved, or could not, is an object: session, action (fetch, pull or push), status (new,
    moved, behind, diverged, refused), old, new (git commits), reason.
    """
    store = settings.open(makes="clone URL")
    names = syncing.chosen(store, sessions)
    with syncing.reported(as_json=settings.json, names=names, dry_run=dry_run) as tell:
        tell(fetch(store, remote, names, dry_run=dry_run, progress=syncing.progress()))
