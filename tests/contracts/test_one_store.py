"""How the two contracts are one: each shows what the other has written."""

import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitsession import (
    CompactionEntry,
    Corrupt,
    MessageEntry,
    ParentConflict,
    Session,
    SessionCommit,
    SessionMeta,
    Store,
    Unavailable,
    UnknownEntry,
    import_transcripts,
    maintain,
    verify,
)
from tests.stores import HELLO, HI, everything

ENTRY = MessageEntry(HELLO, id="e1", timestamp="2025-01-01T00:00:00Z")


def test_a_commit_stores_each_message_as_an_entry_without_id_and_timestamp(store: Store) -> None:
    store.bind("s").commit(SessionCommit("c1", None, [HELLO, HI]))
    assert list(store.transcript("s")) == [
        b'{"type":"message","message":{"role":"user","content":"Hello"}}\n',
        b'{"type":"message","message":{"role":"assistant","content":"Hi! What can I do?"}}\n',
    ]


def test_a_commits_messages_load_as_entries_named_by_their_place(store: Store) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    store.bind("s").commit(SessionCommit("c1", None, [HELLO, HI]))
    store.bind("s").commit(SessionCommit("c/2", "c1", [HELLO]))
    entries = store.load("s")
    assert [(entry.id, entry.message) for entry in entries] == [("c1/0", HELLO), ("c1/1", HI), ("c/2/0", HELLO)]
    assert all(entry.parent_id is None and entry.extra == {} for entry in entries)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry.timestamp) for entry in entries)
    assert all(before <= datetime.fromisoformat(entry.timestamp) <= datetime.now(UTC) for entry in entries)


def test_an_entry_without_a_timestamp_gets_the_time_of_its_own_commit(store: Store) -> None:
    store.create(SessionMeta("s"))
    store.append("s", MessageEntry(HELLO, timestamp="2001-01-01T00:00:00Z"))
    store.bind("s").commit(SessionCommit("c1", store.bind("s").load().head, [HELLO]))
    store.append("s", MessageEntry(HELLO, timestamp="2002-01-01T00:00:00Z"))
    store.fork("s", "fork")
    times = {entry.commit_id: entry.time for entry in store.log("fork")}
    assert [entry.timestamp for entry in store.load("fork")] == [
        "2001-01-01T00:00:00Z",
        times["c1"],
        "2002-01-01T00:00:00Z",
    ]


def test_an_appended_entry_is_a_commit_with_its_id_on_the_head_of_that_moment(store: Store) -> None:
    session = store.bind("s")
    session.commit(SessionCommit("c1", None, [HI]))
    store.append("s", ENTRY)
    assert session.load() == Session("e1", [HI, HELLO])
    assert session.commit(SessionCommit("c2", "e1", [HI])) == Session("c2", [HI, HELLO, HI])
    with pytest.raises(ParentConflict) as caught:
        session.commit(SessionCommit("c3", "c1", [HI]))
    assert caught.value.actual == "c2"


def test_an_entry_that_follows_a_commit_on_a_session_that_was_created(store: Store) -> None:
    store.create(SessionMeta("s", title="both"))
    store.bind("s").commit(SessionCommit("c1", None, [HI]))
    store.append("s", ENTRY)
    assert [entry.id for entry in store.load("s")] == ["c1/0", "e1"]
    assert store.list()[0].title == "both"


def test_the_first_commit_makes_a_session_that_is_listed(store: Store) -> None:
    store.bind("s").commit(SessionCommit("c1", None, [HELLO]))
    (meta,) = store.list()
    assert (meta.id, meta.version, meta.parent_session) == ("s", 1, None)
    assert abs((datetime.now(UTC) - datetime.fromisoformat(meta.created_at)).total_seconds()) < 10


def test_an_id_is_one_in_both_contracts(store: Store) -> None:
    session = store.bind("s")
    session.commit(SessionCommit("c1", None, [HELLO]))
    store.append("s", ENTRY)
    before = everything(store)
    with pytest.raises(Corrupt):
        store.append("s", MessageEntry(HELLO, id="c1"))
    with pytest.raises(Corrupt):
        session.commit(SessionCommit("e1", "c1", [HELLO]))
    with pytest.raises(Corrupt):
        store.append("s", MessageEntry(HI, id="c1/0"))
    assert before == everything(store)


def test_a_commit_whose_messages_would_get_an_id_that_is_taken_is_refused(store: Store) -> None:
    store.create(SessionMeta("s"))
    store.append("s", MessageEntry(HELLO, id="c1/1"))
    before = everything(store)
    with pytest.raises(Corrupt, match="'c1/1' already"):
        store.bind("s").commit(SessionCommit("c1", "c1/1", [HI, HELLO]))
    assert everything(store) == before
    assert store.bind("s").commit(SessionCommit("c1", "c1/1", [HI])).head == "c1"
    assert [entry.id for entry in store.load("s")] == ["c1/1", "c1/0"]


def test_ids_of_entries_and_commits_that_only_begin_alike_are_free(store: Store) -> None:
    store.create(SessionMeta("s"))
    # The message of the commit "c1/0" has the id "c1/0/0", and an entry has the id that it was given.
    store.append("s", MessageEntry(HELLO, id="e1"))
    store.append("s", MessageEntry(HELLO, id="e1/0"))
    store.bind("s").commit(SessionCommit("c1/0", "e1/0", [HI]))
    store.bind("s").commit(SessionCommit("c1", "c1/0", [HI]))
    assert [entry.id for entry in store.load("s")] == ["e1", "e1/0", "c1/0/0", "c1/0"]
    assert list(verify(store)) == []


@pytest.mark.parametrize("entry_id", ["c1/1", "c1/00", "c1/\u0660", "c1/x", "c1/", "/0", "c1"[:1] + "/0"])
def test_an_id_that_only_looks_like_a_place_is_free(store: Store, entry_id: str) -> None:
    store.bind("s").commit(SessionCommit("c1", None, [HELLO]))
    store.append("s", MessageEntry(HI, id=entry_id))
    assert [entry.id for entry in store.load("s")] == ["c1/0", entry_id]


def test_compactions_and_unknown_entries_are_entries_and_no_messages(store: Store) -> None:
    note = UnknownEntry({"type": "note", "id": "n1", "timestamp": "2025-01-01T00:00:00Z"}, "n1", "2025-01-01T00:00:00Z")
    entries = [ENTRY, CompactionEntry("so far", "e1"), note, MessageEntry(HI)]
    store.create(SessionMeta("s"))
    for entry in entries:
        store.append("s", entry)
    assert store.load("s") == entries
    assert store.bind("s").load() == Session(entries[-1].id, [HELLO, HI])
    assert store.messages("s") == [HELLO, HI]


def test_a_compaction_moves_the_head(store: Store) -> None:
    store.create(SessionMeta("s"))
    store.append("s", CompactionEntry("so far", id="x"))
    assert store.bind("s").load() == Session("x", [])
    assert store.bind("s").commit(SessionCommit("c1", "x", [HI])).messages == [HI]


def test_a_fork_shows_the_same_in_both(store: Store) -> None:
    session = store.bind("s")
    session.commit(SessionCommit("c1", None, [HELLO]))
    store.append("s", MessageEntry(HI, id="e2"))
    session.commit(SessionCommit("c3", "e2", [HELLO]))
    store.fork("s", "early", at="e2", title="an early one")
    assert store.bind("early").load() == Session("e2", [HELLO, HI])
    assert [entry.id for entry in store.load("early")] == ["c1/0", "e2"]
    info = store.info("early")
    assert (info.parent_session, info.title, info.meta.forked_from) == (
        "s",
        "an early one",
        store.info("s", at="e2").oid,
    )
    assert store.bind("early").commit(SessionCommit("d", "e2", [HI])).messages == [HELLO, HI, HI]
    assert session.load().head == "c3"


# Every name works in both.


@pytest.mark.parametrize(
    "session_id",
    [
        "s",
        "a b  c ",
        "agent:main:slack:C012",
        "a..b",
        "...",
        "@{",
        "main@{1}",
        "x.lock",
        ".lock",
        "-leading",
        "--upload-pack=x",
        ".hidden",
        "HEAD",
        "CON",
        "con.txt",
        "Lpt1",
        "Capitals",
        "capitals",
        "😀🙈",
        "e\u0301",
        "\u0301",
        "user@example.com",
        "a/b",
        "a",
        "a/b/c",
        "/",
        "//",
        "%",
        "%2F",
        "~^:?*[\\",
        "0123456789abcdef0123456789abcdef01234567",
        "f" * 40,
        "tab\tnew\nline\0nul\x7f",
        "main",
        "a" * 200,
        "/" * 66,
    ],
)
def test_every_session_id_works_in_both(store: Store, session_id: str) -> None:
    store.bind("a").commit(SessionCommit("c0", None, [HI]))
    if session_id != "a":
        assert store.create(SessionMeta(session_id)) == session_id
        store.bind(session_id).commit(SessionCommit("c0", None, [HI]))
    store.append(session_id, ENTRY)
    assert store.bind(session_id).load() == Session("e1", [HI, HELLO])
    assert {meta.id for meta in store.list()} == {"a", session_id}
    assert store.find(session_id) == session_id
    assert store.info(session_id).id == session_id


def test_all_ids_stand_side_by_side(store: Store) -> None:
    names = ["a", "A/b", "a/b", "a%2Fb", "a/b/c", "a.lock", "a.", ".a", "a..b", "-a", "HEAD", "head", "é", "e\u0301"]
    for name in names:
        store.create(SessionMeta(name))
        store.append(name, MessageEntry({"name": name}))
    assert sorted(meta.id for meta in store.list()) == sorted(names)
    assert [store.load(name)[0].message["name"] for name in names] == names


GONE: dict[str, Callable[[Store], object]] = {
    "load of the one contract": lambda store: store.bind("a").load(),
    "load of the other": lambda store: store.load("a"),
    "commit": lambda store: store.bind("a").commit(SessionCommit("c1", "c0", [HI])),
    "commit of a new session": lambda store: store.bind("b").commit(SessionCommit("c0", None, [HI])),
    "create": lambda store: store.create(SessionMeta("b")),
    "append": lambda store: store.append("a", ENTRY),
    "fork": lambda store: store.fork("a", "b"),
    "list": lambda store: store.list(),
    "sessions": lambda store: [*store.sessions()],
    "log": lambda store: [*store.log("a")],
    "verify": lambda store: [*verify(store)],
    "maintain": maintain,
    "import": lambda store: [*import_transcripts(store, [Path(__file__).parents[2] / "fixtures/chat/openai.json"])],
}


@pytest.mark.parametrize("name", GONE)
@pytest.mark.parametrize("unmounted", [False, True])
def test_a_store_that_is_gone_is_unavailable_and_not_empty(store: Store, name: str, unmounted: bool) -> None:
    store.bind("a").commit(SessionCommit("c0", None, [HI]))
    shutil.rmtree(store.path)
    if unmounted:
        store.path.mkdir()  # where a disk was mounted
    with pytest.raises(Unavailable, match="is gone"):
        GONE[name](store)
    assert not store.path.exists() or not [*store.path.iterdir()]
