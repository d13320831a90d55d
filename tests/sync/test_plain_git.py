"""The same with plain git, on a store and in a work tree."""

from pathlib import Path

from gitsession import Store, pull, push, sync
from tests.conftest import Git

from .conftest import Clones, Origin, said, say


def test_plain_git_pushes_and_fetches_on_the_store(near: Origin, clones: Clones, git: Git) -> None:
    ours, theirs = clones(near), clones(near)
    say(ours, "s", "one")
    git("-C", ours.path, "push", "--quiet")
    git("-C", theirs.path, "fetch", "--quiet")
    assert said(theirs, "s@origin") == ["one"]
    assert theirs.list() == []
    pull(theirs)
    say(theirs, "s", "two")
    git("-C", theirs.path, "push", "--quiet", "origin", "s")
    assert [(one.action, one.status) for one in sync(ours)] == [("pull", "moved")]


def test_a_work_tree_is_cloned_pulled_and_pushed(near: Origin, clones: Clones, git: Git, tmp_path: Path) -> None:
    ours = clones(near)
    say(ours, "s", "one")
    push(ours)
    tree = tmp_path / "tree"
    git("clone", "--quiet", "--branch", "s", near.url, tree)
    assert len([*tree.rglob("*.jsonl")]) == 1
    say(ours, "s", "two")
    push(ours)
    git("-C", tree, "pull", "--quiet")
    assert len([*tree.rglob("*.jsonl")]) == 2
    in_tree = Store.open(tree, durable=False)
    say(in_tree, "s", "three")
    git("-C", tree, "push", "--quiet", "origin", "s")
    git("-C", tree, "branch", "copy", "s~1")
    git("-C", tree, "push", "--quiet", "origin", "copy")
    pull(ours)
    assert said(ours, "s") == ["one", "two", "three"]
    assert said(ours, "copy") == ["one", "two"]


def test_a_bare_clone_of_plain_git_is_a_store_and_serves(
    near: Origin, clones: Clones, git: Git, tmp_path: Path
) -> None:
    ours = clones(near)
    say(ours, "s", "one")
    push(ours)
    git("clone", "--quiet", "--bare", near.url, tmp_path / "bare.git")
    bare = Store.open(tmp_path / "bare.git", durable=False)
    say(bare, "s", "two")
    git("-C", bare.path, "push", "--quiet", "origin", "s")
    pull(ours)
    assert said(ours, "s") == ["one", "two"]
