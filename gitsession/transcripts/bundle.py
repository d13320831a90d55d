"""A transcript of many files as one: a line `{"path": …, "text": …}` for each, in the order of their paths.

This is what is imported and stored, and what an export gives back; each file comes back from it byte for byte. Bytes
that are no UTF-8 are surrogate escapes. The record of a file has its path as its id, with `:` for `/`: what
stands behind a `/` in an entry's id is a number.
"""

import itertools
import json
from collections.abc import Iterable, Iterator
from typing import Any

from gitsession import json_text
from gitsession.transcripts import records
from gitsession.transcripts.base import Log, Record
from gitsession.transcripts.cut_json import is_cut
from gitsession.transcripts.fields import text
from gitsession.transcripts.records import Describe
from gitsession.transcripts.versions import latest_places, own_id


def line_of(path: str, content: bytes) -> bytes:
    """Returns the line of one file, with its end.

    Args:
        path: Its path below the directory that holds them all, with `/` between its parts.
        content: What it holds.
    """
    path_text = json_text.encode(path, "the path")
    return b'{"path":%b,"text":%b}\n' % (path_text, json_text.encode(content.decode("utf-8", "surrogateescape")))


def is_file(value: Any) -> bool:
    """Tells whether a value is a file of a bundle."""
    return isinstance(value, dict) and bool(text(value, "path")) and isinstance(value.get("text"), str)


def content(value: Any) -> dict[str, Any]:
    """Returns the JSON object that a file of a bundle holds; an empty one where it holds anything else."""
    try:
        found = json_text.decode(text(value, "text"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def fault(value: dict[str, Any]) -> tuple[int, str] | None:
    """Returns what is wrong with a file of a bundle that is to hold JSON, and in which of its lines; None if nothing.

    Args:
        value: The file.
    """
    held = text(value, "text").encode("utf-8", "surrogateescape")
    if not held.strip():
        return 1, "it is empty"
    try:
        json_text.decode_new(held.decode())
    except ValueError as error:
        before = held[: error.start] if isinstance(error, UnicodeDecodeError) else b""
        if isinstance(error, json.JSONDecodeError):
            before = error.doc[: error.pos].encode()
        return 1 + before.count(b"\n"), records.fault(error)
    return None


def checked(found: Iterable[Record]) -> Iterator[Record]:
    """Yields records, those of files that are to hold JSON and do not with what is wrong with them.

    A file whose JSON is cut is still being written.
    """
    for record in found:
        wrong = fault(record.value) if is_file(record.value) and record.value["path"].endswith(".json") else None
        if wrong is None:
            yield record
        else:
            cut = is_cut(text(record.value, "text").encode("utf-8", "surrogateescape"))
            yield record._replace(problem=wrong[1], unfinished=cut)


def describe(value: dict[str, Any], inner: Describe) -> tuple[str | None, str | None]:
    """Returns the path of a file, with `:` for `/`, as its id, and the time that its content tells."""
    return own_id(text(value, "path").replace("/", ":")), inner(content(value))[1]


def order(path: str) -> str:
    """Returns what the files of a bundle are sorted by, but for the first, which names the transcript.

    Those of a directory stand together: what parts the names in a path comes before all that stands in one.
    """
    return path.replace("/", "\0")


def is_bundle(log: Log) -> bool:
    """Tells whether a log is that of a bundle."""
    return any(is_file(first.value) for first in itertools.islice(log, 1))


def write(log: Log, head: str = "") -> Iterator[bytes]:
    """Yields the lines of a bundle: those of a file as they are, those of a store in the order of their paths.

    Args:
        log: The files.
        head: The file that stands before all others, where it came to them later.
    """
    if log[0].line:
        return records.join(log)
    keys: list[str] = []  # by the places of records; "" for what is no file

    def noted() -> Iterator[Record]:
        for record in log:
            keys.append(order(text(record.value, "path")) if is_file(record.value) else "")
            yield record

    first, *others = latest_places(noted())
    heads = [place for place in others if keys[place] == head]
    if heads:
        others = [first, *(place for place in others if place != heads[0])]
        first = heads[0]
    # What is no file stays behind the one that it followed.
    for before, place in itertools.pairwise(others):
        keys[place] = keys[place] or keys[before]
    return records.join(map(log.__getitem__, [first, *sorted(others, key=keys.__getitem__)]))
