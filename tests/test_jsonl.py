"""Entries and headers as JSON text, and back."""

import json
from typing import Any

import pytest

from gitsession import (
    CompactionEntry,
    Corrupt,
    InvalidCommit,
    MessageEntry,
    SessionEntry,
    SessionMeta,
    UnknownEntry,
    UnsupportedFormat,
)
from gitsession.jsonl import (
    Header,
    committed_line,
    decode_entry,
    decode_header,
    encode_entry,
    encode_header,
    message_line,
    meta_of,
    meta_value,
)

TIME = "2025-01-01T00:00:00Z"
NOW = "the time of the commit"


def read(line: bytes) -> SessionEntry:
    return decode_entry(line, default_id="c/0", default_timestamp=lambda: NOW)


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        (
            MessageEntry({"role": "user"}, "e", "d", TIME),
            b'{"type":"message","message":{"role":"user"},"id":"e","parent_id":"d","timestamp":"2025-01-01T00:00:00Z"}',
        ),
        (
            MessageEntry({}, "e", None, TIME, {"x": None}),
            b'{"type":"message","message":{},"id":"e","timestamp":"2025-01-01T00:00:00Z","x":null}',
        ),
        (
            CompactionEntry("S", "k", 7, "e", None, "T", {"by": "m"}),
            b'{"type":"compaction","summary":"S","first_kept_id":"k","tokens_before":7,"id":"e","timestamp":"T","by":"m"}',
        ),
        (
            UnknownEntry({"id": "e", "timestamp": TIME, "type": "note"}, "e", TIME),
            b'{"id":"e","timestamp":"2025-01-01T00:00:00Z","type":"note"}',
        ),
    ],
)
def test_an_entry_is_one_line_and_back(entry: SessionEntry, line: bytes) -> None:
    assert encode_entry(entry) == line
    assert read(line) == entry


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        (b'{"type":"message","message":{}}', MessageEntry({}, "c/0", None, NOW)),
        (
            b'{"message":{},"type":"message","id":"","timestamp":null}',
            MessageEntry({}, "c/0", None, NOW),
        ),
        (b' {"type":"compaction","summary":"S"}\t', CompactionEntry("S", id="c/0", timestamp=NOW)),
        (b'{"type":"message"}', UnknownEntry({"type": "message"}, "c/0", NOW)),
        (
            b'{"type":"message","message":[]}',
            UnknownEntry({"type": "message", "message": []}, "c/0", NOW),
        ),
        (b'{"type":["message"]}', UnknownEntry({"type": ["message"]}, "c/0", NOW)),
        (b"{}", UnknownEntry({}, "c/0", NOW)),
    ],
)
def test_what_an_entry_lacks_is_filled_in(line: bytes, entry: SessionEntry) -> None:
    assert read(line) == entry


@pytest.mark.parametrize("line", [b"", b"[]", b"null", b"{", b"\xff", b'{"a":NaN}', b"[" * 100_000])
def test_a_line_that_is_no_json_object_is_corrupt(line: bytes) -> None:
    with pytest.raises(Corrupt, match="'c/0'"):
        read(line)


def test_a_committed_message_has_no_id_and_no_time() -> None:
    assert message_line({"role": "user"}, 0) == b'{"type":"message","message":{"role":"user"}}'


@pytest.mark.parametrize(
    ("line", "committed"),
    [
        (b'{"type":"message","message":{"a": 1E400}}', b'{"type":"message","message":{"a": 1E400}}'),
        (b'{"type":"message","message":{"a":[{}]},"id":"e","x":{}}', b'{"type":"message","message":{"a":[{}]}}'),
        (b'{"type":"message","message":{"a":1} ,"id":"e"}', b'{"type":"message","message":{"a":1}}'),
        (b'{"id":"e","type":"message","message":{"a": 1}}', b'{"type":"message","message":{"a":1}}'),
    ],
)
def test_a_loaded_message_is_committed_without_its_entry(line: bytes, committed: bytes) -> None:
    assert committed_line(line, 0) == committed


@pytest.mark.parametrize("line", [b'{"type":"message","message":', b"{}", b"[]", b'{"type":"message"}'])
def test_a_loaded_line_that_is_no_message_is_corrupt(line: bytes) -> None:
    with pytest.raises(Corrupt):
        committed_line(line, 0)


def test_a_streaming_message_is_refused_in_every_form() -> None:
    for call in (
        lambda: message_line({"streaming": True}, 0),
        lambda: committed_line(b'{"type":"message","message":{"streaming":true}}', 0),
        lambda: encode_entry(MessageEntry({"streaming": True})),
    ):
        with pytest.raises(InvalidCommit, match="still streaming"):
            call()


# Headers.


def test_a_header_is_session_json_and_back() -> None:
    meta = SessionMeta("s", 1, "p", TIME, "T", "a", "0" * 40, {"x": [1]})
    text = encode_header(Header(meta, "abcdef", 2))
    assert text == (
        b'{"format":1,"text":2,"tag":"abcdef","meta":{"id":"s","version":1,"parent_session":"p",'
        b'"created_at":"2025-01-01T00:00:00Z","title":"T","agent":"a","forked_from":"' + b"0" * 40 + b'","x":[1]}}\n'
    )
    assert decode_header(text, where="it") == (meta, "abcdef", 2)


@pytest.mark.parametrize(
    ("value", "meta"),
    [
        ({"id": "s"}, SessionMeta("s", created_at="")),
        ({"id": "s", "version": None, "title": None}, SessionMeta("s", created_at="")),
        ({"x": 1, "id": "s", "version": 2}, SessionMeta("s", 2, created_at="", extra={"x": 1})),
    ],
)
def test_a_header_that_lacks_fields_reads(value: dict[str, Any], meta: SessionMeta) -> None:
    assert meta_of(value) == meta
    assert meta_of(meta_value(meta)) == meta


def test_a_header_without_an_id_takes_the_one_given() -> None:
    assert meta_of({}, session_id="s") == SessionMeta("s", created_at="")


@pytest.mark.parametrize("value", [{}, {"id": 1}, {"id": "s", "version": "1"}, {"id": "s", "created_at": 1}])
def test_a_header_with_a_field_of_the_wrong_type_is_corrupt(value: dict[str, Any]) -> None:
    with pytest.raises(Corrupt):
        meta_of(value)


@pytest.mark.parametrize("key", ["format", "text"])
@pytest.mark.parametrize("version", [0, 3, 99, "1", True, None, [1]])
def test_a_header_of_another_version_is_refused_with_the_known_ones(key: str, version: Any) -> None:
    text = encode_header(Header(SessionMeta("s"), "abcdef", 1))
    value = json.dumps(version).encode()
    with pytest.raises(UnsupportedFormat) as caught:
        decode_header(text.replace(f'"{key}":1'.encode(), f'"{key}":'.encode() + value), where="it")
    assert (caught.value.found, caught.value.known) == (version, {"format": (1,), "text": (1, 2)}[key])


@pytest.mark.parametrize("tag", [b'"ABCDEF"', b'"abcde"', b'"abcdefg"', b"123456", b"null", b'"../../"'])
def test_a_header_without_a_proper_tag_is_corrupt(tag: bytes) -> None:
    text = encode_header(Header(SessionMeta("s"), "abcdef", 1)).replace(b'"abcdef"', tag)
    with pytest.raises(Corrupt, match="no proper tag"):
        decode_header(text, where="it")
