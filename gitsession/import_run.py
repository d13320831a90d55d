"""One run of an import: each record of a file becomes one commit, in the order of the file, verbatim and once.

Files are read as streams: memory holds the largest record, and some 60 MB or less besides, whatever the file: the
objects that are not stored yet, and what was used last of what is known of the records (their ids as digests, their
commits, their places among the others), by which ids are made unique and abandoned lines found. All of that, up to some
200 bytes a record, lies in scratch space in the store while the file is read. What a result tells (faults, secrets,
abandoned lines) is held, in some 100 to 1,000 bytes each.

A transcript that is written anew when it grows is read twice, to see what became of it and to take that in; so it is
copied when it is read first, to a file if it is large, and what its agent does meanwhile changes nothing. Where each of
its messages ends is held, in 8 bytes. The files of a folder are read one by one; their names are held.
"""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, Self, cast

from gitsession import opencode_database as opencode
from gitsession.compressed import open_transcript, plain_name
from gitsession.copied import Copied, from_beginning
from gitsession.databases import HEAD_BYTES, is_database
from gitsession.errors import (
    InvalidCommit,
    SessionError,
    SessionExists,
    Unavailable,
    UnknownTranscript,
    UnreadableDatabase,
)
from gitsession.files import LOOKED_AT, PathSet, first_of_many, listing, looks_like, paths_of, whole
from gitsession.growth import Growth, Named
from gitsession.import_cache import Asked, ImportCache, Look
from gitsession.layout import HEADS, branch_of, derived_prefixes, session_id_of
from gitsession.repo.batch import GrowingBatch
from gitsession.repo.refs import OWN_DIRECTORY, RefBlocked, RefMoved
from gitsession.repo.repository import Move
from gitsession.results import ImportFailure, ImportResult
from gitsession.store import Store
from gitsession.transcripts import FORMATS, document, find_format
from gitsession.transcripts import records as records_of
from gitsession.transcripts.base import Bundled, Format, Record, is_log

# A batch is stored when it has grown to this: memory holds its index, and a crash loses no more than it.
_BATCH_OBJECTS = 50_000
_BATCH_BYTES = 64 * 1024 * 1024

_BUFFER_BYTES = 64 * 1024

# How often the import of a file is begun anew when another program writes to its session at the same moment.
_ATTEMPTS = 5


def unreadable(path: Path, error: OSError) -> ImportFailure:
    """Returns what is told of a file or a directory that cannot be read."""
    return ImportFailure(path, UnknownTranscript(str(path), f"cannot be read: {error.strerror or error}"))


@dataclass(frozen=True, slots=True)
class Source:
    """A file that is to be imported, or a session in a database, and how often it was begun."""

    path: Path
    chosen: Format | None
    attempt: int = 0
    stored: opencode.StoredSession | None = None

    def look(self, bundled: Bundled | None) -> Look | None:
        """Returns what it looks like now; a session, what it looked like when its database was listed.

        None where one of its files was just removed.
        """
        if self.stored is not None:
            return self.stored.look
        try:
            return Look.at(paths_of(self.path, bundled))
        except FileNotFoundError:
            return None


class _Stopped(Exception):
    """The import is to end, and nothing was built of the file that it is at."""


@dataclass(slots=True)
class _Pending:
    """A file whose commits are built and not stored yet."""

    source: Source
    result: ImportResult
    branch: str
    look: Look | None
    refs: Mapping[str, str | None]


class ImportRun:
    """One run of an import: commits are built file by file, and stored many files at a time."""

    def __init__(
        self,
        store: Store,
        progress: Callable[[int], None],
        *,
        redact: bool,
        settled: bool,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.taken = 0
        self.stop = stop
        self._redact = redact
        self._settled = settled
        self._cache = ImportCache(store.path / OWN_DIRECTORY)
        self.belonging = PathSet()  # the files of transcripts that consist of many
        self._store = store
        self._progress = progress
        self._batch = GrowingBatch(store.repository.objects)
        self._packs = 0  # how many were stored
        self._moves: dict[str, Move] = {}
        self._pending: list[_Pending] = []
        self._failed: dict[str, RefMoved | RefBlocked] = {}
        self._listed: list[str] | None = None  # of the branches, as they were when the last batch was stored

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._batch.close()

    def take(self, source: Source) -> Iterator[ImportResult | ImportFailure]:
        """Builds the commits of one file, and yields what was stored meanwhile."""
        known = self._unchanged(source)
        if known is not None:
            self.taken += 1
            yield known
            return
        try:
            stored = source.stored or opencode.find_session(source.path)
            if stored is not None:
                self.taken += 1
                with opencode.open_session(stored) as (opened, seen):
                    yield from self._build(replace(source, stored=stored), FORMATS["opencode"], opened, seen)
                return
            before = Look.at([source.path])
            with open_transcript(source.path) as stream:
                if is_database(head := stream.read(HEAD_BYTES)):
                    yield from self._take_database(source)
                    return
                if head and source.chosen is None:
                    opencode.refuse_spoilt(source.path)
                stream.seek(0)
                found = source.chosen or find_format(stream, plain_name(source.path).name)
                if found is None and (found := first_of_many(source.path, stream)) is None:
                    stream.seek(0)
                    yield from self._take_owner(source, stream.read(LOOKED_AT))
                    return
                stream.seek(0)
                self.taken += 1
                bundled = found.bundle(source.path, listing)
                if bundled is not None:
                    self.belonging.update(paths_of(source.path, bundled))
                look = before if bundled is None else source.look(bundled)
                if Look.at([source.path]).state != before.state:
                    look = None  # another file has its name now than the one that is open
                content = whole(bundled, stream)
                del bundled  # the paths of a large folder take megabytes
                yield from self._build(source, found, content, look)
        except OSError as error:
            yield unreadable(source.path, error)
        except Unavailable:
            raise
        except InvalidCommit as error:
            yield ImportFailure(source.path, InvalidCommit(f"{source.path}: {error}"))
        except SessionError as error:
            yield ImportFailure(source.path, error)
        except _Stopped:
            return
        if self._is_full():
            yield from self.flush()

    def _take_database(self, source: Source) -> Iterator[ImportResult | ImportFailure]:
        """Takes the sessions in a database, up to the first that tells that none of the others can be read either."""
        if source.chosen not in (None, FORMATS["opencode"]):
            raise UnknownTranscript(str(source.path), "is a database, in which only opencode keeps sessions")
        found = opencode.find_sessions(source.path)
        self.belonging.update(opencode.belonging(found))
        for stored in (one for one in found if not (self._settled and one.is_at_work)):
            if self.stop():
                return
            for done in self.take(replace(source, path=stored.path, stored=stored)):
                yield done
                error = done.error if isinstance(done, ImportFailure) else None
                if isinstance(error, UnreadableDatabase) and error.path == str(source.path):
                    return

    def _take_owner(self, source: Source, head: bytes) -> Iterator[ImportResult | ImportFailure]:
        """Takes the transcript that a file belongs to which is none by itself."""
        owners = ((one, one.owner(source.path, listing)) for one in FORMATS.values())
        found, owner = next(((one, Path(own)) for one, own in owners if own is not None), (None, source.path))
        if found is None or owner == source.path:
            raise UnknownTranscript(str(source.path), looks_like(head))
        if owner not in self.belonging:
            # Also where it turns out to be none: that is told once, not of each of its files, nor of their directory.
            self.taken += 1
            self.belonging.update(paths_of(owner, found.bundle(owner, listing)))
            yield from self.take(replace(source, path=owner))

    def finish(self) -> Iterator[ImportResult | ImportFailure]:
        """Stores the rest, as `flush`; few objects too as a pack where others lie beside it, to leave no loose ones."""
        if self._packs and len(self._batch):
            self._batch.into_pack()
        yield from self.flush()

    def flush(self) -> Iterator[ImportResult | ImportFailure]:
        """Stores what was built, moves the branches, and yields the results of the files that are complete.

        A file whose branch was moved by another program is begun anew.
        """
        pending, moves, batch = self._pending, self._moves, self._batch
        self._pending, self._moves, self._batch = [], {}, GrowingBatch(self._store.repository.objects)
        try:
            failed = self._store.repository.move_all(moves.values(), batch) if moves else []
        finally:
            batch.close()
        self._packs += batch.is_pack
        self._listed = None
        errors = {move.branch: error for move, error in failed}
        done = [one for one in pending if one.branch not in errors]
        for one in done:
            if one.look is not None and not errors.keys() & one.refs.keys():
                self._cache.add(one.look, self._asked(one.source), one.result, one.refs)
        self._cache.save()
        yield from (one.result for one in done)
        for one in pending:
            if one.branch in errors:
                yield from self._again(one.source, one.branch, errors[one.branch])
                yield from self.flush()
        self._failed = errors

    def _again(
        self, source: Source, branch: str, error: RefMoved | RefBlocked
    ) -> Iterator[ImportResult | ImportFailure]:
        """Begins anew with a file whose branch could not be moved, if that can help."""
        if isinstance(error, RefBlocked):
            blocked = SessionExists(session_id_of(branch), error.blocker.removeprefix(HEADS))
            yield ImportFailure(source.path, blocked)
        elif source.attempt == _ATTEMPTS:
            raise Unavailable(f"another program keeps writing to the session of {source.path}; try again")
        else:
            yield from self.take(replace(source, attempt=source.attempt + 1))

    def _asked(self, source: Source) -> Asked:
        return Asked(None if source.chosen is None else source.chosen.name, self._redact)

    def _unchanged(self, source: Source) -> ImportResult | None:
        """Returns what an import of a file would say that did not change since the last one; None if it may have."""
        found = FORMATS.get(self._cache.format_of(source.path) or "")
        if found is None:
            return None
        try:
            bundled = found.bundle(source.path, listing)
            look = source.look(bundled)
            known = None if look is None else self._cache.find(source.path, look, self._asked(source))
            if look is None or known is None:
                return None
            refs = self._store.repository.refs
            if any(refs.find(HEADS + branch) != oid for branch, oid in known.refs.items()):
                return None
        except (OSError, SessionError):
            return None  # reading it will tell
        if bundled is not None:
            self.belonging.update(paths_of(source.path, bundled))
        self._progress(look.size)
        return known.result

    def _build(
        self, source: Source, found: Format, stream: BinaryIO, look: Look | None
    ) -> Iterator[ImportResult | ImportFailure]:
        copy = Copied(stream, self._store.repository.objects.path / "pack")
        if found.growth is is_log:
            copy.let_go()
        with io.BufferedReader(copy, _BUFFER_BYTES) as again:
            yield from self._build_records(source, found, copy, cast("BinaryIO", again), look)

    def _build_records(
        self, source: Source, found: Format, copy: Copied, stream: BinaryIO, look: Look | None
    ) -> Iterator[ImportResult | ImportFailure]:
        records = found.read(stream)
        first = next(records, None)
        if first is None:
            raise UnknownTranscript(str(source.path), "is empty")
        path = plain_name(source.path)
        if path.suffix == ".jsonl" and found.growth(first) != "directory":
            first = first._replace(unfinished=first.unfinished or document.is_torn_line(first, stream))
        elif first.unfinished and source.chosen is not None and found.growth is not is_log:
            # Whoever names the format says that no more of it is to come.
            first = first._replace(unfinished=False, problem=records_of.parse(first.raw)[1] or first.problem)
        if first.unfinished:
            yield self._unfinished(source, found, first)
            return
        read_once = found.growth(first) == "log"
        if read_once:
            copy.let_go()
        else:
            copy.fill()
        named = Named.of(found, path, first)
        if any(self._is_built(str(header["id"])) for header in (named.header, named.clean)):
            # What was built for the same session is not stored yet, and this file goes on with it.
            yield from self.flush()
        if self._listed is None:
            self._listed = self._store.repository.refs.names(HEADS)
        with Growth(self._store.reader, found, named, listed=self._listed, redact=self._redact) as growth:
            if read_once:
                records = map(growth.clean, chain([first], records))
            else:
                # What became of its beginning shows only at its end, so it is taken as a whole or not at all.
                again = partial(_read_again, first, stream, found)
                records = growth.expect(first, self._unless_stopped(records), again)
            yield from self._grow(source, found, growth, records, stream if read_once else None, look)

    def _unfinished(self, source: Source, found: Format, first: Record) -> ImportResult:
        """Returns what is said of a transcript whose first record is still being written.

        Raises:
            UnknownTranscript: Nothing of it is stored.
        """
        named = Named.of(found, plain_name(source.path), first)
        if found.growth(first) != "directory":
            raise UnknownTranscript(str(source.path), "is cut in its first line")
        for session in (str(header["id"]) for header in (named.header, named.clean)):
            if self._store.reader.find_tip(session) is not None:
                return ImportResult(source.path, found.name, session, 0, branch_created=False, unfinished=True)
        raise UnknownTranscript(str(source.path), "is cut, since its agent is still writing it")

    def _grow(
        self,
        source: Source,
        found: Format,
        growth: Growth,
        records: Iterable[Record],
        stream: BinaryIO | None,
        look: Look | None,
    ) -> Iterator[ImportResult | ImportFailure]:
        """Builds the commits of a file's records, and stores many of them meanwhile.

        The stream tells how far a log was read; what is written anew was read to its end before its first record.
        """
        told = 0
        stopped = False
        for record in records:
            if stream is not None and self.stop():
                stopped = True
                break
            self._batch.add(growth.add(record))
            if self._is_full():
                self._moves |= growth.moves()
                yield from self.flush()
                if growth.branch in self._failed:
                    yield from self._again(source, growth.branch, self._failed[growth.branch])
                    return
            place = told + len(record.raw) + record.newline if stream is None else stream.tell()
            if place != told:
                self._progress(place - told)
                told = place
        if not stopped:
            self._batch.add(growth.end())
        self._moves |= growth.moves()
        lines = [] if stopped else list(growth.abandoned())
        self._moves |= {branch: Move(branch, None, oid, "import: an abandoned line") for branch, oid in lines}
        result = growth.result(source.path, tuple(session_id_of(branch) for branch, _ in lines))
        if stopped and not result.new_commits:
            return
        # It is remembered only if it was read to its end, and looks like what was read.
        now = None if stopped else source.look(found.bundle(source.path, listing))
        if look is None or now is None or now.state != look.state:
            look = None
        self._pending.append(_Pending(source, result, growth.branch, look, growth.refs() | dict(lines)))

    def _unless_stopped(self, records: Iterator[Record]) -> Iterator[Record]:
        for record in records:
            if self.stop():
                raise _Stopped
            yield record

    def _is_built(self, session_id: str) -> bool:
        """Tells whether a branch of a session is to be moved once what was built is stored."""
        derived = derived_prefixes(session_id)
        return branch_of(session_id) in self._moves or any(branch.startswith(derived) for branch in self._moves)

    def _is_full(self) -> bool:
        return len(self._batch) > _BATCH_OBJECTS or self._batch.size > _BATCH_BYTES


def _read_again(first: Record, stream: BinaryIO, found: Format) -> Iterator[Record]:
    """Returns the records of a file once more, the first one as it was judged."""
    return chain([first], islice(from_beginning(stream, found.read), 1, None))
