"""The values of the two contracts: sessions, commits, headers, entries. All frozen, all complete when they are made.

A *message* is any JSON object. A *session* is its messages and the id of its last commit. An *entry* is what one line
of the log holds: a message, a compaction, or a kind that this version does not know.
"""

import os
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import eq
from typing import Any, overload

from gitsession import json_text
from gitsession.errors import Corrupt, InvalidCommit

Message = dict[str, Any]

# How the line of a message entry begins when nothing but the message is known of it: see `Messages`.
MESSAGE_PREFIX = b'{"type":"message","message":'


def now() -> str:
    """Returns the present time as RFC 3339 in UTC, with microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _new_id() -> str:
    return str(uuid.uuid4())


class Messages(Sequence[Message]):
    """An immutable sequence of messages, equal to the list of the same messages.

    It keeps their JSON text and parses what is looked at, so what it hands out is the caller's own: changing it
    changes nothing else.
    """

    __slots__ = ("_lines",)

    def __init__(self, messages: Iterable[Mapping[str, Any]] = ()) -> None:
        """Encodes the messages.

        Raises:
            InvalidCommit: One of them is no JSON object.
        """
        if isinstance(messages, Messages):
            self._lines: Sequence[bytes] = messages.lines
        else:
            self._lines = tuple(
                MESSAGE_PREFIX + json_text.encode_object(message, f"messages[{place}]") + b"}"
                for place, message in enumerate(messages)
            )

    def __reduce__(self) -> tuple[object, ...]:
        # Read as a whole: in another process there is nothing that could read more.
        return Messages.from_lines, (tuple(self._lines),)

    @classmethod
    def from_texts(cls, texts: Iterable[bytes]) -> "Messages":
        """Returns the messages whose JSON texts these are, each kept byte for byte.

        Args:
            texts: UTF-8, one JSON object each; line breaks between tokens become blanks.

        Raises:
            InvalidCommit: A text is no strict JSON object.
        """
        lines = []
        for place, text in enumerate(texts):
            try:
                value = json_text.decode_new(text)
            except ValueError as error:
                raise InvalidCommit(f"messages[{place}] cannot be stored: {error}") from error
            if not isinstance(value, dict):
                raise InvalidCommit(f"messages[{place}] is no JSON object but {type(value).__name__}")
            lines.append(MESSAGE_PREFIX + text.strip().replace(b"\r", b" ").replace(b"\n", b" ") + b"}")
        return cls.from_lines(lines)

    @classmethod
    def from_lines(cls, lines: Sequence[bytes]) -> "Messages":
        """Returns the messages of stored message entries, one JSON text each, which were checked when written.

        Args:
            lines: The texts, which nobody changes any more; they may be read only when they are looked at.
        """
        made = cls()
        made._lines = lines
        return made

    @property
    def lines(self) -> Sequence[bytes]:
        """The message entries as they are stored: JSON texts without their line ends."""
        return self._lines

    @property
    def texts(self) -> tuple[bytes, ...]:
        """The JSON texts of the messages, byte for byte as they are stored.

        Raises:
            Corrupt: A stored text is no message entry.
        """
        return tuple(
            _message_text(line) or json_text.encode(self[place], levels=json_text.SHOWN_LEVELS)
            for place, line in enumerate(self._lines)
        )

    @overload
    def __getitem__(self, place: int) -> Message: ...
    @overload
    def __getitem__(self, place: slice) -> "Messages": ...
    def __getitem__(self, place: int | slice) -> "Message | Messages":
        """Returns a fresh copy of one message, or a part of the sequence.

        Raises:
            Corrupt: The stored text is no message entry.
        """
        if isinstance(place, slice):
            return Messages.from_lines(self._lines[place])
        try:
            message = json_text.decode(self._lines[place])["message"]
        except (ValueError, KeyError, TypeError) as error:
            raise Corrupt(f"a stored message cannot be read: {error}") from error
        if not isinstance(message, dict):
            raise Corrupt("a stored message is no JSON object")
        return message

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[Message]:
        for place in range(len(self._lines)):
            yield self[place]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Messages) and len(self) == len(other) and all(map(eq, self._lines, other._lines)):
            return True
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have none

    def __add__(self, other: Iterable[Mapping[str, Any]]) -> "Messages":
        return Messages.from_lines((*self._lines, *Messages(other)._lines))

    def __repr__(self) -> str:
        return f"Messages({list(self)!r})"


def _message_text(line: bytes) -> bytes | None:
    """Cuts the text of the message out of a message entry; None where the message is not its first field."""
    if not line.startswith(MESSAGE_PREFIX):
        return None
    try:
        text = line.decode("utf-8")
        return text[len(MESSAGE_PREFIX) : json_text.decode_first(text, len(MESSAGE_PREFIX))[1]].encode()
    except ValueError as error:
        raise Corrupt(f"a stored message cannot be read: {error}") from error


@dataclass(frozen=True, slots=True)
class Session:
    """The durable transcript of one session and its current head.

    Attributes:
        head: The id of the last commit; None if nothing was ever committed.
        messages: All messages, in order.
    """

    head: str | None
    messages: Messages = field(default_factory=Messages)

    def __post_init__(self) -> None:
        if not isinstance(self.messages, Messages):
            object.__setattr__(self, "messages", Messages(self.messages))


@dataclass(frozen=True, slots=True)
class SessionCommit:
    """An atomic delta: stored whole or not at all.

    Attributes:
        id: Chosen by the caller; commits with equal contents and different ids differ.
        parent: The id of the commit that must be the session's head; None for a session that was never written.
        messages: What it adds, at least one message. It is checked when it is committed.
    """

    id: str
    parent: str | None
    messages: Sequence[Mapping[str, Any]]

    def __post_init__(self) -> None:
        if not isinstance(self.messages, Messages):
            object.__setattr__(self, "messages", tuple(self.messages))


def new_commit(parent: str | None, messages: Sequence[Mapping[str, Any]]) -> SessionCommit:
    """Returns a commit with a fresh opaque id, made without looking at the messages."""
    return SessionCommit("commit-" + urlsafe_b64encode(os.urandom(18)).decode(), parent, messages)


@dataclass(frozen=True, slots=True)
class SessionMeta:
    """The header of a session.

    Attributes:
        id: The session's id.
        version: The version of the header.
        parent_session: The id of the session that this one was forked or spawned from.
        created_at: RFC 3339, or "" where it is not known.
        title: What a person calls it.
        agent: The agent whose session it is, such as `claude-code`.
        forked_from: The git commit that a fork began at, 40 hex digits.
        extra: All other fields, as JSON values.
    """

    id: str = field(default_factory=_new_id)
    version: int = 1
    parent_session: str | None = None
    created_at: str = field(default_factory=now)
    title: str | None = None
    agent: str | None = None
    forked_from: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MessageEntry:
    """A message as an entry of the log.

    Attributes:
        message: Any JSON object.
        id: Unique in the session.
        parent_id: The entry that it follows, where the writer says so.
        timestamp: RFC 3339.
        extra: All other fields, as JSON values.
    """

    message: Message
    id: str = field(default_factory=_new_id)
    parent_id: str | None = None
    timestamp: str = field(default_factory=now)
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CompactionEntry:
    """A point from which the context is built of a summary in place of the messages before.

    Attributes:
        summary: The text that stands for them.
        first_kept_id: The entry from which on messages are kept.
        tokens_before: How many tokens the context had.
        id: Unique in the session.
        parent_id: The entry that it follows, where the writer says so.
        timestamp: RFC 3339.
        extra: All other fields, as JSON values.
    """

    summary: str
    first_kept_id: str | None = None
    tokens_before: int | None = None
    id: str = field(default_factory=_new_id)
    parent_id: str | None = None
    timestamp: str = field(default_factory=now)
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UnknownEntry:
    """An entry of a kind that this version does not know, kept as it is.

    Attributes:
        value: The whole entry, as JSON.
        id: Unique in the session.
        timestamp: RFC 3339.
    """

    value: dict[str, Any]
    id: str = field(default_factory=_new_id)
    timestamp: str = field(default_factory=now)


SessionEntry = MessageEntry | CompactionEntry | UnknownEntry


def build_context(entries: Iterable[SessionEntry]) -> list[Message]:
    """Returns the messages that a model is shown.

    Without a compaction these are all messages in order. Otherwise the last compaction wins: its summary as a user
    message, then every message from the entry `first_kept_id` on; if no message has that id, every message after
    that compaction.
    """
    compaction, shown = context_of(list(entries))
    messages = [entry.message for entry in shown if isinstance(entry, MessageEntry)]
    if compaction is None:
        return messages
    return [{"role": "user", "content": f"[Conversation summary]\n{compaction.summary}"}, *messages]


def context_of(log: Sequence[SessionEntry]) -> tuple[CompactionEntry | None, Sequence[SessionEntry]]:
    """Returns the last compaction, if there is one, and the entries from which on messages are kept."""
    last = next((place for place in reversed(range(len(log))) if isinstance(log[place], CompactionEntry)), None)
    if last is None:
        return None, log
    compaction = log[last]
    assert isinstance(compaction, CompactionEntry)  # noqa: S101  # found as one above
    kept = (
        place
        for place, entry in enumerate(log)
        if isinstance(entry, MessageEntry) and entry.id == compaction.first_kept_id
    )
    return compaction, log[next(kept, last) :]
