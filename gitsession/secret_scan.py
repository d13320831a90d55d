r"""Finds secrets of known shapes in text, and takes them out. What the shapes are is said in `secret_rules`.

The text is a record as it stands in its file, which is JSON as a rule. No secret's shape has a quote or a backslash in
it (but for a private key, which may have escapes), and none begins or ends within an escape. So each lies within one
string, and a record stays valid JSON when they are replaced. Where letters are written as escapes, the text is looked
through once more without them.

Fast, since it looks closely at little: a table turns every byte that may stand in a token into `a`, and twenty of them
in a row are searched for. Only such runs are looked at, where they begin and after each `-`, `_` and `.`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from string import ascii_letters, digits

from gitsession.secret_escapes import Unescaped
from gitsession.secret_keys import is_random, key_parts
from gitsession.secret_names import found_by_names
from gitsession.secret_rules import MIXED, NO_PASSWORDS, PHRASES, TOKENS
from gitsession.secret_words import found_by_words

# A row of bytes that may stand in a token, and one so long that it can only be data in base64 (an image).
_TABLE = bytes(97 if chr(code) in f"{ascii_letters}{digits}_.-" else 32 for code in range(256))
_RUN = b"a" * 20
_DATA_TABLE = bytes(97 if chr(code) in f"{ascii_letters}{digits}+/" else 32 for code in range(256))
_DATA = b"a" * 1000
_DATA_SIGNS = frozenset((b"+", b"/"))
_BACKSLASH = ord("\\")


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret in a text.

    Attributes:
        kind: Its kind, as gitleaks names it.
        start: Where it begins, in bytes.
        end: Where it ends.
    """

    kind: str
    start: int
    end: int


def _by_beginning() -> dict[bytes, list[tuple[str, str]]]:
    """Returns the rules of tokens by the two bytes that their tokens can begin with."""
    found: dict[bytes, list[tuple[str, str]]] = {}
    for kind, pattern in TOKENS:
        for beginning in _two(pattern.removeprefix("(?<=[0-9]{8}:)")):
            found.setdefault(beginning.encode(), []).append((kind, pattern))
    return found


def _two(pattern: str) -> list[str]:
    """Returns what the first two characters of a token can be, by its pattern."""
    if pattern.startswith("(?:"):
        return [option[:2] for option in pattern[3 : pattern.index(")")].split("|")]
    ends = [""]
    while len(ends[0]) < 2:
        size = pattern.index("]") + 1 if pattern[0] == "[" else 1
        ends = [end + one for end in ends for one in pattern[:size].strip("[]")]
        pattern = pattern[size:]
    return ends


_TOKENS = _by_beginning()
_PHRASES = {
    needle.encode(): [(kind, pattern) for kind, other, pattern in PHRASES if other == needle]
    for _, needle, _ in PHRASES
}
# By first bytes, which is quicker than one alternative for each of them.
_BEGINNINGS = re.compile(
    rb"[-_.](?=%b)"
    % b"|".join(
        b"%b[%b]" % (first, b"".join(two[1:] for two in both))
        for first, both in groupby(sorted(_TOKENS), key=lambda two: two[:1])
    )
)


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    """Returns a compiled pattern: all of them at once would take a third of a second."""
    return re.compile(pattern.encode())


def find_secrets(text: bytes) -> list[Secret]:
    """Returns the secrets in a text, in the order in which they stand, none within another."""
    lower = text.lower()
    found = [*_tokens(text), *_phrases(text, lower)]
    told = [*found_by_words(text, lower), *found_by_names(text, lower)]
    if plain := Unescaped.of(text):
        lower = plain.text.lower()
        found += [
            Secret(secret.kind, plain.start(secret.start), plain.end(secret.end))
            for secret in (*_tokens(plain.text), *_phrases(plain.text, lower))
        ]
        told += [
            (since, kind, plain.start(start), plain.end(end))
            for since, kind, start, end in (*found_by_words(plain.text, lower), *found_by_names(plain.text, lower))
        ]
    return _with_told(united(found), told)


def united(found: list[Secret]) -> list[Secret]:
    """Returns secrets in the order in which they stand, those that overlap as one, of the kind of the first."""
    kept: list[Secret] = []
    for secret in found if len(found) < 2 else sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
        elif secret.end > kept[-1].end:
            kept[-1] = replace(kept[-1], end=secret.end)
    return kept


def _with_told(known: list[Secret], told: list[tuple[int, str, int, int]]) -> list[Secret]:
    """Adds what only the words before it tell, beside what has a shape: that stays as it was found without them."""
    if not told:
        return known
    kept = [*known]
    # What earlier rules found stays as they found it.
    for _, kind, start, end in sorted(told, key=lambda one: (one[0], one[2], -one[3])):
        if not any(one.start < end and start < one.end for one in kept):
            kept.append(Secret(kind, start, end))
    return sorted(kept, key=lambda one: one.start)


def redacted(text: bytes, secrets: list[Secret]) -> bytes:
    """Returns a text in which each secret is replaced by `[redacted:<kind>]`."""
    parts = []
    place = 0
    for secret in secrets:
        parts += [text[place : secret.start], f"[redacted:{secret.kind}]".encode()]
        place = secret.end
    return b"".join([*parts, text[place:]])


def _tokens(text: bytes) -> list[Secret]:
    found: list[Secret] = []
    runs = text.translate(_TABLE)
    data: bytes | None = None
    start = runs.find(_RUN)
    while start >= 0:
        end = runs.find(b" ", start)
        end = len(text) if end < 0 else end
        # Nearly all rows are ids and names, in which no token begins.
        if text[start : start + 2] in _TOKENS or text[start - 1] == _BACKSLASH or _BEGINNINGS.search(text, start, end):
            for place in _places(text, start, end):
                if not (found and place < found[-1].end) and (secret := _token_at(text, place)):
                    found.append(secret)
        if text[end : end + 1] in _DATA_SIGNS or end - start >= len(_DATA):
            data = text.translate(_DATA_TABLE) if data is None and len(text) > 4 * len(_DATA) else data or b""
        if data and data.startswith(_DATA, start):
            end = data.find(b" ", start)
            end = len(text) if end < 0 else end
        start = runs.find(_RUN, max(end, found[-1].end) if found else end)
    return found


def _places(text: bytes, start: int, end: int) -> Iterator[int]:
    """Yields where in a row of a token's bytes one could begin."""
    yield start
    # The letters of an escape are taken for the beginning of the row: `\\nghp_…`, `\\u003dghp_…`.
    if start and text[start - 1] == _BACKSLASH:
        yield start + (5 if text[start] == ord("u") else 1)
    for match in _BEGINNINGS.finditer(text, start, end):
        yield match.end()


def _token_at(text: bytes, place: int) -> Secret | None:
    for kind, pattern in _TOKENS.get(text[place : place + 2], ()):
        match = _compiled(pattern).match(text, place)
        if match and not text[match.end() : match.end() + 1].isalnum() and is_random(match[0]):
            if kind in MIXED and not _is_mixed(match[0]):
                continue
            return Secret(kind, place, match.end())
    return None


def _is_mixed(token: bytes) -> bool:
    """Tells whether each long part of a token between its dots has what a name of a program's seldom has."""
    parts = [part for part in token.split(b".") if len(part) > 8]
    return all(
        re.search(rb"[0-9]", part) and re.search(rb"[a-z]", part) and re.search(rb"[A-Z]", part) for part in parts
    )


def _phrases(text: bytes, lower: bytes) -> Iterator[Secret]:
    for kind, pattern in (rule for needle, rules in _PHRASES.items() if needle in lower for rule in rules):
        for match in _compiled(pattern).finditer(text):
            secret, (start, end) = match["secret"], match.span("secret")
            if kind == "private-key":
                yield from (Secret(kind, *part) for part in key_parts(text, start, end))
            elif kind == "credentials-in-url" and not _is_password(secret, match["user"]):
                continue
            elif is_random(secret):
                yield Secret(kind, start, end)


def _is_password(secret: bytes, user: bytes) -> bool:
    word = secret.lower()
    return word != user.lower() and word.decode("ascii", "replace") not in NO_PASSWORDS and not word.startswith(b"%")
