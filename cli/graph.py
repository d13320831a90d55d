"""Draws a graph beside the lines of a log, as `git log --graph` does: a `*` a commit, and a `|` for each open line."""

from collections.abc import Iterable, Iterator
from itertools import chain

from gitsession import GraphEntry


def drawn(entries: Iterable[GraphEntry]) -> Iterator[tuple[str, GraphEntry | None]]:
    """Yields what stands before each entry, and lines that only draw; it keeps nothing but the lines that are open.

    Args:
        entries: The commits, each before the one that it follows.
    """
    open_lines: list[str] = []  # the commits that are still to come, from the left
    for one in entries:
        if one.entry.oid not in open_lines:
            open_lines.append(one.entry.oid)
        lane = open_lines.index(one.entry.oid)
        yield _row(len(open_lines), lane), one
        if one.follows is None:
            del open_lines[lane]
            continue
        if one.follows in open_lines:
            other = open_lines.index(one.follows)
            yield _joint(len(open_lines), *sorted((lane, other))), None
            del open_lines[max(lane, other)]
            lane = min(lane, other)
        open_lines[lane] = one.follows


def _row(count: int, lane: int) -> str:
    return " ".join("*" if place == lane else "|" for place in range(count)) + " "


def _joint(count: int, left: int, right: int) -> str:
    """Returns the line on which one line of the graph joins another one, and those beside it move up."""
    marks = chain(
        ("|" + ("/" if place == right - 1 else "_" if place >= left else " ") for place in range(right)),
        (" /" for _ in range(right + 1, count)),
    )
    return "".join(marks).rstrip()
