"""`gitsession export`."""

import errno
import json
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count, groupby
from pathlib import Path
from tempfile import SpooledTemporaryFile

import click

from gitsession import (
    FORMATS,
    RESUMABLE,
    Export,
    Loss,
    Message,
    MissingHistory,
    Store,
    TranscriptExists,
    build_context,
    export_transcript,
    install_transcript,
    langchain_messages,
    losses,
    normalized,
    openai_messages,
)

from .. import options
from ..agent_homes import INSTALLABLE, agent_path
from ..markdown import markdown
from ..output import note, stored, write, write_bytes, write_json
from ..text import one_line

# What is kept in memory of an export before a temporary file is made, in bytes.
SPOOLED = 16 * 1024 * 1024


def _jsonl(store: Store, session_id: str, at: str | None) -> Iterator[bytes]:
    return iter(store.transcript(session_id, at=at))


def _verbatim(store: Store, session_id: str, at: str | None) -> Iterator[bytes]:
    return (text + b"\n" for text in store.messages(session_id, at=at).texts)


def _messages(store: Store, session_id: str, at: str | None) -> Iterator[bytes]:
    return _lines(normalized(store.load(session_id, at=at)))


def _context(store: Store, session_id: str, at: str | None) -> Iterator[bytes]:
    return _lines(build_context(store.load(session_id, at=at)))


def _markdown(store: Store, session_id: str, at: str | None) -> Iterator[bytes]:
    lines = markdown(store.info(session_id, at=at), normalized(store.load(session_id, at=at)))
    return ((line + "\n").encode() for line in lines)


def _original(store: Store, session_id: str, at: str | None) -> Iterator[bytes]:
    return iter(store.original(session_id, at=at))


def _lines(messages: Iterable[Message]) -> Iterator[bytes]:
    return (json.dumps(message).encode() + b"\n" for message in messages)


# What writes a format that holds all there is.
WRITERS: Mapping[str, Callable[[Store, str, str | None], Iterable[bytes]]] = {
    "jsonl": _jsonl,
    "messages": _messages,
    "verbatim": _verbatim,
    "context": _context,
    "markdown": _markdown,
    "original": _original,
}
# Those of them that are the log.
LOGS = ("jsonl", "original")
# Whose requests a format is for, and what makes them of what a model is shown.
REQUESTS: Mapping[str, tuple[str, Callable[[list[Message]], Iterable[Message]]]] = {
    "openai": ("OpenAI's chat API", openai_messages),
    "langchain": ("LangChain", langchain_messages),
}
NAMES = (*WRITERS, *REQUESTS, *RESUMABLE)


@options.command(
    "export",
    examples=(
        "gitsession export fix-login > fix-login.jsonl",
        "gitsession export fix-login --format markdown --at '#1'",
        "gitsession export fix-login --format verbatim | gitsession append --parent '' a-copy",
        "gitsession export fix-login --format claude-code --install",
    ),
)
@options.session
@options.at
@click.option("--format", "name", type=click.Choice(NAMES), default="jsonl", show_default=True)
@click.option("--install", is_flag=True, help="Put it where the agent looks, and print the command that resumes it.")
@click.option(
    "--cwd",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="With --install: the directory in which the agent goes on.  [default: that of the session, or this one where "
    "that is not here]",
)
def command(
    settings: options.Settings, session: str, at: str | None, name: str, install: bool, cwd: Path | None
) -> None:
    """Write a session to stdout, or to where an agent can resume it.

    Nothing is written if the session cannot be read to its end.

    \b
    jsonl        the log as it is stored, one entry a line
    messages     the conversation, one message a line, all in one shape (below)
    verbatim     the conversation, one message a line, each in the shape that its program or agent gave it
    context      what a model is shown, from the last compaction on: one message a line, verbatim too
    openai       the same, one message a line, as OpenAI's chat API takes it
    langchain    the same, one message a line, as LangChain's messages_from_dict reads it, to go on with in a graph
    markdown     the conversation as a document
    original     the transcript that was imported, byte for byte
    claude-code, codex, pi, gemini, opencode, copilot, droid, openhands, aider, modular-agent
                 a transcript that the agent can resume: the imported one as it is; a fork of it at an earlier
                 revision, or with what was added, under a new id, as of one that the agent would not know by its
                 own (a subagent's, a file of Claude Code's that was renamed); or one made of the conversation

    A line of messages, like one of `show --json`, is an object with these keys; the first four are always there:

    \b
    id, timestamp      the entry it is from; when it was said, ISO 8601 in UTC, or null
    role               user, assistant, system, or tool for the result of a call
    content            a text, or a list of parts: {"type": "text", "text"},
                       {"type": "image_url", "image_url": {"url"}}, {"type": "file", "file": {"filename", "file_data"}}
    reasoning          what the model thought; reasoning_details has the signatures of its provider
    tool_calls         each {"id", "type": "function", "function": {"name", "arguments"}}, the arguments JSON as a text
    tool_call_id       of a result: the call it is of; name is the tool's, is_error true where it failed
    model              which model spoke
    meta               true for what nobody typed or said: injected context, notices of the agent, compactions
    type               of a meta line that is no message: compaction, or what an entry of another kind calls itself

    A fork of Codex's may hold only what came after it. The conversation begins with what it inherits, from the session
    that it goes on from; where the store does not have that, a line on stderr says so (with --install --json also
    missing_history, its id). The log, the original, and the transcript for Codex itself are the fork alone.

    What an agent, or a provider, has no place for is left out, or stands in the text, and a line on stderr tells how
    much of it; the README has a table of what.

    OpenHands keeps a folder: on stdout each of its files is a line, {"path": …, "text": …}, which can be imported. A
    trajectory of its older web application, which resumes none, becomes a conversation of its command.

    --install writes no file that is there already, and none of a session without messages. Where the agent went on
    with what was put there before, it is put there once more, under another id. An agent looks for a session
    from the directory in which it was; where that is not on this machine, the session is put where it looks from here.
    opencode looks for no file: its own goes to opencode/import in your data directory, and it is told to import that;
    aider's goes to ~/.aider/sessions, and it is told to restore that. Newer versions of Gemini CLI delete old sessions
    when they start, this one too (general.sessionRetention in its settings): resume an old one at once, or turn that
    off. Where modular-agent looks, the program says that embeds it. With --json it prints an object: path, written,
    cwd, prepare, resume, left_out, as_text; prepare is a command that has to run before, mostly none. Without
    --install, --json changes nothing but how an error is told.
    """  # noqa: D301  # click takes a backspace for a mark that what follows is not to be wrapped
    store = settings.open()
    session_id = store.find(session)
    if install:
        _install(store, session_id, at, name, cwd, as_json=settings.json)
        return
    if cwd is not None:
        raise click.UsageError("--cwd is for --install")
    lines, lost, missing = _written(store, session_id, at, name)
    # Spooled, so that half a session never passes for a whole one.
    with SpooledTemporaryFile(SPOOLED) as spool:
        spool.writelines(lines)
        spool.seek(0)
        write_bytes(spool, paged=True)
    _warn(name, lost, missing)


def _written(
    store: Store, session_id: str, at: str | None, name: str
) -> tuple[Iterable[bytes], Sequence[Loss], MissingHistory | None]:
    """Returns a session in a format, what that has no place for, and what the store has not."""
    if name in RESUMABLE:
        made = export_transcript(store, session_id, name, at=at)
        return made.lines, made.losses, made.missing
    missing = None if name in LOGS else store.missing_history(session_id, at=at)
    if name in REQUESTS:
        entries = store.load(session_id, at=at)
        return _lines(REQUESTS[name][1](build_context(entries))), losses(name, entries), missing
    return WRITERS[name](store, session_id, at), (), missing


def _warn(name: str, lost: Sequence[Loss], missing: MissingHistory | None) -> None:
    """Says what the store has not, what the format has no place for, and what became of it."""
    if missing is not None:
        note(f"left out: {one_line(str(missing))}")
    told = [f"{fate}: {', '.join(map(str, found))}" for fate, found in groupby(lost, lambda one: one.fate)]
    if told:
        whose = REQUESTS[name][0] if name in REQUESTS else FORMATS[name].title
        note(f"{'; '.join(told)} ({whose} has no place for them)")


def _install(store: Store, session_id: str, at: str | None, name: str, cwd: Path | None, *, as_json: bool) -> None:
    if name not in INSTALLABLE:
        raise click.UsageError(f"--install needs the --format of an agent: {', '.join(INSTALLABLE)}")
    here = os.fspath(Path.cwd() if cwd is None else cwd.absolute())
    own = store.info(session_id, at=at).meta.extra.get("cwd")
    gone = isinstance(own, str) and not os.path.isdir(own)  # noqa: PTH112  # raises on no name, however long
    if gone and cwd is None:
        note(f"the directory of the session is not here: {one_line(str(own))}; it goes on in this one, or in --cwd DIR")
    chosen = here if gone or cwd is not None else None
    made, path, written = _put(
        lambda number: export_transcript(store, session_id, name, at=at, cwd=here, directory=chosen, number=number)
    )
    stored(f"the transcript at {one_line(str(path))}")
    prepare, resume = made.prepare(path), made.resume(path)
    if as_json:
        told = {"path": str(path), "written": written, "cwd": made.cwd, "prepare": [*prepare], "resume": [*resume]}
        lost = {fate.replace(" ", "_"): _amounts(made.losses, fate) for fate in ("left out", "as text")}
        missing = {} if made.missing is None else {"missing_history": made.missing.session}
        write_json([told | lost | missing])
        _warn(name, made.losses, made.missing)
        return
    there = "" if written else "  (was there already, the same)"
    commands = [shlex.join(one) for one in (("cd", made.cwd), prepare, resume) if one]
    write([one_line(str(path)) + there, one_line(" && ".join(commands))])
    _warn(name, made.losses, made.missing)


def _put(export: Callable[[int], Export]) -> tuple[Export, Path, bool]:
    """Puts the first fork that is not in the way of another transcript where its agent looks.

    Args:
        export: Makes a fork, given its number.

    Returns:
        The fork, where it is, and whether it was written: it may be there already.

    Raises:
        TranscriptExists: It is a whole transcript, of which there is but one, and another is there.
    """
    for number in count(1):
        made = export(number)
        path = agent_path(made.format, made.path, cwd=made.cwd)
        try:
            written = install_transcript(made, path)
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            agent = FORMATS[made.format].title
            told = f"{agent} calls a session's directory by the path of the one that it works in, and this is too long"
            raise click.UsageError(f"{told}: {one_line(made.cwd)}; give a shorter one with --cwd") from error
        except TranscriptExists as error:
            if made.whole:
                raise
            taken = error.path
            continue
        if number > 1:
            note(f"{one_line(taken)} is another transcript, or went on since; this is one more, under an id of its own")
        return made, path, written
    raise AssertionError  # there is always a number more


def _amounts(lost: Sequence[Loss], fate: str) -> dict[str, int]:
    return {one.what: one.number for one in lost if one.fate == fate}
