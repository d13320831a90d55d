"""`gitsession formats`."""

from collections.abc import Mapping, Sequence
from typing import Any

from gitsession import FORMATS, Format

from .. import options
from ..output import table, write, write_json
from ..places import Place, places
from ..text import one_line


@options.command("formats", examples=("gitsession formats", "gitsession formats --json"))
def command(settings: options.Settings) -> None:
    """List the transcript formats, and where each agent keeps its files.

    The places are those of this machine; `gitsession import` without a path looks there. One that is there is marked
    with a `*`; in a name it stands for whatever is there. With --json each format is an object: name, title, places
    (each with path, exists, declared).
    """
    found: dict[str, list[Place]] = {}
    for place in places():
        found.setdefault(place.format.name, []).append(place)
    if settings.json:
        write_json(_json(format_, found) for format_ in FORMATS.values())
    else:
        write(table(("FORMAT", "AGENT", "", "FILES"), _rows(found)), paged=True)


def _json(format_: Format, found: Mapping[str, Sequence[Place]]) -> dict[str, Any]:
    own = [
        {"path": str(place.path), "exists": place.exists, "declared": place.declared}
        for place in found.get(format_.name, [])
    ]
    return {"name": format_.name, "title": format_.title, "places": own}


def _rows(found: Mapping[str, Sequence[Place]]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for format_ in FORMATS.values():
        own = found.get(format_.name)
        if not own:
            rows.append((format_.name, format_.title, "", "wherever you put them"))
        for number, place in enumerate(own or []):
            names = ("", "") if number else (format_.name, format_.title)
            rows.append((*names, "*" if place.exists else "", one_line(str(place.path))))
    return rows
