"""The turns of a Codex rollout: which of its records are the conversation.

The agent writes much of a turn twice: as the items that go to the model, and as the events that the user sees. The
items are taken, with the events' word for which of the prompts a person typed; the events are taken where a turn has
nothing else. A rollback takes the last turns back, and stays in the file as one more record.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gitsession.columns import MANY, Scratch, column
from gitsession.transcripts.base import AbandonedLine, Record, Return
from gitsession.transcripts.codex_records import (
    ITEMS,
    OUTPUTS,
    TURN_ENDS,
    TURN_STARTS,
    event,
    is_injected,
    item,
    key,
    words,
)
from gitsession.transcripts.fields import integer, text

Kind = Literal["user", "context", "assistant", "tool", "compaction"]
_KINDS: tuple[Kind, ...] = ("user", "context", "assistant", "tool", "compaction")
_SPOKEN = ("user", "assistant", "tool")
# What is heard is kept as one number: the place of its record, above two bits and the number of its kind.
_KIND_MASK, _EVENT, _REASONING, _PLACE_BITS = 0b111, 0b1000, 0b10000, 5


@dataclass(frozen=True, slots=True)
class Said:
    """A record that is a part of the conversation.

    Attributes:
        place: Its position in the sequence of records.
        kind: Who speaks; `context` is what no person typed.
    """

    place: int
    kind: Kind


@dataclass(slots=True)
class _Prompt:
    """A record of the turn that is being read in which the user speaks, or what speaks in their name."""

    place: int
    is_event: bool
    key: str


class Turns:
    """The conversation of a rollout, record by record."""

    def __init__(self, records: Sequence[Record], scratch: Scratch | None = None) -> None:
        """Reads the records.

        Args:
            records: All of a rollout.
            scratch: Where it lies what of many records is the conversation; None for memory.
        """
        self._records = records
        self._left: list[tuple[int, int | None]] = []
        self._returns: list[Return] = []  # behind these
        self._said = column(scratch, "Q", most=MANY)
        self._said_prompts = 0  # how many of them are the user's
        self._said_anew = False  # whether anything was said since turns were last taken back
        self._turn = column(scratch, "Q", most=MANY)  # what was heard in the turn that is being read
        self._prompts: list[_Prompt] = []  # those of it
        # Whether there is an answer in it, one in the items, and a thought in these.
        self._spoke = self._answered = self._thought = False
        self._told = any(text(event(record.value), "type") == "user_message" for record in records)
        self._marked = False  # whether the turn was begun by an event, so that a prompt within it begins no other
        for place, record in enumerate(records):
            if isinstance(record.value, dict):
                self._take(place, record.value)
        self._close()

    def said(self) -> Iterator[Said]:
        """Yields what of the records is the conversation, in order."""
        return (Said(*_unpacked(said)) for said in self._said)

    def abandoned(self) -> list[AbandonedLine]:
        """Returns the lines that were rolled back."""
        return [
            AbandonedLine(self.entry_id(last), None if at is None else self.entry_id(at)) for last, at in self._left
        ]

    def returns(self) -> list[Return]:
        """Returns where turns were rolled back."""
        return self._returns

    def entry_id(self, place: int) -> str:
        """Returns the id under which a record is known: its commit's, or one that is made of its place."""
        return self._records[place].id or f"record-{place}"

    def _take(self, place: int, value: dict[str, Any]) -> None:
        kind = text(value, "type")
        if kind == "compacted":
            self._close()
            self._say(place, "compaction")
        elif kind == "inter_agent_communication":
            self._hear(place, "context")
        elif found := item(value):
            self._take_item(place, found, injected=value.get("meta") is True)
        elif happened := event(value):
            self._take_event(place, happened)

    def _take_item(self, place: int, found: dict[str, Any], *, injected: bool) -> None:
        kind, role = text(found, "type"), text(found, "role")
        if kind not in ITEMS:
            return
        if kind == "message" and role == "user" and not injected:
            self._prompted(_Prompt(place, is_event=False, key=key(words(found.get("content")))))
        elif kind == "agent_message" or (kind == "message" and role != "assistant"):
            self._hear(place, "context")
        elif kind in OUTPUTS:
            self._hear(place, "tool")
        else:
            self._hear(place, "assistant", reasoning=kind == "reasoning")

    def _take_event(self, place: int, happened: dict[str, Any]) -> None:
        kind = text(happened, "type")
        if kind in TURN_STARTS:
            self._close()
            self._marked = True
        elif kind in TURN_ENDS:
            self._marked = False
        elif kind == "user_message":
            self._prompted(_Prompt(place, is_event=True, key=key(text(happened, "message"))))
        elif kind in ("agent_message", "agent_reasoning", "agent_reasoning_raw_content"):
            self._hear(place, "assistant", is_event=True, reasoning=kind != "agent_message")
        elif kind == "thread_rolled_back":
            self._close()
            self._roll_back(integer(happened, "num_turns") or 0)

    def _prompted(self, prompt: _Prompt) -> None:
        if not self._marked and self._spoke:
            self._close()
        self._prompts.append(prompt)
        self._hear(prompt.place, "user")

    def _hear(self, place: int, kind: Kind, *, is_event: bool = False, reasoning: bool = False) -> None:
        self._turn.append(_packed(place, kind) | (is_event and _EVENT) | (reasoning and _REASONING))
        if kind in ("assistant", "tool"):
            self._spoke = True
            self._answered = self._answered or not is_event
            self._thought = self._thought or (reasoning and not is_event)

    def _close(self) -> None:
        """Puts down what was said in the turn, each thing once."""
        prompts = dict(_prompts(self._prompts, told=self._told))
        for heard in self._turn:
            place, kind = _unpacked(heard)
            if kind == "user":
                if place in prompts:
                    self._say(place, prompts[place])
            # Thoughts stand in events alone where the items have none, or have them encrypted elsewhere.
            elif not heard & _EVENT or not self._answered or (heard & _REASONING and not self._thought):
                self._say(place, kind)
        while len(self._turn):
            self._turn.pop()
        self._prompts = []
        self._spoke = self._answered = self._thought = False

    def _say(self, place: int, kind: Kind) -> None:
        self._said.append(_packed(place, kind))
        self._said_prompts += kind == "user"
        self._said_anew = self._said_anew or kind in _SPOKEN

    def _roll_back(self, turns: int) -> None:
        gone = min(turns, self._said_prompts)
        if gone <= 0:
            return
        self._said_prompts -= gone
        last = place = -1
        while gone:
            place, kind = _unpacked(self._said.pop())
            # What was compacted since belongs to the line.
            last = place if last < 0 and kind != "context" else last
            gone -= kind == "user"
        # What was injected for the first turn taken back goes with it; what stands before the first of all stays.
        while self._said_prompts and _unpacked(self._said[len(self._said) - 1])[1] == "context":
            self._said.pop()
        said = (_unpacked(self._said[index]) for index in range(len(self._said) - 1, -1, -1))
        at = next((place for place, kind in said if kind in _SPOKEN), None)
        if not self._said_anew:
            # What is taken back in several steps, with nothing said between them, is one line.
            last = self._left.pop()[0]
            self._returns.pop()
        self._left.append((last, at))
        # Where all was taken back, it goes on from what stands before the first turn.
        self._returns.append(Return(last + 1, at if at is not None else place - 1 if place else None))
        self._said_anew = False


def _packed(place: int, kind: Kind) -> int:
    return place << _PLACE_BITS | _KINDS.index(kind)


def _unpacked(heard: int) -> tuple[int, Kind]:
    return heard >> _PLACE_BITS, _KINDS[heard & _KIND_MASK]


def _prompts(prompts: Sequence[_Prompt], *, told: bool) -> list[tuple[int, Kind]]:
    """Returns what the user said in a turn: each prompt once, and what was injected.

    Args:
        prompts: The records of the turn in which a user speaks.
        told: Whether the file has events that tell what a person typed, in this turn or another.
    """
    typed = [one for one in prompts if one.is_event]
    given = [one for one in prompts if not one.is_event]
    if not told:
        return [(one.place, "context" if is_injected(one.key) else "user") for one in given]
    found: list[tuple[int, Kind]] = []
    unmatched = []
    for one in typed:
        same = next((other for other in given if other.key == one.key), None)
        if same is None:
            unmatched.append(one)
        else:
            given.remove(same)
            found.append((same.place, "user"))
    for one in unmatched:
        found.append((one.place, "user"))
        # The model was given the same prompt in other words: with what an editor knows, or with images.
        same = next((other for other in given if not is_injected(other.key)), None)
        if same is not None:
            given.remove(same)
    return [*found, *((one.place, "context") for one in given)]
