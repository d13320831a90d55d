"""Takes one JSON document with an array of messages apart: each element is a record, and so is what stands around them.

An element carries the comma and the blanks before it, so that the records joined are the file, and a longer array
begins with the records of a shorter one. What comes before the first element, and what comes after the last, is no
message. The document is held in memory as a whole.
"""

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import replace

from gitsession.transcripts.base import Record
from gitsession.transcripts.records import Describe, described, measure, parse

_BLANKS = re.compile("[ \t\r\n]*")


def array_start(text: str, key: str) -> int | None:
    """Returns where the elements of the array begin that the document is, or that its object has under the key."""
    place = _skip(text, 1 if text.startswith("\ufeff") else 0)
    if text.startswith("[", place):
        return place + 1
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
            if name == key and text.startswith("[", place):
                return place + 1
            _, place = measure.raw_decode(text, place)
        except (ValueError, RecursionError):
            return None
        place = _skip(text, place)
        if not text.startswith(",", place):
            return None


def read(raw: bytes, key: str, describe: Describe) -> Iterator[Record]:
    """Yields the records of a document.

    Args:
        raw: The document.
        key: The name of the array, where it is not the document itself.
        describe: Tells an element's id and time.
    """
    text = raw.decode("utf-8", "surrogateescape")
    place = array_start(text, key)
    if place is None:
        yield from _rest(text, 0, 1)
        return
    line = 1
    yield Record(text[:place].encode("utf-8", "surrogateescape"), line=line, newline=False)
    line += text.count("\n", 0, place)
    first = True
    while True:
        start = _skip(text, place)
        if not first and text.startswith(",", start):
            start = _skip(text, start + 1)
        elif not first or text.startswith("]", start):
            break
        try:
            _, end = measure.raw_decode(text, start)
        except (ValueError, RecursionError):
            break
        piece = text[place:end].encode("utf-8", "surrogateescape")
        value, problem = parse(piece)
        line += text.count("\n", place, start)
        yield described(Record(piece, value, line, newline=False, problem=problem), describe)
        line += text.count("\n", start, end)
        place, first = end, False
    yield from _rest(text, place, line)


def _rest(text: str, start: int, line: int) -> Iterator[Record]:
    """Yields what stands after the last element: the end of the document, or what is no proper end of one."""
    rest = text[start:]
    if not rest:
        return
    raw, ended = rest.encode("utf-8", "surrogateescape"), rest.endswith("\n")
    record = Record(raw.removesuffix(b"\n"), line=line, newline=ended)
    if _is_cut(rest):
        yield replace(record, newline=ended, problem="the document is not complete", unfinished=True)
    elif rest.lstrip(" \t\r\n")[0] in "]}":
        yield record
    else:
        yield replace(record, problem="from here on it is no array of messages")


def _is_cut(rest: str) -> bool:
    """Tells whether the document stops before its end, so that more of it may follow."""
    bare = rest.strip(" \t\r\n")
    if bare[:1] in ("]", "}"):
        return not bare.endswith(("]", "}"))
    try:
        measure.raw_decode(bare.removeprefix(",").lstrip(" \t\r\n"))
    except json.JSONDecodeError as error:
        # A word, a number or an escape that is cut is at fault from its beginning on.
        return len(error.doc) - error.pos <= len("\\ud83d") or error.msg.startswith("Unterminated")
    except RecursionError:
        return False
    return False


def is_document(raw: bytes, key: str) -> bool:
    """Tells whether a file is one document that holds the array, as far as can be seen."""
    text = raw.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")
    return array_start(text, key) is not None


def _skip(text: str, place: int) -> int:
    match = _BLANKS.match(text, place)
    return place if match is None else match.end()
