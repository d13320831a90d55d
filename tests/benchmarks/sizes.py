"""How much the benchmarks measure."""

from typing import NamedTuple


class Sizes(NamedTuple):
    """How much is measured: rounds of the commits, deltas of the long session, and so on."""

    rounds: int
    long: int
    load: int
    sessions: int
    records: int
    record_bytes: int
    file_records: int
    transcripts: int
    starts: int


LARGE = Sizes(
    rounds=300,
    long=100_000,
    load=10_000,
    sessions=10_000,
    records=5000,
    record_bytes=4000,
    file_records=125_000,
    transcripts=10_000,
    starts=20,
)
SMALL = Sizes(
    rounds=12,
    long=120,
    load=110,
    sessions=12,
    records=40,
    record_bytes=300,
    file_records=200,
    transcripts=20,
    starts=2,
)
