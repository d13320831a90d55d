"""The transcripts under `fixtures/`, and what tests ask of each."""

import io
from pathlib import Path

from gitsession.transcripts import Format, Record, recognise
from tests.importing import FIXTURES, TRANSCRIPTS, content_of

__all__ = ["FIXTURES", "TRANSCRIPTS", "content_of", "format_of", "header_of", "name_of", "read", "records_of"]


def name_of(path: Path) -> str:
    return str(path.relative_to(FIXTURES))


def format_of(path: Path) -> Format:
    found = recognise(path.read_bytes()[: 64 << 10], path.name)
    assert found is not None
    return found


def records_of(path: Path) -> list[Record]:
    return read(format_of(path), content_of(path))


def read(one: Format, content: bytes) -> list[Record]:
    return list(one.read(io.BytesIO(content)))


def header_of(one: Format, path: Path, records: list[Record]) -> dict[str, object]:
    header = one.header(path, records[0])
    for record in records:
        header = one.learn(header, record)
    return dict(header)
