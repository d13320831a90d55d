"""Writers that are killed at random moments: nothing that was acknowledged is lost, and nobody has to tidy up.

`pytest -m slow --full tests/guarantees/test_kills.py`: 1,000 kills, and 200 more beside a `git gc` that prunes at once.
"""

import random
import subprocess
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from gitsession import Store, new_commit, verify
from tests.guarantees.children import Child, Hold, Say

pytestmark = pytest.mark.slow

# How long the next commit may take after a kill, a lock that was left behind included.
NEXT_SECONDS = 15


def committing_for_ever(path: Path) -> Child:
    """Returns a child that commits to one session without an end, and says what was acknowledged."""

    def work(say: Say, hold: Hold) -> None:
        warnings.simplefilter("ignore")  # of the locks that the killed ones before left
        session = Store.open(path, durable=False).bind("s")
        head = session.load().head
        hold()
        for number in range(1_000_000):
            head = session.commit(new_commit(head, [{"role": "user", "content": f"message {number}"}])).head
            say(str(head))

    return Child(work)


def kill_and_go_on(path: Path, chance: random.Random, longest: float, *, wait: float = 30) -> list[str]:
    """Kills a writer at random, commits once more, and returns what was acknowledged to both."""
    child = committing_for_ever(path)
    child.go()
    time.sleep(chance.uniform(0.001, longest))
    child.kill()
    acknowledged, signal = child.finish()
    assert signal == 9, acknowledged
    session = Store.open(path, durable=False, wait=wait).bind("s")
    acknowledged.append(str(session.commit(new_commit(session.load().head, [{"role": "user"}])).head))
    return acknowledged


def check(path: Path, acknowledged: list[str]) -> None:
    """Checks that a session holds what was acknowledged, once and in order, and that all is sound."""
    store = Store.open(path)
    held = [entry.id.rpartition("/")[0] for entry in store.load("s")]
    assert len(held) == len(set(held))
    # In the order in which they were acknowledged; between them may lie some that got in just before a kill.
    places = {commit_id: place for place, commit_id in enumerate(held)}
    assert [commit_id for commit_id in acknowledged if commit_id not in places] == []
    assert sorted(acknowledged, key=places.__getitem__) == acknowledged
    assert list(verify(store)) == []
    assert subprocess.run(["git", "-C", path, "fsck", "--strict"], capture_output=True, check=False).returncode == 0


@pytest.mark.filterwarnings("ignore:removed .*s.lock")
def test_no_acknowledged_commit_is_lost_to_kills(tmp_path: Path, scale: Callable[[int, int], int]) -> None:
    path = tmp_path / "store.git"
    Store.init(path, durable=False)
    chance = random.Random(1)
    acknowledged: list[str] = []
    for _ in range(scale(25, 1000)):
        began = time.monotonic()
        acknowledged += kill_and_go_on(path, chance, 0.06)
        assert time.monotonic() - began < NEXT_SECONDS
    check(path, acknowledged)


@pytest.mark.filterwarnings("ignore:removed .*s.lock")
def test_no_acknowledged_commit_is_lost_to_kills_beside_a_collection_that_prunes(
    tmp_path: Path, scale: Callable[[int, int], int]
) -> None:
    path = tmp_path / "store.git"
    store = Store.init(path, durable=False)
    # A history that git takes its time to walk: for so long a collection does not see what moves.
    head = None
    for number in range(scale(300, 5000)):
        head = store.bind("long").commit(new_commit(head, [{"number": number}])).head
    stop = tmp_path / "stop"
    loop = 'while [ ! -e "$0" ]; do git gc -q --prune=now; sleep 0.1; done'
    collecting = subprocess.Popen(["sh", "-c", loop, stop], cwd=path, stderr=subprocess.DEVNULL)
    chance = random.Random(4)
    acknowledged: list[str] = []
    try:
        for _ in range(scale(5, 200)):
            acknowledged += kill_and_go_on(path, chance, 1.0, wait=120)
    finally:
        stop.touch()
        collecting.wait()
    check(path, acknowledged)
