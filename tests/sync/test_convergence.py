"""Several clones with writers and syncs at work at the same time: in the end all agree, and nothing is lost."""

from pathlib import Path

import pytest

from gitsession import Diverged, clone, sync, verify
from tests.concurrency.workers import race

from .clients import write_and_sync
from .conftest import Origin, say


def converge(origin: Origin, directory: Path, *, clones: int, seconds: float) -> None:
    names = [f"own{number}" for number in range(clones)]
    for name in (*names, "shared", "served"):
        say(origin.store, name, f"{name} begins")
    stores = [clone(origin.url, directory / f"{number}.git", durable=False) for number in range(clones)]
    acknowledged = race(clones, write_and_sync, [str(store.path) for store in stores], seconds)
    # Once to send what was written last, and once more to take what the others sent then.
    diverged: set[str] = set()
    for store in (*stores, *stores):
        try:
            sync(store)
        except Diverged as error:
            diverged |= {*error.refused}
    assert diverged <= {"shared"}
    served = origin.store
    for name in (*names, "served"):
        written = [entry_id for done in acknowledged for entry_id in done.get(name, [])]
        held = [entry.id for entry in served.load(name)][1:]
        assert len(written) == len(set(written)) > 2
        assert sorted(held) == sorted(written)
        for store in stores:
            assert store.info(name).oid == served.info(name).oid
    # The session that all wrote to by themselves: whole on each store; the server has the line of who came first.
    there = [entry.id for entry in served.load("shared")]
    for store, done in zip(stores, acknowledged, strict=True):
        here = [entry.id for entry in store.load("shared")]
        assert [one for one in done["shared"] if one not in here] == []
        assert len(set(here)) == len(here)
        assert [entry.id for entry in store.load("shared@origin")] == there
    merged = {*there}.union(*[{entry.id for entry in store.load("shared")} for store in stores])
    assert {one for done in acknowledged for one in done["shared"]} | {"shared begins/0"} == merged
    for store in (*stores, served):
        assert [finding for finding in verify(store) if finding.damage] == []


@pytest.mark.slow
def test_clones_that_write_and_sync_at_the_same_time_agree_in_the_end(near: Origin, tmp_path: Path) -> None:
    converge(near, tmp_path, clones=2, seconds=2)


@pytest.mark.slow
def test_many_clones_through_each_server_agree_in_the_end(origin: Origin, tmp_path: Path) -> None:
    converge(origin, tmp_path, clones=3, seconds=4)
