"""Sessions in a file."""

import os
from pathlib import Path

import pytest

from gitsession import (
    Diverged,
    InvalidBundle,
    SessionNotFound,
    Store,
    SyncRefused,
    import_bundle,
    is_bundle,
    verify,
    write_bundle,
)
from tests.conftest import Git

from .conftest import said, say


@pytest.fixture
def there(tmp_path: Path) -> Store:
    return Store.init(tmp_path / "there.git", durable=False)


def test_a_bundle_takes_sessions_to_a_machine_without_a_network(store: Store, there: Store, tmp_path: Path) -> None:
    say(store, "s", "one", "two")
    say(store, "t", "one")
    path = tmp_path / "laptop.bundle"
    assert write_bundle(store, path) == ["s", "t"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert is_bundle(path)
    assert [(one.session, one.status) for one in import_bundle(there, path)] == [("s", "new"), ("t", "new")]
    assert said(there, "s") == ["one", "two"]
    assert import_bundle(there, path) == []
    assert [*verify(there)] == []
    assert [entry.name for entry in (there.path / "objects" / "pack").glob("*.keep")] == []


def test_a_bundle_of_a_session_that_went_on_here_is_the_other_side(store: Store, there: Store, tmp_path: Path) -> None:
    say(store, "s", "one")
    say(store, "t", "one")
    path = tmp_path / "laptop.bundle"
    write_bundle(store, path, ["s"])
    import_bundle(there, path)
    say(there, "s", "two there")
    say(store, "s", "two here")
    write_bundle(store, path, ["*"])
    with pytest.raises(Diverged):
        import_bundle(there, path)
    assert said(there, "s") == ["one", "two there"]
    assert said(there, "s@laptop") == ["one", "two here"]
    assert said(there, "t") == ["one"]


def test_a_bundle_of_plain_git_that_builds_on_what_is_here_is_taken(
    store: Store, there: Store, tmp_path: Path, git: Git
) -> None:
    say(store, "s", "one")
    write_bundle(store, tmp_path / "a.bundle")
    import_bundle(there, tmp_path / "a.bundle")
    say(store, "s", "two")
    git("-C", store.path, "bundle", "create", "--quiet", tmp_path / "b.bundle", "s~1..s")
    assert [(one.session, one.status) for one in import_bundle(there, tmp_path / "b.bundle")] == [("s", "moved")]
    other = Store.init(tmp_path / "other.git", durable=False)
    with pytest.raises(InvalidBundle):
        import_bundle(other, tmp_path / "b.bundle")
    assert [*other.other_sides()] == []


def test_a_bundle_that_took_back_what_an_earlier_one_had_is_refused(
    store: Store, there: Store, tmp_path: Path, git: Git
) -> None:
    say(store, "s", "one", "two")
    write_bundle(store, tmp_path / "a.bundle")
    import_bundle(there, tmp_path / "a.bundle")
    git("-C", store.path, "update-ref", "refs/heads/s", "s~1")
    say(store, "s", "another two")
    write_bundle(store, tmp_path / "a.bundle")
    with pytest.raises(SyncRefused, match="no longer holds"):
        import_bundle(there, tmp_path / "a.bundle")
    assert said(there, "s") == ["one", "two"]


@pytest.mark.parametrize("cut", [0, 10, 30, 100, -30, -1])
def test_a_bundle_that_was_cut_short_changes_nothing(store: Store, there: Store, tmp_path: Path, cut: int) -> None:
    say(store, "s", "one")
    write_bundle(store, tmp_path / "a.bundle")
    (tmp_path / "a.bundle").write_bytes((tmp_path / "a.bundle").read_bytes()[:cut])
    with pytest.raises(InvalidBundle):
        import_bundle(there, tmp_path / "a.bundle")
    assert (there.list(), [*there.other_sides()]) == ([], [])


def test_nothing_to_write_is_no_bundle(store: Store, tmp_path: Path) -> None:
    for sessions in (None, ["nobody"], ["no-*"]):
        with pytest.raises(SessionNotFound):
            write_bundle(store, tmp_path / "a.bundle", sessions)
    assert [path.name for path in tmp_path.iterdir()] == ["store.git"]


@pytest.mark.parametrize("names", [None, ["s", "empty", "missing", "t"]])
def test_damaged_branches_are_named_and_the_others_are_bundled(
    store: Store, there: Store, tmp_path: Path, names: list[str] | None
) -> None:
    say(store, "s", "one")
    say(store, "t", "one")
    (store.path / "refs" / "heads" / "missing").write_text("1234567890" * 4 + "\n")
    (store.path / "refs" / "heads" / "empty").write_text("")
    path = tmp_path / "laptop.bundle"
    with pytest.raises(SyncRefused) as told:
        write_bundle(store, path, names)
    assert {*told.value.refused} == {"empty", "missing"}
    assert told.value.results == ("s", "t")
    assert [one.session for one in import_bundle(there, path)] == ["s", "t"]
    with pytest.raises(SyncRefused):
        write_bundle(store, tmp_path / "none.bundle", ["empty"])
    assert not (tmp_path / "none.bundle").exists()


@pytest.mark.parametrize("name", ["nobody", "no-*"])
def test_what_a_bundle_does_not_have_is_not_found(store: Store, there: Store, tmp_path: Path, name: str) -> None:
    say(store, "s", "one")
    path = tmp_path / "laptop.bundle"
    with pytest.raises(SessionNotFound):
        write_bundle(store, path, ["s", name])
    assert not path.exists()
    write_bundle(store, path)
    with pytest.raises(SessionNotFound, match="'laptop' has no session"):
        import_bundle(there, path, [name])
    with pytest.raises(SyncRefused, match="has no such session"):
        import_bundle(there, path, ["s", name])
    assert said(there, "s") == ["one"]


def test_only_a_bundle_is_replaced(store: Store, tmp_path: Path) -> None:
    say(store, "s", "one")
    precious = tmp_path / "precious.txt"
    precious.write_text("precious")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    for path in (precious, tmp_path / "pipe", tmp_path / "directory", Path(os.devnull)):
        with pytest.raises(InvalidBundle, match="is no git bundle") as told:
            write_bundle(store, path)
        assert told.value.path == str(path)
    assert precious.read_text() == "precious"
    bundle = tmp_path / "x.bundle"
    for there in (b"", b"# v2 git bundle\nof old"):
        bundle.write_bytes(there)
        assert write_bundle(store, bundle) == ["s"]
        assert bundle.stat().st_size > 100


def test_what_is_no_bundle_is_told_as_such(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "no.bundle"
    path.write_text("nonsense")
    with pytest.raises(InvalidBundle, match=r"no\.bundle: it is no git bundle"):
        import_bundle(store, path)
    say(store, "s", "one")
    write_bundle(store, tmp_path / "x.bundle")
    path.write_bytes((tmp_path / "x.bundle").read_bytes()[:-30])
    with pytest.raises(InvalidBundle, match=r"no\.bundle: it is no bundle that can be imported: git does not take it"):
        import_bundle(store, path)
