"""The outlines of a file's records, kept compressed."""

import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest

from gitsession.repo.scratch import ScratchFile
from gitsession.transcripts import Record
from gitsession.transcripts.outlines import Outlines


def kept(count: int) -> tuple[list[Record], Outlines]:
    records = [Record(b"", {"type": "user", "number": number}, id=f"r{number}") for number in range(count)]
    outlines = Outlines()
    for record in records:
        outlines.append(record._replace(raw=b"not kept", line=7))
    return records, outlines


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 700])
def test_they_are_a_sequence(count: int) -> None:
    records, outlines = kept(count)
    assert len(records) == len(outlines)
    assert records == list(outlines)
    assert records == list(outlines)  # again: reading takes nothing away
    assert records[::3] == outlines[::3]
    assert records[::-1] == list(reversed(outlines))


def test_what_is_added_while_they_are_read_is_read_too() -> None:
    records, outlines = kept(300)
    assert records[10] == outlines[10]
    outlines.append(Record(b"", None))
    assert Record(b"", None) == outlines[300] == outlines[-1]
    with pytest.raises(IndexError):
        outlines[301]


def test_what_was_given_along_with_one_is_found_by_its_place() -> None:
    outlines = Outlines()
    for number in range(600):
        outlines.append(Record(b"", number), b"%d" % number if number % 7 else b"")
    assert [outlines.mark(place) for place in range(600)] == [b"%d" % one if one % 7 else b"" for one in range(600)]


def test_those_of_large_records_are_put_aside_early(tmp_path: Path) -> None:
    with closing(ScratchFile(tmp_path)) as scratch:
        outlines = Outlines(scratch)
        tracemalloc.start()
        try:
            for number in range(300):
                value = [f"{number}: {place}" for place in range(1000)]
                outlines.append(Record(b"", value, id="r"), size=20_000)
            assert tracemalloc.get_traced_memory()[1] < 10_000_000  # all of them take 30 MB
        finally:
            tracemalloc.stop()
        assert [f"299: {place}" for place in range(1000)] == outlines[299].value
        assert [f"0: {place}" for place in range(1000)] == outlines[0].value


def test_any_text_and_number_comes_back() -> None:
    value = {"a": "\ud800é\u2028", "b": [10**40, -0.5, None, True, {"c": {}}]}
    outlines = Outlines()
    for _ in range(256):
        outlines.append(Record(b"", value, id="\udc80"))
    assert Record(b"", value, id="\udc80") == outlines[3]
