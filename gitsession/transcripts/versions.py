"""Records that replace each other: how a transcript that is rewritten in its places is kept as a log.

Some agents write a transcript anew whenever it grows: one JSON document, or a directory of small files. Its records
have ids, and a record that changed is stored once more, under `<id>.v2`, `<id>.v3` …; the first version stays where it
is. So nothing in the log is rewritten, and what the transcript is now are the last versions, each in the place of its
first. A transcript goes on as long as all that the log holds is still in it.
"""

import re
from array import array
from collections.abc import Iterable
from typing import Protocol

from gitsession.numbering import Numbering
from gitsession.transcripts.base import Record

_VERSION = re.compile(r"(?s)(.+)\.v([1-9][0-9]{0,8})")


class Known(Protocol):
    """Ids of records."""

    def __contains__(self, key: str, /) -> bool: ...


def key_of(commit_id: str, known: Known) -> str:
    """Returns the id of the record that a commit holds a version of.

    Args:
        commit_id: The id of the commit.
        known: The ids of the records before it.
    """
    match = _VERSION.fullmatch(commit_id)
    return match[1] if match is not None and match[1] in known else commit_id


def version_id(key: str, number: int) -> str:
    """Returns the commit id of a record's version, counted from 1."""
    return key if number == 1 else f"{key}.v{number}"


def own_id(name: str | None) -> str | None:
    """Returns an id that a record carries itself; None for one that would pass for that of a version."""
    return None if not name or _VERSION.fullmatch(name) else name


def latest(records: Iterable[Record]) -> list[Record]:
    """Returns the records of a log as they are now: the last version of each, in the place of its first.

    Records that come from a file, not from a store, are as they are. The id of each is that of its last version.
    """
    found = list(records)
    return [found[place] for place in latest_places(found)]


def latest_places(records: Iterable[Record]) -> "array[int]":
    """Returns the places of the records that `latest` returns; keeps nothing else of them."""
    keys = Numbering()
    places = array("Q")
    for place, record in enumerate(records):
        key = f"\0{place}" if record.line or record.id is None else key_of(record.id, keys)
        number = keys.add(key)
        if number == len(places):
            places.append(place)
        places[number] = place
    return places
