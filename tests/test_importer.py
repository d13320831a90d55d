import os
import socket
from pathlib import Path

import pytest

from gitsession import (
    FORMATS,
    ImportFailure,
    ImportResult,
    InvalidSessionId,
    SessionMeta,
    Store,
    UnknownTranscript,
    import_transcripts,
)
from gitsession.errors import SessionExists
from gitsession.transcripts.stored import decode_record
from tests.importing import (
    FIXTURES,
    TRANSCRIPTS,
    answer,
    assert_flawless,
    commits,
    failures,
    line,
    new_store,
    original,
    packs,
    prompt,
    take,
    take_bytes,
    talk,
    tips,
)


@pytest.fixture
def store(store_path: Path) -> Store:
    return new_store(store_path)


def finished(content: bytes) -> bytes:
    """Returns what an import keeps of a file: all but a last line that is still being written."""
    return content if content.endswith((b"\n", b"}", b"]")) else content[: content.rindex(b"\n") + 1]


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: str(path.relative_to(FIXTURES)))
class TestEveryFixture:
    def test_comes_back_byte_for_byte_but_for_a_last_newline(self, store: Store, path: Path) -> None:
        (result,) = take(store, path)

        assert finished(path.read_bytes()).rstrip(b"\n") == original(store, result.session).rstrip(b"\n")

    def test_has_one_commit_for_each_record_in_the_order_of_the_file(self, store: Store, path: Path) -> None:
        (result,) = take(store, path)

        with path.open("rb") as file:
            records = [one for one in FORMATS[result.format].read(file) if not one.unfinished]
        stored = [decode_record(one[:-1])[1] for one in store.transcript(result.session)]
        assert [one.raw for one in records] == [one.raw for one in stored]
        assert len(records) == len(list(store.log(result.session))) == result.new_commits

    def test_gives_the_same_conversation_from_the_store_as_from_the_file(self, store: Store, path: Path) -> None:
        (result,) = take(store, path)

        stored = [decode_record(one[:-1])[1] for one in store.transcript(result.session)]
        assert len(FORMATS[result.format].fold(stored)) == len(store.load(result.session))

    def test_is_imported_once(self, store: Store, path: Path) -> None:
        take(store, path)
        before = tips(store), sorted(store.path.rglob("objects/**/*"))

        (again,) = take(store, path)

        assert (0, False, ()) == (again.new_commits, again.branch_created, again.abandoned)
        assert before == (tips(store), sorted(store.path.rglob("objects/**/*")))

    def test_gives_the_same_commits_wherever_it_lies(self, store: Store, path: Path, tmp_path: Path) -> None:
        take(store, path)
        copy = tmp_path / "elsewhere" / path.relative_to(FIXTURES)
        copy.parent.mkdir(parents=True)
        copy.write_bytes(path.read_bytes())
        other = new_store(tmp_path / "other.git")
        # What was imported before must not matter either.
        take(other, FIXTURES / "claude-code" / "simple.jsonl")

        take(other, copy)

        assert tips(store).items() <= tips(other).items()


def test_a_store_of_all_fixtures_is_flawless_to_git(store: Store) -> None:
    take(store, *TRANSCRIPTS)

    assert_flawless(store)


class TestWhatBecomesOfAFile:
    def test_the_header_holds_what_name_and_first_record_say(self, store: Store, tmp_path: Path) -> None:
        lines = [
            line(type="summary", summary="Old work", leafUuid="x"),
            prompt("a", None, "Hello", cwd="/work", gitBranch="main"),
            line(type="custom-title", customTitle="A better name", sessionId="s"),
            answer("b", "a"),
        ]
        result = take_bytes(store, b"".join(lines), tmp_path / "abc.jsonl")

        metas = [store.info("abc", at=f"#{number}").meta for number in range(4)]
        assert ["Old work", "Old work", "A better name", "A better name"] == [meta.title for meta in metas]
        assert [None, "/work", "/work", "/work"] == [meta.extra.get("cwd") for meta in metas]
        assert "" == metas[0].created_at
        assert "2026-01-05T10:00:00.000Z" == metas[1].created_at
        assert ("abc", 4, True) == (result.session, result.new_commits, result.branch_created)

    def test_session_json_changes_only_where_a_record_tells_something(self, store: Store, tmp_path: Path, git) -> None:
        lines = [prompt("a", None), answer("b", "a"), line(type="ai-title", aiTitle="T", sessionId="s"), prompt("c", "b")]
        take_bytes(store, b"".join(lines), tmp_path / "abc.jsonl")

        changes = git("-C", store.path, "log", "--format=%s", "abc", "--", "session.json").splitlines()
        assert ["meta: ai-title: T", "user: Go on"] == changes

    def test_dates_come_from_the_transcript_alone(self, store: Store, tmp_path: Path, git) -> None:
        lines = [
            line(type="summary", summary="No time", leafUuid="x"),
            prompt("a", None, minute=5),
            line(type="mode", mode="plan", sessionId="s"),
            prompt("b", "a", minute=3),
            line(type="user", uuid="c", parentUuid="b", sessionId="s", timestamp="not a time", message={"role": "user"}),
            line(type="user", uuid="d", parentUuid="c", sessionId="s", timestamp="9999-12-31T23:59:59Z", message={}),
        ]
        take_bytes(store, b"".join(lines), tmp_path / "abc.jsonl")

        dates = git("-C", store.path, "log", "--reverse", "--format=%at %ai %ct %cn", "abc").splitlines()
        assert dates[:5] == [
            "0 1970-01-01 00:00:00 +0000 0 meta",
            "1767607500 2026-01-05 10:05:00 +0000 1767607500 meta",
            "1767607500 2026-01-05 10:05:00 +0000 1767607500 meta",
            "1767607380 2026-01-05 10:03:00 +0000 1767607380 meta",
            "1767607380 2026-01-05 10:03:00 +0000 1767607380 meta",
        ]
        assert len(dates) == 6

    def test_a_subagent_is_a_session_below_its_parents(self, store: Store) -> None:
        results = [one for one in import_transcripts(store, [FIXTURES / "claude-code" / "spawn"])]

        sessions = {result.session for result in results if isinstance(result, ImportResult)}
        parent = "259f67b4-bca3-54b6-8738-53e52c4d1610"
        assert {parent, f"{parent}/agent-3f9a1c", f"{parent}/agent-77b0d2"} == sessions
        assert parent == store.info(f"{parent}/agent-3f9a1c").parent_session

    def test_problems_are_told_with_their_lines_and_kept_as_text(self, store: Store, tmp_path: Path) -> None:
        content = b"".join([prompt("a", None), b'{"type": "user", cut\n', b"\xff\xfe\n", prompt("b", "a")])
        result = take_bytes(store, content, tmp_path / "abc.jsonl")

        assert [2, 3] == [problem.line for problem in result.problems]
        assert 4 == result.new_commits
        assert content == original(store, "abc")

    def test_two_files_of_one_session_in_one_run_go_on_with_each_other(self, store: Store, tmp_path: Path) -> None:
        lines = talk(6)
        short, long = tmp_path / "1" / "abc.jsonl", tmp_path / "2" / "abc.jsonl"
        for path, length in ((short, 3), (long, 6)):
            path.parent.mkdir()
            path.write_bytes(b"".join(lines[:length]))

        results = take(store, short, long)

        assert [("abc", 3, True), ("abc", 3, False)] == [
            (one.session, one.new_commits, one.branch_created) for one in results
        ]
        assert b"".join(lines) == original(store, "abc")
        assert ["abc"] == list(tips(store))

    def test_two_files_of_one_name_and_other_contents_get_a_branch_each(self, store: Store, tmp_path: Path) -> None:
        one, two = tmp_path / "1" / "abc.jsonl", tmp_path / "2" / "abc.jsonl"
        for path, name in ((one, "r"), (two, "q")):
            path.parent.mkdir()
            path.write_bytes(b"".join(talk(3, name)))

        results = take(store, one, two)

        assert ["abc", "abc.q0"] == [result.session for result in results]
        assert [one.read_bytes(), two.read_bytes()] == [original(store, result.session) for result in results]
        assert [0, 0] == [result.new_commits for result in take(store, one, two)]

    def test_progress_tells_the_bytes_that_were_read(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "abc.jsonl"
        path.write_bytes(b"".join(talk(50)))
        told: list[int] = []

        take(store, path, progress=told.append)

        assert path.stat().st_size == sum(told)
        assert all(one > 0 for one in told)

    def test_a_format_may_be_forced(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "notes.jsonl"
        path.write_bytes(line(anything="at all"))

        assert ["claude-code"] == [one.format for one in take(store, path, format="claude-code")]

    def test_an_unknown_format_is_refused_before_anything_is_read(self, store: Store, tmp_path: Path) -> None:
        with pytest.raises(KeyError):
            list(import_transcripts(store, [tmp_path], format="no-such"))


class TestOtherSessions:
    """A session whose id begins like another's is not a branch of it."""

    @pytest.mark.parametrize("names", [("abc", "abc.old"), ("abc.old", "abc")])
    def test_a_copy_under_a_longer_name_is_a_session_of_its_own(
        self, store: Store, tmp_path: Path, names: tuple[str, str]
    ) -> None:
        content = b"".join(talk(4))
        for name in names:
            take_bytes(store, content, tmp_path / f"{name}.jsonl")

        alone = new_store(tmp_path / "alone.git")
        take(alone, tmp_path / "abc.jsonl")
        assert {"abc", "abc.old"} == tips(store).keys()
        assert tips(alone)["abc"] == tips(store)["abc"]
        assert "abc.old" == store.info("abc.old").meta.id

    def test_another_session_under_a_longer_name_is_left_alone(self, store: Store, tmp_path: Path) -> None:
        take_bytes(store, b"".join(talk(4, "q")), tmp_path / "abc.old.jsonl")
        before = tips(store)["abc.old"]

        result = take_bytes(store, b"".join(talk(4)), tmp_path / "abc.jsonl")

        assert ("abc", None) == (result.session, result.rewritten_from)
        assert before == tips(store)["abc.old"]

    def test_a_session_made_by_hand_is_not_gone_on_with(self, store: Store, tmp_path: Path) -> None:
        store.create(SessionMeta("abc", title="Mine"))
        alone = new_store(tmp_path / "alone.git")

        result = take_bytes(store, b"".join(talk(4)), tmp_path / "abc.jsonl")

        take(alone, tmp_path / "abc.jsonl")
        assert "Mine" == store.info("abc").title
        assert "abc.r0" == result.session
        assert tips(alone)["abc"] == tips(store)["abc.r0"]
        assert 0 == take(store, tmp_path / "abc.jsonl")[0].new_commits

    def test_a_branch_that_was_deleted_comes_back_as_it_was(self, store: Store, git) -> None:
        path = FIXTURES / "claude-code" / "rewind.jsonl"
        take(store, path)
        before = tips(store)
        git("-C", store.path, "branch", "-D", "rewind")

        take(store, path)

        assert before == tips(store)

    def test_a_branch_in_the_way_is_named_and_the_rest_is_imported(self, store: Store, tmp_path: Path, git) -> None:
        take_bytes(store, b"".join(talk(4)), tmp_path / "other.jsonl")
        git("-C", store.path, "branch", "abc/mine", "other")
        (tmp_path / "abc.jsonl").write_bytes(b"".join(talk(4)))
        (tmp_path / "last.jsonl").write_bytes(b"".join(talk(4)))

        results = list(import_transcripts(store, [tmp_path / "abc.jsonl", tmp_path / "last.jsonl"]))

        failed, done = sorted(results, key=lambda one: isinstance(one, ImportResult))
        assert isinstance(failed, ImportFailure)
        assert isinstance(failed.error, SessionExists)
        assert "abc/mine" in str(failed.error)
        assert isinstance(done, ImportResult)
        assert {"abc/mine", "last", "other"} == tips(store).keys()


class TestAbandonedLines:
    LINES = (
        prompt("a", None, "Hello", 0),
        answer("b", "a", "Hi", 0),
        prompt("c", "b", "First try", 1),
        answer("d", "c", "No good", 1),
        prompt("e", "b", "Second try", 2),
        answer("f", "e", "Better", 2),
    )

    def test_get_a_branch_where_they_ended(self, store: Store, tmp_path: Path) -> None:
        result = take_bytes(store, b"".join(self.LINES), tmp_path / "abc.jsonl")

        assert ("abc.d",) == result.abandoned
        assert store.info("abc", at="d").oid == tips(store)["abc.d"]
        said = [message["content"] for message in store.messages("abc.d")]
        assert ["Hello", "Hi", "First try", "No good"] == said

    def test_get_it_when_the_user_went_back_however_the_file_grows(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "abc.jsonl"
        results = [take_bytes(store, b"".join(self.LINES[:length]), path) for length in range(1, 7)]

        assert [(), (), (), (), ("abc.d",), ()] == [one.abandoned for one in results]
        assert store.info("abc", at="d").oid == tips(store)["abc.d"]

    def test_are_not_moved_when_the_user_went_on_with_them(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "abc.jsonl"
        take_bytes(store, b"".join(self.LINES), path)
        store.bind("abc.d").commit(new_one("mine", store.info("abc.d").head))
        before = tips(store)

        result = take_bytes(store, b"".join([*self.LINES, prompt("g", "f", "More", 3)]), path)

        assert ("abc", 1, ()) == (result.session, result.new_commits, result.abandoned)
        assert before["abc.d"] == tips(store)["abc.d"]

    def test_get_another_name_where_a_rewritten_file_ended_one_at_the_same_record(
        self, store: Store, tmp_path: Path
    ) -> None:
        path = tmp_path / "abc.jsonl"
        take_bytes(store, b"".join(self.LINES), path)
        rewritten = (prompt("a", None, "Good day", 0), *self.LINES[1:])

        result = take_bytes(store, b"".join(rewritten), path)

        assert "abc.a" == result.session
        (line_of_it,) = result.abandoned
        assert store.info("abc.a", at="d").oid == store.info(line_of_it).oid
        assert () == take(store, path)[0].abandoned

    def test_get_another_name_where_the_rewritten_file_has_taken_it(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "abc.jsonl"
        take_bytes(store, b"".join(self.LINES[:2]) + prompt("x", "b"), path)
        # The first new record is the whole abandoned line.
        rewritten = (*self.LINES[:2], prompt("c", "b", "First try", 1), *self.LINES[4:])

        result = take_bytes(store, b"".join(rewritten), path)

        assert "abc.c" == result.session
        (line_of_it,) = result.abandoned
        assert store.info("abc.c", at="c").oid == store.info(line_of_it).oid
        assert () == take(store, path)[0].abandoned

    def test_do_not_make_a_prefix_ambiguous(self, store: Store, tmp_path: Path) -> None:
        take_bytes(store, b"".join(self.LINES), tmp_path / "abc-def.jsonl")

        assert "abc-def" == store.find("abc")
        assert "abc-def.d" == store.find("abc-def.d")


def new_one(commit_id: str, parent: str | None):  # noqa: ANN201
    from gitsession import SessionCommit

    return SessionCommit(commit_id, parent, [{"role": "user", "content": "Mine"}])


class TestDirectories:
    def test_are_walked_in_the_order_of_their_names(self, store: Store, tmp_path: Path) -> None:
        root = tmp_path / "files"
        for name in ("b/2.jsonl", "b/1.jsonl", "a/z.jsonl", "c.jsonl", "B/x.jsonl"):
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"".join(talk(2)))
        (root / "b" / "notes.md").write_text("# Nothing")

        results = take(store, root)

        assert ["c.jsonl", "B/x.jsonl", "a/z.jsonl", "b/1.jsonl", "b/2.jsonl"] == [
            result.path.relative_to(root).as_posix() for result in results
        ]

    def test_without_a_transcript_are_told_of(self, store: Store, tmp_path: Path) -> None:
        root = tmp_path / "files"
        root.mkdir()
        (root / "notes.md").write_text("# Nothing")
        (root / "empty.jsonl").write_bytes(b"")

        ((path, error),) = failures(store, root)

        assert root == path
        assert "holds no transcript" in str(error)

    def test_may_hold_what_is_no_file(self, store: Store, tmp_path: Path) -> None:
        root = tmp_path / "files"
        root.mkdir()
        (root / "abc.jsonl").write_bytes(b"".join(talk(2)))
        (root / "gone.jsonl").symlink_to(root / "nowhere")
        os.mkfifo(root / "pipe.jsonl")
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(root / "socket"))

            results = list(import_transcripts(store, [root]))

        assert ["abc.jsonl"] == [one.path.name for one in results if isinstance(one, ImportResult)]

    def test_that_cannot_be_read_are_told_of(self, store: Store, tmp_path: Path, monkeypatch) -> None:
        root = tmp_path / "files"
        (root / "closed").mkdir(parents=True)
        (root / "abc.jsonl").write_bytes(b"".join(talk(2)))
        scandir = os.scandir

        def refuse(path):  # noqa: ANN001, ANN202  # root may read all directories, so the system is asked to refuse
            if str(path).endswith("closed"):
                raise PermissionError(13, "Permission denied", str(path))
            return scandir(path)

        monkeypatch.setattr(os, "scandir", refuse)

        results = list(import_transcripts(store, [root]))

        (failure,) = [one for one in results if isinstance(one, ImportFailure)]
        assert root / "closed" == failure.path
        assert "Permission denied" in str(failure.error)
        assert 2 == len(results)


class TestWhatIsNoTranscript:
    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (b"", "is empty"),
            (b"\x7fELF\0\0\0", "binary"),
            (b"# Notes\n", "no transcript"),
            (b"[1, 2, 3]", "no transcript"),
            (b'{"type": "user", "parentUu', "no transcript"),
        ],
        ids=["empty", "binary", "text", "JSON", "cut"],
    )
    def test_is_named_and_the_rest_is_imported(
        self, store: Store, tmp_path: Path, content: bytes, reason: str
    ) -> None:
        bad, good = tmp_path / "bad.jsonl", tmp_path / "good.jsonl"
        bad.write_bytes(content)
        good.write_bytes(b"".join(talk(2)))

        results = list(import_transcripts(store, [bad, good]))

        (failure,) = [one for one in results if isinstance(one, ImportFailure)]
        assert bad == failure.path
        assert isinstance(failure.error, UnknownTranscript)
        assert reason in str(failure.error)
        assert ["good"] == [one.session for one in results if isinstance(one, ImportResult)]
        assert ["good"] == list(tips(store))

    def test_is_a_file_that_vanished(self, store: Store, tmp_path: Path) -> None:
        ((path, error),) = failures(store, tmp_path / "gone.jsonl")

        assert tmp_path / "gone.jsonl" == path
        assert "No such file" in str(error)

    def test_is_a_file_whose_name_can_be_no_session(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / f"{'ä' * 120}.jsonl"
        path.write_bytes(b"".join(talk(2)))

        ((_, error),) = failures(store, path)

        assert isinstance(error, InvalidSessionId)

    def test_is_nothing_to_a_store_that_holds_the_session(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "abc.jsonl"
        take_bytes(store, b"".join(talk(4)), path)
        before = tips(store)

        for content in (b"", b"\0" * 4096):
            path.write_bytes(content)
            assert 1 == len(failures(store, path))

        assert before == tips(store)

    def test_is_no_deeply_nested_record(self, store: Store, tmp_path: Path) -> None:
        content = b"".join([prompt("a", None), b'{"type":"x","v":' + b"[" * 900 + b"]" * 900 + b"}\n", prompt("b", "a")])
        result = take_bytes(store, content, tmp_path / "abc.jsonl")

        assert 3 == result.new_commits
        assert content == original(store, "abc")


class TestPacks:
    def test_many_small_transcripts_become_one_pack(self, store: Store, tmp_path: Path) -> None:
        root = tmp_path / "files"
        root.mkdir()
        for number in range(300):
            (root / f"s{number:03d}.jsonl").write_bytes(b"".join(talk(4)))

        results = take(store, root)

        assert 300 == len(results) == len(tips(store))
        assert 1 == len(packs(store))
        assert [] == [path for path in (store.path / "objects").glob("??/*")]
        assert_flawless(store)

    def test_one_new_record_becomes_a_few_loose_objects(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "abc.jsonl"
        take_bytes(store, b"".join(talk(200)), path)

        take_bytes(store, b"".join(talk(201)), path)

        assert 1 == len(packs(store))
        assert 5 == len(list((store.path / "objects").glob("??/*")))

    def test_nothing_temporary_is_left(self, store: Store, tmp_path: Path) -> None:
        take_bytes(store, b"".join(talk(200)), tmp_path / "abc.jsonl")

        assert [] == list(store.path.rglob("tmp_*"))

    def test_a_long_file_is_stored_in_several(
        self, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = new_store(tmp_path / "whole.git")
        path = tmp_path / "abc.jsonl"
        take_bytes(whole, b"".join(talk(400)), path)
        monkeypatch.setattr("gitsession.importer._BATCH_OBJECTS", 500)

        (result,) = take(store, path)

        assert (400, True) == (result.new_commits, result.branch_created)
        assert len(packs(store)) in range(3, 6)
        assert tips(whole) == tips(store)
        assert_flawless(store)

    def test_a_long_file_whose_branch_is_in_the_way_is_given_up(
        self, store: Store, tmp_path: Path, git, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        take_bytes(store, b"".join(talk(4)), tmp_path / "other.jsonl")
        git("-C", store.path, "branch", "abc/mine", "other")
        (tmp_path / "abc.jsonl").write_bytes(b"".join(talk(400)))
        monkeypatch.setattr("gitsession.importer._BATCH_OBJECTS", 500)

        ((path, error),) = failures(store, tmp_path / "abc.jsonl")

        assert isinstance(error, SessionExists)


def test_commits_say_who_spoke_and_what(store: Store, tmp_path: Path, git) -> None:
    take_bytes(store, b"".join(talk(2)), tmp_path / "abc.jsonl")

    log = git("-C", store.path, "log", "--reverse", "--format=%an|%s", "abc").splitlines()
    assert ["user|user: r 0", "claude-opus-4-5|assistant: r 1"] == log
    assert ["r0", "r1"] == commits(store, "abc")
