"""`gitsession git`."""

import os
import subprocess

import click

from gitsession import GitNotFound

from .. import options

# What git sets in its hooks and aliases (`git rev-parse --local-env-vars`) names another repository than the store.
# What configures git (GIT_CONFIG_…) is the user's and stays.
FOREIGN = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)


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
    environment = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    # A replacement object would show a history that is not the one that is stored.
    environment["GIT_NO_REPLACE_OBJECTS"] = "1"
    try:
        child = subprocess.Popen(["git", f"--git-dir={settings.existing_path()}", *arguments], env=environment)
    except FileNotFoundError as error:
        raise GitNotFound from error
    click.get_current_context().exit(_wait(child))


def _wait(child: "subprocess.Popen[bytes]") -> int:
    """Returns the exit code of git, which has had the same Ctrl-C and ends by itself; that of a shell for a signal."""
    with child:
        while True:
            try:
                code = child.wait()
            except KeyboardInterrupt:
                continue
            return 128 - code if code < 0 else code


command.context_settings = {"ignore_unknown_options": True, "allow_interspersed_args": False}
