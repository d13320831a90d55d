"""A list of sessions is whole while git packs the refs under it.

`pytest -m slow --full tests/guarantees/test_listing.py`: 10,000 lists.
"""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitsession import MessageEntry, SessionMeta, Store
from tests.guarantees.children import Say, together

pytestmark = pytest.mark.slow

SESSIONS = 40
READERS = 3


def test_no_session_is_missing_from_a_list_while_refs_are_packed(
    tmp_path: Path, scale: Callable[[int, int], int]
) -> None:
    path = tmp_path / "store.git"
    store = Store.init(path, durable=False)
    names = sorted(f"s{number}" for number in range(SESSIONS))
    for name in names:
        store.create(SessionMeta(name))
    stop = tmp_path / "stop"
    count = scale(150, 10_000) // READERS + 1

    def listing(say: Say) -> None:
        reader = Store.open(path)
        for _ in range(count):
            found = sorted(meta.id for meta in reader.list())
            say("whole" if found == names else f"missing {set(names) - set(found)}")
        stop.touch()

    def writing(say: Say) -> None:
        """Makes loose refs of the packed ones, over and over, so that there is something to pack."""
        writer = Store.open(path, durable=False)
        number = 0
        while not stop.exists():
            writer.append(names[number % SESSIONS], MessageEntry({"number": number}))
            number += 1
        say(f"{number}")

    packing = subprocess.Popen(
        ["sh", "-c", 'while [ ! -e "$0" ]; do git pack-refs --all; done', stop], cwd=path, stderr=subprocess.DEVNULL
    )

    try:
        said = together([*[listing] * READERS, writing])
    finally:
        stop.touch()
        packing.wait()
    assert [lines for lines in said[:READERS] if lines != ["whole"] * count] == []
    assert int(said[READERS][0]) > 0
