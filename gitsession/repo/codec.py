"""Git's own encoding of trees and commits, and the loose object around them. Pure functions over bytes."""

import re
import struct
import zlib
from collections.abc import Iterable
from hashlib import sha1
from io import BytesIO
from typing import NamedTuple

from gitsession.errors import Corrupt

TREE_MODE = b"40000"
BLOB_MODE = b"100644"

# What one zlib stream may unpack to; more is a bomb, or a mistake (see FORMAT.md, "Limits").
MAX_OBJECT_BYTES = 144 * 1024 * 1024

# The most that a commit, a tree, or a session's header may have. A session's own stay far below: its root tree ends at
# 380 KB, a commit's text at a few KB. So a hostile one costs no more memory than this.
MAX_SMALL_BYTES = 1024 * 1024

# What is unpacked at a time where an object is only checked.
_STEP = 1024 * 1024

# Files and contents of up to this size are unpacked at once, which is quicker.
_AT_ONCE = 64 * 1024

# A stream of stored blocks costs no compressor. A small object takes one block on disk either way, and maintenance
# packs it properly later.
_STORED_BELOW = 2048
_STORED_LIMIT = 1 << 16
_STORED = struct.Struct("<3sHH")

# To copy a shorter content takes less time than one call more.
_SHORT = 1 << 13
_HEADER = re.compile(rb"(blob|tree|commit|tag) (0|[1-9][0-9]{0,18})\x00")
_PERSON_TEXT = r"([^<>\n\0]*?) ?<([^<>\n\0]*)> (-?[0-9]{1,18}) [+-][0-9]{1,18}"
_PERSON = re.compile(_PERSON_TEXT)

# What a commit's head is, but for those of other programs, which may have more lines, or stranger ones.
_PLAIN_HEAD = re.compile(
    rf"tree ([0-9a-f]{{40}})\n((?:parent [0-9a-f]{{40}}\n)*)author {_PERSON_TEXT}\ncommitter {_PERSON_TEXT}\n\n"
)


def object_id(kind: str, content: bytes) -> str:
    """Returns the id of an object: 40 hex digits."""
    head = b"%s %d\0" % (kind.encode(), len(content))
    if len(content) < _SHORT:
        return sha1(head + content, usedforsecurity=False).hexdigest()
    digest = sha1(head, usedforsecurity=False)
    digest.update(content)  # by itself, since the two together would be a copy
    return digest.hexdigest()


class GitObject(NamedTuple):
    """An object that is to be stored: its id, its kind, and its content."""

    oid: str
    kind: str
    content: bytes


def git_object(kind: str, content: bytes) -> GitObject:
    """Returns an object with its id."""
    return GitObject(object_id(kind, content), kind, content)


def encode_loose(made: GitObject) -> bytes:
    """Returns the content of a loose object's file."""
    head = b"%b %d\0" % (made.kind.encode(), len(made.content))
    size = len(head) + len(made.content)
    # Half of a tree's bytes are ids, which nothing makes shorter.
    if size >= (_STORED_BELOW if made.kind != "tree" else _STORED_LIMIT):
        return deflate(made.content, 1, head=head)
    return deflate_stored(head + made.content)


def deflate(content: bytes, level: int, *, head: bytes = b"") -> bytes:
    """Returns content as a zlib stream.

    To clear the tables of a compressor takes longer than to compress a few KB. So those of a short content are small,
    which changes nothing else: it fits into the window.
    """
    size = len(head) + len(content)
    if size <= 4096:
        stream = zlib.compressobj(level, zlib.DEFLATED, 12, 5)
    elif size <= 16384:
        stream = zlib.compressobj(level, zlib.DEFLATED, 14, 7)
    else:
        stream = zlib.compressobj(level)
    return stream.compress(head) + stream.compress(content) + stream.flush()


def deflate_stored(content: bytes) -> bytes:
    """Returns content of less than 64 KB as a zlib stream that is not compressed."""
    size = len(content)
    return _STORED.pack(b"\x78\x01\x01", size, size ^ 0xFFFF) + content + zlib.adler32(content).to_bytes(4, "big")


def decode_loose(packed: bytes, oid: str, limit: int = MAX_OBJECT_BYTES) -> tuple[str, bytes]:
    """Returns the kind and the content of a loose object's file, checked against its id.

    Raises:
        Corrupt: It is empty, cut short, damaged, or unpacks to more than the limit.
    """
    stream = zlib.decompressobj()
    try:
        start = stream.decompress(packed if len(packed) <= _AT_ONCE else packed[:_AT_ONCE], 64)
        header = _HEADER.match(start)
        if header is None:
            raise Corrupt(f"the object {oid} has no header", oid=oid)
        size = int(header[2])
        if size > limit:
            raise too_large(oid, size, limit)
        if max(size, len(packed)) > _AT_ONCE:
            return header[1].decode(), _decode_large(packed, oid, header.end(), size)
        content = start[header.end() :] + stream.decompress(stream.unconsumed_tail, size + 1)
        while not stream.eof and len(content) <= size and stream.unconsumed_tail:
            content += stream.decompress(stream.unconsumed_tail, size + 1 - len(content) or 1)
    except zlib.error as error:
        raise Corrupt(f"the object {oid} is damaged: {error}", oid=oid) from error
    kind = header[1].decode()
    if len(content) != size or not stream.eof or stream.unused_data or object_id(kind, content) != oid:
        raise Corrupt(f"the object {oid} is damaged or cut short", oid=oid)
    return kind, content


def _decode_large(packed: bytes, oid: str, start: int, size: int) -> bytes:
    """Returns the content of a large object's file, of which no second copy is made."""
    stream = zlib.decompressobj()
    digest = sha1(usedforsecurity=False)
    content = BytesIO()
    view = memoryview(packed)
    skip = start
    for place in range(0, len(packed), _AT_ONCE):
        unpacked = stream.decompress(view[place : place + _AT_ONCE], _STEP)
        while unpacked and content.tell() <= size:
            digest.update(unpacked)
            content.write(unpacked[skip:] if skip else unpacked)
            skip = max(skip - len(unpacked), 0)
            unpacked = stream.decompress(stream.unconsumed_tail, _STEP)
    if content.tell() != size or not stream.eof or stream.unused_data or digest.hexdigest() != oid:
        raise Corrupt(f"the object {oid} is damaged or cut short", oid=oid)
    return content.getvalue()


def check_loose(pieces: Iterable[bytes], oid: str) -> None:
    """Checks a loose object's file against its id, in little memory however large the object is.

    Args:
        pieces: The file, a piece at a time, none of them empty.
        oid: The id.

    Raises:
        Corrupt: It is empty, cut short, damaged, or unpacks to more than an object may.
    """
    stream = zlib.decompressobj()
    digest = sha1(usedforsecurity=False)
    left = None
    try:
        for piece in pieces:
            unpacked = stream.decompress(piece, _STEP)
            while unpacked:
                if left is None:
                    left = _announced_size(unpacked, oid)
                left -= len(unpacked)
                if left < 0:
                    break
                digest.update(unpacked)
                unpacked = stream.decompress(stream.unconsumed_tail, _STEP)
            if stream.unused_data:
                break  # which would grow with all that follows
    except zlib.error as error:
        raise Corrupt(f"the object {oid} is damaged: {error}", oid=oid) from error
    if left != 0 or not stream.eof or stream.unused_data or digest.hexdigest() != oid:
        raise Corrupt(f"the object {oid} is damaged or cut short", oid=oid)


def too_large(oid: str, size: int, limit: int) -> Corrupt:
    """Returns the error that an object is larger than it may be."""
    return Corrupt(f"the object {oid} unpacks to {size:,} bytes; at most {limit:,} are ever stored there", oid=oid)


def _announced_size(start: bytes, oid: str) -> int:
    header = _HEADER.match(start)
    if header is None:
        raise Corrupt(f"the object {oid} has no header", oid=oid)
    if int(header[2]) > MAX_OBJECT_BYTES:
        raise too_large(oid, int(header[2]), MAX_OBJECT_BYTES)
    return header.end() + int(header[2])


class TreeItem(NamedTuple):
    """One item of a tree: its mode as git writes it, its name, and the id of its object."""

    mode: bytes
    name: bytes
    oid: str


def tree_item(mode: bytes, name: str, oid: str) -> bytes:
    """Returns one item as it stands in a tree."""
    return b"%b %b\0%b" % (mode, name.encode(), bytes.fromhex(oid))


def decode_tree(content: bytes, oid: str) -> list[TreeItem]:
    """Returns the items of a tree, in its order.

    Raises:
        Corrupt: It is no tree.
    """
    items = []
    place = 0
    while place < len(content):
        blank = content.find(b" ", place)
        end = content.find(b"\0", blank)
        if blank < 0 or end < 0 or end + 21 > len(content):
            raise Corrupt(f"the tree {oid} is damaged", oid=oid)
        items.append(TreeItem(content[place:blank], content[blank + 1 : end], content[end + 1 : end + 21].hex()))
        place = end + 21
    return items


class Person(NamedTuple):
    """Who made a commit, and when: seconds since the epoch."""

    name: str
    email: str
    time: int

    def __str__(self) -> str:
        return f"{self.name} <{self.email}> {self.time} +0000"


class Commit(NamedTuple):
    """A git commit.

    Attributes:
        tree: The id of its tree.
        parents: The ids of its parents.
        author: Who spoke, and when.
        committer: Who stored it, and when.
        message: Its text.
    """

    tree: str
    parents: tuple[str, ...]
    author: Person
    committer: Person
    message: str


def encode_commit(commit: Commit) -> bytes:
    """Returns the content of a commit object."""
    parents = "".join(f"parent {parent}\n" for parent in commit.parents)
    return (
        f"tree {commit.tree}\n{parents}author {commit.author}\ncommitter {commit.committer}\n\n{commit.message}"
    ).encode()


def decode_commit(content: bytes, oid: str) -> Commit:
    """Returns the commit that an object's content is.

    Raises:
        Corrupt: It is no commit.
    """
    text = content.decode("utf-8", "replace")
    if plain := _PLAIN_HEAD.match(text):
        tree, parents, *found = plain.groups()
        author, committer = Person(found[0], found[1], int(found[2])), Person(found[3], found[4], int(found[5]))
        return Commit(tree, tuple(parents.split()[1::2]), author, committer, text[plain.end() :])
    head, _, message = text.partition("\n\n")
    tree, parents = "", []
    people: dict[str, Person] = {}
    for line in head.split("\n"):
        key, _, value = line.partition(" ")
        if key == "tree" and not tree:
            tree = value
        elif key == "parent":
            parents.append(value)
        elif key in ("author", "committer") and (person := _PERSON.fullmatch(value)):
            people.setdefault(key, Person(person[1], person[2], int(person[3])))
    if not all(re.fullmatch("[0-9a-f]{40}", name) for name in (tree, *parents)) or len(people) != 2:
        raise Corrupt(f"the commit {oid} is damaged", oid=oid)
    return Commit(tree, tuple(parents), people["author"], people["committer"], message)
