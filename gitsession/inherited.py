"""The history that a session goes on from where another one ends: the conversation begins with it, the log does not.

A fork of an agent's may hold only what came after it, and say in its header which session it goes on from, and up to
which of the numbers that the agent gives its records (`origin`: `session`, `end_ordinal_exclusive`). What comes before
is read from that session, if the store has it, and from the one that this goes on from in turn.
"""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from gitsession.conversation import StoredDelta
from gitsession.errors import SessionError
from gitsession.layout import HEADS, imported_id, session_id_of
from gitsession.model import SessionMeta
from gitsession.reading import Reader, State
from gitsession.transcripts import FORMATS
from gitsession.transcripts.stored import decode_record, is_record

_WHY = {
    "absent": "which is not in the store",
    "incomplete": "of which the store has only the beginning",
    "circle": "which goes on from itself",
    "unreadable": "which cannot be read",
}


class MissingHistory(NamedTuple):
    """What a conversation should begin with and does not.

    Attributes:
        session: The session whose history it is, as the agent calls it.
        why: `absent` where the store has no such session, `incomplete` where it has too little of it, `circle` where
            the session goes on from one that goes on from it, `unreadable` where it is damaged.
    """

    session: str
    why: Literal["absent", "incomplete", "circle", "unreadable"]

    def __str__(self) -> str:
        return f"history of {self.session}, {_WHY[self.why]}"


class Inherited(NamedTuple):
    """The history that a session goes on from.

    Attributes:
        parts: The sessions that hold it, the oldest first, each with the number before which it ends there.
        missing: What of it is missing before these, or at their end; None where nothing is.
    """

    parts: tuple[tuple[State, int], ...]
    missing: MissingHistory | None

    def key(self) -> tuple[str, ...]:
        """Returns what tells this history from others that the session may be found to have."""
        return tuple(f"{state.session_id}#{end}" for state, end in self.parts)


def inherited(reader: Reader, state: State) -> Inherited:
    """Returns the history that a session goes on from; nothing for most sessions."""
    parts: list[tuple[State, int]] = []
    seen = {state.session_id, state.meta.id}
    missing: MissingHistory | None = None
    base, end = _base_of(state.meta), 0
    while base is not None:
        name, own_end = base
        # What goes on from within the history of another goes on from what that one does.
        end = min(end, own_end) if parts else own_end
        try:
            older = _find(reader, name, state.session_id)
            if older is not None and _falls_short(reader, older, end):
                missing = MissingHistory(name, "incomplete")
        except SessionError:
            return Inherited(tuple(reversed(parts)), MissingHistory(name, "unreadable"))
        if older is None or older.session_id in seen:
            why: Literal["absent", "circle"] = "absent" if older is None else "circle"
            return Inherited(tuple(reversed(parts)), MissingHistory(name, why))
        seen |= {older.session_id, older.meta.id}
        parts.append((older, end))
        base = _base_of(older.meta)
    return Inherited(tuple(reversed(parts)), missing)


def conversation_deltas(reader: Reader, state: State, found: Inherited | None = None) -> Iterator[StoredDelta]:
    """Yields the deltas that a conversation is made of: those that it inherits, and the session's own.

    Args:
        reader: The store.
        state: The session.
        found: The history that it goes on from, where that is known.

    Raises:
        Corrupt: A delta is missing or damaged.
    """
    for older, end in (inherited(reader, state) if found is None else found).parts:
        last = _start_of(older.meta) - 1
        for delta in reader.deltas(older):
            number = _ordinal(delta.content, last)
            # What was appended to it here is no part of what the agent goes on from.
            if number is None or number >= end:
                break
            last = number
            yield delta
    yield from reader.deltas(state)


def _base_of(meta: SessionMeta) -> tuple[str, int] | None:
    """Returns the session that one goes on from, and the number before which that ends; None if it is whole."""
    origin = meta.extra.get("origin") if meta.agent in FORMATS else None
    name, end = _field(origin, "session"), _field(origin, "end_ordinal_exclusive")
    if not isinstance(name, str) or not name or not isinstance(end, int) or isinstance(end, bool):
        return None
    return name, end


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _start_of(meta: SessionMeta) -> int:
    """Returns the number of a session's first record: numbers go on from those of the session before."""
    base = _base_of(meta)
    return 0 if base is None else base[1]


def _find(reader: Reader, name: str, session_id: str) -> State | None:
    """Returns the session that an agent calls by a name; None if the store has none.

    One that was written into several files has the name of the last one behind a `_` in the others'.
    """
    own = imported_id(name)
    side = reader.side(session_id)
    for one in (own, *([f"{own}@{side[1]}"] if side is not None else [])):
        if (tip := reader.find_tip(one)) is not None:
            return reader.present(one, tip)
    ids = map(session_id_of, (ref.removeprefix(HEADS) for ref in reader.repository.refs.names(HEADS)))
    pages = [one for one in ids if one.endswith(f"_{own}")]
    return reader.present(pages[0], reader.tip(pages[0])) if len(pages) == 1 else None


def _falls_short(reader: Reader, state: State, end: int) -> bool:
    """Tells whether a session ends before a number, as far as its last record has one."""
    last = reader.last_deltas(state, 1)
    number = _ordinal(last[-1].content, None) if last else None
    return number is not None and number + 1 < end


def _ordinal(content: bytes, last: int | None) -> int | None:
    """Returns the number of the record in a delta, or the next one where it has none; None for what is no record."""
    if not is_record(content):
        return None
    name, record = decode_record(content[:-1])
    number = FORMATS[name].ordinal(record) if name in FORMATS else None
    if number is not None or last is None:
        return number
    return last + 1
