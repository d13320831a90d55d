"""How sync costs grow with the number of sessions that a remote has: `python -m tests.benchmarks.sync_scale [N...]`.

The remote is reached by its path, by git's smart HTTP (which may list just the refs that are asked for), and has N
sessions whose refs are packed. What is fetched or pushed is always one session of one new commit.
"""

import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

from gitsession import Store, add_remote, bind_remote, new_commit, pull, push, remote_sessions
from tests.benchmarks.measuring import machine, shown
from tests.benchmarks.measuring import timed as seconds
from tests.sync.servers import serving

SIZES = (100, 10_000, 100_000)
ROUNDS = 5


def say(store: Store, session_id: str) -> None:
    session = store.bind(session_id)
    session.commit(new_commit(session.load().head, [{"role": "user", "content": "Hello"}]))


def server_with(root: Path, sessions: int) -> Store:
    """Makes a store with so many sessions: one, and branches at its commit, as `git branch` makes them."""
    store = Store.init(root / f"{sessions}.git", durable=False)
    say(store, "one")
    oid = store.info("one").oid
    names = sorted(f"refs/heads/session-{number:07}" for number in range(sessions))
    (store.path / "packed-refs").write_text(
        "# pack-refs with: peeled fully-peeled sorted \n" + "".join(f"{oid} {name}\n" for name in names)
    )
    return store


def timed(call: Callable[[], object]) -> float:
    """Returns what a call takes, in seconds: the best of some."""
    return min(seconds(call) for _ in range(ROUNDS))


def measure(server: Store, url: str, directory: Path) -> dict[str, float]:
    """Returns what each verb takes, in seconds."""
    ours = Store.init(directory, durable=False)
    add_remote(ours, "origin", url)
    pull(ours, sessions=["one"])

    def push_one() -> None:
        say(ours, "one")
        push(ours, sessions=["one"])

    def fetch_one() -> None:
        say(server, "one")
        pull(ours, sessions=["one"])

    session = bind_remote(ours, "one")

    def commit() -> None:
        # The store here has what the server has, so nothing needs to be fetched first.
        head = ours.bind("one").load().head
        session.commit(new_commit(head, [{"role": "user", "content": "Hello"}]))

    return {
        "pull one": timed(fetch_one),
        "push one": timed(push_one),
        "commit at the server": timed(commit),
        "list --remote": timed(lambda: remote_sessions(ours)),
    }


def main(sizes: list[int]) -> None:
    """Prints the table."""
    print(f"{machine()}\n")
    print("| sessions of the remote | by | pull of one | push of one | commit at the server | `list --remote` |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        root = Path(name, "served")
        servers = {kind: stack.enter_context(serving(kind, root, Path(name, kind))) for kind in ("path", "http")}
        for size in sizes:
            there = server_with(root, size)
            for kind, server in servers.items():
                with patch.dict("os.environ", server.environment):
                    found = measure(there, server.url(there.path), Path(name, f"ours-{kind}-{size}.git"))
                print(f"| {size:,} | {kind} | {' | '.join(map(shown, found.values()))} |", flush=True)


if __name__ == "__main__":
    main([*map(int, sys.argv[1:])] or [*SIZES])
