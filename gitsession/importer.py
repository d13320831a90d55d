"""Taking transcripts in: which files an import is about, of those that are named or lie below a directory.

What a file becomes depends on the file alone, so a second import, here or elsewhere, makes the same commits and finds
them there. FORMAT.md, "Imported transcripts", is the rule.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from gitsession.compressed import open_transcript, plain_name, without_compressed_copies
from gitsession.databases import HEAD_BYTES, is_database
from gitsession.errors import SessionError, UnknownTranscript
from gitsession.files import files_of, first_of_many, may_be_read, walk
from gitsession.import_run import ImportRun, Source, unreadable
from gitsession.opencode_database import find_session, find_sessions
from gitsession.results import ImportFailure, ImportResult
from gitsession.store import Store
from gitsession.transcripts import FORMATS, find_format
from gitsession.transcripts.base import Format

_NO_FILE = "is no file but a pipe or a device; write what it gives to a file, and import that"


def import_transcripts(
    store: Store,
    paths: Iterable[str | os.PathLike[str]],
    *,
    format: str | None = None,  # noqa: A002  # the word of the field, and of the command's option
    redact: bool = False,
    settled: bool = False,
    progress: Callable[[int], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
    takes: Callable[[Path], bool] = lambda _: True,
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
        stop: Is asked between two records whether to end. What was read until then is stored, and yielded; the next
            import goes on from there.
        takes: Is asked of each file below a directory whether it may be a transcript; one that is named always may.

    Raises:
        Unavailable: The store could not finish; what was yielded is stored, and so may more be.
        KeyError: There is no such format.
    """
    chosen = None if format is None else FORMATS[format]
    with ImportRun(store, progress, redact=redact, settled=settled, stop=stop) as run:
        for path in map(Path, [paths] if isinstance(paths, str | os.PathLike) else paths):
            if stop():
                break
            if path.is_dir():
                yield from _import_directory(run, path, chosen, takes)
            elif not may_be_read(path) and path.exists():
                yield ImportFailure(path, UnknownTranscript(str(path), _NO_FILE))
            else:
                yield from run.take(Source(path, chosen))
        yield from run.finish()


def holds_transcripts(
    paths: Iterable[Path],
    *,
    format: str | None = None,  # noqa: A002  # as above
    takes: Callable[[Path], bool] = lambda _: True,
) -> bool:
    """Tells whether an import would find a transcript; it looks no further than the first.

    Args:
        paths: Files, or directories in which transcripts are looked for by their content.
        format: The name of their format; else their content tells.
        takes: Is asked of each file below a directory whether it may be one.
    """
    files = (file for path in paths for file in files_of(path) if file == path or takes(file))
    return any(_is_transcript(file, format) for file in files)


def _is_transcript(file: Path, format_name: str | None) -> bool:
    try:
        if not may_be_read(file):
            return False
        if find_session(file) is not None:
            return True
        with open_transcript(file) as stream:
            if is_database(stream.read(HEAD_BYTES)):
                return bool(find_sessions(file))
            stream.seek(0)
            known = format_name is not None or find_format(stream, plain_name(file).name) is not None
            return known or first_of_many(file, stream) is not None
    except (OSError, SessionError):
        return False


def _import_directory(
    run: ImportRun, path: Path, chosen: Format | None, takes: Callable[[Path], bool]
) -> Iterator[ImportResult | ImportFailure]:
    """Imports the files below a directory that are transcripts, in the order of their names."""
    before = run.taken
    closed: list[OSError] = []
    unknown: list[ImportFailure] = []
    for directory, names in walk(path, closed.append):
        for name in sorted(without_compressed_copies(names)):
            file = directory / name
            if run.stop():
                return
            if file in run.belonging or not takes(file):
                continue
            for done in run.take(Source(file, chosen)) if may_be_read(file) else ():
                if isinstance(done, ImportFailure) and isinstance(done.error, UnknownTranscript) and done.path == file:
                    unknown.append(done)
                else:
                    yield done
    # A file that belongs to a transcript which was found later is none that nobody knows.
    yield from (failure for failure in unknown if failure.path not in run.belonging)
    for error in closed:
        yield unreadable(Path(error.filename), error)
    if run.taken == before and not closed:
        yield ImportFailure(path, UnknownTranscript(str(path), "holds no transcript of a format that is known here"))
