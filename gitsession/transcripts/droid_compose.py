"""A session that Factory Droid can resume.

Known from public readers and writers of it, not from the agent itself: the file lies in a directory that is named by
the working directory, with `-` for each `/`, and the agent finds it by the session's id. The settings that it keeps
beside it (the model, the tokens used) are made anew.

A fork has the records of its origin below a first one of its own. Thoughts are written where their provider has signed
them, as the agent does; of others nothing is: the provider refuses thoughts that it did not sign.
"""

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from gitsession.transcripts.base import Composed, Draft
from gitsession.transcripts.composing import (
    Said,
    anthropic_answer,
    anthropic_content,
    derived_uuid,
    is_context,
    is_plain,
    line,
    marked_words,
    own_id,
    reminder,
    said,
    title,
    verbatim,
)
from gitsession.transcripts.fields import text

_SEPARATORS = re.compile(r"[/\\]")
# What makes a session another one's, which the agent does not offer to resume.
_CALLED = ("callingSessionId", "callingToolUseId")


def compose(draft: Draft) -> Composed:
    """Returns a session as one that Factory Droid can resume."""
    own = own_id(draft)
    path = PurePath("sessions", directory(draft.cwd), f"{own}.jsonl")
    rewritten = draft.whole and not is_plain(draft.meta.id)
    return Composed(_lines(draft), path, lambda _: ("droid", "--resume", own), rewritten=rewritten)


def directory(cwd: str) -> str:
    """Returns the name under which the agent keeps the sessions of a working directory."""
    name = _SEPARATORS.sub("-", cwd)
    return name if name not in (".", "..") else "-"


def _lines(draft: Draft) -> Iterator[bytes]:
    first = next((record.value for record in draft.records if isinstance(record.value, dict)), {})
    known = first if text(first, "type") == "session_start" else {}
    known = {key: value for key, value in known.items() if key not in (*_CALLED, "session")}
    name = title(draft, draft.records) or "New Session"
    told = {"type": "session_start", "id": draft.id, "title": name, "sessionTitle": name}
    yield line({"version": 2, **known, **told, "cwd": draft.cwd})
    for record in draft.records:
        copy = None if text(record.value, "type") == "session_start" else verbatim(record)
        if copy is not None:
            yield copy
    for place, one in enumerate(said(draft)):
        yield from _record(one, derived_uuid(draft.id, "message", str(place)))


def _record(one: Said, own: str) -> Iterator[bytes]:
    record: dict[str, Any] = {"id": own, "timestamp": one.at}
    if one.compaction is not None:
        told: dict[str, Any] = {"summaryText": one.compaction.summary, "summaryKind": "manual"}
        if one.compaction.tokens_before is not None:
            told["tokensBefore"] = one.compaction.tokens_before
        yield line({"type": "compaction_state", **record, **told})
        return
    message = one.message
    if message["role"] == "assistant":
        content: Any = anthropic_answer(message)
    elif message["role"] != "tool" and is_context(message):
        content = [{"type": "text", "text": reminder(marked_words(message))}]
    else:
        content = anthropic_content(message)
        content = [{"type": "text", "text": content}] if isinstance(content, str) and content else content
    if content:
        spoken = {"role": "assistant" if message["role"] == "assistant" else "user", "content": content}
        if model := text(message, "model"):
            spoken["model"] = model
        yield line({"type": "message", **record, "message": spoken})
