"""Writers that exclude each other: of those that create one session one wins, and no parent is judged wrongly.

`pytest -m slow --full tests/guarantees/test_races.py`: 10,000 sessions that eight processes create, and 100,000
commits on parents that are fresh or stale.
"""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from gitsession import ParentConflict, SessionCommit, SessionExists, SessionMeta, Store
from tests.guarantees.children import Say, together

pytestmark = pytest.mark.slow

PROCESSES = 8
WRITERS = 4


@pytest.mark.parametrize("way", ["create", "commit"])
def test_of_eight_processes_that_make_one_session_one_wins(
    tmp_path: Path, scale: Callable[[int, int], int], way: str
) -> None:
    path = tmp_path / "store.git"
    Store.init(path, durable=False)
    count = scale(40, 5_000)

    def making(number: int) -> Callable[[Say], None]:
        def work(say: Say) -> None:
            store = Store.open(path, durable=False, wait=120)
            for place in range(count):
                try:
                    if way == "create":
                        store.create(SessionMeta(f"s{place}", title=str(number)))
                    else:
                        store.bind(f"s{place}").commit(SessionCommit(f"by-{number}", None, [{"by": number}]))
                except (SessionExists, ParentConflict):
                    continue
                say(f"s{place}")

        return work

    said = together([making(number) for number in range(PROCESSES)])
    winners = Counter(name for names in said for name in names)
    assert winners == {f"s{place}": 1 for place in range(count)}
    won = {name: str(number) for number, names in enumerate(said) for name in names}
    held = {info.id: info.title or str(info.head).removeprefix("by-") for info in Store.open(path).sessions()}
    assert held == won


def test_a_stale_parent_is_refused_and_a_fresh_one_accepted(tmp_path: Path, scale: Callable[[int, int], int]) -> None:
    """Each writer notes when it began and ended, and which parent it gave; the session's own chain judges them all."""
    path = tmp_path / "store.git"
    Store.init(path, durable=False)
    count = scale(100, 25_000)
    # Sessions of their own length, since each is read once per process and checked at the end.
    sessions = max(count * WRITERS // 2000, 2)

    def committing(number: int) -> Callable[[Say], None]:
        def work(say: Say) -> None:
            store = Store.open(path, durable=False, wait=120)
            chance = random.Random(number)
            bound = [store.bind(f"s{place}") for place in range(sessions)]
            known: list[list[str | None]] = [[None] for _ in range(sessions)]
            for place in range(count):
                which = place * sessions // count
                # The head as it is, or one that was seen before and is stale by now unless nothing followed.
                if chance.random() < 0.5:
                    parent = store.info(f"s{which}").head if len(known[which]) > 1 else None
                else:
                    parent = chance.choice(known[which][-5:])
                commit_id = f"{number}-{place}"
                try:
                    bound[which].commit(SessionCommit(commit_id, parent, [{"n": place}]))
                except ParentConflict as conflict:
                    known[which].append(conflict.actual)
                    say(f"refused {which} {conflict.expected} {conflict.actual}")
                else:
                    known[which].append(commit_id)
                    say(f"accepted {which} {parent} {commit_id}")

        return work

    said = together([committing(number) for number in range(WRITERS)])
    verdicts = [line.split(" ") for lines in said for line in lines]
    assert len(verdicts) == count * WRITERS
    store = Store.open(path)
    for which in range(sessions):
        chain = [str(entry.commit_id) for entry in store.log(f"s{which}")][::-1]
        follows = dict(zip(["None", *chain], chain, strict=False))
        places = {commit_id: place for place, commit_id in enumerate(["None", *chain])}
        mine = [verdict for verdict in verdicts if verdict[1] == str(which)]
        accepted = [verdict for verdict in mine if verdict[0] == "accepted"]
        # Each accepted one follows the parent that it gave, and nothing else is in the chain.
        assert {parent: commit_id for _, _, parent, commit_id in accepted} == follows
        assert len(accepted) == len(chain)
        # Each refused one gave a parent that something had followed, and was told a head that came later.
        stale = [places[parent] < places[actual] for kind, _, parent, actual in mine if kind == "refused"]
        assert all(stale)
        assert len(stale) > 0
