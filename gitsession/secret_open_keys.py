r"""How far a private key goes on that was begun in a record before: its rows, whatever stands before each of them.

Agents that write lines make a record of each, or of a few: so one has a key's first line, others have its rows, and
one has its end. What can be told of a record must not depend on those behind it, since they may not be written yet. So
a row is known by itself: as a long one that comes soon after the key's first line or after another row, or as a short
one right behind a row.
"""

import re
from typing import NamedTuple

from gitsession.secret_keys import BORDER, ROW, is_key, is_long, is_random, rows_of
from gitsession.secret_rules import KEY_BYTES, KEY_NEAR

# What a line may begin with, as of aider's or of mail; it stays, so that the record is one of its kind.
_AROUND = b" \t\r\n>#+|"
_WORD = re.compile(rb"[A-Za-z0-9+/=]+")
# What is no rest of a row, but a word or a number.
_PLAIN = re.compile(rb"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
# It is alone on its line, but for the line's number.
_MOST_WORDS = 2
_SHORT = 60


class OpenKey(NamedTuple):
    """A private key that was begun and not ended.

    Attributes:
        gap: How many bytes came since its first line, or its last row; of a record that is none of its lines, one.
        follows: Whether nothing but blanks came since its last row, and the row was no rest of one.
        left: How many bytes of it may follow.
    """

    gap: int = 0
    follows: bool = False
    left: int = KEY_BYTES

    def passed(self, size: int) -> "OpenKey | None":
        """Returns the key when so many bytes of something else came; None where it has gone too far."""
        gap = self.gap + size
        return None if gap > KEY_NEAR else OpenKey(gap, self.follows, self.left)


def begun(text: bytes, before: OpenKey | None = None) -> OpenKey | None:
    """Returns the private key that a text begins last and does not end.

    Args:
        text: The text.
        before: What is open where the text neither begins nor ends one.
    """
    if b"PRIVATE KEY" not in text:
        return before
    last = None
    for last in BORDER.finditer(text):  # noqa: B007  # what is wanted is the last one
        pass
    if last is None:
        return before
    return None if last["end"] else _rows(text, last.end(), len(text), OpenKey())[1]


def go_on(text: bytes, key: OpenKey) -> tuple[list[tuple[int, int]], OpenKey | None]:
    """Returns where in a text a private key goes on that was begun before it, and what is open behind it."""
    border = BORDER.search(text, 0, key.left)
    stop = border.start() if border else len(text)
    parts, left = _rows(text, 0, stop, key)
    if border and border["end"]:
        # Here it ends for certain. So what stands between its rows is of it too, and they may be short if they are all.
        rows = rows_of(text, 0, stop)
        last = len(text[:stop].rstrip(_AROUND))
        if is_key(rows, stop) and 2 * sum(map(len, rows)) >= stop and any(map(is_random, rows)):
            parts = [(stop - len(text[:stop].lstrip(_AROUND)), last)]
        elif parts and left is not None:
            parts = [(parts[0][0], last)]
    return parts, begun(text, left)


def _rows(text: bytes, start: int, stop: int, key: OpenKey | None) -> tuple[list[tuple[int, int]], OpenKey | None]:
    """Returns where rows of a key stand in a part of a text, those on lines after each other as one; and its end."""
    parts: list[tuple[int, int]] = []
    while start < stop and key is not None:
        newline = text.find(b"\n", start, stop)
        end = stop if newline < 0 else newline
        most = min(end, start + key.left)
        row = _row(text, start, most, follows=key.follows)
        rest = None if row or not key.follows else _rest(text, start, most)
        found = row or rest
        size = end + 1 - start
        if found:
            parts.append((parts.pop()[0], found[1]) if key.follows and parts else found)
            key = OpenKey(0, row is not None, key.left - size) if size < key.left else None
        else:
            blank = not text[start:most].strip(_AROUND)
            key = key._replace(follows=key.follows and blank).passed(size)
        start = end + 1
    return parts, key


def _row(text: bytes, start: int, end: int, *, follows: bool) -> tuple[int, int] | None:
    """Returns where a row of a key stands on a line; one that follows another need not be so long."""
    rows = list(ROW.finditer(text, start, end))
    known = any(is_long(row[0]) and is_random(row[0]) for row in rows)
    if not known and not (follows and 2 * sum(len(row[0]) for row in rows) >= len(text[start:end].strip()) > 0):
        return None
    return rows[0].start(), rows[-1].end()


def _rest(text: bytes, start: int, end: int) -> tuple[int, int] | None:
    """Returns where on a line that follows a row the last one stands, which may be of a few letters."""
    words = list(_WORD.finditer(text, start, end)) if end - start <= _SHORT else []
    if not 0 < len(words) <= _MOST_WORDS or _PLAIN.fullmatch(words[-1][0]):
        return None
    return words[-1].span()
