"""What the commands have in common: the options that each takes, examples in the help, and the way to the store."""

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec

import click

from .location import default_store
from .maintaining import start_if_due
from .output import printing

if TYPE_CHECKING:
    from gitsession import Store

P = ParamSpec("P")

EMPTY = "the path is empty; `.` is the current directory"


class _Path(click.Path):
    """A path as an argument, which is not empty."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> Path:  # type: ignore[override]  # click leaves open what it returns
        if not value:
            self.fail(EMPTY, param, ctx)
        return Path(value)


PATH = _Path(path_type=Path)


@dataclass(slots=True)
class Settings:
    """What was said before any command: which store, and how to print.

    Attributes:
        store: The path that `--store` or GITSESSION_STORE names; None for the user's own store.
        json: Whether JSON is printed, and errors are.
        maintain: Whether maintenance may run by itself.
        opened: The store, once it is open.
    """

    store: str | None = None
    json: bool = False
    maintain: bool = True
    opened: "Store | None" = None

    @property
    def path(self) -> Path:
        """The path of the store, whether it is there or not."""
        return default_store() if self.store is None else Path(self.store)

    @property
    def is_there(self) -> bool:
        """Whether anything is at the path of the store; opening it tells what is wrong with what may not be seen."""
        try:
            return self.path.exists()
        except OSError:
            return True

    def existing_path(self, makes: str = "init") -> Path:
        """Returns the path of the store.

        Args:
            makes: The command that makes a store such as is wanted here, for the error.

        Raises:
            NotAStore: There is nothing.
        """
        if self.is_there:
            return self.path
        from gitsession import NotAStore  # noqa: PLC0415  # the library takes longer to load than the help to print

        where = "" if self.store is None else f" --store {shlex.quote(self.store)}"
        raise NotAStore(str(self.path), f"there is no store; `gitsession{where} {makes}` makes one")

    def git_directory(self) -> Path:
        """Returns the git directory of the store, which for a work tree is in it; the store need not be sound.

        Raises:
            NotAStore: There is nothing, or it may not be looked into.
        """
        path = self.existing_path()
        if not os.access(path, os.R_OK | os.X_OK):
            from gitsession import NotAStore  # noqa: PLC0415  # as above

            raise NotAStore(str(path), "cannot be opened: no permission for it; the store must belong to you")
        return self.future_git_directory()

    def future_git_directory(self) -> Path:
        """Returns the git directory of the store, or where it would be."""
        inner = self.path / ".git"
        return inner if os.path.lexists(inner) else inner.parent

    def open(self, makes: str = "init") -> "Store":
        """Opens the store for reading, or for writing to what is there; `makes` is as in `existing_path`."""
        from gitsession import Store  # noqa: PLC0415  # as above

        self.opened = Store.open(self.existing_path(makes))
        return self.opened

    def make(self) -> "Store":
        """Opens the store for writing, and makes it if there is none."""
        from gitsession import Store  # noqa: PLC0415  # as above

        self.opened = Store.init(self.path)
        return self.opened

    def maintain_if_due(self) -> None:
        """Starts maintenance in the background if the store that was opened wants it, and it may run by itself."""
        if self.maintain and self.opened is not None:
            start_if_due(self.opened)


def _set_store(context: click.Context, _: click.Parameter, value: str | None) -> None:
    settings = context.ensure_object(Settings)
    if value == "":
        # As a path it would be the current directory, which is nobody's wish where a variable of a script is empty.
        raise click.BadParameter(EMPTY)
    if value is not None:
        settings.store = value


def _set_json(context: click.Context, _: click.Parameter, value: bool) -> None:
    settings = context.ensure_object(Settings)
    settings.json = settings.json or value


def _set_maintain(context: click.Context, _: click.Parameter, value: bool) -> None:
    context.ensure_object(Settings).maintain = value


def maintenance() -> click.Option:
    """Returns the option that stands before all commands and keeps the store from being maintained."""
    return click.Option(
        ["--maintain/--no-maintain"],
        default=True,
        expose_value=False,
        callback=_set_maintain,
        help="Whether the store may be packed in the background when it has grown.  [default: yes]",
    )


def common(*, environment: bool = False) -> list[click.Parameter]:
    """Returns the options that stand before a command as well as after it.

    Args:
        environment: Whether the environment is asked too: by the outermost alone, so that what is said there wins.
    """
    return [
        click.Option(
            ["--store"],
            metavar="PATH",
            envvar="GITSESSION_STORE" if environment else None,
            show_envvar=environment,
            expose_value=False,
            callback=_set_store,
            help="The store: a bare git repository. By default the one in your data directory.",
        ),
        click.Option(
            ["--json"],
            is_flag=True,
            expose_value=False,
            callback=_set_json,
            help="Print JSON, one object a line; an error too, on stderr. Notes and warnings there stay text.",
        ),
    ]


class Command(click.Command):
    """A command whose help ends with examples.

    Attributes:
        examples: Command lines that work as they stand, given the sessions that they name.
    """

    examples: tuple[str, ...] = ()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses the command line; each error knows the command, whose help it is to name (not all of click's do)."""
        try:
            with printing():  # the help
                return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the examples, each on one line however long it is."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                formatter.write("".join(f"  {example}\n" for example in self.examples))


def command(
    name: str, *, examples: tuple[str, ...], shared: bool = True, writes: bool = False
) -> Callable[[Callable[Concatenate[Settings, P], None]], Command]:
    """Makes a command of a function that takes the settings first.

    Args:
        name: The name of the command.
        examples: Command lines for the help.
        shared: Whether it takes `--store` and `--json` itself. All but `git`, whose options are git's.
        writes: Whether the store may want maintenance when it has ended, however that was.
    """

    def wrap(function: Callable[Concatenate[Settings, P], None]) -> Command:
        @wraps(function)
        def run(settings: Settings, *arguments: P.args, **named: P.kwargs) -> None:
            if writes:
                click.get_current_context().call_on_close(settings.maintain_if_due)
            function(settings, *arguments, **named)

        made = click.command(name, cls=Command)(click.make_pass_decorator(Settings, ensure=True)(run))
        made.examples = examples
        made.params += common() if shared else []
        return made

    return wrap


class _Count(click.IntRange):
    """A number of things; its name is how an error calls it."""

    name = "whole number"


COUNT = _Count(min=0)


session = click.argument("session", metavar="SESSION")
at = click.option(
    "--at",
    metavar="REV",
    help="An earlier state: a commit id, a git object id or its beginning, ~N (N commits back; ~ is ~1), or #N (after "
    "delta N). A commit id that looks like the last two is told by its git object id.",
)
limit = click.option("-n", "--limit", type=COUNT, metavar="N", help="Print at most N.")
