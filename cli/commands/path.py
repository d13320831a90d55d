"""`gitsession path`."""

from .. import options
from ..output import write_bytes, write_json


@options.command("path", examples=("gitsession path", 'git -C "$(gitsession path)" count-objects'))
def command(settings: options.Settings) -> None:
    """Print the path of the store.

    It is a bare git repository, for any tool that knows git. Before there is one, it is where `gitsession init` would
    make it. With --json: path.
    """
    path = settings.future_git_directory().absolute()
    if settings.json:
        write_json([{"path": str(path)}])
    else:
        write_bytes([bytes(path) + b"\n"])
