"""Transcripts that are compressed: they are read as their plain file would be."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from gitsession import ImportFailure, ImportResult, Store, compressed, import_transcripts

ROLLOUT = next((Path(__file__).parents[1] / "fixtures" / "codex").glob("rollout-2026-*0a.jsonl"))


def imported(store: Store, *paths: Path) -> Sequence[ImportResult | ImportFailure]:
    return list(import_transcripts(store, paths))


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """Returns the compressed form of a rollout."""
    (tmp_path / "sessions").mkdir()
    path = tmp_path / "sessions" / (ROLLOUT.name + ".zst")
    path.write_bytes(compressed.zstd.compress(ROLLOUT.read_bytes()))
    return path


def test_a_compressed_transcript_gives_the_session_of_its_plain_file(store: Store, packed: Path) -> None:
    (first,) = imported(store, ROLLOUT)
    (second,) = imported(store, packed)
    assert isinstance(first, ImportResult)
    assert isinstance(second, ImportResult)
    assert (second.session, second.new_commits, second.format) == (first.session, 0, "codex")
    assert b"".join(store.original(second.session)) == ROLLOUT.read_bytes()


def test_a_longer_one_than_any_buffer_is_read(store: Store, tmp_path: Path) -> None:
    header = ROLLOUT.read_bytes().split(b"\n")[0] + b"\n"
    content = header + b'{"type":"event_msg","payload":{"type":"token_count"}}\n' * 20_000
    path = tmp_path / "rollout.jsonl.zst"
    path.write_bytes(compressed.zstd.compress(content))
    with compressed.open_transcript(path) as stream:
        assert stream.read(100) == content[:100]
        assert stream.seek(0) == 0
        assert stream.read() == content


def test_beside_its_plain_file_it_is_left_alone(store: Store, packed: Path) -> None:
    packed.with_suffix("").write_bytes(ROLLOUT.read_bytes())
    (found,) = imported(store, packed.parent)
    assert found.path == packed.with_suffix("")


@pytest.mark.parametrize("keep", [5, 200, -1])
def test_a_damaged_one_is_told_and_hides_no_other(store: Store, packed: Path, tmp_path: Path, keep: int) -> None:
    packed.write_bytes(packed.read_bytes()[:keep])
    whole = tmp_path / "whole.jsonl"
    whole.write_bytes(ROLLOUT.read_bytes())
    results = imported(store, packed, whole)
    failed = [one for one in results if isinstance(one, ImportFailure)]
    assert [one.path for one in failed] == [packed]
    assert "damaged" in str(failed[0].error)


def test_without_the_library_the_extra_is_named(store: Store, packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "zstd", None)
    (failed,) = imported(store, packed)
    assert isinstance(failed, ImportFailure)
    assert "pip install 'gitsession[zstd]'" in str(failed.error)


def test_a_plain_file_that_is_called_compressed_is_read_as_it_is(store: Store, packed: Path) -> None:
    packed.write_bytes(ROLLOUT.read_bytes())
    (found,) = imported(store, packed)
    assert isinstance(found, ImportResult)
    assert found.session in ROLLOUT.name
