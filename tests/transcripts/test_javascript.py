"""JSON as JavaScript has it: what is expected here was printed by JavaScript."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsession.transcripts.javascript import parse, stringify


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.0", "1"),
        ("-0", "0"),
        ("1e400", "null"),
        ("1E5", "100000"),
        ("1e21", "1e+21"),
        ("123456789012345680000", "123456789012345680000"),
        ("12345678901234567890", "12345678901234567000"),
        ("9007199254740993", "9007199254740992"),
        ("-1.5e300", "-1.5e+300"),
        ("1.5e-7", "1.5e-7"),
        ("1e-7", "1e-7"),
        ("0.000001", "0.000001"),
        ("0.00001234", "0.00001234"),
        ("1234567.891", "1234567.891"),
        ("5e-324", "5e-324"),
        ("1" * 5000, "null"),
    ],
)
def test_a_number_is_a_double(text: str, expected: str) -> None:
    assert stringify(parse(text)).decode() == expected


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ('{"b": 1, "10": 2, "9": 3}', ["9", "10", "b"]),
        ('{"4294967295": 1, "4294967294": 2, "01": 3, "-1": 4, "0": 5}', ["0", "4294967294", "4294967295", "01", "-1"]),
        ('{"__proto__": 1, "a": 2}', ["__proto__", "a"]),
        ('{"a": 1, "b": 2, "a": 3}', ["a", "b"]),
    ],
)
def test_keys_that_are_indexes_come_first(text: str, keys: list[str]) -> None:
    assert [*json.loads(stringify(parse(text)))] == keys


def test_a_text_is_escaped_as_little_as_it_can_be() -> None:
    value = parse(r'"\u0000\u001f\u007f\u2028\/\b\t\"\\ \ud83d\ude00 \ud83d \uDE00"')
    assert stringify(value) == '"\\u0000\\u001f\x7f\u2028/\\b\\t\\"\\\\ 😀 \\ud83d \\ude00"'.encode()


def test_lines_are_indented_by_two() -> None:
    assert stringify({"a": [1, {"b": []}], "c": {}, "d": None}).decode() == (
        '{\n  "a": [\n    1,\n    {\n      "b": []\n    }\n  ],\n  "c": {},\n  "d": null\n}'
    )
    assert stringify([True, False], 1).decode() == "[\n    true,\n    false\n  ]"


@pytest.mark.parametrize("text", ["NaN", "[1,]", "'a'", '"\t"', "\ufeff{}", "{} x", "01", "", '{"a":1,}', '"\\x"'])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse(text)


@pytest.mark.parametrize("levels", [400, 401, 100_000])
def test_how_deep_it_nests_is_bounded(levels: int) -> None:
    text = "[" * levels + "]" * levels
    if levels > 400:
        with pytest.raises(ValueError, match="deeper than 400 levels"):
            parse(text)
    else:
        assert json.loads(stringify(parse(text))) == parse(text)


_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(_values)
def test_any_value_comes_back(value: Any) -> None:
    assert parse(stringify(value).decode()) == value
