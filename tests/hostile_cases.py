"""Hostile repositories: each builder takes a store with one good session and spoils it as an attacker would."""

import os
import zlib
from collections.abc import Callable
from functools import cache
from hashlib import sha1
from pathlib import Path

from tests.hostile import (
    BLOB,
    ENTRY,
    TAG,
    TREE,
    branch,
    commit,
    delta,
    encoded_size,
    growing_history,
    header,
    jumping_history,
    loose_path,
    object_id,
    pack,
    packed_lie,
    put,
    session,
    tree,
)

GIBIBYTE = 1 << 30


def evil_tree(root: Callable[[Path], str]) -> Callable[[Path], None]:
    """Returns a builder of a branch whose commit has the tree that is given."""

    def build(store: Path) -> None:
        branch(store, commit(store, root(store)))

    return build


def evil_commit(**how: object) -> Callable[[Path], None]:
    def build(store: Path) -> None:
        branch(store, commit(store, session(store), **how))  # type: ignore[arg-type]

    return build


def extra(mode: bytes, name: bytes) -> Callable[[Path], None]:
    return evil_tree(lambda store: session(store, more=((mode, name, put(store, "blob", b"x")),)))


def evil_header(content: bytes) -> Callable[[Path], None]:
    return evil_tree(lambda store: session(store, head=content))


def evil_entry(content: bytes) -> Callable[[Path], None]:
    return evil_tree(lambda store: session(store, deltas=[delta(0, put(store, "blob", content))]))


@cache
def bomb() -> tuple[str, bytes, bytes]:
    """Returns a blob of 1 GiB: its id, its loose file, and its content as one zlib stream; about 1 MB each."""
    start = b"blob %d\0" % GIBIBYTE
    digest, loose, packed = sha1(start, usedforsecurity=False), zlib.compressobj(1), zlib.compressobj(1)
    chunk = bytes(1 << 20)
    file, stream = [loose.compress(start)], []
    for _ in range(1024):
        digest.update(chunk)
        file.append(loose.compress(chunk))
        stream.append(packed.compress(chunk))
    return digest.hexdigest(), b"".join([*file, loose.flush()]), b"".join([*stream, packed.flush()])


def loose_bomb(store: Path) -> None:
    oid, file, _ = bomb()
    loose_path(store, oid).write_bytes(file)
    branch(store, commit(store, session(store, deltas=[delta(0, oid)])))
    branch(store, commit(store, session(store, head_item=(BLOB, b"session.json", oid))), "evil-header")
    branch(store, commit(store, oid), "evil-tree")
    branch(store, oid, "evil-commit")


def lying_bomb(store: Path) -> None:
    """Makes an object whose header names a small size, and which goes on for 1 GiB."""
    oid = object_id("blob", b"x")
    packer = zlib.compressobj(1)
    file = [packer.compress(b"blob 1\0")] + [packer.compress(bytes(1 << 20)) for _ in range(1024)] + [packer.flush()]
    loose_path(store, oid).write_bytes(b"".join(file))
    branch(store, commit(store, session(store, deltas=[delta(0, oid)])))


def packed_bomb(store: Path) -> None:
    oid, _, stream = bomb()
    pack(store, [(oid, 3, GIBIBYTE, stream)])
    branch(store, commit(store, session(store, deltas=[delta(0, oid)])))
    branch(store, commit(store, session(store, head_item=(BLOB, b"session.json", oid))), "evil-header")


def packed_over_a_bomb(store: Path) -> None:
    """Makes a small object, a message and a header, that is a delta over 1 GiB."""
    base, _, stream = bomb()
    oid = object_id("blob", ENTRY)
    delta_of_it = encoded_size(GIBIBYTE) + encoded_size(len(ENTRY)) + bytes([len(ENTRY)]) + ENTRY
    over = (oid, 7, len(delta_of_it), bytes.fromhex(base) + zlib.compress(delta_of_it))
    pack(store, [(base, 3, GIBIBYTE, stream), over])
    branch(store, commit(store, session(store, deltas=[delta(0, oid)])))
    branch(store, commit(store, session(store, head_item=(BLOB, b"session.json", oid))), "evil-header")


def nested_trees(store: Path) -> None:
    oid = put(store, "blob", ENTRY)
    mode = BLOB
    for _ in range(20_000):
        oid, mode = tree(store, (mode, b"a", oid)), TREE
    branch(store, commit(store, session(store, directories=((TREE, f"0000-{TAG}".encode(), oid),))))
    branch(store, commit(store, session(store, more=((TREE, b"!", oid),))), "evil-top")


def huge_tree(store: Path) -> str:
    oid = put(store, "blob", b"x")
    return session(store, more=tuple((BLOB, b"!%07d" % number, oid) for number in range(600_000)))


def link(name: str) -> Callable[[Path], None]:
    """Returns a builder that moves a part of the store outside and puts a link in its place."""

    def build(store: Path) -> None:
        outside = store.parent / "outside"
        path = store / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            (outside / "target").mkdir()
        else:
            path.rename(outside / "target")
        path.symlink_to(outside / "target")

    return build


def linked_fan_out(store: Path) -> None:
    for number in range(256):
        if not (store / "objects" / f"{number:02x}").exists():
            (store / "objects" / f"{number:02x}").symlink_to(store.parent / "outside")


def linked_file(name: str, target: str) -> Callable[[Path], None]:
    def build(store: Path) -> None:
        (store / name).unlink(missing_ok=True)
        (store / name).parent.mkdir(parents=True, exist_ok=True)
        (store / name).symlink_to(target.format(outside=store.parent / "outside"))

    return build


def pipe(name: str) -> Callable[[Path], None]:
    def build(store: Path) -> None:
        (store / name).unlink(missing_ok=True)
        (store / name).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(store / name)

    return build


def sparse(name: str) -> Callable[[Path], None]:
    """Returns a builder of a file that ends in 1.5 GB which take no place on the disk."""

    def build(store: Path) -> None:
        (store / name).parent.mkdir(parents=True, exist_ok=True)
        with (store / name).open("ab") as file:
            file.truncate(1_500_000_000)

    return build


def sparse_object(store: Path) -> None:
    oid = put(store, "blob", ENTRY)
    branch(store, commit(store, session(store, deltas=[delta(0, oid)])))
    sparse(loose_path(store, oid).relative_to(store).as_posix())(store)


def sparse_index(store: Path) -> None:
    pack(store, [(object_id("blob", b"other"), 3, 5, zlib.compress(b"other"))])
    (index,) = store.glob("objects/pack/*.idx")
    sparse(index.relative_to(store).as_posix())(store)


def endless_object(store: Path) -> None:
    oid = "ab" * 20
    loose_path(store, oid).symlink_to("/dev/zero")
    branch(store, commit(store, session(store, deltas=[delta(0, oid)])))


def piped_object(store: Path) -> None:
    oid = "ab" * 20
    os.mkfifo(loose_path(store, oid))
    branch(store, oid)


def text_file(name: str, content: str) -> Callable[[Path], None]:
    def build(store: Path) -> None:
        (store / name).parent.mkdir(parents=True, exist_ok=True)
        with (store / name).open("a") as file:
            file.write(content.format(outside=store.parent / "outside", tip=_tip(store)))

    return build


def _tip(store: Path) -> str:
    return (store / "refs/heads/good").read_text().strip()


def hooks(store: Path) -> None:
    (store / "hooks").mkdir(exist_ok=True)
    for name in ("reference-transaction", "post-commit", "pre-commit", "update", "post-index-change", "pre-auto-gc"):
        hook = store / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {store.parent}/outside/ran\n")
        hook.chmod(0o755)


def replace_cycle(store: Path) -> None:
    tip = _tip(store)
    other = commit(store, session(store))
    (store / "refs/replace").mkdir()
    (store / "refs/replace" / tip).write_text(f"{other}\n")
    (store / "refs/replace" / other).write_text(f"{tip}\n")


def symbolic_cycle(store: Path) -> None:
    (store / "refs/heads/evil").write_text("ref: refs/heads/evil-2\n")
    (store / "refs/heads/evil-2").write_text("ref: refs/heads/evil\n")


# What is done, and what is expected of it: "refused" at opening, "found" by verify, or "harmless".
CASES: dict[str, tuple[Callable[[Path], None], str]] = {
    "a name of two dots": (extra(BLOB, b".."), "found"),
    "a name of .git": (extra(TREE, b".git"), "found"),
    "a name with a slash": (extra(BLOB, b"../../outside/x"), "found"),
    "an empty name": (extra(BLOB, b""), "found"),
    "a link among the directories": (extra(b"120000", b"!"), "found"),
    "a link for a delta": (
        evil_tree(lambda s: session(s, deltas=[delta(0, put(s, "blob", b"/etc/passwd"), b"120000")])),
        "found",
    ),
    "a link for the header": (
        evil_tree(lambda s: session(s, head_item=(b"120000", b"session.json", put(s, "blob", b"/etc/passwd")))),
        "found",
    ),
    "a submodule for a delta": (evil_tree(lambda s: session(s, deltas=[delta(0, "ab" * 20, b"160000")])), "found"),
    "a doubled header": (
        evil_tree(lambda s: session(s, more=((BLOB, b"session.json", put(s, "blob", header())),))),
        "found",
    ),
    "a doubled delta": (
        evil_tree(lambda s: session(s, deltas=[delta(0, put(s, "blob", ENTRY)), delta(0, put(s, "blob", b"{}\n"))])),
        "found",
    ),
    "unsorted deltas": (
        evil_tree(lambda s: session(s, deltas=[delta(1, put(s, "blob", ENTRY)), delta(0, put(s, "blob", ENTRY))])),
        "found",
    ),
    "unsorted directories": (
        evil_tree(lambda s: session(s, directories=tuple((TREE, f"000{n}-{TAG}".encode(), tree(s)) for n in (1, 0)))),
        "found",
    ),
    "a gap in the numbers": (evil_tree(lambda s: session(s, deltas=[delta(7, put(s, "blob", ENTRY))])), "found"),
    "the last number that there is": (
        evil_tree(lambda s: session(s, deltas=[delta(99_999_999, put(s, "blob", ENTRY))])),
        "found",
    ),
    "an empty directory": (evil_tree(lambda s: session(s, deltas=[])), "found"),
    "a directory that is a file": (
        evil_tree(lambda s: session(s, directories=((TREE, f"0000-{TAG}".encode(), put(s, "blob", ENTRY)),))),
        "found",
    ),
    "a loose object that unpacks to 1 GiB": (loose_bomb, "found"),
    "an object that unpacks to more than it says": (lying_bomb, "found"),
    "a packed object that unpacks to 1 GiB": (packed_bomb, "found"),
    "a small packed object over one of 1 GiB": (packed_over_a_bomb, "found"),
    "a packed object under the id of another": (packed_lie, "found"),
    "20,000 nested trees": (nested_trees, "found"),
    "a tree of 600,000 items": (evil_tree(huge_tree), "found"),
    "a NUL in a commit's text": (
        evil_commit(text=b"user: x\0\n\nCommit-Id: c0\nDelta: 0\nSession: evil\n"),
        "harmless",
    ),
    "a NUL in an author": (evil_commit(person=b"a\0b <c> 1 +0000"), "found"),
    "a newline in an author": (evil_commit(person=b"a\nparent " + b"1" * 40 + b" <c> 1 +0000"), "found"),
    "a time far in the future": (evil_commit(person=b"a <b> 999999999999999999 +0000"), "harmless"),
    "a time far in the past": (evil_commit(person=b"a <b> -99999999999999999 +9999"), "harmless"),
    "a time of 5,000 digits": (evil_commit(person=b"a <b> " + b"9" * 5000 + b" +0000"), "found"),
    "an escape sequence for an author": (evil_commit(person=b"\x1b]0;x\x07 <b> 1 +0000"), "harmless"),
    "a commit's text of 20 MB": (evil_commit(text=b"x" * 20_000_000), "found"),
    "trailers that lie": (evil_commit(text=b"user: x\n\nCommit-Id: c9\nDelta: 9\nSession: evil\n"), "found"),
    "a thousand parents": (evil_commit(parents=f"parent {'ab' * 20}\n" * 1000), "found"),
    "a commit for a tree": (lambda s: branch(s, commit(s, _tip(s))), "found"),
    "a branch that is a blob": (lambda s: branch(s, put(s, "blob", ENTRY)), "found"),
    "a history that takes back": (growing_history, "found"),
    "a history that jumps": (jumping_history, "found"),
    "replaced objects in a cycle": (replace_cycle, "found"),
    "symbolic refs in a cycle": (symbolic_cycle, "found"),
    "a ref that is a link": (linked_file("refs/heads/evil", "/etc/passwd"), "found"),
    "a ref that is a link to a device": (linked_file("refs/heads/evil", "/dev/zero"), "found"),
    "a log that is a link": (linked_file("logs/refs/heads/good", "{outside}/file"), "harmless"),
    "a lock that is a link": (linked_file("refs/heads/good.lock", "{outside}/lock"), "harmless"),
    "a link for the objects": (link("objects"), "refused"),
    "links for directories of objects": (linked_fan_out, "refused"),
    "a link for the packs": (link("objects/pack"), "refused"),
    "a link for the refs": (link("refs"), "refused"),
    "a link for the branches": (link("refs/heads"), "refused"),
    "a link for a directory of branches": (link("refs/heads/evil"), "found"),
    "a link for the logs": (link("logs"), "refused"),
    "a link for the locks": (link("gitsession/locks"), "refused"),
    "a link for the store's own directory": (link("gitsession"), "refused"),
    "a link for the caches": (link("gitsession/cache"), "refused"),
    "a link for a directory of caches": (link("gitsession/cache/milestones"), "refused"),
    "a link for the list that is kept": (linked_file("gitsession/cache/sessions", "{outside}/file"), "harmless"),
    "a link to a device for the list that is kept": (linked_file("gitsession/cache/sessions", "/dev/zero"), "harmless"),
    "a pipe for the list that is kept": (pipe("gitsession/cache/sessions"), "harmless"),
    "1.5 GB of nothing in HEAD": (sparse("HEAD"), "refused"),
    "1.5 GB of nothing in the configuration": (sparse("config"), "refused"),
    "1.5 GB of nothing in the packed refs": (sparse("packed-refs"), "refused"),
    "1.5 GB of nothing in the mark of a shallow clone": (sparse("shallow"), "refused"),
    "1.5 GB of nothing in a ref": (sparse("refs/heads/evil"), "found"),
    "1.5 GB of nothing in a log": (sparse("logs/refs/heads/good"), "found"),
    "1.5 GB of nothing in the list that is kept": (sparse("gitsession/cache/sessions"), "harmless"),
    "1.5 GB of nothing in an object": (sparse_object, "found"),
    "1.5 GB of nothing in a pack's index": (sparse_index, "found"),
    "a pipe for a ref": (pipe("refs/heads/evil"), "found"),
    "a pipe for HEAD": (pipe("HEAD"), "refused"),
    "a pipe for the configuration": (pipe("config"), "refused"),
    "a pipe for the packed refs": (pipe("packed-refs"), "refused"),
    "a pipe for the mark of a collection": (pipe("gc.pid"), "harmless"),
    "a pipe for an object": (piped_object, "found"),
    "an object without an end": (endless_object, "found"),
    "alternates outside": (text_file("objects/info/alternates", "{outside}/objects\n"), "refused"),
    "a common directory outside": (text_file("commondir", "{outside}\n"), "refused"),
    "hooks": (hooks, "harmless"),
    "a configuration that runs programs": (
        text_file(
            "config",
            "[core]\n\tfsmonitor = touch {outside}/ran\n\tsshCommand = touch {outside}/ran\n"
            "\thooksPath = {outside}\n\tpager = touch {outside}/ran\n[gc]\n\tauto = 1\n",
        ),
        "harmless",
    ),
    "a configuration that includes itself": (text_file("config", "[include]\n\tpath = config\n"), "refused"),
    "a configuration that includes others": (text_file("config", "[include]\n\tpath = {outside}/file\n"), "harmless"),
    "packed refs that lead outside": (
        text_file("packed-refs", "# pack-refs with: peeled\n{tip} refs/heads/../../../outside/ref\n"),
        "found",
    ),
    "a ref that is an option": (lambda s: branch(s, _tip(s), "--upload-pack=ran"), "harmless"),
    "a shallow mark that is none": (text_file("shallow", "../../outside\n{tip}\n"), "refused"),
    "a header of 20 MB": (evil_header(header(more="x" * 20_000_000)), "found"),
    "a header of a million objects": (evil_header(header(more=[{}] * 300_000)), "found"),
    "a header that nests": (evil_header(b"[" * 500_000), "found"),
    "a header with a wrong tag": (evil_header(header(tag="......")), "found"),
    "a header with the tag of another": (evil_header(header(tag="abcdef")), "found"),
    "a header whose tag is no text": (evil_header(header(tag=[])), "found"),
    "a header that claims another id": (evil_header(header(meta={"id": "good"})), "harmless"),
    "a header that claims a path for its id": (evil_header(header(meta={"id": "../../outside/x"})), "harmless"),
    "a header whose id is a number": (evil_header(header(meta={"id": 7})), "found"),
    "a header of a later version": (evil_header(header(format=99)), "found"),
    "a header with NaN": (evil_header(b'{"format":NaN}'), "found"),
    "an entry that nests": (evil_entry(b"[" * 500_000 + b"\n"), "found"),
    "an entry with a long integer": (evil_entry(b'{"n":' + b"9" * 100_000 + b"}\n"), "found"),
    "an entry that is no object": (evil_entry(b"1\n"), "found"),
    "an entry that is no UTF-8": (evil_entry(b'{"type":"message","message":"\xff"}\n'), "found"),
    "a record whose wrapper is damaged": (evil_entry(b'{"type":"gitsession/record","x":1}\n'), "found"),
    "a delta without a line end": (evil_entry(ENTRY[:-1]), "found"),
}
