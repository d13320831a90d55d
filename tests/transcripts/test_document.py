"""Taking one JSON document with an array of messages apart."""

import pytest

from gitsession.transcripts.document import array_start, read, write

PATHS = ((), ("messages",))


def describe(_value: dict[str, object]) -> tuple[str | None, str | None]:
    return None, None


def raws(content: bytes) -> list[bytes]:
    return [record.raw for record in read(content, PATHS, describe)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1]", 1),
        ("\ufeff [1]", 3),
        ('{"messages": [1]}', 14),
        ('{"a": {"messages": [2]}, "messages":[1]}', 37),
        ('{"a": [1]}', None),
        ('{"messages": {}}', None),
        ('{"messages"', None),
        ("{1}", None),
        ("text", None),
        ("", None),
    ],
)
def test_the_array_is_found(text: str, expected: int | None) -> None:
    assert array_start(text, PATHS) == expected


def test_an_element_carries_what_stands_before_it() -> None:
    assert raws(b'[\n {"a":1},\n {"b":2}\n]\n') == [b"[\n]", b'\n {"a":1}', b',\n {"b":2}']


def test_what_stands_around_the_array_is_kept() -> None:
    assert raws(b'{"x":1,"messages":[{"a":1}],"y":2}') == [b'{"x":1,"messages":[],"y":2}', b'{"a":1}']


def test_lines_are_counted() -> None:
    content = b'{\n"messages": [\n {"a":\n1},\n {"b":2}\n]}\n'
    assert [record.line for record in read(content, PATHS, describe)] == [1, 3, 5]


@pytest.mark.parametrize(
    "content", [b"[]", b"[]\n", b'[1, "a", null]', b'[{"a":NaN}]', b'["\xff"]', b"[[[", b"[1]]", b"[1]x"]
)
def test_every_document_comes_back(content: bytes) -> None:
    assert b"".join(write(read(content, PATHS, describe), PATHS)) == content
