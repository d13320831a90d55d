"""Objects as an attacker would make them: written by hand, with nothing checked."""

import json
import struct
import zlib
from hashlib import sha1
from itertools import accumulate
from pathlib import Path

TAG = "7b1c8a"
BLOB = b"100644"
TREE = b"40000"
ENTRY = b'{"type":"message","message":{"role":"user","content":"x"}}\n'
PERSON = b"user <user@gitsession.invalid> 1700000000 +0000"

Item = tuple[bytes, bytes, str]


def object_id(kind: str, content: bytes) -> str:
    return sha1(b"%s %d\0" % (kind.encode(), len(content)) + content, usedforsecurity=False).hexdigest()


def loose_path(store: Path, oid: str) -> Path:
    path = store / "objects" / oid[:2] / oid[2:]
    path.parent.mkdir(exist_ok=True)
    return path


def put(store: Path, kind: str, content: bytes) -> str:
    oid = object_id(kind, content)
    loose_path(store, oid).write_bytes(zlib.compress(b"%s %d\0" % (kind.encode(), len(content)) + content, 1))
    return oid


def header(**changes: object) -> bytes:
    value = {"format": 1, "text": 1, "tag": TAG, "meta": {"id": "evil", "version": 1, "created_at": ""}}
    return json.dumps(value | changes).encode() + b"\n"


def tree(store: Path, *items: Item) -> str:
    return put(store, "tree", b"".join(b"%b %b\0%b" % (mode, name, bytes.fromhex(oid)) for mode, name, oid in items))


def delta(number: int, oid: str, mode: bytes = BLOB) -> Item:
    return mode, f"{number:06d}-c{number}-{TAG}.jsonl".encode(), oid


def session(
    store: Path,
    *,
    deltas: list[Item] | None = None,
    more: tuple[Item, ...] = (),
    head: bytes | None = None,
    head_item: Item | None = None,
    directories: tuple[Item, ...] | None = None,
) -> str:
    """Returns the tree of a session, in which anything may be wrong."""
    blob = put(store, "blob", ENTRY)
    bottom = tree(store, *(deltas if deltas is not None else [delta(0, blob)]))
    middle = tree(store, (TREE, f"00-{TAG}".encode(), bottom))
    tops = ((TREE, f"0000-{TAG}".encode(), middle),) if directories is None else directories
    item = head_item or (BLOB, b"session.json", put(store, "blob", header() if head is None else head))
    return tree(store, *more, *tops, item)


def commit(store: Path, root: str, *, person: bytes = PERSON, parents: str = "", text: bytes | None = None) -> str:
    message = b"user: x\n\nCommit-Id: c0\nDelta: 0\nSession: evil\n" if text is None else text
    return put(
        store,
        "commit",
        b"tree %b\n%bauthor %b\ncommitter %b\n\n%b" % (root.encode(), parents.encode(), person, PERSON, message),
    )


def branch(store: Path, oid: str, name: str = "evil") -> None:
    (store / "refs/heads" / name).write_text(f"{oid}\n")


def pack(store: Path, objects: list[tuple[str, int, int, bytes]]) -> None:
    """Writes a pack of objects: the id, the kind's number, the size and the zlib stream of each.

    The stream of a delta begins with the id of its base (kind 7).
    """
    content = b"PACK" + struct.pack(">II", 2, len(objects))
    offsets = []
    for _, kind, size, stream in objects:
        offsets.append(len(content))
        length = [(kind << 4) | (size & 15), *((size >> shift) & 0x7F for shift in range(4, size.bit_length(), 7))]
        content += bytes([*(part | 0x80 for part in length[:-1]), length[-1]]) + stream
    content += sha1(content, usedforsecurity=False).digest()
    rows = [(bytes.fromhex(row[0]), zlib.crc32(row[3]), offset) for row, offset in zip(objects, offsets, strict=True)]
    index = pack_index(sorted(rows), content[-20:])
    name = store / "objects/pack" / f"pack-{content[-20:].hex()}"
    name.with_suffix(".pack").write_bytes(content)
    name.with_suffix(".idx").write_bytes(index)


def pack_index(rows: list[tuple[bytes, int, int]], pack_sum: bytes = bytes(20)) -> bytes:
    """Returns the index of a pack.

    Args:
        rows: The id, the checksum and the offset of each object, in the order of the ids.
        pack_sum: The last bytes of the pack.
    """
    firsts = [0] * 256
    for oid, _, _ in rows:
        firsts[oid[0]] += 1
    index = b"\xfftOc\0\0\0\x02" + struct.pack(">256I", *accumulate(firsts)) + b"".join(oid for oid, _, _ in rows)
    index += b"".join(struct.pack(">I", checksum) for _, checksum, _ in rows)
    far = [offset for _, _, offset in rows if offset >> 31]
    for _, _, offset in rows:
        index += struct.pack(">I", 1 << 31 | far.index(offset) if offset >> 31 else offset)
    index += b"".join(struct.pack(">Q", offset) for offset in far) + pack_sum
    return index + sha1(index, usedforsecurity=False).digest()


def encoded_size(size: int) -> bytes:
    """Returns a size as it stands in a delta."""
    parts = [size >> shift & 0x7F for shift in range(0, max(size.bit_length(), 1), 7)]
    return bytes([*(part | 0x80 for part in parts[:-1]), parts[-1]])


def packed_lie(store: Path) -> None:
    """Makes a pack whose index gives an object the id of another."""
    pack(store, [(object_id("blob", b"other"), 3, 4, zlib.compress(b"evil"))])
    branch(store, commit(store, session(store, deltas=[delta(0, object_id("blob", b"other"))])))


def growing_history(store: Path) -> None:
    """Makes a history of three commits that takes back what it said."""
    blob, other = put(store, "blob", ENTRY), put(store, "blob", ENTRY.replace(b'"x"', b'"y"'))
    first = commit(store, session(store))
    text = b"user: x\n\nCommit-Id: c1\nDelta: 1\nSession: evil\n"
    root = session(store, deltas=[delta(0, other), delta(1, blob)])
    branch(store, commit(store, root, parents=f"parent {first}\n", text=text))


def jumping_history(store: Path) -> None:
    blob = put(store, "blob", ENTRY)
    first = commit(store, session(store))
    root = session(store, deltas=[delta(0, blob), delta(1, blob), delta(2, blob)])
    branch(store, commit(store, root, parents=f"parent {first}\n"))
