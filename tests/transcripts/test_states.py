"""Documents that are written anew when they grow."""

import json
from pathlib import Path

import pytest
from imports import imported, original, read_twice, texts

from gitsession import (
    FoundSecret,
    ImportResult,
    MessageEntry,
    Store,
    import_transcripts,
)
from tests.secrets_made_up import SECRETS

SESSION = "5f0c2c1e-7d0a-4f43-9d2e-0a6f5b7c1d04"


@pytest.fixture(params=["in memory", "read again"], autouse=True)
def _twice(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    read_twice(str(request.param), monkeypatch)


def gemini(path: Path, *messages: tuple[str, str], updated: int = 0) -> Path:
    """Writes a document of Gemini CLI with these messages, each an id and a text."""
    made = [{"id": own, "timestamp": "2026-03-02T09:00:00Z", "type": "user", "content": said} for own, said in messages]
    around = {"sessionId": SESSION, "projectHash": "3f1b", "startTime": "2026-03-02T09:00:00Z", "lastUpdated": updated}
    path.write_text(json.dumps({**around, "messages": made}, indent=2))
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.json"


def test_a_longer_document_adds_its_new_messages_and_what_stands_around_them(store: Store, path: Path) -> None:
    first = imported(store, gemini(path, ("a", "one"), ("b", "two")))
    second = imported(store, gemini(path, ("a", "one"), ("b", "two"), ("c", "three"), updated=1))
    assert (first.session, first.new_commits) == (SESSION, 3)
    assert (second.session, second.new_commits, second.rewritten_from) == (SESSION, 2, None)
    assert [entry.commit_id for entry in store.log(SESSION)] == ["c", "document.v2", "b", "a", "document"]
    assert texts(store, SESSION) == ["one", "two", "three"]
    assert original(store, SESSION) == path.read_bytes()


def test_an_array_alone_grows_as_if_it_was_imported_at_once(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    messages = [{"role": "user", "content": str(number)} for number in range(4)]
    for end in (2, 3, 4):
        path.write_text(json.dumps(messages[:end], indent=1))
        imported(store, path)
    other = Store.init(tmp_path / "other.git", durable=False)
    imported(other, path)
    assert [entry.oid for entry in store.log("chat")] == [entry.oid for entry in other.log("chat")]
    assert original(store, "chat") == path.read_bytes()


def test_the_document_at_an_earlier_commit_is_one(store: Store, path: Path) -> None:
    imported(store, gemini(path, ("a", "one"), ("b", "two")))
    assert [one["id"] for one in json.loads(b"".join(store.original(SESSION, at="~1")))["messages"]] == ["a"]


def test_importing_again_changes_nothing(store: Store, path: Path) -> None:
    imported(store, gemini(path, ("a", "one")))
    imported(store, gemini(path, ("a", "one"), ("b", "two"), updated=1))
    assert imported(store, path).new_commits == 0


def test_an_earlier_state_is_held_by_the_later_one(store: Store, path: Path) -> None:
    for end, updated in ((1, 0), (2, 1), (3, 2), (2, 1), (1, 0)):
        done = imported(store, gemini(path, *[("a", "one"), ("b", "two"), ("c", "three")][:end], updated=updated))
    assert (done.session, done.new_commits) == (SESSION, 0)
    assert texts(store, SESSION) == ["one", "two", "three"]


def test_the_title_stays_when_only_what_stands_around_the_messages_changes(store: Store, path: Path) -> None:
    for updated in range(3):
        done = imported(store, gemini(path, ("a", "one"), ("b", "two"), updated=updated))
        assert (done.new_commits, store.info(SESSION).title) == (1 if updated else 3, "one")
    imported(store, gemini(path, ("a", "uno"), ("b", "two"), updated=3))
    assert store.info(SESSION).title == "uno"


def test_a_document_that_goes_back_is_behind_the_session(store: Store, path: Path) -> None:
    went = ((1, 0, False), (3, 1, False), (3, 1, False), (1, 1, True), (3, 0, True), (3, 1, False), (1, 0, True))
    for end, updated, behind in went:
        done = imported(store, gemini(path, *[("a", "one"), ("b", "two"), ("c", "three")][:end], updated=updated))
        assert done.behind == behind
    path.write_bytes(path.read_bytes()[:-40])
    assert not imported(store, path).behind


def test_a_document_is_not_behind_what_was_appended_to_its_session(store: Store, path: Path) -> None:
    imported(store, gemini(path, ("a", "one"), ("b", "two")))
    store.append(SESSION, MessageEntry({"role": "user", "content": "mine"}))
    assert not imported(store, path).behind
    assert imported(store, gemini(path, ("a", "one"))).behind


def test_a_message_that_changed_is_a_version_of_it(store: Store, path: Path) -> None:
    imported(store, gemini(path, ("a", "one"), ("b", "tw")))
    imported(store, gemini(path, ("a", "one"), ("b", "two"), ("c", "three")))
    done = imported(store, gemini(path, ("a", "one"), ("b", "two!"), ("c", "three")))
    assert (done.session, done.new_commits) == (SESSION, 1)
    assert [entry.commit_id for entry in store.log(SESSION)] == ["b.v3", "c", "b.v2", "b", "a", "document"]
    assert texts(store, SESSION) == ["one", "two!", "three"]
    assert original(store, SESSION) == path.read_bytes()


def test_a_document_that_lost_a_message_goes_on_beside_the_session(store: Store, path: Path) -> None:
    imported(store, gemini(path, ("a", "one"), ("b", "two")))
    rewound = imported(store, gemini(path, ("a", "one"), ("c", "three")))
    assert (rewound.session, rewound.rewritten_from) == (f"{SESSION}.c", SESSION)
    later = imported(store, gemini(path, ("a", "one"), ("c", "three"), ("d", "four"), updated=1))
    assert (later.session, later.new_commits) == (f"{SESSION}.c", 2)
    assert texts(store, SESSION) == ["one", "two"]
    assert texts(store, f"{SESSION}.c") == ["one", "three", "four"]
    assert original(store, f"{SESSION}.c") == path.read_bytes()


def test_another_file_of_the_same_name_does_not_replace_the_first(store: Store, path: Path) -> None:
    for said in ("one", "uno"):
        path.write_text(json.dumps([{"id": "a", "role": "user", "content": said}]))
        done = imported(store, path)
    assert done.rewritten_from == "session"
    assert texts(store, "session") == ["one"]


def test_another_state_of_the_same_session_is_one_whatever_changed(store: Store, path: Path) -> None:
    imported(store, gemini(path, ("a", "one"), ("b", "two")))
    done = imported(store, gemini(path, ("a", "uno"), ("b", "due"), updated=1))
    assert (done.session, done.new_commits, done.rewritten_from) == (SESSION, 3, None)
    assert texts(store, SESSION) == ["uno", "due"]


@pytest.mark.parametrize("end", [-90, -40, -2])
def test_a_document_that_was_read_while_it_was_written_is_no_later_state(store: Store, path: Path, end: int) -> None:
    whole = gemini(path, ("a", "one"), ("b", "two")).read_bytes()
    imported(store, path)
    path.write_bytes(whole[:end])
    torn = imported(store, path)
    assert (torn.session, torn.new_commits, torn.unfinished) == (SESSION, 0, True)
    gemini(path, ("a", "one"), ("b", "two"), ("c", "three"), updated=1)
    path.write_bytes(path.read_bytes()[:-2])
    assert imported(store, path).new_commits == 1
    assert original(store, SESSION).startswith(whole[:100])
    assert texts(store, SESSION) == ["one", "two", "three"]
    path.write_bytes(whole)
    assert imported(store, path).new_commits == 0


def test_a_document_with_a_damaged_message_goes_on_beside_the_session(store: Store, path: Path) -> None:
    whole = gemini(path, ("a", "one"), ("b", "two")).read_bytes()
    imported(store, path)
    path.write_bytes(whole.replace(b'"two"', b"two"))
    damaged = imported(store, path)
    assert damaged.rewritten_from == SESSION
    assert original(store, damaged.session) == path.read_bytes()
    path.write_bytes(whole)
    assert (imported(store, path).new_commits, imported(store, path).session) == (0, SESSION)
    assert original(store, SESSION) == whole


def test_a_damaged_document_grows(store: Store, path: Path) -> None:
    damaged = b'[{"role":"user","content":"\xff"},{"role":"user","content":"b"}]'
    path.write_bytes(damaged)
    imported(store, path)
    path.write_bytes(damaged[:-1] + b',{"role":"user","content":"c"}]')
    assert (imported(store, path).session, texts(store, "session")) == ("session", ["\ufffd", "b", "c"])


def test_a_document_that_was_cut_is_completed(store: Store, path: Path) -> None:
    whole = gemini(path, ("a", "one"), ("b", "two")).read_bytes()
    path.write_bytes(whole[:-40])
    assert imported(store, path).unfinished
    assert texts(store, SESSION) == ["one"]
    path.write_bytes(whole)
    done = imported(store, path)
    assert (done.session, done.new_commits, done.rewritten_from) == (SESSION, 2, None)
    assert texts(store, SESSION) == ["one", "two"]
    assert original(store, SESSION) == whole


def test_of_several_branches_the_one_that_holds_most_goes_on(store: Store, path: Path) -> None:
    said = [("a", "one"), ("b", "two"), ("c", "three"), ("d", "four")]
    imported(store, gemini(path, *said[:1]))
    imported(store, gemini(path, ("x", "un"), ("b", "deux")))
    imported(store, gemini(path, *said[:2], ("y", "trois")))
    assert sorted(one.id for one in store.sessions()) == [SESSION, f"{SESSION}.x"]
    done = imported(store, gemini(path, *said[:2], ("y", "trois"), said[3]))
    assert (done.session, done.new_commits) == (SESSION, 1)
    done = imported(store, gemini(path, ("x", "un"), ("b", "deux"), said[2]))
    assert (done.session, done.new_commits) == (f"{SESSION}.x", 1)


def test_what_is_said_again_after_it_was_changed_is_an_earlier_state(store: Store, path: Path) -> None:
    for said in ("one", "two", "one"):
        done = imported(store, gemini(path, ("a", "first"), ("b", said)))
    assert (done.session, done.new_commits) == (SESSION, 0)
    done = imported(store, gemini(path, ("a", "first"), ("b", "one"), ("c", "third")))
    assert (done.session, done.new_commits) == (SESSION, 2)
    assert [entry.commit_id for entry in store.log(SESSION)][:2] == ["c", "b.v3"]


def test_secrets_are_taken_out_of_each_record_once(store: Store, path: Path) -> None:
    token = SECRETS["github-pat"]
    (first,) = import_transcripts(store, [gemini(path, ("a", f"use {token}"), ("b", "two"))], redact=True)
    (second,) = import_transcripts(store, [gemini(path, ("a", f"use {token}"), ("b", "two"), ("c", token))])
    assert isinstance(first, ImportResult)
    assert isinstance(second, ImportResult)
    assert [len(first.secrets), len(second.secrets)] == [1, 1]
    assert isinstance(second.secrets[0], FoundSecret)
    assert (second.new_commits, second.redacted) == (1, True)
    assert token.encode() not in original(store, SESSION)


def test_what_an_agent_writes_during_an_import_is_for_the_next(store: Store, path: Path) -> None:
    imported(store, gemini(path, ("a", "one")))
    old = gemini(path, ("a", "one"), ("b", "two"), ("c", "three")).read_bytes()
    new = gemini(path, ("a", "uno"), ("b", "two"), ("d", "f" * 100)).read_bytes()
    path.write_bytes(old)

    def interfere(_: int) -> None:
        path.write_bytes(new)

    (done,) = import_transcripts(store, [path], progress=interfere)
    assert isinstance(done, ImportResult)
    assert (done.session, done.new_commits, done.problems) == (SESSION, 2, ())
    assert original(store, SESSION) == old
    assert original(store, imported(store, path).session) == new


def test_progress_is_told_for_each_byte_of_a_document(store: Store, path: Path) -> None:
    told: list[int] = []
    for end in (2, 3):
        size = gemini(path, *[("a", "one"), ("b", "two"), ("c", "three")][:end]).stat().st_size
        told.clear()
        list(import_transcripts(store, [path], progress=told.append))
        # But for the end of a line, which may be missing.
        assert size <= sum(told) <= size + 1
        assert len(told) == end + 1


def test_a_document_in_another_order_is_no_earlier_state(store: Store, path: Path) -> None:
    imported(store, gemini(path, ("a", "one"), ("b", "two"), ("c", "three")))
    found = imported(store, gemini(path, ("b", "two"), ("a", "one"), ("c", "three")))
    assert (found.session, found.rewritten_from) == (f"{SESSION}.b", SESSION)
    assert original(store, found.session) == path.read_bytes()
    assert texts(store, SESSION) == ["one", "two", "three"]
    # An earlier state, in the order in which the records came, is there already.
    found = imported(store, gemini(path, ("a", "one"), ("c", "three")))
    assert (found.session, found.new_commits, found.behind) == (SESSION, 0, True)
