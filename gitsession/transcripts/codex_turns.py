"""The turns of a Codex rollout: which of its records are the conversation.

The agent writes much of a turn twice: as the items that go to the model, and as the events that the user sees. The
items are taken, with the events' word for which of the prompts a person typed; the events are taken where a turn has
nothing else. A rollback takes the last turns back, and stays in the file as one more record.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gitsession.transcripts.base import AbandonedLine, Record
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
class _Heard:
    """A record of the turn that is being read."""

    place: int
    kind: Kind
    is_event: bool
    reasoning: bool = False
    key: str = ""


class Turns:
    """The conversation of a rollout, record by record.

    Attributes:
        said: What of the records is the conversation, in order.
    """

    def __init__(self, records: Sequence[Record]) -> None:
        """Reads the records."""
        self.said: list[Said] = []
        self._records = records
        self._left: list[tuple[int, int | None]] = []
        self._turn: list[_Heard] = []
        self._told = any(text(event(record.value), "type") == "user_message" for record in records)
        self._marked = False  # whether the turn was begun by an event, so that a prompt within it begins no other
        for place, record in enumerate(records):
            if isinstance(record.value, dict):
                self._take(place, record.value)
        self._close()

    def abandoned(self) -> list[AbandonedLine]:
        """Returns the lines that were rolled back."""
        return [
            AbandonedLine(self.entry_id(last), None if at is None else self.entry_id(at)) for last, at in self._left
        ]

    def entry_id(self, place: int) -> str:
        """Returns the id under which a record is known: its commit's, or one that is made of its place."""
        return self._records[place].id or f"record-{place}"

    def _take(self, place: int, value: dict[str, Any]) -> None:
        kind = text(value, "type")
        if kind == "compacted":
            self._close()
            self.said.append(Said(place, "compaction"))
        elif kind == "inter_agent_communication":
            self._turn.append(_Heard(place, "context", is_event=False))
        elif found := item(value):
            self._take_item(place, found, injected=value.get("meta") is True)
        elif happened := event(value):
            self._take_event(place, happened)

    def _take_item(self, place: int, found: dict[str, Any], *, injected: bool) -> None:
        kind, role = text(found, "type"), text(found, "role")
        if kind not in ITEMS:
            return
        if kind == "message" and role == "user" and not injected:
            self._prompted(_Heard(place, "user", is_event=False, key=key(words(found.get("content")))))
        elif kind == "agent_message" or (kind == "message" and role != "assistant"):
            self._turn.append(_Heard(place, "context", is_event=False))
        else:
            who: Kind = "tool" if kind in OUTPUTS else "assistant"
            self._turn.append(_Heard(place, who, is_event=False, reasoning=kind == "reasoning"))

    def _take_event(self, place: int, happened: dict[str, Any]) -> None:
        kind = text(happened, "type")
        if kind in TURN_STARTS:
            self._close()
            self._marked = True
        elif kind in TURN_ENDS:
            self._marked = False
        elif kind == "user_message":
            self._prompted(_Heard(place, "user", is_event=True, key=key(text(happened, "message"))))
        elif kind in ("agent_message", "agent_reasoning", "agent_reasoning_raw_content"):
            self._turn.append(_Heard(place, "assistant", is_event=True, reasoning=kind != "agent_message"))
        elif kind == "thread_rolled_back":
            self._close()
            self._roll_back(integer(happened, "num_turns") or 0)

    def _prompted(self, heard: _Heard) -> None:
        if not self._marked and any(one.kind in ("assistant", "tool") for one in self._turn):
            self._close()
        self._turn.append(heard)

    def _close(self) -> None:
        """Puts down what was said in the turn, each thing once."""
        turn, self._turn = self._turn, []
        items = [one for one in turn if not one.is_event]
        answered = any(one.kind in ("assistant", "tool") for one in items)
        thought = any(one.reasoning for one in items)
        kept = [Said(*one) for one in _prompts(turn, told=self._told)]
        for one in turn:
            if one.kind == "user":
                continue
            # Thoughts stand in events alone where the items have none, or have them encrypted elsewhere.
            if not one.is_event or not answered or (one.reasoning and not thought):
                kept.append(Said(one.place, one.kind))
        self.said += sorted(kept, key=lambda said: said.place)

    def _roll_back(self, turns: int) -> None:
        prompts = [number for number, said in enumerate(self.said) if said.kind == "user"]
        if turns <= 0 or not prompts:
            return
        cut = prompts[max(0, len(prompts) - turns)]
        left = [said.place for said in self.said[cut:] if said.kind in ("user", "assistant", "tool")]
        # What was injected for the first turn taken back goes with it; what stands before the first of all stays.
        while cut > prompts[0] and self.said[cut - 1].kind == "context":
            cut -= 1
        del self.said[cut:]
        stays = [said.place for said in self.said if said.kind in ("user", "assistant", "tool")]
        self._left.append((left[-1], stays[-1] if stays else None))


def _prompts(turn: Sequence[_Heard], *, told: bool) -> list[tuple[int, Kind]]:
    """Returns what the user said in a turn: each prompt once, and what was injected.

    Args:
        turn: The records of the turn.
        told: Whether the file has events that tell what a person typed, in this turn or another.
    """
    typed = [one for one in turn if one.kind == "user" and one.is_event]
    given = [one for one in turn if one.kind == "user" and not one.is_event]
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
