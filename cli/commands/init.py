"""`gitsession init`."""

from .. import options
from ..output import stored, write, write_json
from ..text import one_line


@options.command("init", examples=("gitsession init", "gitsession init --store ./sessions.git"))
def command(settings: options.Settings) -> None:
    """Make the store.

    Where there is a store already, nothing changes. `import`, `watch`, `new`, `append --parent ''` and `remote add`
    make the store themselves, and `clone` makes one of what a remote has. Only you can read a new store. With --json:
    path, created.
    """
    created = not settings.is_there
    path = str(settings.make().path)
    stored(f"the store at {one_line(path)}")
    if settings.json:
        write_json([{"path": path, "created": created}])
    else:
        write([f"{'Made the store' if created else 'There is a store already:'} {one_line(path)}"])
