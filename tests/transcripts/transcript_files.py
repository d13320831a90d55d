"""The transcripts under `fixtures/`, and what tests ask of each."""

import io
from pathlib import Path

from gitsession.transcripts import FORMATS, Format, Record, recognise

FIXTURES = Path(__file__).parents[2] / "fixtures"
TRANSCRIPTS = sorted(
    path for name in FORMATS for path in (FIXTURES / name).rglob("*.json*") if not path.name.endswith(".meta.json")
)


def name_of(path: Path) -> str:
    return str(path.relative_to(FIXTURES))


def format_of(path: Path) -> Format:
    found = recognise(path.read_bytes()[: 64 << 10], path.name)
    assert found is not None
    return found


def records_of(path: Path) -> list[Record]:
    return read(format_of(path), path.read_bytes())


def read(one: Format, content: bytes) -> list[Record]:
    return list(one.read(io.BytesIO(content)))


def header_of(one: Format, path: Path, records: list[Record]) -> dict[str, object]:
    header = one.header(path, records[0])
    for record in records:
        header = one.learn(header, record)
    return dict(header)
