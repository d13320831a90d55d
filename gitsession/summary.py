"""The text of a git commit: its subject, body, trailers, author and time. Version 1 of the text.

It is a part of the format: imported commits must get the same object ids everywhere and for ever, so nothing here may
change under the number that a session's header names. Nothing depends on a clock, a locale or a Unicode version.

- Subject: `<who>: <first line>` of the first message, blanks collapsed, at most 72 characters; ` (+2 more)` follows
  where the delta holds more messages. The text of a message is its parts without the reasoning, or the reasoning
  where there is nothing else; `(empty)` where there is nothing at all.
- Body: for one message the lines after the first; all of them where the subject had to clip the first. For several,
  each message as `<who>: <text>`, with an equal share of the room, at least 60. At most 600 characters, of the
  first 800 of each text.
- Trailers: `Commit-Id`, `Delta` and `Session`.

What would be unsafe is written so that it shows: a control character as its escape, a line that git takes for a
comment, a patch or a mail with a blank before it. Blanks at line ends and repeated empty lines go, as in
`git stripspace`.
"""

import re
from collections.abc import Sequence
from datetime import date
from functools import cache

from gitsession.parts import readable_part
from gitsession.view import View

SUBJECT_LENGTH = 72
BODY_LENGTH = 600
SHARE_LENGTH = 60
LOOKED_AT = 800  # more than a body can show, so that a text of megabytes costs no more than a short one
MESSAGES_LOOKED_AT = 100
AUTHOR_LENGTH = 100

# Git's readers keep the seconds of a commit in 32 bits.
LAST_SECOND = 2**32 - 1

_BLANKS = re.compile("[ \t]+")
# Comments and scissors (`git commit`), the end of the message (`git interpret-trailers`, `git am`).
_MISREAD = ("#", "---", "diff -", "Index: ", "From ")
_NOT_IN_NAMES = dict.fromkeys(map(ord, "<>\n\t"))
# What git cuts off both ends of a name.
_CRUD = "".join(map(chr, range(33))) + ".,:;<>\"\\'"


_NAMED = re.compile(r"Commit-Id: ([A-Za-z0-9._%-]+)\nDelta: (0|[1-9][0-9]{0,7})\nSession: [^\n]+\n\Z")


def commit_message(views: Sequence[View], *, commit_id: str, delta: int, session: str) -> str:
    """Returns the text of the commit that stores a delta.

    Args:
        views: The messages of the delta, at least one.
        commit_id: The commit's id, encoded as in the file's name.
        delta: The number of the delta.
        session: The session's id, encoded as in the branch's name.
    """
    text = _text(views[0])
    first_line, _, rest = text.partition("\n")
    more = f" (+{len(views) - 1} more)" if len(views) > 1 else ""
    whole = f"{views[0].who}: {_spaced(first_line.lstrip(' ')) or '(empty)'}"
    subject = _clip(whole, SUBJECT_LENGTH - len(more)) + more
    if more:
        share = max(BODY_LENGTH // len(views), SHARE_LENGTH)
        shown = ((view.who, _text(view).lstrip(" ") or "(empty)") for view in views[:MESSAGES_LOOKED_AT])
        body = "\n\n".join(_clip(f"{who}: {said}", share) for who, said in shown)
    else:
        body = rest.lstrip("\n") if len(whole) <= SUBJECT_LENGTH else text
    body = f"{_clip(body, BODY_LENGTH)}\n\n" if body else ""
    return f"{subject}\n\n{body}Commit-Id: {commit_id}\nDelta: {delta}\nSession: {session}\n"


def named_delta(message: str) -> tuple[int, str] | None:
    """Returns what the trailers of a commit's text say that it adds: the delta's number, and its encoded commit id."""
    found = _NAMED.match(message, message.rfind("\nCommit-Id: ") + 1)
    return None if found is None else (int(found[2]), found[1])


def header_message(subject: str, session: str) -> str:
    """Returns the text of a commit that changes the header and adds no delta.

    Args:
        subject: What it does; its first line is taken, and clipped.
        session: The session's id, encoded as in the branch's name.
    """
    first_line = _BLANKS.sub(" ", _tidy(subject).partition("\n")[0].strip(" \t"))
    if first_line.startswith(_MISREAD) or not first_line:
        first_line = f"meta: {first_line or '(empty)'}"
    return f"{_clip(first_line, SUBJECT_LENGTH)}\n\nSession: {session}\n"


def author(view: View) -> tuple[str, str]:
    """Returns the name and the address of who speaks: for an assistant the model's name, where it is known."""
    name = ""
    if view.model and view.who == "assistant":
        name = _unsafe().sub("", view.model[:AUTHOR_LENGTH].translate(_NOT_IN_NAMES)).strip(_CRUD)
    return name or view.who, f"{view.who}@gitsession.invalid"


def git_time(timestamp: str | None, fallback: int) -> int:
    """Returns the seconds since 1970 of an RFC 3339 time, clamped to what git holds; without a zone it is UTC.

    Args:
        timestamp: The time; fractions of a second are cut off.
        fallback: What is returned where there is none, or where it cannot be read.
    """
    found = _rfc_3339().fullmatch(timestamp) if isinstance(timestamp, str) else None
    if found is None:
        return fallback
    year, month, day, hour, minute, second = map(int, found.group(1, 2, 3, 4, 5, 6))
    sign, zone_hours, zone_minutes = found.group(7, 8, 9)
    if hour > 23 or minute > 59 or second > 60:
        return fallback
    try:
        days = date(year, month, day).toordinal() - 719163  # the ordinal of 1970-01-01
    except ValueError:
        return fallback
    offset = (int(zone_hours) * 60 + int(zone_minutes)) * (-60 if sign == "-" else 60) if sign else 0
    return min(max(days * 86400 + hour * 3600 + minute * 60 + second - offset, 0), LAST_SECOND)


def _text(view: View) -> str:
    """Returns what a message says, without its reasoning unless there is nothing else; made safe and cut to size."""
    said = "\n".join(readable_part(part) for part in view.parts if part.kind != "reasoning")
    return _tidy(said) or _tidy("\n".join(map(readable_part, view.parts)))


def _tidy(text: str) -> str:
    """Returns the beginning of a text, safe on a terminal and in a commit."""
    text = text.lstrip(" \t\r\n")
    text = (text if len(text) <= LOOKED_AT else text[:LOOKED_AT] + "…").replace("\r\n", "\n")
    # Most text is printable, and then there is nothing to escape; the pattern alone decides where it is not.
    if not text.replace("\n", "").replace("\t", "").isprintable():
        text = _unsafe().sub(_escape, text)
    lines = []
    previous = ""
    for line in text.split("\n"):
        kept = line.rstrip(" \t")
        if kept or previous:
            lines.append(f" {kept}" if kept.startswith(_MISREAD) else kept)
        previous = kept
    return "\n".join(lines).rstrip("\n")


@cache
def _unsafe() -> re.Pattern[str]:
    """Returns what is written as an escape. Most text has none of it, so it is compiled when it is first needed.

    C0 but tab and newline, DEL and C1; what turns the direction of text, and the Unicode line ends; halves of
    surrogates, and the code points that are no characters: git takes their bytes for another encoding. Those of the
    higher planes, the last two of each, are picked out by `_escape`: so many ranges would make the pattern slow.
    """
    return re.compile(
        "[\0-\x08\x0b-\x1f\x7f-\x9f"
        "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
        "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\U0001fffe-\U0010ffff]"
    )


@cache
def _rfc_3339() -> re.Pattern[str]:
    return re.compile(
        r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,][0-9]+)?"
        r"(?:[Zz]|([+-])([0-9]{2}):?([0-9]{2}))?"
    )


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code > 0xFFFF:
        return found.group() if code & 0xFFFE != 0xFFFE else f"\\U{code:08x}"
    return f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}"


def _spaced(line: str) -> str:
    """Returns a line with one blank in place of each run of blanks and tabs; most lines have none."""
    return _BLANKS.sub(" ", line) if "  " in line or "\t" in line else line


def _clip(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip(" \t\n") + "…"
