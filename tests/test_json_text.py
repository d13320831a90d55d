"""Strict JSON text: what is written, what is refused, and where the fault stands."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsession import InvalidCommit
from gitsession.json_text import decode, decode_first, encode, encode_object


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [1.5, None, True, False]}, b'{"b":1,"a":[1.5,null,true,false]}'),
        ("é 😀 \u2028\u0085", '"é 😀 \u2028\u0085"'.encode()),
        ("\ud800x", b'"\\ud800x"'),
        ("\0\n\r\t\x7f\x1f", b'"\\u0000\\n\\r\\t\x7f\\u001f"'),
        (1e5, b"100000.0"),
        (1e22, b"1e+22"),
        (-0.0, b"-0.0"),
        (10**30, b"1000000000000000000000000000000"),
        ({}, b"{}"),
    ],
)
def test_a_value_has_one_text(value: Any, text: bytes) -> None:
    assert encode(value) == text
    assert decode(text) == value


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (float("nan"), "it is nan, which is no JSON"),
        ({"a": [0, float("inf")]}, "it.a[1] is inf, which is no JSON"),
        ({1: 2}, "it has the key 1, which is no string"),
        ({"a": {None: 2}}, "it.a has the key None, which is no string"),
        ({"a": {True: 2}}, "it.a has the key True, which is no string"),
        ((1,), "it is of type tuple, which JSON does not have"),
        ([object], "it[0] is of type type, which JSON does not have"),
        ([10**4300], "it[0] is an integer of more than 4,300 digits"),
        ({"\ud83d\ude00": 1}, "a key of it holds a surrogate pair as two separate halves"),
    ],
)
def test_a_value_that_would_not_come_back_is_refused_with_its_place(value: Any, fault: str) -> None:
    with pytest.raises(InvalidCommit) as caught:
        encode(value, "it")
    assert str(caught.value) == fault


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(InvalidCommit, match=r"^the message(\[0\]){16}\[\.\.\. nests deeper than 200 levels$"):
        encode(value)


@pytest.mark.parametrize("value", [None, 1, "x", [{}], (("a", 1),)])
def test_only_an_object_is_one(value: Any) -> None:
    with pytest.raises(InvalidCommit, match=f"^it is no JSON object but {type(value).__name__}$"):
        encode_object(value, "it")


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b" ", b"{", b"nul", b"{'a':1}", b"[1,]", b"1 2", b"NaN", b"[Infinity]", b"-Infinity", b"\xff"),
        *(b'"\xed\xa0\x80"', b"\xef\xbb\xbf{}", b'"\n"', b"01", b"[" * 100_000, b"1" * 4301),
    ],
)
def test_what_is_no_strict_json_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError):
        decode(text)


def test_the_first_value_of_a_text_is_found_with_its_end() -> None:
    assert decode_first('x{"a":1}}', 1) == ({"a": 1}, 8)
    with pytest.raises(ValueError):
        decode_first("x", 1)
    with pytest.raises(ValueError, match=r"^it holds an integer of more than 4,300 digits$"):
        decode_first("9" * 4301, 0)
    with pytest.raises(ValueError, match="nests too deeply"):
        decode_first("[" * 100_000, 0)


@given(st.recursive(st.none() | st.text() | st.integers() | st.floats(allow_nan=False, allow_infinity=False), st.lists))
def test_the_text_is_that_of_pythons_json(value: Any) -> None:
    text = encode(value)
    assert json.loads(text) == value
    assert b"\n" not in text
