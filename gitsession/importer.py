"""Taking transcripts in: each record of a file one commit, in the order of the file, verbatim and once.

What a file becomes depends on the file alone, so a second import, here or elsewhere, makes the same commits and finds
them there. FORMAT.md, "Imported transcripts", is the rule.

A file that is a log is read as a stream: memory holds its largest record, and 30 MB or less besides, whatever the file:
the objects that are not stored yet, and what was used last of what is known of the records (their ids as digests, their
commits, their places among the others), by which ids are made unique and abandoned lines found. All of that, up to some
200 bytes a record, lies in scratch space in the store while the file is read. What a result tells (faults, secrets,
abandoned lines) is held, in some 100 to 1,000 bytes each. A transcript that is written anew when it grows is held whole.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path, PurePath
from typing import BinaryIO, Self

from gitsession.compressed import open_transcript, plain_name, without_compressed_copies
from gitsession.databases import HEAD_BYTES, is_database
from gitsession.errors import SessionError, SessionExists, Unavailable, UnknownTranscript, UnreadableDatabase
from gitsession.files import listing, walk, whole
from gitsession.growth import Growth, Named
from gitsession.import_cache import Asked, ImportCache, Look
from gitsession.layout import HEADS, branch_of, derived_prefixes, session_id_of
from gitsession.opencode_database import StoredSession, belonging, find_session, find_sessions, open_session
from gitsession.repo.batch import GrowingBatch
from gitsession.repo.refs import OWN_DIRECTORY, RefBlocked, RefMoved
from gitsession.repo.repository import Move
from gitsession.results import ImportFailure, ImportResult
from gitsession.store import Store
from gitsession.transcripts import FORMATS, find_format
from gitsession.transcripts.base import Format, Record

# A batch is stored when it has grown to this: memory holds its index, and a crash loses no more than it.
_BATCH_OBJECTS = 50_000
_BATCH_BYTES = 64 * 1024 * 1024

# How often the import of a file is begun anew when another program writes to its session at the same moment.
_ATTEMPTS = 5


def import_transcripts(
    store: Store,
    paths: Iterable[str | os.PathLike[str]],
    *,
    format: str | None = None,  # noqa: A002  # the word of the field, and of the command's option
    redact: bool = False,
    settled: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Iterator[ImportResult | ImportFailure]:
    """Imports transcripts, and yields what became of each once that is stored.

    Args:
        store: Where they go.
        paths: Files, or directories in which transcripts are looked for by their content; a database is taken like a
            directory, and a session in it has a path as if it were one.
        format: The name of their format; else their content tells.
        redact: Whether what looks like a secret is replaced by a mark that tells its kind. It goes on to be for a
            session to which it was done once.
        settled: Whether a session in a database is left for later while its agent is at work on it.
        progress: Is told how many bytes were read since the last time.

    Raises:
        Unavailable: The store could not finish; what was yielded is stored, and so may more be.
        KeyError: There is no such format.
    """
    chosen = None if format is None else FORMATS[format]
    with _Import(store, progress, redact=redact, settled=settled) as run:
        for path in map(Path, [paths] if isinstance(paths, str | os.PathLike) else paths):
            if path.is_dir():
                yield from _import_directory(run, path, chosen)
            elif not _may_be_read(path) and path.exists():
                yield ImportFailure(path, UnknownTranscript(str(path), _NO_FILE))
            else:
                yield from run.take(_Source(path, chosen))
        yield from run.finish()


def holds_transcripts(paths: Iterable[Path], *, format: str | None = None) -> bool:  # noqa: A002  # as above
    """Tells whether an import would find a transcript; it looks no further than the first.

    Args:
        paths: Files, or directories in which transcripts are looked for by their content.
        format: The name of their format; else their content tells.
    """
    return any(_is_transcript(file, format) for path in paths for file in _files(path))


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
    for directory, names in walk(path):
        yield from (directory / name for name in names)


def _is_transcript(file: Path, format_name: str | None) -> bool:
    try:
        if not _may_be_read(file):
            return False
        if find_session(file) is not None:
            return True
        with open_transcript(file) as stream:
            if is_database(stream.read(HEAD_BYTES)):
                return bool(find_sessions(file))
            stream.seek(0)
            return format_name is not None or find_format(stream, plain_name(file).name) is not None
    except (OSError, SessionError):
        return False


def _import_directory(run: "_Import", path: Path, chosen: Format | None) -> Iterator[ImportResult | ImportFailure]:
    """Imports the files below a directory that are transcripts, in the order of their names."""
    before = run.taken
    closed: list[OSError] = []
    unknown: list[ImportFailure] = []
    for directory, names in walk(path, closed.append):
        for name in sorted(without_compressed_copies(names)):
            file = directory / name
            if file in run.belonging:
                continue
            for done in run.take(_Source(file, chosen)) if _may_be_read(file) else ():
                if isinstance(done, ImportFailure) and isinstance(done.error, UnknownTranscript) and done.path == file:
                    unknown.append(done)
                else:
                    yield done
    # A file that belongs to a transcript which was found later is none that nobody knows.
    yield from (failure for failure in unknown if failure.path not in run.belonging)
    for error in closed:
        yield _unreadable(Path(error.filename), error)
    if run.taken == before and not closed:
        yield ImportFailure(path, UnknownTranscript(str(path), "holds no transcript of a format that is known here"))


def _look(path: Path, bundled: tuple[PurePath, Sequence[PurePath]] | None) -> Look:
    """Returns what a transcript looks like now that is one file, or many."""
    return Look.at([path] if bundled is None else [path, *map(Path, bundled[1])])


_NO_FILE = "is no file but a pipe or a device; write what it gives to a file, and import that"


def _may_be_read(path: Path) -> bool:
    """Tells whether a path is a file: to open a pipe or a socket could take for ever."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # opening it tells what is wrong


def _unreadable(path: Path, error: OSError) -> ImportFailure:
    return ImportFailure(path, UnknownTranscript(str(path), f"cannot be read: {error.strerror or error}"))


@dataclass(frozen=True, slots=True)
class _Source:
    """A file that is to be imported, or a session in a database, and how often it was begun."""

    path: Path
    chosen: Format | None
    attempt: int = 0
    stored: StoredSession | None = None

    def look(self, bundled: tuple[PurePath, Sequence[PurePath]] | None) -> Look:
        """Returns what it looks like now; a session, what it looked like when its database was listed."""
        return _look(self.path, bundled) if self.stored is None else self.stored.look


@dataclass(slots=True)
class _Pending:
    """A file whose commits are built and not stored yet."""

    source: _Source
    result: ImportResult
    branch: str
    look: Look | None
    refs: Mapping[str, str | None]


class _Import:
    """One run of an import: commits are built file by file, and stored many files at a time."""

    def __init__(self, store: Store, progress: Callable[[int], None], *, redact: bool, settled: bool) -> None:
        self.taken = 0
        self._redact = redact
        self._settled = settled
        self._cache = ImportCache(store.path / OWN_DIRECTORY)
        self.belonging: set[Path] = set()  # the files of transcripts that consist of many
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

    def take(self, source: _Source) -> Iterator[ImportResult | ImportFailure]:
        """Builds the commits of one file, and yields what was stored meanwhile."""
        known = self._unchanged(source)
        if known is not None:
            self.taken += 1
            yield known
            return
        try:
            stored = source.stored or find_session(source.path)
            if stored is not None:
                self.taken += 1
                with open_session(stored) as (opened, seen):
                    yield from self._build(replace(source, stored=stored), FORMATS["opencode"], opened, seen)
                return
            before = Look.at([source.path])
            with open_transcript(source.path) as stream:
                if is_database(stream.read(HEAD_BYTES)):
                    yield from self._take_database(source)
                    return
                stream.seek(0)
                found = source.chosen or find_format(stream, plain_name(source.path).name)
                stream.seek(0)
                if found is None:
                    yield from self._take_owner(source, stream.read(1024))
                    return
                self.taken += 1
                bundled = found.bundle(source.path, listing)
                if bundled is not None:
                    self.belonging.update(Path(path) for path in bundled[1])
                look: Look | None = before if bundled is None else _look(source.path, bundled)
                if Look.at([source.path]).state != before.state:
                    look = None  # another file has its name now than the one that is open
                yield from self._build(source, found, whole(source.path, bundled, stream), look)
        except OSError as error:
            yield _unreadable(source.path, error)
        except Unavailable:
            raise
        except SessionError as error:
            yield ImportFailure(source.path, error)
        if self._is_full():
            yield from self.flush()

    def _take_database(self, source: _Source) -> Iterator[ImportResult | ImportFailure]:
        """Takes the sessions in a database, up to the first that tells that none of the others can be read either."""
        if source.chosen not in (None, FORMATS["opencode"]):
            raise UnknownTranscript(str(source.path), "is a database, in which only opencode keeps sessions")
        found = find_sessions(source.path)
        self.belonging.update(belonging(found))
        for stored in (one for one in found if not (self._settled and one.is_at_work)):
            for done in self.take(replace(source, path=stored.path, stored=stored)):
                yield done
                error = done.error if isinstance(done, ImportFailure) else None
                if isinstance(error, UnreadableDatabase) and error.path == str(source.path):
                    return

    def _take_owner(self, source: _Source, head: bytes) -> Iterator[ImportResult | ImportFailure]:
        """Takes the transcript that a file belongs to which is none by itself."""
        owners = (one.owner(source.path, listing) for one in FORMATS.values())
        owner = next((Path(one) for one in owners if one is not None), None)
        if owner is None or owner == source.path:
            raise UnknownTranscript(str(source.path), _looks_like(head))
        if owner not in self.belonging:
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
        self, source: _Source, branch: str, error: RefMoved | RefBlocked
    ) -> Iterator[ImportResult | ImportFailure]:
        """Begins anew with a file whose branch could not be moved, if that can help."""
        if isinstance(error, RefBlocked):
            blocked = SessionExists(session_id_of(branch), error.blocker.removeprefix(HEADS))
            yield ImportFailure(source.path, blocked)
        elif source.attempt == _ATTEMPTS:
            raise Unavailable(f"another program keeps writing to the session of {source.path}; try again")
        else:
            yield from self.take(replace(source, attempt=source.attempt + 1))

    def _asked(self, source: _Source) -> Asked:
        return Asked(None if source.chosen is None else source.chosen.name, self._redact)

    def _unchanged(self, source: _Source) -> ImportResult | None:
        """Returns what an import of a file would say that did not change since the last one; None if it may have."""
        found = FORMATS.get(self._cache.format_of(source.path) or "")
        if found is None:
            return None
        try:
            bundled = found.bundle(source.path, listing)
            look = source.look(bundled)
            known = self._cache.find(source.path, look, self._asked(source))
            if known is None:
                return None
            refs = self._store.repository.refs
            if any(refs.find(HEADS + branch) != oid for branch, oid in known.refs.items()):
                return None
        except (OSError, SessionError):
            return None  # reading it will tell
        if bundled is not None:
            self.belonging.update(map(Path, bundled[1]))
        self._progress(look.size)
        return known.result

    def _build(
        self, source: _Source, found: Format, stream: BinaryIO, look: Look | None
    ) -> Iterator[ImportResult | ImportFailure]:
        records = found.read(stream)
        first = next(records, None)
        if first is None or first.unfinished:
            raise UnknownTranscript(str(source.path), "is empty" if first is None else "is cut in its first line")
        path = plain_name(source.path)
        named = Named.of(found, path, first)
        if any(self._is_built(str(header["id"])) for header in (named.header, named.clean)):
            # What was built for the same session is not stored yet, and this file goes on with it.
            yield from self.flush()
        if self._listed is None:
            self._listed = self._store.repository.refs.names(HEADS)
        with Growth(self._store.reader, found, named, listed=self._listed, redact=self._redact) as growth:
            yield from self._grow(source, found, growth, first, records, stream, look)

    def _grow(
        self,
        source: _Source,
        found: Format,
        growth: Growth,
        first: Record,
        records: Iterator[Record],
        stream: BinaryIO,
        look: Look | None,
    ) -> Iterator[ImportResult | ImportFailure]:
        """Builds the commits of a file's records, and stores many of them meanwhile."""
        told = 0
        records = map(growth.clean, chain([first], records))
        if found.growth(first) != "log":
            # What became of its beginning shows only at its end.
            read = list(records)
            growth.expect([record for record in read if not record.unfinished])
            records = iter(read)
        for record in records:
            if record.unfinished:
                growth.unfinished = True
                break
            self._batch.add(growth.add(record))
            if self._is_full():
                self._moves |= growth.moves()
                yield from self.flush()
                if growth.branch in self._failed:
                    yield from self._again(source, growth.branch, self._failed[growth.branch])
                    return
            if (place := stream.tell()) != told:
                self._progress(place - told)
                told = place
        self._moves |= growth.moves()
        lines = list(growth.abandoned())
        self._moves |= {branch: Move(branch, None, oid, "import: an abandoned line") for branch, oid in lines}
        result = growth.result(source.path, tuple(session_id_of(branch) for branch, _ in lines))
        # It is remembered only if it looks like what was read.
        if look is not None and source.look(found.bundle(source.path, listing)).state != look.state:
            look = None
        self._pending.append(_Pending(source, result, growth.branch, look, growth.refs() | dict(lines)))

    def _is_built(self, session_id: str) -> bool:
        """Tells whether a branch of a session is to be moved once what was built is stored."""
        derived = derived_prefixes(session_id)
        return branch_of(session_id) in self._moves or any(branch.startswith(derived) for branch in self._moves)

    def _is_full(self) -> bool:
        return len(self._batch) > _BATCH_OBJECTS or self._batch.size > _BATCH_BYTES


def _looks_like(head: bytes) -> str:
    """Says what a file is that is no transcript."""
    if not head:
        return "is empty"
    if b"\0" in head:
        return "is a binary file, and no transcript"
    return "is no transcript of a format that is known here; see `gitsession formats`"
