"""opencode: what `opencode export` prints, the database that it prints it from, and the folder of older versions.

An export is one JSON document, `{"info": …, "messages": [{"info": …, "parts": […]}]}`, taken apart as `document` says.

Versions from 1.2 on keep their sessions in a database. Each of them is read as its export (see `opencode_rows`), so it
becomes the same session, whichever way it came.

Before that a session is many files in `~/.local/share/opencode/storage`: `session/<project>/<session>.json`, which it
is recognised by, `message/<session>/<message>.json`, `part/<message>/<part>.json`, and a few of the session's own. They
are read as a `bundle`. opencode writes each of them again and again while it works: a part grows, a call gets its
result. So each state of a file that an import finds is a version of its record (see `versions`), and a file that came
anew, wherever it sorts, is a record more. The fold puts the last versions in the order of their ids, which is that of
time. A session from which messages were taken out (a revert, on which the user went on) is no later state of what was
stored before, and goes on as a derived branch.

The session has opencode's own id. A revert that was not gone on with hides the messages that it took back; the line
that they are ended where the session did not say so yet (see `opencode_reverts`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, BinaryIO

from gitsession.model import CompactionEntry, Message
from gitsession.parts import Part
from gitsession.transcripts import bundle, document, records
from gitsession.transcripts.arrays import beginning
from gitsession.transcripts.base import Bundled, Format, Growth, Listing, Log, Record
from gitsession.transcripts.fields import changed, items, mapping, one_line, text, time
from gitsession.transcripts.folding import Conversation, fold_each, shown_together
from gitsession.transcripts.normal import damaged, titled_by_prompt
from gitsession.transcripts.opencode_compose import compose
from gitsession.transcripts.opencode_messages import (
    info_time,
    is_info,
    is_part,
    is_session,
    messages_now,
    messages_of,
    session_of,
    show_part,
    times_of,
)
from gitsession.transcripts.opencode_reverts import abandoned, outline, returns, takes_back
from gitsession.view import View

_PATHS = (("messages",),)
# The directories with a file a session.
_BESIDE = ("session_diff", "share", "todo")
_DATA = "${XDG_DATA_HOME:-~/.local/share}/opencode"
_STORAGE = f"{_DATA}/storage"
# How the file of a session begins, be the rest damaged.
_SESSION_FILE = re.compile(rb'\s*\{\s*"id"\s*:\s*"ses_\w+"\s*,\s*"(?:slug|version|projectID|directory|parentID)"\s*:')
# The session's id in an export that is cut.
_BEGINNING = re.compile(rb'"id"\s*:\s*"(ses\w*)"')


def _recognise(head: bytes, _name: str) -> bool:
    for value in records.first_objects(head, 1):
        if is_session(session_of(value)):
            return "info" not in value or "messages" in value
    # An export that is longer than the head, or damaged: what it is stands before its messages.
    begun = next(document.read(head, _PATHS, _describe)).raw[beginning(head) :]
    return (b'"projectID"' in begun and b'"info"' in begun[:40]) or bool(_SESSION_FILE.match(begun))


def _describe(value: dict[str, Any]) -> tuple[str | None, str | None]:
    if bundle.is_file(value):
        return bundle.describe(value, _describe)
    info = mapping(value, "info") or value
    return text(info, "id") or None, info_time(info)


def _read(stream: BinaryIO) -> Iterator[Record]:
    return bundle.checked(document.read_stream(stream, _PATHS, _describe))


def _write(log: Log) -> Iterator[bytes]:
    return bundle.write(log) if bundle.is_bundle(log) else document.write(log, _PATHS)


def _growth(first: Record) -> Growth:
    if bundle.is_file(first.value):
        return "directory"
    return "document" if document.is_first(first) else "log"


def _bundle(path: PurePath, listing: Listing) -> Bundled | None:
    if path.suffix != ".json" or path.parent.parent.name != "session":
        return None
    root, session = path.parents[2], path.stem
    found = [path.relative_to(root).as_posix()]
    messages = listing(root / "message" / session)
    found += (f"message/{session}/{name}" for name in messages if PurePath(name).suffix == ".json")
    for stem in (PurePath(name).stem for name in messages):
        parts = listing(root / "part" / stem)
        found += (f"part/{stem}/{name}" for name in parts if PurePath(name).suffix == ".json")
    beside = f"{session}.json"
    found += (f"{kind}/{beside}" for kind in _BESIDE if beside in listing(root / kind))
    return root, found


def _owner(path: PurePath, listing: Listing) -> PurePath | None:
    if path.suffix != ".json" or len(path.parents) < 3:
        return None
    kind, root = path.parents[1].name, path.parents[2]
    if kind == "part":
        message = f"{path.parent.name}.json"
        sessions = [one for one in listing(root / "message") if message in listing(root / "message" / one)]
    elif kind == "message":
        sessions = [path.parent.name]
    elif path.parent.name in _BESIDE:
        root, sessions = path.parents[1], [path.stem]
    else:
        return None
    projects = [root / "session" / one for one in listing(root / "session")]
    found = (project / f"{session}.json" for session in sessions for project in projects)
    return next((one for one in found if one.name in listing(one.parent)), None)


def _header(path: PurePath, first: Record) -> Mapping[str, Any]:
    named = _BEGINNING.search(first.raw[:4096])
    own = text(session_of(first.value), "id") if isinstance(first.value, dict) else named[1].decode() if named else ""
    return _learn({"id": own or path.stem, "created_at": "", "agent": "opencode"}, first)


def _names_itself(first: Record) -> bool:
    return text(session_of(first.value), "id").startswith("ses") if isinstance(first.value, dict) else False


def _learn(header: Mapping[str, Any], record: Record) -> Mapping[str, Any]:
    value = record.value
    if not isinstance(value, dict):
        return header
    session = session_of(value)
    if not is_session(session):
        said = _messages(value)
        return titled_by_prompt(header, said[0]) if isinstance(said, list) and said else header
    return changed(
        header,
        created_at=time(mapping(session, "time").get("created")),
        parent_session=text(session, "parentID") or None,
        cwd=text(session, "directory") or None,
        title=one_line(text(session, "title")) or None,
    )


def _messages(value: Any, *, attached: bool = False) -> Sequence[Message] | CompactionEntry:
    info = mapping(value, "info")
    return messages_of(info, items(value, "parts"), attached=attached) if is_info(info) else ()


def _view(record: Record) -> View:
    value = record.value
    if not isinstance(value, dict):
        return damaged(record)
    if bundle.is_file(value):
        inner = bundle.content(value)
        if is_part(inner):
            return show_part(inner)
        what = text(inner, "role") or text(inner, "title")
        return View("meta", (Part("text", one_line(f"{value['path']}: {what}".rstrip(": "), 200)),))
    said = _messages(value)
    if isinstance(said, CompactionEntry):
        return View("system", (Part("text", said.summary),))
    if said:
        return shown_together(said) or damaged(record)
    info = mapping(value, "info") or value
    what = text(info, "role") or text(info, "title")
    return View("meta", (Part("text", one_line(f"{text(info, 'id')}: {what}".rstrip(": "), 200)),))


def _fold(log: Sequence[Record]) -> Conversation:
    return fold_each(
        messages_now(log),
        lambda record: _messages(record.value, attached=True),
        lambda record: times_of(items(record.value, "parts")),
    )


OPENCODE = Format(
    name="opencode",
    title="opencode",
    recognise=_recognise,
    read=_read,
    header=_header,
    learn=_learn,
    view=_view,
    fold=_fold,
    abandoned=abandoned,
    write=_write,
    outline=outline,
    returns=returns,
    growth=_growth,
    names_itself=_names_itself,
    takes_back=takes_back,
    bundle=_bundle,
    owner=_owner,
    # The database comes first: what it has taken over from the folder is not looked at there again.
    places=(f"{_DATA}/${{OPENCODE_DB:-opencode.db}}", f"{_DATA}/opencode-*.db", f"{_STORAGE}/session"),
    names=("*.json",),
    pieces=tuple(f"{_STORAGE}/{one}" for one in ("message", "part", *_BESIDE)),
    compose=compose,
)
