"""What a repair would do, what it does, and that it loses nothing."""

from pathlib import Path

import pytest

from gitsession import Corrupt, Repair, SessionError, Store, Unavailable, apply_repair, plan_repair, verify
from tests import hostile
from tests.stores import everything, git_output
from tests.test_verify import blob_of, loose_file, say


@pytest.fixture
def store(store_path: Path) -> Store:
    """Makes a store of two sessions of three commits."""
    made = Store.init(store_path, durable=False)
    say(made, "a", "0", "1", "2")
    say(made, "b", "x", "y", "z")
    return made


def oid(store: Store, revision: str) -> str:
    return git_output(store.path, "rev-parse", revision).strip()


def texts(store: Store, session: str) -> list[str]:
    return [message["content"] for message in store.bind(session).load().messages]


def kept_files(store: Store) -> list[bytes]:
    return [path.read_bytes() for path in sorted((store.path / "gitsession/kept").glob("*"))]


def test_nothing_is_planned_for_a_sound_store(store: Store) -> None:
    assert plan_repair(store) == []


@pytest.mark.parametrize("content", [b"", bytes(41), b"0123\n", b"x" * 41])
def test_a_damaged_ref_is_set_to_what_its_log_says(store: Store, content: bytes) -> None:
    head = oid(store, "a")
    (store.path / "refs/heads/a").write_bytes(content)
    [repair] = plan_repair(store)
    assert repair == Repair("a", "a", repair.problem, None, head, 3, None)
    apply_repair(store, repair)
    assert kept_files(store) == [content]
    assert texts(store, "a") == ["0", "1", "2"]
    assert list(verify(store)) == []
    say(store, "a", "3")
    assert list(verify(store)) == []


def test_a_damaged_ref_without_a_log_is_set_to_its_packed_value(store: Store) -> None:
    git_output(store.path, "pack-refs", "--all")
    packed = oid(store, "a")
    (store.path / "refs/heads/a").write_bytes(b"")
    (store.path / "logs/refs/heads/a").unlink()
    [repair] = plan_repair(store)
    assert repair.new == packed
    apply_repair(store, repair)
    assert texts(store, "a") == ["0", "1", "2"]


def test_a_damaged_ref_of_which_nothing_is_known_cannot_be_repaired(store: Store) -> None:
    (store.path / "refs/heads/a").write_bytes(b"")
    (store.path / "logs/refs/heads/a").unlink()
    [repair] = plan_repair(store)
    assert (repair.session, repair.new) == ("a", None)
    with pytest.raises(Corrupt, match="no good commit"):
        apply_repair(store, repair)


def test_a_head_that_fell_back_is_set_forward_again(store: Store) -> None:
    git_output(store.path, "pack-refs", "--all")
    fallen = oid(store, "a")
    say(store, "a", "3", "4")
    head = oid(store, "a")
    (store.path / "refs/heads/a").unlink()
    [repair] = plan_repair(store)
    assert repair == Repair("a", "a", repair.problem, fallen, head, 5, None)
    apply_repair(store, repair)
    assert texts(store, "a") == ["0", "1", "2", "3", "4"]
    assert list(verify(store)) == []


def test_a_branch_that_is_gone_is_made_again(store: Store) -> None:
    (store.path / "refs/heads/a").unlink()
    [repair] = plan_repair(store)
    apply_repair(store, repair)
    assert texts(store, "a") == ["0", "1", "2"]


def test_a_session_with_a_damaged_message_goes_back_to_before_it_and_the_rest_is_kept(store: Store) -> None:
    head = oid(store, "a")
    loose_file(store, blob_of(store, "a", 1)).unlink()
    [repair] = plan_repair(store)
    kept = f"refs/gitsession/kept/a/{head}"
    assert repair == Repair("a", "a", repair.problem, head, oid(store, "a~2"), 1, kept)
    apply_repair(store, repair)
    assert texts(store, "a") == ["0"]
    assert oid(store, kept) == head
    assert kept_files(store) == [f"{head}\n".encode()]
    assert [finding for finding in verify(store) if finding.session] == []
    assert plan_repair(store) == []


@pytest.mark.parametrize("kind", ["tree", "commit"])
def test_a_missing_tree_or_commit_of_the_head_costs_one_commit(store: Store, kind: str) -> None:
    head, before = oid(store, "a"), oid(store, "a~1")
    loose_file(store, oid(store, f"a^{{{kind}}}")).unlink()
    [repair] = plan_repair(store)
    # No ref can name a commit that is not there; the file that is kept does.
    assert (repair.new, repair.kept) == (before, f"refs/gitsession/kept/a/{head}" if kind == "tree" else None)
    apply_repair(store, repair)
    assert texts(store, "a") == ["0", "1"]
    assert kept_files(store) == [f"{head}\n".encode()]


def test_a_missing_commit_in_the_middle_goes_back_by_the_log(store: Store) -> None:
    first = oid(store, "a~2")
    loose_file(store, oid(store, "a~1")).unlink()
    [repair] = plan_repair(store)
    assert repair.new == first
    apply_repair(store, repair)
    assert texts(store, "a") == ["0"]


def test_a_commit_of_another_program_on_a_session_is_set_aside(store: Store) -> None:
    head = oid(store, "a")
    foreign = hostile.commit(store.path, hostile.tree(store.path), parents=f"parent {head}\n")
    git_output(store.path, "update-ref", "refs/heads/a", foreign)
    [repair] = plan_repair(store)
    assert (repair.old, repair.new) == (foreign, head)


def test_a_branch_of_another_program_is_left_alone(store: Store) -> None:
    hostile.branch(store.path, hostile.commit(store.path, hostile.tree(store.path)), "main")
    assert plan_repair(store) == []


def test_planning_changes_nothing(store: Store) -> None:
    git_output(store.path, "pack-refs", "--all")
    say(store, "a", "3")
    (store.path / "refs/heads/a").unlink()
    before = everything(store)
    plan_repair(store)
    assert everything(store) == before


def test_a_repair_is_refused_once_the_branch_has_moved(store: Store) -> None:
    head = oid(store, "a")
    loose_file(store, blob_of(store, "a", 1)).rename(store.path / "aside")
    [repair] = plan_repair(store)
    (store.path / "aside").rename(loose_file(store, blob_of(store, "a", 1)))
    say(store, "a", "3")
    with pytest.raises(Unavailable, match="has changed"):
        apply_repair(store, repair)
    assert oid(store, "a~1") == head


def test_a_repair_applied_twice_is_refused_the_second_time(store: Store) -> None:
    (store.path / "refs/heads/a").write_bytes(b"")
    [repair] = plan_repair(store)
    apply_repair(store, repair)
    with pytest.raises(SessionError, match="has changed"):
        apply_repair(store, repair)


def test_the_same_damage_can_be_repaired_again(store: Store) -> None:
    head = oid(store, "a")
    path = loose_file(store, blob_of(store, "a", 2))
    path.unlink()
    for _ in range(2):
        [repair] = plan_repair(store)
        apply_repair(store, repair)
        git_output(store.path, "update-ref", "refs/heads/a", head)
    assert len(kept_files(store)) == 2


def test_one_repair_leaves_the_other_sessions_as_they_are(store: Store) -> None:
    (store.path / "refs/heads/a").write_bytes(b"")
    before = oid(store, "b")
    apply_repair(store, plan_repair(store)[0])
    assert oid(store, "b") == before
    assert texts(store, "b") == ["x", "y", "z"]
