"""The transcript formats of coding agents: each is one `Format`, told by what is in a file, not by its name."""

import codecs
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import BinaryIO

from gitsession.transcripts.base import AbandonedLine, Format, Record

__all__ = ["FORMATS", "AbandonedLine", "Format", "Record", "find_format", "recognise"]

# How much of a file its format is told by; and how much where that is only a part of its first line.
_HEAD_BYTES = 64 * 1024
_MOST_HEAD_BYTES = 16 * 1024 * 1024


class _Formats(Mapping[str, Format]):
    """The formats by their names; the module of one is loaded when it is first asked for.

    It holds the format under the module's own name in capitals.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self._loaded: dict[str, Format | None] = dict.fromkeys(names)

    def __getitem__(self, name: str) -> Format:
        found = self._loaded[name]
        if found is None:
            module = name.replace("-", "_")
            found = self._loaded[name] = getattr(import_module(f"{__name__}.{module}"), module.upper())
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)

    def __contains__(self, name: object) -> bool:
        return name in self._loaded


# In the order in which they are tried: those that are told by little come last.
FORMATS: Mapping[str, Format] = _Formats(
    (
        "claude-code",
        "codex",
        "pi",
        "gemini",
        "opencode",
        "copilot",
        "droid",
        "openhands",
        "swe-agent",
        "modular-agent",
        "langchain",
        "chat-log",
        "chat",
        "aider",
    )
)


def recognise(head: bytes, name: str) -> Format | None:
    """Returns the format of a file.

    Args:
        head: Its beginning.
        name: Its name.

    Returns:
        The format; None if it is in none that is known.
    """
    return next((one for one in FORMATS.values() if one.recognise(head, name)), None)


def find_format(stream: BinaryIO, name: str) -> Format | None:
    """Returns the format of a file that is open for reading bytes, at its beginning; as `recognise` does.

    Its first 64 KiB tell. Where they tell nothing, and are a part of one long line of text (a prompt with an image,
    the tools of an agent, a line that is damaged), that line is read to its end, or to 16 MiB.
    """
    head = stream.read(_HEAD_BYTES)
    found = recognise(head, name)
    # Messages may be all of a document, or the first line of many.
    if (found is not None and found.name != "chat") or not _is_part_of_a_line(head):
        return found
    line, rest = head + stream.readline(_MOST_HEAD_BYTES), stream.read(_HEAD_BYTES)
    return recognise(line + rest, name) or found or (recognise(rest, name) if line.endswith(b"\n") else None)


def _is_part_of_a_line(head: bytes) -> bool:
    said = head.removeprefix(codecs.BOM_UTF8).lstrip(b" \t\r\n")
    return len(head) == _HEAD_BYTES and not {*b"\n\0"} & {*said}
