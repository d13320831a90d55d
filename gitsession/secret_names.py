r"""Keys, tokens and secrets without a shape of their own, which their name tells: `API_KEY=…`, `"client_secret": "…"`.

Looked for is the end of a name (`key`, `token`, `secret`); then what follows must be a value that looks as if chance
had made it (`secret_looks`), and what comes before must be a name that keys have. It is told as gitleaks tells it, as a
`generic-api-key`.

No such secret has a quote or a backslash in it; so it lies within one string of JSON.
"""

import re
from collections.abc import Iterator

from gitsession.secret_looks import is_key
from gitsession.secret_words import IS, NAME_OF_CODE, QUOTE

KIND = "generic-api-key"
SINCE = 4

# The ends of names, in small letters without the first one where that is a capital in the middle of names.
_ENDS = (b"key", b"token", b"secret")

_SUFFIX = r"(?:[_-]?(?i:base|value|prod(?:uction)?|dev(?:elopment)?|staging|live|primary|secondary|[0-9]{1,2}))?"
_VALUE = r"[A-Za-z0-9_.+/=~-]{15,249}[A-Za-z0-9_+/=~-]"
_END = r"(?=[.,]?(?:\\|[\s\"'`;&,<>)}\]|#\x80-\xff]|\Z))"
BEHIND = re.compile(
    rf"{_SUFFIX}(?:"
    rf"(?:{QUOTE})?\]?(?:{IS}|[ \t]?,[ \t]{{0,4}})[bBrRuU]?{QUOTE}"
    rf"(?P<quoted>[^\s\"'`\\<>[\]{{}}|?:;,]{{16,250}})(?={QUOTE})"
    rf"|(?:{QUOTE})?{IS}(?P<plain>{_VALUE}){_END}"
    rf"|[ \t]{{1,4}}(?:{QUOTE})?(?P<option>{_VALUE}){_END}"
    rf"|(?:{QUOTE})?,?(?:[ \t\r\n]|\\{{1,8}}[nrt]){{0,20}}(?:{QUOTE})?[vV]alue(?:{QUOTE})?{IS}"
    rf"(?:{QUOTE})?(?P<pair>{_VALUE}){_END}"
    rf"|>(?P<element>{_VALUE})(?=<)"
    rf")".encode()
)

# What may stand before `key`.
BEFORE_KEY = re.compile(
    rb"(?i:api|app|application|access|account|admin|auth|client|consumer|crypt|deploy|encryption|hmac|jwt|license|master"
    rb"|private|root|secret|service|session|shared|signing|storage|subscription|webhook)[ _.-]?\Z"
)
# A variable of the environment, whatever key it is; but for those that are no secrets.
IN_CAPITALS = re.compile(rb"(?<![a-z])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_\Z")
NO_KEY = re.compile(
    rb"(?:PUB|PUBLIC|GPG|PGP|SSH|HOST|CACHE|PRIMARY|FOREIGN|SORT|HASH|PARTITION|REGISTRY|OBJECT|INDEX|LOOKUP|MAP|DICT)_\Z"
)
# Tokens that place a reader or guard a form, and those of languages.
NO_TOKEN = re.compile(
    rb"(?i:page|next|prev|previous|continuation|csrf|xsrf|cancel|cancellation|pad|eos|bos|unk|mask|sep|cls|sync|resume"
    rb"|cursor|start|stop|end|snapshot|lock|lex|sub|special|public|marker|change|watch|request|idempotency|client|update|sequence"
    rb"|starting)[ _.-]?\Z"
)
_OPTION = re.compile(rb"(?<![A-Za-z0-9-])--[A-Za-z0-9-]*\Z")
_BEFORE = 60
# What mostly follows where no value does, so that it need not be looked at closely.
_GOES_ON = frozenset(bytes([code]) for code in b"().,;sSwiIcrnm")


def found_by_names(text: bytes, lower: bytes) -> Iterator[tuple[int, str, int, int]]:
    """Yields what is a secret by the name before it: since which rules' number, its kind, and its place.

    Args:
        text: The text.
        lower: The same in small letters.
    """
    for word in _ENDS:
        place = lower.find(word)
        while place >= 0:
            end = place + len(word)
            match = BEHIND.match(text, end) if text[end : end + 1] not in _GOES_ON else None
            if match and _is_secret(text, word, place, match):
                yield SINCE, KIND, *match.span(match.lastgroup or 0)
            place = lower.find(word, end)


def _is_secret(text: bytes, word: bytes, place: int, match: re.Match[bytes]) -> bool:
    before = text[max(0, place - _BEFORE) : place]
    if match.lastgroup == "option" and not _OPTION.search(before):
        return False
    if word == b"key":
        capitals = text[place : place + 3] == b"KEY" and IN_CAPITALS.search(before) and not NO_KEY.search(before)
        named = bool(capitals or BEFORE_KEY.search(before))
    else:
        named = word == b"secret" or not NO_TOKEN.search(before)
    value = match[match.lastgroup or 0]
    if not named or (
        match.lastgroup in ("plain", "option", "pair") and b"." in value and NAME_OF_CODE.fullmatch(value)
    ):
        return False
    return is_key(value, may_be_uuid=word != b"token")
