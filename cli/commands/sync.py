"""`gitsession sync`."""

from gitsession import sync

from .. import options, syncing


@options.command(
    "sync", examples=("gitsession sync", "gitsession sync fix-login", "gitsession sync --dry-run"), writes=True
)
@syncing.sessions
@syncing.remote
@syncing.dry_run
def command(settings: options.Settings, sessions: tuple[str, ...], remote: str, dry_run: bool) -> None:
    """Pull, then push.

    SESSION is an id, or a pattern with `*`; by default all are synced. Afterwards both sides are the same, but for
    sessions that went on on both: these stay as they are, and are named.

    With --json each session that moved, or could not, is an object: session, action (fetch, pull or push), status (new,
    moved, behind, diverged, refused), old, new (git commits), reason.
    """
    store = settings.open(makes="clone URL")
    names = syncing.chosen(store, sessions)
    with syncing.reported(as_json=settings.json, names=names, dry_run=dry_run) as tell:
        tell(sync(store, remote, names, dry_run=dry_run, progress=syncing.progress()))
