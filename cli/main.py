"""The entry of the command: finds the command that is asked for, runs it, and turns what goes wrong into an exit code.

Commands are loaded when they are run, and the library with them, so that the help and the completion are there at
once.
"""

import importlib
import keyword
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, NoReturn

import click

from .options import Command, common, maintenance
from .output import close_stdout, flush, note, prepare_streams, printing
from .signals import ending, leave, take

# The commands by what they are for, each with its line in the help (a test keeps it equal to the command's own).
COMMANDS: Mapping[str, Mapping[str, str]] = {
    "Store": {
        "init": "Make the store.",
        "path": "Print the path of the store.",
        "git": "Run git on the store.",
        "verify": "Check everything that is stored.",
        "repair": "Set damaged sessions to their last good commit.",
        "scan": "Look for secrets in what is stored.",
        "maintain": "Pack what has gathered in the store.",
    },
    "Read": {
        "list": "List the sessions, the latest first.",
        "show": "Show the conversation of a session.",
        "log": "List the commits of a session, the latest first.",
        "diff": "Compare two sessions.",
        "export": "Write a session to stdout, or to where an agent can resume it.",
    },
    "Write": {
        "import": "Import transcripts of coding agents.",
        "watch": "Import what agents write, as they write it.",
        "hook": "Print what makes an agent import its own sessions.",
        "formats": "List the transcript formats, and where each agent keeps its files.",
        "new": "Make a new, empty session.",
        "append": "Add messages to a session.",
        "fork": "Make a session that goes on from another.",
    },
    "Sync": {
        "clone": "Make a store from what a remote has.",
        "remote": "Name the stores that this one syncs with.",
        "fetch": "Look what a remote has, and move no session here.",
        "pull": "Take what a remote has.",
        "push": "Send sessions to a remote.",
        "sync": "Pull, then push.",
        "bundle": "Write sessions to one file, for a machine without a network.",
    },
}


class Commands(click.Group):
    """The commands, each in a module of its own that is loaded on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # the signature is click's
        """Returns the names of all commands."""
        return sorted(name for section in COMMANDS.values() for name in section)

    def get_command(self, ctx: click.Context, cmd_name: str) -> Command | None:
        """Returns the command of a name, or None."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = cmd_name + "_" if keyword.iskeyword(cmd_name) else cmd_name
        command = importlib.import_module(f".commands.{module}", __package__).command
        return command if isinstance(command, Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Writes the commands by what they are for, without loading them."""
        for title, section in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([*section.items()])


def _print_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        from importlib.metadata import version  # noqa: PLC0415  # slow, and seldom asked for

        click.echo(f"gitsession {version('gitsession')}")
        context.exit()


@click.group(
    cls=Commands,
    params=[
        *common(environment=True),
        maintenance(),
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help="Show the version.",
        ),
    ],
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Run `gitsession COMMAND --help` for more about a command, with examples.",
)
def gitsession() -> None:
    """Keep the sessions of AI agents in git: one branch a session, one commit a step."""


def run(arguments: Sequence[str]) -> int:
    """Runs a command line and returns its exit code; what it prints has been written when it returns."""
    try:
        return _run(arguments)
    except BrokenPipeError:
        # Whoever read has enough. 141 is what a shell reports of a program that SIGPIPE ended, as git would be.
        close_stdout()
        return 141
    except (KeyboardInterrupt, click.Abort) as error:
        close_stdout()
        return _tell_ending(ending(error) or (130, "interrupted"))
    except _reported() as error:
        from .errors import report  # noqa: PLC0415  # see `_reported`

        close_stdout()
        ended = ending(error)
        return _tell_ending(ended) if ended else report(error, as_json=_wants_json(arguments))


def _tell_ending(ended: tuple[int, str]) -> int:
    """Tells that a signal has ended the command, and returns the exit code for it."""
    code, told = ended
    note(f"gitsession: {told}")
    return code


def _run(arguments: Sequence[str]) -> int:
    """Runs a command line to its end; what goes wrong is the caller's."""
    try:
        with printing():  # the help, or the version
            context = gitsession.make_context("gitsession", [*arguments] or ["--help"])
    except click.exceptions.Exit as done:
        return done.exit_code
    with context:
        # NO_COLOR (https://no-color.org) holds for whatever click prints itself.
        context.color = False if os.environ.get("NO_COLOR") else None
        code = 0
        try:
            gitsession.invoke(context)
        except click.exceptions.Exit as done:
            code = done.exit_code
        flush()
    return code


def _reported() -> tuple[type[Exception], ...]:
    """Returns the errors that are told by `report`; it is called, and loads the library, when one was raised."""
    from .errors import REPORTED  # noqa: PLC0415  # the library takes longer to load than the help to print

    return REPORTED


def _wants_json(arguments: Sequence[str]) -> bool:
    """Whether `--json` was given, also on a command line that could not be parsed."""
    own = [*arguments]
    for end in ("--", "git"):
        own = own[: own.index(end)] if end in own else own
    return "--json" in own


def _tell_unexpected(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Tells an error that nobody foresaw on one line, as `sys.excepthook`."""
    if os.environ.get("GITSESSION_TRACEBACK"):
        sys.__excepthook__(kind, error, trace)
    elif ended := ending(error):
        # What is raised here is the exit code.
        raise SystemExit(_tell_ending(ended))
    else:
        note(f"gitsession: internal error: {kind.__name__}: {error}; GITSESSION_TRACEBACK=1 shows where, please report")


def _tell_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Tells a warning on one line, as `warnings.showwarning`."""
    note(f"gitsession: warning: {message}")


def _tell_unraisable(found: Any) -> None:
    """Tells an error of what Python calls by itself, as `sys.unraisablehook`."""
    _tell_unexpected(found.exc_type, found.exc_value, found.exc_traceback)


def main(interrupt: Any) -> NoReturn:
    """Runs the command line of this process, and ends it.

    Args:
        interrupt: What Ctrl-C does to it.
    """
    sys.excepthook = _tell_unexpected
    warnings.showwarning = _tell_warning
    if "_GITSESSION_COMPLETE" in os.environ:
        gitsession(prog_name="gitsession")
    prepare_streams()
    if os.environ.get("HOME") == "":
        # As if it were not set, and the system knows the directory; the root of the file system is nobody's home.
        del os.environ["HOME"]
    try:
        take(interrupt, _tell_unraisable)
        code = run(sys.argv[1:])
    except KeyboardInterrupt as error:
        # It came before the command, or after it, or for the second time.
        code = _tell_ending(ending(error) or (130, "interrupted"))
    leave()
    sys.exit(code)
