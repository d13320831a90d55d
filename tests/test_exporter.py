"""Giving sessions back to their agents: what is verbatim, what is forked, what is composed."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import get_session_messages, list_sessions
from copilot.generated.session_events import SessionEventType, session_event_from_dict

from gitsession import (
    RESUMABLE,
    ImportResult,
    MessageEntry,
    Store,
    UnknownEntry,
    export_transcript,
    import_transcripts,
    install_transcript,
    new_commit,
)
from gitsession.layout import HEADS, branch_of

FIXTURES = Path(__file__).parents[1] / "fixtures"
SIMPLE = FIXTURES / "claude-code" / "simple.jsonl"
CONVERSATION = FIXTURES / "openhands" / "conversations" / "3f0b8c527a414d7e9c1d2b6f5e8a9041" / "base_state.json"
# Transcripts of one file that are whole, and those of a session of its own, no subagent's.
IMPORTED = [
    path
    for name in RESUMABLE
    if name != "openhands"  # keeps a folder
    for path in sorted((FIXTURES / name).rglob("*"))
    if path.is_file() and "oddities" not in path.name and not {"spawn", "subagents", "storage"} & {*path.parts}
]

# Codex resumes no rollout that does not begin with a header.
HEADLESS = [path for path in IMPORTED if path.parent.name == "codex" and b"session_meta" not in path.read_bytes()]
FORKED = [*(path for path in IMPORTED if path.stem != "empty"), CONVERSATION]


def label(path: Path) -> str:
    return "/".join(path.parts[-2:])[:60]


every_import = pytest.mark.parametrize("path", [path for path in IMPORTED if path not in HEADLESS], ids=label)
NATIVE: list[dict[str, Any]] = [
    {"role": "user", "content": "Why does the login fail?"},
    {
        "role": "assistant",
        "content": "Let me look.",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "shell", "arguments": '{"cmd":"ls"}'}}],
        "model": "m",
    },
    {"role": "tool", "content": "login.py", "tool_call_id": "c1", "name": "shell"},
    {"role": "assistant", "content": "The token has expired.", "model": "m"},
]


def format_of(path: Path) -> str:
    return path.relative_to(FIXTURES).parts[0]


def take(store: Store, path: Path) -> str:
    (result,) = import_transcripts(store, [path])
    assert isinstance(result, ImportResult)
    assert result.problems == ()
    return result.session


def content(store: Store, session: str, name: str, **how: Any) -> bytes:
    return b"".join(export_transcript(store, session, name, **how).lines)


def again(tmp_path: Path, store: Store, session: str, name: str, **how: Any) -> Sequence[Any]:
    """Exports a session, imports it into another store, and returns its messages there."""
    made = export_transcript(store, session, name, **how)
    path = tmp_path / "again" / made.path
    if made.folder:
        path = path.with_suffix(".jsonl")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"".join(made.lines))
    else:
        assert install_transcript(made, path)
    other = Store.init(tmp_path / f"other-{len(list(tmp_path.iterdir()))}.git", durable=False)
    return other.messages(take(other, path))


@pytest.fixture
def native(store: Store) -> str:
    """Makes a session of messages that no agent wrote, and returns its id."""
    store.bind("fix-login").commit(new_commit(None, NATIVE))
    return "fix-login"


def called_by_its_id(path: Path, directory: Path) -> Path:
    """Returns a transcript under the name that its agent would have given it: Claude Code knows a session by that."""
    if format_of(path) != "claude-code":
        return path
    ids = (json.loads(line).get("sessionId") for line in path.read_bytes().splitlines())
    return shutil.copy(path, directory / f"{next(filter(None, ids))}.jsonl")


@every_import
def test_an_imported_session_is_given_back_byte_for_byte(store: Store, tmp_path: Path, path: Path) -> None:
    session, name = take(store, called_by_its_id(path, tmp_path)), format_of(path)
    made = export_transcript(store, session, name)
    assert made.whole
    assert b"".join(made.lines) == path.read_bytes()
    assert content(store, session, name, at="~0") == path.read_bytes()


@pytest.mark.parametrize("path", HEADLESS, ids=label)
def test_a_rollout_without_a_header_is_given_one(store: Store, tmp_path: Path, path: Path) -> None:
    session = take(store, path)
    made = export_transcript(store, session, "codex")
    exported = b"".join(made.lines)
    assert not made.whole
    assert session not in made.path.name
    assert b"".join(store.original(session)) == path.read_bytes()
    # It is known for what it is, whatever it is called.
    (tmp_path / "x.jsonl").write_bytes(exported)
    other = Store.init(tmp_path / "other.git", durable=False)
    again = take(other, tmp_path / "x.jsonl")
    assert other.info(again).agent == "codex"
    assert again in made.path.name
    assert other.messages(again) == store.messages(session)


@pytest.mark.parametrize("path", FORKED, ids=label)
def test_an_earlier_revision_is_a_fork_with_the_same_conversation(store: Store, tmp_path: Path, path: Path) -> None:
    session, name = take(store, path), format_of(path)
    made = export_transcript(store, session, name, at="~1")
    assert not made.whole
    assert session not in str(made.path)
    assert again(tmp_path, store, session, name, at="~1") == store.messages(session, at="~1")


@pytest.mark.parametrize("name", RESUMABLE)
def test_a_fork_is_another_session_also_where_its_origin_is(store: Store, tmp_path: Path, name: str) -> None:
    path = max(path for path in FORKED if format_of(path) == name)
    session = take(store, path)
    made = export_transcript(store, session, name, at="~1")
    assert install_transcript(made, tmp_path / made.path)
    (done,) = import_transcripts(store, [tmp_path / made.path])
    assert isinstance(done, ImportResult)
    assert (done.branch_created, done.rewritten_from) == (True, None)
    assert not done.session.startswith(session)
    assert store.messages(done.session) == store.messages(session, at="~1")


@pytest.mark.parametrize("name", RESUMABLE)
def test_a_fork_goes_on_with_what_was_added(store: Store, tmp_path: Path, name: str) -> None:
    session = take(store, max(path for path in FORKED if format_of(path) == name))
    fork = store.fork(session, "a-fork")
    added = {"role": "user", "content": "And now?"}
    store.append(fork, MessageEntry(added, id="added", timestamp="2026-03-04T09:00:00Z"))
    expected = [*store.messages(session), added]
    assert again(tmp_path, store, fork, name) == expected


def test_entries_of_other_kinds_are_kept_where_they_can_be(store: Store, native: str) -> None:
    vote = {"type": "vote", "id": "v1", "timestamp": "2026-03-04T09:00:00Z", "for": "a"}
    store.append(native, UnknownEntry(vote, id="v1", timestamp="2026-03-04T09:00:00Z"))
    store.append(
        native, MessageEntry({"role": "user", "content": "And now?"}, id="e", timestamp="2026-03-04T09:00:01Z")
    )
    made = export_transcript(store, native, "modular-agent")
    assert [json.loads(line) for line in made.lines][-2:][0] == vote
    assert made.losses == ()
    lost = export_transcript(store, native, "claude-code").losses
    assert [str(one) for one in lost] == ["1 entry of another kind"]


@pytest.mark.parametrize("name", RESUMABLE)
def test_native_messages_become_the_agents_records(store: Store, tmp_path: Path, native: str, name: str) -> None:
    found = again(tmp_path, store, native, name)
    if name == "aider":  # has no place for tools, and says when a chat began
        assert found[0]["content"].startswith("aider chat started at ")
        said = ["Let me look.", '[call of shell]\n{"cmd":"ls"}', "[result of shell]\nlogin.py", NATIVE[3]["content"]]
        assert found[1:] == [NATIVE[0], {"role": "assistant", "content": "\n\n\n".join(said), "model": "m"}]
    elif name == "openhands":  # notes no model
        assert found == [{key: one[key] for key in one if key != "model"} for one in NATIVE]
    else:
        assert found == NATIVE


def test_a_session_of_a_folder_becomes_a_document_of_its_own(store: Store, tmp_path: Path) -> None:
    (path,) = (FIXTURES / "opencode" / "storage" / "session").rglob("*.json")
    session = take(store, path)
    made = export_transcript(store, session, "opencode")
    assert not made.whole
    assert session not in made.path.name
    assert again(tmp_path, store, session, "opencode") == store.messages(session)


def test_a_session_changes_its_agent(store: Store, tmp_path: Path) -> None:
    session = take(store, next((FIXTURES / "pi").glob("2026-*.jsonl")))
    assert again(tmp_path, store, session, "claude-code") == store.messages(session)
    unsigned = [{key: one[key] for key in one if key != "reasoning_details"} for one in store.messages(session)]
    assert again(tmp_path, store, session, "codex") == unsigned


def test_a_branch_of_a_session_is_no_whole_session(store: Store) -> None:
    (result,) = import_transcripts(store, [FIXTURES / "claude-code" / "rewind.jsonl"])
    assert isinstance(result, ImportResult)
    made = export_transcript(store, result.abandoned[0], "claude-code")
    assert not made.whole
    assert not export_transcript(store, store.fork(result.session), "claude-code").whole


def test_the_same_export_is_the_same_bytes_in_any_store(tmp_path: Path) -> None:
    made = []
    for name in ("a", "b"):
        store = Store.init(tmp_path / name, durable=False)
        session = take(store, SIMPLE)
        made.append([(content(store, session, one, at="#3"), one) for one in RESUMABLE])
    assert made[0] == made[1]


def test_a_fork_of_each_state_has_ids_of_its_own(store: Store) -> None:
    session = take(store, SIMPLE)
    made = [export_transcript(store, session, "claude-code", at=at).path for at in ("#2", "#3")]
    made.append(export_transcript(store, store.fork(session, "f", at="#3"), "claude-code").path)
    assert len(set(made)) == 3


def test_a_session_goes_on_in_its_directory_or_in_the_one_that_is_given(store: Store, native: str) -> None:
    assert export_transcript(store, take(store, SIMPLE), "claude-code", cwd="/x").cwd == "/home/dev/project"
    assert export_transcript(store, native, "claude-code", cwd="/x").cwd == "/x"
    assert json.loads(content(store, native, "claude-code", cwd="/x").splitlines()[0])["cwd"] == "/x"


@pytest.mark.parametrize("name", ["chat", "unheard-of"])
def test_a_format_without_an_agent_that_resumes_is_refused(store: Store, native: str, name: str) -> None:
    with pytest.raises(KeyError, match=name):
        export_transcript(store, native, name)


def test_an_abandoned_branch_made_with_git_is_a_fork(store: Store, git: Any) -> None:
    session = take(store, SIMPLE)
    git("branch", "try-2", branch_of(session), cwd=store.path)
    assert not export_transcript(store, HEADS + "try-2", "claude-code").whole


class TestClaudeAgentSdk:
    """Claude Code's own SDK reads what was exported."""

    @pytest.fixture
    def home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        home = tmp_path / "claude"
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home))
        return home

    @staticmethod
    def install(store: Store, home: Path, session: str, **how: Any) -> str:
        made = export_transcript(store, session, "claude-code", **how)
        install_transcript(made, home / made.path)
        return made.path.stem

    def test_lists_a_composed_session(self, store: Store, home: Path, native: str, tmp_path: Path) -> None:
        session = self.install(store, home, native, cwd=str(tmp_path))
        (found,) = list_sessions(directory=str(tmp_path))
        assert (found.session_id, found.first_prompt) == (session, NATIVE[0]["content"])
        assert found.cwd == str(tmp_path)

    def test_reads_a_composed_session(self, store: Store, home: Path, native: str) -> None:
        found = get_session_messages(self.install(store, home, native))
        assert [one.type for one in found] == ["user", "assistant", "user", "assistant"]
        assert found[1].message["content"][1]["name"] == "shell"
        assert found[2].message["content"][0]["tool_use_id"] == "c1"

    @pytest.mark.parametrize("name", ["simple", "tools", "rewind", "compaction", "resumed", "images"])
    def test_reads_a_fork_as_it_reads_its_origin(self, store: Store, home: Path, name: str) -> None:
        session = take(store, FIXTURES / "claude-code" / f"{name}.jsonl")
        source = home / "projects" / "p" / "11111111-2222-4333-8444-555555555555.jsonl"
        source.parent.mkdir(parents=True)
        source.write_bytes(content(store, session, "claude-code"))
        forked = self.install(store, home, store.fork(session))
        expected = [(one.type, one.message) for one in get_session_messages(source.stem)]
        assert expected
        assert [(one.type, one.message) for one in get_session_messages(forked)] == expected

    def test_reads_an_earlier_revision_and_what_was_added(self, store: Store, home: Path) -> None:
        fork = store.fork(take(store, FIXTURES / "claude-code" / "rewind.jsonl"), "f", at="#3", title="A walk")
        store.append(fork, MessageEntry({"role": "user", "content": "And now?"}, timestamp="2026-03-04T09:00:00Z"))
        session = self.install(store, home, fork)
        found = get_session_messages(session)
        assert found[-1].message["content"] == "And now?"
        assert len(found) == len(store.messages(fork))
        assert [one.custom_title for one in list_sessions()] == ["A walk (fork)"]

    def test_finds_a_session_of_a_very_long_directory(self, store: Store, home: Path, native: str) -> None:
        cwd = "/home/dev/" + "a-long-name/" * 20
        self.install(store, home, native, cwd=cwd)
        assert len(list_sessions(directory=cwd)) == 1


class TestCopilotSdk:
    """The SDK of GitHub Copilot CLI reads what was exported, event by event."""

    @staticmethod
    def kinds(exported: bytes) -> list[str]:
        events = [session_event_from_dict(json.loads(line)) for line in exported.splitlines()]
        assert SessionEventType.UNKNOWN not in {one.type for one in events}
        return [one.type.value for one in events]

    def test_reads_a_composed_session(self, store: Store, native: str) -> None:
        assert self.kinds(content(store, native, "copilot")) == [
            *("session.start", "user.message", "assistant.turn_start", "assistant.message", "tool.execution_start"),
            *("tool.execution_complete", "assistant.message", "assistant.turn_end"),
        ]

    @pytest.mark.parametrize("name", ["tools", "compaction", "images", "titles"])
    def test_reads_a_session_of_another_agent(self, store: Store, name: str) -> None:
        session = take(store, FIXTURES / "claude-code" / f"{name}.jsonl")
        assert "user.message" in self.kinds(content(store, session, "copilot"))

    def test_reads_a_fork_with_what_was_added(self, store: Store) -> None:
        (path,) = (FIXTURES / "copilot").glob("*/events.jsonl")
        fork = store.fork(take(store, path), "f")
        store.append(fork, MessageEntry({"role": "user", "content": "And now?"}, timestamp="2026-03-04T09:00:00Z"))
        found = self.kinds(content(store, fork, "copilot"))
        assert (found[0], found[-1], "session.shutdown" in found) == ("session.start", "user.message", False)
