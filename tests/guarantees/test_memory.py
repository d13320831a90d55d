"""What it takes in memory to store one message of 100 MB beside ten thousand small ones, and to import a large file.

`pytest -m slow --full tests/guarantees/test_memory.py`: 100 MB, and a file of 500 MB; 16 MB and 40 MB by default.
"""

import resource
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitsession import MessageEntry, SessionCommit, SessionMeta, Store, import_transcripts
from tests.benchmarks.transcripts import transcript
from tests.guarantees.children import Say, together

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="each system counts memory in its own way"),
]

MEGABYTE = 1_000_000
LINE = "a line of a tool's output, of which there are very many\n"


def growth(work: Callable[[Store], object], path: Path, message_bytes: int) -> float:
    """Returns how much memory a process takes at most to do something to a store, in sizes of the largest message."""

    def measured(say: Say) -> None:
        store = Store.open(path, durable=False)
        # The parts of the library are loaded when they are first used, and are not what is measured.
        store.create(meta := SessionMeta())
        store.append(meta.id, MessageEntry({"role": "user"}, "first"))
        store.bind(meta.id).commit(SessionCommit("second", "first", [{"role": "user"}]))
        assert len(store.load(meta.id, last=1)) == len(store.bind(meta.id).load().messages) - 1
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        work(store)
        say(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before}")

    ((kilobytes,),) = together([measured])
    return int(kilobytes) * 1024 / message_bytes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.git"
    store = Store.init(path, durable=False)
    store.create(SessionMeta("s"))
    for number in range(10):
        messages = [{"role": "user", "content": f"{number}: {place}"} for place in range(1000)]
        store.bind("s").commit(SessionCommit(f"c{number}", f"c{number - 1}" if number else None, messages))
    return path


def test_a_large_message_takes_little_more_than_its_size(path: Path, scale: Callable[[int, int], int]) -> None:
    size = scale(16, 100) * MEGABYTE
    large = {"role": "tool", "content": LINE * (size // len(LINE))}
    small = [{"role": "user", "content": f"after: {place}"} for place in range(20)]

    def read_messages(store: Store) -> None:
        messages = store.bind("s").load().messages
        assert len(messages) == 10_021
        assert messages[-20:] == small

    def read_entries(store: Store) -> None:
        assert [entry.message for entry in store.load("s", last=20)] == small

    # What its caller holds of it aside.
    assert growth(lambda store: store.append("s", MessageEntry(large, "large")), path, size) < 2.3
    assert growth(lambda store: store.bind("s").commit(SessionCommit("after", "large", small)), path, size) < 0.3
    assert growth(read_messages, path, size) < 1.5
    assert growth(read_entries, path, size) < 0.3
    assert Store.open(path).bind("s").load().messages[10_000] == large


def test_a_transcript_is_imported_and_given_back_in_a_part_of_its_size(
    tmp_path: Path, path: Path, scale: Callable[[int, int], int]
) -> None:
    file = transcript(tmp_path / "large.jsonl", scale(10_000, 125_000), 4000)
    size = file.stat().st_size

    def take(store: Store) -> None:
        (done,) = import_transcripts(store, [file])
        assert done.session == "large"  # type: ignore[union-attr]  # a failure fails here

    def export(store: Store) -> None:
        assert size == sum(map(len, store.original("large")))

    # Of each record is kept what the next test measures, and of the packs what was unpacked last.
    assert growth(take, path, size) < 0.8
    assert growth(export, path, size) < 0.8


def test_an_import_keeps_a_few_bytes_of_each_record(
    tmp_path: Path, path: Path, scale: Callable[[int, int], int]
) -> None:
    few, many = scale(20_000, 60_000), scale(60_000, 300_000)
    files = [transcript(tmp_path / f"{count}.jsonl", count, 500) for count in (few, many)]

    def take(number: int) -> Callable[[Store], object]:
        return lambda store: list(import_transcripts(store, [files[number]]))

    # By now both have filled all that is bounded: the objects of one pack, the longest record.
    took = [growth(take(number), path, 1) for number in range(2)]
    assert (took[1] - took[0]) / (many - few) < 200
