"""`gitsession append`."""

import dataclasses
import sys
from contextlib import suppress

import click

from gitsession import Messages, ParentConflict, SessionCommit, SessionNotFound, Store, new_commit

from .. import options
from ..errors import InvalidInput
from ..json_input import message_texts
from ..output import note, stored, write_json, write_name
from ..text import one_line

# How often a commit that says no parent is put on a head that moved meanwhile, before it gives up.
TRIES = 100


@options.command(
    "append",
    examples=(
        "gitsession append fix-login --role user --text 'And now the tests.'",
        """echo '{"role": "user", "content": "Hello"}' | gitsession append fix-login""",
        """echo '{"role": "user", "content": "Hello"}' | gitsession append --parent '' brand-new""",
    ),
    writes=True,
)
@options.session
@click.option("--text", metavar="TEXT", help="The text of one message; without it, messages are read from stdin.")
@click.option("--role", type=click.Choice(["user", "assistant", "system"]), help="Who says --text.  [default: user]")
@click.option(
    "--parent",
    metavar="ID",
    help="The commit id that must be the session's head; '' for a session without commits, which is made if need be.",
)
@click.option(
    "--id", "commit_id", metavar="ID", help="The new commit's id: the same one again is stored once. Needs --parent."
)
def command(
    settings: options.Settings,
    session: str,
    text: str | None,
    role: str | None,
    parent: str | None,
    commit_id: str | None,
) -> None:
    """Add messages to a session.

    The messages are JSON objects: one, an array, or one a line (JSONL), kept byte for byte. They become one commit:
    all of them are stored or none. With --text, stdin is not read. Prints the commit's id; with --json: commit_id,
    messages (how many).
    """
    if role is not None and text is None:
        raise click.UsageError("--role needs --text; messages from stdin say their role themselves")
    if commit_id is not None and parent is None:
        raise click.UsageError("--id needs --parent, without which the same commit again cannot be told from another")
    if text is None:
        messages = Messages.from_texts(message_texts(_stdin()))
    else:
        messages = Messages([{"role": role or "user", "content": text}])
    commit = new_commit(parent or None, messages)
    if commit_id is not None:
        commit = SessionCommit(commit_id, commit.parent, messages)
    if parent is None:
        store = settings.open()
        _commit_on_head(store, store.find(session), commit)
    elif parent:
        store = settings.open()
        store.bind(store.find(session)).commit(commit)
    else:
        store = settings.make()
        store.bind(_found_or_new(store, session)).commit(commit)
    stored(f"the commit {one_line(commit.id)}")
    if settings.json:
        write_json([{"commit_id": commit.id, "messages": len(messages)}])
    else:
        write_name(commit.id)


def _stdin() -> bytes:
    """Returns all that stands on stdin."""
    if sys.stdin is None:
        raise InvalidInput(1, 1, "it is closed")
    if sys.stdin.isatty():
        note("Reading messages as JSON from the terminal; end with Ctrl-D.")
    return sys.stdin.buffer.read()


def _found_or_new(store: Store, session: str) -> str:
    """Returns the id of the session that is named so, or the name as the id of one that is yet to be made."""
    try:
        return store.find(session)
    except SessionNotFound:
        return session


def _commit_on_head(store: Store, session_id: str, commit: SessionCommit) -> None:
    """Commits on the head of the moment; where it moved meanwhile, on the next one."""
    bound = store.bind(session_id)
    for _ in range(TRIES - 1):
        commit = dataclasses.replace(commit, parent=store.info(session_id).head)
        with suppress(ParentConflict):
            bound.commit(commit)
            return
    bound.commit(dataclasses.replace(commit, parent=store.info(session_id).head))
