"""The conversation of a Claude Code transcript, as the agent would resume it.

The agent writes each block of a model's answer as a record of its own, and the result of each of its calls beside the
next one. Here they become one message again, with all its calls, and the results follow it in the order of the file: a
reader sees one answer, and a model that is to go on with it is refused anything else by its provider. The message has
the id of the first of its records. What stands twice, because a session was resumed, is taken once.

A compaction does not end the conversation: what it stands for is shown before it, and `build_context` gives what the
agent sees. It has the id of the record that holds its summary; a boundary without a summary is none yet.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import zip_longest
from typing import Any

from gitsession.columns import Column
from gitsession.model import CompactionEntry, MessageEntry
from gitsession.transcripts.base import Record
from gitsession.transcripts.claude_chain import Tree
from gitsession.transcripts.claude_prompts import in_order
from gitsession.transcripts.claude_records import (
    calls,
    content,
    is_aside,
    is_boundary,
    is_summary,
    model,
    queued,
    results,
    words,
)
from gitsession.transcripts.fields import integer, items, mapping, text
from gitsession.transcripts.meanings import NONE
from gitsession.transcripts.normal import assistant_of_blocks, user_of_blocks

Conversation = list[MessageEntry | CompactionEntry]


def fold(records: Sequence[Record]) -> Conversation:
    """Returns the conversation of a log, also of the beginning of one."""
    return _Fold(records).entries


class _Fold:
    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self._tree = Tree(records)
        self.entries: Conversation = []
        self._time = ""
        self._names: dict[str, str] = {}  # of the tools, by their calls
        self._entry_of: dict[int, str] = {}  # the entries that records came to stand in
        self._open: dict[int, None] = {}  # the records of the answer that is being put together, its first one first
        self._results: list[int] = []  # and those with the results of its calls
        self._said: set[int] = set()  # results that were put behind their call before their turn came
        line = self._tree.line()
        self._index(line)
        for place, following in zip_longest(line, line[1:]):
            self._take(place)
            self._take_orphans(place)
            for summary in self._compacted_after(place, following):
                self._close()
                self._compact(summary)
        self._close()
        self._keep_what_follows()

    def _index(self, line: list[int]) -> None:
        """Finds what belongs to the line without standing in it."""
        tree = self._tree
        self._line = set(line)
        self._hold = tree.nearest(self._line.__contains__)  # where on the line each record hangs
        aside = bool(line) and is_aside(tree.value(line[-1]))
        self._parts: dict[str, list[int]] = {}  # the records of each answer that stand beside the line
        self._answers: dict[str, list[int]] = {}  # the records with the results of each call
        self._orphans: dict[int, list[int]] = {}  # results whose calls are missing, by the records that they follow
        self._compactions: dict[int, list[int]] = {}  # by the last record that was kept, where they stand beside it
        self._boundary_of: dict[int, int] = {}
        summaries: dict[int, int] = {}
        made: set[str] = set()
        for place in tree.linked():
            value = tree.value(place)
            if is_aside(value) == aside:
                if self._is_beside(place) and (answer := text(value.get("message"), "id")):
                    self._parts.setdefault(answer, []).append(place)
                for call in results(value):
                    self._answers.setdefault(call, []).append(place)
                made |= {text(call, "id") for call in calls(value)}
            if is_summary(value):
                if (boundary := self._boundaries[place]) != NONE:
                    self._boundary_of[place] = boundary
                    summaries[boundary] = place
                elif place not in self._line:
                    # The line of its boundary is missing, so it follows what was said before that.
                    self._compactions.setdefault(tree.parent(place), []).append(place)
        missing = (place for call, places in self._answers.items() if call not in made for place in places)
        for place in sorted({*missing} - self._line):
            self._orphans.setdefault(tree.parent(place), []).append(place)
        for boundary, summary in summaries.items():
            kept = [place for place in self._kept(boundary) if place in self._line]
            if boundary not in self._line and kept:
                self._compactions.setdefault(max(kept), []).append(summary)

    @cached_property
    def _boundaries(self) -> Column:
        """The nearest boundary of each record, itself or one before it; `NONE` where there is none."""
        return self._tree.nearest(lambda place: is_boundary(self._tree.value(place)))

    def _kept(self, boundary: int) -> list[int]:
        """Returns the records that a compaction kept as they are."""
        about = mapping(self._tree.value(boundary), "compactMetadata")
        segment = mapping(about, "preservedSegment")
        names = [*items(mapping(about, "preservedMessages"), "uuids"), segment.get("headUuid"), segment.get("tailUuid")]
        places = (self._tree.find(name) for name in names if isinstance(name, str))
        return [place for place in places if place is not None]

    def _compacted_after(self, place: int, following: int | None) -> list[int]:
        """Returns the summaries that were written between a record that was kept and the one that follows it.

        What comes after such a compaction follows the last record that was kept, not the summary.
        """
        found = self._compactions.get(place, [])
        return [summary for summary in found if following is None or summary < following]

    def _take(self, place: int) -> None:
        value = self._tree.value(place)
        kind = text(value, "type")
        if self._open and not self._belongs(value):
            if kind in ("progress", "system") and not is_boundary(value):
                return
            if kind != "attachment" or queued(value) is not None:
                self._close()
        if is_summary(value):
            self._compact(place)
        elif kind == "assistant":
            self._answer(place)
        elif kind == "user" and value.get("isVisibleInTranscriptOnly") is not True:
            if self._open and results(value):
                self._results.append(place)
            elif place not in self._said:
                self._said.add(place)
                self._say(place)
        elif queued(value) is not None:
            self._say(place)

    def _take_orphans(self, place: int) -> None:
        """Takes the results that follow a record of the line and whose calls are nowhere: those lines are missing."""
        for orphan in self._orphans.get(place, ()):
            if self._open:
                self._results.append(orphan)
            elif orphan not in self._said:
                self._said.add(orphan)
                self._say(orphan)

    def _belongs(self, value: dict[str, Any]) -> bool:
        """Tells whether a record is a part of the answer that is being put together, or a result of its calls."""
        if wanted := results(value):
            return any(call in self._names for call in wanted)
        answer = text(value.get("message"), "id")
        return bool(answer) and answer == text(self._tree.value(next(iter(self._open))).get("message"), "id")

    def _answer(self, place: int) -> None:
        parts = [place]
        if not self._open:
            parts += self._parts.pop(text(self._tree.value(place).get("message"), "id"), ())
        for part in parts:
            self._open[part] = None
            self._names |= {text(call, "id"): text(call, "name") for call in calls(self._tree.value(part))}

    def _close(self) -> None:
        """Puts the answer down, and the results of its calls behind it."""
        if not self._open:
            return
        places = sorted(self._open)
        said = (content(self._tree.value(place)) for place in places)
        blocks = _once(block for one in said for block in (one if isinstance(one, list) else [one]))
        value = self._tree.value(places[0])
        message = assistant_of_blocks(blocks, model=model(value), meta=value.get("isApiErrorMessage") is True)
        if message is not None:
            own_id = self._put(places[0], [message])
            self._entry_of.update(dict.fromkeys(places, own_id))
        made = [text(block, "id") for block in blocks if text(block, "type").endswith("tool_use")]
        given = {*self._results, *filter(None, map(self._result_of, made))} - self._said
        self._open, self._results = {}, []
        for place in sorted(given):
            self._said.add(place)
            self._say(place)

    def _result_of(self, call: str) -> int | None:
        """Returns the record with the result of a call: one of the line before one beside it, then the last one."""
        places = self._answers.get(call, [])
        on_line = [place for place in places if place in self._line]
        return next(reversed(on_line or list(filter(self._is_beside, places))), None)

    def _is_beside(self, place: int) -> bool:
        """Tells whether a record hangs on the line without being of it; a copy of the line elsewhere does not."""
        return place not in self._line and self._hold[place] != NONE

    def _say(self, place: int) -> None:
        value = self._tree.value(place)
        said = in_order(value)
        before, after = (user_of_blocks(one, self._names, meta=True) for one in (said.before, said.after))
        typed = user_of_blocks(said.typed, self._names)
        # Nothing may stand between a call and its result.
        self._put(place, [*typed, *before, *after] if results(value) else [*before, *typed, *after])

    def _put(self, place: int, messages: Sequence[dict[str, Any]]) -> str:
        """Adds the messages of a record; the second and further ones get ids below that of the record."""
        own_id = self._tree.entry_id(place)
        time = self._timestamp(place)
        for number, message in enumerate(messages):
            entry_id = f"{own_id}/{number}" if number else own_id
            self.entries.append(MessageEntry(message, id=entry_id, timestamp=time))
        if messages:
            self._entry_of[place] = own_id
        return own_id

    def _compact(self, place: int) -> None:
        boundary = self._boundary_of.get(place)
        tokens, first = None, None
        if boundary is not None:
            tokens = integer(mapping(self._tree.value(boundary), "compactMetadata"), "preTokens")
            kept = (self._entry_of.get(one) for one in sorted(self._kept(boundary)))
            first = next(filter(None, kept), None)
        summary = words(self._tree.value(place))
        own_id, time = self._tree.entry_id(place), self._timestamp(place)
        self.entries.append(CompactionEntry(summary, first, tokens, id=own_id, timestamp=time))

    def _keep_what_follows(self) -> None:
        """Lets each compaction that kept nothing keep what comes after it."""
        after = None
        for place, entry in reversed(list(enumerate(self.entries))):
            if isinstance(entry, MessageEntry):
                after = entry.id
            elif entry.first_kept_id is None:
                self.entries[place] = replace(entry, first_kept_id=after)

    def _timestamp(self, place: int) -> str:
        """Returns the time of a record; where it has none, that of the entry before."""
        self._time = self._records[place].timestamp or self._time
        return self._time


def _once(blocks: Iterable[Any]) -> list[Any]:
    """Returns each block once: of calls with the same id the first one, and of any other that are equal."""
    found: list[Any] = []
    names: set[str] = set()
    keys: set[Hashable] = set()
    for block in blocks:
        key, name = _key(block), text(block, "id")
        is_call = name and text(block, "type").endswith("tool_use")
        if block is not None and (name not in names if is_call else key not in keys):
            found.append(block)
            names.add(name)
            keys.add(key)
    return found


def _key(value: Any) -> Hashable:
    """Returns what is equal for equal JSON values, and can be looked up."""
    if isinstance(value, dict):
        return frozenset((name, _key(one)) for name, one in value.items())
    return tuple(map(_key, value)) if isinstance(value, list) else value
