"""The cache of imports: what it saves, and that it never makes an answer another one."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitsession import ImportResult, Store, import_cache, import_transcripts

from .conftest import Git

FIXTURES = Path(__file__).parent.parent / "fixtures" / "claude-code"


@pytest.fixture(autouse=True)
def _settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes files that were written just now for settled ones, which they are after two seconds."""
    monkeypatch.setattr(import_cache, "_RACY_NS", -(10**18))


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return Path(shutil.copy(FIXTURES / "rewind.jsonl", tmp_path / "rewind.jsonl"))


def take(store: Store, *paths: Path, **how: Any) -> list[ImportResult]:
    results = [*import_transcripts(store, paths, **how)]
    assert all(isinstance(result, ImportResult) for result in results)
    return results  # type: ignore[return-value]


def cache_of(store: Store) -> Path:
    return store.path / "gitsession" / "imports.jsonl"


def entries(store: Store) -> list[dict[str, Any]]:
    return [json.loads(line) for line in cache_of(store).read_text().splitlines() if line]


def plant(store: Store, **news: Any) -> None:
    """Makes the cache say something that no file says, so that it shows whether it was asked."""
    *_, entry = entries(store)
    cache_of(store).write_text(json.dumps({**entry, "session": "planted", **news}) + "\n")


def was_read(store: Store, path: Path, **how: Any) -> bool:
    """Tells whether an import of the file reads it, when the cache was planted."""
    (result,) = take(store, path, **how)
    assert result.session in ("rewind", "planted")
    return result.session == "rewind"


def test_an_unchanged_file_is_not_read_again(store: Store, transcript: Path) -> None:
    (first,) = take(store, transcript)
    plant(store)
    assert not was_read(store, transcript)
    assert first.new_commits == 11


def test_an_unchanged_file_gets_the_answer_that_reading_it_would_get(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes((FIXTURES / "simple.jsonl").read_bytes() + b'{broken\n{"type": "us')
    (first,) = take(store, path)
    (known,) = take(store, path)
    cache_of(store).unlink()
    (read,) = take(store, path)
    assert read == known
    assert (len(known.problems), known.unfinished, known.new_commits) == (1, True, 0)
    assert replace(first, new_commits=0, branch_created=False) == known


def changed_size(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def changed_time(path: Path) -> None:
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))


def replaced(path: Path) -> None:
    stat = path.stat()
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    other.replace(path)


def changed_behind_its_time(path: Path) -> None:
    stat = path.stat()
    path.write_bytes(path.read_bytes().replace(b"umlauts", b"UMLAUTS"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


@pytest.mark.parametrize("change", [changed_size, changed_time, replaced, changed_behind_its_time])
def test_a_changed_file_is_read(store: Store, transcript: Path, change: Callable[[Path], None]) -> None:
    take(store, transcript)
    plant(store)
    change(transcript)
    assert was_read(store, transcript)


def test_a_file_that_changed_just_now_is_not_remembered(
    store: Store, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    take(store, transcript)
    assert not cache_of(store).exists()


@pytest.mark.parametrize("how", [{"format": "claude-code"}, {"redact": True}])
def test_another_question_is_not_answered_by_it(store: Store, transcript: Path, how: dict[str, Any]) -> None:
    take(store, transcript)
    plant(store)
    assert was_read(store, transcript, **how)


def test_another_version_of_the_code_does_not_believe_it(store: Store, transcript: Path) -> None:
    take(store, transcript)
    plant(store, code="0123456789abcdef")
    assert was_read(store, transcript)


def test_an_abandoned_line_whose_branch_is_gone_gets_it_again(store: Store, transcript: Path, git: Git) -> None:
    (first,) = take(store, transcript)
    before = git("-C", store.path, "for-each-ref")
    assert len(first.abandoned) > 1
    for session in first.abandoned:
        git("-C", store.path, "branch", "-D", session)
        assert take(store, transcript)[0].abandoned == (session,)
        assert git("-C", store.path, "for-each-ref") == before


@pytest.mark.parametrize("change", [["-D", "rewind"], ["-f", "rewind", "rewind~2"], ["-f", "rewind", "other"]])
def test_a_session_whose_branch_moved_is_read(store: Store, transcript: Path, git: Git, change: list[str]) -> None:
    take(store, transcript, Path(shutil.copy(FIXTURES / "simple.jsonl", transcript.with_name("other.jsonl"))))
    cache_of(store).unlink()
    take(store, transcript)
    plant(store)
    git("-C", store.path, "branch", *change)
    assert not take(store, transcript)[0].session.startswith("planted")


@pytest.mark.parametrize(
    "damage",
    [
        lambda line: b"\0" * len(line),
        lambda line: line[: len(line) // 2],
        lambda line: b"[1]\n" + b'{"path": 3}\n',
        lambda line: b"[" * 100_000,
        lambda line: line.replace(b'"refs": {', b'"refs": 3, "x": {'),
        lambda line: line.replace(b'"problems": []', b'"problems": [7]'),
        lambda line: line.replace(b'"unfinished"', b'"finished"'),
    ],
)
def test_a_damaged_cache_is_as_good_as_none(store: Store, transcript: Path, damage: Callable[[bytes], bytes]) -> None:
    take(store, transcript)
    plant(store)
    cache_of(store).write_bytes(damage(cache_of(store).read_bytes()))
    assert was_read(store, transcript)
    # And it is mended by what was learnt.
    assert json.loads(cache_of(store).read_bytes().splitlines()[-1])["session"] == "rewind"


def test_a_cache_that_cannot_be_written_is_done_without(store: Store, transcript: Path) -> None:
    cache_of(store).mkdir()
    take(store, transcript)
    (again,) = take(store, transcript)
    assert again.new_commits == 0


def test_a_transcript_of_many_files_is_read_when_one_of_them_changed(store: Store, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FIXTURES.parent / "opencode" / "storage", tmp_path / "storage"))
    (session,) = (folder / "session").rglob("*.json")
    (first,) = take(store, session)
    assert first.new_commits > 2
    plant(store)
    assert take(store, session)[0].session == "planted"
    part = max((folder / "part").rglob("*.json"))
    part.write_text(part.read_text() + "\n")
    assert take(store, session)[0].session == first.session
    plant(store)
    shutil.copy(part, part.with_name("prt_zzz.json"))
    assert take(store, session)[0].session == first.session


def test_imports_at_the_same_time_lose_nothing_of_it(store: Store, tmp_path: Path) -> None:
    paths = [Path(shutil.copy(FIXTURES / "simple.jsonl", tmp_path / f"s{number}.jsonl")) for number in range(40)]

    def run(number: int) -> None:
        for path in paths[number::4]:
            take(Store.open(store.path, durable=False), path)

    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(run, range(4))] == [None] * 4
    assert sorted(entry["path"] for entry in entries(store)) == sorted(map(str, paths))


def test_the_cache_does_not_grow_for_ever(store: Store, transcript: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_cache, "_MOST_LINES", 10)
    for number in range(30):
        os.utime(transcript, ns=(0, number))
        take(store, transcript)
    assert len(entries(store)) <= 10
    assert entries(store)[-1]["session"] == "rewind"


def replaced_by_a_link(path: Path) -> None:
    outside = path.parent.parent.parent / "outside"
    path.rename(outside)
    path.symlink_to(outside)


def replaced_by_a_device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def replaced_by_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def replaced_by_nothing(path: Path) -> None:
    with path.open("ab") as file:
        file.truncate(1_500_000_000)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
@pytest.mark.parametrize("spoil", [replaced_by_a_link, replaced_by_a_device, replaced_by_a_pipe, replaced_by_nothing])
def test_what_is_no_plain_file_of_the_store_is_no_cache(
    spoil: Callable[[Path], None], store: Store, transcript: Path
) -> None:
    take(store, transcript)
    plant(store)
    kept = cache_of(store).read_bytes()
    spoil(cache_of(store))
    assert was_read(store, transcript)
    plant(store)
    assert not was_read(store, transcript)
    outside = store.path.parent / "outside"
    assert not outside.exists() or outside.read_bytes() == kept


@pytest.mark.parametrize(
    "wrong",
    [
        {"session": 5},
        {"format": {}},
        {"unfinished": "no"},
        {"redacted": []},
        {"behind": 2},
        {"refs": 7},
        {"refs": {"refs/heads/rewind": [1]}},
        {"problems": [[float("inf"), "x"]]},
        {"problems": [1]},
    ],
)
def test_an_entry_of_the_wrong_kind_is_none(wrong: dict[str, Any], store: Store, transcript: Path) -> None:
    take(store, transcript)
    plant(store, **wrong)
    assert was_read(store, transcript)
