"""One line of a log that cannot be read, or is gone, hides no more than what it says itself."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from transcript_files import TRANSCRIPTS, format_of, name_of, read, records_of

from gitsession.model import CompactionEntry, MessageEntry
from gitsession.record_ids import RecordIds
from gitsession.transcripts import Format, Record

_COUNTED = "a rollback says how many turns it takes back, and one of them is gone; what it took back more has a branch"
_CIRCLE = "what follows it goes on from the entry before it, which stands in a circle that follows nothing"

# Lines of records that others cannot do without, and why.
MORE_THAN_ITSELF = {
    "claude-code/oddities.jsonl": {3: _CIRCLE},
    "codex/rollback.jsonl": {15: _COUNTED, 23: _COUNTED, 32: _COUNTED},
    "pi/oddities.jsonl": {48: _CIRCLE},
}
# What is put before a command, and before the bytes of an image.
_BEFORE = re.compile(r"^(! |data:[a-z/]+;base64,)")
# What stands for a file in a message, and for a summary that cannot be read, in words of its own.
_IN_WORDS_OF_ITS_OWN = {"[notes.pdf, application/pdf, 9 bytes]", "[a summary that its provider has encrypted]"}


def _logs() -> Iterator[Path]:
    for path in TRANSCRIPTS:
        if path.suffix == ".jsonl" and format_of(path).growth(read(format_of(path), path.read_bytes())[0]) == "log":
            yield path


LOGS = list(_logs())


def _strings(value: Any) -> Iterator[str]:
    """Yields all texts in a value, line by line; also of the JSON in a text."""
    if isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)
    elif isinstance(value, str) and value.startswith(("{", "[")):
        try:
            yield from _strings(json.loads(value))
        except ValueError:
            yield from value.split("\n")
    elif isinstance(value, str):
        yield from filter(None, (_BEFORE.sub("", line).strip() for line in value.split("\n")))


def _shown(one: Format, log: list[Record]) -> set[str]:
    """Returns what is to be read in the conversation of a log, line by line, and the calls in it."""
    found: set[str] = set()
    for entry in one.fold([record for record in log if not record.unfinished]):
        if isinstance(entry, CompactionEntry):
            found |= {*_strings(entry.summary)} - _IN_WORDS_OF_ITS_OWN
        elif isinstance(entry, MessageEntry):
            said = [entry.message.get("content"), entry.message.get("reasoning")]
            calls = [call.get("function", call) for call in entry.message.get("tool_calls", ())]
            found |= {*_strings([*said, *calls])} - {"text", "image_url"} - _IN_WORDS_OF_ITS_OWN
    return found


def _shown_with_left_lines(one: Format, log: list[Record]) -> set[str]:
    """Returns what is to be read in the conversation of a log, or on a branch of a line that was left."""
    numbers = RecordIds()
    log = [record._replace(id=numbers.take(place, record)) for place, record in enumerate(log)]
    places = {record.id: place for place, record in enumerate(log)}
    ends = [places[line.last] for line in one.abandoned(log)]
    return _shown(one, log).union(*(_shown(one, log[: end + 1]) for end in ends))


@pytest.mark.parametrize("path", LOGS, ids=map(name_of, LOGS))
@pytest.mark.parametrize("how", ["cut", "gone"])
def test_no_line_hides_more_than_itself(path: Path, how: str) -> None:
    one, log = format_of(path), records_of(path)
    whole = _shown_with_left_lines(one, log)
    excused = MORE_THAN_ITSELF.get(name_of(path), {})
    hidden = {}
    for place, record in enumerate(log):
        if not isinstance(record.value, dict) or record.line in excused:
            continue
        damaged = [record._replace(raw=record.raw[: len(record.raw) // 3] + b"\\")] if how == "cut" else []
        rest = read(one, b"".join(one.write([*log[:place], *damaged, *log[place + 1 :]])))
        own = "\n".join([*_strings(record.value), record.raw.decode("utf-8", "replace")])
        if lost := {text for text in whole - _shown_with_left_lines(one, rest) if text not in own}:
            hidden[record.line] = lost
    assert hidden == {}
