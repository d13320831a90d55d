"""A conversation for reading: who speaks when, with long output folded."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace

from gitsession import Message, Part, SessionInfo, view

from .output import COLOURS, local_time, style
from .text import clip, count, harmless, one_line, size

# What is shown of a part before it is folded: so many lines, and so many columns of each line.
FOLDED_LINES = 10
FOLDED_COLUMNS = 400
# Prose is what people came to read, so it is folded only where somebody pasted a file.
PROSE_LINES = 100
PROSE_COLUMNS = 10_000
INDENT = "  "


def title_lines(info: SessionInfo) -> Iterator[str]:
    """Yields what there is to say of a session above its conversation."""
    yield style(one_line(info.title or info.id), bold=True)
    facts = [info.id if info.title else "", info.agent or "", count(info.deltas, "delta")]
    if info.parent_session:
        facts.append(f"from {info.parent_session}")
    if last := local_time(info.updated_at):
        facts.append(f"last activity {last}")
    yield style(one_line(", ".join(filter(None, facts))), dim=True)


def message_lines(message: Message, *, full: bool) -> Iterator[str]:
    """Yields the lines of a message: a heading that says who speaks, and what is said, set in.

    Args:
        message: As `normalized` gives it.
        full: Whether nothing is folded.
    """
    spoken = view(message)
    who = style(spoken.who, fg=COLOURS.get(spoken.who), bold=True)
    tools = dict.fromkeys(part.name for part in spoken.parts if part.kind == "tool_result")
    facts = [one_line(spoken.model or ""), *map(one_line, tools), local_time(message["timestamp"] or "")]
    yield ""
    yield "  ".join([who, *(style(fact, dim=True) for fact in facts if fact)])
    for part in spoken.parts:
        yield from _part_lines(arguments(part), full=full)


def arguments(part: Part) -> Part:
    """Returns a call for reading: a text that stands alone under `input`, such as a patch, as it is."""
    if part.kind != "tool_call" or not part.text.startswith('{"input":'):
        return part
    try:
        value = json.loads(part.text)
    except (ValueError, RecursionError):
        return part
    said = value["input"]
    return replace(part, text=said) if len(value) == 1 and isinstance(said, str) else part


def _part_lines(part: Part, *, full: bool) -> Iterator[str]:
    """Yields a part as lines that tell what kind it is, also without colour."""
    body = _folded(part, full=full)
    match part.kind:
        case "text":
            yield from ((INDENT + line).rstrip() for line in body)
        case "tool_call":
            yield from _led(f"{INDENT}> {style(one_line(part.name), fg='yellow')} ", f"{INDENT}> ", body)
        case "tool_result":
            mark = style("! ", fg="red") if part.error else "| "
            if part.error:
                yield f"{INDENT}{mark}{style('failed', fg='red')}"
            yield from (f"{INDENT}{mark}{line}" for line in body)
        case kind:
            label = style(f"({kind}) ", dim=True)
            yield from _led(INDENT + label, INDENT, (style(line, dim=True) for line in body))


def _led(first: str, other: str, lines: Iterable[str]) -> Iterator[str]:
    """Yields the lines, the first one after another beginning than the rest."""
    for place, line in enumerate(lines):
        yield (other if place else first) + line


def _folded(part: Part, *, full: bool) -> list[str]:
    """Returns the lines of a part that are shown, the last one telling how much is not."""
    lines = harmless(part.text).strip("\n").split("\n")
    if full:
        return lines
    prose = part.kind == "text"
    most, room = (PROSE_LINES, PROSE_COLUMNS) if prose else (FOLDED_LINES, FOLDED_COLUMNS)
    # One line more is as long as the note that would stand for it.
    shown = lines if len(lines) <= most + 1 else lines[:most]
    cut = [clip(line, room) for line in shown]
    if cut == lines:
        return lines
    hidden = len(lines) - len(shown)
    what = count(hidden, "more line") if hidden else "long lines cut"
    return [
        *cut,
        style(f"... {what}, {size(len(part.text.encode('utf-8', 'replace')))} in all; --full shows it", dim=True),
    ]
