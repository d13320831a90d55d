"""Every file of a small store, damaged in every way: it is found, nothing hangs, and nothing else is taken along."""

import random
import shutil
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from gitsession import MessageEntry, NotAStore, Session, SessionError, Store, new_commit, verify
from tests.stores import git_output

SECONDS = 5.0


def fill(store: Store, name: str) -> None:
    session: Session = store.bind(name).load()
    for number in range(4):
        text = f"message {number} of {name}: " + "".join(random.Random(number).choices("abcdefgh \n", k=2500))
        session = store.bind(name).commit(new_commit(session.head, [{"role": "user", "content": text}]))


def loose(path: Path) -> None:
    store = Store.init(path, durable=False)
    fill(store, "a")
    fill(store, "b")


def packed(path: Path) -> None:
    """Makes a store of one pack a session, all refs packed, with an index over the packs and a commit graph."""
    store = Store.init(path, durable=False)
    for name in ("a", "b"):
        fill(store, name)
        git_output(path, "repack", "-q", "-d")
    git_output(path, "pack-refs", "--all")
    git_output(path, "multi-pack-index", "write")
    git_output(path, "commit-graph", "write", "--reachable")


def collected(path: Path) -> None:
    """Makes a store as `git gc` leaves it, in which one session went on."""
    loose(path)
    git_output(path, "gc", "-q")
    fill(Store.open(path, durable=False), "b")


VARIANTS: dict[str, Callable[[Path], None]] = {"loose": loose, "packed": packed, "collected": collected}


@pytest.fixture(scope="module", params=VARIANTS)
def variant(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp(request.param) / "store.git"
    VARIANTS[request.param](path)
    return path


def flipped(content: bytes, place: int, mask: int = 0xFF) -> bytes:
    return content[:place] + bytes([content[place] ^ mask]) + content[place + 1 :]


def damages(content: bytes, *, many: int, by_byte: bool) -> Iterator[tuple[str, int, bytes]]:
    """Yields ways to damage a file: how, where it begins to differ, and what the file holds then.

    Args:
        content: What it holds.
        many: At how many places by chance, besides its ends and its middle; 0 for the middle and one place alone.
        by_byte: Each byte has a meaning of its own, so each of a short file is a place.
    """
    size = len(content)
    yield "emptied", 0, b""
    yield "filled with NULs", 0, bytes(size)
    cuts = {size // 2, *([1, size - 1, size - 2, size - 20] if many else [])}
    yield from (("cut", place, content[:place]) for place in sorted(cuts) if 0 < place < size)
    chance = random.Random(size)
    places = {size // 2, chance.randrange(size), *([0, size - 1] if many else [])}
    if many:
        places |= set(range(size)) if by_byte and size < 300 else {chance.randrange(size) for _ in range(many)}
    for place in sorted(places):
        yield "flipped", place, flipped(content, place)
        if many:
            yield "flipped a bit", place, flipped(content, place, 1)


def is_harmless(store: Path, name: str, how: str, place: int, content: bytes) -> bool:
    """Tells whether damage need not be found, because nothing depends on it."""
    line_start = content.rfind(b"\n", 0, place) + 1
    if name in ("info/refs", "objects/info/packs"):
        return True  # a copy for plain web servers, which nothing here reads
    if name.startswith("logs/"):
        if how == "emptied":
            return True  # `git reflog expire` leaves an empty log as well
        if how == "cut" and b"\n" in content[max(place - 1, 0) : place + 1]:
            return True  # a log that ends early, as after a power cut: it is not synced, and the ref decides
        return how.startswith("flipped") and place - line_start > 81  # the text beside the two commits
    if name.startswith("refs/"):
        return how == "cut" and place == 40  # the line's end alone
    if name == "HEAD":
        return place >= len("ref: refs/heads/")  # the name of a branch that need not exist
    if name == "config" and how in ("cut", "flipped", "flipped a bit"):
        if how == "cut" or content[place : place + 1] in (b"\n", b"\t"):
            return True  # a clone's configuration holds no more than its beginning; white space is white space
        line = content[line_start:].partition(b"\n")[0]
        after_the_name = b"=" in line[: place - line_start]  # a value, which may be the owner's own
        # The last of these is of files that plain git makes; a store is as private without it, and older ones lack it.
        needless = (b"filemode", b"bare", b"repositoryformatversion", b"sharedRepository")
        return after_the_name or any(word in line for word in needless)
    if name == "packed-refs" and how.startswith("flipped"):
        line = content[line_start:].partition(b"\n")[0]
        if line.startswith(b"#"):
            return place > line_start + 1  # what git says of its format
        # The name of an older value, which the ref's own file outweighs.
        return place - line_start > 40 and (store / line[41:].decode()).exists()
    return False


def touched_by(path: Path, name: str) -> set[str]:
    """Returns the sessions that may suffer from damage of a file."""
    if name.startswith("objects/"):
        parts = name.split("/")
        sessions = set()
        for session in ("a", "b"):
            oids = {line[:40] for line in git_output(path, "rev-list", "--objects", session).splitlines()}
            if len(parts[1]) == 2:
                named = {parts[1] + parts[2]}
            elif name.endswith((".pack", ".idx")):
                index = (path / name).with_suffix(".idx")
                named = {line.split()[1] for line in _show_index(index)}
            else:
                named = set()
            if oids & named:
                sessions.add(session)
        return sessions
    if name.startswith(("refs/heads/", "logs/refs/heads/")):
        return {name.rpartition("/")[2]}
    return {"a", "b"} if name == "packed-refs" else set()


def _show_index(index: Path) -> list[str]:
    done = subprocess.run(["git", "show-index"], input=index.read_bytes(), capture_output=True, check=True)
    return done.stdout.decode().splitlines()


def contents(store: Store) -> dict[str, list[dict[str, object]]]:
    return {name: list(store.bind(name).load().messages) for name in ("a", "b")}


def examine(path: Path, name: str, what: str, *, must_be_found: bool, touched: set[str], known: dict) -> None:
    """Checks what a store with a damaged file does."""
    began = time.perf_counter()
    try:
        store = Store.open(path, durable=False, wait=1.0)
    except NotAStore:
        assert name in ("config", "HEAD"), what
        return
    findings = list(verify(store))
    assert time.perf_counter() - began < SECONDS, what
    assert findings or not must_be_found, what
    began = time.perf_counter()
    list(verify(store, fast=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        listed = {meta.id for meta in store.list()}
    for session in ("a", "b"):
        entry = MessageEntry({"role": "user", "content": "one more"})
        try:
            loaded = list(store.bind(session).load().messages)
            assert loaded == known[session] or session in touched, (what, session)
            store.append(session, entry)
            assert store.load(session)[-1] == entry, (what, session)
            list(store.log(session))
        except SessionError:
            if session not in touched:
                raise
        assert session in listed or session in touched, (what, session)
    assert time.perf_counter() - began < SECONDS, what


def run(variant: Path, tmp_path: Path, *, many: int) -> None:
    known = contents(Store.open(variant))
    assert list(verify(Store.open(variant))) == []
    names = sorted(path.relative_to(variant).as_posix() for path in variant.rglob("*") if path.is_file())
    case = count()
    for name in names:
        content = (variant / name).read_bytes()
        touched = touched_by(variant, name) if content else set()
        by_byte = not name.startswith("objects/")
        for how, place, damaged in damages(content, many=many, by_byte=by_byte) if content else ():
            if damaged == content:
                continue
            copy = tmp_path / f"{next(case)}.git"
            shutil.copytree(variant, copy)
            (copy / name).chmod(0o644)
            (copy / name).write_bytes(damaged)
            must_be_found = not is_harmless(variant, name, how, place, content)
            what = f"{name} {how} at {place} of {len(content)}"
            examine(copy, name, what, must_be_found=must_be_found, touched=touched, known=known)
            shutil.rmtree(copy)


@pytest.mark.parametrize("variant", ["packed", pytest.param("collected", marks=pytest.mark.slow)], indirect=True)
def test_damage_of_any_file_is_found_and_contained(variant: Path, tmp_path: Path) -> None:
    run(variant, tmp_path, many=0)


@pytest.mark.slow
def test_damage_at_many_places_of_any_file_is_found_and_contained(
    variant: Path, tmp_path: Path, scale: Callable[[int, int], int]
) -> None:
    run(variant, tmp_path, many=scale(3, 10))
