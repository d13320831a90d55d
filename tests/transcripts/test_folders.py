"""Directories of files that are one transcript, and are written anew when it grows."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from imports import imported, original, read_twice, texts
from transcript_files import FIXTURES, content_of

from gitsession import (
    ImportFailure,
    ImportResult,
    Store,
    UnknownTranscript,
    import_transcripts,
)
from gitsession.files import listing, whole
from gitsession.transcripts import FORMATS
from tests.secrets_made_up import SECRETS

OPENCODE = "ses_48c1f0a2bffeX1"


@pytest.fixture(params=["in memory", "read again"], autouse=True)
def _twice(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    read_twice(str(request.param), monkeypatch)


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


def test_a_file_of_a_folder_that_was_read_while_it_was_written_is_whole_again(store: Store, storage: Path) -> None:
    session = storage / "session" / "9d3f6c" / f"{OPENCODE}.json"
    torn = storage / "part" / "msg_03" / "prt_0301.json"
    whole = torn.read_bytes()
    imported(store, session)
    torn.write_bytes(whole[:60])
    done = imported(store, session)
    assert (done.session, done.new_commits, done.unfinished, done.problems) == (OPENCODE, 0, True, ())
    assert texts(store, OPENCODE)[-1] == "Two: a.txt and b.txt."
    torn.write_bytes(whole)
    done = imported(store, session)
    assert (done.session, done.new_commits, done.unfinished) == (OPENCODE, 0, False)
    assert original(store, OPENCODE) == content_of(session)


@pytest.mark.parametrize("folder", ["opencode/storage", "openhands/conversations/3f0b8c527a414d7e9c1d2b6f5e8a9041"])
def test_a_folder_that_grew_by_torn_files_is_as_if_imported_whole(store: Store, tmp_path: Path, folder: str) -> None:
    whole = Store.init(tmp_path / "whole.git", durable=False)
    list(import_transcripts(whole, [FIXTURES / folder]))
    # The file that the folder is recognised by comes first.
    files = sorted((FIXTURES / folder).rglob("*.json"), key=lambda path: (path.parts[-3] != "session", path))
    for path in files:
        target = tmp_path / "grown" / path.relative_to(FIXTURES / folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        content = path.read_bytes()
        for end in (0, len(content) // 2, len(content) - 2, len(content)):
            target.write_bytes(content[:end])
            done = list(import_transcripts(store, [tmp_path / "grown"]))
            assert {one.unfinished for one in done if isinstance(one, ImportResult)} <= {end < len(content)}
    assert [one.id for one in store.sessions()] == [one.id for one in whole.sessions()]
    (session,) = (one.id for one in store.sessions())
    assert list(store.messages(session)) == list(whole.messages(session))
    assert original(store, session) == original(whole, session)


def test_a_file_that_was_stored_damaged_and_is_torn_makes_no_branch(store: Store, storage: Path) -> None:
    session = storage / "session" / "9d3f6c" / f"{OPENCODE}.json"
    torn = storage / "part" / "msg_03" / "prt_0301.json"
    content = torn.read_bytes()
    for written in (content + b"junk", content[:60]):
        torn.write_bytes(written)
        imported(store, session)
    (storage / "part" / "msg_03" / "prt_0309.json").write_bytes(content.replace(b"prt_0301", b"prt_0309"))
    done = imported(store, session)
    assert (done.session, done.new_commits, done.unfinished) == (OPENCODE, 1, True)
    torn.write_bytes(content)
    assert (imported(store, session).new_commits, original(store, OPENCODE)) == (1, content_of(session))


def test_a_folder_waits_while_its_first_file_is_torn(store: Store, storage: Path) -> None:
    session = storage / "session" / "9d3f6c" / f"{OPENCODE}.json"
    content = session.read_bytes()
    session.write_bytes(content[:-5])
    (done,) = import_transcripts(store, [session])
    assert isinstance(done, ImportFailure)
    assert "still writing" in str(done.error)
    session.write_bytes(content)
    imported(store, session)
    session.write_bytes(content[:-5])
    waiting = imported(store, session)
    assert (waiting.session, waiting.new_commits, waiting.unfinished) == (OPENCODE, 0, True)


def test_a_torn_first_file_is_taken_as_it_is_where_the_format_is_named(store: Store, storage: Path) -> None:
    session = storage / "session" / "9d3f6c" / f"{OPENCODE}.json"
    session.write_bytes(session.read_bytes()[:-5])
    for new in (15, 0):
        (done,) = import_transcripts(store, [session], format="opencode")
        assert isinstance(done, ImportResult)
        assert (done.session, done.new_commits, len(done.problems)) == (OPENCODE, new, 1)
    assert original(store, OPENCODE) == content_of(session)


def test_secrets_are_told_of_the_files_that_hold_them_beside_a_torn_one(store: Store, storage: Path) -> None:
    session = storage / "session" / "9d3f6c" / f"{OPENCODE}.json"
    list(import_transcripts(store, [session], redact=True))
    part = storage / "part" / "msg_03" / "prt_0301.json"
    (storage / "part" / "msg_03" / "prt_0300.json").write_text('{"token": "' + SECRETS["github-pat"])
    part.write_text(part.read_text().replace("Two:", f"Two: {SECRETS['github-pat']}"))
    (done,) = import_transcripts(store, [session])
    assert isinstance(done, ImportResult)
    assert (done.new_commits, done.unfinished, [one.kind for one in done.secrets]) == (1, True, ["github-pat"])


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


def test_a_session_file_that_is_empty_is_told_once(store: Store, storage: Path) -> None:
    session = storage / "session" / "9d3f6c" / f"{OPENCODE}.json"
    session.write_bytes(b"")
    (failed,) = import_transcripts(store, [storage])
    assert isinstance(failed, ImportFailure)
    assert (failed.path, str(failed.error)) == (session, f"{session}: is empty")


@pytest.mark.parametrize(
    ("spoil", "line", "reason"),
    [
        (lambda content: content.replace(b'"time"', b"time"), 7, "it is no JSON"),
        (lambda content: content.replace(b"Two", b"T\xffo"), 6, "it is no UTF-8 at byte"),
        (lambda content: content + b"{", 11, "it is no JSON"),
    ],
    ids=["a stray word", "no UTF-8", "junk behind it"],
)
def test_what_is_damaged_in_a_folder_is_reported_by_file_and_line(
    store: Store, storage: Path, spoil: Callable[[bytes], bytes], line: int, reason: str
) -> None:
    session = storage / "session" / "9d3f6c" / f"{OPENCODE}.json"
    part = storage / "part" / "msg_03" / "prt_0301.json"
    part.write_bytes(spoil(part.read_bytes()))
    done = imported(store, session)
    ((found, at, told),) = [(one.file, one.line, one.reason) for one in done.problems]
    assert (found, at, told[: len(reason)]) == ("part/msg_03/prt_0301.json", line, reason)
    assert original(store, OPENCODE) == content_of(session)
    assert texts(store, OPENCODE)[0].startswith("Which files are here?")


def test_an_event_that_is_damaged_is_reported(store: Store, tmp_path: Path) -> None:
    (state,) = (path.parents[1] / "base_state.json" for path in FIXTURES.glob("openhands/**/event-00003-e3.json"))
    conversation = Path(shutil.copytree(state.parent, tmp_path / state.parent.name))
    (conversation / "events" / "event-00003-e3.json").write_bytes(b"\0\0\0\0")
    done = imported(store, conversation / "base_state.json")
    assert [(one.file, one.line) for one in done.problems] == [("events/event-00003-e3.json", 1)]


def test_a_session_file_that_is_damaged_hides_no_message(store: Store, storage: Path) -> None:
    session = storage / "session" / "9d3f6c" / f"{OPENCODE}.json"
    whole = texts(store, imported(store, session).session)
    session.write_bytes(session.read_bytes().replace(b'"time"', b'"time'))
    other = Store.init(storage.parent / "other.git", durable=False)
    done = imported(other, session)
    assert [(one.file.split("/")[0], done.session) for one in done.problems] == [("session", OPENCODE)]
    assert texts(other, OPENCODE) == whole


def test_an_event_of_a_conversation_stands_for_all_of_it(store: Store) -> None:
    (path,) = FIXTURES.glob("openhands/conversations/*/events/event-00003-e3.json")
    assert imported(store, path).path == path.parent.parent / "base_state.json"


def test_a_bundle_that_was_exported_is_the_session_again(store: Store, storage: Path, tmp_path: Path) -> None:
    list(import_transcripts(store, [storage]))
    exported = tmp_path / "exported.jsonl"
    exported.write_bytes(original(store, OPENCODE))
    assert (imported(store, exported).session, imported(store, exported).new_commits) == (OPENCODE, 0)
