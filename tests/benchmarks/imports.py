"""The rows of the table that are about imports: their speed, their memory, what they leave on the disk."""

import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from gitsession import Store, import_transcripts, maintain
from tests.benchmarks.measuring import Row, Times, compared, in_turns
from tests.benchmarks.sizes import Sizes
from tests.benchmarks.transcripts import transcript

# Run in a process of its own, which prints how much its peak has grown by the work, in bytes, and what that returned.
_MEASURED = """
import re, sys
from pathlib import Path
from gitsession import Store, import_transcripts
peak = lambda: 1024 * int(re.search("VmHWM:[^0-9]*([0-9]+)", Path("/proc/self/status").read_text())[1])
store, file = Store.open(sys.argv[1], durable=False), Path(sys.argv[2])
before = peak()
done = {work}
print(peak() - before, done)
"""
_IMPORT = "next(iter(import_transcripts(store, [file]))).new_commits"
_EXPORT = "sum(map(len, store.original(file.stem)))"


def importing(path: Path, sizes: Sizes) -> Iterator[Row]:
    """Measures an import against `json.loads` of the lines."""
    file = transcript(path / "session.jsonl", sizes.records, sizes.record_bytes)

    def parse(_: int) -> None:
        with file.open("rb") as lines:
            assert sizes.records == len([json.loads(line) for line in lines])

    def take(number: int) -> None:
        store = Store.init(path / f"{number}.git", durable=False)
        (done,) = import_transcripts(store, [file])
        assert done.new_commits == sizes.records  # type: ignore[union-attr]  # a failure fails here

    took = in_turns({"import": take, "json": parse}, 5, clock=time.process_time)
    size = file.stat().st_size
    what = f"an import of {sizes.records:,} records, {size / 1e6:.1f} MB, against json.loads"
    row = compared(what, 8, took["import"], took["json"])
    yield row._replace(ours=_rate(took["import"], size), theirs=_rate(took["json"], size))


def import_memory(path: Path, sizes: Sizes) -> Iterator[Row]:
    """Measures the most memory that an import takes, that of a file that has grown, and an export of the original.

    Against the file, and against that of a quarter of the file: there is no more of it the larger a file is.
    """
    if sys.platform != "linux":
        return
    works = {"an import": _IMPORT, "an export of the original": _EXPORT, "an import of one more": _IMPORT}
    took: dict[int, dict[str, int]] = {}
    for records in (sizes.file_records // 4, sizes.file_records):
        file = transcript(path / f"session-{records}.jsonl", records, sizes.record_bytes)
        store = Store.init(path / f"{records}.git", durable=False)
        size = file.stat().st_size
        took[records] = {}
        for what, work in works.items():
            if what == "an import of one more":
                with file.open("a") as stream:
                    stream.write('{"type":"user","uuid":"new","message":{"role":"user","content":"Go on"}}\n')
            command = [sys.executable, "-c", _MEASURED.format(work=work), str(store.path), str(file)]
            done = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            took[records][what] = int(done[0])
    less, all_of_it = took.values()
    for what, peak in all_of_it.items():
        whole = f"peak memory of {what} of {sizes.file_records:,} records"
        yield Row(f"{whole}, against the file", peak / size, None, f"{peak:,} B", f"{size:,} B")
        yield Row(f"{whole}, against a quarter of them", peak / less[what], 1.2, f"{peak:,} B", f"{less[what]:,} B")


def many_sessions(path: Path, sizes: Sizes) -> Iterator[Row]:
    """Measures a first import of many small transcripts, and one that finds them unchanged."""
    files = path / "files"
    files.mkdir()
    made = [transcript(files / f"{seed}.jsonl", 10, 1000, seed=seed) for seed in range(sizes.transcripts)]
    store = Store.init(path / "s.git", durable=False)
    while time.time() - made[-1].stat().st_mtime < 3:
        time.sleep(0.1)  # until the file system's clock tells a later change from this one

    def take(_: int) -> None:
        assert len([*import_transcripts(store, [files])]) == sizes.transcripts

    def parse(_: int) -> None:
        for file in made:
            assert [json.loads(line) for line in file.read_bytes().splitlines()]

    first = in_turns({"import": take, "json": parse}, 1, clock=time.process_time)
    again = in_turns({"import": take, "json": parse}, 3, clock=time.process_time)
    what = f"of {sizes.transcripts:,} transcripts of 10 records"
    yield compared(f"an import {what}, against json.loads", None, first["import"], first["json"])
    yield compared(f"an import {what} that did not change", None, again["import"], again["json"])
    left = sum(len(names) for _, _, names in os.walk(store.path / "objects"))
    yield Row(f"files below objects/ after an import {what}", left / sizes.transcripts, None, f"{left:,}", "")


def space(path: Path, sizes: Sizes) -> Iterator[Row]:
    """Measures what a store of transcripts takes, against the same compressed."""
    store = Store.init(path / "s.git", durable=False)
    count = max(sizes.records // 250, 2)
    files = [
        transcript(path / f"{number}.jsonl", sizes.records * 2 // count, sizes.record_bytes, seed=number)
        for number in range(count)
    ]
    for _ in import_transcripts(store, files):
        pass
    compressed = sum(len(gzip.compress(file.read_bytes(), 6)) for file in files)

    def row(what: str) -> Row:
        packs = [entry for entry in os.scandir(store.path / "objects" / "pack") if not entry.name.endswith(".keep")]
        whole = sum(entry.stat().st_size for entry in packs)
        bare = sum(entry.stat().st_size for entry in packs if entry.name.endswith(".pack"))
        told = f"{whole:,} B, {bare:,} B of them without indexes"
        return Row(f"a store {what}, against gzip -6", whole / compressed, 1.75, told, f"{compressed:,} B")

    yield row("after an import")._replace(goal=None)
    maintain(store)
    yield row("after maintenance")
    subprocess.run(["git", "-C", str(store.path), "repack", "-adfq"], check=True)
    yield row("after git repack -adf")


def _rate(times: Times, size: int) -> str:
    return f"{times}, {size / 1e6 / times.median:.0f} MB/s"
