"""JSON text that is read as it is looked at: a window over a stream, no larger than twice the largest value in it.

What is found does not depend on the size of the window: where a value is not whole, the window grows until it is, to
the end of the stream if it must. It doubles, so all looks together are linear. Bytes that are no UTF-8 are surrogate
escapes, as everywhere.
"""

import codecs
import json
import re
from typing import Any, BinaryIO

from gitsession.transcripts.records import measure

# How much is read at least at a time, in bytes.
WINDOW_BYTES = 256 * 1024

_BLANKS = re.compile("[ \t\r\n]*")
# What a number may go on with.
_NUMBER = re.compile("[-+.0-9eE]*")
# No word and no escape is longer; a fault that lies further before the end of a text than this is none of its end.
_MOST_TOKEN = 64


class Window:
    """A place in JSON text, and as much of what follows as was looked at so far."""

    def __init__(self, stream: BinaryIO, passed: int = 0) -> None:
        """Begins where a stream of bytes stands; a byte order mark there is passed over.

        Args:
            stream: The bytes.
            passed: How many of them were read before.
        """
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._text = ""
        self._place = 0
        self._ended = False
        # How many bytes there are before a place of the text.
        self._bytes = passed
        self._counted = 0
        if self.at("\ufeff"):
            self.step()

    @property
    def offset(self) -> int:
        """Where it stands, in bytes from the beginning of the stream."""
        passed = self._text[self._counted : self._place]
        self._bytes += len(passed) if passed.isascii() else len(passed.encode("utf-8", "surrogateescape"))
        self._counted = self._place
        return self._bytes

    def at(self, character: str) -> bool:
        """Tells whether a character follows."""
        while self._place == len(self._text) and self._more():
            pass
        return self._text.startswith(character, self._place)

    def step(self) -> None:
        """Passes over the character that follows."""
        self._place += 1

    def skip_blanks(self) -> None:
        """Passes over blanks, as many as follow."""
        while True:
            self._place = _BLANKS.match(self._text, self._place).end()  # type: ignore[union-attr]  # it always matches
            if self._place < len(self._text) or not self._more():
                return

    def value(self) -> Any:
        """Passes over the value that follows, and returns it, numbers aside.

        Raises:
            ValueError: There is none, or none that ends.
        """
        while True:
            try:
                found, end = measure.raw_decode(self._text, self._place)
            except json.JSONDecodeError as error:
                if self._is_within(error) or not self._more():
                    raise
            except RecursionError as error:
                raise ValueError("it nests too deeply") from error
            else:
                if self._is_whole(end) or not self._more():
                    self._place = end
                    return found

    def _is_within(self, error: json.JSONDecodeError) -> bool:
        """Tells whether a fault would be there whatever followed the text."""
        return error.pos + _MOST_TOKEN < len(self._text) and not error.msg.startswith("Unterminated")

    def _is_whole(self, end: int) -> bool:
        """Tells whether a value that was found would be the same whatever followed the text; a number may go on."""
        if self._text[self._place] not in "-0123456789":
            return True
        match = _NUMBER.match(self._text, end)
        return match is None or match.end() < len(self._text)

    def _more(self) -> bool:
        """Doubles the text from where it stands on, and drops what was passed; tells whether there was any more."""
        if self._ended:
            return False
        self._bytes = self.offset
        rest = self._text[self._place :]
        found = self._stream.read(max(WINDOW_BYTES, len(rest)))
        self._ended = not found
        self._text = rest + self._decoder.decode(found, final=self._ended)
        self._place = self._counted = 0
        return True
