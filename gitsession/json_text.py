r"""Strict JSON text: the one place where values become bytes and bytes become values.

The rules are those of FORMAT.md: UTF-8 without a BOM, no blanks between tokens, keys in the order given, numbers as
Python's `json` writes them, a lone surrogate as its `\uXXXX` escape. `NaN`, `Infinity`, integers of more than 4,300
digits and more than 200 levels are refused, and so is every value that would not come back equal. What is refused does
not depend on the caller's stack nor on the limits that its process has set, so that whoever comes can read what is
stored.
"""

import json
import re
import sys
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from gitsession.errors import InvalidCommit

T = TypeVar("T")

# Python refuses to convert longer integers from text (sys.set_int_max_str_digits), so they could not be read back.
MAX_INTEGER_DIGITS = 4300

# Objects and arrays within each other. Python reads by recursion, so how deep it gets depends on the reader's stack:
# 1,000 levels less the frames that are there.
MAX_LEVELS = 200

# What is made of stored values to be shown, and not stored, may lie some levels deeper than they.
SHOWN_LEVELS = 2 * MAX_LEVELS

# A string of these is its own JSON text: most ids, times and names.
_PLAIN = re.compile("[A-Za-z0-9 ._:+-]*")

# From this size on, a text is not read back to see whether it comes back equal.
LARGE_TEXT = 1024 * 1024

# Two halves of a surrogate pair, which JSON's escapes would put together.
_SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_decoder = json.JSONDecoder(parse_constant=_refuse_constant)


def decode(text: bytes | str) -> Any:
    """Returns the value of a strict JSON text.

    Raises:
        ValueError: It is no strict JSON, no UTF-8, or nests too deeply to be read from here.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    return _limited(_decoder.decode, text)


def decode_first(text: str, start: int) -> tuple[Any, int]:
    """Returns the strict JSON value that begins at a place of a text, and the place after it.

    Raises:
        ValueError: None begins there.
    """
    return _limited(_decoder.raw_decode, text, start)


def _limited(read: Callable[..., T], *arguments: Any) -> T:
    """Reads JSON, and says of the interpreter's own limits what they are in a text."""
    try:
        return read(*arguments)
    except RecursionError as error:
        raise ValueError("it nests too deeply") from error
    except ValueError as error:
        if "int_max_str_digits" in str(error):
            raise ValueError(f"it holds an integer of more than {MAX_INTEGER_DIGITS:,} digits") from error
        raise


def decode_new(text: bytes | str) -> Any:
    """Returns the value of a strict JSON text that is to be stored; as `decode`, and keeps the limits.

    Raises:
        ValueError: It is no strict JSON, no UTF-8, or exceeds a limit.
    """
    value = decode(text)
    if _needs_a_look(text) and (fault := _fault(value, "it", MAX_LEVELS)):
        raise ValueError(fault)
    return value


def decode_part(text: bytes, outer: int) -> Any:
    """Returns the value of a strict JSON text that stands within a large one, which is to be stored; as `decode_new`.

    Args:
        text: The text.
        outer: How many objects and arrays it lies in.

    Raises:
        ValueError: It is no strict JSON, no UTF-8, or exceeds a limit there.
    """
    value = decode(text)
    if fault := _fault(value, "it", MAX_LEVELS - outer):
        raise ValueError(fault)
    return value


def encode(value: Any, what: str = "the message", *, levels: int = MAX_LEVELS) -> bytes:
    """Returns the JSON text of a value, UTF-8 on one line.

    Args:
        value: What to encode.
        what: How an error names the value, as the root of a path such as `the message.content[2]`.
        levels: How many objects and arrays may lie within each other.

    Raises:
        InvalidCommit: The value is no JSON, exceeds a limit, or would not come back equal; names where the fault
            stands.
    """
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return b'"%b"' % value.encode()
    try:
        # "backslashreplace" writes a lone surrogate as \udXXX, which is JSON's own escape for it.
        text = _encoder.encode(value).encode("utf-8", "backslashreplace")
        # Reading it back takes the most memory; a text of megabytes is looked through instead.
        same = len(text) > LARGE_TEXT or decode(text) == value
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidCommit(_fault(value, what, levels) or f"{what} is no JSON: {error}") from error
    if not same:
        raise InvalidCommit(_fault(value, what, levels) or f"{what} would not come back equal")
    if _needs_a_look(text) and (fault := _fault(value, what, levels)):
        raise InvalidCommit(fault)
    return text


def encode_object(value: Any, what: str = "the message", *, levels: int = MAX_LEVELS) -> bytes:
    """Returns the JSON text of an object; as `encode`, and refuses any other kind of value."""
    if not isinstance(value, dict):
        raise InvalidCommit(f"{what} is no JSON object but {type(value).__name__}")
    return encode(value, what, levels=levels)


def depth(value: Any) -> int:
    """Returns how many objects and arrays of a JSON value lie within each other."""
    level, found = [value], 0
    while level := [item for item in level if isinstance(item, dict | list)]:
        found += 1
        level = [child for item in level for child in (item.values() if isinstance(item, dict) else item)]
    return found


def _needs_a_look(text: bytes | str) -> bool:
    """Tells whether a value may exceed a limit, or was not read back; few brackets cannot nest deeply."""
    if len(text) > LARGE_TEXT:
        return True
    brackets = text.count(b"{") + text.count(b"[") if isinstance(text, bytes) else text.count("{") + text.count("[")
    return brackets > MAX_LEVELS or sys.get_int_max_str_digits() != MAX_INTEGER_DIGITS


def _fault(value: Any, what: str, levels: int) -> str | None:
    """Says what is wrong with a value that cannot be stored, and where it stands first; None if nothing is found."""
    waiting: list[tuple[Any, str, int]] = [(value, what, 1)]
    while waiting:
        item, path, level = waiting.pop()
        if level > levels and isinstance(item, list | dict):
            return f"{path if len(path) <= 60 else f'{path[:60]}...'} nests deeper than {levels} levels"
        fault = _own_fault(item)
        if fault is not None:
            # A deep place has a long path, of which the ends tell most.
            return f"{path if len(path) <= 200 else f'{path[:100]}...{path[-97:]}'} {fault}"
        if isinstance(item, list):
            waiting.extend((item[place], f"{path}[{place}]", level + 1) for place in reversed(range(len(item))))
        elif isinstance(item, dict):
            for key in reversed(item):
                waiting.append((item[key], f"{path}.{key:.60}" if isinstance(key, str) else path, level + 1))
                waiting.append((key, f"a key of {path}", level) if isinstance(key, str) else (_Key(key), path, level))
    return None


class _Key:
    """A key of an object that is no string, among the values that are looked at."""

    def __init__(self, key: Any) -> None:
        self.key = key


def _own_fault(value: Any) -> str | None:
    """Says what is wrong with a value, its items aside."""
    match value:
        case None | bool() | list() | dict():
            return None
        case int():
            long = abs(value) >= 10**MAX_INTEGER_DIGITS
            return f"is an integer of more than {MAX_INTEGER_DIGITS:,} digits" if long else None
        case float():
            return f"is {value}, which is no JSON" if value - value != 0 else None
        case str():
            return "holds a surrogate pair as two separate halves" if _SPLIT_PAIR.search(value) else None
        case _Key():
            return f"has the key {value.key!r:.60}, which is no string"
        case _:
            return f"is of type {type(value).__name__}, which JSON does not have"
