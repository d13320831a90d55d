"""The contract of many sessions, each an append-only log, sentence by sentence."""

import re
import subprocess
import uuid
import warnings
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gitsession import (
    CompactionEntry,
    Corrupt,
    InvalidCommit,
    InvalidSessionId,
    MessageEntry,
    SessionEntry,
    SessionError,
    SessionExists,
    SessionMeta,
    SessionNotFound,
    Store,
    UnknownEntry,
    new_commit,
)
from tests.stores import HELLO, HI, SHAPES, everything, git_output

ENTRY = MessageEntry(HELLO, id="e1", timestamp="2025-01-01T00:00:00Z")


def stored(store: Store, session_id: str = "s") -> list[bytes]:
    return list(store.transcript(session_id))


@pytest.fixture
def unchanged(store: Store) -> Callable[..., SessionError]:
    """Returns a function that expects a call to fail, and to change nothing, and returns its error."""

    def run(call: Callable[..., object], *arguments: object) -> SessionError:
        before = everything(store)
        with pytest.raises(SessionError) as caught:
            call(*arguments)
        assert before == everything(store)
        return caught.value

    return run


# Create, append, load, list.


def test_what_is_created_and_appended_is_loaded_and_listed(store: Store) -> None:
    meta = SessionMeta("s", created_at="2025-01-01T00:00:00Z", title="First", agent="mine", extra={"tags": ["a"]})
    entries = [ENTRY, MessageEntry(HI, parent_id="e1"), CompactionEntry("so far", "e1", 12)]
    assert store.create(meta) == "s"
    for entry in entries:
        assert store.append("s", entry) is None
    assert store.load("s") == entries
    assert store.list() == [meta]


def test_a_second_store_on_the_same_path_sees_the_same(store: Store) -> None:
    meta = SessionMeta("s")
    store.create(meta)
    store.append("s", ENTRY)
    other = Store.open(store.path)
    assert (other.list(), other.load("s")) == ([meta], [ENTRY])
    other.append("s", replace(ENTRY, id="e2"))
    assert [entry.id for entry in store.load("s")] == ["e1", "e2"]


def test_a_store_that_was_never_written_lists_nothing(store: Store) -> None:
    assert store.list() == []
    assert list(store.sessions()) == []


def test_a_session_that_was_created_has_no_entries(store: Store) -> None:
    store.create(SessionMeta("s"))
    assert store.load("s") == []


def test_entries_of_different_sessions_do_not_mix(store: Store) -> None:
    for name in ("a", "b", "a/b"):
        store.create(SessionMeta(name))
    for number in range(9):
        store.append(["a", "b", "a/b"][number % 3], MessageEntry({"n": number}))
    assert [[entry.message["n"] for entry in store.load(name)] for name in ("a", "b", "a/b")] == [
        [0, 3, 6],
        [1, 4, 7],
        [2, 5, 8],
    ]


def test_creating_a_session_twice_fails_and_changes_nothing(
    store: Store, unchanged: Callable[..., SessionError]
) -> None:
    store.create(SessionMeta("s", title="one"))
    store.append("s", ENTRY)
    error = unchanged(store.create, SessionMeta("s", title="two"))
    assert (SessionExists, "s") == (type(error), error.session_id)
    assert store.info("s").title == "one"


def test_creating_a_session_that_a_commit_made_fails(store: Store, unchanged: Callable[..., SessionError]) -> None:
    store.bind("s").commit(new_commit(None, [HELLO]))
    assert isinstance(unchanged(store.create, SessionMeta("s")), SessionExists)


def test_an_unknown_session_can_neither_be_loaded_nor_appended_to(
    store: Store, unchanged: Callable[..., SessionError]
) -> None:
    calls: list[tuple[Callable[..., object], ...]] = [(store.load, "none"), (store.append, "none", ENTRY)]
    for call in [*calls, (store.info, "none"), (store.fork, "none"), (store.log, "none"), (store.messages, "none")]:
        error = unchanged(*call)
        assert (SessionNotFound, "none") == (type(error), error.session_id)
    assert store.list() == []


@pytest.mark.parametrize("session_id", ["", "\ud800", "a" * 201, "é" * 34, "refs/heads/s", None, 7])
def test_an_id_that_cannot_be_one_is_refused(store: Store, session_id: Any) -> None:
    with pytest.raises(InvalidSessionId):
        store.create(SessionMeta(session_id))
    assert everything(store) == ("", "", "")


# Entries again, and entries that are refused.


def test_an_equal_entry_that_the_session_holds_is_appended_once(store: Store) -> None:
    store.create(SessionMeta("s"))
    store.append("s", ENTRY)
    store.append("s", MessageEntry(HI))
    before = everything(store)
    store.append("s", ENTRY)
    store.append("s", MessageEntry(dict(HELLO), id="e1", timestamp="2025-01-01T00:00:00Z"))
    assert before == everything(store)
    assert len(store.load("s")) == 2


@pytest.mark.parametrize(
    "entry",
    [
        replace(ENTRY, message=HI),
        replace(ENTRY, timestamp="2025-01-01T00:00:01Z"),
        replace(ENTRY, parent_id="e0"),
        replace(ENTRY, extra={"x": 1}),
        CompactionEntry("so far", id="e1"),
        UnknownEntry({"type": "note", "id": "e1"}, "e1"),
    ],
)
def test_an_id_that_the_session_holds_for_another_entry_is_corrupt(
    store: Store, unchanged: Callable[..., SessionError], entry: SessionEntry
) -> None:
    store.create(SessionMeta("s"))
    store.append("s", ENTRY)
    store.append("s", MessageEntry(HI))
    assert isinstance(unchanged(store.append, "s", entry), Corrupt)


@pytest.mark.parametrize(
    "entry",
    [
        MessageEntry({**HELLO, "streaming": True}),
        UnknownEntry({"type": "message", "message": {**HELLO, "streaming": True}}),
        MessageEntry("Hello"),
        MessageEntry({"a": float("nan")}),
        MessageEntry({"a": {1, 2}}),
        MessageEntry(HELLO, id=""),
        MessageEntry(HELLO, id="a" * 201),
        MessageEntry(HELLO, id="\ud800"),
        MessageEntry(HELLO, id=None),
        MessageEntry(HELLO, timestamp=7),
        MessageEntry(HELLO, parent_id=["e1"]),
        MessageEntry(HELLO, extra={"type": "gitsession/record"}),
        MessageEntry(HELLO, extra={"message": {**HELLO, "streaming": True}}),
        MessageEntry(HELLO, extra={"id": "another"}),
        MessageEntry(HELLO, extra={"a": object()}),
        CompactionEntry(None),
        CompactionEntry("so far", extra={"summary": "another"}),
        UnknownEntry({"type": "gitsession/record", "format": "claude-code", "id": "x", "record": {}}),
        UnknownEntry({"type": "note", "id": "a"}, "b"),
        UnknownEntry(["note"]),
        HELLO,
        None,
    ],
)
def test_an_entry_that_would_not_come_back_equal_is_invalid_and_changes_nothing(
    store: Store, unchanged: Callable[..., SessionError], entry: Any
) -> None:
    store.create(SessionMeta("s"))
    store.append("s", ENTRY)
    assert isinstance(unchanged(store.append, "s", entry), InvalidCommit)
    assert store.load("s") == [ENTRY]


@pytest.mark.parametrize(
    "meta",
    [
        SessionMeta("s", title=7),
        SessionMeta("s", created_at=None, extra={"created_at": "x"}),
        SessionMeta("s", version="1"),
        SessionMeta("s", extra={"id": "another"}),
        SessionMeta("s", extra={"a": float("nan")}),
    ],
)
def test_a_header_that_would_not_come_back_equal_is_invalid(
    store: Store, unchanged: Callable[..., SessionError], meta: Any
) -> None:
    assert isinstance(unchanged(store.create, meta), InvalidCommit)
    assert store.list() == []


# Headers and entries as values.


def test_a_header_is_made_with_a_fresh_uuid_and_the_present_time() -> None:
    meta, other = SessionMeta(), SessionMeta()
    assert uuid.UUID(meta.id).version == 4
    assert meta.id != other.id
    assert (meta.version, meta.parent_session) == (1, None)
    assert abs((datetime.now(UTC) - datetime.fromisoformat(meta.created_at)).total_seconds()) < 10
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", meta.created_at)


@pytest.mark.parametrize("make", [lambda: MessageEntry(HELLO), lambda: CompactionEntry("so far")])
def test_an_entry_is_made_with_a_fresh_uuid_and_the_present_time(make: Callable[[], SessionEntry]) -> None:
    entry = make()
    assert uuid.UUID(entry.id).version == 4
    assert entry.id != make().id
    assert abs((datetime.now(UTC) - datetime.fromisoformat(entry.timestamp)).total_seconds()) < 10


def test_the_values_are_frozen() -> None:
    for value in (SessionMeta(), ENTRY, CompactionEntry("so far"), UnknownEntry({})):
        with pytest.raises(FrozenInstanceError):
            value.id = "another"


def test_entries_are_tagged_and_fields_that_are_none_leave_no_key(store: Store) -> None:
    store.create(SessionMeta("s"))
    store.append("s", ENTRY)
    store.append("s", replace(ENTRY, id="e2", parent_id="e1"))
    store.append("s", CompactionEntry("so far", id="e3", timestamp="2025-01-01T00:00:00Z"))
    store.append("s", CompactionEntry("so far", "e1", 12, id="e4", timestamp="2025-01-01T00:00:00Z"))
    time = b'"timestamp":"2025-01-01T00:00:00Z"}\n'
    message = b'{"type":"message","message":{"role":"user","content":"Hello"},'
    assert stored(store) == [
        message + b'"id":"e1",' + time,
        message + b'"id":"e2","parent_id":"e1",' + time,
        b'{"type":"compaction","summary":"so far","id":"e3",' + time,
        b'{"type":"compaction","summary":"so far","first_kept_id":"e1","tokens_before":12,"id":"e4",' + time,
    ]


def test_a_header_leaves_out_what_is_none(store: Store) -> None:
    store.create(SessionMeta("s", created_at="2025-01-01T00:00:00Z"))
    assert git_output(store.path, "show", "s:session.json") == (
        '{"format":1,"text":1,"tag":"043a71","meta":{"id":"s","version":1,"created_at":"2025-01-01T00:00:00Z"}}\n'
    )


def test_unknown_fields_are_kept(store: Store) -> None:
    extra = {"mood": "good", "nested": {"b": [1, None], "a": 1.5}, "": None}
    entries = [MessageEntry(HELLO, extra=extra), CompactionEntry("so far", extra=extra)]
    meta = SessionMeta("s", extra=extra)
    store.create(meta)
    for entry in entries:
        store.append("s", entry)
    assert (store.list(), store.load("s")) == ([meta], entries)
    assert list(store.load("s")[0].extra) == list(extra)


def test_entries_of_unknown_kinds_load_with_their_json(store: Store) -> None:
    values = [
        {"type": "note", "text": "x", "id": "n1", "timestamp": "2025-01-01T00:00:00Z"},
        {"id": "n2", "timestamp": "2025-01-01T00:00:00Z"},
        {"type": "message", "message": "no object", "id": "n3", "timestamp": ""},
        {"type": "compaction", "id": "n4", "timestamp": "2025-01-01T00:00:00Z"},
    ]
    store.create(SessionMeta("s"))
    for value in values:
        store.append("s", UnknownEntry(value, value["id"], value["timestamp"]))
    assert [entry.value for entry in store.load("s")] == values
    assert all(isinstance(entry, UnknownEntry) for entry in store.load("s"))
    assert [entry.id for entry in store.load("s")] == ["n1", "n2", "n3", "n4"]
    assert store.bind("s").load().messages == []


def test_an_unknown_entry_without_an_id_of_its_own_keeps_the_one_it_was_given(store: Store) -> None:
    store.create(SessionMeta("s"))
    entry = UnknownEntry({"type": "note"})
    store.append("s", entry)
    store.append("s", entry)
    (found,) = store.load("s")
    assert (found.id, found.value) == (entry.id, {"type": "note", "id": entry.id})


@pytest.mark.parametrize("shape", SHAPES)
def test_messages_of_every_shape_come_back_equal(store: Store, shape: str) -> None:
    store.create(SessionMeta("s"))
    for message in SHAPES[shape]:
        store.append("s", MessageEntry(message))
    assert [entry.message for entry in store.load("s")] == SHAPES[shape]


def test_a_message_that_is_no_longer_streaming_is_stored(store: Store) -> None:
    store.create(SessionMeta("s"))
    store.append("s", MessageEntry({**HELLO, "streaming": False}))
    assert store.bind("s").load().messages == [{**HELLO, "streaming": False}]


# A header, and a session, that something else wrote.


def write_session(store: Store, branch: str, header: str) -> None:
    """Makes a branch whose commit holds this `session.json`, with plain git."""
    blob = write_object(store, header)
    tree = git_input(store, f"100644 blob {blob}\tsession.json\n", "mktree")
    commit = git_input(store, "", "-c", "user.name=x", "-c", "user.email=x@invalid", "commit-tree", "-m", "x", tree)
    git_output(store.path, "update-ref", f"refs/heads/{branch}", commit)


def write_object(store: Store, content: str) -> str:
    return git_input(store, content, "hash-object", "-w", "--stdin")


def git_input(store: Store, stdin: str, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", store.path, *arguments], input=stdin.encode(), capture_output=True, check=True)
    return done.stdout.decode().strip()


def test_a_header_with_only_an_id_reads(store: Store) -> None:
    write_session(store, "s", '{"format":1,"text":1,"tag":"043a71","meta":{"id":"s"}}')
    assert store.list() == [SessionMeta("s", version=1, parent_session=None, created_at="")]
    store.append("s", ENTRY)
    assert store.load("s") == [ENTRY]


@pytest.mark.parametrize(
    "header",
    [
        "",
        "{",
        "[]",
        "null",
        '{"format":1,"text":1,"tag":"043a71"}',
        '{"format":1,"text":1,"tag":"043a71","meta":{}}',
        '{"format":1,"text":1,"tag":"043a71","meta":{"id":7}}',
        '{"format":1,"text":1,"tag":"x","meta":{"id":"s"}}',
        '{"format":2,"text":1,"tag":"043a71","meta":{"id":"s"}}',
        '{"format":1,"text":9,"tag":"043a71","meta":{"id":"s"}}',
        '{"meta":{"id":"s"}}',
    ],
)
def test_an_unreadable_session_is_skipped_with_a_warning_and_hides_no_other(store: Store, header: str) -> None:
    good = [SessionMeta("a"), SessionMeta("z")]
    for meta in good:
        store.create(meta)
    write_session(store, "s", header)
    with pytest.warns(UserWarning, match="'s'") as caught:
        assert sorted(store.list(), key=lambda meta: meta.id) == good
    assert len(caught) == 1
    with pytest.raises(SessionError):
        store.load("s")
    before = everything(store)
    with pytest.raises(SessionError):
        store.append("s", ENTRY)
    assert before == everything(store)


def test_a_readable_store_lists_without_a_warning(store: Store) -> None:
    store.create(SessionMeta("s"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(store.list()) == 1


def test_nothing_in_the_api_deletes_updates_or_overwrites() -> None:
    verbs = {name for name in dir(Store) if not name.startswith("_")}
    assert set() == {name for name in verbs if re.search("delete|remove|update|overwrite|set|put|write|edit", name)}


def test_fewer_than_no_entries_cannot_be_wanted(store: Store) -> None:
    store.create(SessionMeta("s"))
    with pytest.raises(ValueError, match="-1 entries"):
        store.load("s", last=-1)
