"""`gitsession git`."""

import signal
import subprocess
from collections.abc import Mapping, Sequence

import click

from gitsession import GitNotFound, git_environment

from .. import options


@options.command(
    "git",
    examples=(
        "gitsession git log --oneline fix-login",
        "gitsession git grep -n TODO fix-login",
        "gitsession git count-objects -vH",
    ),
    shared=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARGUMENTS]...")
def command(settings: options.Settings, arguments: tuple[str, ...]) -> None:
    """Run git on the store.

    Everything after `git` belongs to git; the exit code is git's. A session is a branch: the key `branch` of
    `gitsession list --json` has its name.
    """
    environment = git_environment()
    # A replacement object would show a history that is not the one that is stored.
    environment["GIT_NO_REPLACE_OBJECTS"] = "1"
    click.get_current_context().exit(_run([f"--git-dir={settings.git_directory()}", *arguments], environment))


def _run(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs git and returns its exit code; that of a shell where a signal ended it."""
    # Ctrl-C reaches git too, which ends by itself. It is taken here and not ignored, since git would inherit that; an
    # exception in its place could come between the end of git and its exit code, which would be lost.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        code = subprocess.run(["git", *arguments], env=environment, check=False).returncode
    except FileNotFoundError as error:
        raise GitNotFound from error
    finally:
        signal.signal(signal.SIGINT, before)
    return 128 - code if code < 0 else code


command.context_settings = {"ignore_unknown_options": True, "allow_interspersed_args": False}
