"""Remotes that mean harm: what they send is refused or harmless, and holds up no other session."""

import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from gitsession import RemoteUnavailable, Store, SyncRefused, clone, fetch, import_bundle, pull, push, sync, verify
from tests.conftest import Git

from .conftest import Clones, Origin, said, say
from .planting import blob, commit_on, copy_tip, item, rewrite_delta, rewrite_root, tree
from .test_rules import refuse


def refused(store: Store) -> dict[str, str]:
    with pytest.raises(SyncRefused) as told:
        pull(store)
    return told.value.refused


@pytest.fixture
def pulled(near: Origin, clones: Clones) -> Store:
    """Returns a store that has pulled a session `s` of two messages, and `fine`, from the remote."""
    say(near.store, "s", "one", "two")
    say(near.store, "fine", "one")
    made = clones(near)
    pull(made)
    say(near.store, "fine", "two")
    return made


def unharmed(store: Store) -> None:
    assert said(store, "s") == ["one", "two"]
    assert said(store, "fine") == ["one", "two"]
    assert [finding for finding in verify(store) if finding.session == "s"] == []


DELTA = "000002-three-{tag}.jsonl"

# Session trees with something in them that is not a session's. git itself lets these pass.
STRANGE: dict[str, Callable[[Store], object]] = {
    "a file beside ours": lambda there: rewrite_root(there, "s", lambda root: root + item("100644", "z", blob(there))),
    "a submodule": lambda there: rewrite_root(there, "s", lambda root: root + item("160000", "z", "1" * 40)),
    "a symlink": lambda there: rewrite_root(there, "s", lambda root: root + item("120000", "z", blob(there, b"/etc"))),
    "a header that is a symlink": lambda there: rewrite_root(
        there, "s", lambda root: root.replace(b"100644 session.json", b"120000 session.json")
    ),
    "no header": lambda there: rewrite_root(there, "s", lambda root: root[: root.index(b"100644 session.json")]),
    "a header that is no JSON": lambda there: rewrite_root(
        there, "s", lambda root: root[:-20] + bytes.fromhex(blob(there, b"{"))
    ),
    "a header of a later version": lambda there: rewrite_root(
        there, "s", lambda root: root[:-20] + bytes.fromhex(blob(there, b'{"format":99}'))
    ),
    "nothing at all": lambda there: commit_on(there, "s", tree(there)),
    "a delta less": lambda there: rewrite_delta(there, "s", lambda items: items[: len(items) // 2]),
    "another delta in the place of one": lambda there: rewrite_delta(
        there, "s", lambda items: items[:-20] + bytes.fromhex(blob(there, b'{"type":"message","message":{}}\n'))
    ),
    "a delta that is a submodule": lambda there: rewrite_delta(
        there, "s", lambda items: items + item("160000", named(there), "1" * 40)
    ),
    "a delta that is a symlink": lambda there: rewrite_delta(
        there, "s", lambda items: items + item("120000", named(there), blob(there))
    ),
    "a delta that cannot be read": lambda there: rewrite_delta(
        there, "s", lambda items: items + item("100644", named(there), blob(there, b"{\n"))
    ),
    "a delta that is cut short": lambda there: rewrite_delta(
        there, "s", lambda items: items + item("100644", named(there), blob(there, b'{"type":"message","message":{}}'))
    ),
    "an ordinary history of files": lambda there: commit_on(
        there, "s", tree(there, item("100644", "README", blob(there)))
    ),
}


def named(store: Store) -> str:
    return DELTA.format(tag=store.reader.state("s", store.info("s").oid).tree.tag)


@pytest.mark.parametrize("plant", STRANGE.values(), ids=STRANGE)
def test_what_is_no_continuation_is_refused(near: Origin, pulled: Store, plant: Callable[[Store], object]) -> None:
    plant(near.store)
    assert [*refused(pulled)] == ["s"]
    unharmed(pulled)


# Trees that git itself refuses, so that they are not even fetched.
FORBIDDEN: dict[str, Callable[[Store], str]] = {
    ".git": lambda there: tree(there, item("40000", ".git", tree(there, item("100644", "config", blob(there))))),
    "..": lambda there: tree(there, item("100644", "..", blob(there))),
    "a path": lambda there: tree(there, item("100644", "../../evil", blob(there))),
    "the same name twice": lambda there: tree(there, *[item("100644", "a", blob(there))] * 2),
    ".gitmodules that is a symlink": lambda there: tree(there, item("120000", ".gitmodules", blob(there))),
}


@pytest.mark.parametrize("root", FORBIDDEN.values(), ids=FORBIDDEN)
def test_what_git_forbids_is_not_fetched_and_holds_up_no_other(
    near: Origin, pulled: Store, root: Callable[[Store], str]
) -> None:
    for number in range(3):
        say(near.store, f"new {number}", "one")
    commit_on(near.store, "s", root(near.store))
    found = refused(pulled)
    assert [*found] == ["s"]
    assert "damaged or forbidden" in found["s"]
    assert [said(pulled, f"new {number}") for number in range(3)] == [["one"]] * 3
    unharmed(pulled)


def test_what_git_forbids_is_not_taken_from_a_bundle(near: Origin, pulled: Store, tmp_path: Path, git: Git) -> None:
    commit_on(near.store, "s", FORBIDDEN[".git"](near.store))
    git("-C", near.path, "bundle", "create", "--quiet", tmp_path / "x.bundle", "--all")
    with pytest.raises(Exception, match="git does not take it"):
        import_bundle(pulled, tmp_path / "x.bundle")
    assert [side for side in pulled.other_sides() if side.remote == "x"] == []


def test_a_bad_session_of_ours_holds_up_no_other(near: Origin, clones: Clones) -> None:
    ours = clones(near)
    for number in range(3):
        say(ours, f"s{number}", "one")
    commit_on(ours, "bad", FORBIDDEN[".git"](ours))
    with pytest.raises(SyncRefused) as told:
        push(ours)
    assert [*told.value.refused] == ["bad"]
    assert {meta.id for meta in near.store.list()} == {"s0", "s1", "s2"}


def test_where_a_header_claims_another_id_the_branch_wins(near: Origin, pulled: Store) -> None:
    say(near.store, "attacker", "I am s")
    rewrite_root(
        near.store,
        "attacker",
        lambda root: (
            root[:-20]
            + bytes.fromhex(
                blob(
                    near.store,
                    near.store.repository.objects.read(root[-20:].hex(), "blob").replace(b'"attacker"', b'"s"'),
                )
            )
        ),
    )
    copy_tip(near.store, "s", "copy")
    pull(pulled)
    assert said(pulled, "attacker") == ["I am s"]
    assert (pulled.info("attacker").id, pulled.info("attacker").parent_session) == ("attacker", "s")
    assert pulled.info("copy").parent_session == "s"
    unharmed(pulled)


@contextmanager
def lying_daemon(path: Path, names: dict[str, str]) -> Iterator[str]:
    """Serves a repository by git's own protocol, with the names of its refs changed on the way."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as received, connection.makefile("wb") as sent:
            received.read(int(received.read(4), 16) - 4)
            child = subprocess.Popen(["git", "upload-pack", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            assert child.stdin
            assert child.stdout
            while size := int(child.stdout.read(4), 16):
                line = child.stdout.read(size - 4)
                for name, other in names.items():
                    line = line.replace(f" refs/heads/{name}".encode(), f" refs/heads/{other}".encode())
                sent.write(b"%04x" % (len(line) + 4) + line)
            sent.write(b"0000")
            sent.flush()

            def relay() -> None:
                with suppress(OSError), child.stdin as pipe:  # git ends without reading all of it
                    while chunk := received.read1(65536):
                        pipe.write(chunk)
                        pipe.flush()

            threading.Thread(target=relay, daemon=True).start()
            while chunk := child.stdout.read1(65536):
                sent.write(chunk)
                sent.flush()
            child.stdout.close()
            child.wait()

    def accept() -> None:
        while True:
            try:
                serve(listener.accept()[0])
            except (OSError, ValueError):
                return

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    yield f"git://127.0.0.1:{listener.getsockname()[1]}/x"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(10)


@pytest.mark.parametrize(
    "name",
    [
        "../../../evil",
        "../evil",
        "a/../../evil",
        "/evil",
        "x.lock",
        ".hidden",
        "a b",
        "a\x1b[31m",
        "a~1",
        "a:b",
        "a*",
        "@{-1}",
        "a//b",
    ],
)
def test_a_ref_whose_name_escapes_is_left_out(near: Origin, tmp_path: Path, name: str) -> None:
    say(near.store, "a", "bad")
    say(near.store, "z", "good")
    with lying_daemon(near.path, {"a": name}) as url:
        try:
            made = clone(url, tmp_path / "c" / "d" / "e.git", durable=False)
        except (RemoteUnavailable, SyncRefused):
            made = None
    assert [path.name for path in tmp_path.rglob("*evil*")] == []
    if made is not None:
        assert [meta.id for meta in made.list()] == ["z"]
        assert [side.id for side in made.other_sides()] == []


@pytest.mark.parametrize("name", ["-x", "--upload-pack=x", "CON", "%41", "Ünï", "$(x)", "a" * 40, "`x`;x"])
def test_a_ref_whose_name_is_strange_is_a_session_of_that_name(near: Origin, tmp_path: Path, name: str) -> None:
    say(near.store, "a", "strange")
    with lying_daemon(near.path, {"a": name}) as url:
        made = clone(url, tmp_path / "c.git", durable=False)
    assert [meta.id for meta in made.list()] == [f"refs/heads/{name}"]
    assert said(made, f"refs/heads/{name}") == said(made, f"refs/heads/{name}@origin") == ["strange"]
    assert [finding for finding in verify(made) if finding.damage] == []


def test_a_branch_called_head_is_left_out(near: Origin, tmp_path: Path) -> None:
    say(near.store, "a", "strange")
    say(near.store, "z", "good")
    with lying_daemon(near.path, {"a": "HEAD"}) as url:
        made = clone(url, tmp_path / "c.git", durable=False)
    assert [meta.id for meta in made.list()] == ["z"]


@pytest.mark.parametrize(("get", "levels"), [(fetch, 500), (fetch, 1400), (pull, 1400), (clone, 1400), (sync, 1400)])
def test_a_branch_of_a_thousand_levels_holds_up_no_other(
    near: Origin, clones: Clones, tmp_path: Path, git: Git, get: Callable[..., object], levels: int
) -> None:
    say(near.store, "fine", "one")
    name = "/".join("a" * levels)
    tip = near.store.info("fine").oid
    (near.path / "packed-refs").write_text(f"# pack-refs with: peeled fully-peeled sorted \n{tip} refs/heads/{name}\n")
    with pytest.raises(SyncRefused) as told:
        get(near.url, tmp_path / "c.git", durable=False) if get is clone else get(clones(near))
    assert [len(session) < 100 for session in told.value.refused] == [True]
    made = Store.open(next(tmp_path.glob("c*.git")), durable=False)
    assert said(made, "fine@origin") == ["one"]
    if get is not fetch:
        assert said(made, "fine") == ["one"]
    assert "a/a/a" not in git("-C", made.path, "for-each-ref")
    assert [path for path in made.path.rglob("a") if path.is_dir()] == []
    assert [*verify(made)] == []


def test_a_clone_of_nothing_but_a_branch_of_a_thousand_levels_leaves_nothing(near: Origin, tmp_path: Path) -> None:
    say(near.store, "fine", "one")
    ref, name = near.path / "refs" / "heads" / "fine", "/".join("a" * 1400)
    (near.path / "packed-refs").write_text(f"{ref.read_text().strip()} refs/heads/{name}\n")
    ref.unlink()
    with pytest.raises(SyncRefused):
        clone(near.url, tmp_path / "c.git", durable=False)
    assert not (tmp_path / "c.git").exists()


def test_what_a_server_says_cannot_steer_the_terminal(near: Origin, clones: Clones) -> None:
    ours = clones(near)
    say(ours, "s", "one")
    refuse(near, "pre-receive", r"printf '\033[31mred\033[2J\n' >&2; kill -9 $PPID")
    with pytest.raises((RemoteUnavailable, SyncRefused)) as told:
        push(ours)
    assert str(told.value).isprintable()


@pytest.mark.slow
def test_a_blob_that_unpacks_to_more_than_is_ever_stored_is_refused(near: Origin, pulled: Store) -> None:
    there = near.store
    bomb = blob(there, bytes(145 * 1024 * 1024))
    rewrite_delta(there, "s", lambda items: items + item("100644", named(there), bomb))
    assert [*refused(pulled)] == ["s"]
    unharmed(pulled)
