"""Measures each verb on a large store: `python -m tests.benchmarks.scale`. Its table stands in FORMAT.md.

The store has 10,000 sessions of ten messages, and one of 100,000. Each command is run in a process of its own, as one
finds it, beside git's own command that comes nearest; what a process remembers of a session is told apart.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from gitsession import Store, new_commit
from tests.benchmarks.building_stores import fill, messages
from tests.benchmarks.measuring import file_system, machine, processor_time, shown, timed

# The command, what is shown of it, and git's own that comes nearest.
Command = tuple[tuple[str, ...], str, tuple[str, ...] | None]


def commands(deltas: int, oid: str) -> Sequence[Command]:
    """Returns what is measured, in this order; `oid` is the commit in the middle of the long session."""
    middle = deltas // 2
    far = ("show", "long", "-n", "1", "--at")
    return (
        (("maintain",), "`maintain`, the first time", None),
        (("maintain",), "`maintain` again", None),
        (("list",), "`list`, the first time", ("for-each-ref",)),
        (("list",), "`list` again", None),
        (("log", "long", "-n", "10"), "`log -n 10` of the long session", ("log", "-n", "10", "long")),
        (("log", "long"), "`log` of it", ("log", "long")),
        (("show", "long", "-n", "10"), "`show -n 10` of it", None),
        (("show", "long"), "`show` of it, the first time", ("log", "-p", "long")),
        (("show", "long"), "`show` of it again", None),
        (("export", "long"), "`export` of it", None),
        (("diff", "long", "session-1"), "`diff` of it and another one", None),
        ((*far, f"#{middle}"), "`show --at '#…'`, half way back, the first time", None),
        ((*far, f"#{middle}"), "`show --at '#…'` again", None),
        ((*far, "~3"), "`show --at '~3'`", None),
        ((*far, oid), "`show --at` a git id, half way back", None),
        ((*far, f"c{middle}"), "`show --at` a commit id, half way back", None),
        (("fork", "long", "branched"), "`fork` of it", ("branch", "made-with-git", "long")),
        (("append", "long", "--text", "Hello"), "`append` to it", None),
        (("verify", "--fast"), "`verify --fast`", None),
        (("verify",), "`verify`", ("fsck", "--full")),
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
    print("Times of the processor: how long the disk is waited for, or others are, is not in them.\n")
    print("| what | gitsession | git's own |\n|---|---|---|")
    oid = subprocess.check_output(["git", "-C", path, "rev-parse", f"long~{deltas // 2}"], text=True).strip()
    for arguments, what, of_git in commands(deltas, oid):
        command = [sys.executable, "-m", "gitsession_cli", "--store", str(path), "--no-maintain", *arguments]
        command_row(what, command, of_git and ["git", "-C", str(path), *of_git])
    in_process(path, deltas)


def in_process(path: Path, deltas: int) -> None:
    """Prints what the library's verbs take in a process that goes on."""
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
        row(what, verb)


def row(what: str, work: Callable[[], object]) -> None:
    """Prints the line of what is done in this process."""
    before = time.process_time()
    work()
    print(f"| {what} | {shown(time.process_time() - before)} | |", flush=True)


def command_row(what: str, command: Sequence[str], of_git: Sequence[str] | None) -> None:
    """Prints the line of a command, and of git's own beside it."""
    ours = processor_time(command)
    print(f"| {what} | {told(ours)} | {'' if of_git is None else told(processor_time(of_git))} |", flush=True)


def told(seconds: float) -> str:
    """Returns what a process took of the processor, which the system counts in steps of 10 ms."""
    return shown(seconds) if seconds > 0.01 else "≤ 10 ms"


if __name__ == "__main__":
    main()
