"""The benchmarks run, so that they are there when somebody wants to know; how fast anything is, is not tested."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.peers import PEERS

ROOT = Path(__file__).parent.parent.parent


def rows(*command: str) -> list[str]:
    """Runs a benchmark, and returns the lines of its table, without the header."""
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [line for line in done.stdout.splitlines() if line.startswith("| ")][1:]


@pytest.mark.slow
def test_every_benchmark_runs_small_and_each_peer_is_named(tmp_path: Path) -> None:
    found = rows("tests.benchmarks", "--here", "--small", "--memory", str(tmp_path), "--disk", str(tmp_path))
    peers = [name.removesuffix(" SqliteSaver") for name in PEERS if name != "gitsession"]
    assert [name for name in peers if not any(name in row for row in found)] == []
    parts = (
        "durable",
        "at delta",
        "replay",
        "stale",
        "cold load",
        "fork",
        "a graph",
        "a list",
        "an import",
        "gzip",
        "memory",
        "files",
    )
    assert [part for part in parts if not any(part in row for row in found)] == []


@pytest.mark.slow
def test_the_scale_run_measures_each_verb_small(tmp_path: Path) -> None:
    assert len(rows("tests.benchmarks.scale", "--small", "--at", str(tmp_path))) > 15


@pytest.mark.slow
def test_sync_is_measured_small() -> None:
    found = rows("tests.benchmarks.sync_scale", "3", "5")
    assert [row.split(" | ")[:2] for row in found] == [
        ["| 3", "path"],
        ["| 3", "http"],
        ["| 5", "path"],
        ["| 5", "http"],
    ]
