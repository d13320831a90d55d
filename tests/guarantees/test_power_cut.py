"""A power cut: the image of a file system, copied the moment its writers are killed, and mounted from the copy.

The copy holds what the disk was given by then, and no more: what the system still kept in memory is lost, as when the
power goes. Mounting it replays the journal. It takes root and a loop device.

`pytest -m slow --full tests/guarantees/test_power_cut.py`: 100 images.
"""

import os
import random
import shutil
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitsession import SessionError, Store, new_commit, verify
from tests.guarantees.children import Child, Hold, Say

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounting an image takes root"),
]

WRITERS = 3


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[Path, str], Path]]:
    """Returns a function that mounts an image by a name, and unmounts all at the end."""
    places: list[Path] = []

    def mount(image: Path, name: str) -> Path:
        place = tmp_path / name
        place.mkdir()
        subprocess.run(["mount", "-o", "loop", image, place], check=True)
        places.append(place)
        return place

    yield mount
    for place in reversed(places):
        if place.is_mount():
            subprocess.run(["umount", "-l", place], check=False)


def committing(path: Path, session_id: str, *, durable: bool) -> Child:
    def work(say: Say, hold: Hold) -> None:
        warnings.simplefilter("ignore")  # of the locks that the killed ones before left
        session = Store.open(path, durable=durable).bind(session_id)
        head = session.load().head
        hold()
        for number in range(1_000_000):
            head = session.commit(new_commit(head, [{"role": "user", "content": f"{number} " + "x" * 700}])).head
            say(str(head))

    return Child(work)


def test_no_acknowledged_commit_is_lost_to_a_power_cut(
    tmp_path: Path, mounted: Callable[[Path, str], Path], scale: Callable[[int, int], int]
) -> None:
    chance = random.Random(2)
    # Several disks, each cut several times: a store that only grows would make each look at it longer.
    for number in range(scale(1, 10)):
        image = tmp_path / f"disk-{number}.img"
        path = mounted(made(image), f"disk-{number}") / "store.git"
        Store.init(path)
        acknowledged: dict[str, list[str]] = {f"s{number}": [] for number in range(WRITERS)}
        for cut in range(scale(3, 10)):
            children = {name: committing(path, name, durable=True) for name in acknowledged}
            for child in children.values():
                child.go()
            time.sleep(chance.uniform(0.05, 0.5))
            for child in children.values():
                child.kill()
            # At once, before the system writes anything more by itself. A copy beside writers would be torn, as no
            # disk is.
            copy = tmp_path / "copy.img"
            shutil.copyfile(image, copy)
            for name, child in children.items():
                said, signal = child.finish()
                assert signal == 9, said
                acknowledged[name] += said
            disk = mounted(copy, f"disk-{number}-{cut}")
            check(Store.open(disk / "store.git"), acknowledged)
            subprocess.run(["umount", disk], check=True)
            copy.unlink()
        subprocess.run(["umount", path.parent], check=True)
        image.unlink()


def made(image: Path) -> Path:
    """Makes the image of a disk."""
    subprocess.run(["truncate", "-s", "96M", image], check=True)
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
    return image


def check(store: Store, acknowledged: dict[str, list[str]]) -> None:
    """Checks that a disk after a power cut holds all that was acknowledged to each session, in order."""
    for name, ids in acknowledged.items():
        held = [entry.id.rpartition("/")[0] for entry in store.load(name)] if ids else []
        places = {commit_id: place for place, commit_id in enumerate(held)}
        assert [commit_id for commit_id in ids if commit_id not in places] == []
        assert sorted(ids, key=places.__getitem__) == ids
    assert [found for found in verify(store) if found.damage and acknowledged.get(str(found.session))] == []


def test_without_syncing_a_power_cut_loses_what_was_acknowledged(
    tmp_path: Path, mounted: Callable[[Path, str], Path]
) -> None:
    """Shows that the test above can fail, and what `durable=False` is about."""
    image = tmp_path / "disk.img"
    path = mounted(made(image), "disk") / "store.git"
    Store.init(path)
    subprocess.run(["sync", "-f", path], check=True)
    child = committing(path, "s", durable=False)
    child.go()
    time.sleep(0.3)
    child.kill()
    shutil.copyfile(image, tmp_path / "copy.img")
    acknowledged, _ = child.finish()
    assert len(acknowledged) > 10
    store = Store.open(mounted(tmp_path / "copy.img", "after") / "store.git")
    try:
        held = [entry.id.rpartition("/")[0] for entry in store.load("s")]
    except SessionError:
        held = []
    assert set(acknowledged) - set(held) != set()
