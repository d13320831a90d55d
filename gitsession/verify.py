"""Checks a store: everything that can be derived is derived again, and every byte is hashed again.

What is looked at, in this order: the repository's own files; each branch with its reflog and its history; the other
refs; the packs; every object that was not read by then. Nothing is held but what the present session needs, and the ids
of the commits.
"""

from collections.abc import Callable, Iterator

from gitsession.errors import SessionError
from gitsession.finding import Finding
from gitsession.heads import head_findings, heads
from gitsession.history import Histories
from gitsession.layout import HEADS
from gitsession.present_states import PresentStates
from gitsession.reading import Reader
from gitsession.repo.object_files import Fault, count_objects, object_faults, pack_faults
from gitsession.repo.ref_files import repository_faults
from gitsession.repo.refs import problem_and_advice
from gitsession.store import Store

Progress = Callable[[int, int], None]


def verify(store: Store, *, fast: bool = False, progress: Progress | None = None) -> Iterator[Finding]:
    """Checks everything that is stored, and yields what is wrong.

    Args:
        store: The store.
        fast: Whether only the structure is looked at: refs, reflogs, the present state of each session, the parts of
            the packs. Histories and the content of messages are left out, and so are bytes that nothing refers to.
        progress: Called now and then with how much is done and how much there is, in steps of no particular size.
    """
    reader = store.reader
    reader.objects.look_anew()
    counter = _Counter(progress)
    told: set[str] = set()
    for finding in _findings(reader, counter, fast=fast):
        if finding.session is None and finding.oid in told:
            continue  # told with the session that it belongs to
        if finding.oid is not None:
            told.add(finding.oid)
        yield finding
    counter.finish()


class _Counter:
    """Counts what is done for the progress of a check."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._done = 0
        self.total = 0

    def add(self, number: int) -> None:
        self._done += number
        if self._progress is not None:
            self.total = max(self.total, self._done)
            self._progress(self._done, self.total)

    def finish(self) -> None:
        self.add(self.total - self._done)


def _findings(reader: Reader, counter: _Counter, *, fast: bool) -> Iterator[Finding]:
    repository = reader.repository
    branches = sum(1 for _ in repository.refs.below(HEADS))
    counter.total = branches + (0 if fast else 2 * count_objects(reader.objects))
    yield from map(_of_fault, repository_faults(repository.path))
    histories = Histories(reader)
    present_states = PresentStates(reader)
    for head in heads(reader):
        yield from head_findings(reader, head)
        if isinstance(head.value, str):
            check = present_states.check if fast else histories.check
            yield from check(head.session, head.value)
        counter.add(1 + 5 * histories.commits)  # a commit is five objects: itself, three trees, a blob
        histories.commits = 0
    yield from _other_refs(reader)
    yield from map(_of_fault, pack_faults(reader.objects, fast=fast))
    if not fast:
        yield from map(_of_fault, object_faults(reader.objects, counter.add))


def _other_refs(reader: Reader) -> Iterator[Finding]:
    """Checks the refs that are no branches: each must name an object that is there."""
    for name, value in reader.repository.refs.below("refs/"):
        if name.startswith(HEADS):
            continue
        try:
            if isinstance(value, SessionError):
                raise value
            if not reader.objects.has(value):
                problem = f"the ref {name!a:.120} names an object that is missing"
                yield Finding(None, None, value, problem, "delete the ref, or copy the object from a clone or a backup")
        except SessionError as error:
            problem, advice = problem_and_advice(error)
            otherwise = f"delete the ref with `git update-ref -d {name!a:.120}`, or fetch it again"
            yield Finding(None, None, getattr(error, "oid", None), problem, advice or otherwise)
        if name.startswith("refs/replace/"):
            problem = f"{name!a:.120} makes git show another object in the place of a stored one; gitsession does not"
            yield Finding(None, None, None, problem, "`git replace -d` removes it", damage=False)


def _of_fault(fault: Fault) -> Finding:
    return Finding(None, None, fault.oid, fault.problem, fault.advice, fault.damage)
