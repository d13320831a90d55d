"""A message as a person sees it: who speaks, and the parts of what is said, whatever shape the provider gives it."""

from dataclasses import dataclass
from typing import Literal

Who = Literal["user", "assistant", "system", "tool", "meta"]
PartKind = Literal["text", "reasoning", "tool_call", "tool_result", "image", "other"]


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


@dataclass(frozen=True, slots=True)
class View:
    """A message for reading.

    Attributes:
        who: Who speaks. A tool's result is `tool`, whatever role the provider gives it; `meta` is what is no part of
            the conversation.
        parts: What is said, in order.
        model: The model that spoke, where it is known.
    """

    who: Who
    parts: tuple[Part, ...] = ()
    model: str | None = None
