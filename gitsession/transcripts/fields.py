"""Looks into JSON values that may have any shape: each function returns what was hoped for, or a plain nothing."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

# Named one by one, since what Python calls printable differs between its versions, and titles must not.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# From here on a number of seconds is one of milliseconds: the year 5138 in the one, 1973 in the other.
_MILLISECONDS = 1e11


def text(value: Any, key: str) -> str:
    """Returns the string that an object has under the key; "" where it has none."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def mapping(value: Any, key: str) -> dict[str, Any]:
    """Returns the object that an object has under the key; an empty one where it has none."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def items(value: Any, key: str) -> list[Any]:
    """Returns the array that an object has under the key; an empty one where it has none."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def integer(value: Any, key: str) -> int | None:
    """Returns the integer that an object has under the key."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def time(value: Any) -> str | None:
    """Returns a time as RFC 3339: a string in a form of ISO 8601, or seconds or milliseconds since 1970.

    A string that is RFC 3339 already stays as it is. A time without a zone is taken as UTC.
    """
    try:
        if isinstance(value, str) and len(value) >= 19:
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is None:
                return value.replace(" ", "T", 1) + "Z"
            return value if value[10] in "Tt" else moment.isoformat()
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if abs(value) >= _MILLISECONDS else value
            moment = _EPOCH + timedelta(seconds=seconds)
            return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError):
        pass
    return None


def utc(stamp: str) -> str | None:
    """Returns an RFC 3339 time in UTC, with a `Z` and as exact as it was; None for what is no time.

    None too for the first moment of 1970: agents whose records must have a time are given it where none is known.
    """
    try:
        moment = datetime.fromisoformat(time(stamp) or "").astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    if moment == _EPOCH:
        return None
    return moment.isoformat(timespec="auto" if moment.microsecond % 1000 else "milliseconds").replace("+00:00", "Z")


def one_line(words: str, most: int = 120) -> str:
    """Returns a text on one line of at most `most` characters, each run of blanks and control characters one blank."""
    line = " ".join(_CONTROLS.sub(" ", words[: most * 4]).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def changed(header: Mapping[str, Any], **news: Any) -> Mapping[str, Any]:
    """Returns the header with the fields that are news to it; the same object where none is. None is no news."""
    fresh = {key: value for key, value in news.items() if value is not None and header.get(key) != value}
    return {**header, **fresh} if fresh else header
