"""The heads of the branches, compared with what the reflogs say of them.

A commit writes the log before it moves the ref. So a ref that is behind its log fell back (its file was lost, and an
older value was packed), or its writer was killed between the two steps: then git's lock file on the ref still holds
the commit, or the ref's own file holds the value that the last line starts from.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from gitsession.errors import SessionError
from gitsession.finding import Finding
from gitsession.layout import HEADS, is_ref_name, session_id_of
from gitsession.reading import Reader
from gitsession.repo.reflog import Log, logged_names, read_log
from gitsession.repo.refs import problem_and_advice

_LOG = "the session itself is whole; the log is a second witness, and git goes on with it"


@dataclass(frozen=True, slots=True)
class Head:
    """Where a branch is, and where its log says that it was.

    Attributes:
        name: The full name of the ref.
        session: The session's id.
        value: The commit; None where the ref is gone; the fault where it is damaged.
        content: What the ref's own file holds; None where there is none.
        log: Its log.
    """

    name: str
    session: str
    value: str | SessionError | None
    content: bytes | None
    log: Log

    @property
    def logged(self) -> str | None:
        """The commit that the log says the branch is at; None where it says nothing."""
        return self.log.moves[-1].new if self.log.moves else None


def heads(reader: Reader) -> Iterator[Head]:
    """Yields the branches of a store, and those of which only the log is left, sorted by name."""
    refs = reader.repository.refs
    found: dict[str, str | SessionError | None] = dict.fromkeys(logged_names(refs.path, HEADS))
    found |= dict(refs.below(HEADS))
    for name, value in sorted(found.items()):
        try:
            content = refs.content(name)
        except SessionError:
            content = None
        session = session_id_of(name.removeprefix(HEADS))
        head = Head(name, session, value, content, read_log(refs.path, name))
        if value is not None or head.logged is not None:
            yield head


def head_findings(reader: Reader, head: Head) -> Iterator[Finding]:
    """Yields what is wrong with a branch's ref and its log, as files and in what they say of each other."""
    if isinstance(head.value, SessionError):
        problem, advice = problem_and_advice(head.value)
        otherwise = "make its file readable" if is_ref_name(head.name) else "rename its file"
        yield Finding(head.session, None, None, problem, advice or f"{otherwise}, or restore the store from a backup")
    elif (lost := lost_head(reader, head)) is not None:
        what = "is gone" if head.value is None else f"fell back to {head.value}"
        problem = f"the branch {what}; its reflog says that it was at {lost}"
        yield Finding(head.session, lost, None, problem, "`gitsession repair` sets it to that commit")
    for number in head.log.damaged:
        yield Finding(head.session, None, None, f"line {number} of the reflog of {head.name} is damaged", _LOG)
    if head.log.unfinished:
        problem = f"the last line of the reflog of {head.name} is cut short, as a power cut leaves it"
        yield Finding(head.session, None, None, problem, "the next commit takes it away", damage=False)
    packed = reader.repository.refs.packed(head.name)
    if packed is not None and packed != head.value and not _exists(reader, packed):
        problem = f"packed-refs has an older value of {head.name}, {packed}, that is not there"
        yield Finding(head.session, packed, None, problem, "run `git pack-refs --all` to replace it by the present one")
    for oid in _unknown_values(reader, head):
        problem = f"the reflog of {head.name} names a commit {oid} that is not there"
        yield Finding(head.session, oid, None, problem, _LOG)


def lost_head(reader: Reader, head: Head) -> str | None:
    """Returns the commit that a branch was at by its log, and is behind now; None where it is not behind."""
    last = head.logged
    if last is None or last == head.value or isinstance(head.value, SessionError) or _was_interrupted(reader, head):
        return None
    return last if _exists(reader, last) and (head.value is None or _is_before(reader, head.value, last)) else None


def _was_interrupted(reader: Reader, head: Head) -> bool:
    """Tells whether the last line of the log is of a move that its writer did not live to make."""
    lock = reader.repository.refs.content(f"{head.name}.lock")
    if lock is not None and lock.strip().decode("ascii", "replace") == head.logged:
        return True
    return head.content is not None and head.log.moves[-1].old == head.value


def _is_before(reader: Reader, oid: str, later: str) -> bool:
    try:
        return any(found == oid for found in reader.commits.ancestors(later))
    except SessionError:
        return False


def _unknown_values(reader: Reader, head: Head) -> Iterator[str]:
    """Yields the commits that the log names out of turn and that are not there: damage of a line that can be read."""
    if not head.log.moves:
        return
    suspects = [move.old for move in head.log.moves[:1]]
    for before, after in pairwise(head.log.moves):
        if before.new != after.old:
            suspects += [before.new, after.old]
    if head.logged != head.value:
        suspects.append(head.logged)
    for oid in dict.fromkeys(suspects):
        if oid is not None and not _exists(reader, oid):
            yield oid


def _exists(reader: Reader, oid: str) -> bool:
    try:
        return reader.objects.has(oid)
    except SessionError:
        return False
