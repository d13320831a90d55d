"""What the commands that sync have in common: their options, git's progress, and how the results are printed."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from .output import note, shows_progress, style, write, write_json
from .text import count, harmless, one_line, pad

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitsession import Store, SyncResult

sessions = click.argument("sessions", nargs=-1, metavar="[SESSION]...")
remote = click.option("--remote", default="origin", show_default=True, metavar="NAME", help="The remote.")
dry_run = click.option("--dry-run", "-n", is_flag=True, help="Change nothing; print what would be done.")

DONE = {
    ("fetch", "new"): "known now",
    ("fetch", "moved"): "known now",
    ("pull", "new"): "made here",
    ("pull", "moved"): "moved here",
    ("push", "new"): "made there",
    ("push", "moved"): "moved there",
    ("push", "behind"): "behind",
}
# The same of a dry run.
PLANNED = {
    ("fetch", "new"): "would fetch",
    ("fetch", "moved"): "would fetch",
    ("pull", "new"): "would make here",
    ("pull", "moved"): "would move here",
    ("push", "new"): "would make there",
    ("push", "moved"): "would move there",
    ("push", "behind"): "behind",
}


def progress() -> Callable[[str], None] | None:
    """Returns what shows git's progress on a terminal; None where there is none."""
    return _show if shows_progress() else None


def _show(text: str) -> None:
    # Carriage returns make git's counters count in their place; all else that steers a terminal is the server's.
    sys.stderr.write("\r".join(map(harmless, text.replace("\x1b[K", "").split("\r"))))
    sys.stderr.flush()


def chosen(store: "Store", names: Sequence[str]) -> list[str] | None:
    """Returns the sessions that names mean here, and as they stand those that are not here; None for no names."""
    from gitsession import SessionNotFound  # noqa: PLC0415  # the library takes longer to load than the help to print

    found = []
    for name in names:
        try:
            found.append(name if set(name) & set("*?[") else store.find(name))
        except SessionNotFound:
            found.append(name)
    return found or None


@contextmanager
def reported(
    *, as_json: bool, names: Sequence[str] | None = None, dry_run: bool = False
) -> "Iterator[Callable[[Iterable[SyncResult]], None]]":
    """Prints the results of a sync, also of one in which sessions were refused, and sets its exit code.

    Args:
        as_json: Whether they are printed as JSON.
        names: The sessions that were asked for; none where all were.
        dry_run: Whether the results only tell what would be done.
    """
    from gitsession import SyncRefused  # noqa: PLC0415  # as above

    from .errors import exit_code  # noqa: PLC0415  # as above

    words = PLANNED if dry_run else DONE

    def tell(results: "Iterable[SyncResult]") -> None:
        if as_json:
            write_json(map(result_json, results))
        else:
            lines = [_line(result, words) for result in results]
            write(lines or ["Nothing to do: both sides are the same"])

    try:
        yield tell
    except SyncRefused as error:
        results: list[Any] = [*error.results]
        if as_json or not results:
            write_json(map(result_json, results))
            raise
        done = [result for result in results if result.status not in ("refused", "diverged")]
        write([_line(result, words) for result in done])
        for result in results:
            if result.status in ("refused", "diverged"):
                note(f"{one_line(result.session)}: {style(result.status, fg='red')}: {one_line(result.reason or '')}")
        stuck = f"{count(len(results) - len(done), 'session')} {'would not be' if dry_run else 'not'} synced"
        others = f"; all others {'would be' if dry_run else 'are'}" if done or not names else ""
        note(f"gitsession: {stuck}{others}")
        click.get_current_context().exit(exit_code(type(error)))


def result_json(result: "SyncResult") -> dict[str, Any]:
    """Returns a result as its JSON object, whose keys are stable."""
    return {
        "session": result.session,
        "action": result.action,
        "status": result.status,
        "old": result.old,
        "new": result.new,
        "reason": result.reason,
    }


def _line(result: "SyncResult", words: Mapping[tuple[str, str], str]) -> str:
    what = pad(words.get((result.action, result.status), result.status), max(map(len, words.values())))
    reason = f"  {one_line(result.reason)}" if result.reason else ""
    return f"{style(what, fg='green')}  {one_line(result.session)}{reason}"
