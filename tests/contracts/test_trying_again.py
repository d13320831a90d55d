"""After `Unavailable` nobody knows whether something was stored. So everything that writes can be tried again.

The disk fails at one moment, at each that there is in turn: once, or for good until it is mended.
"""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from gitsession import (
    ImportFailure,
    MessageEntry,
    SessionCommit,
    SessionExists,
    SessionMeta,
    Store,
    Unavailable,
    import_transcripts,
    verify,
)
from gitsession.repo.disk import Disk
from tests.importing import FIXTURES
from tests.stores import HELLO, HI, everything


class FailingDisk(Disk):
    """A disk that fails from one moment on, so many times.

    Attributes:
        moments: How many moments there were.
    """

    def __init__(self, store: Store, *, after: int, times: int) -> None:
        super().__init__(store.path, durable=False)
        self.moments = 0
        self._failing = range(after, after + times)
        repository = store.repository
        repository.disk = repository.refs.disk = repository.objects.disk = self

    def mend(self) -> None:
        self._failing = range(0)

    def _moment(self) -> None:
        self.moments += 1
        if self.moments - 1 in self._failing:
            raise OSError(errno.EIO, "the disk failed")

    def file(self, file: int) -> None:
        self._moment()

    def directory(self, path: str | Path) -> None:
        self._moment()

    def barrier(self) -> None:
        self._moment()


def bring_in(store: Store) -> None:
    for result in import_transcripts(store, [FIXTURES / "claude-code" / "simple.jsonl"]):
        if isinstance(result, ImportFailure):
            raise result.error


WRITES: dict[str, Callable[[Store], object]] = {
    "create": lambda store: store.create(SessionMeta("new", created_at="")),
    "first commit": lambda store: store.bind("new").commit(SessionCommit("c1", None, [HELLO, HI])),
    "commit": lambda store: store.bind("s").commit(SessionCommit("c1", "e1", [HELLO, HI])),
    "append": lambda store: store.append("s", MessageEntry(HELLO, "e2", None, "2026-01-01T00:00:00Z")),
    "fork": lambda store: store.fork("s", "new"),
    "import": bring_in,
}


def made(path: Path) -> Store:
    store = Store.init(path, durable=False)
    store.create(SessionMeta("s"))
    store.append("s", MessageEntry(HELLO, "e1", None, "2026-01-01T00:00:00Z"))
    return store


def shown(store: Store) -> dict[str, list[bytes]]:
    return {meta.id: list(store.transcript(meta.id)) for meta in store.list()}


@pytest.mark.parametrize("times", [1, 10**9], ids=["once", "for good"])
@pytest.mark.parametrize("name", WRITES)
def test_what_is_tried_again_is_there_once(tmp_path: Path, name: str, times: int) -> None:
    write = WRITES[name]
    write(reference := made(tmp_path / "reference.git"))
    for after in range(1000):
        store = made(tmp_path / f"{after}.git")
        before = shown(store)
        disk = FailingDisk(store, after=after, times=times)
        try:
            write(store)
        except Unavailable:
            # Stored as a whole, or not at all; but of an import, some branches may have moved.
            if name != "import":
                assert shown(Store.open(store.path)) in (before, shown(reference))
        else:
            assert disk.moments <= after or times < 3
        disk.mend()
        try:
            write(store)
        except SessionExists:
            assert name in ("create", "fork")  # who makes a session cannot tell that it was made by their own first try
        assert shown(store) == shown(Store.open(store.path)) == shown(reference)
        assert list(verify(store)) == []
        if disk.moments <= after:
            break
    assert after > 4


@pytest.mark.parametrize("name", ["first commit", "commit", "append"])
def test_what_is_found_is_not_acknowledged_before_it_is_durable(tmp_path: Path, name: str) -> None:
    """The first try moved the branch and failed; the next finds what it stored, on a disk that still fails."""
    write = WRITES[name]
    for after in range(1000):
        store = made(tmp_path / f"{after}.git")
        disk = FailingDisk(store, after=after, times=10**9)
        before = everything(store)
        try:
            write(store)
        except Unavailable:
            pass
        else:
            break
        if everything(store) != before:
            for again in (store, Store.open(store.path, durable=False)):
                broken = FailingDisk(again, after=0, times=10**9)
                with pytest.raises(Unavailable):
                    write(again)
                broken.mend()
        del disk
    assert after > 4


def test_what_was_acknowledged_here_is_not_made_sure_of_again(tmp_path: Path) -> None:
    """So an agent that appends all it has, whenever it begins, waits for the disk once."""
    store = made(tmp_path / "store.git")
    entries = [MessageEntry(HELLO, f"e{number}", None, "2026-01-01T00:00:00Z") for number in range(2, 60)]
    for entry in entries:
        store.append("s", entry)
    again = Store.open(store.path, durable=False)
    disk = FailingDisk(again, after=0, times=0)
    again.append("s", entries[0])
    moments = disk.moments
    assert moments > 0
    for entry in entries:
        again.append("s", entry)
    assert disk.moments == moments
