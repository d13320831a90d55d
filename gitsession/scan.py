"""Looks for secrets in what is stored. What is found is told by its kind and place, never by what it is."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gitsession import json_text
from gitsession.errors import Corrupt
from gitsession.layout import decode_commit_id
from gitsession.listing import SessionInfo
from gitsession.secret_records import RecordSecrets
from gitsession.secret_scan import find_secrets
from gitsession.shared_directories import SharedDirectories
from gitsession.store import Store
from gitsession.transcripts.base import Record
from gitsession.transcripts.stored import PREFIX, decode_record


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """What looks like a secret in a delta.

    Attributes:
        session: The session's id.
        delta: The number of the delta.
        commit_id: The id of its session commit.
        place: Where in the delta: the line, and the field, as in `1: record.message.content[0].text`.
        kind: Its kind, as gitleaks names it.
    """

    session: str
    delta: int
    commit_id: str
    place: str
    kind: str


def scan(store: Store, sessions: Iterable[str] | None = None) -> Iterator[StoredSecret]:
    """Looks for secrets in the deltas of sessions, and yields what it finds, session by session.

    A delta that several sessions share (by a fork, an abandoned line) is told once, with the first that has it.

    Args:
        store: The store.
        sessions: The ids of the sessions; all that can be read if there are none.

    Raises:
        SessionNotFound: There is no such session.
        Corrupt: A session is damaged.
    """
    if sessions is None:
        sessions = sorted(one.id for one in store.sessions() if isinstance(one, SessionInfo))
    seen: dict[str, RecordSecrets | None] = {}  # with what they leave open
    directories = SharedDirectories(store.reader.objects)
    for session_id in [sessions] if isinstance(sessions, str) else sessions:
        state = store.reader.state(session_id, store.reader.tip(session_id))
        key = None
        for directory in directories.walk(state.tree):
            was_open = key is not None
            for number, encoded_id, blob in directory.deltas:
                # Behind a key's beginning a delta may hold a part of the key, which it does not elsewhere.
                mark = blob if key is None else f"{blob}+"
                if mark not in seen:
                    content = store.reader.objects.read(blob, "blob")
                    finder = RecordSecrets(key)
                    for kind, place in _found(content, finder):
                        yield StoredSecret(session_id, number, decode_commit_id(encoded_id), place, kind)
                    seen[mark] = finder if finder.key else None
                left = seen[mark]
                key = None if left is None else left.key
            directory.settled = not was_open and key is None


def _found(content: bytes, finder: RecordSecrets) -> Iterator[tuple[str, str]]:
    """Yields the kinds of the secrets in what is stored of a delta, and their places in it."""
    for number, line in enumerate(content.split(b"\n"), 1):
        for kind, place in _secrets(line, finder):
            yield kind, f"{number}: {place}" if place else f"{number}"


def _secrets(line: bytes, finder: RecordSecrets) -> Iterator[tuple[str, str]]:
    """Yields the kinds of the secrets in the next line that is stored, and their places in it."""
    record = _record(line) if finder.key is not None or b"PRIVATE KEY" in line else None
    if record is not None and finder.key is not None and not isinstance(record.value, dict):
        yield from ((secret.kind, "text") for secret in finder.find(record))
        return
    if record is not None:
        finder.pass_over(record)
    for secret in find_secrets(line):
        yield secret.kind, _place(line, line[secret.start : secret.end])


def _record(line: bytes) -> Record | None:
    try:
        return decode_record(line)[1] if line.startswith(PREFIX) else None
    except Corrupt:
        return None


def _place(line: bytes, secret: bytes) -> str:
    """Returns the path of the first string of a JSON text that holds a secret; "" where it is not to be told."""
    try:
        value = json_text.decode(line)
        wanted = json.loads(b'"%b"' % secret)
    except ValueError:
        return ""
    return next(_paths(value, wanted, ""), "").removeprefix(".")


def _paths(value: Any, wanted: str, path: str) -> Iterator[str]:
    match value:
        case str() if wanted in value:
            yield path
        case dict():
            for key, item in value.items():
                if wanted in key:
                    yield path
                # A key may be anything, and here it only tells the way.
                yield from _paths(item, wanted, f"{path}.{key[:40]}")
        case list():
            for number, item in enumerate(value):
                yield from _paths(item, wanted, f"{path}[{number}]")
