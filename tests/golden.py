"""What a store must hold, for ever: object ids of imports and of a live session, and a store that was written once.

`python -m tests.golden` adds what is missing under `fixtures/golden` and `fixtures/stores`. It never changes an entry:
one that differs means that stores out there would get other object ids, and the code is to be mended, or the number
under `format` or `text` in `session.json` to be raised.
"""

import io
import json
import tarfile
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from gitsession import ImportResult, MessageEntry, SessionMeta, Store
from gitsession.building import NewDelta, build
from gitsession.conversation import entry_view
from gitsession.import_run import ImportRun, Source
from gitsession.jsonl import encode_entry
from gitsession.transcripts import FORMATS

from .importing import FIXTURES, TRANSCRIPTS, new_store, take, take_bytes, talk

IMPORTS = FIXTURES / "golden" / "imports.json"
IMPORTS_BY_TEXT_1 = FIXTURES / "golden" / "imports-text-1.json"  # of formats that have newer rules since
LIVE = FIXTURES / "golden" / "live.json"
STORE = FIXTURES / "stores" / "format-1.tar.gz"
STORE_CONTENT = FIXTURES / "stores" / "format-1.json"

# The messages of the live session, each with the time of its commit.
SAID: list[tuple[int, dict[str, Any]]] = [
    (1_767_607_200, {"role": "user", "content": "Grüße!\nWhat is 6 * 7?"}),
    (1_767_607_201, {"role": "assistant", "content": "", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "multiply", "arguments": '{"a": 6, "b": 7}'}}]}),
    (1_767_607_202, {"role": "tool", "tool_call_id": "c1", "content": "42"}),
    (1_767_607_203, {"role": "assistant", "content": [{"type": "text", "text": "It is 42."}], "n": 2**70, "x": -0.0}),
    (1_767_607_204, {"role": "user", "content": "\ud83d \u2028 \x1b[31m", "none": None}),
]  # fmt: skip


def imported(path: Path) -> dict[str, dict[str, str]]:
    """Returns the branches that an import of a transcript gives, with their commits and trees."""
    with tempfile.TemporaryDirectory() as directory:
        store = new_store(Path(directory, "store.git"))
        take(store, path)
        return branches(store)


def imported_by_text_1(path: Path, begun: Path) -> dict[str, dict[str, str]]:
    """Returns what an import gives that goes on with a session which was begun by the first rules.

    Args:
        path: The transcript.
        begun: A file of the same name that holds its beginning.
    """
    with tempfile.TemporaryDirectory() as directory:
        store = new_store(Path(directory, "store.git"))
        first_rules = FORMATS[path.relative_to(FIXTURES).parts[0]].at(1)
        with ImportRun(store, lambda _: None, redact=False, settled=False) as run:
            results = [*run.take(Source(begun, first_rules)), *run.finish()]
        assert all(isinstance(result, ImportResult) for result in results), results
        take(store, path)
        return branches(store)


def branches(store: Store) -> dict[str, dict[str, str]]:
    """Returns the branches of a store, with their commits and trees."""
    return {
        session_id: {"commit": str(oid), "tree": store.reader.state(session_id, str(oid)).tree.oid}
        for session_id, oid in store.reader.branches()
    }


def live() -> list[dict[str, str]]:
    """Returns the commits and trees of a session that is written message by message, its header first."""
    meta = SessionMeta("live/session 1", created_at="2026-01-05T10:00:00Z", title="A live one")
    state = build(None, None, meta, subject="create", now=SAID[0][0]).state
    states = [state]
    for number, (now, message) in enumerate(SAID):
        entry = MessageEntry(message, f"id:{number}", None, "")
        delta = NewDelta(entry.id, encode_entry(entry) + b"\n", lambda entry=entry: [entry_view(entry)])
        states.append(build(states[-1], delta, meta, now=now).state)
    return [{"commit": state.oid, "tree": state.tree.oid} for state in states]


def make_store(path: Path) -> Store:
    """Makes a store with sessions of every kind: live, imported, grown, rewritten, abandoned lines, forks."""
    store = new_store(path)
    take(store, *(one for one in TRANSCRIPTS if one.name in ("rewind.jsonl", "oddities.jsonl", "compaction.jsonl")))
    file = path.with_name("grown.jsonl")
    for content in (talk(101), [*talk(3), *talk(2, "q")]):
        take_bytes(store, b"".join(content), file)
    store.create(SessionMeta("live/session 1", title="A live one"))
    for number, (_, message) in enumerate(SAID):
        store.append("live/session 1", MessageEntry(message, f"id:{number}", None, "2026-01-05T10:00:00Z"))
    store.fork("live/session 1", "fork", at="id:2")
    return store


def content_of(store: Store) -> dict[str, Any]:
    """Returns the commit of each session, its header, the ids of its entries, and the SHA-256 of its log."""
    content: dict[str, Any] = {}
    for session_id, oid in store.reader.branches():
        info = store.info(session_id)
        content[session_id] = {
            "oid": oid,
            "deltas": info.deltas,
            "head": info.head,
            "title": info.title,
            "parent": info.parent_session,
            "entries": [entry.id for entry in store.load(session_id)],
            "transcript": sha256(b"".join(store.transcript(session_id))).hexdigest(),
        }
    return content


def dumps(value: Any) -> str:
    return json.dumps(value, indent=1, sort_keys=True) + "\n"


def main() -> None:
    known = json.loads(IMPORTS.read_text()) if IMPORTS.exists() else {}
    names = {str(path.relative_to(FIXTURES)): path for path in TRANSCRIPTS}
    fresh = {name: imported(path) for name, path in names.items() if name not in known}
    IMPORTS.write_text(dumps(known | fresh))
    if not LIVE.exists():
        LIVE.write_text(dumps(live()))
    if not STORE.exists():
        with tempfile.TemporaryDirectory() as directory:
            store = make_store(Path(directory, "store.git"))
            STORE_CONTENT.write_text(dumps(content_of(store)))
            buffer = io.BytesIO()
            with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
                archive.add(store.path, "store.git", filter=_anonymous)
            STORE.write_bytes(buffer.getvalue())


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if "/gitsession/cache" in member.name:
        return None
    member.mtime = 1_767_607_200
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main()
