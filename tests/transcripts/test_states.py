"""Transcripts that are written anew when they grow: documents, and directories of files."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from transcript_files import FIXTURES, content_of

from gitsession import (
    FoundSecret,
    ImportFailure,
    ImportResult,
    Store,
    UnknownTranscript,
    few,
    import_transcripts,
)
from gitsession.files import listing, whole
from gitsession.repo import scratch
from gitsession.transcripts import FORMATS
from tests.secrets_made_up import SECRETS

SESSION = "5f0c2c1e-7d0a-4f43-9d2e-0a6f5b7c1d04"
OPENCODE = "ses_48c1f0a2bffeX1"


@pytest.fixture(params=["in memory", "read again"], autouse=True)
def _twice(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goes through each transcript twice as if it was a small one, and as if it was a large one."""
    if request.param == "read again":
        monkeypatch.setattr(few, "_MOST_BYTES", 0)
        monkeypatch.setattr(scratch, "_IN_MEMORY", 0)


def imported(store: Store, path: Path) -> ImportResult:
    (done,) = import_transcripts(store, [path])
    assert isinstance(done, ImportResult)
    return done


def original(store: Store, session: str) -> bytes:
    return b"".join(store.original(session))


def texts(store: Store, session: str) -> list[Any]:
    return [message.get("content") for message in store.messages(session)]


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
    imported(store, gemini(path, ("a", "one"), ("b", "two")))
    done = imported(store, gemini(path, ("a", "uno"), ("b", "due")))
    assert done.rewritten_from == SESSION
    assert texts(store, SESSION) == ["one", "two"]


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


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    """Returns a copy of opencode's folder."""
    return Path(shutil.copytree(FIXTURES / "opencode" / "storage", tmp_path / "storage"))


def test_the_files_of_a_folder_are_one_session(store: Store, storage: Path) -> None:
    (done,) = import_transcripts(store, [storage])
    assert isinstance(done, ImportResult)
    assert (done.session, done.format, done.problems) == (OPENCODE, "opencode", ())
    assert texts(store, OPENCODE)[-1] == "Two: a.txt and b.txt."
    assert original(store, OPENCODE) == content_of(storage / "session" / "9d3f6c" / f"{OPENCODE}.json")


def test_each_file_comes_back_from_a_folder(store: Store, storage: Path) -> None:
    list(import_transcripts(store, [storage]))
    files = [json.loads(line) for line in original(store, OPENCODE).splitlines()]
    expected = {str(path.relative_to(storage)): path.read_text() for path in storage.rglob("*.json")}
    assert {one["path"]: one["text"] for one in files} == expected


def test_files_that_changed_and_came_anew_are_added(store: Store, storage: Path) -> None:
    session = storage / "session" / "9d3f6c" / f"{OPENCODE}.json"
    changed = storage / "part" / "msg_03" / "prt_0301.json"
    whole = changed.read_text()
    changed.write_text(whole.replace("Two: a.txt and b.txt.", "Two:"))
    late = storage / "part" / "msg_02" / "prt_0204.json"
    late_text = late.read_text()
    late.unlink()
    imported(store, session)
    assert texts(store, OPENCODE)[-1] == "Two:"
    changed.write_text(whole)
    late.write_text(late_text)
    done = imported(store, session)
    assert (done.session, done.new_commits, done.rewritten_from) == (OPENCODE, 2, None)
    assert [message["role"] for message in store.messages(OPENCODE)] == [
        *("user", "user", "assistant", "tool", "tool", "assistant")
    ]
    assert original(store, OPENCODE) == content_of(session)
    assert imported(store, session).new_commits == 0


def test_a_folder_that_lost_a_message_goes_on_beside_the_session(store: Store, storage: Path) -> None:
    session = storage / "session" / "9d3f6c" / f"{OPENCODE}.json"
    imported(store, session)
    (storage / "message" / OPENCODE / "msg_03.json").unlink()
    session.write_text(session.read_text().replace('"files": 0', '"files": 1'))
    done = imported(store, session)
    assert done.rewritten_from == OPENCODE
    assert original(store, done.session) == content_of(session)


def test_what_becomes_of_a_folder_during_an_import_is_for_the_next(store: Store, storage: Path) -> None:
    session = storage / "session" / "9d3f6c" / f"{OPENCODE}.json"
    late = storage / "part" / "msg_02" / "prt_0204.json"
    late_text = late.read_text()
    late.unlink()
    imported(store, session)
    late.write_text(late_text)
    expected = content_of(session)

    def interfere(_: int) -> None:
        late.unlink(missing_ok=True)
        (storage / "message" / OPENCODE / "msg_03.json").write_text("{}")

    (done,) = import_transcripts(store, [session], progress=interfere)
    assert isinstance(done, ImportResult)
    assert (done.session, done.new_commits, done.problems) == (OPENCODE, 1, ())
    assert original(store, OPENCODE) == expected


def test_the_files_of_a_folder_are_read_one_by_one(storage: Path) -> None:
    session = storage / "session" / "9d3f6c" / f"{OPENCODE}.json"
    bundled = FORMATS["opencode"].bundle(session, listing)
    assert bundled is not None
    first, second, third, *others = sorted(bundled[1][1:])
    with session.open("rb") as file:
        stream = whole(bundled, file)
        assert json.loads(stream.readline())["path"] == bundled[1][0]
        (storage / first).write_text("{}")
        (storage / second).unlink()
        files = [json.loads(line) for line in stream]
    assert files[0] == {"path": first, "text": "{}"}
    assert [one["path"] for one in files] == [first, third, *others]


@pytest.mark.parametrize("piece", ["message/*/msg_02.json", "part/msg_03/prt_0301.json", "todo/*.json"])
def test_a_piece_of_a_folder_stands_for_all_of_it(store: Store, storage: Path, piece: str) -> None:
    (path,) = storage.glob(piece)
    done = imported(store, path)
    assert (done.session, done.path.name) == (OPENCODE, f"{OPENCODE}.json")
    # Also where its pieces are met before it: as one transcript, once.
    assert [one.new_commits for one in import_transcripts(store, [storage]) if isinstance(one, ImportResult)] == [0]


def test_a_piece_of_a_folder_that_is_gone_is_no_transcript(store: Store, storage: Path) -> None:
    shutil.rmtree(storage / "session")
    (failed,) = import_transcripts(store, [storage / "part" / "msg_03" / "prt_0301.json"])
    assert isinstance(failed, ImportFailure)
    assert isinstance(failed.error, UnknownTranscript)


def test_an_event_of_a_conversation_stands_for_all_of_it(store: Store) -> None:
    (path,) = FIXTURES.glob("openhands/conversations/*/events/event-00003-e3.json")
    assert imported(store, path).path == path.parent.parent / "base_state.json"


def test_a_bundle_that_was_exported_is_the_session_again(store: Store, storage: Path, tmp_path: Path) -> None:
    list(import_transcripts(store, [storage]))
    exported = tmp_path / "exported.jsonl"
    exported.write_bytes(original(store, OPENCODE))
    assert (imported(store, exported).session, imported(store, exported).new_commits) == (OPENCODE, 0)
