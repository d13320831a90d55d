"""Taking files apart into records, whatever they hold."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsession.transcripts import Record
from gitsession.transcripts.records import first_objects, join, parse, read


def describe(value: dict[str, object]) -> tuple[str | None, str | None]:
    return str(value["id"]) if "id" in value else None, None


def records_of(content: bytes) -> list[Record]:
    return list(read(io.BytesIO(content), describe))


def values(content: bytes) -> list[object]:
    return [record.value for record in records_of(content)]


def raws(content: bytes) -> list[bytes]:
    return [record.raw for record in records_of(content)]


def problem(content: bytes) -> str:
    (record,) = records_of(content)
    assert record.value is None
    assert record.problem is not None
    return record.problem


def test_each_line_is_a_record() -> None:
    assert records_of(b'{"id":"a"}\n{"b":2}\n') == [
        Record(b'{"id":"a"}', {"id": "a"}, 1, "a"),
        Record(b'{"b":2}', {"b": 2}, 2),
    ]


def test_an_empty_file_has_none() -> None:
    assert records_of(b"") == []


def test_a_missing_last_line_end_does_not_count() -> None:
    assert records_of(b'{"a":1}') == records_of(b'{"a":1}\n')


@pytest.mark.parametrize("between", [b"", b" ", b"\t ", b","])
def test_two_objects_on_one_line_are_two_records(between: bytes) -> None:
    first, second = records_of(b'{"a":1}' + between + b'{"b":2}\r\n')
    assert (first.raw, first.newline, first.line) == (b'{"a":1}', False, 1)
    assert (second.raw, second.newline, second.line) == (between + b'{"b":2}\r', True, 1)
    assert [first.value, second.value] == [{"a": 1}, {"b": 2}]


def test_a_value_over_several_lines_is_one_record() -> None:
    printed = json.dumps({"a": [1, {"b": "}"}], "c": "["}, indent=2).encode()
    content = b'{"x":0}\n' + printed + b'\n{"y":0}\n'
    assert raws(content) == [b'{"x":0}', printed, b'{"y":0}']
    assert [record.line for record in records_of(content)] == [1, 2, 11]


def test_values_over_several_lines_may_be_glued_too() -> None:
    assert values(b'{\n"a": 1\n}{\n"b": 2\n}\n') == [{"a": 1}, {"b": 2}]


def test_a_line_cut_between_tokens_takes_no_neighbour_with_it() -> None:
    assert values(b'{"a":1,\n{"b":2}\n{"c":3}\n') == [None, {"b": 2}, {"c": 3}]


def test_a_line_cut_before_a_value_takes_no_neighbour_with_it() -> None:
    assert values(b'{"a":\n{"b":2}\n{"c":3}\n') == [None, {"b": 2}, {"c": 3}]


@pytest.mark.parametrize("cut", [b'{"a":[', b'{"a":1,', b'{"a":', b'{"a":{"b":[1,', b"{"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_line_cut_at_the_end_of_a_file_withholds_none_of_those_that_follow(cut: bytes, end: bytes) -> None:
    damaged, *rest = records_of(cut + end + b'{"b":2}' + end + b'{"c":3}' + end)
    assert (damaged.raw, damaged.unfinished, damaged.problem is None) == (cut + end[:-1], False, False)
    assert [(one.value, one.line) for one in rest] == [({"b": 2}, 2), ({"c": 3}, 3)]


def test_of_what_follows_a_cut_line_only_a_last_line_without_its_end_is_unfinished() -> None:
    assert values(b'{"a":[\n{"b":2}') == [None, {"b": 2}]
    cut, whole, last = records_of(b'{"a":[\n{"b":2}\n{"c":')
    assert (cut.raw, cut.unfinished) == (b'{"a":[', False)
    assert whole.value == {"b": 2}
    assert (last.raw, last.unfinished) == (b'{"c":', True)


@pytest.mark.parametrize("within", [b'  {"b":1}', b'{"b":1},', b"{}", b"[1]"])
def test_a_value_over_several_lines_may_hold_others_on_one_line(within: bytes) -> None:
    begun = b'{"a":[\n' + within + b"\n"
    (waiting,) = records_of(begun)
    assert waiting.unfinished
    end = b"1]}\n" if within.endswith(b",") else b"]}\n"
    assert raws(begun + end) == [(begun + end).removesuffix(b"\n")]


def test_a_whole_record_glued_to_a_cut_one_is_found() -> None:
    cut, found = records_of(b'{"a":{"b":"cut he{"type":"x","c":{"d":1}}\n')
    assert (cut.value, cut.newline) == (None, False)
    assert (found.value, found.newline) == ({"type": "x", "c": {"d": 1}}, True)


def test_unicode_line_separators_end_no_line() -> None:
    assert values('{"a":"\u2028\u2029\u0085\x1c"}\n'.replace("\x1c", "").encode()) == [{"a": "\u2028\u2029\u0085"}]


def test_a_byte_order_mark_is_kept_and_no_fault() -> None:
    assert records_of(b'\xef\xbb\xbf{"a":1}\n') == [Record(b'\xef\xbb\xbf{"a":1}', {"a": 1}, 1)]


def test_a_carriage_return_is_kept_and_no_fault() -> None:
    assert records_of(b'{"a":1}\r\n') == [Record(b'{"a":1}\r', {"a": 1}, 1)]


def test_a_blank_line_is_a_record_without_a_value_or_a_fault() -> None:
    assert records_of(b"\r\n\n") == [Record(b"\r", line=1), Record(b"", line=2)]


def test_a_lone_surrogate_is_no_fault() -> None:
    assert values(b'{"a":"\\ud83d"}\n') == [{"a": "\ud83d"}]


def test_faults_are_said() -> None:
    assert problem(b'{"a":"\xff"}\n') == "it is no UTF-8 at byte 7"
    assert "NaN" in problem(b'{"a":NaN}\n')
    assert "Infinity" in problem(b'{"a":-Infinity}\n')
    assert problem(b'{"a":"\0"}\n') == "it is no JSON: Invalid control character at character 7"
    assert problem(b'{"a":"\n') == "it is no JSON: Unterminated string starting at character 6"
    assert problem(b'{"a":' + b"9" * 4301 + b"}\n") == "it holds an integer of more than 4,300 digits"
    assert "nests too deeply" in problem(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n")
    assert problem(b"no JSON\n").startswith("it is no JSON: ")


def test_a_fault_takes_no_neighbour_with_it() -> None:
    assert values(b'{"a":NaN}{"b":"\xff"}{"c":3}\n{"d":4}\n') == [None, None, {"c": 3}, {"d": 4}]


def test_a_value_that_is_no_object_is_a_fault_that_keeps_the_value() -> None:
    (record,) = records_of(b"[1]\n")
    assert (record.value, record.problem) == ([1], "it is no JSON object but list")


@pytest.mark.parametrize("cut", [b'{"a', b'{"a":1', b'{"a":"\xc3', b"  ", b"12", b'{"a":{\n"b":1\n', b'{\n"a": tru'])
def test_a_last_record_that_is_not_complete_is_unfinished(cut: bytes) -> None:
    first, last = records_of(b'{"x":1}\n' + cut)
    assert not first.unfinished
    assert last.unfinished
    assert b"".join(join([first, last])) == b'{"x":1}\n' + cut


def test_what_is_complete_on_an_unfinished_line_is_a_record() -> None:
    first, last = records_of(b'{"a":1}{"b"')
    assert (first.value, first.newline, first.unfinished) == ({"a": 1}, False, False)
    assert (last.raw, last.unfinished) == (b'{"b"', True)


@pytest.mark.parametrize(
    "content",
    [
        b'{"a":"' + b"x" * (20 << 20) + b'"}\n',
        b'{"a":"' + b'x\\"{"' * (4 << 20) + b"\n",
        b'{"a":1}' * 100_000 + b"\n",
        b'{"a":[\n' + b"1,\n" * 200_000,
        b'{"a":[\n' + b"1,\n" * 200_000 + b"1]}\n",
        b'{"a":\n' * 10_000,
    ],
    ids=["a line of 20 MB", "one that is cut", "glued objects", "an open array", "a long value", "many beginnings"],
)
def test_big_files_come_back(content: bytes) -> None:
    assert b"".join(join(records_of(content))) == content


def test_no_value_is_searched_for_beyond_a_bound() -> None:
    content = b'{"a":[\n' + b'{"x":0},\n' * 10 + b"[\n" * 40 + b'{"y":0}\n'
    assert raws(content) == content.splitlines()


@given(st.lists(st.sampled_from([b'{"a":1}', b"{", b"}", b'"', b"\\", b"\n", b" ", b",", b"[", b"]", b"1", b"\xff"])))
def test_any_pieces_come_back(pieces: list[bytes]) -> None:
    content = b"".join(pieces)
    assert b"".join(join(records_of(content))) in (content, content + b"\n")


@given(
    st.lists(
        st.sampled_from([b'{"a":1}', b'{"a":[', b'{"a":{', b"{", b"}", b"]}", b",", b"1", b" {}", b"{}", b'{"b":"x'])
    )
)
def test_more_lines_change_nothing_in_the_records_before(lines: list[bytes]) -> None:
    whole = records_of(b"".join(line + b"\n" for line in lines))
    for length in range(len(lines)):
        begun = records_of(b"".join(line + b"\n" for line in lines[:length]))
        if begun and begun[-1].unfinished:
            begun.pop()
        assert begun == whole[: len(begun)]


def test_parse_reads_an_element_of_an_array_with_its_comma() -> None:
    assert parse(b',\n  {"a":1}') == ({"a": 1}, None)


def test_first_objects_are_those_that_stand_whole() -> None:
    assert first_objects(b'no\n{"a":1}\n{"b":2}\n{"c"') == [{"a": 1}, {"b": 2}]
    assert first_objects(b'{"a":1}\n{"b":2}\n', 1) == [{"a": 1}]
