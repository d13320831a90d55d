"""Measures gitsession side by side with what people would use instead: `python -m tests.benchmarks`.

The peers are installed into an environment of the benchmarks' own, `build/benchmarks`, which is made once. With
`--here` nothing is installed: those peers are measured that this Python has. `--small` takes seconds, and says nothing
about speed: it tells that every benchmark still runs.
"""

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
REQUIREMENTS = Path(__file__).parent / "requirements.txt"


def main() -> None:
    """Makes the environment, and measures in it."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--small", action="store_true", help="few rounds and small sessions: for a build machine")
    parser.add_argument("--here", action="store_true", help="install nothing; measure with the peers that are here")
    parser.add_argument("--memory", type=Path, default=Path("/dev/shm"), help="a directory on a tmpfs")
    parser.add_argument("--disk", type=Path, default=ROOT / "build", help="a directory on a disk")
    parser.add_argument("--only", metavar="WORD", default="", help="measure what has this word in its name")
    options = parser.parse_args()
    if options.here:
        from tests.benchmarks.rows import run  # noqa: PLC0415  # it needs the environment

        run(small=options.small, memory=options.memory, disk=options.disk, only=options.only)
        return
    done = subprocess.run(
        [str(environment()), "-m", "tests.benchmarks", "--here", *sys.argv[1:]], cwd=ROOT, check=False
    )
    sys.exit(done.returncode)


def environment() -> Path:
    """Returns the Python of the benchmarks' environment, which is made if need be."""
    directory = ROOT / "build" / "benchmarks"
    python = directory / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = directory / "requirements.txt"
    wanted = REQUIREMENTS.read_text()
    if not stamp.exists() or stamp.read_text() != wanted:
        venv.create(directory, with_pip=True)
        install = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*install, "-e", str(ROOT)], check=True)
        # One by one: a peer that cannot be had is told as missing, and holds up no other.
        for peer in (line for line in wanted.splitlines() if line and not line.startswith("#")):
            subprocess.run([*install, peer], check=False)
        stamp.write_text(wanted)
    return python


if __name__ == "__main__":
    main()
