import io
import json
import os
import shutil
from itertools import count
from pathlib import Path

import pytest

from gitsession import (
    FORMATS,
    ImportFailure,
    ImportResult,
    InvalidCommit,
    Store,
    import_transcripts,
    verify,
    writing,
)
from gitsession.layout import imported_id
from gitsession.transcripts.stored import decode_record
from tests.importing import (
    FIXTURES,
    TRANSCRIPTS,
    WENT_BACK,
    answer,
    assert_flawless,
    commits,
    line,
    new_store,
    original,
    prompt,
    take,
    take_bytes,
    talk,
    tips,
)
from tests.transcripts.transcript_files import content_of


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

        assert finished(content_of(path)).rstrip(b"\n") == original(store, result.session).rstrip(b"\n")

    def test_has_one_commit_for_each_record_in_the_order_of_the_file(self, store: Store, path: Path) -> None:
        (result,) = take(store, path)

        records = [one for one in FORMATS[result.format].read(io.BytesIO(content_of(path))) if not one.unfinished]
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

        assert (again.new_commits, again.branch_created, again.abandoned) == (0, False, ())
        assert before == (tips(store), sorted(store.path.rglob("objects/**/*")))

    def test_gives_the_same_commits_wherever_it_lies(self, store: Store, path: Path, tmp_path: Path) -> None:
        take(store, path)
        # With the files beside it, of which some transcripts consist.
        top = path.relative_to(FIXTURES).parts[0]
        shutil.copytree(FIXTURES / top, tmp_path / "elsewhere" / top)
        copy = tmp_path / "elsewhere" / path.relative_to(FIXTURES)
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
        assert [meta.title for meta in metas] == ["Old work", "Old work", "A better name", "A better name"]
        assert [meta.extra.get("cwd") for meta in metas] == [None, "/work", "/work", "/work"]
        assert metas[0].created_at == ""
        assert metas[1].created_at == "2026-01-05T10:00:00.000Z"
        assert (result.session, result.new_commits, result.branch_created) == ("abc", 4, True)

    def test_session_json_changes_only_where_a_record_tells_something(self, store: Store, tmp_path: Path, git) -> None:
        lines = [
            prompt("a", None),
            answer("b", "a"),
            line(type="ai-title", aiTitle="T", sessionId="s"),
            prompt("c", "b"),
        ]
        take_bytes(store, b"".join(lines), tmp_path / "abc.jsonl")

        changes = git("-C", store.path, "log", "--format=%s", "abc", "--", "session.json").splitlines()
        assert changes == ["meta: ai-title: T", "user: Go on"]

    def test_dates_come_from_the_transcript_alone(self, store: Store, tmp_path: Path, git) -> None:
        lines = [
            line(type="summary", summary="No time", leafUuid="x"),
            prompt("a", None, minute=5),
            line(type="mode", mode="plan", sessionId="s"),
            prompt("b", "a", minute=3),
            line(
                type="user", uuid="c", parentUuid="b", sessionId="s", timestamp="not a time", message={"role": "user"}
            ),
            line(type="user", uuid="d", parentUuid="c", sessionId="s", timestamp="9999-12-31T23:59:59Z", message={}),
        ]
        take_bytes(store, b"".join(lines), tmp_path / "abc.jsonl")

        dates = git("-C", store.path, "log", "--reverse", "--format=%at %ai %ct %cn", "abc").splitlines()
        assert dates[:5] == [
            "0 1970-01-01 00:00:00 +0000 0 gitsession",
            "1767607500 2026-01-05 10:05:00 +0000 1767607500 gitsession",
            "1767607500 2026-01-05 10:05:00 +0000 1767607500 gitsession",
            "1767607380 2026-01-05 10:03:00 +0000 1767607380 gitsession",
            "1767607380 2026-01-05 10:03:00 +0000 1767607380 gitsession",
        ]
        assert len(dates) == 6

    def test_a_subagent_is_a_session_below_its_parents(self, store: Store) -> None:
        results = list(import_transcripts(store, [FIXTURES / "claude-code" / "spawn"]))

        sessions = {result.session for result in results if isinstance(result, ImportResult)}
        parent = "259f67b4-bca3-54b6-8738-53e52c4d1610"
        assert {parent, f"{parent}/agent-3f9a1c", f"{parent}/agent-77b0d2"} == sessions
        assert parent == store.info(f"{parent}/agent-3f9a1c").parent_session

    def test_problems_are_told_with_their_lines_and_kept_as_text(self, store: Store, tmp_path: Path) -> None:
        content = b"".join([prompt("a", None), b'{"type": "user", cut\n', b"\xff\xfe\n", prompt("b", "a")])
        result = take_bytes(store, content, tmp_path / "abc.jsonl")

        assert [problem.line for problem in result.problems] == [2, 3]
        assert result.new_commits == 4
        assert content == original(store, "abc")

    def test_two_files_of_one_session_in_one_run_go_on_with_each_other(self, store: Store, tmp_path: Path) -> None:
        lines = talk(6)
        short, long = tmp_path / "1" / "abc.jsonl", tmp_path / "2" / "abc.jsonl"
        for path, length in ((short, 3), (long, 6)):
            path.parent.mkdir()
            path.write_bytes(b"".join(lines[:length]))

        results = take(store, short, long)

        assert [(one.session, one.new_commits, one.branch_created) for one in results] == [
            ("abc", 3, True),
            ("abc", 3, False),
        ]
        assert b"".join(lines) == original(store, "abc")
        assert list(tips(store)) == ["abc"]

    def test_two_files_of_one_name_and_other_contents_get_a_branch_each(self, store: Store, tmp_path: Path) -> None:
        one, two = tmp_path / "1" / "abc.jsonl", tmp_path / "2" / "abc.jsonl"
        for path, name in ((one, "r"), (two, "q")):
            path.parent.mkdir()
            path.write_bytes(b"".join(talk(3, name)))

        results = take(store, one, two)

        assert [result.session for result in results] == ["abc", "abc.q0"]
        assert [one.read_bytes(), two.read_bytes()] == [original(store, result.session) for result in results]
        assert [result.new_commits for result in take(store, one, two)] == [0, 0]

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

        assert [one.format for one in take(store, path, format="claude-code")] == ["claude-code"]

    def test_an_unknown_format_is_refused_before_anything_is_read(self, store: Store, tmp_path: Path) -> None:
        with pytest.raises(KeyError):
            list(import_transcripts(store, [tmp_path], format="no-such"))


def test_commits_say_who_spoke_and_what(store: Store, tmp_path: Path, git) -> None:
    take_bytes(store, b"".join(talk(2)), tmp_path / "abc.jsonl")

    log = git("-C", store.path, "log", "--reverse", "--format=%an|%s", "abc").splitlines()
    assert log == ["user|user: r 0", "claude-opus-4-5|assistant: r 1"]
    assert commits(store, "abc") == ["r0", "r1"]


@pytest.mark.parametrize("stem", [b"x" * 240, "é".encode() * 90, b"caf\xe9"])
def test_a_file_whose_name_can_be_no_id_is_imported_with_its_subagents(
    store: Store, tmp_path: Path, stem: bytes
) -> None:
    file = tmp_path / "logs" / os.fsdecode(stem + b".jsonl")
    agent = file.with_suffix("") / "subagents" / "agent-1.jsonl"
    agent.parent.mkdir(parents=True)
    file.write_bytes(b"".join(talk(3)))
    agent.write_bytes(b"".join(talk(2)))

    results = [one for one in import_transcripts(store, [tmp_path / "logs"]) if isinstance(one, ImportResult)]

    ids = {one.path: one.session for one in results}
    assert ids == {file: imported_id(os.fsdecode(stem)), agent: imported_id(f"{os.fsdecode(stem)}/agent-1")}
    assert store.info(ids[agent]).parent_session == ids[file]
    assert original(store, ids[file]) == b"".join(talk(3))
    assert [one.new_commits for one in import_transcripts(store, [file, agent])] == [0, 0]
    file.write_bytes(b"".join(talk(1) + talk(2, "other")))
    (rewritten,) = take(store, file)
    assert rewritten.session.startswith(f"{ids[file]}.")
    assert_flawless(store)


def test_a_record_that_could_never_be_read_again_is_refused(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = FIXTURES / "claude-code" / "simple.jsonl"
    record = {"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s", "message": {"content": "x" * 70_000}}
    large = tmp_path / "large.jsonl"
    large.write_text(json.dumps(record) + "\n")
    monkeypatch.setattr(writing, "MAX_DELTA_BYTES", 60_000)
    failed, taken = import_transcripts(store, [large, good])
    assert isinstance(failed, ImportFailure)
    assert isinstance(failed.error, InvalidCommit)
    assert str(failed.error).startswith(f"{large}: the record in line 1 takes 70,")
    assert isinstance(taken, ImportResult)
    assert [*verify(store)] == []
    assert [one.id for one in store.sessions()] == ["simple"]


class TestAnImportThatIsToEnd:
    TALK = b"".join(WENT_BACK)

    def test_stores_what_it_has_read_and_the_next_one_goes_on(self, store: Store, tmp_path: Path) -> None:
        path = tmp_path / "abc.jsonl"
        path.write_bytes(self.TALK)
        (tmp_path / "later.jsonl").write_bytes(self.TALK)
        asked = count()
        (first,) = import_transcripts(store, [path, tmp_path / "later.jsonl"], stop=lambda: next(asked) > 3)
        assert isinstance(first, ImportResult)
        assert (first.session, first.new_commits, first.abandoned) == ("abc", 3, ())
        (second,) = take(store, path)
        assert (second.new_commits, store.info("abc").deltas) == (6 - 3, 6)
        other = new_store(tmp_path / "other.git")
        take(other, path)
        assert tips(store) == tips(other)

    def test_takes_a_document_as_a_whole_or_not_at_all(self, store: Store, tmp_path: Path) -> None:
        path = FIXTURES / "opencode" / "export.json"
        (whole,) = take(store, path)
        for most in range(1, 6):
            fresh = new_store(tmp_path / f"{most}.git")
            asked = count()
            results = [*import_transcripts(fresh, [path], stop=lambda asked=asked, most=most: next(asked) >= most)]
            assert [one.new_commits for one in results if isinstance(one, ImportResult)] in ([], [whole.new_commits])
            take(fresh, path)
            assert tips(fresh) == tips(store)
