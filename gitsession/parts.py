"""The parts of a message, and how to look into JSON whose shape nobody knows. Nothing here raises on a JSON value."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gitsession import json_text

PartKind = Literal["text", "reasoning", "tool_call", "tool_result", "image", "other"]

# Deeper values are not shown: whether Python can encode them depends on the depth of the caller's stack, and the text
# of a commit must depend on the message alone.
MAX_DEPTH = 100
TOO_DEEP = "[nested too deeply to be shown]"

_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a message.

    Attributes:
        kind: What it is.
        text: What it says: prose, a call's arguments as compact JSON, a result's text, an image's media type and size.
        name: The tool's name, of a call or a result, where it is known.
        id: The id that ties a call to its result, where there is one.
        error: A result that reports a failure.
    """

    kind: PartKind
    text: str
    name: str = ""
    id: str = ""
    error: bool = False


Parts = tuple[Part, ...]


def readable_part(part: Part) -> str:
    """Returns a part as plain text: prose as it is, `name(arguments)`, `[reasoning] …`, `[error] …`, `[image/png]`."""
    match part.kind:
        case "tool_call":
            return f"{part.name}({part.text})"
        case "reasoning":
            return f"[reasoning] {part.text}".rstrip(" ")
        case "image":
            return f"[{part.text or 'image'}]"
        case "tool_result" if part.error:
            return f"[error] {part.text}".rstrip(" ")
        case _:
            return part.text


def compact(value: Any) -> str:
    """Returns a JSON value as text without blanks; a fixed text for one that nests too deeply."""
    try:
        text = _encoder.encode(value)
    except (TypeError, ValueError, RecursionError):
        return TOO_DEEP
    # Few brackets cannot nest deeply; only then is it worth a walk.
    if text.count("{") + text.count("[") > MAX_DEPTH and json_text.depth(value) > MAX_DEPTH:
        return TOO_DEEP
    return text


def first(source: Mapping[str, Any], *keys: str) -> Any:
    """Returns the value of the first of these keys that holds something; None if none does."""
    for key in keys:
        value = source.get(key)
        if value is not None and value not in ("", []):
            return value
    return None


def first_string(source: Mapping[str, Any], *keys: str) -> str:
    """Returns the first string that one of these keys holds and that is not empty; "" if none does."""
    for key in keys:
        value = source.get(key)
        if value and isinstance(value, str):
            return value
    return ""
