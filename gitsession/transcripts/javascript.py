r"""JSON as JavaScript has it: `parse` and `stringify` are `JSON.parse(text)` and `JSON.stringify(value, null, 2)`.

What such an agent keeps as text in a database and prints is read and written again on the way, and comes out as
JavaScript would have it: all numbers are doubles (`1.0` becomes `1`, `1e400` becomes `null`), keys that are indexes of
an array come first, a lone surrogate is its `\uXXXX` escape, and of a doubled key the last value stands in the place of
the first.
"""

import json
import math
import re
from collections.abc import Callable
from typing import Any, NoReturn

from gitsession.json_text import depth

_INDENT = "  "
# The indexes of arrays are the numbers below this one, without leading zeros.
_NO_INDEX = 2**32 - 1
_INDEX = re.compile("0|[1-9][0-9]{0,9}")
# Below this, a whole number has the digits that it has in Python.
_PLAIN = 10**15
# A number that had more digits before its point, or more zeros behind it, is written with an exponent.
_MOST_DIGITS = 21
_MOST_ZEROS = 6
# Objects and arrays within each other. It is read and written by recursion, which ends somewhere above this; and what
# is refused must not depend on how much of the stack its caller has left.
_MOST_LEVELS = 400

_text = json.JSONEncoder(ensure_ascii=False).encode


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_parser = json.JSONDecoder(parse_int=float, parse_constant=_refuse_constant)


def parse(text: str) -> Any:
    """Returns the value of a JSON text, its numbers as `float`.

    Raises:
        ValueError: It is no JSON, or nests deeper than 400 levels.
    """
    try:
        value = _parser.decode(text)
    except RecursionError:
        value = None
    else:
        if text.count("{") + text.count("[") <= _MOST_LEVELS or depth(value) <= _MOST_LEVELS:
            return value
    raise ValueError(f"it nests deeper than {_MOST_LEVELS} levels")


def stringify(value: Any, level: int = 0) -> bytes:
    """Returns the JSON text of a value, in UTF-8.

    Args:
        value: What `parse` returns, or is put together from that; an integer, of at most 64 bits, is taken for the
            double that is nearest to it.
        level: In how many objects and arrays it stands: its lines are indented as far, but for the first.
    """
    pieces: list[str] = []
    _write(value, "\n" + _INDENT * level, pieces.append)
    # "backslashreplace" writes a lone surrogate as \udXXX, as JavaScript does.
    return "".join(pieces).encode("utf-8", "backslashreplace")


def _write(value: Any, line: str, put: Callable[[str], None]) -> None:
    """Puts the pieces of a value's text, of which each line begins like `line`."""
    match value:
        case str():
            put(_text(value))
        case None:
            put("null")
        case bool():
            put("true" if value else "false")
        case int() | float():
            put(_number(float(value)))
        case dict():
            inner = line + _INDENT
            before = "{" + inner
            for key in _keys(value):
                put(f"{before}{_text(key)}: ")
                _write(value[key], inner, put)
                before = "," + inner
            put(line + "}" if value else "{}")
        case _:
            inner = line + _INDENT
            before = "[" + inner
            for item in value:
                put(before)
                _write(item, inner, put)
                before = "," + inner
            put(line + "]" if value else "[]")


def _keys(value: dict[str, Any]) -> list[str]:
    indexes = [key for key in value if _INDEX.fullmatch(key) and int(key) < _NO_INDEX]
    return [*sorted(indexes, key=int), *(key for key in value if key not in indexes)] if indexes else [*value]


def _number(value: float) -> str:
    """Returns a number as ECMAScript's `Number::toString` has it; what JSON cannot say is `null`."""
    if not math.isfinite(value):
        return "null"
    if value.is_integer() and abs(value) < _PLAIN:
        return str(int(value))
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    # The value is 0.DIGITS times ten to the power of `point`.
    point = len(whole) + int(exponent or 0)
    digits = whole + fraction
    point -= len(digits) - len(digits.lstrip("0"))
    digits = digits.strip("0")
    sign = "-" if value < 0 else ""
    if len(digits) <= point <= _MOST_DIGITS:
        return sign + digits.ljust(point, "0")
    if 0 < point <= _MOST_DIGITS:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -_MOST_ZEROS < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{point - 1:+d}"
