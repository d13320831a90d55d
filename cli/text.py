"""Text on its way to a terminal: made harmless, measured in columns, cut to fit."""

import re
import unicodedata

# Control characters but for line feed and tab; the marks that turn the direction of writing, which can make a text
# look like another; line separators; halves of surrogate pairs, which no encoding has.
_HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_BREAKS = re.compile("[\n\t]")


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape", "surrogatepass").decode("ascii")


def harmless(text: str) -> str:
    r"""Returns a text that a terminal can be shown: what would steer it is escaped, as `\x1b`; line ends are `\n`."""
    return _HARMFUL.sub(_escaped, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    r"""Returns a text on one line that a terminal can be shown; line ends and tabs are escaped too, as `\n`."""
    return _BREAKS.sub(_escaped, harmless(text))


def width(text: str) -> int:
    """Returns how many columns of a terminal a text takes: none for combining marks, two for wide characters."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def clip(text: str, columns: int) -> str:
    """Returns a text cut to so many columns, with `...` at its end if anything was cut."""
    if width(text) <= columns:
        return text
    end = "..."[:columns]
    room = columns - len(end)
    kept = []
    for character in text:
        room -= _columns(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept) + end


def clip_middle(text: str, columns: int) -> str:
    """Returns a text cut to so many columns, with `...` in its middle if anything was cut; its ends are kept."""
    if width(text) <= columns:
        return text
    end = ""
    while width(end) < (columns - 3) // 2:
        end = text[-len(end) - 1 :]
    return clip(text, columns - width(end)) + end


def pad(text: str, columns: int, *, right: bool = False) -> str:
    """Returns a text filled with blanks up to so many columns, on its left if it is to stand at the right."""
    blanks = " " * (columns - width(text))
    return blanks + text if right else text + blanks


def count(number: int, one: str, many: str | None = None) -> str:
    """Returns a number with its noun: `1 session`, `2,000 sessions`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(number: int) -> str:
    """Returns a number of bytes for reading: `812 bytes`, `12.4 KB`, in thousands."""
    if number < 1000:
        return count(number, "byte")
    power = min((len(str(number)) - 1) // 3, 3)
    return f"{number / 1000**power:.1f} {('KB', 'MB', 'GB')[power - 1]}"
