"""Records that replace each other, and transcripts of many files."""

from hypothesis import given
from hypothesis import strategies as st

from gitsession.transcripts import Record, bundle
from gitsession.transcripts.records import parse
from gitsession.transcripts.versions import key_of, latest, own_id, version_id


def stored(*ids: str) -> list[Record]:
    return [Record(str(place).encode(), id=own) for place, own in enumerate(ids)]


def test_the_last_version_stands_in_the_place_of_the_first() -> None:
    found = latest(stored("a", "b", "a.v2", "c", "a.v3"))
    assert [(record.id, record.raw) for record in found] == [("a.v3", b"4"), ("b", b"1"), ("c", b"3")]


def test_an_id_that_only_looks_like_a_version_is_a_record() -> None:
    assert [record.id for record in latest(stored("b.v2", "a", "c.v0", "a.v2.v2"))] == ["b.v2", "a", "c.v0", "a.v2.v2"]


def test_records_of_a_file_are_as_they_are() -> None:
    records = [Record(b"", line=1, id="a"), Record(b"", line=2, id="a"), Record(b"", line=3, id="a.v2")]
    assert latest(records) == records


@given(st.text(min_size=1), st.integers(1, 1000))
def test_a_version_names_its_record(key: str, number: int) -> None:
    assert key_of(version_id(key, number), {key}) == key
    assert number == 1 or own_id(version_id(key, number)) is None


@given(st.text(min_size=1), st.binary())
def test_a_file_comes_back_from_its_line(path: str, content: bytes) -> None:
    line = bundle.line_of(path.encode("utf-8", "replace").decode(), content)
    value, problem = parse(line)
    assert (line.count(b"\n"), problem, bundle.is_file(value)) == (1, None, True)
    assert value["text"].encode("utf-8", "surrogateescape") == content
