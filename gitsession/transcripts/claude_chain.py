"""The tree that the records of a Claude Code transcript form, and the line in it that the agent would resume.

Each record names the one it follows. A uuid that stands there twice means the later record. The rules for the end of
the line are those of the agent's SDK: of all records that nobody follows, back to the nearest that user or model
spoke, the last in the file that is not aside (a subagent's, a teammate's). Injected context at the end of a line does
not count for its place, so that a reminder written late does not revive an old line, nor hides a new one.

Broken links are met as they come: a record that is its own parent, or whose parent is missing, begins a line; a cycle
is walked once. But where a line that cannot be read stands before a record whose parent is missing, that line was it:
the record follows what was said before the damage, which hides no more than itself.
"""

from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gitsession.transcripts.base import AbandonedLine, Record
from gitsession.transcripts.claude_records import CHAIN, is_aside, is_boundary, is_spoken, prompt
from gitsession.transcripts.fields import mapping, text


class Tree:
    """The records of a transcript that follow each other. All its places are positions in the sequence of records."""

    def __init__(self, records: Sequence[Record]) -> None:
        """Links the records."""
        self._records = records
        self.places: dict[str, int] = {}
        for place, record in enumerate(records):
            value = record.value
            if isinstance(value, dict) and text(value, "type") in CHAIN and (uuid := text(value, "uuid")):
                self.places.pop(uuid, None)
                self.places[uuid] = place
        self.parents: dict[int, int | None] = {}
        spoken: dict[bool, int] = {}  # the last that was said, aside and not
        damaged = [place for place, record in enumerate(records) if not isinstance(record.value, dict)]
        stand_ins: dict[str, int] = {}  # for the records that cannot be read, by the uuids they must have had
        for place in sorted(self.places.values()):
            value = self.value(place)
            named = text(value, "parentUuid")
            before = spoken.get(is_aside(value))
            if named and named not in self.places and before is not None:
                following = bisect(damaged, before)
                if following < len(damaged) and damaged[following] < place:
                    stand_ins.setdefault(named, before)
            parent = self.places.get(named, stand_ins.get(named))
            if is_boundary(value) and parent is None:
                # What was compacted stays a part of the conversation, so the line goes on behind the boundary.
                parent = self.places.get(text(value, "logicalParentUuid"), spoken.get(False))
            self.parents[place] = None if parent == place else parent
            if is_spoken(value):
                spoken[is_aside(value)] = place

    def value(self, place: int) -> dict[str, Any]:
        """Returns the value of a record of the tree."""
        value = self._records[place].value
        assert isinstance(value, dict)  # noqa: S101  # only such records are linked
        return value

    def entry_id(self, place: int) -> str:
        """Returns the id under which a record is known: its commit's, or the one it carries itself."""
        return self._records[place].id or text(self.value(place), "uuid")

    def back(self, place: int | None) -> Iterator[int]:
        """Yields a record and those before it, each once."""
        seen = set()
        while place is not None and place not in seen:
            seen.add(place)
            yield place
            place = self.parents[place]

    def leaf(self) -> int | None:
        """Returns the end of the line that the agent would resume; None if nobody spoke."""
        followed = {parent for parent in self.parents.values() if parent is not None}
        spoken = self.nearest(self._is_spoken)
        typed = self.nearest(lambda place: self._is_spoken(place) and self.value(place).get("isMeta") is not True)
        best: tuple[bool, int, int] | None = None
        for place in self.parents:
            end = spoken[place] if place not in followed else None
            if end is None:
                continue
            said = typed[end]
            rank = (not is_aside(self.value(end)), -1 if said is None else said, end)
            best = rank if best is None else max(best, rank)
        if best is not None:
            return best[2]
        return max((place for place in self.parents if self._is_spoken(place)), default=None)

    def line(self) -> list[int]:
        """Returns the records of the line that the agent would resume, the first one first."""
        return list(self.back(self.leaf()))[::-1]

    def abandoned(self) -> list[AbandonedLine]:
        """Returns the lines that the user left, in the order in which they ended.

        Only two kinds of branch points are such: several prompts that a person typed after one record, and several
        answers, told apart by the model's message id, after one record. Parallel calls of tools, and what hooks,
        progress and attachments add beside the line, branch the tree as well, and mean nothing.
        """
        # For each record, and each of the two kinds, what was said after it: by the prompt, or by the answer's id.
        branches: dict[tuple[str | int, bool, bool], dict[str, list[int]]] = {}
        spoken = self.nearest(self._is_spoken)
        for place, parent in self.parents.items():
            value = self.value(place)
            key = self._said_anew(value)
            if not key:
                continue
            aside = is_aside(value)
            before = None if parent is None else spoken[parent]
            if before is None and (aside or value.get("parentUuid") is not None):
                continue
            point = text(value, "sessionId") if before is None else before
            kind = (point, text(value, "type") == "user", aside)
            branches.setdefault(kind, {}).setdefault(key, []).append(place)
        leaf = self.leaf() if any(len(alternatives) > 1 for alternatives in branches.values()) else None
        return [] if leaf is None else self._left(leaf, branches)

    def _left(
        self, leaf: int, branches: dict[tuple[str | int, bool, bool], dict[str, list[int]]]
    ) -> list[AbandonedLine]:
        """Returns the lines that branch off and are not the one that ends in the leaf."""
        line, aside, ends = set(self.back(leaf)), is_aside(self.value(leaf)), self._ends()
        found: dict[int, int | None] = {}
        for (point, _, beside), every in branches.items():
            hanging = ([place for place in places if place in ends] for places in every.values())
            alternatives = [places for places in hanging if places and beside == aside]
            last = [max(ends[place] for place in places) for places in alternatives]
            kept = next((end for end, places in zip(last, alternatives, strict=True) if line & {*places}), None)
            kept = max(last, default=None) if kept is None else kept
            found |= {end: point if isinstance(point, int) else None for end in last if end != kept}
        return [
            AbandonedLine(self.entry_id(end), None if at is None else self.entry_id(at))
            for end, at in sorted(found.items(), key=lambda pair: pair[0])
        ]

    @staticmethod
    def _said_anew(value: dict[str, Any]) -> str:
        """Returns what tells a typed prompt, or a model's answer, from others in its place; "" for anything else."""
        if said := prompt(value):
            # A prompt that is written twice, as when a session is resumed, is the same prompt.
            return f"{text(value, 'promptId') or text(value, 'timestamp')} {said}"
        if text(value, "type") != "assistant" or value.get("isApiErrorMessage") is True:
            return ""
        return text(mapping(value, "message"), "id")

    def _is_spoken(self, place: int) -> bool:
        return is_spoken(self.value(place))

    def nearest(self, wanted: Callable[[int], bool]) -> dict[int, int | None]:
        """Returns for each record the nearest one that is wanted: itself, or one before it."""
        nearest: dict[int, int | None] = {}
        for start in self.parents:
            passed, found = [], None
            for place in self.back(start):
                if place in nearest:
                    found = nearest[place]
                    break
                passed.append(place)
                if wanted(place):
                    found = place
                    break
            nearest.update(dict.fromkeys(passed, found))
        return nearest

    def _ends(self) -> dict[int, int]:
        """Returns for each record that hangs on a beginning where what was said after it ended."""
        children: dict[int | None, list[int]] = {}
        for place, parent in self.parents.items():
            children.setdefault(parent, []).append(place)
        order = list(children.get(None, ()))
        for place in order:  # it grows while it is walked; a cycle hangs on no beginning and is never reached
            order += children.get(place, ())
        ends: dict[int, int] = {}
        for place in reversed(order):
            own = place if self._is_spoken(place) else -1
            ends[place] = max([own, *(ends[child] for child in children.get(place, ()))])
        return ends
