"""A session that modular-agent can load: a header, then an entry a line, each message in the shape that it has.

Where its files lie is for the program to say that embeds it, and there is no command that resumes one.

A fork names its origin in its header, and has the entries of its origin as they are. Entries of kinds that nobody knows
here are kept as they are too: the agent keeps them.
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from gitsession.model import CompactionEntry, UnknownEntry
from gitsession.transcripts.base import Composed, Draft
from gitsession.transcripts.composing import is_plain, last_time, line, own_id, title, verbatim, with_times
from gitsession.transcripts.fields import text


def compose(draft: Draft) -> Composed:
    """Returns a session as one that modular-agent can load."""
    rewritten = draft.whole and not is_plain(draft.meta.id)
    return Composed(_lines(draft), PurePath(f"{own_id(draft)}.jsonl"), None, rewritten=rewritten)


def _lines(draft: Draft) -> Iterator[bytes]:
    records = list(draft.records)
    known = records[0].value if records and is_header(records[0].value) else {}
    header = {"id": draft.id, "version": 1, "parent_session": text(known, "id") or draft.meta.id}
    header["created_at"] = last_time(draft)
    if name := title(draft, ()):
        header["title"] = name
    yield line({**known, **header})
    last: str | None = None
    for record in records[1:] if known else records:
        copy = verbatim(record)
        if copy is not None:
            last = text(record.value, "id") or last
            yield copy
    for entry, at in with_times(draft, draft.log or draft.entries):
        if isinstance(entry, UnknownEntry):
            last = entry.id or last
            # What follows it names it.
            named = {} if text(entry.value, "id") else {"id": entry.id, "timestamp": entry.timestamp or at}
            yield line({**entry.value, **named})
            continue
        ids = {"id": entry.id, "parent_id": entry.parent_id or last, "timestamp": entry.timestamp or at}
        last = entry.id or last
        if isinstance(entry, CompactionEntry):
            kept = {"first_kept_id": entry.first_kept_id, "tokens_before": entry.tokens_before}
            told: dict[str, Any] = {"type": "compaction", "summary": entry.summary, **kept}
        else:
            told = {"type": "message", "message": entry.message}
        yield line({key: value for key, value in (told | ids).items() if value is not None})


def is_header(value: Any) -> bool:
    """Tells whether a record is the header of a session."""
    return bool(text(value, "id")) and not {"type", "role", "content", "message"} & value.keys()
