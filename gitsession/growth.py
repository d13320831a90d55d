"""How one transcript grows its session: what is stored is found again, what is new becomes commits, in memory."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, NamedTuple, Self

from gitsession import writing
from gitsession.branching import REDACTED, Base, Branches
from gitsession.building import Built, NewDelta, build
from gitsession.errors import InvalidCommit, RevisionNotFound
from gitsession.few import Few
from gitsession.jsonl import meta_of
from gitsession.layout import branch_of, encode_commit_id, imported_id
from gitsession.pieces import Piece, Pieces
from gitsession.reading import Reader, State
from gitsession.record_ids import RecordIds
from gitsession.repo.codec import GitObject, object_id
from gitsession.repo.repository import Move
from gitsession.repo.scratch import ScratchFile
from gitsession.results import FoundSecret, ImportResult, Problem
from gitsession.revisions import resolve
from gitsession.secret_records import RecordSecrets, name_without_secrets
from gitsession.secret_rules import VERSION
from gitsession.secret_scan import Secret
from gitsession.states import Comparison, Plan
from gitsession.transcripts import bundle
from gitsession.transcripts.base import Format, Record
from gitsession.transcripts.outlines import Outlines
from gitsession.transcripts.stored import encode_record
from gitsession.transcripts.versions import version_id

# The objects of a commit, each with an earlier one that is alike.
Objects = list[tuple[GitObject, GitObject | None]]


class Named(NamedTuple):
    """What a file's path and its first record tell of its session.

    Attributes:
        header: The header, with ids that sessions can have.
        clean: The same without the secrets of the name and the record.
        secrets: What is in the name, where that shows in the header.
        path: The path.
        first: The record.
    """

    header: dict[str, Any]
    clean: dict[str, Any]
    secrets: list[Secret]
    path: PurePath
    first: Record

    @property
    def renamed(self) -> bool:
        """Whether the session has another id where secrets are taken out."""
        return bool(self.header["id"] != self.clean["id"])

    @classmethod
    def of(cls, found: Format, path: PurePath, first: Record) -> Self:
        """Returns what the path and the first record of a file tell."""
        record = RecordSecrets().take_out(first)[0]
        parts = [name_without_secrets(part) for part in path.parts]
        header = _with_ids(found.header(path, first))
        clean = _with_ids(found.header(path, record))
        secrets = [secret for _, secrets in parts for secret in secrets]
        if secrets:
            told, clean = clean, _with_ids(found.header(PurePath(*(part for part, _ in parts)), record))
            secrets = secrets if told != clean else []
        return cls(header, clean, secrets, path, first)


def _with_ids(header: Mapping[str, Any]) -> dict[str, Any]:
    names = {field: header[field] for field in ("id", "parent_session") if header.get(field)}
    return {**header, **{field: imported_id(name) for field, name in names.items()}}


class Growth:
    """The session of one transcript, as far as its records were read.

    Attributes:
        unfinished: Whether its last line, or a file of it, is still being written.
    """

    def __init__(
        self,
        reader: Reader,
        found: Format,
        named: Named,
        *,
        listed: Sequence[str],
        redact: bool,
    ) -> None:
        """Begins with the header that the file's path and its first record tell.

        Args:
            reader: The store.
            found: The transcript's format.
            named: What the file's path and its first record tell.
            listed: The names of all branches, as `Branches` takes them.
            redact: Whether secrets are taken out. They are as well if that was done to this session before.
        """
        self.unfinished = False
        self._reader = reader
        self._branches = Branches(reader, meta_of(named.header).id, listed)
        clean = Branches(reader, meta_of(named.clean).id, listed) if named.renamed else self._branches
        self._redacts = redact or self._branches.redacted or clean.redacted
        if self._redacts:
            self._branches = clean
        self._format = found
        self._is_log = found.growth(named.first) == "log"
        self._pieces = Pieces(self._branches, found.name)
        self._header = self._first_header(named)
        self._session_id = self._branches.session_id
        self._named = named
        self._meta = meta_of(self._header)
        self._scratch = ScratchFile(reader.objects.path / "pack")
        self._ids = RecordIds(self._scratch)
        self._records = Outlines(self._scratch)  # each new one with its commit
        self._base: Base | None = None
        self._plan: Plan | None = None
        self._state: State | None = None
        self._expected: str | None = None
        self._problems: list[Problem] = []
        self._secrets: list[FoundSecret] = []
        self._scan = RecordSecrets()
        self._taken_out: deque[list[Secret]] = deque()  # of the records that are still to be added
        self._new = 0
        self._lines: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.close()

    @property
    def branch(self) -> str:
        """The branch that holds the records so far."""
        return branch_of(self._holder())

    def clean(self, record: Record) -> Record:
        """Takes the secrets out of the next record, if that is to be done; all records pass here before `add`."""
        if not self._redacts:
            return record
        cleaned, secrets = self._scan.take_out(record)
        self._taken_out.append(secrets)
        return cleaned

    def expect(
        self, first: Record, records: Iterator[Record], again: Callable[[], Iterator[Record]]
    ) -> Iterator[Record]:
        """Goes through a transcript that is written anew: what became of its beginning shows only at its end.

        Args:
            first: Its first record.
            records: The others.
            again: Reads all of them once more.

        Returns:
            All of them, to be added, without their secrets if these are to be taken out.
        """
        records = map(self.clean, chain([first], records))
        same = self._format.names_itself(first)
        comparison = Comparison(self._branches, self._format.name, self._scratch, same=same)
        if not comparison.is_needed:
            return records
        few = Few()
        for record in records:
            (comparison.wait if record.unfinished else comparison.add)(record)
            few.add(record)
        self._plan = comparison.plan(self._format.growth(first))
        if few.all is not None:
            return iter(few.all)
        self._taken_out.clear()
        self._scan = RecordSecrets()
        return map(self.clean, again())

    def add(self, record: Record) -> Objects:
        """Takes the next record, and returns the objects of its commits, as far as it is new.

        Raises:
            InvalidCommit: It is larger than a delta may be.
        """
        pieces = self._pieces.take(len(self._records), record) if self._is_log else [Piece(record)]
        return [made for piece in pieces for made in self._add(piece)]

    def end(self) -> Objects:
        """Tells that there are no more records, and returns the objects of the last commits; raises as `add`."""
        return [made for piece in self._pieces.end() for made in self._add(piece)]

    def _add(self, piece: Piece) -> Objects:
        record = piece.record
        taken_out = self._ended(piece.ends) if self._redacts else None
        if record.unfinished:
            self.unfinished = True
            return []
        number = len(self._records)
        commit_id = self._ids.take(number, record)
        plan = self._plan
        if plan is not None:
            commit_id = version_id(commit_id, plan.versions[number])
        blob = None if plan is None else plan.blob(number)
        content = b"" if blob else encode_record(self._format.name, commit_id, record) + b"\n"
        if len(content) > writing.MAX_DELTA_BYTES:
            # What is larger could be stored, and never be read again.
            size = f"the record in line {record.line} takes {len(content):,} bytes"
            raise InvalidCommit(f"{size}; the limit is {writing.MAX_DELTA_BYTES:,}")
        blob = blob or object_id("blob", content)
        stored = self._branches.take(number, encode_commit_id(commit_id), blob)
        if number == 0 and plan is not None and plan.base.state is not None:
            self._keep_rules(plan.base.state.text)
        elif number == 0 and stored:
            self._keep_rules(self._branches.text)
        learned = self._format.learn(self._header, record)
        if learned is not self._header:
            self._header = _with_ids(learned)
            self._meta = meta_of(self._header)
        outline = self._format.outline(record)._replace(id=commit_id)
        if record.problem is not None:
            self._problems.append(_problem(record, record.problem))
        if plan is not None and plan.delta(number) is not None:
            return self._pass_over(record, outline)
        if self._base is None and plan is not None:
            self._base = plan.base
            self._state, self._expected = self._base.state, self._base.expected
        elif self._base is None:
            if stored:
                return self._pass_over(record, outline)
            self._base = self._branches.base(number, commit_id)
            self._state, self._expected = self._base.state, self._base.expected
        secrets = self._scan.find(record) if taken_out is None else taken_out
        if number == 0:
            self._secrets += [FoundSecret(0, secret.kind) for secret in self._named.secrets]
        self._secrets += [FoundSecret(record.line, secret.kind) for secret in secrets]
        old = self._state
        delta = NewDelta(commit_id, content, lambda: [self._format.view(record)], record.timestamp, blob)
        meta = self._meta if plan is None else plan.base.completed(self._meta)
        built = build(old, delta, meta, now=None, text=self._format.text)
        self._state = built.state
        self._records.append(outline, bytes.fromhex(built.state.oid), size=len(record.raw))
        self._new += 1
        return with_bases(built, old)

    def _ended(self, count: int) -> list[Secret]:
        """Returns the secrets that were taken out of the records that end with a piece."""
        return [secret for _ in range(count) for secret in self._taken_out.popleft()]

    def _pass_over(self, record: Record, outline: Record) -> Objects:
        """Goes on behind a record that is stored."""
        if not self._redacts:
            self._scan.pass_over(record)
        self._records.append(outline, size=len(record.raw))
        return []

    def _first_header(self, named: Named) -> Mapping[str, Any]:
        return {**named.clean, REDACTED: VERSION} if self._redacts else named.header

    def _keep_rules(self, text: int | None) -> None:
        """Goes on by the rules by which the session was begun: those for the text of a commit, and for a title."""
        former = self._format if text is None else self._format.at(text)
        if former is not self._format:
            self._format = former
            self._header = self._first_header(Named.of(former, self._named.path, self._named.first))
            self._meta = meta_of(self._header)

    def moves(self) -> dict[str, Move]:
        """Returns the move of the branch to the last commit; after it, the growth goes on from there."""
        if self._state is None or self._new == 0 or self._state.oid == self._expected:
            return {}
        move = Move(self.branch, self._expected, self._state.oid, f"import: {len(self._records)} records")
        self._expected = self._state.oid
        return {move.branch: move}

    def abandoned(self) -> Iterator[tuple[str, str]]:
        """Yields the branches that abandoned lines need and do not have: the name, and the commit where it ended.

        The branch is named by its last record, with a number where another line has that name: one that ended at the
        same record before the file was rewritten, or the one that the rewritten file goes on with.
        """
        log, state = self._log()
        lines = self._format.abandoned(log, self._scratch)
        ends = {line.last for line in lines}
        places = {record.id: place for place, record in enumerate(log) if record.id in ends} if ends else {}
        given = {self._holder()}
        self._lines = set()
        for line in lines:
            place = places[line.last]
            name = next(
                name
                for name in self._branches.names(line.last)
                if name not in given and (self._branches.is_free(name) or self._branches.holds(name, place + 1, state))
            )
            if not self._branches.is_free(name):
                self._lines.add(name)
            elif (oid := self._oid(place, state)) is not None:
                given.add(name)
                yield branch_of(name), oid

    def _log(self) -> tuple[Outlines, State | None]:
        """Returns the records by which lines are found: the file's, or, with their branch, all states of them."""
        plan = self._plan
        state = None if plan is None else plan.base.state
        if plan is None or state is None or not self._format.takes_back(self._records[0]):
            return self._records, None
        log = self._branches.outlines(state, self._format, self._scratch)
        if plan.delta(0) is None:
            log.append(self._records[0])
        return log, state

    def refs(self) -> dict[str, str | None]:
        """Returns where the branches are that were looked at, once all is stored: to be asked after `abandoned`.

        The session's own, the one that holds the records, and those of abandoned lines that were there.
        """
        names = {self._session_id, self._holder(), *self._lines}
        found = {branch_of(name): self._reader.find_tip(name) for name in sorted(names)}
        return found if self._state is None else found | {self.branch: self._state.oid}

    def result(self, path: Path, abandoned: tuple[str, ...]) -> ImportResult:
        """Returns what the import of the file did."""
        return ImportResult(
            path,
            self._format.name,
            self._holder(),
            self._new,
            branch_created=self._base is not None and self._base.expected is None,
            problems=tuple(self._problems),
            abandoned=abandoned,
            rewritten_from=None if self._base is None else self._base.rewritten_from,
            unfinished=self.unfinished,
            behind=(self._is_log or not self.unfinished) and self._is_behind(),
            secrets=tuple(self._secrets),
            redacted=self._redacts,
            held_in=tuple(self._held_in()) if self._redacts and self._secrets else (),
        )

    def _is_behind(self) -> bool:
        if self._plan is not None:
            return self._plan.is_behind
        return self._base is None and self._branches.is_behind(len(self._records))

    def _held_in(self) -> Iterator[str]:
        """Yields the sessions that hold the file's records as they were before more was taken out of them."""
        before = (str(self._named.header["id"]), None if self._base is None else self._base.rewritten_from)
        for session_id in dict.fromkeys(filter(None, before)):
            tip = self._reader.find_tip(session_id)
            if tip is not None and session_id != self._holder():
                known = self._reader.state(session_id, tip).meta.extra.get(REDACTED)
                if known != VERSION:
                    yield session_id

    def _holder(self) -> str:
        base = self._base if self._plan is None else self._plan.base
        if base is not None:
            return base.session_id
        return self._branches.stored(len(self._records)) or self._session_id

    def _oid(self, place: int, state: State | None) -> str | None:
        """Returns the commit of a record of the file, or of a delta of a state; None in a shallow clone without it."""
        if state is None and (known := self._records.mark(place)):
            return known.hex()
        # What was stored before is found where it was: the branch that goes on from there need not exist yet.
        base = state or (None if self._base is None else self._base.state)
        number = place if state is not None or self._plan is None else self._plan.delta(place)
        try:
            return resolve(self._reader, self._holder() if base is None else base.session_id, f"#{number}").oid
        except RevisionNotFound:
            return None


def _problem(record: Record, reason: str) -> Problem:
    inner = bundle.fault(record.value) if bundle.is_file(record.value) else None
    if inner is None:
        return Problem(record.line, _shared(reason))
    return Problem(inner[0], _shared(reason), record.value["path"])


@lru_cache(256)
def _shared(reason: str) -> str:
    """Returns the text that was there first of equal ones: a file may be damaged a million times in the same way."""
    return reason


def with_bases(built: Built, old: State | None) -> Objects:
    """Returns the objects of a commit, each tree with the one of the commit before that it has grown from."""
    bases = [] if old is None else old.tree.last_trees
    return [(made, bases.pop(0) if made.kind == "tree" and bases else None) for made in built.objects]
