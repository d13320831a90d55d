"""Putting transcripts where their agents look: a file, or a folder of files, and never over another."""

import dataclasses
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from gitsession import (
    Corrupt,
    ImportResult,
    MessageEntry,
    Store,
    TranscriptExists,
    export_transcript,
    holds_transcripts,
    import_transcripts,
    install_transcript,
    installer,
    new_commit,
)

FIXTURES = Path(__file__).parents[1] / "fixtures"
SIMPLE = FIXTURES / "claude-code" / "simple.jsonl"
CONVERSATION = FIXTURES / "openhands" / "conversations" / "3f0b8c527a414d7e9c1d2b6f5e8a9041"


def take(store: Store, path: Path) -> str:
    (result,) = import_transcripts(store, [path])
    assert isinstance(result, ImportResult)
    return result.session


def contents(path: Path) -> dict[str, bytes]:
    return {str(one.relative_to(path)): one.read_bytes() for one in path.rglob("*") if one.is_file()}


@pytest.fixture
def native(store: Store) -> str:
    """Makes a session of messages that no agent wrote, and returns its id."""
    store.bind("fix-login").commit(new_commit(None, [{"role": "user", "content": "Why does the login fail?"}]))
    return "fix-login"


class TestFile:
    def test_writes_a_private_file_and_its_directories(self, store: Store, native: str, tmp_path: Path) -> None:
        made = export_transcript(store, native, "claude-code")
        path = tmp_path / "a" / "b" / made.path.name
        assert install_transcript(made, path)
        assert path.read_bytes() == b"".join(export_transcript(store, native, "claude-code").lines)
        assert path.stat().st_mode & 0o777 == 0o600

    def test_does_nothing_where_the_same_is_there(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "dce66516-592a-5ca8-a6a8-65846a6e5074.jsonl"
        path.write_bytes(SIMPLE.read_bytes())
        session = take(store, path)
        before = path.stat()
        assert not install_transcript(export_transcript(store, session, "claude-code"), path)
        assert path.stat() == before

    @pytest.mark.parametrize("there", [b"", b"other", SIMPLE.read_bytes() + b"{}\n", SIMPLE.read_bytes()[:-1]])
    def test_never_writes_over_another_file(self, store: Store, tmp_path: Path, there: bytes) -> None:
        made = export_transcript(store, take(store, SIMPLE), "claude-code")
        path = tmp_path / "s.jsonl"
        path.write_bytes(there)
        with pytest.raises(TranscriptExists) as raised:
            install_transcript(made, path)
        assert (raised.value.path, raised.value.size) == (str(path), len(there))
        assert path.read_bytes() == there

    def test_never_writes_over_anything_else(self, store: Store, native: str, tmp_path: Path) -> None:
        made = export_transcript(store, native, "pi")
        path = tmp_path / "s.jsonl"
        path.symlink_to(tmp_path / "elsewhere")
        with pytest.raises(TranscriptExists, match="something else"):
            install_transcript(made, path)
        assert not (tmp_path / "elsewhere").exists()
        with pytest.raises(TranscriptExists):
            install_transcript(made, tmp_path)

    def test_a_kill_leaves_no_half_of_it(
        self, store: Store, native: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made = export_transcript(store, native, "claude-code")
        path = tmp_path / "projects" / made.path.name

        def dies(_path: Path, content: Iterable[bytes]) -> None:
            assert next(iter(content))
            assert not path.exists()
            raise KeyboardInterrupt

        monkeypatch.setattr(installer, "_write", dies)
        with pytest.raises(KeyboardInterrupt):
            install_transcript(made, path)
        assert [*path.parent.iterdir()] == []

    def test_a_file_system_without_hard_links_will_do(
        self, store: Store, native: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(_source: Path, _target: Path) -> None:
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", refuse)
        path = tmp_path / "s.jsonl"
        assert install_transcript(export_transcript(store, native, "claude-code"), path)
        assert path.read_bytes() == b"".join(export_transcript(store, native, "claude-code").lines)
        assert not install_transcript(export_transcript(store, native, "claude-code"), path)
        assert [*tmp_path.glob(".gitsession-*")] == []


class TestFolder:
    def test_a_conversation_that_was_imported_has_its_files_again(self, store: Store, tmp_path: Path) -> None:
        session = take(store, CONVERSATION)
        made = export_transcript(store, session, "openhands")
        assert (made.whole, made.folder) == (True, True)
        path = tmp_path / "conversations" / made.path
        assert install_transcript(made, path)
        assert contents(path) == contents(CONVERSATION)
        assert [*path.parent.iterdir()] == [path]
        assert path.stat().st_mode & 0o077 == 0
        assert {one.stat().st_mode & 0o777 for one in path.rglob("*.json")} == {0o600}
        # What is imported from there is nothing new.
        assert [one.new_commits for one in import_transcripts(store, [path]) if isinstance(one, ImportResult)] == [0]

    def test_a_fork_is_imported_as_a_session_of_its_own(self, store: Store, tmp_path: Path) -> None:
        session = take(store, CONVERSATION)
        fork = store.fork(session, "f", at="~2")
        store.append(fork, MessageEntry({"role": "user", "content": "And now?"}, timestamp="2026-03-06T09:00:00Z"))
        made = export_transcript(store, fork, "openhands")
        assert install_transcript(made, tmp_path / made.path)
        again = take(store, tmp_path / made.path)
        assert again.replace("-", "") == made.path.name != session.replace("-", "")
        assert store.messages(again) == store.messages(fork)

    def test_a_conversation_that_no_agent_has_resumed_yet_is_imported_from_its_folder(
        self, store: Store, native: str, tmp_path: Path
    ) -> None:
        made = export_transcript(store, native, "openhands")
        path = tmp_path / "conversations" / made.path
        assert install_transcript(made, path)
        assert sorted(contents(path)) == sorted(f"events/{one.name}" for one in (path / "events").iterdir())
        again = take(store, path)
        assert again.replace("-", "") == path.name
        assert [*store.messages(again)] == [*store.messages(native)]
        assert b"".join(store.original(again)) == b"".join(export_transcript(store, native, "openhands").lines)
        # Named by any of its events; and nothing new, wherever it is found.
        last = max((path / "events").iterdir())
        for there in (tmp_path, path, path / "events", last):
            assert [one.new_commits for one in import_transcripts(store, [there]) if isinstance(one, ImportResult)] == [
                0
            ]
        assert holds_transcripts([tmp_path])

    def test_the_state_that_an_agent_gives_a_conversation_belongs_to_the_same_session(
        self, store: Store, native: str, tmp_path: Path
    ) -> None:
        made = export_transcript(store, native, "openhands")
        path = tmp_path / made.path
        install_transcript(made, path)
        session = take(store, path)
        state = json.loads((CONVERSATION / "base_state.json").read_text()) | {"id": session}
        (path / "base_state.json").write_text(json.dumps(state))
        before = store.messages(session)
        (done,) = import_transcripts(store, [tmp_path])
        assert isinstance(done, ImportResult)
        assert (done.session, done.new_commits, done.rewritten_from) == (session, 1, None)
        assert store.messages(session) == before
        other = Store.init(tmp_path / "other.git", durable=False)
        assert b"".join(other.original(take(other, path))) == b"".join(store.original(session))

    @pytest.mark.parametrize("text", ["{}", "", "[", '{"kind":"MessageEvent"}', '{"id":"x"}'])
    def test_a_folder_of_anything_else_is_no_conversation(self, store: Store, tmp_path: Path, text: str) -> None:
        (tmp_path / "events").mkdir()
        for number in range(2):
            (tmp_path / "events" / f"event-{number}-x.json").write_text(text)
        failures = [*import_transcripts(store, [tmp_path])]
        assert not [one for one in failures if isinstance(one, ImportResult)]
        assert not holds_transcripts([tmp_path])

    def test_it_is_there_already(self, store: Store, tmp_path: Path) -> None:
        session = take(store, CONVERSATION)
        made = export_transcript(store, session, "openhands")
        path = tmp_path / made.path
        assert install_transcript(made, path)
        before = contents(path)
        # What the agent keeps beside its events is no part of them.
        (path / "events" / ".eventlog.lock").touch()
        (path / "TASKS.json").write_text("[]")
        again = export_transcript(store, session, "openhands")
        assert not install_transcript(again, path)
        assert contents(path).items() >= before.items()

    @pytest.mark.parametrize("what", ["changed", "gone on", "missing", "a file", "a link", "empty"])
    def test_nothing_is_written_where_something_else_is(self, store: Store, tmp_path: Path, what: str) -> None:
        session = take(store, CONVERSATION)
        path = tmp_path / "agent" / CONVERSATION.name
        path.parent.mkdir()
        if what in ("changed", "gone on", "missing"):
            install_transcript(export_transcript(store, session, "openhands"), path)
        match what:
            case "changed":
                (path / "base_state.json").write_text("{}")
            case "gone on":
                (path / "events" / "event-00009-0123456789.json").write_text("{}")
            case "missing":
                next((path / "events").iterdir()).unlink()
            case "a file":
                path.write_text("x")
            case "a link":
                path.symlink_to(tmp_path / "elsewhere")
            case "empty":
                path.mkdir()
        before = contents(path.parent)
        with pytest.raises(TranscriptExists) as raised:
            install_transcript(export_transcript(store, session, "openhands"), path)
        assert contents(path.parent) == before
        size = None if what == "a link" else sum(map(len, before.values()))
        assert (raised.value.path, raised.value.size) == (str(path), size)

    def test_what_comes_there_meanwhile_is_left_alone(
        self, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "agent" / CONVERSATION.name
        rename = Path.rename

        def late(own: Path, target: Path) -> Path:
            target.mkdir()
            (target / "x").write_text("mine")
            return rename(own, target)

        monkeypatch.setattr(Path, "rename", late)
        with pytest.raises(TranscriptExists):
            install_transcript(export_transcript(store, take(store, CONVERSATION), "openhands"), path)
        assert contents(path.parent) == {f"{path.name}/x": b"mine"}
        assert [*path.parent.iterdir()] == [path]

    def test_an_error_leaves_nothing(self, store: Store, native: str, tmp_path: Path) -> None:
        made = export_transcript(store, native, "openhands")

        def broken() -> Iterator[bytes]:
            yield from [*made.lines][:1]
            raise Corrupt("damaged")

        other = dataclasses.replace(made, lines=broken())
        with pytest.raises(Corrupt):
            install_transcript(other, tmp_path / "conversations" / made.path)
        assert not (tmp_path / "conversations").exists()

    def test_the_disk_refuses(self, store: Store, native: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(_own: Path, _target: Path) -> Path:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "rename", refuse)
        with pytest.raises(OSError, match="No space left"):
            install_transcript(export_transcript(store, native, "openhands"), tmp_path / "c" / "x")
        assert [*(tmp_path / "c").iterdir()] == []

    def test_a_path_in_a_transcript_leads_nowhere_else(self, store: Store, tmp_path: Path) -> None:
        lines = list(export_transcript(store, take(store, CONVERSATION), "openhands").lines)
        lines.append(json.dumps({"path": "../../evil.json", "text": "{}"}).encode() + b"\n")
        (tmp_path / "s.jsonl").write_bytes(b"".join(lines))
        other = Store.init(tmp_path / "other.git", durable=False)
        made = export_transcript(other, take(other, tmp_path / "s.jsonl"), "openhands")
        assert not made.whole
        assert install_transcript(made, tmp_path / "a" / "b" / made.path)
        assert not [*tmp_path.rglob("evil.json")]
