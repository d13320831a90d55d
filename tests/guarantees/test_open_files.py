"""Few files may be open: three hundred packs are read under a limit of 256, and what needs one too many says so.

`pytest -m slow tests/guarantees/test_open_files.py`.
"""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from gitsession import MessageEntry, SessionMeta, Store, verify
from tests.guarantees.children import Say, together

if sys.platform != "win32":
    import resource

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit"),
]

PACKS = 300


def test_300_packs_are_read_under_a_limit_of_256_open_files(tmp_path: Path) -> None:
    path = tmp_path / "store.git"
    store = Store.init(path, durable=False)
    store.create(SessionMeta("s"))
    for number in range(PACKS):
        store.append("s", MessageEntry({"number": number, "text": "x" * 100}))
        loose = [file.parent.name + file.name for file in (path / "objects").glob("[0-9a-f]?/*")]
        pack = ["git", "-C", path, "pack-objects", "-q", path / "objects/pack/pack"]
        subprocess.run(pack, input="\n".join(loose), text=True, stdout=subprocess.DEVNULL, check=True)
        for oid in loose:
            (path / "objects" / oid[:2] / oid[2:]).unlink()
    assert len(list((path / "objects" / "pack").glob("*.pack"))) == PACKS

    def reading(say: Say) -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
        reader = Store.open(path)
        say(f"{len(reader.load('s'))} {sum(1 for _ in reader.log('s'))}")
        say(f"{[finding.problem for finding in verify(reader)]}")
        reader.append("s", MessageEntry({"number": PACKS}))
        say(f"{reader.info('s').deltas}")

    assert together([reading]) == [[f"{PACKS} {PACKS + 1}", "[]", f"{PACKS + 1}"]]


# A process of its own, in which nothing is loaded yet that a commit needs.
WRITING = """
import os, resource, sys
from gitsession import MessageEntry, Store, Unavailable

store = Store.open(sys.argv[1])
highest = max(map(int, os.listdir("/dev/fd")))
before = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (highest + int(sys.argv[2]), before[1]))
try:
    store.append("s", MessageEntry({"role": "user"}, sys.argv[2]))
    print("stored")
except Unavailable:
    print("unavailable")
resource.setrlimit(resource.RLIMIT_NOFILE, before)
store.append("s", MessageEntry({"role": "user"}, "after-" + sys.argv[2]))
"""


def test_a_write_that_may_not_open_one_file_more_is_unavailable_and_goes_on_later(tmp_path: Path) -> None:
    path = tmp_path / "store.git"
    store = Store.init(path)
    store.create(SessionMeta("s"))
    told: Counter[str] = Counter()
    stored = []
    for more in range(8):
        done = subprocess.run(
            [sys.executable, "-c", WRITING, path, f"{more}"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (more, done.stderr)
        told[done.stdout] += 1
        stored += [f"{more}"] if done.stdout == "stored\n" else []
        stored.append(f"after-{more}")
    assert [entry.id for entry in store.load("s")] == stored
    assert told["stored\n"] > 0
    assert told["unavailable\n"] > 2
    assert list(verify(store)) == []
