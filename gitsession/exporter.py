"""Giving a session back to an agent: as a transcript that the agent can resume."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from uuid import NAMESPACE_OID, uuid5

from gitsession.conversation import StoredDelta, entries, split_lines
from gitsession.errors import NothingToExport
from gitsession.inherited import Inherited, MissingHistory, conversation_deltas, inherited
from gitsession.model import SessionEntry, UnknownEntry
from gitsession.reading import State, named
from gitsession.revisions import resolve
from gitsession.store import Store
from gitsession.transcripts import FORMATS
from gitsession.transcripts.base import Composed, Draft, Format, Record
from gitsession.transcripts.composing import derived_uuid, said
from gitsession.transcripts.losses import Loss, losses
from gitsession.transcripts.stored import PREFIX as RECORD_PREFIX
from gitsession.transcripts.stored import decode_record

RESUMABLE = tuple(name for name, one in FORMATS.items() if one.compose is not None)
"""The formats of agents that can resume a transcript."""

# The new ids are derived below this one.
_NAMESPACE = str(uuid5(NAMESPACE_OID, "gitsession/export"))


@dataclass(frozen=True, slots=True)
class Export:
    """A session as a transcript of an agent.

    Attributes:
        session_id: The session.
        format: The agent's format.
        lines: The bytes of the transcript; of one that is a folder, a line `{"path": …, "text": …}` for each file.
        path: Where the agent looks for it, below its own directory.
        cwd: The directory in which the agent goes on.
        whole: It is the transcript that was imported, byte for byte.
        folder: It is a folder of files, and `path` is the folder.
        empty: Nobody says anything in it; only a whole one can be like that.
        missing: What it should begin with and does not; None where nothing is missing, and for what an agent forks of
            its own, which says itself what it goes on from.
    """

    session_id: str
    format: str
    lines: Iterable[bytes]
    path: PurePath
    cwd: str
    whole: bool
    folder: bool
    empty: bool
    missing: MissingHistory | None
    _composed: Composed
    _entries: Sequence[SessionEntry]

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What the agent's transcript has no place for: how much of it was left out, or stands in the text."""
        return () if self.whole else losses(self.format, self._entries)

    def resume(self, path: PurePath) -> tuple[str, ...]:
        """Returns the command that resumes the session, to be run in `cwd`; an empty one where there is none.

        Args:
            path: Where the transcript was put.
        """
        return self._composed.resume(path) if self._composed.resume is not None else ()

    def prepare(self, path: PurePath) -> tuple[str, ...]:
        """Returns the command that is to be run before, for the agent to read the file; mostly an empty one.

        Args:
            path: Where the transcript was put.
        """
        return self._composed.prepare(path) if self._composed.prepare is not None else ()


def export_transcript(
    store: Store,
    session_id: str,
    format: str,  # noqa: A002  # the word of the field, and of the command's option
    *,
    at: str | None = None,
    cwd: str = "/",
    directory: str | None = None,
    number: int = 1,
) -> Export:
    """Returns a session as a transcript that an agent can resume.

    An imported transcript of that agent, never forked and as a whole, is given back byte for byte. At an earlier
    revision, from a fork, or with entries that were added, its records are forked as the agent itself does: under a
    new session id; likewise those of one that the agent could not resume as it is. A session that came from elsewhere
    is composed from its conversation. Ids and times are derived from the session, its head and the directory, so the
    same export is the same bytes, here and elsewhere.

    Args:
        store: Where the session is.
        session_id: The session.
        format: The agent's format, one of `RESUMABLE`.
        at: The revision; its head where there is none.
        cwd: The directory in which the agent goes on where the session does not know its own.
        directory: The one in which it goes on in any case, as where the session's own is on another machine. A whole
            transcript stays as it is, and is put where the agent looks from there.
        number: Which of the forks of the same state it is, from 1: each has an id of its own. A whole transcript has
            none.

    Raises:
        SessionNotFound: There is no such session.
        RevisionNotFound: It has no such commit.
        Corrupt: Stored data is corrupt.
        NothingToExport: Nobody says anything in it, and it is no whole transcript of the agent's.
        KeyError: There is no such format, or its agent cannot resume a transcript.
    """
    chosen = FORMATS[format]
    if chosen.compose is None:
        raise KeyError(format)
    state = resolve(store.reader, session_id, at)
    records, rest = _parts(chosen, store.reader.deltas(state))
    history = inherited(store.reader, state) if not records else Inherited((), None)
    if history.parts:
        rest = [*conversation_deltas(store.reader, state, history)]
    whole = bool(records) and not rest and _is_unforked(store, state)
    added = entries(rest)
    meta = named(state.meta, state.session_id)
    own = meta.extra.get("cwd")
    own = own if isinstance(own, str) and _is_directory_name(own) else None
    goes_on = directory or own or cwd
    # Where it goes on elsewhere it is another one, so that neither is in the way of the other.
    told = [*(() if goes_on == own else (goes_on,)), *(() if number == 1 else ("", str(number)))]
    draft = Draft(
        meta=meta,
        id=derived_uuid(_NAMESPACE, format, session_id, state.head or "", *told, *history.key()),
        cwd=goes_on,
        records=records,
        entries=(known := [one for one in added if not isinstance(one, UnknownEntry)]),
        whole=whole,
        log=added if len(known) < len(added) else (),
    )
    # Whoever speaks first tells.
    empty = next(said(draft), None) is None and not any(map(partial(_says_something, chosen), records))
    if empty and not whole:
        raise NothingToExport(session_id)
    composed = chosen.compose(draft)
    whole = whole and not composed.rewritten
    lines = chosen.write(records) if whole else composed.lines
    made_of = added if composed.entries is None or composed.entries == draft.entries else composed.entries
    return Export(
        *(session_id, format, lines, composed.path, draft.cwd, whole, composed.folder, empty, history.missing),
        *(composed, made_of),
    )


def _says_something(chosen: Format, record: Record) -> bool:
    shown = chosen.view(record)
    return bool(shown.parts) and shown.who in ("user", "assistant", "tool")


def _is_directory_name(name: str) -> bool:
    """Tells whether a system could have a directory of this name: a transcript can say anything."""
    try:
        return bool(name) and b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        return False


def _parts(chosen: Format, deltas: Iterator[StoredDelta]) -> tuple[Sequence[Record], Sequence[StoredDelta]]:
    """Returns the records of a format that a log begins with, and the deltas from there on."""
    records: list[Record] = []
    rest: list[StoredDelta] = []
    for delta in deltas:
        lines = [] if rest else [_record(chosen, line) for line in split_lines(delta.content, delta.commit_id)]
        found = [record for record in lines if record is not None]
        if rest or len(found) != len(lines):
            rest.append(delta)
        else:
            records += found
    return records, rest


def _record(chosen: Format, line: bytes) -> Record | None:
    if not line.startswith(RECORD_PREFIX):
        return None
    name, record = decode_record(line)
    return record if name == chosen.name else None


def _is_unforked(store: Store, state: State) -> bool:
    """Tells whether a state is the head of a session that is no fork, and no branch of another."""
    own = state.meta.id == state.session_id and state.meta.forked_from is None
    return own and state.oid == store.reader.tip(state.session_id)
