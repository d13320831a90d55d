"""How the commands print: for people, as JSON, or bytes as they are.

For people: nothing that steers a terminal gets through, colour only on a terminal, and a pager there. JSON: one object
a line, in ASCII, so that it passes through any terminal, locale and pipe unchanged. stdout holds what was asked for;
notes, progress and errors go to stderr.
"""

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

import click

from .text import clip, harmless, one_line, pad, width

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from click._termui_impl import ProgressBar

    from gitsession import LogEntry, SessionInfo

# How wide a column gets at most in a pipe, where nothing is cut: one long cell would put blanks into every other row.
# The first one has the names; that of a line left in a subagent's session takes 97.
_PIPED_COLUMN = 60
_PIPED_NAME = 100

# Who speaks, in the colour in which it is shown everywhere.
COLOURS = {"user": "green", "assistant": "cyan", "system": "magenta", "tool": "blue", "meta": "bright_black"}


# The field of click's context that holds what the command has stored so far.
_STORED = "gitsession.stored"


class NotPrinted(OSError):
    """stdout cannot be written.

    Attributes:
        stored: What the command had stored before, so that nobody stores it twice; None for nothing.
    """

    def __init__(self, error: OSError, stored: str | None) -> None:
        super().__init__(error.errno, error.strerror)
        self.stored = stored

    def __str__(self) -> str:
        return f"{f'{self.stored} is stored, but ' if self.stored else ''}stdout cannot be written: {self.strerror}"


def stored(what: str) -> None:
    """Is told what the command has stored, before that is printed."""
    click.get_current_context().meta[_STORED] = what


@contextmanager
def printing() -> Iterator[None]:
    """Turns errors of stdout into `NotPrinted`; nothing else may go wrong within it. A closed pipe stays one."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        context = click.get_current_context(silent=True)
        raise NotPrinted(error, None if context is None else context.meta.get(_STORED)) from error


def flush() -> None:
    """Writes what is left."""
    with printing():
        sys.stdout.flush()


def prepare_streams() -> None:
    """Makes the output streams take any text, whatever their encoding has: what it lacks is escaped.

    A stream that is closed is None for Python; what is written to it goes nowhere.
    """
    # Open until the process ends, as the streams are.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def close_stdout() -> None:
    """Writes what is left; where nobody takes it, lets it go nowhere, as the interpreter would try again at its end."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        return
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def on_terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout.isatty()


def columns() -> int | None:
    """Returns how wide the terminal is; None if stdout is none, where nothing is cut."""
    return shutil.get_terminal_size().columns if on_terminal() else None


def style(text: str, **how: Any) -> str:
    """Returns the text in a colour or weight (as `click.style`), on a terminal that wants it."""
    plain = not on_terminal() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain else click.style(text, **how)


def note(text: str) -> None:
    """Prints a line to stderr."""
    with suppress(OSError, ValueError):
        print(harmless(text), file=sys.stderr, flush=True)  # noqa: T201  # click.echo puts the locale above the stream


def progress_bar(label: str, total: int = 0) -> "AbstractContextManager[ProgressBar[int]]":
    """Returns a bar for long work, which is shown where stderr is a terminal. It counts up to `total`."""
    return click.progressbar(length=total, label=label, file=sys.stderr, hidden=not shows_progress())


def shows_progress() -> bool:
    """Whether stderr is a terminal on which something can be shown in the place of what it showed before."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def write(lines: Iterable[str], *, paged: bool = False) -> None:
    """Prints lines for people, which must be harmless.

    Args:
        lines: The lines.
        paged: Whether they go through the pager where stdout is a terminal. It is for what is asked for to be read: a
            pager need not end by itself, so a line that tells what was done would wait there for a key.
    """
    if paged and on_terminal():
        from .pager import page  # noqa: PLC0415  # it brings `subprocess`, which a pipe has no need of

        if page(lines):
            return
    for line in lines:
        with printing():
            sys.stdout.write(line + "\n")


def write_json(values: Iterable[Mapping[str, Any]]) -> None:
    """Prints each value as one line of JSON."""
    for value in values:
        with printing():
            sys.stdout.write(json.dumps(value) + "\n")


def write_name(name: str) -> None:
    """Prints an id or a path for the next command: in a pipe as it is, on a terminal harmless."""
    write([one_line(name) if on_terminal() else name])


def write_bytes(chunks: Iterable[bytes], *, paged: bool = False) -> None:
    """Prints bytes: as they are, but harmless on a terminal; `paged` is as of `write`."""
    if on_terminal():
        text = (harmless(chunk.decode("utf-8", "surrogateescape")).removesuffix("\n") for chunk in chunks)
        write(text, paged=paged)
        return
    flush()
    for chunk in chunks:
        with printing():
            sys.stdout.buffer.write(chunk)


def local_time(timestamp: str) -> str:
    """Returns an RFC 3339 time in the user's time zone, to the minute; what is none is returned as it is.

    Nothing is returned for the first second of 1970, which stands for a time that nobody knows.
    """
    try:
        moment = datetime.fromisoformat(timestamp)
        return "" if moment.timestamp() == 0 else moment.astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return one_line(timestamp)


def session_json(info: "SessionInfo") -> dict[str, Any]:
    """Returns a session as its JSON object, whose keys are stable."""
    return {
        "id": info.id,
        "branch": info.branch,
        "title": info.title,
        "agent": info.agent,
        "deltas": info.deltas,
        "head": info.head,
        "oid": info.oid,
        "created_at": info.created_at,
        "updated_at": info.updated_at,
        "parent_session": info.parent_session,
    }


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: int = -1,
    shrink: Sequence[int] = (),
    drop: Sequence[int] = (),
) -> Iterable[str]:
    """Yields the lines of a table whose columns are aligned; in a pipe nothing is cut.

    On a terminal it fits, if what may be cut and left out lets it. What nobody may cut goes on in the next line.

    Args:
        header: The names of the columns.
        rows: The cells, each one harmless line.
        right: The column that holds numbers.
        shrink: The columns that are cut where the terminal is too narrow, the first ones first.
        drop: Those that are left out where it still is, likewise.
    """
    least = [*map(width, header)]
    rows = [header, *rows]
    room = columns()
    shown = [*range(len(header))]
    if room is not None:
        needed = [max(map(width, column)) for column in zip(*rows, strict=True)]
        needed = [min(one, max(8, least[at])) if at in shrink else one for at, one in enumerate(needed)]
        for column in drop:
            if sum(needed[at] for at in shown) + 2 * (len(shown) - 1) > room:
                shown.remove(column)
        rows = [[row[at] for at in shown] for row in rows]
        least = [least[at] for at in shown]
        right = shown.index(right) if right in shown else -1
        shrink = [shown.index(at) for at in shrink if at in shown]
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    if room is None:
        widths = [min(wide, _PIPED_COLUMN if at else _PIPED_NAME) for at, wide in enumerate(widths)]
    excess = 0 if room is None else sum(widths) + 2 * (len(widths) - 1) - room
    for column in shrink:
        cut = max(0, min(excess, widths[column] - max(8, least[column])))
        widths[column] -= cut
        excess -= cut
    for place, row in enumerate(rows):
        cells = (
            pad(cell if room is None else clip(cell, wide), wide, right=column == right)
            for column, (cell, wide) in enumerate(zip(row, widths, strict=True))
        )
        line = "  ".join(cells).rstrip()
        yield line if place else style(line, bold=True)


def print_session(info: "SessionInfo", *, as_json: bool) -> None:
    """Prints a session that was made: its id, for the next command, or its JSON object."""
    stored(f"the session {one_line(info.id)}")
    if as_json:
        write_json([session_json(info)])
    else:
        write_name(info.id)


def log_json(entry: "LogEntry") -> dict[str, Any]:
    """Returns a commit as its JSON object, whose keys are stable."""
    return {
        "oid": entry.oid,
        "parent_oid": entry.parent_oid,
        "delta": entry.delta,
        "commit_id": entry.commit_id,
        "who": entry.who,
        "author": entry.author,
        "subject": entry.subject,
        "body": entry.body,
        "time": entry.time,
    }


def log_line(entry: "LogEntry", room: int | None, left: Sequence[str] = ()) -> str:
    """Returns a commit as one line, cut to so many columns, with the names of the lines that ended there."""
    number = pad("" if entry.delta is None else f"#{entry.delta}", 5)
    time = pad(local_time(entry.time), 16)
    ended = f"({one_line(', '.join(left))}) " if left else ""
    start = f"{number} {entry.oid[:10]}  {time}  {ended}"
    subject = one_line(entry.subject)
    if room is not None:
        subject = clip(subject, max(20, room - len(start)))
    who, colon, said = subject.partition(": ")
    spoken = style(who, fg=COLOURS.get(entry.who), bold=True) + colon + said
    return f"{number} {style(entry.oid[:10], fg='yellow')}  {time}  {style(ended, fg='green')}{spoken}"
