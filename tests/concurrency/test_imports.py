"""Imports beside other processes: of the same file, beside `git gc`, and killed in the middle. Real processes only."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gitsession import MessageEntry
from tests.importing import FIXTURES, assert_flawless, new_store, original, take, talk, tips

IMPORT = """
import sys
from pathlib import Path
from gitsession import ImportFailure, Store, import_transcripts
import gitsession.import_run
gitsession.import_run._BATCH_OBJECTS = int(sys.argv[1])
store = Store.open(sys.argv[2], durable=False)
print("ready", flush=True)
sys.stdin.readline()
for result in import_transcripts(store, [Path(one) for one in sys.argv[3:]]):
    if isinstance(result, ImportFailure):
        raise result.error
"""


def importer(store: Path, *paths: Path, batch: int = 50_000) -> subprocess.Popen[bytes]:
    """Starts a process that imports when `go` tells it to."""
    return subprocess.Popen(
        [sys.executable, "-c", IMPORT, str(batch), store, *paths],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def go(*processes: subprocess.Popen[bytes]) -> None:
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n", process.communicate()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()


def finish(process: subprocess.Popen[bytes]) -> None:
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, b"")


@pytest.mark.slow
def test_two_processes_that_import_the_same_files_do_no_harm(tmp_path: Path) -> None:
    long = tmp_path / "long.jsonl"
    files = [long, FIXTURES / "claude-code" / "rewind.jsonl", FIXTURES / "claude-code" / "tools.jsonl"]
    alone = new_store(tmp_path / "alone.git")
    lines = talk(300)
    for step in range(2):
        store = new_store(tmp_path / f"{step}.git")
        for length in (100, 300):
            long.write_bytes(b"".join(lines[:length]))
            # One stores many times while it reads, the other once.
            two = [importer(store.path, *files, batch=batch) for batch in (200, 50_000)]
            go(*two)
            for process in two:
                finish(process)
        take(alone, *files)

        assert tips(alone) == tips(store)
        assert_flawless(store)


def test_an_import_beside_one_who_appends_loses_neither(tmp_path: Path) -> None:
    store = new_store(tmp_path / "store.git")
    path = tmp_path / "abc.jsonl"
    path.write_bytes(b"".join(talk(2)))
    take(store, path)
    path.write_bytes(b"".join(talk(400)))
    process = importer(store.path, path, batch=100)
    go(process)

    for number in range(30):
        store.append(
            "abc", MessageEntry({"role": "user", "content": "x"}, f"mine{number}", None, "2026-01-01T00:00:00Z")
        )
    finish(process)

    (result,) = take(store, path)
    assert path.read_bytes() == original(store, result.session)
    assert sum(entry.id.startswith("mine") for entry in store.load("abc")) == 30
    assert_flawless(store)


@pytest.mark.parametrize("after", [0.02, 0.1, 0.3])
def test_a_killed_import_is_made_whole_by_the_next(tmp_path: Path, after: float) -> None:
    alone, store = new_store(tmp_path / "alone.git"), new_store(tmp_path / "store.git")
    path = tmp_path / "abc.jsonl"
    path.write_bytes(b"".join(talk(800)))
    take(alone, path)
    process = importer(store.path, path, batch=600)
    go(process)
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.communicate()

    take(store, path)

    assert tips(alone) == tips(store)
    assert path.read_bytes() == original(store, "abc")
    assert_flawless(store)


def test_an_import_beside_a_collection_that_prunes_everything_loses_nothing(tmp_path: Path) -> None:
    store = new_store(tmp_path / "store.git")
    path = tmp_path / "abc.jsonl"
    lines = talk(600)
    script = 'while [ ! -e "$0/stop" ]; do git -C "$0" gc --quiet --prune=now 2>/dev/null; sleep 0.1; done'
    collector = subprocess.Popen(["sh", "-c", script, store.path])
    try:
        for length in (20, 300, 310, 600):
            path.write_bytes(b"".join(lines[:length]))
            process = importer(store.path, path, batch=400)
            go(process)
            finish(process)
    finally:
        (store.path / "stop").touch()
        collector.wait()
    (store.path / "stop").unlink()

    assert b"".join(lines) == original(store, "abc")
    assert list(tips(store)) == ["abc"]
    assert_flawless(store)
