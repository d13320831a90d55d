"""Making and opening: what a new store is like, and what each thing that is no store is called."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gitsession import (
    NotAStore,
    SessionCommit,
    SessionExists,
    SessionMeta,
    Store,
    Unavailable,
    UnsupportedFormat,
)
from tests.conftest import Git
from tests.stores import HELLO

FIRST = SessionCommit("first", None, [HELLO])


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_new_store_is_readable_by_its_owner_alone(store_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        store = Store.init(store_path)
        store.bind("s").commit(FIRST)
    finally:
        os.umask(before)
    assert mode(store_path) == 0o700
    assert store.path == store_path


def test_a_new_store_names_its_format_and_protects_what_is_pushed_to_it(store_path: Path, git: Git) -> None:
    Store.init(store_path)
    expected = {
        "core.repositoryformatversion": "0",
        "core.bare": "true",
        "core.logallrefupdates": "true",
        "receive.denynonfastforwards": "true",
        "receive.denydeletes": "true",
        "transfer.fsckobjects": "true",
        "gitsession.format": "1",
    }
    for name, value in expected.items():
        assert git("-C", store_path, "config", "--local", name).strip() == value
    assert git("-C", store_path, "rev-parse", "--show-object-format").strip() == "sha1"
    assert git("-C", store_path, "fsck", "--strict") == ""


def test_a_store_is_made_with_its_parents_and_by_a_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = Store.init("a/b c/é/store")
    assert store.path.resolve() == tmp_path / "a/b c/é/store"
    assert Store.open(Path("a/b c/é/store")).list() == []


def test_init_opens_the_store_that_is_there(store: Store) -> None:
    store.bind("s").commit(FIRST)
    config = (store.path / "config").read_text()
    assert Store.init(store.path).bind("s").load().head == "first"
    assert (store.path / "config").read_text() == config


def test_init_takes_an_empty_directory(tmp_path: Path) -> None:
    assert Store.init(tmp_path).list() == []
    assert mode(tmp_path) == 0o700


@pytest.mark.parametrize("made", [["objects"], ["objects", "refs", "gitsession"], ["objects", "refs", "config.x1"]])
def test_init_finishes_what_a_killed_one_began(store_path: Path, made: list[str], git: Git) -> None:
    for name in made:
        (store_path / name).mkdir(parents=True)
    store = Store.init(store_path)
    assert store.bind("s").commit(FIRST).head == "first"
    assert git("-C", store_path, "config", "gitsession.format") == "1\n"


@pytest.mark.parametrize("name", ["README.md", ".git", "objects.txt", "HEADER"])
def test_init_leaves_a_directory_with_other_files_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(NotAStore):
        Store.init(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]


# What is no store.


def refusal(path: Path) -> str:
    with pytest.raises(NotAStore) as caught:
        Store.open(path)
    assert caught.value.path in (str(path), str(path / ".git"))
    assert str(caught.value) == f"{caught.value.path}: {caught.value.reason}"
    return caught.value.reason


def test_nothing_at_all(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none").startswith("there is no store; make a store with `gitsession init`")


def test_an_empty_directory(tmp_path: Path) -> None:
    assert refusal(tmp_path).startswith("is no git repository; make a store with `gitsession init`")


def test_a_directory_with_other_things_in_it(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("x")
    with pytest.raises(NotAStore, match="a store is made in a directory that is new or empty"):
        Store.init(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert refusal(tmp_path / "file").startswith("is no git repository")
    with pytest.raises(NotAStore, match="is a file; a store is a directory"):
        Store.init(tmp_path / "file")


def test_a_directory_inside_a_store(store: Store) -> None:
    assert refusal(store.path / "objects").startswith("is no git repository")


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("commits", [False, True])
def test_an_ordinary_repository(tmp_path: Path, git: Git, bare: bool, commits: bool) -> None:
    git("init", "-q", "-b", "main", tmp_path / "code")
    if commits:
        person = ("-c", "user.name=x", "-c", "user.email=x@example.invalid")
        git("-C", tmp_path / "code", *person, "commit", "-q", "--allow-empty", "-m", "x")
    if not bare:
        assert refusal(tmp_path / "code").startswith("is a git repository, but no store of sessions")
    elif commits:
        git("clone", "-q", "--bare", tmp_path / "code", tmp_path / "bare")
        assert refusal(tmp_path / "bare").startswith("is a git repository, but no store of sessions")
    before = sorted(path.name for path in (tmp_path / "code").iterdir())
    with pytest.raises(NotAStore):
        Store.init(tmp_path / "code")
    assert before == sorted(path.name for path in (tmp_path / "code").iterdir())


def test_a_bare_repository_without_any_branch_may_become_a_store(tmp_path: Path, git: Git) -> None:
    git("init", "-q", "--bare", tmp_path)
    assert Store.open(tmp_path).bind("s").commit(FIRST).head == "first"
    assert [meta.id for meta in Store.open(tmp_path).list()] == ["s"]


def configure(store: Store, text: str) -> Path:
    with (store.path / "config").open("a") as config:
        config.write(text)
    return store.path


def test_a_repository_of_sha256_objects(store: Store) -> None:
    path = configure(store, "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n")
    assert refusal(path).startswith("is a repository of SHA-256 objects")


def test_a_repository_with_a_reftable(store: Store) -> None:
    path = configure(store, "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefstorage = reftable\n")
    assert refusal(path).startswith("keeps its refs in a reftable")


@pytest.mark.parametrize(
    "text",
    [
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialclone = origin\n",
        '[remote "origin"]\n\tpromisor = true\n',
    ],
)
def test_a_partial_clone(store: Store, text: str) -> None:
    assert refusal(configure(store, text)).startswith("is a partial clone")


def test_a_repository_that_borrows_objects(store: Store, tmp_path: Path) -> None:
    (store.path / "objects/info/alternates").write_text(f"{tmp_path}\n")
    assert refusal(store.path).startswith("borrows objects from another repository")


@pytest.mark.parametrize("text", ["[core]\n\trepositoryformatversion = 7\n", "[garbage\n", "\0\0\0"])
def test_a_configuration_that_cannot_be_understood(store: Store, text: str) -> None:
    assert refusal(configure(store, text)).startswith("is a git repository that cannot be opened: ")


@pytest.mark.parametrize("value", ["2", "0", "x", "1.5"])
def test_a_store_of_another_format(store: Store, git: Git, value: str) -> None:
    git("-C", store.path, "config", "gitsession.format", value)
    with pytest.raises(UnsupportedFormat, match=f"has format version '{value}'; known are 1") as caught:
        Store.open(store.path)
    assert (caught.value.found, caught.value.known) == (value, (1,))


@pytest.mark.parametrize("content", [b"", b"garbage", b"\0" * 20])
def test_a_store_whose_head_is_damaged_opens_or_is_refused(store: Store, content: bytes) -> None:
    (store.path / "HEAD").write_bytes(content)
    try:
        assert Store.open(store.path).list() == []
    except NotAStore as error:
        reason = error.reason
        assert reason  # either outcome is right, and nothing else is


if os.geteuid() == 0:  # only root can give a file away; as another user there is nothing to make this of

    def test_a_repository_of_another_user(store: Store) -> None:
        os.chown(store.path, 12345, 12345)
        assert refusal(store.path) == (
            f"belongs to another user; if you trust it, run `git config --global --add safe.directory {store.path}`"
        )


# What the disk says.


def test_a_file_where_objects_should_be_is_unavailable(store: Store) -> None:
    (store.path / "objects/pack").rmdir()
    (store.path / "objects/info").rmdir()
    (store.path / "objects").rmdir()
    (store.path / "objects").write_text("")
    with pytest.raises((Unavailable, NotAStore)):
        Store.open(store.path).bind("s").commit(FIRST)


def test_a_limit_on_file_size_is_unavailable_and_leaves_the_session_as_it_was(store: Store) -> None:
    """A disk that is full, in a process of its own: the system refuses to write on."""
    store.bind("s").commit(FIRST)
    script = """
import resource, signal, sys
from gitsession import SessionCommit, Store, Unavailable
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store.open(sys.argv[1], durable=False)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    store.bind("s").commit(SessionCommit("big", "first", [{"text": str(list(range(20_000)))}]))
except Unavailable as error:
    print(error)
assert store.bind("s").load().head == "first"
assert store.bind("s").commit(SessionCommit("small", "first", [{}])).head == "small"
"""
    done = subprocess.run([sys.executable, "-c", script, store.path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("cannot write to the store: ")
    assert store.bind("s").load().head == "small"
    assert [path for path in (store.path / "objects").iterdir() if path.name.startswith("tmp")] == []


# File systems that ignore case.


@pytest.mark.parametrize("packed", [False, True])
def test_where_case_is_ignored_ids_that_differ_in_it_alone_are_refused(store: Store, git: Git, packed: bool) -> None:
    git("-C", store.path, "config", "core.ignorecase", "true")
    caseless = Store.open(store.path, durable=False)
    caseless.create(SessionMeta("Talk"))
    if packed:
        git("-C", store.path, "pack-refs", "--all")
    for call in (
        lambda: caseless.create(SessionMeta("talk")),
        lambda: caseless.fork("Talk", "TALK"),
        lambda: caseless.bind("tALK").commit(FIRST),
    ):
        with pytest.raises(SessionExists, match="'Talk' stands in the way"):
            call()
    with pytest.raises(SessionExists):
        caseless.create(SessionMeta("Talk"))
    assert caseless.bind("Talk").commit(FIRST).head == "first"
    assert caseless.create(SessionMeta("talks")) == "talks"
    assert store.create(SessionMeta("talk")) == "talk"
