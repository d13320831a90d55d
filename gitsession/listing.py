"""The list of all sessions: what is known of each by the commit that its branch is at is kept, and need not be read."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields

from gitsession import json_text
from gitsession.errors import Corrupt, SessionError
from gitsession.jsonl import meta_of
from gitsession.layout import HEADS, branch_of
from gitsession.model import SessionMeta
from gitsession.reading import Glance, Reader, named, rfc3339
from gitsession.repo.refs import OWN_DIRECTORY
from gitsession.repo.tip_cache import TipCache

# The fields of a header, but for those that this version does not know.
_FIELDS = [field.name for field in fields(SessionMeta) if field.name != "extra"]

_TIME = re.compile(r"[0-9]{4}(?:-[0-9]{2}){2}T[0-9]{2}(?::[0-9]{2}){2}Z")

_encode = json.JSONEncoder(separators=(",", ":")).encode

# A longer header is not kept.
_LONGEST = 16 * 1024


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """What a list of sessions shows of one.

    Attributes:
        id: The session's id.
        branch: Its branch, without `refs/heads/`.
        title: What a person calls it; None where nobody said.
        agent: The agent whose session it is; None where it is not known.
        deltas: How many deltas it holds.
        head: The id of the last session commit; None if there is none.
        oid: The git commit, 40 hex digits.
        created_at: RFC 3339, or "" where it is not known.
        updated_at: When the last git commit was made, RFC 3339.
        parent_session: The session that it was forked or spawned from.
        meta: The whole header.
    """

    id: str
    branch: str
    title: str | None
    agent: str | None
    deltas: int
    head: str | None
    oid: str
    created_at: str
    updated_at: str
    parent_session: str | None
    meta: SessionMeta


@dataclass(frozen=True, slots=True)
class BrokenSession:
    """A branch that cannot be read as a session.

    Attributes:
        id: The session's id.
        branch: Its branch, without `refs/heads/`.
        oid: The git commit, 40 hex digits; None where the ref itself is damaged.
        error: What is wrong.
    """

    id: str
    branch: str
    oid: str | None
    error: SessionError


class Listing:
    """Lists the sessions of a store. May be shared between threads."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._cache = TipCache(reader.repository.path / OWN_DIRECTORY / "cache" / "sessions")

    def sessions(self) -> Iterator[SessionInfo | BrokenSession]:
        """Yields what is known of each session, the last changed first; those that cannot be read come last."""
        found: list[SessionInfo] = []
        broken: list[BrokenSession] = []
        known = self._cache.read()
        kept: dict[str, bytes] = {}
        for session_id, value in self._reader.branches():
            oid = None if isinstance(value, SessionError) else value
            try:
                if isinstance(value, SessionError):
                    raise value
                line = known.get(value)
                info = None if line is None else _unpacked(session_id, value, line)
                if line is None or info is None:
                    glance = self._reader.glance(session_id, value)
                    info = info_of(glance)
                    line = _packed(info, glance.meta)
                if line is not None:
                    kept[value] = line
                found.append(info)
            except SessionError as error:
                broken.append(BrokenSession(session_id, _branch(session_id), oid, error))
        self._cache.keep(kept, known)
        # Git keeps whole seconds. Of sessions that changed in the same one, the branch that moved last comes first.
        seconds = Counter(info.updated_at for info in found)

        def changed(info: SessionInfo) -> tuple[str, int]:
            tied = seconds[info.updated_at] > 1
            return info.updated_at, self._reader.repository.refs.moved_at(HEADS + info.branch) if tied else 0

        yield from sorted(found, key=changed, reverse=True)
        yield from broken


def _packed(info: SessionInfo, header: SessionMeta) -> bytes | None:
    """Returns what is kept of a session, as one line of JSON: the numbers, and the header field by field.

    Nothing is kept of one whose header is long.
    """
    known = [getattr(header, name) for name in _FIELDS]
    line = _encode([info.deltas, info.head, info.updated_at, *known, dict(header.extra)])
    return None if len(line) > _LONGEST else line.encode("ascii")


def _unpacked(session_id: str, oid: str, line: bytes) -> SessionInfo | None:
    """Returns a session as it was kept; None for what another version kept, or somebody who wanted to do harm."""
    try:
        deltas, head, updated_at, *known, extra = json_text.decode(line)
        header = meta_of({**extra, **dict(zip(_FIELDS, known, strict=True))})
        is_sound = type(deltas) is int and deltas >= 0 and isinstance(head, str | None) and _TIME.fullmatch(updated_at)
    except (ValueError, TypeError, Corrupt):
        return None
    if not is_sound:
        return None
    return _info(session_id, oid, header, deltas, head, updated_at)


def info_of(found: Glance) -> SessionInfo:
    """Returns what a list shows of a session."""
    return _info(found.session_id, found.oid, found.meta, found.deltas, found.head, rfc3339(found.commit.author.time))


def _info(session_id: str, oid: str, header: SessionMeta, count: int, head: str | None, time: str) -> SessionInfo:
    meta = named(header, session_id)
    return SessionInfo(
        meta.id,
        branch_of(meta.id),
        meta.title,
        meta.agent,
        count,
        head,
        oid,
        meta.created_at,
        time,
        meta.parent_session,
        meta,
    )


def _branch(session_id: str) -> str:
    """Returns the branch that a session was found on, also where git does not allow its name."""
    return session_id.removeprefix(HEADS) if session_id.startswith(HEADS) else branch_of(session_id)
