"""The lines of an opencode session that a revert took back.

A revert stands in what the agent says of the session, and hides a message and all that follows it. When the user goes
on, the agent deletes these messages. So the line that was left ended with the last record that was stored before the
session said so; one that was taken up again (the revert is gone, and the messages are there) was not left.
"""

from collections.abc import Iterable, Sequence

from gitsession.columns import Scratch
from gitsession.transcripts import bundle
from gitsession.transcripts.base import AbandonedLine, Record, Return
from gitsession.transcripts.fields import mapping, text
from gitsession.transcripts.opencode_messages import is_info, is_session, session_of
from gitsession.transcripts.standing import NONE, Standing
from gitsession.transcripts.versions import key_of

# Where the files of a folder lie that are looked at.
_TELLING = ("session/", "message/")


def outline(record: Record) -> Record:
    """Returns a record with the message that it is, or that it takes back."""
    value = record.value
    told = None
    if isinstance(value, dict) and (not bundle.is_file(value) or value["path"].startswith(_TELLING)):
        inner = session_of(value)
        info = mapping(inner, "info") or inner
        if is_session(inner):
            back = text(mapping(inner, "revert"), "messageID")
            told = {"revert": back} if back else None
        elif is_info(info):
            told = {"message": text(info, "id")}
    return record._replace(raw=b"", value=told)


def takes_back(first: Record) -> bool:
    """Tells from the outline of what the agent says of the session whether messages are taken back."""
    return bool(text(first.value, "revert"))


def abandoned(log: Sequence[Record], scratch: Scratch | None = None) -> list[AbandonedLine]:
    """Returns the line that was taken back in the last state of a log, if an earlier one had it."""
    left, _ = _walk(log, scratch)
    return [] if left is None else [left]


def returns(log: Sequence[Record], scratch: Scratch | None = None) -> Iterable[Return]:
    """Returns where it was taken back."""
    _, back_at = _walk(log, scratch)
    return () if back_at is None else (back_at,)


def _walk(log: Sequence[Record], scratch: Scratch | None) -> tuple[AbandonedLine | None, Return | None]:
    messages = Standing(scratch)
    line: AbandonedLine | None = None
    back_at: Return | None = None
    own = last = ""
    hidden: int | None = None  # the first of the messages that are taken back
    for place, record in enumerate(log):
        name = record.id or ""
        own = own or name
        if message := text(record.value, "message"):
            messages.put(message, place)
        elif key_of(name, (own,)) == own:
            back = text(record.value, "revert")
            index = messages.find(back) if back else None
            if not back:
                line = back_at = None
            elif line is None and index is not None and (hidden is None or index < hidden):
                line = AbandonedLine(last, log[messages.place(index - 1)].id if index else None)
                back_at = Return(place, None)
            if back_at is not None and index is not None:
                kept = messages.place(index - 1) if index else messages.first(0) - 1
                back_at = Return(back_at.place, None if kept == NONE else kept)
            hidden = index
        last = name
    return line, back_at
