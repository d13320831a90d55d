"""A document that is damaged is told by its beginning, kept as it is, shown as far as it can be read, and reported."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from transcript_files import TRANSCRIPTS, format_of, name_of, read, records_of

from gitsession.model import MessageEntry
from gitsession.transcripts import FORMATS, Format, Record, behind, document, find_format, records

DOCUMENTS = [
    path
    for path in TRANSCRIPTS
    if format_of(path).growth(records_of(path)[0]) == "document" and path.name not in ("empty.json", "steps.traj")
]


def _shown(one: Format, log: list[Record]) -> list[str]:
    """Returns the messages that are shown of a transcript, in the order in which they are."""
    found = one.fold([record for record in log if not record.unfinished])
    return [repr(entry.message) if isinstance(entry, MessageEntry) else entry.summary for entry in found]


def _in_last(content: bytes, what: bytes, last: bytes) -> bytes:
    """Returns a document with something put before the value of a field in its last message."""
    place = content.index(b":", content.index(last)) + 1
    return content[:place] + what + content[place:]


DAMAGE: dict[str, Callable[[bytes, bytes], bytes]] = {
    "cut": lambda content, last: content[: content.index(last) + 20],
    "a stray word": lambda content, last: _in_last(content, b" oops", last),
    "a byte that is no UTF-8": lambda content, last: _in_last(content, b"\xff", last),
    "a zero": lambda content, last: _in_last(content, b"\0", last),
}


@pytest.mark.parametrize("path", DOCUMENTS, ids=map(name_of, DOCUMENTS))
@pytest.mark.parametrize("how", DAMAGE)
def test_what_stands_before_the_damage_is_shown(path: Path, how: str) -> None:
    one, log, whole = format_of(path), records_of(path), path.read_bytes()
    content = DAMAGE[how](whole, log[-1].raw)

    assert find_format(io.BytesIO(content), path.name) is one
    found = read(one, content)
    assert [record.raw for record in found[1:-1]] == [record.raw for record in log[1:-1]]
    assert b"".join(one.write(found)) == content
    before = _shown(one, log[:-1])
    assert _shown(one, found)[: len(before)] == before
    # Where it is at fault, or that it is cut: that it is still being written.
    fault = found[-1].problem or ""
    if how == "cut":
        assert (found[-1].unfinished, fault) == (True, "the document is not complete")
        return
    place = next(at for at, (new, old) in enumerate(zip(content, whole, strict=False)) if new != old)
    assert fault == f"the document is damaged at byte {place + 1}"
    assert found[-1].line == 1 + content.count(b"\n", 0, place)


PRINTED = [path for path in DOCUMENTS if b"\n" in records_of(path)[2].raw[:2]]


@pytest.mark.parametrize("path", PRINTED, ids=map(name_of, PRINTED))
def test_what_stands_behind_a_damaged_message_is_shown_where_each_begins_a_line(path: Path) -> None:
    one, log, whole = format_of(path), records_of(path), path.read_bytes()
    found = read(one, _in_last(whole, b" oops", log[2].raw))

    assert len(found) == 3
    assert _shown(one, found) == _shown(one, [*log[:2], *log[3:]])
    stored = [record._replace(line=0, id=record.id or f"r{place}") for place, record in enumerate(found)]
    assert _shown(one, stored) == _shown(one, found)


def _on_one_line(path: Path) -> bytes:
    return json.dumps(json.loads(path.read_bytes()), ensure_ascii=False, separators=(",", ":")).encode()


LONG = [path for path in DOCUMENTS if len(records_of(path)) > 3 and path.suffix != ".traj"]


@pytest.mark.parametrize("path", LONG, ids=map(name_of, LONG))
def test_what_stands_behind_a_damaged_message_is_shown_where_all_is_in_order_to_the_end(path: Path) -> None:
    one, whole = format_of(path), _on_one_line(path)
    log = read(one, whole)
    for place in (1, 2):
        for what in (b"\0", b"oops", b'"'):
            found = read(one, _in_last(whole, what, log[place].raw))
            assert len(found) == place + 1
            assert _shown(one, found) == _shown(one, [*log[:place], *log[place + 1 :]])


CHAT = FORMATS["chat"]
SAID = b'{"role":"user","content":"%s"}'
NESTED = b'{"role":"user","content":[{"a":[%s,%s]},oops]}' % (SAID % b"x", SAID % b"y")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"[%s,{oops},%s,%s]", ["0", "1", "2"]),
        (b'{"messages":[%s,{oops},%s,%s],"model":"m"}\n', ["0", "1", "2"]),
        (b"[%s,{oops}, %s ,{oops},%s]", ["0", "2"]),  # nothing tells whether what stands between is within one
        (b"[%s," + NESTED + b",%s,%s]", ["0", "1", "2"]),
        (b'[%s,%s,{"role":"user","content":[{"a":1},oops,%s]}]', ["0", "1"]),  # is within the one that is damaged
        (b'{"messages":[%s,%s,{oops}],"kept":[%s]}', ["0", "1"]),
        (b'{"messages":[%s,%s,{oops}],"todos":[{"content":"a"},{"content":"b"}],"x":%s}', ["0", "1"]),
        (b"[%s,{oops},%s,%s", ["0"]),  # is cut, too
        (b'{"messages":[%s,{oops},%s,%s],"model":oops}', ["0"]),
        (b"[{oops},%s,%s,%s]", ["0", "1", "2"]),
        (b'{"messages":[%s,{"role":"user","content":oops,"x":[%s,%s]}', ["0"]),  # is cut behind a list in a message
    ],
)
def test_what_stands_behind_a_damaged_message_is_left_where_it_could_be_anything(
    content: bytes, expected: list[str]
) -> None:
    content %= tuple(SAID % b"%d" % number for number in range(3))
    found = CHAT.fold(read(CHAT, content))
    assert [entry.message["content"] for entry in found if isinstance(entry, MessageEntry)] == expected


def test_what_nests_too_deeply_behind_the_damage_stops_no_reader() -> None:
    deep = b'{"role":"user","content":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert len(CHAT.fold(read(CHAT, b"[%s,{oops},%s,%s]" % (SAID % b"0", deep, SAID % b"1")))) == 1


def test_a_text_that_never_comes_to_an_order_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"[%s,{oops}%s,%s]" % (SAID % b"0", b',{"a":1},oops' * 100, SAID % b"1")
    assert len(CHAT.fold(read(CHAT, content))) == 2
    monkeypatch.setattr(behind, "_MOST_PASSES", 0)
    assert len(CHAT.fold(read(CHAT, content))) == 1


class _Watched(str):
    """A text that counts how many of its characters are looked through to tell a line and a column."""

    __slots__ = ()
    passed = 0

    def count(self, *arguments: Any) -> int:
        _Watched.passed += arguments[2] if len(arguments) > 2 else len(self)
        return super().count(*arguments)


def test_no_lines_are_counted_for_what_is_damaged() -> None:
    tail = _Watched('{oops},{"a":1 "},' * 100 + '{"a":1}]')
    assert list(behind.messages_behind("[", "", tail)) == ['{"a":1}']
    assert _Watched.passed == 0


def test_what_follows_a_list_is_not_read_again_for_each_list(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = 0

    class Measure:
        def raw_decode(self, text: str, place: int) -> tuple[Any, int]:
            nonlocal passed
            passed += 0 if len(text) == len(tail) else len(text)
            return records.measure.raw_decode(text, place)

    monkeypatch.setattr(behind, "measure", Measure())
    monkeypatch.setattr(behind, "_FEW", 4)
    tail = '{"a":[1,{"b":1}],oops},' * 500 + '{"a":1}],"model":"' + "m" * 100 + '"}'
    assert list(behind.messages_behind('{"messages":[', "", tail)) == ['{"a":1}']
    assert passed < 10 * len(tail)


@pytest.mark.parametrize("path", DOCUMENTS, ids=map(name_of, DOCUMENTS))
def test_a_message_with_a_byte_that_is_no_utf_8_is_shown(path: Path) -> None:
    one, log = format_of(path), records_of(path)
    whole, first = path.read_bytes(), json.loads(log[1].raw.lstrip(b" \n,"))
    words = max((text for text in _texts(first) if text.isascii() and text.isalnum() is False), key=len)
    place = whole.index(words.encode(), whole.index(log[1].raw)) + 1
    content = whole[:place] + b"\xff" + whole[place:]

    assert find_format(io.BytesIO(content), path.name) is one
    found = read(one, content)
    assert [record.problem is None for record in found][:3] == [True, False, True]
    assert len(_shown(one, found)) == len(_shown(one, log))
    assert b"".join(one.write(found)) == content


@pytest.mark.parametrize("notice", [b"> npm notice {x} [y]\n", b"[INFO] done\n\n", b"warn: a\r\nwarn: b\r\n"])
@pytest.mark.parametrize("path", DOCUMENTS, ids=map(name_of, DOCUMENTS))
def test_lines_of_text_before_a_document_hide_nothing(path: Path, notice: bytes) -> None:
    one, log = format_of(path), records_of(path)
    content = notice + path.read_bytes()

    assert find_format(io.BytesIO(content), path.name) is one
    found = read(one, content)
    assert _shown(one, found) == _shown(one, log)
    assert [record.problem for record in found][:2] == ["what stands before the document is no part of it", None]
    assert b"".join(one.write(found)) == content


@pytest.mark.parametrize(
    ("head", "whole", "expected"),
    [
        (b'{"a":1}', True, None),
        (b'{"a":1}\n{"b":2}\n', True, None),
        (b"text", True, None),
        (b'{"a":1, oops oops}', True, (8, False)),
        (b'{"a":1} oops', True, (8, False)),
        (b'{"a":"\xff"}', True, (6, False)),
        (b'{"a":"x\n{"b":1}\n', True, (7, False)),
        (b'{"a":1', True, (6, True)),
        (b'{"a":1', False, None),
        (b'{"a":"' + b"x" * 100, False, None),
    ],
)
def test_where_what_begins_like_json_is_none(head: bytes, whole: bool, expected: object) -> None:
    assert document.damage(head, whole=whole) == expected


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [value] if isinstance(value, str) else []
