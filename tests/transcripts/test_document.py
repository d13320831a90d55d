"""Taking one JSON document with an array of messages apart."""

import copy
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsession.transcripts import FORMATS, Record, window
from gitsession.transcripts.arrays import find as find_arrays
from gitsession.transcripts.document import array_start, is_document, is_sound, read, read_stream, write

PATHS = ((), ("messages",))


def describe(_value: dict[str, object]) -> tuple[str | None, str | None]:
    return None, None


def raws(content: bytes) -> list[bytes]:
    return [record.raw for record in read(content, PATHS, describe)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1]", 1),
        ("\ufeff [1]", 5),
        ('{"messages": [1]}', 14),
        ('{"a": {"messages": [2]}, "messages":[1]}', 37),
        ('{"a": [1]}', None),
        ('{"messages": {}}', None),
        ('{"messages"', None),
        ("{1}", None),
        ("text", None),
        ("", None),
        ('{"messages": null, "messages": [1]}', None),
        ('{"messages": [1]', 14),
        ('{"é": "é", "messages": [1]}', 26),
        ('{"mess\\u0061ges": [1]}', 19),
        ('{"a": 1,}', None),
        ('{"a": 1, "messages" [1]}', None),
        ('{"a": , "messages": [1]}', None),
        ('{"a": "\n", "messages": [1]}', None),
    ],
)
def test_the_array_is_found(text: str, expected: int | None) -> None:
    assert array_start(text.encode(), PATHS) == expected
    assert is_document(text.encode(), PATHS) == (expected is not None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"b": [1], "a": [2]}', 2),
        ('{"b": [1], "c": {"d": [2]}}', 2),
        ('{"c": {"x": 1, "d": [2]}, "b": 1}', 2),
        ('{"c": {"d": {}, "b": [2]}, "x": [1]}', None),
        ('{"b": [1], "a": [2', 2),
        ('{"b": [1] "a": [2]}', 1),
        ('{"b": [1}, "a": [2]}', 1),
    ],
)
def test_the_first_path_that_leads_to_an_array_is_the_one(text: str, expected: int | None) -> None:
    paths = (("a",), ("c", "d"), ("b",))
    start = array_start(text.encode(), paths)
    assert (None if start is None else text[start]) == (None if expected is None else str(expected))


def test_an_element_carries_what_stands_before_it() -> None:
    assert raws(b'[\n {"a":1},\n {"b":2}\n]\n') == [b"[\n]", b'\n {"a":1}', b',\n {"b":2}']


def test_what_stands_around_the_array_is_kept() -> None:
    assert raws(b'{"x":1,"messages":[{"a":1}],"y":2}') == [b'{"x":1,"messages":[],"y":2}', b'{"a":1}']


def test_lines_are_counted() -> None:
    content = b'{\n"messages": [\n {"a":\n1},\n {"b":2}\n]}\n'
    assert [record.line for record in read(content, PATHS, describe)] == [1, 3, 5]


def test_a_line_that_is_a_record_is_no_document_whatever_it_holds() -> None:
    line = b'{"role":"user","messages":[{"a":1}]}'

    def read_lines(content: bytes) -> list[bytes]:
        return [one.raw for one in read_stream(io.BytesIO(content), PATHS, describe, lambda value: "role" in value)]

    assert read_lines(line + b'\n{"b":2}\n') == [line, b'{"b":2}']
    assert read_lines(b"\xef\xbb\xbf\n" + line) == [b"\xef\xbb\xbf", line]
    # What is more than one record, or none without a fault, is a document.
    assert read_lines(line.replace(b"[", b"[\n")) == [b'{"role":"user","messages":[]}', b'\n{"a":1}']
    assert read_lines(line.replace(b"1", b"NaN")) == [b'{"role":"user","messages":[]}', b'{"a":NaN}']
    assert read_lines(line + b"x")[1:] == [b'{"a":1}', b"]}x"]


@pytest.mark.parametrize(
    "content", [b"[]", b"[]\n", b'[1, "a", null]', b'[{"a":NaN}]', b'["\xff"]', b"[[[", b"[1]]", b"[1]x"]
)
def test_every_document_comes_back(content: bytes) -> None:
    assert b"".join(write(list(read(content, PATHS, describe)), PATHS)) == content


def large(step: str) -> bytes:
    """Returns a document of more than 4 MiB, of which this is the last element but one."""
    fill = '{"x":"' + "é" * 3000 + '"}'
    return f'{{"n":1,"messages":[{",".join([fill] * 700 + [step, fill])}]}}'.encode()


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ('{"x":1}', True),
        ("[1, null]", True),
        ('{"x":NaN}', False),
        ('{"x":1e400}', False),
        ('{"x":' + "9" * 5000 + "}", False),
        ("[" * 198 + "]" * 198, True),
        ("[" * 199 + "]" * 199, False),
    ],
)
def test_a_large_document_is_sound_if_it_is_so_as_one_text(step: str, expected: bool) -> None:
    content = large(step)
    (elements,) = find_arrays(io.BytesIO(content), (("messages",),)).values()
    assert is_sound(io.BytesIO(content), elements) is expected
    (record,) = FORMATS["pi"].read(io.BytesIO(content))
    assert (record.problem is None) is expected


@pytest.mark.parametrize("fault", [b"\xff", b"x", b"}"])
def test_a_large_document_is_not_sound_with_a_fault_at_its_end(fault: bytes) -> None:
    content = large('{"x":1}') + fault
    (elements,) = find_arrays(io.BytesIO(content), (("messages",),)).values()
    assert not is_sound(io.BytesIO(content), elements)


# The formats that have documents.
NAMES = ("chat", "gemini", "langchain", "opencode", "openhands", "swe-agent")
# The names on their paths, and those that tell a message.
KEYS = ("messages", "history", "trajectory", "events", "values", "output", "role", "content", "type", "id", "source")

texts = st.text(max_size=20) | st.sampled_from(["user", "human", "é€😀", "\ud83d"])
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.just(10**30) | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(KEYS) | texts, inner, max_size=5),
    max_leaves=20,
)


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """Returns JSON texts, printed in one way or another, and what comes of them when something happens to them."""
    parts = []
    for value in draw(st.lists(values, min_size=1, max_size=2)):
        text = json.dumps(value, indent=draw(st.sampled_from([None, 1])), ensure_ascii=draw(st.booleans()))
        parts.append(text.encode("utf-8", "surrogatepass"))
    content = draw(st.sampled_from([b"", b"\xef\xbb\xbf", b"\n"])) + draw(st.sampled_from([b"\n", b""])).join(parts)
    for _ in range(draw(st.integers(0, 2))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 10)))
        odd = draw(st.sampled_from([b"", b"\xff", b"\xf0\x9f", b"\\", b'"', b"]", b"}", b",", b"0", b"-", b"\n"]))
        content = content[:start] + odd + content[end:]
    return content


def read_by(name: str, content: bytes, window_bytes: int) -> list[Record]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(window, "WINDOW_BYTES", window_bytes)
        return list(FORMATS[name].read(io.BytesIO(content)))


@given(st.sampled_from(NAMES), documents(), st.integers(1, 9))
def test_the_records_do_not_depend_on_how_much_is_read_at_a_time(name: str, content: bytes, size: int) -> None:
    whole = read_by(name, content, len(content) + 1)
    assert str(read_by(name, content, size)) == str(whole)  # texts, since no NaN equals another
    assert b"".join(FORMATS[name].write(whole)) in (content, content + b"\n")


@given(st.dictionaries(texts, scalars, max_size=3), st.lists(values, max_size=5), st.integers(1, 9))
def test_a_document_is_its_messages_and_what_is_around_them(
    around: dict[str, Any], messages: list[Any], size: int
) -> None:
    around = {**around, "n": 1}
    document = json.dumps({**around, "messages": messages, "after": [messages]})
    expected = json.loads(document)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(window, "WINDOW_BYTES", size)
        found = find_arrays(io.BytesIO(document.encode()), (("messages",),))[0]
    assert found.closed
    pieces = [document[a:b].strip(", ") for a, b in zip([found.start, *found.ends], found.ends, strict=False)]
    assert str([json.loads(piece) for piece in pieces]) == str(expected["messages"])
    rest = copy.deepcopy(expected) | {"messages": []}
    assert str(json.loads(document[: found.start] + document[found.end :])) == str(rest)
