"""Planting what no client of ours would write into a store that serves."""

from collections.abc import Callable

from gitsession import Store
from gitsession.repo.codec import Commit, Person, decode_commit, encode_commit
from tests.conftest import Git

NOBODY = Person("nobody", "user@example.com", 0)


def item(mode: str, name: str | bytes, oid: str) -> bytes:
    raw = name if isinstance(name, bytes) else name.encode()
    return mode.encode() + b" " + raw + b"\0" + bytes.fromhex(oid)


def blob(store: Store, content: bytes = b"x") -> str:
    return store.repository.objects.write("blob", content)


def tree(store: Store, *items: bytes) -> str:
    return store.repository.objects.write("tree", b"".join(items))


def commit_on(store: Store, branch: str, root: str, *, parents: tuple[str, ...] | None = None) -> str:
    """Moves a branch to a new commit with a root tree, on its present commit or on others, whatever was there."""
    ref = f"refs/heads/{branch}"
    old = store.repository.refs.find(ref)
    above = parents if parents is not None else (old,) if old else ()
    made = store.repository.objects.write("commit", encode_commit(Commit(root, above, NOBODY, NOBODY, "user: hi\n")))
    store.repository.refs.compare_and_swap(ref, old, made, reason="test")
    return made


def rewrite_root(store: Store, branch: str, change: Callable[[bytes], bytes]) -> str:
    """Adds a commit to a branch whose root tree is that of the last one, changed."""
    tip = store.repository.refs.find(f"refs/heads/{branch}")
    assert tip is not None
    commit = decode_commit(store.repository.objects.read(tip, "commit"), tip)
    return commit_on(store, branch, tree(store, change(store.repository.objects.read(commit.tree, "tree"))))


def copy_tip(store: Store, source: str, branch: str) -> None:
    """Makes a branch at another's commit, as `git branch` does."""
    tip = store.repository.refs.find(f"refs/heads/{source}")
    assert tip is not None
    store.repository.refs.compare_and_swap(f"refs/heads/{branch}", None, tip, reason="test")


def rewrite_delta(store: Store, branch: str, change: Callable[[bytes], bytes]) -> str:
    """Adds a commit to a branch whose last directory of deltas is changed: items as git encodes them."""
    tip = store.repository.refs.find(f"refs/heads/{branch}")
    assert tip is not None
    state = store.reader.state(branch, tip)
    bottom = tree(store, change(state.tree.bottom))
    middle = tree(store, state.tree.middle[:-20] + bytes.fromhex(bottom))
    root = tree(store, state.tree._replace(top=state.tree.top[:-20] + bytes.fromhex(middle)).root)
    return commit_on(store, branch, root)


def lose(store: Store, git: Git, branch: str, what: str) -> None:
    """Damages a session behind its last commit: what it loses, or what is cut short, is of the commit before that."""
    place = f"{branch}~1" if what == "commit" else f"{branch}~1^{{tree}}"
    lost = git("-C", store.path, "rev-parse", place).strip()
    if what == "blob":
        (lost,) = {
            *git("-C", store.path, "ls-tree", "-r", "--object-only", f"{branch}~1").split(),
        } - {*git("-C", store.path, "ls-tree", "-r", "--object-only", f"{branch}~2").split()}
    path = store.path / "objects" / lost[:2] / lost[2:]
    path.unlink()


def damage_in_pack(store: Store, git: Git, branch: str, number: int) -> None:
    """Packs a store as `git gc` does, and overwrites what the pack has of a delta of a session."""
    git("-C", store.path, "gc", "-q")
    (index,) = (store.path / "objects" / "pack").glob("*.idx")
    rows = map(str.split, git("verify-pack", "-v", index).splitlines())
    offsets = {row[0]: int(row[4]) for row in rows if len(row) >= 5 and row[1] == "blob"}
    oid = git("-C", store.path, "ls-tree", "-r", "--object-only", branch).split()[number]
    pack = index.with_suffix(".pack")
    pack.chmod(0o600)
    with pack.open("r+b") as stream:
        stream.seek(offsets[oid] + 30)
        stream.write(b"\xff" * 20)
