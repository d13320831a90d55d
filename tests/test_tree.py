"""The tree of a session: it grows at its end, git agrees with it, and a damaged one is told."""

from pathlib import Path

import pytest

from gitsession import Corrupt, InvalidCommit
from gitsession.layout import delta_path
from gitsession.repo.codec import BLOB_MODE, TREE_MODE, object_id, tree_item
from gitsession.repo.objects import Objects
from gitsession.repo.repository import Repository
from gitsession.tree import SessionTree, deltas_of, find_delta, read_header_blob, read_tree
from tests.conftest import Git

TAG = "7b1c8a"
HEADER = object_id("blob", b"{}\n")
BLOB = object_id("blob", b"x\n")


@pytest.fixture
def objects(store_path: Path) -> Objects:
    made = Repository.init(store_path, durable=False, wait=1.0).objects
    made.write("blob", b"{}\n")
    made.write("blob", b"x\n")
    return made


def grown(objects: Objects, count: int) -> SessionTree:
    """Returns a tree of deltas `c0`, `c1`, …, whose objects are stored."""
    tree, needed = SessionTree("", TAG, HEADER).with_header(HEADER)
    items = set(needed)
    for number in range(count):
        tree, needed = tree.with_delta(f"c{number}", BLOB)
        items |= set(needed if number % 100 == 99 or number == count - 1 else ())
    objects.write_all(list(items))
    return tree


@pytest.mark.parametrize("count", [0, 1, 2, 99, 100, 101, 250, 10_000, 10_001])
def test_a_tree_that_grew_is_read_as_it_was(objects: Objects, count: int) -> None:
    tree = grown(objects, count)
    assert read_header_blob(objects, tree.oid) == HEADER
    assert read_tree(objects, tree.oid, TAG, HEADER) == tree
    assert (tree.count, tree.last_id) == (count, f"c{count - 1}" if count else None)
    found = list(deltas_of(objects, tree))
    assert [(delta.number, delta.encoded_id) for delta in found] == [(n, f"c{n}") for n in range(count)]
    assert {delta.blob for delta in found} <= {BLOB}
    for start in {0, 1, count // 2, count - 1, count, count + 5} - {-1}:
        assert list(deltas_of(objects, tree, start)) == found[start:]
    if count:
        assert find_delta(objects, tree, count - 1) == found[-1]
        assert find_delta(objects, tree, 0) == found[0]


@pytest.mark.parametrize("count", [1, 100, 101, 10_001])
def test_git_sees_the_same_tree(objects: Objects, git: Git, count: int) -> None:
    tree = grown(objects, count)
    listed = git("-C", objects.path.parent, "ls-tree", "-r", tree.oid).splitlines()
    expected = [f"100644 blob {BLOB}\t{delta_path(number, f'c{number}', TAG)}" for number in range(count)]
    assert listed == [*expected, f"100644 blob {HEADER}\tsession.json"]
    # What git makes of the same list is the same object.
    index = {"cwd": objects.path.parent}
    git("read-tree", "--empty", **index)
    git("update-index", "--index-info", stdin="\n".join(listed) + "\n", **index)
    assert git("write-tree", **index).strip() == tree.oid


def test_a_new_header_changes_nothing_else(objects: Objects) -> None:
    tree = grown(objects, 3)
    other = objects.write("blob", b"{ }\n")
    changed, needed = tree.with_header(other)
    objects.write_all(needed)
    assert read_tree(objects, changed.oid, TAG, other) == changed
    assert list(deltas_of(objects, changed)) == list(deltas_of(objects, tree))


def test_a_full_session_takes_no_more() -> None:
    with pytest.raises(InvalidCommit, match="the session is full"):
        SessionTree("", TAG, HEADER, count=100_000_000).with_delta("c", BLOB)


def tree_of(objects: Objects, *items: tuple[bytes, str, str]) -> str:
    return objects.write("tree", b"".join(tree_item(*item) for item in items))


def session(objects: Objects, *files: str, top: str = f"0000-{TAG}", middle: str = f"00-{TAG}") -> str:
    bottom = tree_of(objects, *((BLOB_MODE, name, BLOB) for name in files))
    inner = tree_of(objects, (TREE_MODE, middle, bottom))
    return tree_of(objects, (TREE_MODE, top, inner), (BLOB_MODE, "session.json", HEADER))


def name(number: int, commit_id: str = "c", tag: str = TAG) -> str:
    return f"{number:06d}-{commit_id}-{tag}.jsonl"


DAMAGED = {
    "the first is missing": lambda o: session(o, name(1)),
    "one is missing": lambda o: session(o, name(0), name(2)),
    "a number twice": lambda o: session(o, name(0, "a"), name(0, "b")),
    "another tag": lambda o: session(o, name(0, tag="000000")),
    "another tag above": lambda o: session(o, name(0), top="0000-000000"),
    "another tag between": lambda o: session(o, name(0), middle="00-000000"),
    "another file": lambda o: session(o, name(0), "README.md"),
    "a number of five digits": lambda o: session(o, f"00000-c-{TAG}.jsonl"),
    "no commit id": lambda o: session(o, f"000000-{TAG}.jsonl"),
    "in a later directory": lambda o: session(o, name(0), middle=f"01-{TAG}"),
    "in a later directory above": lambda o: session(o, name(0), top=f"0001-{TAG}"),
    "an empty directory": session,
    "a file for a directory": lambda o: tree_of(
        o, (BLOB_MODE, f"0000-{TAG}", BLOB), (BLOB_MODE, "session.json", HEADER)
    ),
    "a file beside": lambda o: tree_of(o, (BLOB_MODE, "session.json", HEADER), (BLOB_MODE, "zzz", BLOB)),
    "a file before": lambda o: tree_of(o, (BLOB_MODE, "README.md", BLOB), (BLOB_MODE, "session.json", HEADER)),
    "an executable header": lambda o: tree_of(o, (b"100755", "session.json", HEADER)),
    "a link for a header": lambda o: tree_of(o, (b"120000", "session.json", HEADER)),
    "no header": lambda o: tree_of(o, (BLOB_MODE, "README.md", BLOB)),
    "nothing": tree_of,
    "a directory that is missing": lambda o: tree_of(
        o, (TREE_MODE, f"0000-{TAG}", "1" * 40), (BLOB_MODE, "session.json", HEADER)
    ),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_tree_that_is_laid_out_otherwise_is_corrupt(objects: Objects, kind: str) -> None:
    oid = DAMAGED[kind](objects)
    with pytest.raises(Corrupt) as caught:
        list(deltas_of(objects, read_tree(objects, oid, TAG, read_header_blob(objects, oid))))
    assert caught.value.oid
