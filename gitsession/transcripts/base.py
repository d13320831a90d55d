"""What a transcript format is: the small interface that each module of this package fills in.

A transcript is read as a *log*: records in the order of the file, each kept verbatim. The *conversation* is a fold of
the log. All functions are pure, over bytes and values: no file is opened here, no clock is read. What does not fit into
memory goes to scratch space that is given, and changes nothing in what comes out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, BinaryIO, Literal, NamedTuple, Protocol

from gitsession.columns import Scratch
from gitsession.model import CompactionEntry, MessageEntry, SessionEntry, SessionMeta
from gitsession.view import View


class Record(NamedTuple):
    """One record of a transcript.

    Attributes:
        raw: Its bytes as they stand in the file, without the line end.
        value: Its parsed JSON; None where it is none.
        line: The number of its first line, from 1; 0 for a record that was read from a store.
        id: The record's own id, where it has one. In a record read from a store: the id of its commit, which is unique.
        timestamp: RFC 3339, where it has one.
        newline: Whether a line end follows. False for the first of two records that stand on one line.
        glued: Whether it goes on in the line of the record before, which was stored as if its line ended there.
        problem: Why it is no proper record of its format, for the user to read; None for a good one.
        unfinished: It is still being written: the last line, which has no line end and does not parse, or a file of a
            folder whose JSON is cut. It is left for the next import.
    """

    raw: bytes
    value: Any = None
    line: int = 0
    id: str | None = None
    timestamp: str | None = None
    newline: bool = True
    glued: bool = False
    problem: str | None = None
    unfinished: bool = False


class AbandonedLine(NamedTuple):
    """A line of conversation that the user left: they went back to an earlier message and asked anew.

    Attributes:
        last: The id of the record with which it ended.
        at: The id of the record that both lines have in common; None where they have none.
    """

    last: str
    at: str | None = None


class Return(NamedTuple):
    """Where a log goes on from another record than the one before, since the user went back.

    Attributes:
        place: The place of the record in the log.
        at: The place of the one that it goes on from; None where it begins anew.
    """

    place: int
    at: int | None


Growth = Literal["log", "document", "directory"]
"""How a transcript grows.

- `log`: records are added at its end.
- `document`: it is written anew. Records replace those with the same id (see `versions`), new ones come after them.
- `directory`: likewise, and new records may come in any place: the fold puts them in order.
"""

Listing = Callable[[PurePath], Sequence[str]]
"""Tells the names of the files in a directory, in order; none where there is no such directory."""


class Log(Protocol):
    """The records of a transcript, in their order. They can be gone through again, and need not be in memory."""

    def __iter__(self) -> Iterator[Record]: ...

    def __getitem__(self, place: int, /) -> Record: ...


Bundled = tuple[PurePath, Sequence[str]]
"""The files that a transcript consists of: the directory that holds them all, and their paths below it.

There is a `/` between the names in a path. The file that the transcript is recognised by comes first.
"""


class Draft(NamedTuple):
    """A session that is to become a transcript which its agent can resume.

    Attributes:
        meta: The session's header; `meta.id` is the session that it comes from.
        id: The id under which the agent is to know it: a UUID, derived from the session and its head.
        cwd: The directory in which the agent is to go on.
        records: The records of this format that the session begins with; none where another agent wrote it.
        entries: What came after them: the conversation, in any provider's shape.
        whole: The records are the whole of a transcript that was never forked, and are written as they are, unless
            what is composed says that it is `rewritten`.
        log: The entries with those of kinds that are not known among them, for a format that keeps any; empty where
            there are none of these.
    """

    meta: SessionMeta
    id: str
    cwd: str
    records: Sequence[Record]
    entries: Sequence[MessageEntry | CompactionEntry]
    whole: bool = False
    log: Sequence[SessionEntry] = ()


class Composed(NamedTuple):
    """A transcript that an agent can resume.

    Attributes:
        lines: Its bytes, line by line. The same draft always gives the same.
        path: Where the agent looks for it, below its own directory.
        resume: The command that resumes it, given where it was put; None where a program of one's own does that.
        prepare: The command that has to run before, given the same; None where the agent reads the file itself.
        rewritten: The lines are to be written although the draft is whole: as it is, it could not be resumed.
        folder: The transcript consists of files: the lines are those of a `bundle`, and `path` is the directory that
            its files are put into.
        entries: What it is made of beside records that stay as they are; None where that is the draft's entries.
    """

    lines: Iterable[bytes]
    path: PurePath
    resume: Callable[[PurePath], tuple[str, ...]] | None
    prepare: Callable[[PurePath], tuple[str, ...]] | None = None
    rewritten: bool = False
    folder: bool = False
    entries: Sequence[MessageEntry | CompactionEntry] | None = None


class Abandoned(Protocol):
    """Finds the lines that the user left behind."""

    def __call__(self, log: Sequence[Record], scratch: Scratch | None = None, /) -> list[AbandonedLine]:
        """Returns the lines of a log.

        Args:
            log: All its records.
            scratch: Where what has to be known of each lies if they are many; None for memory.

        Raises:
            Unavailable: The scratch space is full, or cannot be read.
        """


class Returns(Protocol):
    """Finds where the user went back."""

    def __call__(self, log: Sequence[Record], scratch: Scratch | None = None, /) -> Iterable[Return]:
        """Returns where a log goes on from another record than the one before, in order.

        It takes what `Abandoned` does.
        """


def _never_back(_log: Sequence[Record], _scratch: Scratch | None = None) -> Iterable[Return]:
    return ()


def _bare(record: Record) -> Record:
    return record._replace(raw=b"", value=None)


def is_log(_first: Record) -> Growth:
    """Tells of a format that each transcript in it is a log."""
    return "log"


def _never(_record: Record) -> bool:
    return False


def _unnumbered(_record: Record) -> int | None:
    return None


def _alone(_path: PurePath, _listing: Listing) -> Bundled | None:
    return None


def _itself(path: PurePath) -> PurePath:
    return path


def _no_companion(_path: PurePath) -> bool:
    return False


def _of_none(_path: PurePath, _listing: Listing) -> PurePath | None:
    return None


class TextRules(NamedTuple):
    """Those functions of a format by which the text of a commit, and a title, are made; see `Format`."""

    header: Callable[[PurePath, Record], Mapping[str, Any]]
    learn: Callable[[Mapping[str, Any], Record], Mapping[str, Any]]
    view: Callable[[Record], View]


@dataclass(frozen=True, slots=True)
class Format:
    """One agent's transcript format.

    Attributes:
        name: As `--format` takes it, such as `claude-code`.
        title: As a person calls the agent.
        recognise: Tells from the beginning of a file, and its name, whether it is in this format.
        read: Splits a file, open for reading bytes at its beginning, into its records; yields them as it reads. It may
            go back in the file where the transcript is a document.
        header: The header fields (`id` at least) that the file's path and its first record tell. It must not depend
            on the records that follow, so that a file gives the same session however much of it there was.
        learn: The header after one more record: the same mapping if the record tells nothing new (a title, a working
            directory, where it was forked from), else a new one.
        view: Who speaks in a record and what it says, for the commit's text. Its output is a part of the store's
            format: it never changes for a record once released.
        fold: The conversation of a log: message entries, and compactions; entries of other kinds only where a store has
            such, too, or for what the agent shows and no model may be sent. Ids are those of the records.
        abandoned: The lines that the user left behind, in the order in which they ended; only real ones. It takes the
            whole log, and where to keep what it has to know of each record, if there are many.
        returns: Where the user went back to in these. It takes the same, and what is in no line goes with what is
            before it.
        write: The bytes of a transcript from its records: what `read` took apart. It keeps little of them.
        outline: A record with as much of it as `abandoned` and `returns` look at; it is kept while the whole file is
            read. By default nothing: no line is ever abandoned.
        growth: How the transcript grows, told from its first record.
        names_itself: Tells from the first record of a transcript that is written anew whether the id in its header is
            one that no other session has, and not the name of its file.
        takes_back: Tells from the outline of the first record of a transcript that is written anew whether it takes
            messages back. Then `abandoned` is given all states of the records that are stored, as a log.
        ordinal: The number of a record, by which a fork that holds only what came after says where it goes on from;
            None where a record has none.
        bundle: The files that a transcript consists of, given the path of the one that was recognised and a function
            that lists directories. Such a transcript is read as a `bundle`. None for a transcript that is one file.
        folder: The path by which a person knows a transcript, given that of the file by which it is recognised: the
            file, or the folder that is all its own.
        owner: The file by which the bundle is recognised that a file belongs to, given its path and a function that
            lists directories; None for any other file. It is the file itself where nothing but its place in a folder
            tells, and then `recognise` is asked of it as the first line of a bundle.
        companion: Tells from a file's path whether it is one that the agent keeps beside a transcript, and none itself:
            what a subagent was started for, the whole of an output. It is passed over in a directory.
        places: Where the agent keeps its transcripts: directories, or single files. Written as in a shell: `~` is the
            home directory, `${NAME:-…}` the environment variable that moves a directory, with what holds without it,
            and `*` in the last part whatever is there. Whoever uses them reads the environment; this package does not.
        names: What the agent's own files in these directories are called, as patterns of a shell; what else lies there
            (copies of an editor's, backups, other files of the agent's) is no transcript of its own.
        pieces: Where the other files of its bundles lie, which change when a transcript grows. Written likewise.
        compose: Makes a transcript that the agent can resume, as its own fork would: the records verbatim but for
            what must be new in a fork, then the entries as records of the agent's kind. Nothing in it may come from a
            clock or from chance: times are those of the session, ids are derived from the draft's. None for a format
            whose agent cannot resume a file.
        text: The number of the rules that `header`, `learn` and `view` follow, which a session keeps for ever.
        former: Those of earlier numbers, for the sessions that were begun with them.
    """

    name: str
    title: str
    recognise: Callable[[bytes, str], bool]
    read: Callable[[BinaryIO], Iterator[Record]]
    header: Callable[[PurePath, Record], Mapping[str, Any]]
    learn: Callable[[Mapping[str, Any], Record], Mapping[str, Any]]
    view: Callable[[Record], View]
    fold: Callable[[Sequence[Record]], Sequence[SessionEntry]]
    abandoned: Abandoned
    write: Callable[[Log], Iterator[bytes]]
    outline: Callable[[Record], Record] = _bare
    returns: Returns = _never_back
    growth: Callable[[Record], Growth] = is_log
    names_itself: Callable[[Record], bool] = _never
    takes_back: Callable[[Record], bool] = _never
    ordinal: Callable[[Record], int | None] = _unnumbered
    bundle: Callable[[PurePath, Listing], Bundled | None] = _alone
    folder: Callable[[PurePath], PurePath] = _itself
    owner: Callable[[PurePath, Listing], PurePath | None] = _of_none
    companion: Callable[[PurePath], bool] = _no_companion
    places: tuple[str, ...] = ()
    names: tuple[str, ...] = ("*",)
    pieces: tuple[str, ...] = ()
    compose: Callable[[Draft], Composed] | None = None
    text: int = 1
    former: tuple[tuple[int, TextRules], ...] = ()

    def at(self, text: int) -> "Format":
        """Returns the format with the rules of a number, or of the last one before it that changed something here."""
        if text >= self.text:
            return self
        number, rules = max(one for one in self.former if one[0] <= text)
        return replace(self, text=number, **rules._asdict())
