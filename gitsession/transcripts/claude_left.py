"""The lines of a Claude Code transcript that the user left: they went back, and went on otherwise.

What makes a line worth a branch is what is said in it: what a person typed, and what the model answered, whatever these
follow (a command, what a hook put in, a result of a tool). A command counts that the model is told of, as `! ls`; what
a person did beside the conversation (`/model`, `/exit`) does not. All that is said is to be read in the line that the
agent would resume, or in one that was left. So one ends where something is said that stands in no line that is known
before, neither itself nor as a copy (the same prompt, or a part of the same answer). The last lines in the file come
first.

All else that branches the tree leaves nothing: parallel calls of tools and their results, progress, attachments, failed
requests, what a resumed session wrote again, compactions, subagents beside the conversation.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from gitsession.columns import Column, Scratch
from gitsession.numbering import Numbering
from gitsession.transcripts import lanes
from gitsession.transcripts.base import AbandonedLine, Return
from gitsession.transcripts.claude_chain import Tree
from gitsession.transcripts.fields import text
from gitsession.transcripts.meanings import NONE


def abandoned(tree: Tree, scratch: Scratch | None = None) -> list[AbandonedLine]:
    """Returns the lines that the user left, in the order in which they ended.

    Args:
        tree: The records of a transcript.
        scratch: Where what was said lies, if it is much; None for memory.
    """
    lines = _lines(tree, tree.end(), scratch)
    return [AbandonedLine(tree.entry_id(one.last), None if one.at == NONE else tree.entry_id(one.at)) for one in lines]


def returns(tree: Tree, scratch: Scratch | None = None) -> Iterable[Return]:
    """Returns where the user went back; takes what `abandoned` does."""
    end = tree.end()
    lines = _lines(tree, end, scratch)
    return lanes.returns(tree.column("i", lanes.NOBODYS), end, lines, tree.back) if lines else ()


def _lines(tree: Tree, end: int, scratch: Scratch | None) -> list[lanes.Left]:
    return [] if end == NONE else _Left(tree, end, scratch).lines()


_SEVERAL = -1


class _Way(NamedTuple):
    """The way back from a record to one of a line that is known, or to a beginning.

    Attributes:
        steps: How many records are on it.
        point: The record of the other line; `NONE` where the way leads to a beginning.
        first: The first on it that was said, or its first if nothing was.
        last: The last on it that is no injected context, or its last if all is.
        compacted: It begins with the summary of what was said before.
        is_new: Something on it was said in no other line, or it is the line that the agent would resume.
    """

    steps: int
    point: int
    first: int
    last: int
    compacted: bool
    is_new: bool


class _Left:
    def __init__(self, tree: Tree, end: int, scratch: Scratch | None) -> None:
        self._tree = tree
        self._end = end
        self._aside = tree.is_aside(end)
        self._known = tree.column("B")  # the records of the lines that are known, and those beside them
        self._said = Numbering(scratch)  # what was said in these
        self._sessions: set[str] = set()  # those of which the first line is known
        self._resumed = self._saying(end)  # the last that was said in the line that the agent would resume

    def lines(self) -> list[lanes.Left]:
        """Returns the lines, in the order in which they ended."""
        tree = self._tree
        self._take(self._end)
        ways = [(end, way) for end in self._ends() if (way := self._take(end)) is not None]
        if not ways:
            return []
        before, latest = _said_before(tree), self._latest()
        found = []
        for end, way in ways:
            # At a reminder that was written late, the agent would resume another line.
            last = end if latest[end] == way.last else way.last
            found.append(lanes.Left(last, before[way.point] if way.point != NONE else NONE, end, way.steps))
        return sorted(found)

    def _latest(self) -> Column:
        """Returns for each record the last one up to it in the file that was spoken and is no injected context."""
        tree = self._tree
        column, latest = tree.column("i", NONE), NONE
        for place in tree.linked():
            if tree.is_spoken(place) and not tree.is_meta(place) and tree.is_aside(place) == self._aside:
                latest = place
            column[place] = latest
        return column

    def _ends(self) -> Iterator[int]:
        """Yields the records that somebody spoke and that are in no known line, the last one first."""
        tree, circles = self._tree, self._tree.circles()
        for place in range(len(self._known) - 1, -1, -1):
            if self._known[place] or not tree.is_spoken(place) or tree.is_aside(place) != self._aside:
                continue
            if circles is None or circles[place] == NONE:
                yield place

    def _take(self, end: int) -> _Way | None:
        """Takes the line that ends in a record for known; returns the way to it if the user left it."""
        way = self._way(end)
        for place in islice(self._tree.back(end), way.steps):
            self._known[place] = 1
            if way.is_new and end != self._end and (said := self._tree.said(place)):
                self._said.add(str(said))
        return way if way.is_new and (way.point != NONE or self._is_further(way)) else None

    def _saying(self, end: int) -> int:
        """Returns what tells the last that was said up to a record; 0 where nothing was."""
        return next(filter(None, map(self._tree.said, self._tree.back(end))), 0)

    def _way(self, end: int) -> _Way:
        tree = self._tree
        steps, point, first, last, compacted = 0, NONE, NONE, NONE, False
        alike, goes_on = 0, False  # what all that was said on it is; `_SEVERAL` for several
        for place in tree.back(end):
            if self._known[place]:
                point = place
                break
            steps += 1
            if last == NONE and tree.is_spoken(place) and not tree.is_meta(place):
                last = place
            if said := tree.said(place):
                first, compacted = place, False
                alike = said if alike in (0, said) else _SEVERAL
                goes_on = goes_on or said == self._resumed
                continue
            first = first if alike else place
            compacted = compacted or tree.is_summary(place)
        # Most ways are short: the other parts of an answer, beside the one that the line goes on from.
        before = self._saying(point) if alike else 0
        is_new = alike not in (0, before) and self._says_more(end, steps)
        # A resumed session was being written again as far as here: nobody left what it goes on with.
        is_new = is_new and (not goes_on or before == self._resumed)
        is_new = is_new or end == self._end
        return _Way(steps, point, first, end if last == NONE else last, compacted, is_new)

    def _says_more(self, end: int, steps: int) -> bool:
        """Tells whether something that stands in no known line is said in the last steps of one."""
        if not len(self._said):
            for said in filter(None, map(self._tree.said, self._tree.back(self._end))):
                self._said.add(str(said))
        said_here = filter(None, map(self._tree.said, islice(self._tree.back(end), steps)))
        return any(str(said) not in self._said for said in said_here)

    def _is_further(self, way: _Way) -> bool:
        """Tells whether a line from a beginning is not the first that is known of its session.

        Subagents have their own beginnings, and so has what goes on from the summary of what is not in the file.
        """
        if way.compacted or self._tree.is_aside(way.first):
            return False
        session = text(self._tree.value(way.first), "sessionId")
        if session in self._sessions:
            return True
        self._sessions.add(session)
        return False


def _said_before(tree: Tree) -> Column:
    """Returns for each record the nearest one that was spoken, itself or one before it; `NONE` where none is.

    A compaction stands between what was said before it and what was said after it, and is nothing that was said. But
    the summary at the beginning of a file follows nothing, so it is what others follow.
    """
    plain = tree.nearest(lambda place: tree.is_spoken(place) and not tree.is_summary(place))
    return tree.nearest(lambda place: tree.is_spoken(place) and (plain[place] == NONE or not tree.is_summary(place)))
