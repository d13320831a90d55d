"""OpenHands: trajectories as they are exported, and the folder in which its SDK keeps a conversation.

A trajectory is one JSON array of events, an object that has them under `history`, `trajectory` or `events`, or an event
a line; it is named by its file. The folder is `<conversation>/base_state.json`, by which it is recognised, and
`events/event-<number>-<id>.json`, read as a `bundle`: an event's file is written once, the state again and again. One
that has no state yet, since its agent was not there since it was exported, begins with its first event.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, BinaryIO
from uuid import UUID

from gitsession.parts import Part
from gitsession.transcripts import bundle, document, records
from gitsession.transcripts.base import Bundled, Format, Growth, Listing, Log, Record
from gitsession.transcripts.fields import changed, mapping, one_line, text, time
from gitsession.transcripts.folding import none_abandoned
from gitsession.transcripts.normal import titled_by_prompt
from gitsession.transcripts.openhands_compose import compose
from gitsession.transcripts.openhands_events import is_event, messages_of, show
from gitsession.transcripts.openhands_fold import STATE, fold, inner_of, is_state
from gitsession.view import View

_PATHS = ((), ("history",), ("trajectory",), ("events",))
_HEX = re.compile("[0-9a-f]{32}")
# The file of one event belongs to the folder of its conversation.
_EVENT_FILE = re.compile(r"event-\d+-.*\.json", re.DOTALL)


def _recognise(head: bytes, name: str) -> bool:
    if _EVENT_FILE.fullmatch(name):
        return False
    if document.is_document(head, _PATHS):
        return any(map(is_event, document.first_values(head, _PATHS, 1)))
    first = records.first_objects(head, 1)
    return any(is_event(inner) or is_state(inner) for inner in map(inner_of, first))


def _describe(value: dict[str, Any]) -> tuple[str | None, str | None]:
    if bundle.is_file(value):
        return bundle.describe(value, _describe)
    # The older generation counts its events, and such a number names nothing outside of its file.
    return (text(value, "id") or None) if is_event(value) else None, time(value.get("timestamp"))


def _read(stream: BinaryIO) -> Iterator[Record]:
    return bundle.checked(
        document.read_stream(stream, _PATHS, _describe, lambda value: is_event(value) or bundle.is_file(value))
    )


def _write(log: Log) -> Iterator[bytes]:
    return bundle.write(log, STATE) if bundle.is_bundle(log) else document.write(log, _PATHS)


def _growth(first: Record) -> Growth:
    if bundle.is_file(first.value):
        return "directory"
    return "document" if document.is_first(first) else "log"


def _bundle(path: PurePath, listing: Listing) -> Bundled | None:
    if path.name == STATE:
        return path.parent, [STATE, *_events(path.parent, listing)]
    if _is_inside(path) and _owner(path, listing) == path:
        return path.parent.parent, [*_events(path.parent.parent, listing)]
    return None


def _events(conversation: PurePath, listing: Listing) -> Iterator[str]:
    return (f"events/{name}" for name in listing(conversation / "events") if name.endswith(".json"))


def _owner(path: PurePath, listing: Listing) -> PurePath | None:
    if not _is_inside(path):
        return None
    conversation = path.parent.parent
    if STATE in listing(conversation):
        return conversation / STATE
    events = filter(_EVENT_FILE.fullmatch, listing(path.parent))
    return next((path.with_name(name) for name in events), None)


def _folder(path: PurePath) -> PurePath:
    if _is_inside(path):
        return path.parent.parent
    return path.parent if path.name == STATE else path


def _is_inside(path: PurePath) -> bool:
    return path.parent.name == "events" and path.suffix == ".json"


def _header(path: PurePath, first: Record) -> Mapping[str, Any]:
    inner = inner_of(first.value)
    own = text(inner, "id") if is_state(inner) else ""
    named = path.parent.name if path.name == STATE else path.stem
    if bundle.is_file(first.value) and (_is_inside(path) or first.unfinished):
        # The folder is named by the conversation's id, as its state will tell it.
        folder = path.parents[1 if _is_inside(path) else 0].name
        named = str(UUID(folder)) if _HEX.fullmatch(folder) else folder
    return _learn({"id": own or named or path.stem, "created_at": "", "agent": "openhands"}, first)


def _names_itself(first: Record) -> bool:
    return is_state(inner_of(first.value))


def _learn(header: Mapping[str, Any], record: Record) -> Mapping[str, Any]:
    inner = inner_of(record.value)
    news: dict[str, Any] = {}
    if not header.get("created_at"):
        news["created_at"] = record.timestamp
    if is_state(inner):
        news["cwd"] = text(mapping(inner, "workspace"), "working_dir") or None
    header = changed(header, **news)
    said = messages_of(inner, {})
    return titled_by_prompt(header, said[0]) if isinstance(said, list) and said else header


def _view(record: Record) -> View:
    if not bundle.is_file(record.value):
        return show(record)
    path, inner = record.value["path"], inner_of(record.value)
    if not is_event(inner):
        return View("meta", (Part("text", one_line(path, 200)),))
    return show(Record(record.raw, inner))


OPENHANDS = Format(
    name="openhands",
    title="OpenHands",
    recognise=_recognise,
    read=_read,
    header=_header,
    learn=_learn,
    view=_view,
    fold=fold,
    abandoned=none_abandoned,
    write=_write,
    growth=_growth,
    names_itself=_names_itself,
    bundle=_bundle,
    folder=_folder,
    owner=_owner,
    places=("${OPENHANDS_CONVERSATIONS_DIR:-${OPENHANDS_PERSISTENCE_DIR:-~/.openhands}/conversations}",),
    names=("base_state.json", "event-*.json"),
    compose=compose,
)
