"""Messages from stdin: JSON or JSONL, split into the texts of the single messages, each kept as it was typed."""

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from .errors import InvalidInput

_NO_JSON = " is no JSON"

_BLANKS = re.compile(r"[ \t\r\n]*")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name + _NO_JSON)


# Strict, and text by text: the position of a fault is known, and a text is cut out as it stands.
_scan = json.JSONDecoder(parse_constant=_refuse_constant).raw_decode


def message_texts(given: bytes) -> list[bytes]:
    """Returns the JSON texts of the messages.

    Args:
        given: UTF-8; objects one after the other, on a line each or not, or one array of objects.

    Raises:
        InvalidInput: It is anything else.
    """
    try:
        text = given.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = given[: error.start].decode("utf-8")
        raise _fault(before, len(before), f"byte {given[error.start]:#04x} is no UTF-8") from error
    start = _blanks(text, 0)
    found = [*(_elements(text, start + 1) if text.startswith("[", start) else _values(text, start))]
    if not found:
        raise _fault(text, len(text), "there is no message")
    return found


def _values(text: str, place: int) -> Iterator[bytes]:
    """Yields the objects that stand one after the other."""
    while place < len(text):
        end = _object(text, place)
        yield text[place:end].encode()
        place = _blanks(text, end)


def _elements(text: str, place: int) -> Iterator[bytes]:
    """Yields the objects of an array, from behind its bracket; nothing may follow it."""
    place = _blanks(text, place)
    closed = text.startswith("]", place)
    while not closed:
        end = _object(text, place)
        yield text[place:end].encode()
        place = _blanks(text, end)
        closed = text.startswith("]", place)
        if not closed:
            if not text.startswith(",", place):
                raise _fault(text, place, "expected ',' or ']' after a message")
            place = _blanks(text, place + 1)
    if (rest := _blanks(text, place + 1)) < len(text):
        raise _fault(text, rest, "something follows the array of messages")


def _object(text: str, place: int) -> int:
    """Returns where the object ends that begins here."""
    try:
        value, end = _scan(text, place)
    except json.JSONDecodeError as error:
        raise _fault(text, error.pos, _in_words(error.msg)) from error
    except RecursionError as error:
        raise _fault(text, place, "the message nests too deeply; 200 levels are the most") from error
    except ValueError as error:
        # Of the two that it can be, Python's advice on the other is for programmers.
        reason = str(error) if error.args[0].endswith(_NO_JSON) else "an integer has more than 4,300 digits"
        raise _fault(text, place, f"in the message that begins here: {reason}") from error
    if not isinstance(value, dict):
        raise _fault(text, place, f"a message is a JSON object, not {_kind(value)}")
    return end


def _in_words(fault: str) -> str:
    """Returns what Python says of a fault as a person would: `expected a value` for `Expecting value`."""
    words = fault.removesuffix(" at").removesuffix(" delimiter")
    return words[:1].lower() + words[1:].replace("xpecting", "xpected a")


def _blanks(text: str, place: int) -> int:
    found = _BLANKS.match(text, place)
    return found.end() if found else place


def _kind(value: Any) -> str:
    names = {list: "an array", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _fault(text: str, place: int, reason: str) -> InvalidInput:
    return InvalidInput(text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place), reason)
