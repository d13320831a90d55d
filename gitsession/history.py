"""The history of a session, derived again: each commit adds at most one delta to its parent, at the end, and no more.

A tree names its content by hashes. So where the parent's tree with the child's last delta added has the child's
object ids, nothing else can have changed, and one step costs the last directory of each level, however long the
session is; within a directory those two differ by one item, and are compared as bytes. What several branches share is
looked at once.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from gitsession.conversation import entry_id, holds_entry, split_lines
from gitsession.errors import Corrupt, SessionError, UnsupportedFormat
from gitsession.finding import Finding
from gitsession.jsonl import MAX_HEADER_BYTES, decode_header
from gitsession.layout import decode_commit_id
from gitsession.reading import Reader
from gitsession.repo.codec import Commit
from gitsession.summary import named_delta
from gitsession.tree import Delta, SessionTree, deltas_of, read_header_blob, read_parent_tree, read_tree

# The commits of another program that are looked at for one of ours below them.
_MOST_FOREIGN = 1000

# The findings of one session that are told one by one: a history that was written anew would give one a commit.
MOST_FINDINGS = 25

_TRAILER = re.compile(r"^(Commit-Id|Delta|Session): ([^\n]*)$", re.MULTILINE)

REPAIR = "`gitsession repair` shows the last good commit, if one is left; or copy the object from a clone or a backup"
_FOREIGN = "something else than gitsession wrote it; fork the session from the commit before"


class _ForeignError(Corrupt):
    """A commit is not gitsession's."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One commit of a history, as far as it can be read; `precedes` tells that the next adds one delta, and no more."""

    oid: str
    commit: Commit
    tree: SessionTree | None
    precedes: bool = False

    def last_delta(self) -> Delta | None:
        """Returns the last delta of the tree."""
        if self.tree is None or self.tree.last_id is None:
            return None
        return Delta(self.tree.count - 1, self.tree.last_id, self.tree.bottom[-20:].hex())


class Histories:
    """Checks the histories of a store's sessions, one after the other.

    Attributes:
        commits: How many commits were looked at.
    """

    def __init__(self, reader: Reader) -> None:
        self.commits = 0
        self._reader = reader
        self._objects = reader.objects
        self._shallow = reader.repository.shallow()
        self._seen: set[bytes] = set()
        # The commits that are damaged, or come after one that is: with the session in which that was told.
        self._tainted: dict[bytes, str] = {}
        self._entry_ids: dict[str, tuple[int, str]] = {}
        self._headers: tuple[str, str] = ("", "")
        self._foreign: set[str] = set()

    def is_good(self, oid: str) -> bool:
        """Tells whether a commit was looked at, and neither it nor one before it is damaged."""
        digest = bytes.fromhex(oid)
        return digest in self._seen and digest not in self._tainted

    def is_foreign(self, oid: str) -> bool:
        """Tells whether a commit that a check began at is another program's."""
        return oid in self._foreign

    def check(self, session_id: str, tip: str) -> Iterator[Finding]:
        """Yields what is wrong in the history of a session, from its present commit on backwards."""
        told = tainted = 0
        walked: list[bytes] = []
        for finding in self._walk(session_id, tip, walked):
            if finding.damage and finding.commit is not None:
                # All from the newest commit to this one, which is the last that was walked, or the one before.
                end = len(walked) - (len(walked) > 1 and walked[-2] == bytes.fromhex(finding.commit))
                self._tainted.update(dict.fromkeys(walked[tainted:end], session_id))
                tainted = max(tainted, end)
            told += 1
            if told <= MOST_FINDINGS:
                yield finding
        if told > MOST_FINDINGS:
            yield Finding(session_id, tip, None, f"{told - MOST_FINDINGS} more problems of this session", REPAIR)

    def last_good(self, tip: str) -> tuple[str, int] | None:
        """Returns the newest commit at or below one that was checked whose history is whole, and its deltas."""
        try:
            for oid, _ in self._reader.commits.history(tip):
                if self.is_good(oid):
                    return oid, self._reader.state("", oid).tree.count
        except SessionError:
            pass  # below this commit nothing can be reached
        return None

    def _walk(self, session_id: str, tip: str, walked: list[bytes]) -> Iterator[Finding]:
        child: _Step | None = None
        ids: list[Delta] = []
        foreign = 0
        oid: str | None = tip
        while oid is not None:
            digest = bytes.fromhex(oid)
            if digest in self._seen:
                yield from self._joined(session_id, oid, child, ids)
                return
            walked.append(digest)
            self._seen.add(digest)
            self.commits += 1
            try:
                commit = self._reader.commits.read(oid)
            except SessionError as error:
                yield _damaged(session_id, oid, error)
                return
            try:
                step = self._step(session_id, oid, commit, child)
            except _ForeignError as error:
                foreign += 1
                if child is None:
                    self._foreign.add(oid)
                if foreign == 1:
                    yield _damaged(session_id, oid, error)
                elif foreign > _MOST_FOREIGN:
                    return
                step = _Step(oid, commit, None)
            except UnsupportedFormat as error:
                yield _damaged(session_id, oid, error)
                return
            except SessionError as error:
                yield _damaged(session_id, oid, error)
                step = _Step(oid, commit, None)
            if child is None and step.tree is not None:
                yield from self._check_ids(session_id, oid, step.tree, ids)
            if len(commit.parents) > 1:
                yield Finding(session_id, oid, oid, f"the commit has {len(commit.parents)} parents", _FOREIGN)
            if child is not None:
                yield from self._check_step(session_id, step, child, ids)
            child = step
            oid = commit.parents[0] if commit.parents and oid not in self._shallow else None
        if child is not None:
            yield from self._check_first(session_id, child, ids)

    def _step(self, session_id: str, oid: str, commit: Commit, child: _Step | None) -> _Step:
        """Reads a commit's tree; where the next one has a delta more, what else they have in common is read there."""
        root = self._objects.read(commit.tree, "tree")
        if b" session.json\0" not in root:
            raise _ForeignError(f"its commits are not gitsession's: the tree {commit.tree} has no session.json")
        header = read_header_blob(self._objects, commit.tree, root)
        if self._headers[0] != header:
            content = self._objects.read(header, "blob", limit=MAX_HEADER_BYTES)
            self._headers = (header, decode_header(content, where=f"the session {session_id!a:.80}").tag)
        tag = self._headers[1]
        if child is not None and child.tree is not None and child.tree.tag == tag:
            tree = read_parent_tree(self._objects, commit.tree, child.tree, root)
            if tree is not None:
                return _Step(oid, commit, tree, precedes=True)
        return _Step(oid, commit, read_tree(self._objects, commit.tree, tag, header, root))

    def _joined(self, session_id: str, oid: str, child: _Step | None, ids: list[Delta]) -> Iterator[Finding]:
        """Checks the step from a commit of another session's history, which was looked at before."""
        other = self._tainted.get(bytes.fromhex(oid))
        if other is not None:
            problem = f"its history from this commit on is damaged, as told for the session {other!a:.120}"
            yield Finding(session_id, oid, None, problem, REPAIR)
        elif child is not None:
            step = self._step(session_id, oid, self._reader.commits.read(oid), child)
            yield from self._check_step(session_id, step, child, ids)

    def _check_ids(self, session_id: str, oid: str, tree: SessionTree, ids: list[Delta]) -> Iterator[Finding]:
        """Checks that the numbers are contiguous and the commit ids unique, and collects them."""
        seen: dict[str, int] = {}
        try:
            for delta in deltas_of(self._objects, tree):
                ids.append(delta)
                decode_commit_id(delta.encoded_id)
                first = seen.setdefault(delta.encoded_id, delta.number)
                if first != delta.number:
                    problem = f"the deltas {first} and {delta.number} have the same commit id {delta.encoded_id!a:.120}"
                    yield Finding(session_id, None, delta.blob, problem, _FOREIGN)
            yield from self._check_places(session_id, ids, seen)
        except SessionError as error:
            # Told with the commit that the walk finds it in; what it makes unreadable here is the present state.
            self._tainted[bytes.fromhex(oid)] = session_id
            if not isinstance(error, Corrupt) or error.oid is None:
                yield _damaged(session_id, oid, error)

    def _check_places(self, session_id: str, ids: list[Delta], numbers: dict[str, int]) -> Iterator[Finding]:
        """Checks that no entry has the id that a message of another commit gets by its place."""
        for delta in ids:
            owner, _, place = delta.encoded_id.rpartition("%2F")
            other = numbers.get(owner)
            if other is None or not place.isdigit():
                continue
            with suppress(SessionError):  # told with the delta that is damaged
                found_id = decode_commit_id(delta.encoded_id)
                if self._holds(delta, found_id) and self._holds(ids[other], found_id):
                    problem = f"the deltas {other} and {delta.number} hold entries of the same id {found_id!a:.120}"
                    yield Finding(session_id, None, delta.blob, problem, _FOREIGN)

    def _holds(self, delta: Delta, wanted: str) -> bool:
        return holds_entry(self._objects.read(delta.blob, "blob"), decode_commit_id(delta.encoded_id), wanted)

    def _check_step(self, session_id: str, parent: _Step, child: _Step, ids: list[Delta]) -> Iterator[Finding]:
        """Checks what a commit changes, and the delta that it adds."""
        if parent.tree is None or child.tree is None:
            return
        delta = child.last_delta()
        if parent.tree.top == child.tree.top:
            named = named_delta(child.commit.message)
            if named is not None and (delta is None or named != (delta.number, delta.encoded_id)):
                problem = f"the commit's text names a delta that it does not add: {named[0]}, {named[1]!a:.120}"
                yield Finding(session_id, child.oid, child.oid, problem, _FOREIGN)
            return
        if delta is None or child.tree.count != parent.tree.count + 1:
            problem = f"the commit goes from {parent.tree.count} deltas to {child.tree.count}; one may add one"
            yield Finding(session_id, child.oid, child.oid, problem, _FOREIGN)
        elif not parent.precedes and parent.tree.with_delta(delta.encoded_id, delta.blob)[0].top != child.tree.top:
            problem = "the commit changes what was stored before it, beside adding a delta"
            yield Finding(session_id, child.oid, child.oid, problem, _FOREIGN)
        if delta is not None:
            yield from self._check_delta(session_id, child, delta, ids)

    def _check_first(self, session_id: str, first: _Step, ids: list[Delta]) -> Iterator[Finding]:
        """Checks the first commit of a history: it holds one delta at the most, unless the history is cut off there."""
        if first.oid in self._shallow:
            problem = "the history before this commit is cut off: the store is a shallow clone"
            advice = "run `git fetch --unshallow` in it to get the rest"
            yield Finding(session_id, first.oid, None, problem, advice, damage=False)
            if first.tree is not None:
                yield from self._check_all(session_id, first, ids)
        elif first.tree is not None and first.tree.count:
            empty = SessionTree("", first.tree.tag, first.tree.header)
            yield from self._check_step(session_id, _Step("", first.commit, empty), first, ids)

    def _check_all(self, session_id: str, step: _Step, ids: list[Delta]) -> Iterator[Finding]:
        """Checks all deltas of a tree whose history is not there."""
        try:
            for delta in deltas_of(self._objects, step.tree) if step.tree else ():
                yield from self._check_delta(session_id, step, delta, ids, trailers=delta == step.last_delta())
        except SessionError as error:
            yield _damaged(session_id, step.oid, error)

    def _check_delta(
        self, session_id: str, step: _Step, delta: Delta, ids: list[Delta], *, trailers: bool = True
    ) -> Iterator[Finding]:
        """Checks what a delta holds, and that the commit's text names it."""
        found = dict(_TRAILER.findall(step.commit.message.rstrip("\n").rpartition("\n\n")[2]))
        if trailers and (found.get("Commit-Id"), found.get("Delta")) != (delta.encoded_id, str(delta.number)):
            problem = f"the commit's text does not name what it adds: delta {delta.number}, {delta.encoded_id!a:.120}"
            yield Finding(session_id, step.oid, step.oid, problem, _FOREIGN)
        try:
            content = self._objects.read(delta.blob, "blob")
            commit_id = decode_commit_id(delta.encoded_id)
            lines = split_lines(content, commit_id)
            for place, line in enumerate(lines):
                found_id = entry_id(line, commit_id, place)
                if found_id not in (commit_id, f"{commit_id}/{place}") or (found_id == commit_id and len(lines) > 1):
                    yield from self._check_entry_id(session_id, step, delta, found_id, ids)
        except SessionError as error:
            problem = f"delta {delta.number} is damaged: {error}"
            yield Finding(session_id, step.oid, getattr(error, "oid", None) or delta.blob, problem, REPAIR)

    def _check_entry_id(
        self, session_id: str, step: _Step, delta: Delta, found_id: str, ids: list[Delta]
    ) -> Iterator[Finding]:
        """Checks an entry id of another program's, which is not that of its commit, against those of the session."""
        other = self._entry_ids.setdefault(found_id, (delta.number, delta.blob))
        number = other[0]
        same_session = number < len(ids) and ids[number].blob == other[1]
        if other != (delta.number, delta.blob) and same_session:
            problem = f"the deltas {delta.number} and {number} hold entries of the same id {found_id!a:.120}"
            yield Finding(session_id, step.oid, delta.blob, problem, _FOREIGN)


def _damaged(session_id: str, oid: str, error: SessionError) -> Finding:
    if isinstance(error, UnsupportedFormat):
        return Finding(session_id, oid, None, str(error), "install a newer gitsession", damage=False)
    damaged = error.oid if isinstance(error, Corrupt) else None
    return Finding(session_id, oid, damaged, str(error), REPAIR)
