"""What fails on the way: servers that die, connections that are cut, full disks, wrong passwords, other host keys."""

import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitsession import (
    AccessDenied,
    RemoteUnavailable,
    SessionCommit,
    Store,
    Unavailable,
    add_remote,
    bind_remote,
    clone,
    fetch,
    import_bundle,
    pull,
    push,
    remote_sessions,
    sync,
    verify,
    write_bundle,
)
from tests.conftest import Git
from tests.stores import everything, git_output

from .conftest import Clones, Origin, Origins, Servers, said, say
from .proxy import failing_proxy
from .servers import make_key, serving, stop, trust
from .test_remote_session import commit


def noise(size: int) -> str:
    """Returns a text that does not get smaller."""
    return random.Random(1).randbytes(size).hex()


def through(store: Store, url: str, port: int, proxy: int) -> None:
    """Turns a store's remote to a proxy."""
    subprocess.run(
        ["git", "-C", store.path, "config", "remote.origin.url", url.replace(f":{port}", f":{proxy}")], check=True
    )


@pytest.mark.parametrize(
    ("kind", "after"),
    [
        ("http", 60_000),
        ("daemon", 500),
        pytest.param("http", 500, marks=pytest.mark.slow),
        pytest.param("daemon", 60_000, marks=pytest.mark.slow),
    ],
)
def test_a_push_that_is_cut_in_the_middle_changes_nothing_and_can_be_done_again(
    origins: Origins, servers: Servers, clones: Clones, git: Git, kind: str, after: int
) -> None:
    origin, port = origins(kind), servers(kind).port
    ours = clones(origin)
    say(ours, "s", "one")
    push(ours)
    say(ours, "s", "two", noise(100_000))
    before = everything(ours)
    with failing_proxy(port, upload=after) as proxy:
        through(ours, origin.url, port, proxy)
        with pytest.raises(RemoteUnavailable):
            push(ours)
    assert everything(ours) == before
    assert said(origin.store, "s") == ["one"]
    through(ours, origin.url, port, port)
    assert [one.status for one in push(ours)] == ["moved"]
    assert said(origin.store, "s") == said(ours, "s")
    git("-C", origin.path, "fsck", "--strict", "--no-dangling")


@pytest.mark.parametrize(
    ("kind", "after"),
    [
        ("http", 60_000),
        ("daemon", 700),
        pytest.param("http", 700, marks=pytest.mark.slow),
        pytest.param("daemon", 60_000, marks=pytest.mark.slow),
    ],
)
def test_a_fetch_that_is_cut_in_the_middle_of_a_pack_changes_nothing_and_can_be_done_again(
    origins: Origins, servers: Servers, clones: Clones, git: Git, kind: str, after: int, tmp_path: Path
) -> None:
    origin, port = origins(kind), servers(kind).port
    say(origin.store, "s", "one")
    ours = clones(origin)
    pull(ours)
    say(origin.store, "s", "two", noise(100_000))
    before = everything(ours)
    with failing_proxy(port, download=after) as proxy:
        through(ours, origin.url, port, proxy)
        for attempt in (fetch, pull, sync):
            with pytest.raises(RemoteUnavailable):
                attempt(ours)
        with pytest.raises(RemoteUnavailable):
            clone(origin.url.replace(f":{port}", f":{proxy}"), tmp_path / "c.git")
    assert not (tmp_path / "c.git").exists()
    assert everything(ours) == before
    through(ours, origin.url, port, port)
    assert [one.status for one in pull(ours)] == ["moved"]
    git("-C", ours.path, "fsck", "--strict", "--no-dangling")


def test_a_commit_whose_answer_is_cut_off_is_stored_once(origins: Origins, servers: Servers, clones: Clones) -> None:
    origin, port = origins("daemon"), servers("daemon").port
    ours = clones(origin)
    session = bind_remote(ours, "s")
    session.commit(commit("c0", None))
    parent = "c0"
    outcomes = set()
    # The further it gets, the more of the answer arrives: first the list of refs is cut, in the end nothing is.
    for number, after in enumerate(range(100, 420, 20), 1):
        mine = f"c{number}"
        with failing_proxy(port, download=after) as proxy:
            through(ours, origin.url, port, proxy)
            try:
                session.commit(commit(mine, parent))
                outcomes.add("answered")
            except RemoteUnavailable:
                outcomes.add("stored" if mine in said(origin.store, "s") else "not stored")
        through(ours, origin.url, port, port)
        assert session.commit(commit(mine, parent)).head == mine
        parent = mine
    assert outcomes >= {"stored", "not stored", "answered"}
    assert said(origin.store, "s") == said(ours, "s") == [f"c{number}" for number in range(number + 1)]


@pytest.mark.parametrize("kind", ["http", "daemon"])
def test_a_server_that_is_killed_in_a_push_is_pushed_to_again_when_it_is_back(
    kind: str, tmp_path: Path, clones: Clones, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "served"
    there = Store.init(root / "s.git", durable=False)
    with serving(kind, root, tmp_path / "scratch") as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        ours = clones(Origin(there.path, server.url(there.path)))
        say(ours, "s", "one")
        push(ours)
        say(ours, "s", "two", noise(100_000))
        assert server.process
        with failing_proxy(server.port, upload=60_000, then=lambda: stop(server.process)) as proxy:
            through(ours, server.url(there.path), server.port, proxy)
            with pytest.raises(RemoteUnavailable):
                push(ours)
            with pytest.raises(RemoteUnavailable):
                remote_sessions(ours)
    assert said(there, "s") == ["one"]
    with serving(kind, root, tmp_path / "again") as server:
        through(ours, server.url(there.path), server.port, server.port)
        assert [one.status for one in push(ours)] == ["moved"]
    assert said(there, "s") == said(ours, "s")
    assert [*verify(there)] == []


@contextmanager
def small_disk(path: Path) -> Iterator[None]:
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", path], capture_output=True, check=False)
    assert mounted.returncode == 0, f"this test mounts a small disk, as root: {mounted.stderr.decode()}"
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)


def test_a_full_disk_at_the_server_is_told_and_nothing_is_lost(tmp_path: Path, clones: Clones) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk):
        there = Store.init(disk / "s.git", durable=False)
        ours = clones(Origin(there.path, str(there.path)))
        say(ours, "s", "one")
        push(ours)
        say(ours, "s", noise(1_000_000))
        session = bind_remote(ours, "s")
        with pytest.raises(RemoteUnavailable, match="No space left on device"):
            push(ours)
        with pytest.raises(RemoteUnavailable, match="No space left on device"):
            session.commit(SessionCommit("big", "one", [{"text": noise(1_000_000)}]))
        assert said(there, "s") == ["one"]
        assert [*verify(there)] == []
        subprocess.run(["mount", "-o", "remount,size=16m", disk], check=True)
        assert [one.status for one in push(ours)] == ["moved"]
        assert said(there, "s") == said(ours, "s")


def test_a_full_disk_here_is_not_blamed_on_the_other_side(origin: Origin, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    say(origin.store, "s", noise(1_000_000))
    write_bundle(origin.store, tmp_path / "s.bundle")
    with small_disk(disk):
        store = Store.init(disk / "ours.git", durable=False)
        add_remote(store, "origin", origin.url)
        for attempt in (
            lambda: clone(origin.url, disk / "clone.git"),
            lambda: fetch(store),
            lambda: pull(store),
            lambda: sync(store),
            lambda: bind_remote(store, "s").load(),
            lambda: import_bundle(store, tmp_path / "s.bundle"),
        ):
            with pytest.raises(Unavailable, match="No space left on device") as told:
                attempt()
            assert type(told.value) is Unavailable
        assert (store.list(), [path.name for path in disk.iterdir()]) == ([], ["ours.git"])
        subprocess.run(["mount", "-o", "remount,size=16m", disk], check=True)
        assert [one.status for one in pull(store)] == ["new"]


def test_a_wrong_password_lets_nobody_in(
    origins: Origins, clones: Clones, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = origins("http")
    say(origin.store, "s", "one")
    ours = clones(origin)
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "!f() { echo username=ada; echo password=wrong; }; f")
    for attempt in (
        lambda: fetch(ours),
        lambda: sync(ours),
        lambda: remote_sessions(ours),
        lambda: bind_remote(ours, "s").load(),
        lambda: clone(origin.url.replace("//", "//ada:secret-word@"), tmp_path / "c.git"),
    ):
        with pytest.raises(AccessDenied) as told:
            attempt()
        assert "secret-word" not in str(told.value)
    assert (ours.list(), (tmp_path / "c.git").exists()) == ([], False)


def test_a_host_key_that_changed_lets_nobody_in(
    tmp_path: Path, clones: Clones, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = Store.init(tmp_path / "served" / "s.git", durable=False)
    say(there, "s", "one")
    with serving("ssh", tmp_path / "served", tmp_path / "scratch") as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        ours = clones(Origin(there.path, server.url(there.path)))
        pull(ours)
        make_key(tmp_path / "other")
        trust(tmp_path / "scratch", server.port, tmp_path / "other.pub")
        say(ours, "s", "two")
        for attempt in (fetch, push, sync):
            with pytest.raises(AccessDenied, match="Host key verification failed"):
                attempt(ours)
    assert said(there, "s") == ["one"]


def test_a_remote_that_is_no_repository_is_told(store: Store, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    add_remote(store, "origin", str(tmp_path / "nothing"))
    with pytest.raises(RemoteUnavailable, match="does not appear to be a git repository"):
        fetch(store)
    assert git_output(store.path, "for-each-ref") == ""
