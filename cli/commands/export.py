"""`gitsession export`."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from tempfile import SpooledTemporaryFile

import click

from gitsession import Store, build_context

from .. import options
from ..markdown import markdown
from ..output import write_bytes

# What is kept in memory of an export before a temporary file is made, in bytes.
SPOOLED = 16 * 1024 * 1024


def _jsonl(store: Store, session_id: str, at: str | None) -> Iterator[bytes]:
    return iter(store.transcript(session_id, at=at))


def _messages(store: Store, session_id: str, at: str | None) -> Iterator[bytes]:
    return (text + b"\n" for text in store.messages(session_id, at=at).texts)


def _context(store: Store, session_id: str, at: str | None) -> Iterator[bytes]:
    return (json.dumps(message).encode() + b"\n" for message in build_context(store.load(session_id, at=at)))


def _markdown(store: Store, session_id: str, at: str | None) -> Iterator[bytes]:
    lines = markdown(store.info(session_id, at=at), store.load(session_id, at=at))
    return ((line + "\n").encode() for line in lines)


def _original(store: Store, session_id: str, at: str | None) -> Iterator[bytes]:
    return iter(store.original(session_id, at=at))


WRITERS: Mapping[str, Callable[[Store, str, str | None], Iterable[bytes]]] = {
    "jsonl": _jsonl,
    "messages": _messages,
    "context": _context,
    "markdown": _markdown,
    "original": _original,
}


@options.command(
    "export",
    examples=(
        "gitsession export fix-login > fix-login.jsonl",
        "gitsession export fix-login --format markdown --at '#1'",
        "gitsession export fix-login --format messages | gitsession append --parent '' a-copy",
    ),
)
@options.session
@options.at
@click.option("--format", "name", type=click.Choice([*WRITERS]), default="jsonl", show_default=True)
def command(settings: options.Settings, session: str, at: str | None, name: str) -> None:
    """Write a session to stdout.

    Nothing is written if the session cannot be read to its end.

    \b
    jsonl     the log as it is stored, one entry a line
    messages  the conversation, one message a line, each as it is stored
    context   what a model is shown: from the last compaction on
    markdown  the conversation as a document
    original  the transcript that was imported, byte for byte
    """  # noqa: D301  # click wants the character, which keeps the lines apart
    store = settings.open()
    # Spooled, so that half a session never passes for a whole one.
    with SpooledTemporaryFile(SPOOLED) as spool:
        spool.writelines(WRITERS[name](store, store.find(session), at))
        spool.seek(0)
        write_bytes(spool)
