"""The tree that the records of a Claude Code transcript form, and the line in it that the agent would resume.

Each record names the one it follows. A uuid that stands there twice means the later record. The rules for the end of
the line are those of the agent's SDK: of all records that nobody follows, back to the nearest that user or model
spoke, the last in the file that is not aside (a subagent's, a teammate's). Injected context at the end of a line does
not count for its place, so that a reminder written late does not revive an old line, nor hides a new one.

Broken links are met as they come; a cycle is walked once. Where the file does not have the parent that a record names
(that line cannot be read, or was never written), or it names itself, the record follows what was said before it in the
file: what is missing hides no more than itself. All that name the same missing parent follow the same record. The agent
itself would forget what stands before the gap.

An import makes the tree of a whole file, however long: so it is columns of numbers, some 50 bytes a record in all.
"""

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Any, NamedTuple

from gitsession.columns import Column, Scratch, column
from gitsession.numbering import Numbering
from gitsession.transcripts.base import AbandonedLine, Record
from gitsession.transcripts.claude_prompts import prompt
from gitsession.transcripts.claude_records import CHAIN, is_aside, is_boundary, is_spoken, is_summary
from gitsession.transcripts.fields import mapping, text

NONE = -1
"""The place of no record: what a beginning follows."""

# What takes the place of a record that is missing is kept as so many less its own place.
_STAND_IN = NONE - 1

# What a record is, as bits of a byte.
_LINKED, _SPOKEN, _ASIDE, _META, _USER, _NAMES_PARENT, _BOUNDARY, _SUMMARY, _ATTACHED = (1 << bit for bit in range(9))


class Tree:
    """The records of a transcript that follow each other. All its places are positions in the sequence of records."""

    def __init__(self, records: Sequence[Record], scratch: Scratch | None = None) -> None:
        """Links the records.

        Args:
            records: All of a transcript.
            scratch: Where the tree of many of them lies; None for memory.
        """
        self._records = records
        self._scratch = scratch
        self._names = Numbering(scratch)  # of the uuids, those of missing parents too
        self._places = column(scratch, "i", most=3 * len(records))  # of the last records that have them; see `_link`
        self._kinds = self._column("H")
        self._said = self._column("Q")  # what `_said_anew` tells of each
        self._parents = self._column("i", NONE)
        for place, record in enumerate(records):
            value = record.value
            if text(value, "type") in CHAIN and (uuid := text(value, "uuid")):
                self._take(place, value, uuid)
        self._link()
        self._circling: Column | None = None  # for each record more than 0 if it follows itself; None where none does
        self._order = self._last_first()
        if self._circling is not None:
            self._open_circles(self._circling)

    def _column(self, code: str, fill: int = 0) -> Column:
        """Returns a number for each record."""
        return column(self._scratch, code, len(self._records), fill)

    def _take(self, place: int, value: dict[str, Any], uuid: str) -> None:
        """Notes a record, in the stead of an earlier one of its uuid.

        Until `_link` its parent is the number of a uuid, not a place, and what a boundary has said, which says nothing,
        is the number of the one that it follows in the file's logic, from 1.
        """
        number = self._number(uuid)
        self._parents[place] = self._number(text(value, "parentUuid"))
        if (earlier := self._places[number]) != NONE:
            self._kinds[earlier] = 0
            if self._parents[place] == NONE and not is_boundary(value):
                # A copy that a fork or a compaction wrote without its parent.
                self._parents[place] = self._parents[earlier]
        self._places[number] = place
        self._said[place] = _said_anew(value)
        self._kinds[place] = (
            _LINKED
            | (is_spoken(value) and _SPOKEN)
            | (is_aside(value) and _ASIDE)
            | (value.get("isMeta") is True and _META)
            | (text(value, "type") == "user" and _USER)
            | (value.get("parentUuid") is not None and _NAMES_PARENT)
            | (is_summary(value) and _SUMMARY)
            | (text(value, "type") == "attachment" and _ATTACHED)
        )
        if is_boundary(value):
            self._kinds[place] |= _BOUNDARY
            self._said[place] = self._number(text(value, "logicalParentUuid")) + 1

    def _number(self, uuid: str) -> int:
        if not uuid:
            return NONE
        number = self._names.add(uuid)
        if number == len(self._places):
            self._places.append(NONE)
        return number

    def _link(self) -> None:
        """Makes places of the numbers of parents.

        A uuid that no record has gets the place of the one that stands in for it, below `NONE`.
        """
        # The last that was said, or an attachment that follows it, which may be a prompt: not aside and aside.
        spoken = [NONE, NONE]
        for place, kind in enumerate(self._kinds):
            if not kind & _LINKED:
                continue
            aside = bool(kind & _ASIDE)
            named, before = self._parents[place], spoken[aside]
            parent = NONE if named == NONE else self._places[named]
            if parent == place:
                parent = before
            elif parent == NONE and NONE not in (named, before):
                parent = self._places[named] = _STAND_IN - before
            if parent < NONE:
                parent = _STAND_IN - parent
            if kind & _BOUNDARY:
                logical, self._said[place] = self._said[place] - 1, 0
                if parent == NONE:
                    # What was compacted stays a part of the conversation, so the line goes on behind the boundary.
                    parent = NONE if logical == NONE else max(self._places[logical], NONE)
                    parent = spoken[False] if parent == NONE else parent
            self._parents[place] = NONE if parent == place else parent
            if kind & _SPOKEN or (kind & _ATTACHED and parent == before):
                spoken[aside] = place

    def _open_circles(self, circling: Column) -> None:
        """Has a compaction in a circle follow what was said before it in the file.

        What it kept was written again after it, in the place of what it follows.
        """
        spoken, found = NONE, False
        for place, kind in enumerate(self._kinds):
            if kind & _BOUNDARY and circling[place] > 0 and self._parents[place] > place:
                self._parents[place], found = spoken, True
            elif kind & _SPOKEN and not kind & _ASIDE:
                spoken = place
        if found:
            self._circling = None
            self._order = self._last_first()

    def linked(self) -> Iterator[int]:
        """Yields the records of the tree, in the order of the file."""
        return (place for place, kind in enumerate(self._kinds) if kind & _LINKED)

    def parent(self, place: int) -> int:
        """Returns the record that one follows; `NONE` for a beginning."""
        return self._parents[place]

    def find(self, uuid: str) -> int | None:
        """Returns the record of a uuid; None if there is none."""
        number = self._names.find(uuid)
        return None if number is None or self._places[number] <= NONE else self._places[number]

    def value(self, place: int) -> dict[str, Any]:
        """Returns the value of a record of the tree."""
        value = self._records[place].value
        assert isinstance(value, dict)  # noqa: S101  # only such records are linked
        return value

    def entry_id(self, place: int) -> str:
        """Returns the id under which a record is known: its commit's, or the one it carries itself."""
        return self._records[place].id or text(self.value(place), "uuid")

    def is_aside(self, place: int) -> bool:
        """Tells whether a record belongs to a subagent or to another member of a team."""
        return bool(self._kinds[place] & _ASIDE)

    def _is_spoken(self, place: int) -> bool:
        return bool(self._kinds[place] & _SPOKEN)

    def back(self, place: int) -> Iterator[int]:
        """Yields a record and those before it, each once."""
        entered = NONE  # the first one that follows itself: no other is met again before it
        while place != NONE:
            if self._circling is not None and entered == NONE and self._circling[place] > 0:
                entered = place
            yield place
            place = self._parents[place]
            if place == entered:
                return

    def leaf(self) -> int:
        """Returns the end of the line that the agent would resume; `NONE` if nobody spoke."""
        followed = self._column("B")
        for place in self.linked():
            if (parent := self._parents[place]) != NONE:
                followed[parent] = 1
        spoken = self.nearest(self._is_spoken)
        typed = self.nearest(lambda place: self._kinds[place] & (_SPOKEN | _META) == _SPOKEN)
        ends = (spoken[place] for place in self.linked() if not followed[place])
        best = max(((not self.is_aside(end), typed[end], end) for end in ends if end != NONE), default=None)
        if best is not None:
            return best[2]
        return max(filter(self._is_spoken, self.linked()), default=NONE)

    def line(self) -> list[int]:
        """Returns the records of the line that the agent would resume, the first one first.

        Attachments after the last that was said are of it: they may be prompts that wait for the model.
        """
        end = self.leaf()
        for place in range(end + 1, len(self._kinds) if end != NONE else 0):
            if self._kinds[place] & _ATTACHED and self._parents[place] == end:
                end = place
        return list(self.back(end))[::-1]

    def abandoned(self) -> list[AbandonedLine]:
        """Returns the lines that the user left, in the order in which they ended.

        Only two kinds of branch points are such: several prompts that a person typed after one record, and several
        answers, told apart by the model's message id, after one record. Parallel calls of tools, and what hooks,
        progress and attachments add beside the line, branch the tree as well, and mean nothing.

        A compaction stands between what was said before it and what was said after it, and is nothing that was said. So
        what was said after it is told from what was said after the same record without it, or after another one: the
        user went back to before the compaction. A compaction after which nobody spoke leaves no line.
        """
        # For each record, and each of the two kinds, what was said after it: by the prompt, or by the answer's id. And
        # for each that was compacted after, by the compaction.
        branches: _Branches = {}
        points = self._points()
        for place in self._said_beside_others(points):
            before, boundary = points.before(self._parents[place])
            point = text(self.value(place), "sessionId") if before == NONE else before
            kind = "user" if self._kinds[place] & _USER else "model"
            keys = [(kind, self._said[place])]
            if before != NONE and points.compacted[before]:
                keys.append(("compacted", boundary))
            for kind, key in keys:
                branches.setdefault((point, kind, self.is_aside(place)), {}).setdefault(key, []).append(place)
        leaf = self.leaf() if any(len(alternatives) > 1 for alternatives in branches.values()) else NONE
        return [] if leaf == NONE else self._left(leaf, branches)

    def _points(self) -> "_Points":
        compacted = self._column("B")
        if not any(kind & _BOUNDARY for kind in self._kinds):
            spoken = self.nearest(self._is_spoken)
            return _Points(spoken, spoken, compacted)
        plain = self.nearest(lambda place: self._kinds[place] & (_SPOKEN | _SUMMARY) == _SPOKEN)
        # The summary at the beginning of a file follows nothing, so it is what others follow.
        said = self.nearest(
            lambda place: self._is_spoken(place) and (plain[place] == NONE or not self._kinds[place] & _SUMMARY)
        )
        boundaries = self.nearest(lambda place: said[place] == place or self._kinds[place] & _BOUNDARY)
        for place in self.linked():
            if self._kinds[place] & _BOUNDARY and said[place] != NONE:
                compacted[said[place]] = 1
        return _Points(said, boundaries, compacted)

    def _said_beside_others(self, points: "_Points") -> Iterator[int]:
        """Yields what was said where something else may have been said too: at a beginning, or after the same record.

        In most files that is next to nothing.
        """
        first = self._column("i", NONE)
        several = self._column("B")
        for looking in (True, False):
            for place in self.linked():
                if not self._said[place]:
                    continue
                before, _ = points.before(self._parents[place])
                if before == NONE:
                    if not looking and not self._kinds[place] & (_ASIDE | _NAMES_PARENT):
                        yield place
                elif not looking:
                    if several[before]:
                        yield place
                elif first[before] == NONE:
                    first[before] = place
                elif self._said[first[before]] != self._said[place]:
                    several[before] = 1

    def _left(self, leaf: int, branches: "_Branches") -> list[AbandonedLine]:
        """Returns the lines that branch off and are not the one that ends in the leaf."""
        line, aside, ends = self._column("B"), self.is_aside(leaf), self._ends()
        for place in self.back(leaf):
            line[place] = 1
        found: dict[int, int | None] = {}
        for (point, _, beside), every in branches.items():
            hanging = ([place for place in places if ends[place] != NONE] for places in every.values())
            alternatives = [places for places in hanging if places and beside == aside]
            last = [max(ends[place] for place in places) for places in alternatives]
            on_line = (any(line[place] for place in places) for places in alternatives)
            kept = next((end for end, one in zip(last, on_line, strict=True) if one), None)
            kept = max(last, default=None) if kept is None else kept
            found |= {end: point if isinstance(point, int) else None for end in last if end != kept}
        return [
            AbandonedLine(self.entry_id(end), None if at is None else self.entry_id(at))
            for end, at in sorted(found.items(), key=lambda pair: pair[0])
        ]

    def nearest(self, wanted: Callable[[int], object]) -> Column:
        """Returns for each record the nearest one that is wanted, itself or one before it; `NONE` where none is."""
        unknown = NONE - 1
        nearest = self._column("i", unknown)
        for start in self.linked():
            passed, found = 0, NONE
            for place in self.back(start):
                if nearest[place] != unknown:
                    found = nearest[place]
                    break
                passed += 1
                if wanted(place):
                    found = place
                    break
            for place in islice(self.back(start), passed):
                nearest[place] = found
        return nearest

    def _last_first(self) -> Column:
        """Returns the records, each before the one that it follows, without those that follow themselves."""
        followers = self._column("i")
        for place in self.linked():
            if (parent := self._parents[place]) != NONE:
                followers[parent] += 1
        order = column(self._scratch, "i", most=len(self._kinds))
        for start in self.linked():
            place = start
            while place != NONE and not followers[place]:
                order.append(place)
                followers[place] = NONE
                place = self._parents[place]
                if place != NONE:
                    followers[place] -= 1
        if any(count > 0 for count in followers):
            self._circling = followers
        return order

    def _ends(self) -> Column:
        """Returns for each record that hangs on a beginning where what was said after it ended; else `NONE`."""
        ends = self._column("i", NONE)
        for place in self._order:
            parent, end = self._parents[place], max(ends[place], place if self._is_spoken(place) else NONE)
            ends[place] = end
            if parent != NONE:
                ends[parent] = max(ends[parent], end)
        hangs = self._column("B")
        for number in range(len(self._order) - 1, -1, -1):
            place = self._order[number]
            parent = self._parents[place]
            hangs[place] = parent == NONE or hangs[parent]
        for place, hanging in enumerate(hangs):
            if not hanging:
                ends[place] = NONE
        return ends


class _Points(NamedTuple):
    """What the records are said after.

    Attributes:
        said: For each record the nearest one that was said, itself or one before it; `NONE` where none is.
        boundaries: The same, or the mark of a compaction that is nearer.
        compacted: Whether there is a compaction right after each.
    """

    said: Column
    boundaries: Column
    compacted: Column

    def before(self, parent: int) -> tuple[int, int]:
        """Returns what was said before what follows a record, and the compaction between them; `NONE` for none."""
        if parent == NONE:
            return NONE, NONE
        said, nearest = self.said[parent], self.boundaries[parent]
        return said, NONE if nearest == said else nearest


_Branches = dict[tuple[str | int, str, bool], dict[int, list[int]]]


def _said_anew(value: dict[str, Any]) -> int:
    """Returns what tells a typed prompt, or a model's answer, from others in its place; 0 for anything else.

    It is a digest of 64 bits: only the few things that follow one record are told apart by it.
    """
    if said := prompt(value):
        # A prompt that is written twice, as when a session is resumed, is the same prompt.
        key = f"{text(value, 'promptId') or text(value, 'timestamp')} {said}"
    elif text(value, "type") != "assistant" or value.get("isApiErrorMessage") is True:
        return 0
    else:
        key = text(mapping(value, "message"), "id")
    return int.from_bytes(blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") if key else 0
