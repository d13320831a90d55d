r"""How far a private key goes that begins in a text, whatever stands before each of its lines.

Agents print files with line numbers, `grep` with the file's name, mail with `> `, code as strings that are put
together. So a key is all that stands between its first line and its last one. Where the last one is missing it goes as
far as it is plain, and if more of it follows, to the end of the string: rather too much is taken out than too little.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator

from gitsession.secret_rules import KEY_BORDER, KEY_BYTES, KEY_NEAR

BORDER = re.compile(KEY_BORDER.encode())
_JSON = re.compile(rb"[\s,\xef\xbb\xbf]*+[{\[\"]")
# The end of a string of JSON: a quote that is no escape.
_QUOTE = re.compile(rb"(?<!\\)(?:\\\\)*+\"")
_NEXT = re.compile(rb"\"\s*+,\s*+\"")
ROW = re.compile(rb"[A-Za-z0-9+/=]{16,}+")
_LONG = 40
# Shorter rows are a key if there are so many bytes of them, and they are half of what there is.
_LEAST = 64

# Bits a character: below it a "secret" is one letter again and again, or a row of them.
_LEAST_ENTROPY = 2.5


def key_parts(text: bytes, start: int, plain: int) -> Iterator[tuple[int, int]]:
    """Yields where a private key stands: one place, or one for each of the strings of an array of lines.

    Args:
        text: The text.
        start: Where the key's first line ends.
        plain: As far as nothing else follows than stands in keys.
    """
    most = min(len(text), plain + KEY_BYTES)
    border = BORDER.search(text, plain, most)
    stop = border.start() if border else most
    quote = _QUOTE.search(text, plain, stop) if _JSON.match(text) else None
    if quote:
        stop = quote.end() - 1
    if border and border["end"] and not quote:
        rows = rows_of(text, start, stop)
        found = any(len(row) >= _LONG for row in rows) if plain == stop else is_key(rows, stop - start)
        end = stop if found else start
    else:
        end = _cut(text, start, plain, stop)
    if end > start and any(map(is_random, rows_of(text, start, end))):
        yield start, end
    elif quote and end == start:
        yield from _lines(text, stop)


def _cut(text: bytes, start: int, plain: int, stop: int) -> int:
    """Returns where a key ends whose last line is missing."""
    ends = [match.end() for match in ROW.finditer(text, start, plain)]
    known = ends[-1] if any(len(row) >= _LONG for row in rows_of(text, start, plain)) else start
    near = ROW.finditer(text, max(known, start), stop)
    first = next((row for row in near if is_long(row[0]) or row.start() > known + KEY_NEAR), None)
    if first is None or first.start() > known + KEY_NEAR:
        return known
    if stop < plain + KEY_BYTES:
        return stop
    # Behind a row, since the string goes on, and must not do so in the middle of an escape.
    return max(match.end() for match in ROW.finditer(text, first.start(), stop))


def _lines(text: bytes, quote: int) -> Iterator[tuple[int, int]]:
    """Yields the strings that follow in an array, as far as they are lines of a key."""
    found: list[tuple[int, int]] = []
    ended = False
    limit = quote + KEY_BYTES
    while not ended and (between := _NEXT.match(text, quote)) and between.end() < limit:
        start = between.end()
        closing = _QUOTE.search(text, start, limit)
        if closing is None:
            break
        quote = closing.end() - 1
        ended = BORDER.search(text, start, quote) is not None
        if not ended and quote > start:
            found.append((start, quote))
    if not ended:
        found = [part for part in found if ROW.search(text, *part)]
    rows = [row for part in found for row in rows_of(text, *part)]
    if is_key(rows, sum(end - start for start, end in found)) and any(map(is_random, rows)):
        yield from found


def rows_of(text: bytes, start: int, end: int) -> list[bytes]:
    """Returns what may be rows of a key in a part of a text."""
    return [match[0] for match in ROW.finditer(text, start, end)]


def is_key(rows: list[bytes], size: int) -> bool:
    """Tells whether what has these rows is a key, and not a text that only speaks of one."""
    return any(map(is_long, rows)) or max(_LEAST, size // 2) <= sum(map(len, rows))


def is_long(row: bytes) -> bool:
    """Tells whether a row is one of a key, and no path and no digest."""
    return len(row) >= _LONG and all(re.search(letters, row) for letters in (rb"[A-Z]", rb"[a-z]", rb"[0-9]"))


def is_random(secret: bytes) -> bool:
    """Tells whether a secret is one, and not an example: `AKIAXXXXXXXXXXXXXXXX`, `…EXAMPLE`."""
    if b"EXAMPLE" in secret.upper():
        return False
    size = len(secret)
    entropy = -sum(count / size * math.log2(count / size) for count in Counter(secret).values())
    return entropy >= min(_LEAST_ENTROPY, math.log2(size) * 0.6)
