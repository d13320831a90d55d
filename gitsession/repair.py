"""Sets damaged branches to their last good commit, and loses nothing in doing so.

What is planned is shown first and applied one by one. A branch is moved by compare-and-swap under its session's lock.
The old state stays: what the ref's file held is copied to `gitsession/kept/` in the store, and the old commit, where
there is one, gets a ref below `refs/gitsession/kept/`, so that `git gc` spares what can still be read of it.
"""

import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from gitsession.errors import Corrupt, SessionError, Unavailable
from gitsession.heads import Head, heads, lost_head
from gitsession.history import Histories
from gitsession.layout import HEADS
from gitsession.reading import Reader
from gitsession.repo.disk import fsync_directory
from gitsession.repo.files import BINARY, make_directory, translated, write_all
from gitsession.repo.refs import OWN_DIRECTORY, RefBlocked, RefMoved, problem_and_advice
from gitsession.store import Store

_KEPT = "refs/gitsession/kept/"


@dataclass(frozen=True, slots=True)
class Repair:
    """What would be done to a damaged branch.

    Attributes:
        session: The session's id.
        branch: Its branch, without `refs/heads/`.
        problem: What is wrong with it.
        old: The commit that the branch is at, 40 hex digits; None where its ref is damaged or gone.
        new: The commit that it would be set to; None where no good commit is left, so that nothing can be done.
        deltas: How many deltas the session would have.
        kept: The ref that the old commit would be kept under; None where there is none, or the new one follows it.
    """

    session: str
    branch: str
    problem: str
    old: str | None
    new: str | None
    deltas: int
    kept: str | None


def plan_repair(store: Store) -> list[Repair]:
    """Returns what can be done about the damaged branches of a store; changes nothing.

    It reads the histories of all sessions, as `verify` does.

    Raises:
        Unavailable: The store could not be read.
    """
    reader = store.reader
    histories = Histories(reader)
    planned = (_plan(reader, histories, head) for head in heads(reader))
    return [repair for repair in planned if repair is not None]


def apply_repair(store: Store, repair: Repair) -> None:
    """Does what was planned for one branch.

    Raises:
        Corrupt: No good commit is left.
        Unavailable: The branch has changed since it was planned, or the disk refuses; plan again.
    """
    if repair.new is None:
        raise Corrupt(
            f"no good commit of the session {repair.session!a:.120} is left; copy it from a clone or a backup"
        )
    reader = store.reader
    refs = reader.repository.refs
    name = HEADS + repair.branch
    try:
        with reader.repository.locks.hold(repair.branch):
            content = refs.content(name)
            present = _value(reader, name)
            _require(name, repair.old, present)
            _keep_file(reader, repair, content)
            if repair.kept is not None and repair.old is not None:
                with suppress(RefMoved):  # kept by an earlier repair: the ref's name holds the commit
                    refs.compare_and_swap(repair.kept, None, repair.old, reason="repair: keep the old head")
            if present is None and content is not None:
                refs.replace_damaged(name, content, repair.new, reason="repair: set a damaged ref")
            else:
                refs.compare_and_swap(name, present, repair.new, reason="repair: set to the last good commit")
    except RefMoved as error:
        raise Unavailable(f"the branch {repair.branch!a:.120} has changed since the repair was planned") from error
    except RefBlocked as error:
        raise Unavailable(f"cannot keep the old head: {error}") from error


def _plan(reader: Reader, histories: Histories, head: Head) -> Repair | None:
    old = head.value if isinstance(head.value, str) else None
    problem = problem_and_advice(head.value)[0] if isinstance(head.value, SessionError) else ""
    for claimed in _claims(reader, head):
        findings = deque(histories.check(head.session, claimed), maxlen=1)
        if claimed == old and histories.is_good(old):
            return None
        if claimed == old and findings:
            problem = findings[0].problem
        good = histories.last_good(claimed)
        if good is not None:
            gone = "the branch is gone" if old is None else f"the branch fell back to {old}"
            new, deltas = good
            kept = None if old is None or _follows(reader, old, new) else _kept_name(reader, head, old)
            return Repair(head.session, head.name.removeprefix(HEADS), problem or gone, old, new, deltas, kept)
    if old is not None and (histories.is_foreign(old) or not problem):
        return None  # of another program, or of a later version: nothing is damaged
    return Repair(head.session, head.name.removeprefix(HEADS), problem, old, None, 0, None)


def _claims(reader: Reader, head: Head) -> Iterator[str]:
    """Yields the commits that the branch can be set to, the best first."""
    seen: set[str | None] = {None}
    lost = lost_head(reader, head)
    present = head.value if isinstance(head.value, str) else None
    logged = [move.new for move in reversed(head.log.moves)]
    for oid in (lost, present, *logged, reader.repository.refs.packed(head.name)):
        if oid not in seen and oid is not None:
            yield oid
        seen.add(oid)


def _follows(reader: Reader, old: str, new: str) -> bool:
    try:
        return any(oid == old for oid in reader.commits.ancestors(new))
    except SessionError:
        return False


def _kept_name(reader: Reader, head: Head, old: str) -> str | None:
    """Returns the ref for an old head; None where not even the commit can be read, so that no ref may name it."""
    try:
        reader.commits.read(old)
    except SessionError:
        return None
    return f"{_KEPT}{quote(head.name.removeprefix(HEADS), safe='%')}/{old}"


def _require(name: str, expected: str | None, actual: str | None) -> None:
    if expected != actual:
        raise RefMoved(name, actual)


def _value(reader: Reader, name: str) -> str | None:
    try:
        return reader.repository.refs.find(name)
    except Corrupt:
        return None


def _keep_file(reader: Reader, repair: Repair, content: bytes | None) -> None:
    """Saves what the ref held as a file of its own."""
    held = content if content is not None else f"{repair.old}\n".encode() if repair.old else None
    if held is None:
        return
    directory = reader.repository.path / OWN_DIRECTORY / "kept"
    name = f"{quote(repair.branch, safe='%')[:200]}.{time.time_ns()}"
    with translated("save the old ref"):
        make_directory(directory, reader.repository.disk)
        _write_new(directory / name, held)
        fsync_directory(directory)


def _write_new(path: Path, content: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, 0o600)
    try:
        write_all(file, content)
        os.fsync(file)
    finally:
        os.close(file)
