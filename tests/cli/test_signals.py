"""Ctrl-C and SIGTERM, sent to real processes: what they end, what is told, and that neither is lost."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitsession import Store

from .conftest import COMMAND, Result
from .test_import import record

Process = Callable[..., Result]

SWALLOWED = """
import os, signal, time
from gitsession_cli import signals

class Thrown:
    def __del__(self):
        os.kill(os.getpid(), getattr(signal, "{name}"))
        sum(range(1000))

signals.take(signal.default_int_handler, print)
try:
    Thrown()
    time.sleep(10)
except KeyboardInterrupt as error:
    print(signals.ending(error))
"""


@pytest.mark.parametrize(("name", "told"), [("SIGINT", (130, "interrupted")), ("SIGTERM", (143, "terminated"))])
def test_a_signal_that_python_has_swallowed_comes_again(name: str, told: tuple[int, str]) -> None:
    command = [sys.executable, "-c", SWALLOWED.format(name=name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == (f"{told}\n", "")


def test_an_error_that_a_signal_has_become_is_told_as_the_signal(process: Process, tmp_path: Path) -> None:
    (tmp_path / "pygit2.py").write_text(
        "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\n    sum(range(1000))\n"
        "except KeyboardInterrupt:\n    raise ImportError('cannot be loaded') from None\n"
    )
    assert process("list", PYTHONPATH=str(tmp_path)) == Result(130, "", "gitsession: interrupted\n")


def test_sigterm_ends_a_command_in_order(process: Process, store_path: Path) -> None:
    command = [*COMMAND, "--store", str(store_path), "import", "-", "--name", "s.jsonl"]
    environment = {**os.environ, "TMPDIR": str(store_path.parent / "temporary")}
    (store_path.parent / "temporary").mkdir()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as child:
        while not [*store_path.parent.glob("temporary/*/s.jsonl")]:
            time.sleep(0.01)
        child.send_signal(signal.SIGTERM)
        out, err = child.communicate(timeout=60)
    assert (child.returncode, out, err) == (143, b"", b"gitsession: terminated\n")
    assert [*store_path.parent.glob("temporary/*")] == []


def test_nothing_is_loaded_before_ctrl_c_is_taken_care_of() -> None:
    code = "import sys; before = {*sys.modules}; import gitsession_cli.start; print(*sorted({*sys.modules} - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {*done.stdout.split()} <= {"gitsession_cli", "gitsession_cli.start"}


def test_ctrl_c_stays_ignored_where_it_was(process: Process, tmp_path: Path) -> None:
    (tmp_path / "pygit2.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nraise OSError(5, 'x')\n"
    )
    line = f"trap '' INT; {' '.join(COMMAND)} list"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(["sh", "-c", line], capture_output=True, env=environment, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "gitsession: x\n")


def long_transcript(path: Path, records: int) -> Path:
    with path.open("w") as file:
        for number in range(records):
            value = {**record(number, f"text {number}"), "timestamp": "2025-01-01T00:00:00.000Z"}
            file.write(json.dumps(value) + "\n")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_import_that_is_ended_stores_and_tells_what_it_has_read(
    process: Process, tmp_path: Path, store_path: Path, number: signal.Signals
) -> None:
    path = long_transcript(tmp_path / "s1.jsonl", 12_000)
    command = [*COMMAND, "--store", str(store_path), "import", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        while not [*store_path.glob("objects/pack/tmp_pack_*")]:
            time.sleep(0.01)
        time.sleep(0.3)
        child.send_signal(number)
        out, err = child.communicate(timeout=60)
    code, told = (130, "interrupted") if number == signal.SIGINT else (143, "terminated")
    assert (child.returncode, err) == (code, f"gitsession: {told}\n")
    stored = Store.open(store_path).info("s1").deltas
    assert 0 < stored < 12_000
    assert out == f"{stored:>7,}  {'s1':36}  {path}\n1 session, {stored:,} new commits\n"
    assert process("import", path).out.endswith(f"1 session, {12_000 - stored:,} new commits\n")
    other = Store.init(tmp_path / "other.git", durable=False)
    process("--store", other.path, "import", path)
    assert Store.open(store_path).info("s1").oid == other.info("s1").oid


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_watch_never_loses_the_signal_that_ends_it(tmp_path: Path, number: signal.Signals) -> None:
    long_transcript(tmp_path / "agent.jsonl", 3000)
    chance = random.Random(number)
    for round_ in range(8):
        command = [*COMMAND, "--store", str(tmp_path / f"{round_}.git"), "watch", str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            assert child.stderr is not None
            assert child.stderr.readline().startswith("Following ")
            time.sleep(chance.uniform(0, 1.2))
            begun = time.monotonic()
            child.send_signal(number)
            _, err = child.communicate(timeout=60)
        assert (child.returncode, err.splitlines()[-1][:7], "Traceback" in err) == (0, "Ended: ", False)
        assert time.monotonic() - begun < 10
