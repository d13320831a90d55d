"""Git's own encoding: what is written is what git writes, and what is damaged is told, within limits."""

import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsession import Corrupt
from gitsession.repo.codec import (
    MAX_OBJECT_BYTES,
    Commit,
    Person,
    TreeItem,
    decode_commit,
    decode_loose,
    decode_tree,
    encode_commit,
    encode_loose,
    git_object,
    object_id,
    tree_item,
)
from tests.conftest import Git

OID = "ce013625030ba8dba906f756967f9e9ca394464a"  # of the blob "hello\n"
SOUND = encode_loose(git_object("blob", b"hello\n"))


def test_an_object_id_is_that_of_git(git: Git) -> None:
    assert object_id("blob", b"hello\n") == OID
    assert git("hash-object", "--stdin", stdin="hello\n").strip() == OID
    assert object_id("tree", b"") == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@pytest.mark.parametrize("kind", ["blob", "tree"])
@pytest.mark.parametrize("size", [0, 1, 1000, 2047, 2048, 65_500, 65_536, 1_000_000])
def test_a_loose_object_comes_back(kind: str, size: int) -> None:
    made = git_object(kind, b"x" * size)
    assert decode_loose(encode_loose(made), made.oid) == (kind, made.content)
    assert zlib.decompress(encode_loose(made)) == b"%b %d\0" % (kind.encode(), size) + made.content


def test_git_reads_a_loose_object(git: Git, tmp_path: Path) -> None:
    git("init", "-q", "--bare", tmp_path)
    for content in (b"hello\n", b"hello\n" * 10_000):
        made = git_object("blob", content)
        path = tmp_path / "objects" / made.oid[:2] / made.oid[2:]
        path.parent.mkdir()
        path.write_bytes(encode_loose(made))
        assert git("-C", tmp_path, "cat-file", "blob", made.oid).encode() == content


def lying(header: bytes, content: bytes) -> bytes:
    return zlib.compress(header + content)


@pytest.mark.parametrize(
    "packed",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\0" * len(SOUND), id="NULs"),
        pytest.param(SOUND[:1], id="one byte"),
        pytest.param(SOUND[:-1], id="without its last byte"),
        pytest.param(SOUND[: len(SOUND) // 2], id="half"),
        pytest.param(SOUND[:7], id="header of the stream alone"),
        pytest.param(SOUND + b"x", id="more after its end"),
        pytest.param(bytes([*SOUND[:-6], SOUND[-6] ^ 1, *SOUND[-5:]]), id="a flipped bit"),
        pytest.param(lying(b"blob 6\0", b"hellO\n"), id="other contents"),
        pytest.param(lying(b"tree 6\0", b"hello\n"), id="another kind"),
        pytest.param(lying(b"blob 5\0", b"hello\n"), id="longer than it says"),
        pytest.param(lying(b"blob 7\0", b"hello\n"), id="shorter than it says"),
        pytest.param(lying(b"blob 999999999999999999\0", b"hello\n"), id="huge by its word"),
        pytest.param(lying(b"blob -6\0", b"hello\n"), id="negative"),
        pytest.param(lying(b"blob 06\0", b"hello\n"), id="a leading zero"),
        pytest.param(lying(b"junk 6\0", b"hello\n"), id="no kind"),
        pytest.param(lying(b"", b"hello\n"), id="no header"),
        pytest.param(lying(b"blob 6\0", b"\0" * 50_000_000), id="a bomb"),
        pytest.param(lying(b"blob %d\0" % (MAX_OBJECT_BYTES + 1), b""), id="larger than an object may be"),
    ],
)
def test_a_damaged_loose_object_is_corrupt_and_named(packed: bytes) -> None:
    with pytest.raises(Corrupt) as caught:
        decode_loose(packed, OID)
    assert caught.value.oid == OID


@given(st.binary(max_size=200))
def test_any_bytes_are_an_object_or_corrupt(packed: bytes) -> None:
    with pytest.raises(Corrupt):
        decode_loose(packed, OID)


@given(st.integers(0, len(SOUND) - 1), st.integers(1, 255))
def test_no_changed_byte_passes(place: int, change: int) -> None:
    packed = bytearray(SOUND)
    packed[place] ^= change
    try:
        found = decode_loose(bytes(packed), OID)
    except Corrupt:
        return
    assert found == ("blob", b"hello\n")


def test_a_tree_is_its_items_and_back() -> None:
    content = tree_item(b"40000", "a", OID) + tree_item(b"100644", "b \u00e9", "00" * 20)
    assert decode_tree(content, OID) == [
        TreeItem(b"40000", b"a", OID),
        TreeItem(b"100644", "b \u00e9".encode(), "00" * 20),
    ]
    assert decode_tree(b"", OID) == []


@pytest.mark.parametrize("cut", [1, 5, 6, 9, 28])
def test_a_cut_tree_is_corrupt(cut: int) -> None:
    with pytest.raises(Corrupt):
        decode_tree(tree_item(b"100644", "ab", OID)[:cut], OID)


@given(st.binary(max_size=100))
def test_any_bytes_are_a_tree_or_corrupt(content: bytes) -> None:
    try:
        items = decode_tree(content, OID)
    except Corrupt:
        return
    assert b"".join(b"%b %b\0%b" % (item.mode, item.name, bytes.fromhex(item.oid)) for item in items) == content


def test_a_commit_is_what_git_writes(git: Git, tmp_path: Path) -> None:
    git("init", "-q", "--bare", tmp_path)
    author, committer = Person("A \u00dc", "a@x.invalid", 1), Person("B", "b@x.invalid", 2**32 - 1)
    tree = git("-C", tmp_path, "mktree").strip()
    commit = Commit(tree, (), author, committer, "subject\n\nbody\n")
    names = ("-c", "user.name=x", "-c", "user.email=x@x.invalid", "-c", "i18n.commitEncoding=utf-8")
    assert git(*names, "-C", tmp_path, "hash-object", "-t", "commit", "--stdin", stdin=encode_commit(commit).decode())
    assert decode_commit(encode_commit(commit), OID) == commit
    child = Commit(tree, (OID, OID), author, committer, "")
    assert decode_commit(encode_commit(child), OID) == child


def test_a_commit_with_a_signature_and_other_headers_reads() -> None:
    content = (
        f"tree {OID}\nparent {OID}\nauthor A <a@x> 5 +0130\ncommitter B <> -7 -0000\nencoding x\n"
        "gpgsig -----BEGIN\n tree x\n \n -----END\n\nsubject\n\nbody"
    )
    assert decode_commit(content.encode(), OID) == Commit(
        OID, (OID,), Person("A", "a@x", 5), Person("B", "", -7), "subject\n\nbody"
    )


@pytest.mark.parametrize(
    "content",
    [
        "",
        "\n\nsubject",
        f"tree {OID}\n\nx",
        f"tree {OID}\nauthor A <a> 1 +0000\n\nx",
        f"tree {OID[:-1]}\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\nx",
        f"tree {OID}\nparent x\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\nx",
        f"tree {OID}\nauthor A a 1 +0000\ncommitter A <a> 1 +0000\n\nx",
        f"tree {OID}\nauthor A <a> x +0000\ncommitter A <a> 1 +0000\n\nx",
        "\xff\0",
    ],
)
def test_a_damaged_commit_is_corrupt(content: str) -> None:
    with pytest.raises(Corrupt) as caught:
        decode_commit(content.encode("latin-1"), OID)
    assert caught.value.oid == OID
