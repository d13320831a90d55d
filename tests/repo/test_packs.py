"""Reading packs: deltas of both kinds, large offsets, and packs that lie."""

import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from gitsession import Corrupt, Store
from gitsession.repo.codec import MAX_OBJECT_BYTES, object_id
from gitsession.repo.packs import Packs
from tests.conftest import Git
from tests.hostile import encoded_size, pack

WORDS = [f"word-{place}" for place in range(2000)]


def packs(store: Store) -> Packs:
    return Packs(store.path / "objects/pack")


@pytest.fixture
def contents(store: Store) -> dict[str, bytes]:
    """Returns blobs of the store: some of which git makes deltas, an empty one, and a large one."""
    text = " ".join(random.Random(1).choices(WORDS, k=20_000)).encode()
    made = [text[: len(text) - place * 100] + b"%d" % place + text[place * 300 :] for place in range(30)]
    return {store.repository.objects.write("blob", content): content for content in (*made, b"", bytes(3_000_000))}


def pack_with_git(store: Store, git: Git, oids: list[str], *options: str) -> str:
    """Packs objects and removes their files; returns the name of the pack."""
    made = git(
        "-C", store.path, "pack-objects", "-q", *options, store.path / "objects/pack/pack", stdin="\n".join(oids)
    )
    for oid in oids:
        (store.path / "objects" / oid[:2] / oid[2:]).unlink()
    return made.strip()


@pytest.mark.parametrize("options", [(), ("--delta-base-offset",), ("--window=0",), ("--index-version=2,0x40",)])
def test_what_git_packs_is_read(store: Store, git: Git, contents: dict[str, bytes], options: tuple[str, ...]) -> None:
    name = pack_with_git(store, git, [*contents], *options)
    chains = git("-C", store.path, "verify-pack", "-v", store.path / f"objects/pack/pack-{name}.idx")
    assert ("chain length" in chains) == (options != ("--window=0",))
    for _ in range(2):  # also from what is kept in memory
        found = packs(store)
        assert {oid: found.find(oid, MAX_OBJECT_BYTES) for oid in contents} == {
            oid: ("blob", content) for oid, content in contents.items()
        }
    assert all(map(packs(store).holds, contents))
    assert packs(store).find("12" * 20, MAX_OBJECT_BYTES) is None
    assert not packs(store).holds("12" * 20)


def test_a_sound_copy_in_another_pack_makes_up_for_a_damaged_one(
    store: Store, git: Git, contents: dict[str, bytes]
) -> None:
    oids = [*contents]
    for content in contents.values():
        store.repository.objects.write("blob", content)
    kept = git("-C", store.path, "pack-objects", "-q", store.path / "objects/pack/pack", stdin="\n".join(oids[:-1]))
    pack_with_git(store, git, oids)
    path = store.path / f"objects/pack/pack-{kept.strip()}.pack"
    path.chmod(0o600)
    path.write_bytes(bytes(path.stat().st_size))
    found = packs(store)
    assert [found.find(oid, MAX_OBJECT_BYTES) for oid in oids] == [("blob", content) for content in contents.values()]


def over(base: str, operations: bytes, *, base_size: int, size: int, name: str) -> tuple[str, int, int, bytes]:
    """Returns the row of a delta for `pack`."""
    delta = encoded_size(base_size) + encoded_size(size) + operations
    return name, 7, len(delta), bytes.fromhex(base) + zlib.compress(delta)


BASE = b"0123456789"
OID = object_id("blob", BASE)
OTHER = object_id("blob", b"another")


def lie(**changes: object) -> Callable[[Path], None]:
    values = {"base_size": 10, "size": 4, "operations": b"\x90\x04", "name": OTHER, "base": OID, **changes}
    row = over(**values)  # type: ignore[arg-type]  # what a test changes is of the same type
    return lambda store: pack(store, [(OID, 3, 10, zlib.compress(BASE)), row])


LIES = {
    "a delta that makes another object": lie(),
    "a delta over a base of another size": lie(base_size=11),
    "a delta that makes less than it says": lie(size=5),
    "a delta that makes more than it says": lie(operations=b"\x90\x04\x90\x04"),
    "a delta that copies from outside": lie(operations=b"\x91\x08\x04"),
    "a delta that is cut short": lie(operations=b"\x91"),
    "a delta whose base is missing": lie(base="12" * 20),
    "a delta over itself": lie(base=OTHER),
    "a kind that is none": lambda store: pack(store, [(OTHER, 5, 1, zlib.compress(b"x"))]),
    "a content that is longer": lambda store: pack(store, [(OTHER, 3, 1, zlib.compress(b"another"))]),
    "a content that is shorter": lambda store: pack(store, [(OTHER, 3, 9, zlib.compress(b"another"))]),
    "no zlib stream": lambda store: pack(store, [(OTHER, 3, 7, b"another")]),
}


@pytest.mark.parametrize("name", LIES)
def test_a_pack_that_lies_is_corrupt(store: Store, name: str) -> None:
    LIES[name](store.path)
    with pytest.raises(Corrupt) as caught:
        packs(store).find(OTHER, MAX_OBJECT_BYTES)
    assert caught.value.oid == OTHER


def test_what_a_small_object_lies_over_is_refused_by_its_size(store: Store) -> None:
    size = MAX_OBJECT_BYTES + 1
    small = over(OID, b"\x01x", base_size=size, size=1, name=OTHER)
    # No content: nothing of the base is unpacked.
    pack(store.path, [(OID, 3, size, b""), small])
    with pytest.raises(Corrupt, match=f"{size:,} bytes"):
        packs(store).find(OTHER, MAX_OBJECT_BYTES)
    with pytest.raises(Corrupt, match=f"at most {32 * 1024:,}"):
        packs(store).find(OTHER, 1024)


def test_an_object_above_the_limit_is_refused(store: Store, git: Git, contents: dict[str, bytes]) -> None:
    pack_with_git(store, git, [*contents])
    for oid, content in contents.items():
        if content:
            with pytest.raises(Corrupt):
                packs(store).find(oid, len(content) - 1)


@pytest.mark.parametrize("place", [0, 4, 8, 1028, 1031])
def test_a_pack_with_a_damaged_header_of_its_index_is_as_good_as_none(
    store: Store, git: Git, contents: dict[str, bytes], place: int
) -> None:
    name = pack_with_git(store, git, [*contents])
    path = store.path / f"objects/pack/pack-{name}.idx"
    content = bytearray(path.read_bytes())
    content[place] ^= 0xFF
    path.chmod(0o600)
    path.write_bytes(content)
    assert packs(store).find(next(iter(contents)), MAX_OBJECT_BYTES) is None


def test_an_index_whose_offsets_lead_outside_is_corrupt(store: Store, git: Git, contents: dict[str, bytes]) -> None:
    name = pack_with_git(store, git, [*contents])
    path = store.path / f"objects/pack/pack-{name}.idx"
    content = bytearray(path.read_bytes())
    count = len(contents)
    for offset in (0, 0x7FFFFFFF, 0xFFFFFFFF):
        content[1032 + 24 * count : 1032 + 28 * count] = struct.pack(">I", offset) * count
        path.chmod(0o600)
        path.write_bytes(content)
        for oid in contents:
            with pytest.raises(Corrupt):
                packs(store).find(oid, MAX_OBJECT_BYTES)


def test_what_was_read_is_marked_as_sound_and_read_as_often_as_one_likes(
    store: Store, git: Git, contents: dict[str, bytes]
) -> None:
    name = pack_with_git(store, git, [*contents])
    index = str(store.path / f"objects/pack/pack-{name}.idx")
    found = packs(store)
    assert sum(found.sound(index)) == 0
    for number, (oid, content) in enumerate(contents.items(), 1):
        for _ in range(3):
            assert found.find(oid, MAX_OBJECT_BYTES) == ("blob", content)
        assert sum(found.sound(index)) == number
    assert found.sound("another") == b""


def test_ids_are_found_by_their_beginnings(store: Store, git: Git, contents: dict[str, bytes]) -> None:
    pack_with_git(store, git, [*contents])
    loose = store.repository.objects.write("blob", b"loose")
    for length in (2, 3, 4, 39, 40):
        for oid in (*contents, loose):
            same = {one for one in (*contents, loose) if one.startswith(oid[:length])}
            assert store.repository.objects.beginning(oid[:length]) == same
    assert store.repository.objects.beginning("12" * 20) == set()
