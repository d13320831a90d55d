r"""Secrets without a shape of their own, which the word before them tells: `password = "…"`, `Authorization: …`.

What stands there is a secret only if it looks like one. Programs are full of `password=password`, of placeholders and
of names of variables, and a warning that is wrong most of the time is read by nobody. So a password of plain words is
let be; what chance has made, or somebody who was asked for digits and signs, is found.

No such secret has a quote or a backslash in it; so it lies within one string of JSON.
"""

import re
from base64 import b64decode
from collections.abc import Callable
from functools import cache

from gitsession.secret_keys import is_random
from gitsession.secret_looks import is_key, is_wordy

# What may stand between a word and its value: quotes, as they are or escaped, also in JSON within JSON.
QUOTE = r"(?:\\{0,8}[\"'`]|\\{1,8}u0022)"
_NAME = r"(?:[pP]assw(?:or)?d|PASSW(?:OR)?D|[pP]ass_?phrase|PASS_?PHRASE|[pP]wd)[0-9]?"
IS = r"(?::[ ]?[A-Za-z |\[\]]{1,20})?[ \t]{0,8}(?:=>|:=|=(?!=)|:(?![:=]))[ \t]{0,8}"
_END = r"(?=\\|[\s\"'`;&]|\Z)"
# No more of it follows, and nothing that is to be replaced.
_AFTER = r"(?![A-Za-z0-9._~+/=${%<-])"
_LINE_END = r"(?=[ \t]*(?:\\++[nr\"]|[\r\n\"]|\Z))"
_HEADER = rf"(?i:authorization)(?:{QUOTE})?\]?[ \t]{{0,4}}[:=,][ \t]{{0,4}}(?:{QUOTE})?"

_BEHIND_QUOTE = r"(?:(?<=[\"'])|(?<=u0022))"
_OPENED = rf"(?:{QUOTE})?"
# What stands alone, and may end with a blank.
_BARE = r"(?P<secret>[^\s\"'`\\<>(){}\[\];&,|]{8,120})"
_QUOTED = rf"(?P<quote>{QUOTE})(?P<secret>[^\s\"'`\\<>]{{8,120}})(?={QUOTE})"
_SPACE = r"(?:[ \t\r\n]|\\{1,8}[nrt]){1,20}"
_COOKIES = r"(?:[^=;\s\"'`\\]{1,80}=[^;\s\"'`\\]{0,500};[ ]?){0,20}?"
_SESSION = r"(?i:[a-z0-9_.-]{0,40}(?:sess(?:ion)?(?:[_.-]?id)?|sid|auth|token|jwt))"

_CURL = (
    rf"curl(?=[ \t\"'\\])[^|;]{{0,300}}?[ \t](?:-[a-zA-Z]{{0,6}}u|--(?:proxy-)?user)[ =]{{0,3}}{_OPENED}"
    rf"[^\s:\"'`\\$<]{{1,80}}:{_BARE}{_END}"
)
_COOKIE = (
    rf"(?i:cookie){_OPENED}[ \t]{{0,4}}[:=, ][ \t]{{0,4}}{_OPENED}{_COOKIES}{_SESSION}="
    r"(?P<secret>[A-Za-z0-9%._~+/=:-]{16,250})(?=[;\s\"'`\\,]|\Z)"
)
# No letter goes before; one of an escape is none.
_KEY = r"(?:(?<![A-Za-z0-9+/])|(?<=\\[nrt])|(?<=\\u[0-9a-fA-F]{4}))(?P<secret>LS0tLS1CRUdJTi[A-Za-z0-9+/]{80,}={0,2})"
# A password of letters alone that chance has made, and how long it is at least.
DRAWN = re.compile(rb"(?=.*(?:[a-z][A-Z]|[A-Z]{2}[a-z]).*[a-z][A-Z])[A-Za-z]+")
LEAST_DRAWN = 12
# What has the first line of a private key in base64.
_FIRST_LINE = 64
# What stands before the password in `.netrc`.
LOGIN = re.compile(rf"login{_SPACE}(?!anonymous)[^\s\"'`\\]{{1,100}}{_SPACE}\Z".encode())
_LONGEST_LOGIN = 150

_PASSWORDS = (
    rf"{_NAME}{_OPENED}{IS}{_QUOTED}",
    rf"{_NAME}={_BARE}{_END}",
    rf"{_NAME}:[ \t]{{1,8}}(?P<secret>[^\s\"'`\\<>(){{}}\[\];,|]{{8,120}}){_LINE_END}",
)

WORDS: tuple[tuple[int, str, int, str, str], ...] = (
    *((3, word, 0, "password", pattern) for word in ("pass", "pwd") for pattern in _PASSWORDS),
    (
        3,
        "auth",
        0,
        "bearer-token",
        rf"{_HEADER}(?i:bearer|token)[ \t]+(?P<secret>[A-Za-z0-9._~+/-]{{16,}}={{0,3}}){_AFTER}",
    ),
    (3, "auth", 0, "basic-auth", rf"{_HEADER}(?i:basic)[ \t]+(?P<secret>[A-Za-z0-9+/]{{8,}}={{0,2}}){_AFTER}"),
    (3, "auth", 3, "npmrc-auth", r"/:_auth(?:Token)?[ \t]{0,4}=[ \t]{0,4}(?P<secret>[A-Za-z0-9+/_.~-]{8,}={0,2})"),
    (3, "pass", 3, "npmrc-auth", r"/:_password[ \t]{0,4}=[ \t]{0,4}(?P<secret>[A-Za-z0-9+/]{8,}={0,2})"),
    # An option; what SSH and Redis have; an element of XML; a short name; in the environment.
    (4, "pass", 0, "password", rf"(?<=-)(?:{_NAME}|pass)[ \t]{{1,4}}(?!-){_OPENED}{_BARE}{_END}"),
    (4, "pass", 3, "password", rf"sshpass[ \t]{{1,4}}-p[ \t]{{0,4}}{_OPENED}{_BARE}{_END}"),
    (4, "pass", 7, "password", rf"requirepass[ \t]{{1,4}}{_OPENED}{_BARE}{_END}"),
    (4, "pass", 0, "password", rf"(?:{_NAME}|[pP]ass)>(?P<secret>[^\s\"'`\\<>]{{8,120}})(?=<)"),
    (4, "pass", 0, "password", rf"(?:{_BEHIND_QUOTE}pass|(?<=[_.-])pass|(?<=_)PASS){_OPENED}{IS}{_QUOTED}"),
    (4, "pass", 0, "password", rf"(?:(?<=[_.-])pass|(?<=_)PASS)={_BARE}{_END}"),
    (4, "mysql", 0, "password", rf"mysql[a-z]{{0,8}}[ \t][^|;\r\n\"']{{0,200}}?(?<=[ \t])-p{_OPENED}{_BARE}{_END}"),
    (4, "pwd", 0, "password", rf"(?<=_)PWD={_OPENED}{_BARE}{_END}"),
    (4, "pass", 0, "netrc-password", rf"password{_SPACE}(?P<secret>[^\s\"'`\\<>(){{}}\[\];&,|\x80-\xff]{{8,120}})"),
    (
        4,
        "auth",
        0,
        "docker-auth",
        rf"{_BEHIND_QUOTE}auth{QUOTE}(?:{_SPACE})?:(?:{_SPACE})?{QUOTE}(?P<secret>[A-Za-z0-9+/]{{12,4000}}={{0,2}})(?={QUOTE})",
    ),
    (4, "ls0tls1crudjti", 0, "private-key-in-base64", _KEY),
    (4, "curl", 0, "curl-auth-user", _CURL),
    (4, "cookie", 0, "session-cookie", _COOKIE),
)
"""The number of the rules since which it is looked for, a text in small letters that must stand there, how far before
it the pattern begins, the kind, and the pattern."""

# A word that stands in many others; so what follows is looked at before all of the patterns are tried.
_OFTEN = b"pass"
_NAMED = re.compile(rb"pass(?:w(?:or)?d|_?phrase)?[0-9]?[\"'`\\=:>\s]")

_NEEDLES: dict[bytes, list[tuple[int, int, str, str]]] = {}
for _since, _needle, _back, _kind, _pattern in WORDS:
    _NEEDLES.setdefault(_needle.encode(), []).append((_since, _back, _kind, _pattern))

# What a value has in it that stands for a secret, or tells where there is one.
STAND_IN = re.compile(
    rb"(?i:passw(?:or)?d|passphrase|your|example|change[-_]?me|placeholder|redacted|x{4}|dummy|insert|replace|\*{3}|\.{3})"
    rb"|://|\$\{|\$\(|\{\{|%\(|%[sdv]\b|^[$./~%@{]|[{}]"
)
# A name of a program's, as `settings.DB_PASS2`.
NAME_OF_CODE = re.compile(rb"[A-Za-z_$][A-Za-z0-9_$]*(?:(?:\.|->|::)[A-Za-z_$][A-Za-z0-9_$]*)*")
CODE_WORD = re.compile(
    rb"(?i:pass|pwd|secret|token|user|auth|login|cred|self|this|config|settings|env|value|arg|key|str)"
)


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())


def _known_since(since: int, kind: str, match: re.Match[bytes]) -> int | None:
    """Returns since which rules' number a secret is known by what stands behind a word; None where it is none."""
    if _is_secret(kind, match, _looks_made):
        return since
    return 4 if kind == "password" and _is_secret(kind, match, _looks_drawn) else None


def _is_secret(kind: str, match: re.Match[bytes], looks: Callable[[bytes], bool]) -> bool:
    """Tells whether what stands behind a word is a secret, and no placeholder, name or expression."""
    secret = match["secret"]
    if kind == "private-key-in-base64":
        return b" PRIVATE KEY" in b64decode(secret[:_FIRST_LINE])
    if not is_random(secret) or STAND_IN.search(secret):
        return False
    if kind in ("basic-auth", "docker-auth"):
        return _holds_login(secret)
    if kind == "session-cookie":
        return is_key(secret, may_be_uuid=True)
    if kind == "netrc-password":
        before = match.string[max(0, match.start() - _LONGEST_LOGIN) : match.start()]
        return looks(secret) and LOGIN.search(before) is not None
    if kind not in ("password", "curl-auth-user"):
        return bool(re.search(rb"[0-9]", secret)) and bool(re.search(rb"[A-Za-z]", secret))
    quoted = "quote" in match.re.groupindex
    if not quoted and NAME_OF_CODE.fullmatch(secret) and CODE_WORD.search(secret):
        return False
    return looks(secret)


def _looks_drawn(secret: bytes) -> bool:
    """Tells whether a password of letters alone is one that chance has made: of both cases, and no words."""
    return len(secret) >= LEAST_DRAWN and DRAWN.fullmatch(secret) is not None and not is_wordy(secret)


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
    return bool(colon) and plain and not STAND_IN.search(password.encode())


def found_by_words(text: bytes, lower: bytes) -> list[tuple[int, str, int, int]]:
    """Returns what is a secret by the word before it: since which rules' number, its kind, and its place.

    Args:
        text: The text.
        lower: The same in small letters.
    """
    found: list[tuple[int, str, int, int]] = []
    for needle, rules in _NEEDLES.items():
        place = lower.find(needle)
        while place >= 0:
            if needle == _OFTEN and not _NAMED.match(lower, place):
                place = lower.find(needle, place + 1)
                continue
            for since, back, kind, pattern in rules:
                match = _compiled(pattern).match(text, place - back) if place >= back else None
                if match and (number := _known_since(since, kind, match)):
                    found.append((number, kind, *match.span("secret")))
            place = lower.find(needle, place + 1)
    return found
