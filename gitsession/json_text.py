r"""Strict JSON text: the one place where values become bytes and bytes become values.

The rules are those of FORMAT.md: UTF-8 without a BOM, no blanks between tokens, keys in the order given, numbers as
Python's `json` writes them, a lone surrogate as its `\uXXXX` escape. `NaN`, `Infinity` and integers of more than
4,300 digits are refused, and so is every value that would not come back equal.
"""

import json
from typing import Any, NoReturn

from gitsession.errors import InvalidCommit

# Python refuses to convert longer integers from text (sys.set_int_max_str_digits), so they could not be read back.
MAX_INTEGER_DIGITS = 4300

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_decoder = json.JSONDecoder(parse_constant=_refuse_constant)


def decode(text: bytes | str) -> Any:
    """Returns the value of a strict JSON text.

    Raises:
        ValueError: It is no strict JSON, no UTF-8, or nests too deeply to be read.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    try:
        return _decoder.decode(text)
    except RecursionError as error:
        raise ValueError("it nests too deeply") from error


def decode_first(text: str, start: int) -> tuple[Any, int]:
    """Returns the strict JSON value that begins at a place of a text, and the place after it.

    Raises:
        ValueError: None begins there.
    """
    try:
        return _decoder.raw_decode(text, start)
    except RecursionError as error:
        raise ValueError("it nests too deeply") from error


def encode(value: Any, what: str = "the message") -> bytes:
    """Returns the JSON text of a value, UTF-8 on one line.

    Args:
        value: What to encode.
        what: How an error names the value, as the root of a path such as `the message.content[2]`.

    Raises:
        InvalidCommit: The value is no JSON, or would not come back equal; names where the fault stands.
    """
    try:
        # "backslashreplace" writes a lone surrogate as \udXXX, which is JSON's own escape for it.
        text = _encoder.encode(value).encode("utf-8", "backslashreplace")
        if decode(text) == value:
            return text
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidCommit(_fault(value, what) or f"{what} is no JSON: {error}") from error
    raise InvalidCommit(_fault(value, what) or f"{what} would not come back equal")


def encode_object(value: Any, what: str = "the message") -> bytes:
    """Returns the JSON text of an object; as `encode`, and refuses any other kind of value."""
    if not isinstance(value, dict):
        raise InvalidCommit(f"{what} is no JSON object but {type(value).__name__}")
    return encode(value, what)


def _fault(value: Any, path: str, depth: int = 0) -> str | None:
    """Says what is wrong with a value that could not be encoded, and where it stands; None if nothing is found."""
    if depth > 200:
        return f"{path} nests too deeply"
    match value:
        case None | bool():
            return None
        case int():
            long = abs(value) >= 10**MAX_INTEGER_DIGITS
            return f"{path} is an integer of more than {MAX_INTEGER_DIGITS} digits" if long else None
        case float():
            return f"{path} is {value}, which is no JSON" if value - value != 0 else None
        case str():
            split = json.loads(json.dumps(value)) != value
            return f"{path} holds a surrogate pair as two separate halves" if split else None
        case list():
            found = (_fault(item, f"{path}[{place}]", depth + 1) for place, item in enumerate(value))
            return next(filter(None, found), None)
        case dict():
            for key, item in value.items():
                if not isinstance(key, str):
                    return f"{path} has the key {key!r:.60}, which is no string"
                if fault := _fault(key, f"a key of {path}") or _fault(item, f"{path}.{key:.60}", depth + 1):
                    return fault
            return None
        case _:
            return f"{path} is of type {type(value).__name__}, which JSON does not have"
