"""`gitsession push`."""

from gitsession import push

from .. import options, syncing


@options.command("push", examples=("gitsession push", "gitsession push fix-login", "gitsession push --dry-run"))
@syncing.sessions
@syncing.remote
@syncing.dry_run
def command(settings: options.Settings, sessions: tuple[str, ...], remote: str, dry_run: bool) -> None:
    """Send sessions to a remote.

    SESSION is an id, or a pattern with `*`; by default all are sent. Nothing is ever forced: a session that went on
    here and there is left alone, and one that the remote refuses is named with its reason, while all others are sent.

    With --json each session that moved, or could not, is an object: session, action (fetch, pull or push), status (new,
    moved, behind, diverged, refused), old, new (git commits), reason.
    """
    store = settings.open()
    names = syncing.chosen(store, sessions)
    with syncing.reported(as_json=settings.json, names=names, dry_run=dry_run) as tell:
        tell(push(store, remote, names, dry_run=dry_run, progress=syncing.progress()))
