"""Takes one JSON document with an array of messages apart, and puts it together again.

The rule: the first record is the document without its messages, their array empty (`{"id":"s","messages":[]}`), under
the id `document`; each further record is a message, with the comma and the blanks before it. Put back into the empty
array, they are the file, byte for byte. Agents write such a file anew when it grows, and change a time or a count
around the messages as they do. That makes a new version of the first record (see `versions`), and the messages before
the new ones are what they were: so a longer document adds its new messages, and at most one record more.

A document that is cut in the middle, or damaged, has what stands before its messages as the first record, and what
stands after the last whole one as the last. One whose messages are not to be found is one record. Lines of text before
a document (a program's notices) are a part of its first record.

What stands after the messages is a part of the first record, so a document is read twice: once to see where its
messages are, and once to yield them. Memory holds the largest record, and where each message ends.
"""

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, BinaryIO

from gitsession import json_text
from gitsession.transcripts import records
from gitsession.transcripts.arrays import Elements, Paths, beginning, find, holds_array
from gitsession.transcripts.base import Log, Record
from gitsession.transcripts.behind import messages_behind
from gitsession.transcripts.records import Describe, described, join, measure, parse
from gitsession.transcripts.versions import key_of, latest, latest_places, own_id

DOCUMENT = "document"
"""The id of the record that is the document without its messages."""

_BLANKS = b" \t\r\n"
# What stands before an element.
_BEFORE = re.compile(rb"[ \t\r\n,]*")
_NOT_COMPLETE = "the document is not complete"
# A document of no more bytes is judged as one text.
_SMALL = 4 * json_text.LARGE_TEXT
_CHUNK = 64 * 1024


def array_start(raw: bytes, paths: Paths) -> int | None:
    """Returns where the elements of the array begin, of the first path where one is; None if there is none."""
    elements = _best(find(io.BytesIO(raw), paths))
    return None if elements is None else elements.start


def is_document(raw: bytes, paths: Paths) -> bool:
    """Tells whether a file is one document that holds the array, as far as can be seen."""
    return holds_array(io.BytesIO(raw), paths)


def is_first(record: Record) -> bool:
    """Tells whether a record is the first of a document."""
    return record.id is not None and key_of(record.id, (DOCUMENT,)) == DOCUMENT


def is_torn_line(first: Record, stream: BinaryIO) -> bool:
    """Tells whether a file is a document on one line that has neither its end nor that of the line.

    Args:
        first: Its first record.
        stream: The file, open for reading bytes; it is gone back in.
    """
    if first.value is not None or not is_first(first):
        return False
    stream.seek(0)
    return not any(b"\n" in part for part in iter(lambda: stream.read(_CHUNK), b""))


def read(raw: bytes, paths: Paths, describe: Describe) -> Iterator[Record]:
    """Yields the records of a document, or of the beginning of one, that is at hand.

    Args:
        raw: The document.
        paths: Where its messages are.
        describe: Tells a message's id and time, and the document's time.
    """
    stream = io.BytesIO(raw)
    return read_elements(stream, _best(find(stream, paths)), describe)


def first_values(head: bytes, paths: Paths, most: int) -> list[Any]:
    """Returns the first messages of a document of which this is the beginning; None for one that cannot be read.

    Bytes that are no UTF-8 do not keep a message from being read: it is by these that a format is told.
    """
    records = islice(read(head, paths, lambda _: (None, None)), 1, most + 1)
    return [lenient(record).value for record in records]


def lenient(record: Record) -> Record:
    """Returns a record with what can be read of it, where that is more than its proper value.

    Bytes that are no UTF-8 count as the character that replaces them, and what stands before a document as nothing.
    """
    if record.value is not None or not record.raw.strip():
        return record
    raw = record.raw[beginning(record.raw) :] if is_first(record) else record.raw
    return record._replace(value=parse(raw.decode("utf-8", "replace").encode())[0])


def now(log: Sequence[Record]) -> list[Record]:
    """Returns the records of a log as they are now; those of a document each with what can be read of it.

    Where a message is damaged, so that all that follows it is one record, what can be read of that follows it: see
    `behind`.
    """
    found = latest(log)
    if not found or not is_first(found[0]):
        return found
    found = [lenient(record) for record in found]
    if len(found) > 1 and found[-1].value is None:
        tail, first = found[-1], found[0].raw
        before = found[1].raw if len(found) > 2 else b""
        head, before_text, rest = map(_text, (first[beginning(first) :], before, tail.raw))
        for number, message in enumerate(messages_behind(head.lstrip("\ufeff"), before_text, rest), 1):
            own = None if tail.id is None else f"{tail.id}/{number}"
            found.append(lenient(tail._replace(raw=message.encode("utf-8", "surrogateescape"), id=own)))
    return found


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def read_stream(
    stream: BinaryIO, paths: Paths, describe: Describe, is_record: Callable[[Any], bool] = lambda _: False
) -> Iterator[Record]:
    """Yields the records of a file that is a document, or that has one a line.

    Args:
        stream: The file, open for reading bytes, at its beginning; it is gone back in.
        paths: Where the messages of a document are.
        describe: Tells a message's id and time, and the document's time.
        is_record: Tells whether a value is a record of the format: a line that is one is no document, whatever it has
            on the paths.
    """
    elements = _best(find(stream, paths))
    if elements is None or _is_line(stream, elements, is_record):
        stream.seek(0)
        yield from records.read(stream, describe)
    else:
        yield from read_elements(stream, elements, describe)


def read_elements(stream: BinaryIO, elements: Elements | None, describe: Describe) -> Iterator[Record]:
    """Yields the records of a document whose messages were found.

    Args:
        stream: The document, open for reading bytes, from its beginning on; it is gone back in.
        elements: Its messages; None if it has none.
        describe: Tells a message's id and time, and the document's time.
    """
    if elements is None:
        stream.seek(0)
        yield _whole(stream.read())
        return
    head, rest = _around(stream, elements)
    line = 1 + head.count(b"\n")
    first = _first(head + rest, elements.passed, describe)
    sound = first is not None
    # It keeps what it needs of both until the messages are passed.
    tail = iter(()) if sound else _tail(head, rest, elements, lambda: line)
    yield first or Record(head, line=1, id=DOCUMENT, newline=False)
    del head, rest, first
    for piece in _pieces(stream, elements):
        before = _BEFORE.match(piece).end()  # type: ignore[union-attr]  # it matches nothing at least
        value, problem = parse(piece)
        line += piece.count(b"\n", 0, before)
        record = described(Record(piece, value, line, newline=False, problem=problem), describe)
        yield record._replace(id=own_id(record.id))
        line += piece.count(b"\n", before)
    yield from tail


def is_sound(stream: BinaryIO, elements: Elements) -> bool:
    """Tells whether a document is one whole object that `parse` would find nothing wrong with, as it would of a record.

    Args:
        stream: The document, open for reading bytes; it is gone back in.
        elements: An array in it.
    """
    stream.seek(elements.passed)
    if len(small := stream.read(_SMALL + 1)) <= _SMALL:
        return parse(small)[1] is None
    del small
    if not elements.closed or parse(b"".join(_around(stream, elements))[elements.passed :])[1] is not None:
        return False
    try:
        for piece in _pieces(stream, elements):
            json_text.decode_part(piece.lstrip(_BLANKS + b","), elements.depth)
    except ValueError:
        return False
    return True


def write(log: Log, paths: Paths) -> Iterator[bytes]:
    """Yields the bytes of a file from its records: those of a document, or of a file that is none."""
    first = next(iter(log), None)
    if first is None or not is_first(first):
        yield from join(log)
        return
    head, *messages = latest_places(log)
    around = b"".join(join([log[head]]))
    start = array_start(around, paths)
    place = len(around) if start is None else start
    yield around[:place]
    yield from join(map(log.__getitem__, messages))
    yield around[place:]


def _best(found: Mapping[int, Elements]) -> Elements | None:
    return found[min(found)] if found else None


def _is_line(stream: BinaryIO, elements: Elements, is_record: Callable[[Any], bool]) -> bool:
    """Tells whether the line that holds an array is a record of its own."""
    stream.seek(elements.passed)
    before = stream.read(elements.start - elements.passed).lstrip(b"\xef\xbb\xbf" + _BLANKS)
    if not elements.closed or not before.startswith(b"{") or b"\n" in before:
        return False
    stream.seek(elements.end)
    value, problem = parse(before + stream.readline())
    if problem is not None or not is_record(value):
        return False
    stream.seek(elements.start - len(before))
    return parse(stream.readline())[1] is None


def _around(stream: BinaryIO, elements: Elements) -> tuple[bytes, bytes]:
    """Returns what stands before the elements of an array, and after them."""
    stream.seek(elements.end)
    rest = stream.read()
    stream.seek(0)
    return stream.read(elements.start), rest


def _pieces(stream: BinaryIO, elements: Elements) -> Iterator[bytes]:
    """Yields the elements of an array, each with what stands before it."""
    stream.seek(elements.start)
    place = elements.start
    for end in elements.ends:
        yield stream.read(end - place)
        place = end


def _first(around: bytes, passed: int, describe: Describe) -> Record | None:
    """Returns what stands around the messages as a record; None where it is no JSON by itself."""
    value, problem = parse(around[passed:])
    # An array that is the document itself is none of its faults.
    if value is None or not (problem is None or isinstance(value, list)):
        return None
    fault = "what stands before the document is no part of it" if passed else None
    first = Record(around.removesuffix(b"\n"), value, 1, newline=around.endswith(b"\n"), problem=fault)
    return described(first, describe)._replace(id=DOCUMENT)


def _whole(raw: bytes) -> Record:
    """Returns a document whose messages are not to be found."""
    judged = raw[beginning(raw) :]
    place = len(raw) - len(judged) + _fault(judged, whole=True)
    problem = _NOT_COMPLETE if _is_cut(judged) else _damaged(place)
    line = 1 + raw.count(b"\n", 0, place)
    return Record(raw.removesuffix(b"\n"), None, line, DOCUMENT, newline=raw.endswith(b"\n"), problem=problem)


def _tail(head: bytes, rest: bytes, elements: Elements, line: Callable[[], int]) -> Iterator[Record]:
    """Yields what stands after the last whole message of a document that has no proper end.

    Args:
        head: What stands before the messages.
        rest: What stands there.
        elements: The messages.
        line: Tells the number of its first line, once they are passed.
    """
    record = Record(rest.removesuffix(b"\n"), newline=rest.endswith(b"\n"))
    # What is at fault after its messages is so without them.
    before = head[elements.passed :] if rest.lstrip(_BLANKS)[:1] == b"]" else b""
    judged = before + rest
    if _is_cut(judged):
        yield record._replace(problem=_NOT_COMPLETE, unfinished=True, line=line())
        return
    place = _fault(judged, whole=bool(before))
    if place < len(before):
        place += elements.passed
        yield record._replace(problem=_damaged(place), line=1 + head.count(b"\n", 0, place))
    else:
        place -= len(before)
        yield record._replace(problem=_damaged(elements.end + place), line=line() + rest.count(b"\n", 0, place))


def damage(head: bytes, *, whole: bool) -> tuple[int, bool] | None:
    """Returns where a file that begins like JSON is none any more, and whether it is only cut there.

    None where it does not begin like JSON, or all is well with it.

    Args:
        head: Its beginning.
        whole: Whether that is all of it.
    """
    if not head.lstrip(b"\xef\xbb\xbf" + _BLANKS).startswith((b"{", b"[")):
        return None
    place = _fault(head, whole=True)
    if place == len(head) and parse(head)[0] is not None:
        return None
    if head[place : place + 1] in (b"{", b"[") and parse(head[:place])[0] is not None:
        return None  # another value follows
    if not _is_cut(head):
        return place, False
    return (len(head), True) if whole else None


def _damaged(place: int) -> str:
    return f"the document is damaged at byte {place + 1}"


def _fault(judged: bytes, *, whole: bool) -> int:
    """Returns where bytes are no JSON any more, or no UTF-8.

    Args:
        judged: The bytes.
        whole: Whether a value may stand there at all.
    """
    start = _BEFORE.match(judged).end()  # type: ignore[union-attr]  # it matches nothing at least
    text = judged[start:].decode("utf-8", "surrogateescape")
    try:
        end = measure.raw_decode(text)[1]
        end = end if whole else 0
        end += len(text[end:]) - len(text[end:].lstrip(" \t\r\n"))
    except json.JSONDecodeError as error:
        end = error.pos
    except RecursionError:
        end = 0
    place = start + len(text[:end].encode("utf-8", "surrogateescape"))
    try:
        judged.decode()
    except UnicodeDecodeError as error:
        return min(place, error.start)
    return place


def _is_cut(judged: bytes) -> bool:
    """Tells whether a value, or the comma before it and it, stops before its end, so that more of it may follow."""
    text = judged.decode("utf-8", "surrogateescape").strip("\ufeff \t\r\n").removeprefix(",").lstrip(" \t\r\n")
    try:
        measure.raw_decode(text)
    except json.JSONDecodeError as error:
        # A word, a number or an escape that is cut is at fault from its beginning on.
        return len(text) - error.pos <= len("\\ud83d") or error.msg.startswith("Unterminated")
    except RecursionError:
        return False
    return False
