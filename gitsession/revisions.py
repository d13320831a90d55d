"""The commits of a session: named by revisions, listed as a log, compared with those of another session."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gitsession.errors import AmbiguousName, Corrupt, InvalidCommit, RevisionNotFound, SessionError
from gitsession.ids import IdIndex
from gitsession.layout import decode_commit_id, encode_commit_id
from gitsession.reading import Reader, State, Step, rfc3339
from gitsession.tree import common_count

_OID_PREFIX = re.compile(r"[0-9a-f]{4,40}")
_TRAILERS = re.compile(r"\n(?:(?:Commit-Id|Delta|Session): [^\n]*\n)+\Z")


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One git commit of a session.

    Attributes:
        oid: Its id, 40 hex digits.
        parent_oid: The id of the commit before it; None for the first.
        delta: The number of the delta that it adds; None where it changes the header alone.
        commit_id: The id of the session commit; None where it changes the header alone.
        who: Who speaks: user, assistant, system, tool, or meta.
        author: The author's name: for an assistant the model, where it is known.
        subject: The first line of its text.
        body: The rest of its text, without the trailers.
        time: The author's time, RFC 3339.
    """

    oid: str
    parent_oid: str | None
    delta: int | None
    commit_id: str | None
    who: str
    author: str
    subject: str
    body: str
    time: str


@dataclass(frozen=True, slots=True)
class Diff:
    """Two sessions compared.

    Attributes:
        common: How many deltas both begin with.
        a: What the first has of its own, oldest first.
        b: What the second has of its own, oldest first.
    """

    common: int
    a: tuple[LogEntry, ...]
    b: tuple[LogEntry, ...]


def resolve(reader: Reader, session_id: str, revision: str | None) -> State:
    """Returns a session at a revision.

    Args:
        reader: The store.
        session_id: The session.
        revision: A commit id, a git object id or its beginning (4 digits or more), `~N` (N commits back, as git
            counts; `~` is `~1`), `#N` (after delta N); None for the session as it is now. A commit id that looks like
            the last two is told by its git object id.

    Raises:
        SessionNotFound: There is no such session.
        RevisionNotFound: It has no such commit.
        AmbiguousName: Several of its commits begin like this.
    """
    tip = reader.tip(session_id)
    if revision is None:
        return reader.present(session_id, tip)
    if re.fullmatch(r"~[0-9]{0,9}", revision):
        found = reader.commits.back(tip, int(revision[1:] or 1))
    elif re.fullmatch(r"#[0-9]{1,9}", revision):
        found = _after_delta(reader, reader.state(session_id, tip), int(revision[1:]))
    else:
        found = _named(reader, reader.state(session_id, tip), revision)
    if found is None:
        raise RevisionNotFound(session_id, revision)
    return reader.state(session_id, found)


def log(reader: Reader, state: State) -> Iterator[LogEntry]:
    """Yields the commits of a session, newest first."""
    return map(_log_entry, reader.steps(state))


def diff(reader: Reader, a: State, b: State) -> Diff:
    """Returns how two sessions, or two states of one, differ."""
    common = common_count(reader.objects, a.tree, b.tree)
    own = [
        tuple(reversed([entry for entry in _log_from(reader, state, common) if entry.delta is not None]))
        for state in (a, b)
    ]
    return Diff(common, *own)


def _log_from(reader: Reader, state: State, first: int) -> Iterator[LogEntry]:
    """Yields the log, newest first, down to delta `first`."""
    if state.tree.count > first:
        for entry in log(reader, state):
            yield entry
            if entry.delta == first:
                return


def _log_entry(step: Step) -> LogEntry:
    commit, delta = step.commit, step.delta
    subject, _, rest = _TRAILERS.sub("\n", commit.message).partition("\n")
    return LogEntry(
        step.oid,
        commit.parents[0] if commit.parents else None,
        None if delta is None else delta.number,
        None if delta is None else decode_commit_id(delta.encoded_id),
        commit.author.email.partition("@")[0],
        commit.author.name,
        subject,
        rest.strip("\n"),
        rfc3339(commit.author.time),
    )


def _after_delta(reader: Reader, state: State, number: int) -> str | None:
    """Returns the commit that added a delta: each commit adds one at the most, so most need not be looked into."""
    if number >= state.tree.count:
        return None
    while state.tree.count > number + 1:
        older = reader.commits.back(state.oid, state.tree.count - number - 1)
        if older is None:
            return None  # the history is cut off, as in a shallow clone
        state = reader.state("", older)
    return next((step.oid for step in reader.steps(state) if step.delta is not None), None)


def _named(reader: Reader, state: State, name: str) -> str | None:
    """Returns the commit of a commit id, or of a git object id or its beginning."""
    number = _find_id(reader, state, name)
    if number is not None:
        return _after_delta(reader, state, number)
    if not _OID_PREFIX.fullmatch(name.lower()):
        return None
    wanted = {oid for oid in reader.objects.beginning(name.lower()) if _is_commit(reader, oid)}
    found = [oid for oid in wanted if is_before(reader, oid, state)]
    if len(found) != len(wanted):
        # Others begin alike, which belong to another session, or to another program, whose commits add what they like.
        found = [oid for oid in reader.commits.ancestors(state.oid) if oid in wanted]
    if len(found) > 1:
        raise AmbiguousName(name, found)
    return found[0] if found else None


def _is_commit(reader: Reader, oid: str) -> bool:
    try:
        reader.commits.read(oid)
    except Corrupt:
        return False
    return True


def is_before(reader: Reader, oid: str, state: State) -> bool:
    """Tells whether a commit is in the history of a state, as far as each commit there adds one delta at the most."""
    try:
        wanted = reader.glance("", oid).deltas
        later: str | None = state.oid
        count = state.tree.count
        while later is not None and later != oid and count >= wanted:
            later = reader.commits.back(later, max(count - wanted, 1))
            count = 0 if later is None else reader.glance("", later).deltas
    except SessionError:
        return False
    return later == oid


def _find_id(reader: Reader, state: State, commit_id: str) -> int | None:
    try:
        encoded = encode_commit_id(commit_id)
    except InvalidCommit:
        return None
    ids = IdIndex(reader.ids)
    ids.follow(reader.objects, state.tree)
    return ids.find(encoded)
