import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsession import json_text
from gitsession.errors import Corrupt
from gitsession.transcripts.base import Record
from gitsession.transcripts.records import parse, read
from gitsession.transcripts.stored import decode_record, encode_record


def there_and_back(record: Record) -> Record:
    return decode_record(encode_record("claude-code", "id", record))[1]


def test_a_record_keeps_its_own_text() -> None:
    raw = b'{"a": 1e5, "b":-0, "c":1E400, "a":2}'
    line = encode_record("pi", "x.2", Record(raw, {}, timestamp="2026-01-05T10:00:00Z"))

    assert (
        b'{"type":"gitsession/record","format":"pi","id":"x.2","timestamp":"2026-01-05T10:00:00Z","record":'
        + raw
        + b"}"
        == line
    )


def test_one_that_shares_its_line_says_so() -> None:
    line = encode_record("pi", "x", Record(b"{}", {}, newline=False))

    assert line == b'{"type":"gitsession/record","format":"pi","id":"x","eol":"","record":{}}'
    assert not there_and_back(Record(b"{}", {}, newline=False)).newline


def test_one_that_goes_on_in_the_line_before_says_so() -> None:
    line = encode_record("pi", "x", Record(b"{}", {}, newline=False, glued=True))

    assert line == b'{"type":"gitsession/record","format":"pi","id":"x","eol":"","glued":true,"record":{}}'
    assert there_and_back(Record(b"{}", {}, glued=True)) == Record(b"{}", {}, id="id", glued=True)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"no JSON", '"no JSON"'),
        (b"", '""'),
        (b"\xff\x00", r'"\udcff\u0000"'),
        (b'{\n"a": 1\n}', r'"{\n\"a\": 1\n}"'),
        (b'\xef\xbb\xbf{"a":1}', '"\ufeff{\\"a\\":1}"'),
        (b'{"a":1},', '"{\\"a\\":1},"'),
    ],
)
def test_what_is_not_one_line_of_json_is_a_text(raw: bytes, text: str) -> None:
    line = encode_record("pi", "x", Record(raw, parse(raw)[0]))

    assert line.endswith(b'"text":' + text.encode() + b"}")
    assert raw == there_and_back(Record(raw, parse(raw)[0])).raw


@given(
    st.binary(max_size=60) | st.text(alphabet='{}[]",:\\a1 \n\r\ufeff\u2028', max_size=30).map(str.encode),
    st.booleans(),
)
def test_any_bytes_come_back(raw: bytes, newline: bool) -> None:
    record = Record(raw, parse(raw)[0], newline=newline)
    line = encode_record("pi", "x", record)

    json_text.decode(line)
    assert b"\n" not in line
    assert (raw, newline) == ((back := there_and_back(record)).raw, back.newline)


PIECES = [b'{"a":1}', b"{}", b"[1]", b"x", b" ", b",", b"\r", b"\n", b'"\xff"', b"\xef\xbb\xbf"]


@given(st.lists(st.sampled_from(PIECES)))
def test_the_records_of_any_file_come_back_with_their_values(pieces: list[bytes]) -> None:
    for record in read(io.BytesIO(b"".join(pieces)), lambda _: (None, None)):
        if not record.unfinished:
            back = there_and_back(record)
            assert (record.raw, record.value) == (back.raw, back.value)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b'{"type":"gitsession/record","format":"pi"}',
        b'{"type":"gitsession/record","format":"pi","id":"x","record":{}',
        b'{"type":"gitsession/record","format":"pi","id":"x","record":nope}',
        b'{"type":"gitsession/record","format":"pi","id":"x","text":1}',
        b'{"type":"gitsession/record","format":"pi","id":"\\x","record":{}}',
    ],
)
def test_a_damaged_line_is_corrupt(line: bytes) -> None:
    with pytest.raises(Corrupt):
        decode_record(line)
