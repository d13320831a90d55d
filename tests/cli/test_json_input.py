"""What stands on stdin, split into messages."""

import json
from contextlib import suppress

import pytest
from gitsession_cli.errors import InvalidInput
from gitsession_cli.json_input import message_texts
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (b'{"a": 1}', [b'{"a": 1}']),
        (b'{"a":1}\n{"b":2}\n', [b'{"a":1}', b'{"b":2}']),
        (b'{"a":1}{"b":2}', [b'{"a":1}', b'{"b":2}']),
        (b'{\n  "a": 1\n}\n{\n  "b": 2\n}', [b'{\n  "a": 1\n}', b'{\n  "b": 2\n}']),
        (b'[{"a":1},\r\n {"b":2}]\n', [b'{"a":1}', b'{"b":2}']),
        (b'\xef\xbb\xbf{"a":1}\r\n', [b'{"a":1}']),
        (
            b'{"n":1e5,"n":-0,"m":1E400,"i":2512292042121000001}',
            [b'{"n":1e5,"n":-0,"m":1E400,"i":2512292042121000001}'],
        ),
        ('{"u":"\u2028\u0085"}'.encode(), ['{"u":"\u2028\u0085"}'.encode()]),
        (rb'{"half":"\ud83d"}', [rb'{"half":"\ud83d"}']),
    ],
)
def test_each_message_keeps_its_text(given: bytes, expected: list[bytes]) -> None:
    assert message_texts(given) == expected


@pytest.mark.parametrize(
    ("given", "line", "column", "reason"),
    [
        (b"", 1, 1, "there is no message"),
        (b"[]", 1, 3, "there is no message"),
        (b"\n\n", 3, 1, "there is no message"),
        (b'{"a":1}\n{"b":}', 2, 6, "expected a value"),
        (b'{"a":1}\n{"b":2', 2, 7, "expected a ','"),
        (b'{"a":"x\n"}', 1, 8, "invalid control character"),
        (b'{"a":1}\nhello', 2, 1, "expected a value"),
        (b'{"a":1}\n[1]', 2, 1, "a message is a JSON object, not an array"),
        (b'"text"', 1, 1, "a message is a JSON object, not a string"),
        (b"[1]", 1, 2, "a message is a JSON object, not a number"),
        (b'[{"a":1} {"b":2}]', 1, 10, "expected ',' or ']' after a message"),
        (b'[{"a":1}', 1, 9, "expected ',' or ']' after a message"),
        (b'[{"a":1},]', 1, 10, "expected a value"),
        (b'[{"a":1}] x', 1, 11, "something follows the array of messages"),
        (b'{"a":1}\n {"b":NaN}', 2, 2, "in the message that begins here: NaN is no JSON"),
        (b'{"a":"\xc3\xa9"}\n{"b":"\xff"}', 2, 7, "byte 0xff is no UTF-8"),
        (b'{"a":' + b"[" * 200_000, 1, 1, "the message nests too deeply; 200 levels are the most"),
        (b'{"a":' + b"1" * 4301, 1, 1, "in the message that begins here: an integer has more than 4,300 digits"),
        (b"{a:1}", 1, 2, "expected a property name enclosed in double quotes"),
    ],
)
def test_a_fault_has_its_line_and_column(given: bytes, line: int, column: int, reason: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        message_texts(given)
    assert (caught.value.line, caught.value.column, caught.value.reason) == (line, column, reason)


@given(st.binary())
def test_any_input_is_messages_or_a_fault(given: bytes) -> None:
    texts = []
    with suppress(InvalidInput):
        texts = message_texts(given)
    assert all(isinstance(json.loads(text), dict) for text in texts)
