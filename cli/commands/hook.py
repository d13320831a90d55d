"""`gitsession hook`."""

import os
import shutil
import sys
from pathlib import Path

import click

from .. import options
from ..hook_settings import HOOKS, Hook
from ..output import note, table, write, write_json
from ..places import expanded
from ..text import one_line


@options.command("hook", examples=("gitsession hook", "gitsession hook claude-code", "gitsession hook codex --redact"))
@click.argument("agent", required=False, type=click.Choice([*HOOKS]), metavar="[AGENT]")
@click.option("--redact", is_flag=True, help="Leave secrets out of what is imported.")
def command(settings: options.Settings, agent: str | None, redact: bool) -> None:
    """Print what makes an agent import its own sessions.

    Prints what belongs into the agent's settings, or what is a file of its own beside them, so that the agent calls
    `gitsession import` at the end of each turn, and says on stderr where to put it; nothing is changed. Without an
    AGENT it lists those that have hooks. For the others `gitsession watch` does the same from outside. With --json:
    agent, file, text, command (its words).
    """
    if agent is None:
        rows = [(name, _path(hook)) for name, hook in HOOKS.items()]
        if settings.json:
            write_json({"agent": name, "file": path} for name, path in rows)
        else:
            write(table(("AGENT", "SETTINGS"), [(name, one_line(path)) for name, path in rows]))
        return
    hook = HOOKS[agent]
    words = [*_program(), "import", "--hook", agent]
    if settings.store is not None:
        words += ["--store", os.path.abspath(settings.store)]  # noqa: PTH100  # a link may be moved later
    words += ["--redact"] if redact else []
    if settings.json:
        write_json([{"agent": agent, "file": _path(hook), "text": hook.render(words), "command": words}])
        return
    where = f"This belongs into {_path(hook)}; {hook.how}."
    write([hook.render(words)])
    note(where)


def _program() -> list[str]:
    """Returns how to call this very program from anywhere: agents have a PATH of their own."""
    called = Path(sys.argv[0])
    if called.stem == "gitsession":
        found = shutil.which(called)
        if found is not None:
            return [str(Path(found).absolute())]
    return [sys.executable, "-m", "gitsession_cli"]


def _path(hook: Hook) -> str:
    return str(expanded(hook.file, os.environ))
