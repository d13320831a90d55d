"""The errors of gitsession, one class a kind.

    SessionError
    ├── Unavailable        the store could not be reached, or could not finish
    │   ├── StoreBusy      a lock is held by a live process
    │   └── RemoteUnavailable   a remote could not be reached, or could not finish
    │       └── AccessDenied    a remote lets nobody in like this, or is not the one that it was
    ├── Corrupt            stored data is damaged; or a commit id is used again with other contents
    ├── ParentConflict     the commit's parent is not the session's head
    ├── InvalidCommit      the commit cannot be stored as it is
    ├── InvalidSessionId   the string cannot be a session id
    ├── SessionNotFound    no session has this name
    ├── SessionExists      the id is taken
    ├── AmbiguousName      several sessions, or several commits, begin like this
    ├── RevisionNotFound   the session has no such commit
    ├── NotAStore          the path holds no store that can be opened
    │   └── UnsupportedFormat   a store or a session of a version that is not known here
    ├── UnknownTranscript  the file is in no transcript format that is known here
    ├── UnreadableDatabase the sessions that an agent keeps in a database cannot be read
    ├── NotImported        the session was not imported, so there is no original to give back
    ├── NothingToExport    the session has no messages, so there is nothing for an agent to go on with
    ├── TranscriptExists   a file is there where an agent's transcript was to be put
    ├── SyncRefused        some sessions could not be synced; all others were
    │   └── Diverged       all of those went on here and on the other side
    ├── RemoteNotFound     the store has no remote of this name
    ├── RemoteExists       the store has a remote of this name already
    ├── InvalidRemote      the name, the URL or the settings of a remote cannot be used
    ├── InvalidBundle      the file is no bundle that can be imported, or replaced
    └── GitNotFound        there is no git to run

Each error takes data, keeps it as attributes, and builds its own text; nobody needs to parse a message.
"""

from collections.abc import Mapping, Sequence


class SessionError(Exception):
    """Is the root of all errors that gitsession raises on purpose. May be copied, and sent to another process."""

    def __reduce__(self) -> tuple[object, ...]:
        # An exception is made again from its message, which is not what these are made of.
        return _made_again, (type(self), self.args), vars(self)


def _made_again(kind: type[SessionError], args: tuple[object, ...]) -> SessionError:
    """Returns an error with the same text; its attributes are set by who asks for it."""
    return kind.__new__(kind, *args)


class Unavailable(SessionError):
    """The store could not be reached, or could not finish; the outcome of a commit may be unknown.

    Trying the same commit again is always safe: it is stored once.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class StoreBusy(Unavailable):
    """A lock stayed held by a live process for as long as the store waits.

    Attributes:
        path: The lock.
        age: How long ago it was taken, in seconds, where that is known.
    """

    def __init__(self, path: str, age: float | None) -> None:
        held = "" if age is None else f", taken {age:.0f} s ago"
        super().__init__(f"{path} is held by another process{held}; try again when that has finished")
        self.path = path
        self.age = age


class RemoteUnavailable(Unavailable):
    """A remote could not be reached, or could not finish.

    Attributes:
        remote: The name of the remote, or its URL.
        reason: What git said of it.
    """

    def __init__(self, remote: str, reason: str) -> None:
        super().__init__(f"{_quoted(remote)} could not be synced with: {reason}")
        self.remote = remote
        self.reason = reason


class AccessDenied(RemoteUnavailable):
    """A remote lets nobody in with these credentials, or its host key is not the one that is known."""


class Corrupt(SessionError):
    """Stored data is corrupt, or a commit id was used again with different contents.

    Attributes:
        message: What is wrong.
        oid: The git object that is damaged, 40 hex digits, where it is one object.
    """

    def __init__(self, message: str, *, oid: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.oid = oid


class ParentConflict(SessionError):
    """The commit's parent is not the head of the session.

    Attributes:
        expected: The parent that the commit names; None for "never written".
        actual: The head that the session has; None if it has none.
    """

    def __init__(self, expected: str | None, actual: str | None) -> None:
        wanted = "a session without commits" if expected is None else f"the head {_quoted(expected)}"
        found = "the session has none" if actual is None else f"the session is at {_quoted(actual)}"
        super().__init__(
            f"the commit expects {wanted}, but {found}; load the session again and commit on its present head"
        )
        self.expected = expected
        self.actual = actual


class InvalidCommit(SessionError):
    """The commit cannot be stored: no messages, an unusable id, or a message that is no JSON object."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidSessionId(SessionError):
    """The string cannot be a session id.

    Attributes:
        session_id: The string.
        reason: What is wrong with it.
    """

    def __init__(self, session_id: str, reason: str) -> None:
        super().__init__(f"{_quoted(str(session_id))} cannot be a session id: {reason}")
        self.session_id = session_id
        self.reason = reason


class SessionNotFound(SessionError):
    """No session of the store, or of a remote, has this name, or fits this pattern.

    Attributes:
        session_id: The id, or the pattern.
        remote: The remote, or the bundle, that has none; None for the store.
    """

    def __init__(self, session_id: str, remote: str | None = None) -> None:
        if remote is None:
            text = f"there is no session {_quoted(session_id)}; `gitsession list` shows those there are"
        else:
            text = f"{_quoted(remote)} has no session {_quoted(session_id)}"
        super().__init__(text)
        self.session_id = session_id
        self.remote = remote


class SessionExists(SessionError):
    """The id is taken by a session, or its branch name by a branch that stands in the way.

    Attributes:
        session_id: The id that was wanted.
        branch: The branch that stands in the way.
    """

    def __init__(self, session_id: str, branch: str | None = None) -> None:
        blocker = "" if branch is None else f" (the branch {_quoted(branch)} stands in the way)"
        super().__init__(f"the session id {_quoted(session_id)} is taken{blocker}; choose another")
        self.session_id = session_id
        self.branch = branch


class AmbiguousName(SessionError):
    """Several sessions, or several commits of one, begin with this name.

    Attributes:
        name: What was asked for.
        candidates: What it could mean.
    """

    def __init__(self, name: str, candidates: Sequence[str]) -> None:
        shown = ", ".join(_quoted(candidate) for candidate in candidates[:8])
        more = f" and {len(candidates) - 8} more" if len(candidates) > 8 else ""
        super().__init__(f"{_quoted(name)} is ambiguous: {shown}{more}")
        self.name = name
        self.candidates = tuple(candidates)


class RevisionNotFound(SessionError):
    """The session has no commit that is named so.

    Attributes:
        session_id: The session.
        revision: What was asked for.
    """

    def __init__(self, session_id: str, revision: str) -> None:
        super().__init__(
            f"the session {_quoted(session_id)} has no revision {_quoted(revision)}; give a commit id, "
            "a git object id or its beginning, ~N, or #N"
        )
        self.session_id = session_id
        self.revision = revision


class NotAStore(SessionError):
    """The path holds no store that can be opened.

    Attributes:
        path: The path.
        reason: Why not, and what can be done.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class UnsupportedFormat(NotAStore):
    """A store or a session was written in a version of the format that is not known here.

    Attributes:
        found: The version that stands there.
        known: The versions that can be read and written.
    """

    def __init__(self, path: str, found: object, known: Sequence[int]) -> None:
        versions = ", ".join(map(str, known))
        super().__init__(path, f"has format version {found!a:.40}; known are {versions}. Install a newer gitsession")
        self.found = found
        self.known = tuple(known)


class UnknownTranscript(SessionError):
    """The file is in no transcript format that is known here.

    Attributes:
        path: The file.
        reason: What it looks like instead.
        without_sessions: Whether it is an agent's own database, in which there is no session yet.
    """

    def __init__(self, path: str, reason: str, *, without_sessions: bool = False) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason
        self.without_sessions = without_sessions


class UnreadableDatabase(SessionError):
    """The sessions that an agent keeps in a database cannot be read, or one of them cannot.

    Attributes:
        path: The database; or, below it, the session.
        reason: Why not.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class NotImported(SessionError):
    """The session is no imported transcript, or holds more than its transcript: there is no original to give back.

    Attributes:
        session_id: The session.
        reason: Why not.
    """

    def __init__(self, session_id: str, reason: str) -> None:
        super().__init__(
            f"the session {_quoted(session_id)} has no original: {reason}; export it as jsonl, or an earlier revision"
        )
        self.session_id = session_id
        self.reason = reason


class NothingToExport(SessionError):
    """Nobody has said anything in the session, so an agent has nothing to go on with.

    Attributes:
        session_id: The session.
    """

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"the session {_quoted(session_id)} has no messages there, so an agent has nothing to go on with; "
            "nothing was written"
        )
        self.session_id = session_id


class TranscriptExists(SessionError):
    """A file is there where a transcript was to be put for its agent, and it is not overwritten.

    Attributes:
        path: The file.
        size: How many bytes it has; None where that is not known.
    """

    def __init__(self, path: str, size: int | None) -> None:
        what = "something else" if size is None else f"another transcript of {size:,} bytes"
        advice = "import it, if it went on since; else move it away, or export a fork"
        super().__init__(f"{path}: {what} is there, and nothing was written; {advice}")
        self.path = path
        self.size = size


class SyncRefused(SessionError):
    """Some sessions could not be synced. All others were: what could be done is done.

    Attributes:
        remote: The name of the remote.
        refused: Why not, by session.
        results: What became of each session, as the call returns it where nothing is refused.
    """

    def __init__(self, remote: str, refused: Mapping[str, str], results: Sequence[object] = ()) -> None:
        shown = "; ".join(f"{_quoted(session)}: {reason}" for session, reason in [*refused.items()][:5])
        more = f"; and {len(refused) - 5} more" if len(refused) > 5 else ""
        super().__init__(f"{_quoted(remote)}: {shown}{more}")
        self.remote = remote
        self.refused = dict(refused)
        self.results = tuple(results)


class Diverged(SyncRefused):
    """Some sessions went on here and on the other side, and stay as they are on both. All others were synced."""


class RemoteNotFound(SessionError):
    """The store has no remote of this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no remote {_quoted(name)}; `gitsession remote list` shows those there are")
        self.name = name


class RemoteExists(SessionError):
    """The store has a remote of this name already."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is a remote {_quoted(name)} already; choose another name, or remove that one")
        self.name = name


class InvalidRemote(SessionError):
    """The name, the URL or the settings of a remote cannot be used.

    Attributes:
        remote: The name or the URL.
        reason: Why not.
    """

    def __init__(self, remote: str, reason: str) -> None:
        super().__init__(f"{_quoted(remote)} cannot be a remote: {reason}")
        self.remote = remote
        self.reason = reason


class InvalidBundle(SessionError):
    """The file is no bundle that can be imported; or none at all, and so is not replaced by one.

    Attributes:
        path: The file.
        reason: What is wrong with it.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class GitNotFound(SessionError):
    """There is no git to run."""

    def __init__(self) -> None:
        super().__init__("git is not installed, or not on the PATH; syncing, bundles and packing need it")


def _quoted(name: str | None) -> str:
    """Shows a name in a message: quoted, on one line, without control characters, at most 120 characters long."""
    if name is None:
        return "None"
    shown = name if len(name) <= 120 else name[:117] + "..."
    return repr(shown) if shown.isprintable() else ascii(shown)
