"""Sessions of which something behind the last commit is damaged: git gives up on all for one; a sync does not."""

import random
from pathlib import Path

import pytest

from gitsession import RemoteUnavailable, Store, SyncRefused, import_bundle, pull, push, write_bundle
from tests.conftest import Git

from .conftest import Clones, Origin, said, say
from .planting import damage_in_pack, lose


def texts(session: str) -> list[str]:
    """Returns texts that no other session has, whose blobs would be damaged as well."""
    return [f"{session} {number}" for number in range(3)]


@pytest.mark.parametrize("what", ["commit", "tree", "blob"])
@pytest.mark.parametrize("names", [None, ["a*", "lost", "z"]])
def test_a_session_with_a_damaged_past_holds_back_no_others(
    some_origin: Origin, clones: Clones, git: Git, tmp_path: Path, what: str, names: list[str] | None
) -> None:
    ours = clones(some_origin)
    for name in ("a", "lost", "z"):
        say(ours, name, *texts(name))
    lose(ours, git, "lost", what)
    with pytest.raises(SyncRefused) as told:
        push(ours, "origin", names)
    assert [*told.value.refused] == ["lost"]
    assert told.value.refused["lost"].startswith("it is damaged here: ")
    assert sorted(one.id for one in some_origin.store.list()) == ["a", "z"]
    with pytest.raises(SyncRefused) as told:
        write_bundle(ours, tmp_path / "whole.bundle", names)
    assert ([*told.value.refused], told.value.results) == (["lost"], ("a", "z"))


@pytest.mark.parametrize("what", ["tree", "blob"])
def test_what_the_remote_has_already_need_not_be_whole_here(near: Origin, clones: Clones, git: Git, what: str) -> None:
    ours = clones(near)
    say(ours, "s", "one", "two", "three")
    push(ours)
    say(ours, "s", "four")
    lose(ours, git, "s~1", what)
    say(ours, "t", "one")
    push(ours)
    assert said(near.store, "s") == ["one", "two", "three", "four"]


@pytest.mark.parametrize("what", ["commit", "tree", "blob"])
def test_a_session_that_is_damaged_at_the_remote_holds_back_no_others(
    some_origin: Origin, clones: Clones, git: Git, what: str
) -> None:
    there = some_origin.store
    for name in ("a", "lost", "z"):
        say(there, name, *texts(name))
    lose(there, git, "lost", what)
    ours = clones(some_origin)
    with pytest.raises(SyncRefused) as told:
        pull(ours)
    assert [*told.value.refused] == ["lost"]
    assert sorted(one.id for one in ours.list()) == ["a", "z"]


def say_noise(store: Store, *names: str) -> None:
    """Makes sessions of texts that do not get smaller, so that each has its own place in a pack."""
    for name in names:
        say(store, name, *(random.Random(text).randbytes(500).hex() for text in texts(name)))


@pytest.mark.parametrize("names", [None, ["a*", "lost", "z"]])
def test_a_bundle_is_read_before_it_is_called_written(
    store: Store, git: Git, tmp_path: Path, names: list[str] | None
) -> None:
    say_noise(store, "a", "lost", "z")
    damage_in_pack(store, git, "lost", 1)
    with pytest.raises(SyncRefused) as told:
        write_bundle(store, tmp_path / "x.bundle", names)
    assert ([*told.value.refused], told.value.results) == (["lost"], ("a", "z"))
    there = Store.init(tmp_path / "there.git", durable=False)
    assert [one.session for one in import_bundle(there, tmp_path / "x.bundle")] == ["a", "z"]
    with pytest.raises(SyncRefused, match="it is damaged"):
        write_bundle(store, tmp_path / "lost.bundle", ["lost"])
    assert not (tmp_path / "lost.bundle").exists()


def test_a_session_that_is_damaged_in_a_pack_holds_back_no_others(
    some_origin: Origin, clones: Clones, git: Git
) -> None:
    ours = clones(some_origin)
    say_noise(ours, "a", "lost", "z")
    damage_in_pack(ours, git, "lost", 1)
    with pytest.raises(SyncRefused) as told:
        push(ours)
    assert [*told.value.refused] == ["lost"]
    assert told.value.refused["lost"].startswith("it is damaged here: ")
    assert sorted(one.id for one in some_origin.store.list()) == ["a", "z"]


def test_a_session_that_is_damaged_in_a_pack_of_the_remote_holds_back_no_others(
    some_origin: Origin, clones: Clones, git: Git
) -> None:
    say_noise(some_origin.store, "a", "lost", "z")
    damage_in_pack(some_origin.store, git, "lost", 1)
    ours = clones(some_origin)
    with pytest.raises(SyncRefused) as told:
        pull(ours)
    assert [*told.value.refused] == ["lost"]
    assert sorted(one.id for one in ours.list()) == ["a", "z"]


def test_a_remote_that_is_away_is_told_before_anything_is_read(near: Origin, clones: Clones, git: Git) -> None:
    ours = clones(near)
    say_noise(ours, "lost")
    damage_in_pack(ours, git, "lost", 1)
    near.path.rename(near.path.with_name("away.git"))
    with pytest.raises(RemoteUnavailable):
        push(ours)
