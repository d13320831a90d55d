"""Versions: a store of each version that was ever written opens, and one of a version to come is refused by its number.

`pytest -m slow tests/guarantees/test_versions.py`.
"""

import json
import tarfile
from pathlib import Path

import pytest

from gitsession import BrokenSession, MessageEntry, SessionMeta, Store, UnsupportedFormat, verify
from tests.importing import FIXTURES
from tests.stores import everything, git_output

pytestmark = pytest.mark.slow

STORES = sorted((FIXTURES / "stores").glob("*.tar.gz"))


@pytest.mark.parametrize("archive", STORES, ids=lambda path: path.name)
def test_a_store_of_each_version_opens_loads_verifies_and_takes_more(tmp_path: Path, archive: Path) -> None:
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    (path,) = (found.parent for found in tmp_path.rglob("HEAD") if found.parent.name != "logs")
    store = Store.open(path, durable=False)
    assert [finding for finding in verify(store) if finding.damage] == []
    sessions = store.list()
    assert len(sessions) > 1
    for meta in sessions:
        before = store.load(meta.id)
        store.append(meta.id, MessageEntry({"role": "user", "content": "later"}, "later", None, ""))
        after = Store.open(path).load(meta.id)
        assert (after[:-1], after[-1].id) == (before, "later")
    assert [finding for finding in verify(store) if finding.damage] == []


@pytest.mark.parametrize("number", ["0", "2", "99", "x"])
def test_a_store_of_an_unknown_version_is_refused_with_its_number_and_left_alone(store: Store, number: str) -> None:
    store.create(SessionMeta("s"))
    git_output(store.path, "config", "gitsession.format", number)
    before = everything(store)
    for opening in (Store.open, Store.init):
        with pytest.raises(UnsupportedFormat, match=f"{number}.*known are 1") as caught:
            opening(store.path)
        assert (caught.value.found, caught.value.known) == (number, (1,))
    assert everything(store) == before


@pytest.mark.parametrize("key", ["format", "text"])
def test_a_session_of_an_unknown_version_is_refused_with_its_number_and_hides_no_other(
    store: Store, tmp_path: Path, key: str
) -> None:
    for name in ("s", "other"):
        store.create(SessionMeta(name))
    git_output(tmp_path, "clone", "-q", "-b", "s", str(store.path), "tree")
    header = tmp_path / "tree" / "session.json"
    header.write_text(json.dumps(json.loads(header.read_text()) | {key: 99}) + "\n")
    person = ("-c", "user.name=x", "-c", "user.email=x@example.invalid")
    git_output(tmp_path / "tree", *person, "commit", "-q", "-a", "-m", "A later version")
    git_output(tmp_path / "tree", "push", "-q")
    before = everything(store)

    found = list(store.sessions())
    assert [session.id for session in found] == ["other", "s"]
    assert isinstance(found[1], BrokenSession)
    assert isinstance(found[1].error, UnsupportedFormat)
    assert found[1].error.found == 99
    with pytest.raises(UnsupportedFormat, match=r"99.*known are 1"):
        store.load("s")
    with pytest.raises(UnsupportedFormat, match=r"99.*known are 1"):
        store.append("s", MessageEntry({}))
    assert everything(store) == before
    store.append("other", MessageEntry({}))
