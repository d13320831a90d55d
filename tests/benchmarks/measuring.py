"""How things are timed: in turns, so that what slows the machine down slows all alike; and how the table is printed."""

import gc
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Times(NamedTuple):
    """What some calls took, in seconds."""

    all: Sequence[float]

    @property
    def median(self) -> float:
        """The median."""
        return statistics.median(self.all)

    def __str__(self) -> str:
        ordered = sorted(self.all)
        low, high = ordered[len(ordered) // 10], ordered[len(ordered) * 9 // 10]
        return f"{shown(self.median)} ({shown(low)} to {shown(high)})"


class Row(NamedTuple):
    """One line of the table: what was measured, a ratio, what it should be, and what the two sides took."""

    what: str
    ratio: float | None
    goal: float | None
    ours: str
    theirs: str

    def __str__(self) -> str:
        ratio = "-" if self.ratio is None else f"{self.ratio:.2f}" if self.ratio >= 0.1 else f"{self.ratio:.3f}"
        goal = "" if self.goal is None else f"≤ {self.goal:g}"
        met = "" if self.ratio is None or self.goal is None else "yes" if self.ratio <= self.goal else "no"
        return f"| {self.what} | {ratio} | {goal} | {met} | {self.ours} | {self.theirs} |"


HEADER = "| what | ratio | goal | met | gitsession | the other |\n|---|---|---|---|---|---|"


def compared(what: str, goal: float | None, ours: Times, theirs: Times) -> Row:
    """Returns the row of two sides that were timed."""
    return Row(what, ours.median / theirs.median, goal, str(ours), str(theirs))


def in_turns(
    calls: Mapping[str, Callable[[int], object]], rounds: int, *, clock: Callable[[], float]
) -> dict[str, Times]:
    """Makes each call in each round, in another order each time, and returns what they took."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    names = list(calls)
    for number in range(rounds):
        for name in names:
            gc.collect(0)
            begun = clock()
            calls[name](number)
            taken[name].append(clock() - begun)
        names.append(names.pop(0))
    return {name: Times(found) for name, found in taken.items()}


def timed(call: Callable[[], object]) -> float:
    """Returns how long a call takes, in seconds."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def processor_time(command: Sequence[str]) -> float:
    """Returns what a process takes of the processor, in seconds. It may leave its modules compiled for the next."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = _children()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, env=environment)
    return _children() - before


def _children() -> float:
    found = os.times()
    return found.children_user + found.children_system


def peak_memory() -> int:
    """Returns the most memory that this process has had, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # what `getrusage` says there includes the process that started this one
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) * 1024
    import resource  # noqa: PLC0415  # it is not everywhere

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def shown(seconds: float) -> str:
    """Returns a time for people."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} µs"


def machine() -> str:
    """Returns what was measured on."""
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return f"{os.cpu_count()} processors{load}, {system}, Python {sys.version.split()[0]}, {git}"


def file_system(path: Path) -> str:
    """Returns the kind of the file system that a directory is on."""
    try:
        mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    except OSError:
        return "unknown"
    real = str(path.resolve())
    under = [(len(place), kind) for place, kind in mounts if f"{real}/".startswith(f"{place.rstrip('/')}/")]
    return max(under)[1] if under else "unknown"
