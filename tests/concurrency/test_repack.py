"""`git repack -ad` beside an import: it drops what no ref reached when it looked, and leaves no trace that it runs."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from gitsession import Store
from gitsession.repo.batch import GrowingBatch
from gitsession.repo.codec import git_object
from gitsession.repo.pack import PackWriter
from gitsession.repo.repository import Move
from tests.conftest import Git
from tests.repo.test_gc import HOST, dead_pid

SLOW_GIT = """\
#!/bin/sh
{git} "$@"
code=$?
if [ "$1" = pack-objects ]; then
    touch {ready}
    while [ ! -e {go} ]; do sleep 0.01; done
fi
exit $code
"""


class RepackedBatch(GrowingBatch):
    """A batch whose objects are stored just before a repack begins, which looks at the refs and then is slow."""

    def __init__(self, store: Store, directory: Path) -> None:
        super().__init__(store.repository.objects)
        self._store = store
        self._ready, self._go = directory / "ready", directory / "go"
        self._repack: subprocess.Popen[bytes] | None = None
        script = directory / "git"
        git = subprocess.run(["which", "git"], capture_output=True, check=True, text=True).stdout.strip()
        script.write_text(SLOW_GIT.format(git=git, ready=self._ready, go=self._go))
        script.chmod(0o700)
        self._environment = os.environ | {"GIT_EXEC_PATH": str(directory)}

    def store(self) -> None:
        super().store()
        self._repack = subprocess.Popen(["git", "-C", self._store.path, "repack", "-adq"], env=self._environment)
        while not self._ready.exists():
            time.sleep(0.01)

    def finish(self) -> None:
        """Lets the repack delete what it holds for unreachable."""
        self._go.touch()
        assert self._repack is not None
        assert self._repack.wait() == 0


def commit_of(number: int) -> bytes:
    person = "a <b> 1 +0000"
    tree = git_object("tree", b"").oid
    return f"tree {tree}\nauthor {person}\ncommitter {person}\n\nnumber {number}\n".encode()


@pytest.mark.skipif(os.name == "nt", reason="it needs a shell")
def test_a_repack_that_did_not_see_the_ref_move_keeps_the_pack_of_an_import(
    store: Store, git: Git, tmp_path: Path
) -> None:
    batch = RepackedBatch(store, tmp_path)
    batch.add([(git_object("tree", b""), None)])
    commits = [git_object("commit", commit_of(number)) for number in range(200)]
    batch.add((made, None) for made in commits)
    moves = [Move(f"s{number}", None, made.oid, "import") for number, made in enumerate(commits)]
    assert store.repository.move_all(moves, batch) == []
    batch.close()
    batch.finish()
    git("-C", store.path, "fsck", "--strict")
    assert all(store.repository.objects.exists(made.oid) for made in commits)
    # And nothing holds the pack any more: the next repack may take it.
    git("-C", store.path, "repack", "-adq")
    assert [path.suffix for path in (store.path / "objects/pack").glob("*.keep")] == []
    assert len(list((store.path / "objects/pack").glob("*.pack"))) == 1


@pytest.mark.parametrize(
    ("content", "left"),
    [
        ("gitsession {dead} {host}\n", False),
        ("gitsession {own} {host}\n", True),
        ("gitsession 1 elsewhere\n", True),
        ("receive-pack 1 on elsewhere\n", True),
        ("", True),
    ],
)
def test_what_a_killed_import_held_is_let_go_by_the_next(store: Store, content: str, left: bool) -> None:
    keep = store.path / "objects" / "pack" / f"pack-{'0' * 40}.keep"
    keep.write_text(content.format_map({"dead": dead_pid(), "own": os.getpid(), "host": HOST}))
    writer = PackWriter(store.repository.objects)
    writer.add(git_object("blob", b"x"))
    writer.store()
    writer.close()
    assert keep.exists() == left


def test_what_a_running_import_holds_stays_held_however_old_the_clock_makes_it(store: Store) -> None:
    first, second = PackWriter(store.repository.objects), PackWriter(store.repository.objects)
    for number, writer in enumerate((first, second)):
        writer.add(git_object("blob", b"%d" % number))
    first.store()
    (keep,) = (store.path / "objects" / "pack").glob("*.keep")
    os.utime(keep, (time.time() - 13 * 3600,) * 2)
    second.store()
    assert keep.exists()
    second.close()
    first.close()
    assert not keep.exists()
