"""Measures each verb on a large store: `python -m tests.benchmarks.scale`. Its table stands in FORMAT.md.

The store has 10,000 sessions of ten messages, and one of 100,000. Each command is run in a process of its own, as one
finds it; what a process remembers of a session is told apart.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from gitsession import Store, maintain, new_commit
from tests.benchmarks.building_stores import fill, messages
from tests.benchmarks.measuring import file_system, machine, shown, timed

if TYPE_CHECKING:
    from collections.abc import Callable

COMMANDS = (
    ("list",),
    ("list", "-n", "5"),
    ("show", "long"),
    ("log", "long", "-n", "10"),
    ("log", "long"),
    ("export", "long"),
    ("diff", "long", "session-1"),
    ("fork", "long", "branched"),
    ("append", "long", "--text", "Hello"),
    ("verify", "--fast"),
    ("verify",),
    ("maintain",),
)


def main() -> None:
    """Builds the store and prints the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.scale", description=__doc__)
    parser.add_argument("--small", action="store_true", help="small, to see that it runs")
    parser.add_argument("--at", type=Path, default=Path(tempfile.gettempdir()), help="where the store is made")
    options = parser.parse_args()
    sessions, deltas = (20, 200) if options.small else (10_000, 100_000)
    with tempfile.TemporaryDirectory(prefix="gitsession-scale-", dir=options.at) as directory:
        print(f"{machine()}, {file_system(Path(directory))}")
        measure(Path(directory) / "s.git", sessions, deltas)


def measure(path: Path, sessions: int, deltas: int) -> None:
    """Prints what each verb takes."""
    store = Store.init(path)
    sizes = {f"session-{number}": 10 for number in range(sessions)} | {"long": deltas}
    built = timed(lambda: fill(store, sizes, size=400))
    print(f"\n{sessions:,} sessions of 10 deltas and one of {deltas:,}, built in {shown(built)}\n")
    print("| what | time |\n|---|---|")
    row("the first maintenance", timed(lambda: maintain(store)))
    for arguments in COMMANDS:
        command = [sys.executable, "-m", "gitsession_cli", "--store", str(path), "--no-maintain", *arguments]
        row(f"`gitsession {' '.join(arguments)}`", timed(lambda run=command: quietly(run)))
    store = Store.open(path)
    session = store.bind("long")
    source = messages(9)
    head = ""

    def load() -> None:
        nonlocal head
        found = session.load()
        head = found.head or ""
        assert found.messages[-1]

    def commit() -> None:
        nonlocal head
        head = session.commit(new_commit(head, [next(source)])).head or ""

    verbs: dict[str, Callable[[], object]] = {
        "`load` of the long session, and each message parsed": lambda: [*store.bind("long").load().messages],
        "`load` of it, and the last message parsed": load,
        "`load` again in the same process": load,
        "the first `commit` to it in a process": commit,
        "the second `commit`": commit,
        "`load` after it": load,
        "`find` by the beginning of a name": lambda: store.find("lon"),
        "`info`": lambda: store.info("long"),
        "`info` of half of it": lambda: store.info("long", at=f"#{deltas // 2}"),
    }
    for what, verb in verbs.items():
        row(what, timed(verb))


def row(what: str, seconds: float) -> None:
    """Prints one line of the table."""
    print(f"| {what} | {shown(seconds)} |", flush=True)


def quietly(command: list[str]) -> None:
    """Runs a command, whose output nobody reads."""
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()
