"""Tells JSON that ends too early, since it is still being written, from JSON that is damaged.

A text is cut if something could follow that makes it one JSON value: then all that is there is sound.
"""

import codecs
import re

from gitsession import json_text

# A string, to its end or to that of the text, and what opens and closes objects and arrays.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?$)|[\[\]{}]', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}
# An escape that has begun.
_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\(?:u[0-9a-fA-F]{0,3})?$")

# What may come next within the innermost object or array: nothing, a digit or a value, a value after a key, a member,
# the rest of a word.
_NEXT = ("", "0", ":0", '"":0', *("rue", "ue", "e", "alse", "lse", "se", "ull", "ll", "l"))


def is_cut(raw: bytes) -> bool:
    """Tells whether bytes that are no JSON are the beginning of some, or nothing at all."""
    try:
        text, read = codecs.utf_8_decode(raw, "strict", False)
    except UnicodeDecodeError:
        return False
    ended = _ended(text)
    if ended is None:
        return False
    begun, closing, in_string = ended
    if read < len(raw) and not in_string:
        return False  # a character that is cut can stand in a string alone
    return not text.strip() or any(_is_json(begun + more + closing) for more in _NEXT)


def _ended(text: str) -> tuple[str, str, bool] | None:
    """Returns a text with its last string ended, what closes it, and whether that string had no end.

    None where it closes what was never opened.
    """
    closing: list[str] = []
    open_string = -1
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in _CLOSING:
            closing.append(_CLOSING[mark])
        elif mark in ("}", "]"):
            if not closing or closing.pop() != mark:
                return None
        elif len(mark) == 1 or not _has_end(mark):
            open_string = token.start()
    if open_string >= 0:
        text = text[:open_string] + _without_escape(text[open_string:]) + '"'
    return text, "".join(reversed(closing)), open_string >= 0


def _has_end(string: str) -> bool:
    body = string[1:-1]
    return string.endswith('"') and (len(body) - len(body.rstrip("\\"))) % 2 == 0


def _without_escape(string: str) -> str:
    found = _ESCAPE.search(string)
    return string if found is None else string[: found.start()] + "\\" * (found[0].count("\\") // 2 * 2)


def _is_json(text: str) -> bool:
    try:
        json_text.decode_new(text)
    except ValueError:
        return False
    return True
