"""Object ids that never change, and a store that always opens; `tests/golden.py` tells how entries are added."""

import json
import tarfile
from pathlib import Path

import pytest

from gitsession import MessageEntry, Store
from gitsession.verify import verify

from . import golden
from .importing import FIXTURES, TRANSCRIPTS, assert_flawless, original, take
from .scratches import used_at_once

IMPORTS = json.loads(golden.IMPORTS.read_text())
IMPORTS_BY_TEXT_1 = json.loads(golden.IMPORTS_BY_TEXT_1.read_text())


def test_every_fixture_has_its_entry() -> None:
    assert {str(path.relative_to(FIXTURES)) for path in TRANSCRIPTS} <= IMPORTS.keys(), "python -m tests.golden adds it"


@pytest.mark.parametrize("name", IMPORTS)
def test_an_import_gives_the_object_ids_that_it_always_gave(name: str) -> None:
    assert IMPORTS[name] == golden.imported(FIXTURES / name)


@pytest.mark.parametrize("name", IMPORTS)
def test_an_import_that_sets_aside_what_it_knows_of_the_file_gives_them_too(name: str) -> None:
    with used_at_once():
        assert IMPORTS[name] == golden.imported(FIXTURES / name)


@pytest.mark.parametrize("name", IMPORTS_BY_TEXT_1)
@pytest.mark.parametrize("begun", [1, 3])
def test_a_session_that_was_begun_by_the_first_rules_goes_on_by_them(name: str, begun: int, tmp_path: Path) -> None:
    beginning = tmp_path / Path(*Path(name).parts[1:])
    beginning.parent.mkdir(parents=True, exist_ok=True)
    beginning.write_bytes(b"".join((FIXTURES / name).read_bytes().splitlines(keepends=True)[:begun]))

    assert IMPORTS_BY_TEXT_1[name] == golden.imported_by_text_1(FIXTURES / name, beginning)


def test_a_live_session_gives_the_object_ids_that_it_always_gave() -> None:
    assert json.loads(golden.LIVE.read_text()) == golden.live()


class TestAStoreOfFormat1:
    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        with tarfile.open(golden.STORE) as archive:
            archive.extractall(tmp_path, filter="data")
        return Store.open(tmp_path / "store.git", durable=False)

    def test_opens_and_loads(self, store: Store) -> None:
        assert json.loads(golden.STORE_CONTENT.read_text()) == golden.content_of(store)

    def test_is_whole(self, store: Store) -> None:
        # Stores have it in their configuration since then.
        remarks = ["the configuration lacks core.fsync: what git itself writes here may be lost in a power cut"]
        assert [(finding.problem, finding.damage) for finding in verify(store)] == [(one, False) for one in remarks]
        assert_flawless(store)

    def test_is_written_on(self, store: Store) -> None:
        entry = MessageEntry({"role": "user", "content": "More"}, "more", None, "2026-01-06T00:00:00Z")
        for session in store.list():
            store.append(session.id, entry)

            assert store.info(session.id).head == "more"

    def test_knows_what_it_imported(self, store: Store) -> None:
        path = FIXTURES / "claude-code" / "rewind.jsonl"

        assert take(store, path)[0].new_commits == 0
        assert path.read_bytes() == original(store, "rewind")
