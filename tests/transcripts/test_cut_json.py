"""JSON that ends too early, and JSON that is damaged."""

import json

import pytest

from gitsession.transcripts.cut_json import is_cut

WHOLE = json.dumps(
    {
        "a": [1, -2.5e-10, True, False, None, [], {}, ["x"]],
        'quo"te\\': "back\\slash \\\\ \n \u00e4 \U0001f600 end\\",
        "deep": {"er": [{"b": ""}, {"c": {"d": "\u2028"}}]},
    },
    ensure_ascii=False,
    indent=1,
)


@pytest.mark.parametrize("text", [WHOLE, json.dumps(json.loads(WHOLE)), '[{"a":"\\\\"},"\\u00e4\\ud83d\\ude00"]'])
def test_each_beginning_of_a_value_is_cut(text: str) -> None:
    raw = text.encode()
    assert [end for end in range(len(raw)) if not is_cut(raw[:end])] == []


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a": x',
        b'{"a": 1} junk',
        b'{"a": 1}}',
        b'{"a": 1]',
        b'{"a" 1',
        b'{"a": "\xff',
        b'{"a": 1\xe2',
        b'{"a": "b\nc',
        b'{"a": "\\x',
        b'{"a": "\\u12g',
        b'{"a": NaN',
        b'{"a": nul}',
        b'{"a": 01',
        b"[1,,",
        b"{a",
        b'{"a": 1}\0\0\0',
        b"it is text",
    ],
)
def test_what_nothing_could_complete_is_damaged(raw: bytes) -> None:
    assert not is_cut(raw)


def test_blanks_are_cut() -> None:
    assert [is_cut(raw) for raw in (b"", b" \n")] == [True, True]


def test_what_nests_deeply_is_looked_at_quickly() -> None:
    assert not is_cut(b"[" * 1_000_000)
