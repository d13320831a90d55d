"""A record of a transcript as a line of the log: wrapped, its own text kept byte for byte. FORMAT.md, "Records"."""

import re

from gitsession import json_text
from gitsession.errors import Corrupt
from gitsession.jsonl import RECORD_TYPE
from gitsession.transcripts.base import Record
from gitsession.transcripts.records import parse

PREFIX = b'{"type":"gitsession/record",'

_STRING = rb'"(?:[^"\\]|\\.)*"'
_WRAPPER = re.compile(
    rb'\{"type":"gitsession/record","format":(%b),"id":(%b)(?:,"timestamp":(%b))?(,"eol":"")?(,"glued":true)?'
    rb',"(record|text)":' % (_STRING, _STRING, _STRING)
)


def is_record(content: bytes) -> bool:
    """Tells whether a delta is one stored record."""
    return content.startswith(PREFIX) and content.count(b"\n") == 1


def encode_record(format_name: str, commit_id: str, record: Record) -> bytes:
    """Returns the line that stores a record.

    Args:
        format_name: The transcript format.
        commit_id: The id that the record is committed under.
        record: The record; `value` None, or a text of several lines, is stored as a string.
    """
    timestamp = b"" if record.timestamp is None else b',"timestamp":' + json_text.encode(record.timestamp)
    ends = (b"" if record.newline else b',"eol":""') + (b',"glued":true' if record.glued else b"")
    if record.value is None or not _is_one_text(record.raw):
        body = b'"text":' + json_text.encode(record.raw.decode("utf-8", "surrogateescape"), "the record")
    else:
        body = b'"record":' + record.raw
    return b'{"type":"%b","format":%b,"id":%b%b%b,%b}' % (
        RECORD_TYPE.encode(),
        json_text.encode(format_name),
        json_text.encode(commit_id),
        timestamp,
        ends,
        body,
    )


def decode_record(line: bytes) -> tuple[str, Record]:
    """Returns the format and the record of a stored line.

    Raises:
        Corrupt: The line is no stored record.
    """
    match = _WRAPPER.match(line)
    if match is None or not line.endswith(b"}"):
        raise Corrupt("a stored record cannot be read: its wrapper is damaged")
    body = line[match.end() : -1]
    try:
        name, record_id = json_text.decode(match[1]), json_text.decode(match[2])
        timestamp = None if match[3] is None else json_text.decode(match[3])
        value = json_text.decode(body)
        if match[6] == b"text":
            body = value.encode("utf-8", "surrogateescape")
            value, _ = parse(body)
    except (ValueError, AttributeError) as error:
        raise Corrupt(f"a stored record cannot be read: {error}") from error
    return name, Record(body, value, 0, record_id, timestamp, newline=match[4] is None, glued=match[5] is not None)


def _is_one_text(raw: bytes) -> bool:
    """Tells whether bytes that hold a JSON value hold nothing else, no byte order mark and no comma, on one line."""
    core = raw.strip(b" \t\r")
    return b"\n" not in raw and not core.startswith((b"\xef\xbb\xbf", b",")) and not core.endswith(b",")
