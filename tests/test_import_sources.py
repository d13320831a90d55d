import os
import socket
from pathlib import Path

import pytest

from gitsession import (
    ImportFailure,
    ImportResult,
    MessageEntry,
    SessionMeta,
    Store,
    UnknownTranscript,
    holds_transcripts,
    import_transcripts,
)
from gitsession.layout import imported_id
from tests.importing import (
    failures,
    line,
    new_store,
    original,
    prompt,
    take,
    take_bytes,
    talk,
    tips,
)

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture
def store(store_path: Path) -> Store:
    return new_store(store_path)


class TestDirectories:
    def test_are_walked_in_the_order_of_their_names(self, store: Store, tmp_path: Path) -> None:
        root = tmp_path / "files"
        for name in ("b/2.jsonl", "b/1.jsonl", "a/z.jsonl", "c.jsonl", "B/x.jsonl"):
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"".join(talk(2)))
        (root / "b" / "notes.md").write_text("# Nothing")

        results = [one for one in import_transcripts(store, [root]) if isinstance(one, ImportResult)]

        assert [result.path.relative_to(root).as_posix() for result in results] == [
            "c.jsonl",
            "B/x.jsonl",
            "a/z.jsonl",
            "b/1.jsonl",
            "b/2.jsonl",
        ]

    def test_without_a_transcript_are_told_of(self, store: Store, tmp_path: Path) -> None:
        root = tmp_path / "files"
        root.mkdir()
        (root / "notes.md").write_text("# Nothing")
        (root / "empty.jsonl").write_bytes(b"")

        *files, (path, error) = failures(store, root)

        assert [file.name for file, _ in files] == ["empty.jsonl", "notes.md"]
        assert root == path
        assert "holds no transcript" in str(error)

    def test_of_git_are_passed_over(self, store: Store, tmp_path: Path) -> None:
        inner = Store.init(tmp_path / "files" / "sessions.git", durable=False)
        # A short message is stored without compression, so its object holds it as it is.
        inner.create(SessionMeta("s"))
        inner.append("s", MessageEntry({"role": "user", "content": "x"}))
        (tmp_path / "files" / "project").mkdir()
        (inner.path / "notes.jsonl").write_bytes(b"".join(talk(2)))
        (tmp_path / "files" / "project" / "objects").mkdir()
        for name in ("abc.jsonl", "project/HEAD", "project/objects/xyz.jsonl"):
            (tmp_path / "files" / name).write_bytes(b"".join(talk(2)))

        results = list(import_transcripts(store, [tmp_path / "files"]))

        assert [one.path.name for one in results] == ["abc.jsonl", "HEAD", "xyz.jsonl"]
        assert not holds_transcripts([inner.path])
        ((path, error),) = failures(store, inner.path)
        assert inner.path == path
        assert "holds no transcript" in str(error)

    def test_may_hold_what_an_agent_keeps_beside_its_transcripts(self, store: Store, tmp_path: Path) -> None:
        own = tmp_path / "259f67b4-bca3-54b6-8738-53e52c4d1610"
        known = (
            "subagents/agent-1.meta.json",
            "subagents/workflows/wf_1/agent-2.meta.json",
            "tool-results/toolu_1.txt",
        )
        others = ("notes.meta.json", "other/tool-results/toolu_1.txt")
        for name in (*known, *others):
            path = own / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text('{"agentType":"Explore"}')
        (own / "tool-results" / "toolu_2.txt").write_bytes(b"".join(talk(2)))
        own.with_suffix(".jsonl").write_bytes(b"".join(talk(2)))

        results = list(import_transcripts(store, [tmp_path]))

        told = [
            path.relative_to(own).as_posix() for path in (one.path for one in results if type(one) is ImportFailure)
        ]
        assert told == [*others]
        assert [one.session for one in results if isinstance(one, ImportResult)] == [own.name]
        ((path, error),) = failures(store, own / known[0])
        assert isinstance(error, UnknownTranscript), "one that is named is told of"

    def test_may_hold_what_is_no_file(self, store: Store, tmp_path: Path) -> None:
        root = tmp_path / "files"
        root.mkdir()
        (root / "abc.jsonl").write_bytes(b"".join(talk(2)))
        (root / "gone.jsonl").symlink_to(root / "nowhere")
        os.mkfifo(root / "pipe.jsonl")
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(root / "socket"))

            results = list(import_transcripts(store, [root]))

        assert [one.path.name for one in results if isinstance(one, ImportResult)] == ["abc.jsonl"]

    def test_that_are_named_and_no_files_are_not_opened(self, store: Store, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.jsonl")

        ((path, error),) = failures(store, tmp_path / "pipe.jsonl")

        assert tmp_path / "pipe.jsonl" == path
        assert str(error).startswith(f"{path}: is no file but a pipe or a device; write what it gives to a file")

    def test_that_cannot_be_read_are_told_of(self, store: Store, tmp_path: Path, monkeypatch) -> None:
        root = tmp_path / "files"
        (root / "closed").mkdir(parents=True)
        (root / "abc.jsonl").write_bytes(b"".join(talk(2)))
        scandir = os.scandir

        def refuse(path):  # root may read all directories, so the system is asked to refuse
            if str(path).endswith("closed"):
                raise PermissionError(13, "Permission denied", str(path))
            return scandir(path)

        monkeypatch.setattr(os, "scandir", refuse)

        results = list(import_transcripts(store, [root]))

        (failure,) = [one for one in results if isinstance(one, ImportFailure)]
        assert root / "closed" == failure.path
        assert "Permission denied" in str(failure.error)
        assert len(results) == 2


class TestWhatIsNoTranscript:
    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (b"", "is empty"),
            (b"\x7fELF\0\0\0", "binary"),
            (b"# Notes\n", "no transcript"),
            (b"[1, 2, 3]", "no transcript"),
            (b'{"type": "user", "parentUu', "seems to be JSON that is cut in its first line, after byte 26"),
            (
                b'{"a": 1,\n oops oops}',
                "seems to be JSON that is damaged at byte 11 (line 2); `--format` with",
            ),
            (b'{\n "a": 1,\n', "seems to be JSON that is cut after byte 11 (line 3); `--format`"),
        ],
        ids=["empty", "binary", "text", "JSON", "cut", "damaged", "cut later"],
    )
    def test_is_named_and_the_rest_is_imported(self, store: Store, tmp_path: Path, content: bytes, reason: str) -> None:
        bad, good = tmp_path / "bad.jsonl", tmp_path / "good.jsonl"
        bad.write_bytes(content)
        good.write_bytes(b"".join(talk(2)))

        results = list(import_transcripts(store, [bad, good]))

        (failure,) = [one for one in results if isinstance(one, ImportFailure)]
        assert bad == failure.path
        assert isinstance(failure.error, UnknownTranscript)
        assert reason in str(failure.error)
        assert [one.session for one in results if isinstance(one, ImportResult)] == ["good"]
        assert list(tips(store)) == ["good"]

    def test_is_a_file_that_vanished(self, store: Store, tmp_path: Path) -> None:
        ((path, error),) = failures(store, tmp_path / "gone.jsonl")

        assert tmp_path / "gone.jsonl" == path
        assert "No such file" in str(error)

    def test_is_nothing_to_a_store_that_holds_the_session(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "abc.jsonl"
        take_bytes(store, b"".join(talk(4)), path)
        before = tips(store)

        for content in (b"", b"\0" * 4096):
            path.write_bytes(content)
            assert len(failures(store, path)) == 1

        assert before == tips(store)

    def test_is_no_deeply_nested_record(self, store: Store, tmp_path: Path) -> None:
        content = b"".join(
            [prompt("a", None), b'{"type":"x","v":' + b"[" * 900 + b"]" * 900 + b"}\n", prompt("b", "a")]
        )
        result = take_bytes(store, content, tmp_path / "abc.jsonl")

        assert result.new_commits == 3
        assert content == original(store, "abc")


def test_a_path_may_be_a_text_and_stand_alone(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"role": "user", "content": "Hello"}\n')
    assert [done.path for paths in (str(path), [str(path)], path) for done in import_transcripts(store, paths)] == [
        path
    ] * 3


def test_a_session_that_has_the_name_of_a_branch_gets_another(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    content = line(type="session_meta", payload={"id": "refs/heads/s", "forked_from_id": "refs/heads/r"})

    done = take_bytes(store, content, path)

    assert done.session == imported_id("refs/heads/s")
    assert store.info(done.session).parent_session == imported_id("refs/heads/r")
    assert original(store, done.session) == content
    assert take_bytes(store, content, path).new_commits == 0


class TestATornFirstLine:
    @pytest.mark.parametrize(
        ("name", "whole", "cut"),
        [
            ("gemini", "gemini/rewind.jsonl", 125),
            ("chat", "chat-log/training.jsonl", 12),
            ("chat", "chat-log/training.jsonl", 58),
            ("langchain", "langchain/messages.jsonl", 40),
            ("openhands", "openhands/events.jsonl", 40),
            (None, "chat-log/training.jsonl", 58),
            (None, "gemini/rewind.jsonl", 125),
        ],
    )
    def test_of_a_file_of_lines_waits(
        self, store: Store, tmp_path: Path, name: str | None, whole: str, cut: int
    ) -> None:
        content, path = (FIXTURES / whole).read_bytes(), tmp_path / "abc.jsonl"
        path.write_bytes(content[:cut])

        ((_, error),) = failures(store, path, format=name)

        assert "is cut in its first line" in str(error)
        assert not tips(store)
        path.write_bytes(content)
        (done,) = take(store, path, format=name)
        assert (done.branch_created, done.rewritten_from, done.unfinished) == (True, None, False)

    def test_of_a_document_is_taken_in_under_the_name_of_its_format_as_one_that_cannot_be_read(
        self, store: Store, tmp_path: Path
    ) -> None:
        path = tmp_path / "a.json"
        path.write_bytes(b'{"sessionId": "x", "proj')

        (done,) = take(store, path, format="gemini")

        assert not done.unfinished
        assert [problem.reason[:13] for problem in done.problems] == ["it is no JSON"]

    def test_with_its_end_is_a_damaged_document(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "abc.jsonl"
        content = b'{"messages": [{"role": "user", "content": "a"}, {"role": "user", "cont\n'
        path.write_bytes(content)

        (done,) = take(store, path, format="chat")

        assert (done.new_commits, done.unfinished) == (2, True)


class TestADamagedFileWhoseFormatIsNamed:
    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("gemini", b'{"sessionId": "x", oops "projectHash": "y", "messages": [{"id": "a"}]}\n'),
            ("gemini", b'{"sessionId": "x", "proj'),
            ("opencode", b'{\n "info": {\n  "id": "ses_1",\n  "ti'),
            ("swe-agent", b'{"trajectory": [{"action": "ls", "obs'),
            ("chat", b'[{"role": "user", "content": oops}, {"role": "user", "content": "b"}]'),
            ("langchain", b"[oops oops oops]"),
            ("openhands", b'{"history": oops}'),
            ("modular-agent", b'{"id": "x", "created_at\n{"id": "e"}\n'),
        ],
    )
    def test_is_taken_in_as_it_is(self, store: Store, tmp_path: Path, name: str, content: bytes) -> None:
        path = tmp_path / "a.json"
        path.write_bytes(content)

        (done,) = take(store, path, format=name)

        assert done.problems
        assert b"".join(store.original(done.session)).removesuffix(b"\n") == content.removesuffix(b"\n")
        assert take(store, path, format=name)[0].new_commits == 0
