"""Takes one JSON document with an array of messages apart, and puts it together again.

The rule: the first record is the document without its messages, their array empty (`{"id":"s","messages":[]}`), under
the id `document`; each further record is a message, with the comma and the blanks before it. Put back into the empty
array, they are the file, byte for byte. Agents write such a file anew when it grows, and change a time or a count
around the messages as they do. That makes a new version of the first record (see `versions`), and the messages before
the new ones are what they were: so a longer document adds its new messages, and at most one record more.

A document that is cut in the middle, or damaged, has what stands before its messages as the first record, and what
stands after the last whole one as the last. The document is held in memory as a whole.
"""

import codecs
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence

from gitsession.transcripts.base import Record
from gitsession.transcripts.records import Describe, described, join, measure, parse
from gitsession.transcripts.versions import key_of, latest, own_id

DOCUMENT = "document"
"""The id of the record that is the document without its messages."""

Paths = Sequence[tuple[str, ...]]
"""Where the array may be: keys from the outermost object inwards; no key at all for an array that is the document."""

_BLANKS = re.compile("[ \t\r\n]*")


def array_start(text: str, paths: Paths) -> int | None:
    """Returns where the elements of the array begin, of the first path where one is; None if there is none."""
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    found = (_find(text, start, path) for path in paths)
    return next((place for place in found if place is not None), None)


def is_document(raw: bytes, paths: Paths) -> bool:
    """Tells whether a file is one document that holds the array, as far as can be seen."""
    return array_start(raw.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape"), paths) is not None


def is_first(record: Record) -> bool:
    """Tells whether a record is the first of a document."""
    return record.id is not None and key_of(record.id, (DOCUMENT,)) == DOCUMENT


def read(raw: bytes, paths: Paths, describe: Describe) -> Iterator[Record]:
    """Yields the records of a document.

    Args:
        raw: The document.
        paths: Where its messages are.
        describe: Tells a message's id and time, and the document's time.
    """
    text = _decode(raw)
    start = array_start(text, paths)
    if start is None:
        yield from _rest(text, text, 1)
        return
    elements, end = _elements(text, start, describe)
    whole = text[:start] + text[end:]
    value, problem = parse(_encode(whole))
    # An array that is the document itself is none of its faults.
    if value is not None and (problem is None or isinstance(value, list)):
        ended = whole.endswith("\n")
        first = Record(_encode(whole.removesuffix("\n")), value, 1, newline=ended)
        yield described(first, describe)._replace(id=DOCUMENT)
        yield from elements
    else:
        yield Record(_encode(text[:start]), line=1, id=DOCUMENT, newline=False)
        yield from elements
        rest = text[end:]
        # What is cut after its messages is cut if it were so without them.
        yield from _rest(rest, whole if rest.lstrip(" \t\r\n")[:1] == "]" else rest, 1 + text.count("\n", 0, end))


def write(records: Iterable[Record], paths: Paths) -> Iterator[bytes]:
    """Yields the bytes of a file from its records: those of a document, or of a file that is none."""
    records = iter(records)
    first = next(records, None)
    if first is None:
        return
    records = itertools.chain([first], records)
    if not is_first(first):
        yield from join(records)
        return
    head, *messages = latest(records)
    around = b"".join(join([head]))
    text = _decode(around)
    start = array_start(text, paths)
    place = len(around) if start is None else len(_encode(text[:start]))
    yield around[:place]
    yield from join(messages)
    yield around[place:]


def _find(text: str, place: int, path: tuple[str, ...]) -> int | None:
    if not path:
        return place + 1 if text.startswith("[", place) else None
    if not text.startswith("{", place):
        return None
    while True:
        place = _skip(text, place + 1)
        try:
            name, place = measure.raw_decode(text, place)
            place = _skip(text, place)
            if not isinstance(name, str) or not text.startswith(":", place):
                return None
            place = _skip(text, place + 1)
            if name == path[0]:
                return _find(text, place, path[1:])
            _, place = measure.raw_decode(text, place)
        except (ValueError, RecursionError):
            return None
        place = _skip(text, place)
        if not text.startswith(",", place):
            return None


def _elements(text: str, place: int, describe: Describe) -> tuple[list[Record], int]:
    """Returns the elements of the array that begins at a place, and where the last whole one ends."""
    found: list[Record] = []
    line = 1 + text.count("\n", 0, place)
    while True:
        start = _skip(text, place)
        if found and text.startswith(",", start):
            start = _skip(text, start + 1)
        elif found or text.startswith("]", start):
            return found, place
        try:
            _, end = measure.raw_decode(text, start)
        except (ValueError, RecursionError):
            return found, place
        piece = _encode(text[place:end])
        value, problem = parse(piece)
        line += text.count("\n", place, start)
        record = described(Record(piece, value, line, newline=False, problem=problem), describe)
        found.append(record._replace(id=own_id(record.id)))
        line += text.count("\n", start, end)
        place = end


def _rest(rest: str, judged: str, line: int) -> Iterator[Record]:
    """Yields what stands after the last whole message of a document that has no proper end.

    Args:
        rest: What stands there.
        judged: The text that tells whether it is only cut.
        line: The number of its first line.
    """
    ended = rest.endswith("\n")
    record = Record(_encode(rest.removesuffix("\n")), line=line, newline=ended)
    if _is_cut(judged.strip("\ufeff \t\r\n").removeprefix(",").lstrip(" \t\r\n")):
        yield record._replace(problem="the document is not complete", unfinished=True)
    else:
        yield record._replace(problem="from here on it is no array of messages")


def _is_cut(text: str) -> bool:
    """Tells whether a value stops before its end, so that more of it may follow."""
    try:
        measure.raw_decode(text)
    except json.JSONDecodeError as error:
        # A word, a number or an escape that is cut is at fault from its beginning on.
        return len(text) - error.pos <= len("\\ud83d") or error.msg.startswith("Unterminated")
    except RecursionError:
        return False
    return False


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _skip(text: str, place: int) -> int:
    match = _BLANKS.match(text, place)
    return place if match is None else match.end()
