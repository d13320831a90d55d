"""The transcripts under `fixtures/`, and what tests ask of each."""

import io
from functools import lru_cache
from pathlib import Path

from gitsession.files import listing, whole
from gitsession.transcripts import FORMATS, Format, Record, recognise

FIXTURES = Path(__file__).parents[2] / "fixtures"
# The files beside a transcript that are none themselves: they belong to it, or say something about it.
COMPANIONS = ("message", "part", "todo", "events")
TRANSCRIPTS = sorted(
    path
    for name in FORMATS
    for path in (FIXTURES / name).rglob("*")
    if path.is_file() and not path.name.endswith(".meta.json") and not {*COMPANIONS} & {*path.parts}
)


def name_of(path: Path) -> str:
    return str(path.relative_to(FIXTURES))


def format_of(path: Path) -> Format:
    found = _recognised(path.read_bytes()[: 64 << 10], path.name)
    assert found is not None
    return found


@lru_cache(maxsize=1000)
def _recognised(beginning: bytes, name: str) -> Format | None:
    """Recognises the same file but once, since hundreds of tests ask for it."""
    return recognise(beginning, name)


def content_of(path: Path) -> bytes:
    """Returns the bytes of a transcript: of the file, or of the files that it consists of as one."""
    bundled = format_of(path).bundle(path, listing)
    return whole(bundled, io.BytesIO(path.read_bytes())).read()


def records_of(path: Path) -> list[Record]:
    return read(format_of(path), content_of(path))


def read(one: Format, content: bytes) -> list[Record]:
    return list(one.read(io.BytesIO(content)))


def header_of(one: Format, path: Path, records: list[Record]) -> dict[str, object]:
    header = one.header(path, records[0])
    for record in records:
        header = one.learn(header, record)
    return dict(header)
