r"""Secrets without a shape of their own, which the word before them tells: `password = "…"`, `Authorization: …`.

What stands there is a secret only if it looks like one. Programs are full of `password=password`, of placeholders and
of names of variables, and a warning that is wrong most of the time is read by nobody. So a password of plain words is
let be; what chance has made, or somebody who was asked for digits and signs, is found.

No such secret has a quote or a backslash in it; so it lies within one string of JSON.
"""

import re
from base64 import b64decode
from collections.abc import Iterator
from functools import cache

from gitsession.secret_keys import is_random

# What may stand between a word and its value: quotes, as they are or escaped, also in JSON within JSON.
_QUOTE = r"(?:\\{0,8}[\"'`]|\\{1,8}u0022)"
_NAME = r"(?:[pP]assw(?:or)?d|PASSW(?:OR)?D|[pP]ass_?phrase|PASS_?PHRASE|[pP]wd)[0-9]?"
_IS = r"(?::[ ]?[A-Za-z |\[\]]{1,20})?[ \t]{0,8}(?:=>|:=|=(?!=)|:(?![:=]))[ \t]{0,8}"
_END = r"(?=\\|[\s\"'`;&]|\Z)"
# No more of it follows, and nothing that is to be replaced.
_AFTER = r"(?![A-Za-z0-9._~+/=${%<-])"
_LINE_END = r"(?=[ \t]*(?:\\++[nr\"]|[\r\n\"]|\Z))"
_HEADER = rf"(?i:authorization)(?:{_QUOTE})?\]?[ \t]{{0,4}}[:=,][ \t]{{0,4}}(?:{_QUOTE})?"

_PASSWORDS = tuple(
    ("password", pattern)
    for pattern in (
        rf"{_NAME}(?:{_QUOTE})?{_IS}(?P<quote>{_QUOTE})(?P<secret>[^\s\"'`\\<>]{{8,120}})(?={_QUOTE})",
        rf"{_NAME}=(?P<secret>[^\s\"'`\\<>(){{}}\[\];&,|]{{8,120}}){_END}",
        rf"{_NAME}:[ \t]{{1,8}}(?P<secret>[^\s\"'`\\<>(){{}}\[\];,|]{{8,120}}){_LINE_END}",
    )
)
_LOGINS = (
    ("bearer-token", rf"{_HEADER}(?i:bearer|token)[ \t]+(?P<secret>[A-Za-z0-9._~+/-]{{16,}}={{0,3}}){_AFTER}"),
    ("basic-auth", rf"{_HEADER}(?i:basic)[ \t]+(?P<secret>[A-Za-z0-9+/]{{8,}}={{0,2}}){_AFTER}"),
)
_AUTH = (("npmrc-auth", r"/:_auth(?:Token)?[ \t]{0,4}=[ \t]{0,4}(?P<secret>[A-Za-z0-9+/_.~-]{8,}={0,2})"),)
_PASSWORD = (("npmrc-auth", r"/:_password[ \t]{0,4}=[ \t]{0,4}(?P<secret>[A-Za-z0-9+/]{8,}={0,2})"),)

WORDS: tuple[tuple[str, tuple[int, ...], tuple[tuple[str, str], ...]], ...] = (
    ("assw", (1,), _PASSWORDS),
    ("ASSW", (1,), _PASSWORDS),
    ("phrase", (4, 5), _PASSWORDS),
    ("PHRASE", (4, 5), _PASSWORDS),
    ("pwd", (0,), _PASSWORDS),
    ("Pwd", (0,), _PASSWORDS),
    ("uthorization", (1,), _LOGINS),
    ("UTHORIZATION", (1,), _LOGINS),
    (":_auth", (1,), _AUTH),
    (":_password", (1,), _PASSWORD),
)
"""A text that must stand in what is searched, how far before it the patterns may begin, and these by their kinds."""

_NEEDLES = tuple((needle.encode(), starts, patterns) for needle, starts, patterns in WORDS)

# What a value has in it that stands for a secret, or tells where there is one.
_STAND_IN = re.compile(
    rb"(?i:passw(?:or)?d|passphrase|your|example|change[-_]?me|placeholder|redacted|x{4}|dummy|insert|replace|\*{3}|\.{3})"
    rb"|://|\$\{|\$\(|\{\{|%\(|%[sdv]\b|^[$./~%@{]|[{}]"
)
# A name of a program's, as `settings.DB_PASS2`.
_NAME_OF_CODE = re.compile(rb"[A-Za-z_$][A-Za-z0-9_$]*(?:(?:\.|->|::)[A-Za-z_$][A-Za-z0-9_$]*)*")
_CODE_WORD = re.compile(
    rb"(?i:pass|pwd|secret|token|user|auth|login|cred|self|this|config|settings|env|value|arg|key|str)"
)


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())


def _is_secret(kind: str, secret: bytes, *, quoted: bool) -> bool:
    """Tells whether what stands behind a word is a secret, and no placeholder, name or expression."""
    if not is_random(secret) or _STAND_IN.search(secret):
        return False
    if kind == "basic-auth":
        return _holds_login(secret)
    if kind != "password":
        return bool(re.search(rb"[0-9]", secret)) and bool(re.search(rb"[A-Za-z]", secret))
    if not quoted and _NAME_OF_CODE.fullmatch(secret) and _CODE_WORD.search(secret):
        return False
    return _looks_made(secret)


def _looks_made(secret: bytes) -> bool:
    """Tells whether a password has letters, and digits or signs among them: words alone are no sign of one."""
    return bool(re.search(rb"[A-Za-z]", secret)) and bool(re.search(rb"[0-9!@#$%^&*+?]", secret))


def _holds_login(secret: bytes) -> bool:
    """Tells whether a text in base64 is a name and a password, as the header has it."""
    try:
        name, colon, password = b64decode(secret, validate=True).decode("utf-8").partition(":")
    except ValueError:
        return False
    plain = f"{name}{password}".isprintable() and len(password) >= 6 and password.lower() != name.lower()
    return bool(colon) and plain and not _STAND_IN.search(password.encode())


def found_by_words(text: bytes) -> list[tuple[str, int, int]]:
    """Returns the kinds and places of what is a secret by the word before it."""
    found: list[tuple[str, int, int]] = []
    for needle, starts, patterns in _NEEDLES:
        if needle not in text:
            continue  # quicker than to look for its place
        place = text.find(needle)
        while place >= 0:
            for start in starts:
                found += _found_at(text, place - start, patterns) if place >= start else ()
            place = text.find(needle, place + 1)
    return found


def _found_at(text: bytes, start: int, patterns: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, int, int]]:
    for kind, pattern in patterns:
        match = _compiled(pattern).match(text, start)
        if match and _is_secret(kind, match["secret"], quoted="quote" in match.re.groupindex):
            yield kind, *match.span("secret")
