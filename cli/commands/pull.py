"""`gitsession pull`."""

from gitsession import pull

from .. import options, syncing


@options.command(
    "pull", examples=("gitsession pull", "gitsession pull fix-login", "gitsession pull 'fix-*'"), writes=True
)
@syncing.sessions
@syncing.remote
@syncing.dry_run
def command(settings: options.Settings, sessions: tuple[str, ...], remote: str, dry_run: bool) -> None:
    """Take what a remote has.

    SESSION is an id, or a pattern with `*`, and then no other session is fetched. A session that is behind moves
    forward, one that is new is made. One that went on here and there stays as it is: SESSION@REMOTE reads the other
    side, `diff` compares the two, and `fork` goes on with it.

    With --json each session that moved, or could not, is an object: session, action (fetch, pull or push), status (new,
    moved, behind, diverged, refused), old, new (git commits), reason.
    """
    store = settings.open(makes="clone URL")
    names = syncing.chosen(store, sessions)
    with syncing.reported(as_json=settings.json, names=names, dry_run=dry_run) as tell:
        tell(pull(store, remote, names, dry_run=dry_run, progress=syncing.progress()))
