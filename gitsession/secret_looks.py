"""How a key looks that chance has made: what tells it from words, names of programs, placeholders and digests of code.

The bounds are those of published rule sets (gitleaks' `generic-api-key` has 3.5 bits a character and letters alone are
none), but where these keep a list of 1,400 words that no key may have in it, pairs of letters are counted: of those in
English words three in four are among the 120 that are most frequent, of those that chance makes less than one in five.
"""

import math
import re
from collections import Counter

LEAST = 16
MOST = 250

# The pairs of letters that are most frequent in programs and their documents.
PAIRS = (
    "ab ac ad ai al am an ar as at bo bs ca ce ch cl co ct de di ea ec ed ef el em en er es et ex fi fo ge gi ha he ht "
    "ib ic ie ig il im in io is it ke la le lf li ll lo lu ma me mi mp na nc nd ne ng ni no ns nt oc od ol om on oo op "
    "or os ot ou pa pe pl po pp pr pt ra re ri rn ro rs rt se si so sp ss st ta te th ti to tp tr ts tt tu ty ue ul un "
    "ur us ut va ve yp"
)
_PAIRS = frozenset(PAIRS.encode().split())
# As many of a text's pairs are among them as makes it words.
WORDY = 0.5
# Bits a character: in all, and of hexadecimal digits.
ENTROPY = 3.3
ENTROPY_OF_HEX = 3.0

_LEAST_LETTERS = 4
_LETTERS = re.compile(rb"[a-z]{2,}+")
_HEX = re.compile(rb"(?:0x|[a-z]{1,8}[-_])?(?P<digits>[0-9a-fA-F]++)")
LEAST_HEX = 24
_UUID = re.compile(rb"(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# What stands in examples, and in names of what is no key.
STAND_IN = re.compile(
    rb"(?i)passw|your|example|change[-_]?me|placeholder|redacted|dummy|insert|replace|test[-_]|[-_]test|fake|sample|mock"
    rb"|secret|token|apikey|api[-_]key|foobar|abc123|qwerty|deadbeef|(.)\1{4}|12345|23456|34567|98765|abcdef|sha(?:256|512)"
    rb"|\.\.\.|://|^[./~]|\.(?:py|js|ts|go|rs|json|ya?ml|html?|txt|md|com|org|net|io|dev)\b"
)


def is_key(text: bytes, *, may_be_uuid: bool) -> bool:
    """Tells whether a text is a key that chance has made.

    Args:
        text: What stands where a key would: 16 to 250 bytes, with no white space.
        may_be_uuid: Whether it may be a UUID or not, as those are names as a rule.
    """
    text = text.removeprefix(b"django-insecure-")
    if not LEAST <= len(text) <= MOST or STAND_IN.search(text):
        return False
    if _UUID.fullmatch(text):
        return may_be_uuid and entropy(text) >= ENTROPY_OF_HEX
    if match := _HEX.fullmatch(text):
        digits = match["digits"]
        one_case = digits in (digits.lower(), digits.upper())
        long = len(digits) >= LEAST_HEX and _letters(digits) >= _LEAST_LETTERS
        return one_case and long and entropy(digits) >= ENTROPY_OF_HEX
    return _is_mixed(text) and entropy(text) >= ENTROPY and not is_wordy(text)


def _is_mixed(text: bytes) -> bool:
    """Tells whether a text has digits and letters; a single digit must stand among both cases of letters."""
    digits = sum(map(text.count, b"0123456789"))
    cases = re.search(rb"[a-z]", text) and re.search(rb"[A-Z]", text)
    return _letters(text) >= _LEAST_LETTERS and (digits > 1 or (digits == 1 and bool(cases)))


def _letters(text: bytes) -> int:
    return len(re.findall(rb"[A-Za-z]", text))


def entropy(text: bytes) -> float:
    """Returns the bits a character."""
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values())


def is_wordy(text: bytes) -> bool:
    """Tells whether the letters of a text are those of words."""
    pairs = [run[place : place + 2] for run in _LETTERS.findall(text.lower()) for place in range(len(run) - 1)]
    return bool(pairs) and sum(pair in _PAIRS for pair in pairs) >= WORDY * len(pairs)
