"""Transcripts that are read more than once, of which the second time is read from a copy."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsession import Store, Unavailable, copied
from gitsession.copied import Copied
from gitsession.repo import scratch
from tests.importing import take, talk


def reader(copy: Copied) -> io.BufferedReader:
    return io.BufferedReader(copy, 16)


@pytest.mark.parametrize("in_memory", [0, 100, 10_000])
def test_it_is_the_same_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_memory: int) -> None:
    monkeypatch.setattr(scratch, "_IN_MEMORY", in_memory)
    path = tmp_path / "document"
    content = bytes(range(256)) * 10
    path.write_bytes(content)
    with path.open("rb") as file, reader(Copied(file, tmp_path)) as stream:
        for _ in range(3):
            stream.seek(0)
            assert stream.read() == content
            assert stream.tell() == len(content)
            path.write_bytes(b"written since, and longer" * 200)
    assert list(tmp_path.iterdir()) == [path]


@given(
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), max_size=8), st.sampled_from([0, 50, 1000]), st.data()
)
def test_any_part_is_read_as_it_was(steps: list[tuple[int, int]], in_memory: int, data: st.DataObject) -> None:
    content = data.draw(st.binary(min_size=300, max_size=300))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(scratch, "_IN_MEMORY", in_memory)
        patched.setattr(copied, "_AT_LEAST", data.draw(st.sampled_from([10, 100, 1000])))
        with reader(Copied(io.BytesIO(content), Path())) as stream:
            furthest = 0
            for wanted, size in steps:
                # Nobody goes further than they have read.
                start = min(wanted, furthest)
                stream.seek(start)
                assert stream.read(size) == content[start : start + size]
                furthest = max(furthest, stream.tell())


def test_once_it_is_let_go_no_room_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "_IN_MEMORY", 100)
    content = b"0123456789" * 100
    copy = Copied(io.BytesIO(content), tmp_path / "nowhere")
    with reader(copy) as stream:
        assert stream.read(40) == content[:40]
        stream.seek(0)
        copy.let_go()
        assert stream.read() == content


def test_what_is_added_to_a_file_that_was_let_go_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\n")
    with path.open("rb") as file:
        copy = Copied(file, tmp_path)
        with reader(copy) as stream:
            assert stream.readline() == b"one\n"
            copy.let_go()
            with path.open("ab") as writer:
                writer.write(b"two\n")
            assert stream.readline() == b"two\n"


def test_what_is_added_to_a_file_that_was_copied_is_not(tmp_path: Path) -> None:
    path = tmp_path / "document"
    path.write_bytes(b"one\n")
    with path.open("rb") as file:
        copy = Copied(file, tmp_path)
        with reader(copy) as stream:
            assert stream.read() == b"one\n"
            with path.open("ab") as writer:
                writer.write(b"two\n")
            copy.fill()
            stream.seek(0)
            assert stream.read() == b"one\n"


def test_a_copy_for_which_there_is_no_room_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "_IN_MEMORY", 100)
    with (
        reader(Copied(io.BytesIO(bytes(200)), tmp_path / "nowhere")) as stream,
        pytest.raises(Unavailable, match="cannot set aside in the store what does not fit into memory"),
    ):
        stream.read()


def test_what_is_always_a_log_is_not_copied(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Copied, "_keep", lambda *_: pytest.fail("it is copied"))
    path = tmp_path / "abc.jsonl"
    path.write_bytes(b"".join(talk(50)))
    (done,) = take(store, path)
    assert done.new_commits == 50
