"""Three hundred packs are read by a process that may have 256 files open.

`pytest -m slow tests/guarantees/test_open_files.py`.
"""

import subprocess
import sys
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
