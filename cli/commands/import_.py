"""`gitsession import`."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from gitsession import (
    FORMATS,
    ImportFailure,
    ImportResult,
    Store,
    holds_transcripts,
    import_bundle,
    import_transcripts,
)

from .. import options, syncing
from ..errors import NothingToImport, exit_code, report
from ..hooks import import_for_hook
from ..import_report import Tally, as_json, held_note
from ..output import note, progress_bar, shows_progress, stored, write, write_json
from ..places import places, takes_own_files
from ..signals import asked
from ..stdin import from_stdin
from ..text import count, one_line

# How much of a file tells its format.
_HEAD_BYTES = 64 * 1024


@options.command(
    "import",
    examples=(
        "gitsession import",
        "gitsession import ~/.claude/projects",
        "gitsession import session.jsonl",
        "gitsession import ~/.local/share/opencode/opencode.db",
        "gitsession import --format claude-code session.jsonl",
        "gitsession import --redact session.jsonl",
        "cat session.jsonl | gitsession import - --name session.jsonl",
    ),
    writes=True,
)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=options.PATH)
@click.option("--format", "name", type=click.Choice([*FORMATS]), help="What the files are; else their content tells.")
@click.option("--redact", is_flag=True, help="Leave secrets out, with a mark in place of each.")
@click.option("--name", "stdin_name", metavar="FILE", help="What the file is called that comes on stdin.")
@click.option("--hook", metavar="AGENT", help="For an agent's hook: stdin says what to import; never fail.")
def command(
    settings: options.Settings,
    paths: tuple[Path, ...],
    name: str | None,
    redact: bool,
    stdin_name: str | None,
    hook: str | None,
) -> None:
    """Import transcripts of coding agents.

    PATH is a file, or a directory in which transcripts are found by their content, but in no git directory. Without
    one, all is taken that the agents on this machine left where they keep it; `gitsession formats` shows the places. Of
    what lies there, only what is called as the agent's own files are: no copy, no backup, no other file of the agent's.
    aider keeps its file where it works: it is looked for in the current directory, or where AIDER_CHAT_HISTORY_FILE
    says; and in ~/.aider/sessions, where `gitsession export --install` puts one.
    Each record becomes one commit, as it stands; importing again adds what is new. The store is made if there is none,
    and a transcript to put into it.

    Of opencode's database each session is taken, called opencode.db/SESSION, as if it were a file in it: it is the one
    that `opencode export` prints. A PATH may be one of them. The database may be in use, and is never written to.

    `-` is a transcript on stdin. It needs the --name of its file, by which most formats name the session.

    The file's name and its first record tell its session. A file that does not go on where the session stands (it was
    rewritten, or is another one of the same name) is put beside it: as SESSION.ID, whose parent SESSION is.

    A line of conversation that the user left (by a rewind, or by asking anew) becomes a session of its own; its name is
    printed below that of its file, behind `left`.

    What is no transcript is named on stderr, and the rest is imported. The exit code tells of it where it is a PATH
    that you gave, and not where it only lies in a directory. Of a database that cannot be read it always does. Without
    a PATH, files of which the same is wrong are named together, by the first of them. A file that is compressed with
    Zstandard, as Codex does with older ones, needs the extra `zstd`, or Python 3.14.

    Ctrl-C or SIGTERM ends it at the next record: what was read until then is stored, and summed up, and the next import
    goes on from there. The exit code is 130, or 143. A second one ends it at once; then less may be stored.

    A PATH that ends in .bundle is what `gitsession bundle` wrote; its sessions are taken, and printed, as by `pull`.

    Secrets (API keys, tokens, private keys, passwords, logins) are counted, with a warning, and stored. With --redact
    they are not: `[redacted:KIND]` stands in place of each, and goes on to for such a session, also without --redact.
    A session that was stored before with its secrets stays as it is; the redacted one is put beside it, and how to take
    the old one out is said on stderr.

    With --hook it reads the JSON that an agent gives its hooks, from stdin or as the argument, and imports the
    transcript that it names, or that of the session that it names, and nothing else. What goes wrong is a line on
    stderr, and so is what was stored of secrets; stdout stays empty, and the exit code is 0 unless it is interrupted;
    see `gitsession hook`.

    With --json each file is an object: path, session, format, new_commits, branch_created, problems (each with line
    and reason), abandoned (the sessions of abandoned lines), rewritten_from, unfinished, behind (the session holds a
    later state than the file), secrets (each with line and kind; line 0 is the file's name), redacted, held_in
    (sessions, stored before, that may hold what was left out); or path, skipped. Without a PATH, first each place:
    place, format, files. There are no notes of these on stderr then.
    """
    if hook is not None:
        import_for_hook(settings, hook, [*map(str, paths)], redact=redact)
        return
    bundles = [path for path in paths if path.suffix == ".bundle" and path.is_file()]
    for path in bundles:
        with syncing.reported(as_json=settings.json) as tell:
            tell(import_bundle(settings.make(), path, progress=syncing.progress()))
    if bundles and len(bundles) == len(paths):
        return
    paths = tuple(path for path in paths if path not in bundles)
    tally = Tally(paths, quiet=not paths)
    with from_stdin(paths, stdin_name) as (files, named), _told(settings, tally), asked() as stop:
        for found in _imported(settings, files, name, stop.is_set, redact=redact):
            done = named(found)
            tally.add(done)
            if name is not None and isinstance(found, ImportResult) and _is_misnamed(settings.opened, found):
                tally.notes.append(
                    f"{done.path}: --format says {name}, and no record in it is one that is known of that"
                )
            if tally.commits:
                stored("what was imported")
            if settings.json:
                write_json([as_json(done)])
    stop.end()
    if tally.error is not None:
        if settings.json:
            report(tally.error, as_json=True)
        click.get_current_context().exit(exit_code(type(tally.error)))


@contextmanager
def _told(settings: options.Settings, tally: Tally) -> Iterator[None]:
    """Tells what was done, also where that was ended; but where it is printed as JSON, which says it all itself.

    Notes come after the progress bar, whose line they would break; and also of what was done before an error.
    """
    ended: KeyboardInterrupt | None = None
    try:
        yield
    except KeyboardInterrupt as error:
        ended = error
    finally:
        if not settings.json:
            tally.tell()
    if not settings.json:
        if tally.held_in and settings.opened and (told := held_note(settings.opened, tally.held_in)):
            note(told)
        write([*tally.lines, str(tally)])
    if ended is not None:
        raise ended


def _is_misnamed(store: Store | None, done: ImportResult) -> bool:
    """Tells whether a file neither looks like the format that was named, nor says anything in it."""
    try:
        with done.path.open("rb") as file:
            looks_so = FORMATS[done.format].recognise(file.read(_HEAD_BYTES), done.path.name)
    except OSError:  # it is a session in a database, or gone
        return False
    return store is not None and not looks_so and not store.messages(done.session)


def _places(settings: options.Settings) -> list[Path]:
    """Returns the places where agents left files, and says what is there."""
    known = [*places()]
    found = [place for place in known if place.files]
    if not found:
        raise NothingToImport([str(place.path) for place in known])
    for place in found:
        if settings.json:
            write_json([{"place": str(place.path), "format": place.format.name, "files": place.files}])
        else:
            write([f"{place.format.title}: {count(place.files, 'file')} in {one_line(str(place.path))}"])
    return [place.path for place in found]


def _imported(
    settings: options.Settings, paths: Sequence[Path], name: str | None, stop: Callable[[], bool], *, redact: bool
) -> Iterator[ImportResult | ImportFailure]:
    """Imports what the paths name, behind a progress bar on a terminal, and yields what became of each file.

    Without any it is what the agents have left, and of that only what is called as their own files are.
    """
    own = not paths
    paths = paths or _places(settings)
    total = sum(map(_size, paths)) if shows_progress() else 0
    with progress_bar("Importing", total) as bar:
        takes = takes_own_files() if own else lambda _: True
        if not settings.is_there and not holds_transcripts(paths, format=name, takes=takes):
            failures = _failures(paths, name, takes)
            if failures:
                yield from failures
                return
        yield from import_transcripts(
            settings.make(), paths, format=name, redact=redact, progress=bar.update, stop=stop, takes=takes
        )


def _failures(paths: Sequence[Path], name: str | None, takes: Callable[[Path], bool]) -> list[ImportFailure]:
    """Returns why nothing can be imported, told by a store for the moment; nothing if a transcript has come since."""
    with TemporaryDirectory() as directory:
        store = Store.init(Path(directory, "store.git"), durable=False)
        done = [*import_transcripts(store, paths, format=name, takes=takes)]
    failures = [one for one in done if isinstance(one, ImportFailure)]
    return failures if len(failures) == len(done) else []


def _size(path: Path) -> int:
    """Returns how many bytes a file has, or all files below a directory; what cannot be read counts as nothing."""
    if path.is_dir():
        return sum(_size(Path(directory, name)) for directory, _, names in os.walk(path) for name in names)
    try:
        return path.stat().st_size
    except OSError:
        return 0
