"""A conversation as a Markdown document."""

import re
from collections.abc import Iterable, Iterator

from gitsession import Message, Part, SessionInfo, view

from .conversation import arguments
from .text import harmless, one_line

_FENCE = re.compile("`{3,}")


def markdown(info: SessionInfo, messages: Iterable[Message]) -> Iterator[str]:
    """Yields the lines of a document: a title, the facts of the session, then a section for each who speaks."""
    yield f"# {one_line(info.title or info.id)}"
    yield ""
    facts = {"Session": info.id, "Agent": info.agent, "Begun": info.created_at, "Parent": info.parent_session}
    for name, fact in facts.items():
        if fact:
            yield f"- {name}: {one_line(fact)}"
    for message in messages:
        spoken = view(message)
        model = f" ({one_line(spoken.model)})" if spoken.model else ""
        yield ""
        yield f"## {spoken.who.capitalize()}{model}"
        for part in spoken.parts:
            yield ""
            yield from _part(arguments(part))


def _part(part: Part) -> Iterator[str]:
    text = harmless(part.text).strip("\n")
    match part.kind:
        case "text":
            yield text
        case "reasoning":
            yield from (f"> {line}".rstrip() for line in text.split("\n"))
        case "tool_call":
            yield f"Calls **{one_line(part.name)}**:"
            yield ""
            yield from _fenced(text)
        case "tool_result":
            name = f" of **{one_line(part.name)}**" if part.name else ""
            yield f"{'Failure' if part.error else 'Result'}{name}:"
            yield ""
            yield from _fenced(text)
        case kind:
            yield f"*{kind}*: {one_line(text)}"


def _fenced(text: str) -> Iterator[str]:
    """Yields a code block whose fence is longer than any that the text holds."""
    fence = "`" * max([3, *(len(found) + 1 for found in _FENCE.findall(text))])
    yield fence
    yield text
    yield fence
