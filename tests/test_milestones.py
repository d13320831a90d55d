"""Commits far back are found in jumps, and in small steps where no jump is kept; both find the same."""

import random
from itertools import pairwise
from pathlib import Path

import pytest

from gitsession import MessageEntry, RevisionNotFound, SessionCommit, Store, milestones
from gitsession.repo.cache import Cache
from tests.conftest import Git

COMMITS = 150


@pytest.fixture
def history(store: Store, git: Git, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Returns the commits of a session, newest first, one in four of which is a milestone."""
    monkeypatch.setattr(milestones, "_BELOW", "4")
    for number in range(COMMITS):
        store.bind("s").commit(SessionCommit(f"c{number}", f"c{number - 1}" if number else None, [{"n": number}]))
    return git("-C", store.path, "rev-list", "s").split()


def kept(store: Store) -> list[Path]:
    return sorted((store.path / "gitsession/cache/milestones").glob("*"))


@pytest.mark.slow
def test_every_commit_is_found_by_each_name_with_jumps_and_without(store: Store, history: list[str]) -> None:
    places = random.Random(1).sample(range(COMMITS), 25)
    for _ in range(2):
        for back in places:
            number = COMMITS - 1 - back
            names = (f"~{back}", f"#{number}", f"c{number}", history[back], history[back][:12])
            assert {store.info("s", at=name).oid for name in names} == {history[back]}
    assert len(kept(store)) > COMMITS // 10


def test_what_is_kept_of_a_milestone_is_the_way_to_the_one_before(store: Store, history: list[str]) -> None:
    assert store.info("s", at=f"~{COMMITS - 1}").oid == history[-1]
    # Nobody has walked on from the last, which is what was looked for.
    places = [place for place, oid in enumerate(history[:-1]) if oid < "4"]
    jumps = milestones.Milestones(Cache(store.path / "gitsession/cache/milestones"))
    assert [jumps.find(history[place]) for place in places[:-1]] == [
        (history[later], later - place) for place, later in pairwise(places)
    ]


def test_a_damaged_or_deleted_jump_is_as_good_as_none(store: Store, history: list[str]) -> None:
    for damage in (b"", b"x" * 61, None):
        assert store.info("s", at="#0").oid == history[-1]
        for path in kept(store):
            if damage is None:
                path.unlink()
            else:
                path.write_bytes(damage)
        assert store.info("s", at="#3").oid == history[-4]


def test_no_jump_leads_over_the_end_of_a_shallow_history(store: Store, history: list[str]) -> None:
    assert store.info("s", at="#0").oid == history[-1]
    (store.path / "shallow").write_text(f"{history[20]}\n")
    assert store.info("s", at="~20").oid == history[20]
    for name in ("~21", "#0", f"~{COMMITS - 1}", history[-1]):
        with pytest.raises(RevisionNotFound):
            store.info("s", at=name)


def test_a_commit_of_another_session_is_not_found(store: Store, history: list[str]) -> None:
    store.fork("s", "other", at="#9")
    other = store.info("other").oid
    for name in (other, other[:12]):
        with pytest.raises(RevisionNotFound):
            store.info("s", at=name)
    assert store.info("other", at=history[-5]).oid == history[-5]
    assert store.info("other", at=other[:12]).oid == other


def test_what_begins_like_a_commit_of_another_session_is_found_in_its_own(
    store: Store, history: list[str], git: Git
) -> None:
    store.fork("s", "other", at="#9")
    git("-C", store.path, "repack", "-adq")
    by_beginning: dict[str, set[str]] = {}
    for oid in (*history, store.info("other").oid):
        by_beginning.setdefault(oid[:5], set()).add(oid)
    for beginning, oids in [*by_beginning.items()][::4]:
        if len(oids) == 1 and oids <= set(history):
            assert {store.info("s", at=beginning).oid} == oids


def test_a_jump_that_lies_leads_nowhere_else(store: Store, history: list[str]) -> None:
    jumps = milestones.Milestones(Cache(store.path / "gitsession/cache/milestones"))
    store.fork("s", "other", at="#9")
    store.append("other", MessageEntry({"role": "user", "content": "x"}))
    foreign = store.info("other").oid
    lies = [
        lambda place: (history[place], 1),
        lambda place: (history[max(place - 5, 0)], 3),
        lambda place: (history[min(place + 5, COMMITS - 1)], 3),
        lambda place: (history[min(place + 3, COMMITS - 1)], 5),
        lambda place: (history[-1], 1),
        lambda place: (foreign, max(COMMITS - 11 - place, 1)),
        lambda place: ("ab" * 20, 4),
        lambda place: (history[min(place + 5, COMMITS - 1)], 999_999_999),
    ]
    for lie in lies:
        for place, oid in enumerate(history):
            jumps.put(oid, milestones.Jump(*lie(place)))
        for back in (7, COMMITS - 1):
            assert store.info("s", at=f"~{back}").oid == history[back]
            assert store.info("s", at=f"#{COMMITS - 1 - back}").oid == history[back]
            assert store.info("s", at=history[back][:12]).oid == history[back]
        for name in ("~150", "~999999999", foreign):
            with pytest.raises(RevisionNotFound):
                store.info("s", at=name)
