"""The tree of a session: its header, and one file a delta in two levels of directories of 100. FORMAT.md, "The tree".

Items are appended at the end of each directory, in byte order, so a new tree is an old one with a few bytes changed at
its end: nothing but the last directory of each level is ever read or written to add a delta.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gitsession.errors import Corrupt, InvalidCommit
from gitsession.layout import HEADER_NAME, MAX_DELTAS, directories, file_name
from gitsession.repo.codec import BLOB_MODE, TREE_MODE, GitObject, decode_tree, git_object, tree_item
from gitsession.repo.objects import Objects

# How many items a directory holds.
DIRECTORY_SIZE = 100

# How many deltas a directory of the root tree holds.
TOP_SIZE = DIRECTORY_SIZE * DIRECTORY_SIZE

_ITEM_TAIL = 20  # the bytes of an object id at the end of an item
_TOP_ITEM = len("40000 0000-7b1c8a\0") + _ITEM_TAIL
_HEADER_ITEM = len("100644 session.json\0") + _ITEM_TAIL


_DELTAS = re.compile(rb"100644 (\d{6,8})-([A-Za-z0-9._%-]+)-([0-9a-f]{6})\.jsonl\0(.{20})", re.DOTALL)
# The directories in the root, and those in them, by how many digits their numbers have.
_DIRECTORIES = {width: re.compile(rb"40000 (\d{%d})-([0-9a-f]{6})\0(.{20})" % width, re.DOTALL) for width in (4, 2)}


class Delta(NamedTuple):
    """One delta of a session's tree: its number, the commit id as encoded in its name, and its blob."""

    number: int
    encoded_id: str
    blob: str


class SessionTree(NamedTuple):
    """What a session's root tree holds, and the last directory of each level.

    Attributes:
        oid: The id of the root tree; "" for a session without one.
        tag: The session's tag.
        header: The blob of `session.json`.
        count: How many deltas there are.
        last_id: The encoded commit id of the last delta; None if there is none.
        top: The root tree's items before `session.json`, as git encodes them.
        middle: The items of the last directory in it.
        bottom: The items of the last directory in that.
        bottom_oid: Its id.
    """

    oid: str
    tag: str
    header: str
    count: int = 0  # type: ignore[assignment]  # the method of a tuple is never called
    last_id: str | None = None
    top: bytes = b""
    middle: bytes = b""
    bottom: bytes = b""
    bottom_oid: str = ""

    @property
    def root(self) -> bytes:
        """The content of the root tree."""
        return self.top + tree_item(BLOB_MODE, HEADER_NAME, self.header)

    @property
    def last_trees(self) -> list[GitObject]:
        """The last directory of each level and the root, the bottom first; none where there is no delta."""
        if not self.count:
            return []
        middle = self.top[-_ITEM_TAIL:].hex()
        return [
            GitObject(self.bottom_oid, "tree", self.bottom),
            GitObject(middle, "tree", self.middle),
            GitObject(self.oid, "tree", self.root),
        ]

    def with_header(self, header: str) -> tuple["SessionTree", list[GitObject]]:
        """Returns the tree with another header blob, and the object that it needs."""
        root = git_object("tree", self.top + tree_item(BLOB_MODE, HEADER_NAME, header))
        return self._replace(header=header, oid=root.oid), [root]

    def with_delta(self, encoded_id: str, blob: str) -> tuple["SessionTree", list[GitObject]]:
        """Returns the tree with one more delta, and the objects that it needs, the root tree last.

        Raises:
            InvalidCommit: The session is full.
        """
        number = self.count
        if number >= MAX_DELTAS:
            raise InvalidCommit(f"the session is full: it holds {MAX_DELTAS} deltas; go on in a fork")
        top_name, middle_name = directories(number, self.tag)
        item = tree_item(BLOB_MODE, file_name(number, encoded_id, self.tag), blob)
        bottom = git_object("tree", (self.bottom if number % 100 else b"") + item)
        kept = self.middle[: _last_item(self.middle)] if number % 100 else self.middle if number % 10_000 else b""
        middle = git_object("tree", kept + tree_item(TREE_MODE, middle_name, bottom.oid))
        kept = self.top[: _last_item(self.top)] if number % 10_000 else self.top
        top = kept + tree_item(TREE_MODE, top_name, middle.oid)
        root = git_object("tree", top + tree_item(BLOB_MODE, HEADER_NAME, self.header))
        grown = SessionTree(
            root.oid, self.tag, self.header, number + 1, encoded_id, top, middle.content, bottom.content, bottom.oid
        )
        return grown, [bottom, middle, root]


def read_tree(objects: Objects, oid: str, tag: str, header: str, root: bytes | None = None) -> SessionTree:
    """Returns the tree of a session whose header is known.

    Args:
        objects: The repository's objects.
        oid: The root tree.
        tag: The session's tag.
        header: The blob of `session.json`.
        root: The content of the root tree, where it was read before.

    Raises:
        Corrupt: It is not laid out as a session's tree.
    """
    root = objects.read(oid, "tree") if root is None else root
    top = root[: len(root) - len(tree_item(BLOB_MODE, HEADER_NAME, header))]
    empty = SessionTree(oid, tag, header, top=top)
    if top + tree_item(BLOB_MODE, HEADER_NAME, header) != root:
        raise Corrupt(f"the tree {oid} holds other items beside those of a session", oid=oid)
    if not top:
        return empty
    tops = _directory_items(top, oid, tag, width=4)
    middle = objects.read(tops[-1][1], "tree")
    middles = _directory_items(middle, tops[-1][1], tag, width=2)
    bottom = objects.read(middles[-1][1], "tree")
    deltas = _delta_items(bottom, middles[-1][1], tag)
    if [number for number, _ in tops] != list(range(len(tops))):
        raise Corrupt(f"the tree {oid} lacks a directory of deltas", oid=oid)
    last = deltas[-1]
    if directories(last.number, tag) != (f"{tops[-1][0]:04d}-{tag}", f"{middles[-1][0]:02d}-{tag}"):
        raise Corrupt(f"delta {last.number} lies in the wrong directory of the tree {oid}", oid=oid)
    return empty._replace(
        count=last.number + 1, last_id=last.encoded_id, middle=middle, bottom=bottom, bottom_oid=middles[-1][1]
    )


def read_parent_tree(objects: Objects, oid: str, child: SessionTree, root: bytes) -> SessionTree | None:
    """Returns the tree before the last delta of another one: what has changed is compared, and not looked into.

    Args:
        objects: The repository's objects.
        oid: The root tree.
        child: The tree with one delta more.
        root: The content of the root tree.

    Returns:
        The tree; None if it is another one, or its last delta lies in another directory.

    Raises:
        Corrupt: One of its directories is missing or damaged.
    """
    number = child.count - 2
    start = b"100644 %06d-" % number
    begin = child.bottom.rfind(start)
    top = root[:-_HEADER_ITEM]
    if (
        number < 0
        or begin < 0
        or top[:-_ITEM_TAIL] != child.top[:-_ITEM_TAIL]
        or header_after(root, number + 1) is None
    ):
        return None
    middle = objects.read(top[-_ITEM_TAIL:].hex(), "tree")
    bottom_oid = middle[-_ITEM_TAIL:].hex()
    if middle[:-_ITEM_TAIL] != child.middle[:-_ITEM_TAIL]:
        return None
    bottom = objects.read(bottom_oid, "tree")
    last = file_name(number + 1, child.last_id or "", child.tag)
    if bottom + tree_item(BLOB_MODE, last, child.bottom[-_ITEM_TAIL:].hex()) != child.bottom:
        return None
    end = len(bottom) - len(f"-{child.tag}.jsonl\0") - _ITEM_TAIL
    encoded_id = bottom[begin + len(start) : end].decode("ascii", "replace")
    return SessionTree(
        oid, child.tag, root[-_ITEM_TAIL:].hex(), number + 1, encoded_id, top, middle, bottom, bottom_oid
    )


def read_header_blob(objects: Objects, oid: str, root: bytes | None = None) -> str:
    """Returns the id of the blob `session.json` in a root tree; takes the tree's content where it was read before.

    Raises:
        Corrupt: There is none: the commit is no session's.
    """
    for item in decode_tree(objects.read(oid, "tree") if root is None else root, oid):
        if item.name == HEADER_NAME.encode():
            if item.mode != BLOB_MODE:
                raise Corrupt(f"{HEADER_NAME} in the tree {oid} is no plain file", oid=oid)
            return item.oid
    raise Corrupt(f"its commits are not gitsession's: the tree {oid} has no {HEADER_NAME}", oid=oid)


def header_after(root: bytes, count: int) -> str | None:
    """Returns the blob `session.json` in the root tree of a session of so many deltas; None where it looks otherwise.

    So many deltas take so many directories, whose items are all of one length.
    """
    length = (count + 9_999) // 10_000 * _TOP_ITEM
    plain = len(root) == length + _HEADER_ITEM and root.startswith(b"100644 session.json\0", length)
    return root[-_ITEM_TAIL:].hex() if plain else None


def bottom_directories(objects: Objects, tree: SessionTree, start: int = 0) -> Iterator[tuple[int, str]]:
    """Yields the directories that reach to delta `start` or further: the number of the first delta, and the tree."""
    for top, middle_oid in root_directories(tree):
        if (top + 1) * TOP_SIZE <= start:
            continue
        for middle, bottom_oid in middle_directories(objects, middle_oid, tree.tag):
            first = top * TOP_SIZE + middle * DIRECTORY_SIZE
            if first + DIRECTORY_SIZE > start:
                yield first, bottom_oid


def root_directories(tree: SessionTree) -> list[tuple[int, str]]:
    """Returns the directories in the root tree, of 10,000 deltas each: their numbers and trees."""
    return _directory_items(tree.top, tree.oid, tree.tag, width=4) if tree.top else []


def top_directories(tree: SessionTree) -> list[str]:
    """Returns the trees of the directories in the root tree."""
    return [oid for _, oid in root_directories(tree)]


def middle_directories(objects: Objects, oid: str, tag: str) -> list[tuple[int, str]]:
    """Returns the directories in one of those, of 100 deltas each: their numbers and trees."""
    return _directory_items(objects.read(oid, "tree"), oid, tag, width=2)


def deltas_of(objects: Objects, tree: SessionTree, start: int = 0) -> Iterator[Delta]:
    """Yields the deltas from number `start` on.

    Raises:
        Corrupt: A directory is damaged, or a number is missing.
    """
    expected = start
    for _, oid in bottom_directories(objects, tree, start):
        for delta in directory_deltas(objects, oid, tree.tag):
            if delta.number < start:
                continue
            if delta.number != expected:
                raise Corrupt(f"delta {expected} is missing in the tree {oid}", oid=oid)
            expected += 1
            yield delta
    if expected != max(tree.count, start):
        raise Corrupt(f"delta {expected} is missing in the tree {tree.oid}", oid=tree.oid)


def newest_deltas(objects: Objects, tree: SessionTree) -> Iterator[Delta]:
    """Yields the deltas from the last one on backwards; a directory is read when it is come to.

    Raises:
        Corrupt: A directory is damaged, or a number is missing.
    """
    expected = tree.count
    for _, oid in reversed([*bottom_directories(objects, tree)]):
        for delta in reversed(directory_deltas(objects, oid, tree.tag)):
            expected -= 1
            if delta.number != expected:
                raise Corrupt(f"delta {expected} is missing in the tree {oid}", oid=oid)
            yield delta


def directory_deltas(objects: Objects, oid: str, tag: str) -> list[Delta]:
    """Returns the deltas of one bottom directory."""
    return _delta_items(objects.read(oid, "tree"), oid, tag)


def ids_of(objects: Objects, tree: SessionTree, start: int, stop: int) -> list[str]:
    """Returns the encoded commit ids of the deltas from number `start` to before `stop`, where a directory ends.

    Raises:
        Corrupt: A directory is damaged, or a number is missing.
    """
    found: list[str] = []
    for first, oid in bottom_directories(objects, tree, start):
        if first >= stop:
            break
        numbers, ids, _ = _delta_columns(objects.read(oid, "tree"), oid, tree.tag)
        if numbers != list(range(first, first + len(numbers))):
            raise Corrupt(f"the deltas of the tree {oid} do not follow each other from {first} on", oid=oid)
        found += ids[max(start - first, 0) :]
    if len(found) != stop - start:
        raise Corrupt(f"delta {start + len(found)} is missing in the tree {tree.oid}", oid=tree.oid)
    return found


def common_count(objects: Objects, a: SessionTree, b: SessionTree) -> int:
    """Returns how many deltas two trees begin with in common; directories that are the same are not read.

    Raises:
        Corrupt: A directory is damaged.
    """
    shorter = min(a.count, b.count)
    if a.tag != b.tag or not shorter:
        pairs = zip(deltas_of(objects, a), deltas_of(objects, b), strict=False)
        return next((one.number for one, other in pairs if one != other), shorter)
    items, others, first = a.top, b.top, 0
    for mine, theirs, size in ((a.middle, b.middle, TOP_SIZE), (a.bottom, b.bottom, DIRECTORY_SIZE)):
        place = _first_difference(items, others)
        if place is None:
            return shorter
        first += place * size
        # The last directories of both are in memory: where one session is the other, grown, they are those that differ.
        items = mine if first + size >= a.count else objects.read(_item_oid(items, place), "tree")
        others = theirs if first + size >= b.count else objects.read(_item_oid(others, place), "tree")
    found = zip(_delta_items(items, "", a.tag), _delta_items(others, "", b.tag), strict=False)
    return next((one.number for one, other in found if one != other), shorter)


def _first_difference(a: bytes, b: bytes) -> int | None:
    """Returns the place of the first directory that differs; None where one tree holds all that the other does."""
    length = a.index(b"\0") + 1 + _ITEM_TAIL
    for place in range(min(len(a), len(b)) // length):
        if a[place * length : (place + 1) * length] != b[place * length : (place + 1) * length]:
            return place
    return None


def _item_oid(items: bytes, place: int) -> str:
    end = (place + 1) * (items.index(b"\0") + 1 + _ITEM_TAIL)
    return items[end - _ITEM_TAIL : end].hex()


def find_delta(objects: Objects, tree: SessionTree, number: int) -> Delta:
    """Returns the delta of a number below the count."""
    return next(deltas_of(objects, tree, number))


def _last_item(items: bytes) -> int:
    """Returns where the last item of directories begins; they are all of one length."""
    return len(items) - (items.index(b"\0") + 1 + _ITEM_TAIL)


def _delta_items(content: bytes, oid: str, tag: str) -> list[Delta]:
    """Returns the deltas of one bottom directory."""
    numbers, ids, blobs = _delta_columns(content, oid, tag)
    return [Delta(number, own, blob.hex()) for number, own, blob in zip(numbers, ids, blobs, strict=True)]


def _delta_columns(content: bytes, oid: str, tag: str) -> tuple[list[int], list[str], Sequence[bytes]]:
    """Returns the numbers, the encoded commit ids and the blobs of one bottom directory."""
    found = _DELTAS.findall(content)
    numbers, ids, tags, blobs = zip(*found, strict=True) if found else ((), (), (), ())
    # Each item has 42 bytes besides: the mode and a blank, two dashes, the tag, the ending, a NUL and the blob.
    length = sum(map(len, numbers)) + sum(map(len, ids)) + 42 * len(found)
    if length != len(content) or {*tags} != {tag.encode()}:
        raise Corrupt(f"the tree {oid} is no directory of deltas", oid=oid)
    return list(map(int, numbers)), b" ".join(ids).decode().split(" "), blobs


def _directory_items(content: bytes, oid: str, tag: str, *, width: int) -> list[tuple[int, str]]:
    """Returns the directories of a tree that holds nothing else: their numbers and trees."""
    found = _DIRECTORIES[width].findall(content)
    # Each item has 34 bytes besides its number: the mode and a blank, a dash, the tag, a NUL and the tree.
    if not found or (width + 34) * len(found) != len(content) or {own for _, own, _ in found} != {tag.encode()}:
        raise Corrupt(f"the tree {oid} is no directory of a session", oid=oid)
    return [(int(number), tree.hex()) for number, _, tree in found]
