"""opencode's sessions as its database has them: made into the document that `opencode export` prints, byte for byte.

Known from the agent's source (`session/session.ts`, `session/message-v2.ts`, `cli/cmd/export.ts`, from 1.2.1 to
1.18.33). A session, a message and a part are a row each. Most of a session's fields are columns of their own; a message
and a part are one column of JSON, in which only the ids are missing. A column that a version does not have yet is left
out, as that version left it out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gitsession.transcripts.fields import mapping, text
from gitsession.transcripts.javascript import parse, stringify

Row = Mapping[str, Any]
"""The values of a row by the names of their columns."""

NEEDED: Mapping[str, tuple[str, ...]] = {
    "session": ("id", "project_id", "slug", "directory", "title", "version", "time_created", "time_updated"),
    "message": ("id", "session_id", "time_created", "time_updated", "data"),
    "part": ("id", "message_id", "session_id", "time_created", "time_updated", "data"),
}
"""The tables, and their columns without which they are not those that are known here."""

_TOKENS = ("input", "output", "reasoning")
_CACHED = ("read", "write")
_CHANGED = ("additions", "deletions", "files")

OPTIONAL = (
    *("workspace_id", "path", "parent_id", "agent", "model", "cost", "share_url", "metadata", "revert", "permission"),
    *(f"summary_{name}" for name in (*_CHANGED, "diffs")),
    *(f"tokens_{name}" for name in _TOKENS),
    *(f"tokens_cache_{name}" for name in _CACHED),
    *("time_compacting", "time_archived"),
)
"""What a session has in some versions only."""

_OF_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")


class StrangeRow(ValueError):
    """A row is not as opencode writes it; says which, and what is wrong with it."""


def document(session: Row, messages: Iterable[tuple[Row, Iterable[Row]]]) -> Iterator[bytes]:
    """Yields the document of a session, message by message.

    Args:
        session: The row of the session.
        messages: The rows of its messages, in the order of their times and ids, each with those of its parts in the
            order of their ids.

    Raises:
        StrangeRow: A row is not as opencode writes it.
    """
    yield b'{\n  "info": %b,\n  "messages": [' % stringify(_info(session), 1)
    before = b"\n    "
    for row, parts in messages:
        info = {**_data(row, "message"), "id": row["id"], "sessionID": row["session_id"]}
        said = [
            {
                **_data(part, "part"),
                "id": part["id"],
                "sessionID": part["session_id"],
                "messageID": part["message_id"],
            }
            for part in parts
        ]
        yield before + stringify({"info": info, "parts": said}, 2)
        before = b",\n    "
    yield b"]\n}" if before[:1] == b"\n" else b"\n  ]\n}"
    # The agent ends what it prints as its system does; where that was, the session's directory tells.
    yield b"\r\n" if _OF_WINDOWS.match(str(session.get("directory"))) else b"\n"


def is_over(last: Row | None) -> bool:
    """Tells from a session's last message whether its turn is over: it is a complete answer, with no call to go on."""
    if last is None:
        return True
    try:
        said = _data(last, "message")
    except StrangeRow:
        return True
    ended = "completed" in mapping(said, "time") and text(said, "finish") not in ("tool-calls", "unknown")
    return text(said, "role") != "user" and (ended or bool(mapping(said, "error")))


def _info(row: Row) -> dict[str, Any]:
    """Returns what an export says of a session: its fields in their order, and only those that have a value."""
    model, revert = _object(row, "model"), _object(row, "revert")
    permission = _json(row, "session", "permission")
    if not _is_nothing(permission) and not isinstance(permission, list):
        raise _strange(row, "session", "its permission is no array")
    tokens = {name: row[f"tokens_{name}"] for name in _TOKENS if f"tokens_{name}" in row}
    cached = {name: row[f"tokens_cache_{name}"] for name in _CACHED if f"tokens_cache_{name}" in row}
    found = {
        "id": row.get("id"),
        "slug": row.get("slug"),
        "projectID": row.get("project_id"),
        "workspaceID": row.get("workspace_id"),
        "directory": row.get("directory"),
        "path": row.get("path"),
        "parentID": row.get("parent_id"),
        "title": row.get("title"),
        "agent": row.get("agent"),
        "model": None if model is None else _picked(model, "id", "providerID", "variant"),
        "version": row.get("version"),
        "summary": _summary(row),
        "cost": row.get("cost"),
        "tokens": {**tokens, "cache": cached} if tokens or cached else None,
        "share": {"url": row["share_url"]} if row.get("share_url") else None,
        "metadata": _json(row, "session", "metadata"),
        "revert": None if revert is None else _picked(revert, "messageID", *_part(revert), "snapshot", "diff"),
        "permission": None if _is_nothing(permission) else permission,
        "time": {
            name: value
            for name in ("created", "updated", "compacting", "archived")
            if (value := row.get(f"time_{name}")) is not None
        },
    }
    return {name: value for name, value in found.items() if value is not None}


def _summary(row: Row) -> dict[str, Any] | None:
    counts = {name: row.get(f"summary_{name}") for name in _CHANGED}
    if all(count is None for count in counts.values()):
        return None
    diffs = _json(row, "session", "summary_diffs")
    told = {name: 0 if count is None else count for name, count in counts.items()}
    return told if diffs is None else {**told, "diffs": diffs}


def _part(revert: dict[str, Any]) -> tuple[str, ...]:
    return () if _is_nothing(revert.get("partID")) else ("partID",)


def _picked(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value[name] for name in names if name in value}


def _object(row: Row, column: str) -> dict[str, Any] | None:
    value = _json(row, "session", column)
    if _is_nothing(value):
        return None
    if not isinstance(value, dict):
        raise _strange(row, "session", f"its {column} is no object")
    return value


def _is_nothing(value: Any) -> bool:
    """Tells whether JavaScript takes a value for false, which an empty object or array is not."""
    return value in (None, False, 0, "")


def _data(row: Row, kind: str) -> dict[str, Any]:
    value = _json(row, kind, "data")
    if not isinstance(value, dict):
        raise _strange(row, kind, "its data is no object")
    return value


def _json(row: Row, kind: str, column: str) -> Any:
    """Returns the value of the JSON in a column; None where there is none."""
    text = row.get(column)
    if text is None:
        return None
    try:
        return parse(text)
    except (TypeError, ValueError) as error:
        raise _strange(row, kind, f"its {column} is no JSON ({error})") from error


def _strange(row: Row, kind: str, what: str) -> StrangeRow:
    return StrangeRow(f"the {kind} {row['id']!r:.60} is not as opencode writes one: {what}")
