"""What a store holds is its owner's alone, whatever the umask: each file and each directory, whoever made it when.

`pytest -m slow tests/guarantees/test_permissions.py`.
"""

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitsession import MessageEntry, SessionMeta, Store, apply_repair, import_transcripts, plan_repair
from tests.importing import FIXTURES
from tests.stores import git_output

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permission bits"),
]


@pytest.fixture(params=[0o000, 0o022, 0o007], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def open_to_others(path: Path) -> list[str]:
    """Returns what of a store anybody but its owner may read, write or enter."""
    return sorted(
        f"{stat.filemode(one.lstat().st_mode)} {one.relative_to(path)}"
        for one in (path, *path.rglob("*"))
        if one.lstat().st_mode & 0o077
    )


def test_nothing_in_a_store_is_open_to_others(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "above" / "store.git"
    store = Store.init(path)
    assert open_to_others(path) == []
    store.create(SessionMeta("s"))
    for number in range(210):
        store.append("s", MessageEntry({"number": number}, f"e{number}", None, "2026-01-01T00:00:00Z"))
    assert len(store.bind("s").load().messages) == 210  # fills the cache of full directories
    assert list((path / "gitsession" / "cache").rglob("*")) != []
    store.fork("s", "fork", at="#3")
    for _ in import_transcripts(store, sorted(FIXTURES.glob("claude-code/*.jsonl"))):
        pass
    assert list((path / "objects" / "pack").glob("*.pack")) != []
    (path / "refs/heads/fork").write_bytes(b"")
    for repair in plan_repair(store):
        apply_repair(store, repair)
    assert store.info("fork").deltas == 4
    (path / "refs/heads/fork").chmod(0o600)  # what this test wrote itself
    assert open_to_others(path) == []


def test_what_git_itself_writes_into_a_store_is_not_open_to_others(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "store.git"
    store = Store.init(path)
    store.create(SessionMeta("s"))
    git_output(path, "pack-refs", "--all")
    git_output(path, "repack", "-adq")
    git_output(path, "gc", "-q")
    git_output(path, "branch", "copy", "s")
    store.append("s", MessageEntry({"after": True}))
    git_output(path, "push", "-q", str(Store.init(tmp_path / "other.git").path), "s:refs/heads/s")
    assert open_to_others(path) == []
    assert open_to_others(tmp_path / "other.git") == []
