"""Takes a file apart into records, and puts them together again: for all formats that write one JSON object a line.

Every way in which real files break that rule is met here: objects glued together on one line, values printed over
several lines, a byte order mark, CRLF, blank lines, bytes that are no UTF-8, text that is no JSON, a last line that is
still being written. No byte is lost: `join(read(file))` is the file, but for a line end that is missing after the last
record. What follows in a file changes nothing in the records before it: where lines may still become a value, they
wait, unless a whole record stands among them, which tells that the value before it was cut off.

Memory is bounded by the largest record (or 64 MiB, where a line begins a value that never ends), work by the length of
the file.
"""

import codecs
import io
import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

from gitsession import json_text
from gitsession.transcripts.base import Record

Describe = Callable[[dict[str, Any]], tuple[str | None, str | None]]
"""Tells the id and the time that a record's value carries; None for what it lacks."""

# Where the search for the end of a value over several lines is given up; nobody prints deeper or longer ones.
_MOST_BYTES = 64 << 20
_MOST_DEPTH = 32
# How many places of a damaged line are tried as the beginning of a whole record that was glued to its end.
_MOST_BEGINNINGS = 16

_AROUND = re.compile("[ \t\r\n,\ufeff]*")
_BEGINNING = re.compile(r'\{[ \t]*"')
# A string to its end, or the end of the line. It is possessive, so it looks at no byte twice.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?$)', re.DOTALL)

# Finds where a value ends, whatever its numbers are; `parse` judges the value itself.
measure = json.JSONDecoder(parse_int=len, parse_float=len, parse_constant=len)


def parse(raw: bytes) -> tuple[Any, str | None]:
    """Returns the value of one record's bytes, and what is wrong with them.

    A byte order mark, blanks and commas around the value are no fault: elements cut out of a JSON array carry the comma
    that parts them. The value is None where there is none; one that is no object is a fault too.
    """
    try:
        value = json_text.decode_new(raw.removeprefix(codecs.BOM_UTF8).decode("utf-8").strip(" \t\r\n,"))
    except ValueError as error:
        return None, fault(error)
    return value, None if isinstance(value, dict) else f"it is no JSON object but {type(value).__name__}"


def fault(error: ValueError) -> str:
    """Says for a person what is wrong with bytes that could not be read as JSON."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is no UTF-8 at byte {error.start + 1}"
    if isinstance(error, json.JSONDecodeError):
        return f"it is no JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}"
    return str(error)


def read(stream: BinaryIO, describe: Describe) -> Iterator[Record]:
    """Yields the records of a file that is open for reading bytes, as it reads them.

    A blank line is a record without a value and without a fault.
    """
    return read_lines(iter(stream.readline, b""), describe)


def read_lines(lines: Iterable[bytes], describe: Describe) -> Iterator[Record]:
    """Yields the records of a file's lines, each given with its line end."""
    for record in _Reader(lines).records():
        yield described(record, describe)


def described(record: Record, describe: Describe) -> Record:
    """Returns the record with the id and the time that its value carries."""
    if not isinstance(record.value, dict):
        return record
    own_id, timestamp = describe(record.value)
    return record._replace(id=own_id, timestamp=timestamp)


def join(records: Iterable[Record]) -> Iterator[bytes]:
    """Yields the bytes of a file from its records, those of each at once."""
    before: Record | None = None
    for record in records:
        if before is not None:
            yield before.raw + b"\n" if before.newline and not record.glued else before.raw
        before = record
    if before is not None:
        yield before.raw + b"\n" if before.newline else before.raw


def first_objects(head: bytes, most: int = 50) -> list[dict[str, Any]]:
    """Returns the objects that stand whole in the first part of a file, to tell its format by."""
    found: list[dict[str, Any]] = []
    for record in _Reader(io.BytesIO(head)).records():
        if isinstance(record.value, dict):
            found.append(record.value)
        if len(found) == most:
            break
    return found


def damaged_first_line(head: bytes) -> bytes:
    """Returns the first line of a file if it was an object and cannot be read; b"" for any other.

    Args:
        head: Its beginning.
    """
    first = next(_Reader(io.BytesIO(head)).records(), None)
    if first is None or first.value is not None or first.unfinished:
        return b""
    raw = first.raw.removeprefix(codecs.BOM_UTF8).lstrip(b" \t")
    return raw if raw.startswith(b"{") else b""


class _Line(NamedTuple):
    body: bytes
    ended: bool
    number: int


class _Reader:
    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = iter(lines)
        self._number = 0
        self._pushed: deque[_Line] = deque()

    def records(self) -> Iterator[Record]:
        while (line := self._next()) is not None:
            if line.ended and not line.body.removeprefix(codecs.BOM_UTF8).strip(b" \t\r"):
                yield Record(line.body, line=line.number)
                continue
            value, problem = parse(line.body)
            if problem is None:
                yield Record(line.body, value, line.number)
            else:
                yield from self._take_apart(line)

    def _next(self) -> _Line | None:
        if self._pushed:
            return self._pushed.popleft()
        raw = next(self._lines, None)
        if raw is None:
            return None
        self._number += 1
        return _Line(raw.removesuffix(b"\n"), raw.endswith(b"\n"), self._number)

    def _take_apart(self, line: _Line) -> Iterator[Record]:
        """Yields the records of a line that is no single object."""
        text = _text(line.body)
        ends, failed = _objects(text)
        if failed is None and ends:
            yield from _pieces(text, ends, line.number)
            return
        rest = ends[-1] if ends else 0
        if ends:
            yield from (record._replace(newline=False) for record in _pieces(text[:rest], ends, line.number))
        if not line.ended:
            yield _unfinished(_raw(text[rest:]), line.number, newline=False)
        elif _is_cut(text, failed) and (found := self._over_lines(_Line(_raw(text[rest:]), True, line.number))):
            yield from found
        else:
            yield from _damaged(text, rest, line.number)

    def _over_lines(self, first: _Line) -> list[Record]:
        """Reads on to the end of a value that begins with this line; finds nothing, and goes back, if there is none."""
        lines = [first]
        depth, size = _depth(first.body), len(first.body)
        tried = size
        while depth <= _MOST_DEPTH and size <= _MOST_BYTES:
            line = self._next()
            if line is not None and _stands_alone(line.body):
                lines.append(line)
                break
            if line is None or not line.ended:
                # An unended line may stop in the middle of a token, so only those before it can be judged.
                raw = b"\n".join([one.body for one in (*lines, line) if one is not None])
                text = _text(raw)
                ends, failed = _objects(text)
                if line is not None and failed is None:
                    return list(_pieces(text, ends, first.number))
                if _could_go_on(lines):
                    return [_unfinished(raw, first.number, newline=line is None)]
                lines += [line] if line is not None else []
                break
            lines.append(line)
            depth += _depth(line.body)
            size += len(line.body) + 1
            if depth <= 0:
                text = _text(b"\n".join([one.body for one in lines]))
                ends, failed = _objects(text)
                if failed is None:
                    return list(_pieces(text, ends, first.number))
                break
            # Looking only when the text has doubled keeps all looks together linear.
            if size >= 2 * tried:
                tried = size
                if not _could_go_on(lines):
                    break
        self._pushed.extendleft(reversed(lines[1:]))
        return []


def _text(raw: bytes) -> str:
    """Decodes any bytes, so that `_raw` gives them back; what is no UTF-8 becomes lone surrogates."""
    return raw.decode("utf-8", "surrogateescape")


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _objects(text: str, start: int = 0) -> tuple[list[int], int | None]:
    """Returns where each of the objects ends that follow each other from `start`, and where that stops being so."""
    ends: list[int] = []
    place = start
    while True:
        place = _AROUND.match(text, place).end()  # type: ignore[union-attr]  # it matches nothing at least
        if place == len(text):
            return ends, None
        if text[place] != "{":
            return ends, place
        try:
            _, place = measure.raw_decode(text, place)
        except json.JSONDecodeError as error:
            return ends, error.pos
        except RecursionError:
            return ends, place
        ends.append(place)


def _is_cut(text: str, failed: int | None) -> bool:
    """Tells whether it was the end of the text that stopped the objects, so that more text could complete them."""
    return failed is not None and failed >= len(text.rstrip(" \t\r\n"))


def _could_go_on(lines: list[_Line]) -> bool:
    text = _text(b"\n".join([line.body for line in lines]))
    return _is_cut(text, _objects(text)[1])


def _stands_alone(line: bytes) -> bool:
    """Tells whether a line is a record that another one before it, which lacks its end, cannot hold.

    Who prints a value over several lines sets what is in it off from the margin, or spreads it over lines too, but for
    an empty object, and parts it with commas. This has to tell without what follows, so that a file gives the same
    records however much of it there was.
    """
    if not line.startswith(b"{") or not line.rstrip(b" \t\r").endswith(b"}"):
        return False
    value, problem = parse(line)
    return problem is None and bool(value)


def _depth(line: bytes) -> int:
    """Returns how many more brackets the line opens than it closes, outside of strings."""
    bare = _STRING.sub(b"", line)
    return bare.count(b"{") + bare.count(b"[") - bare.count(b"}") - bare.count(b"]")


def _pieces(text: str, ends: list[int], number: int, start: int = 0) -> Iterator[Record]:
    """Yields one record for each object; blanks go with the object that follows, the last ones with the last."""
    for place, end in enumerate(ends):
        last = place == len(ends) - 1
        raw = _raw(text[start:] if last else text[start:end])
        value, problem = parse(raw)
        yield Record(raw, value, number, newline=last, problem=problem)
        number += text.count("\n", start, end)
        start = end


def _damaged(text: str, start: int, number: int) -> Iterator[Record]:
    """Yields a line that is no JSON as one record, or as two where a whole object was glued to what was cut off."""
    for tries, match in enumerate(_BEGINNING.finditer(text, start + 1)):
        if tries == _MOST_BEGINNINGS:
            break
        ends, failed = _objects(text, match.start())
        if failed is None:
            raw = _raw(text[start : match.start()])
            value, problem = parse(raw)
            yield Record(raw, value, number, newline=False, problem=problem)
            yield from _pieces(text, ends, number, match.start())
            return
    raw = _raw(text[start:])
    value, problem = parse(raw)
    yield Record(raw, value, number, problem=problem)


def _unfinished(raw: bytes, number: int, *, newline: bool) -> Record:
    return Record(raw, line=number, newline=newline, problem="the last record is still being written", unfinished=True)
