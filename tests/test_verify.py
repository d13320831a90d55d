"""What a check of a store finds, and what it does not take for damage."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from gitsession import CompactionEntry, Finding, MessageEntry, SessionMeta, Store, new_commit, verify
from gitsession.repo.codec import object_id
from tests import hostile
from tests.stores import HELLO, HI, git_output


@pytest.fixture
def store(store_path: Path) -> Store:
    return Store.init(store_path, durable=False)


def say(store: Store, session_id: str, *texts: str) -> None:
    session = store.bind(session_id)
    for text in texts:
        session.commit(new_commit(session.load().head, [{"role": "user", "content": text}]))


def loose_file(store: Store, oid: str) -> Path:
    return store.path / "objects" / oid[:2] / oid[2:]


def blob_of(store: Store, session: str, number: int) -> str:
    listed = git_output(store.path, "ls-tree", "-r", session).splitlines()
    return listed[number].split()[2]


def problems(store: Store, *, fast: bool = False) -> list[str]:
    return [finding.problem for finding in verify(store, fast=fast)]


@pytest.fixture
def varied(store: Store) -> Store:
    """Makes a store in which everything occurs that the library writes."""
    store.create(SessionMeta("empty"))
    store.create(SessionMeta("log", title="A log"))
    for number in range(3):
        store.append("log", MessageEntry(HELLO, id=f"m{number}"))
    store.append("log", CompactionEntry("short", "m1", 7))
    store.bind("two").commit(new_commit(None, [HELLO, HI]))
    say(store, "two", *map(str, range(120)))
    store.fork("two", "fork", at="#50")
    say(store, "fork", "another way")
    store.fork("two", "unchanged")
    git_output(store.path, "branch", "exp/try", "two~3")
    say(store, "refs/heads/exp/try", "on a branch of plain git")
    return store


@pytest.mark.parametrize("fast", [False, True])
def test_nothing_is_found_in_what_the_library_writes(varied: Store, fast: bool) -> None:
    assert list(verify(varied, fast=fast)) == []


@pytest.mark.parametrize("fast", [False, True])
def test_nothing_is_found_after_a_collection(varied: Store, fast: bool) -> None:
    git_output(varied.path, "gc", "-q", "--prune=now")
    assert list(verify(varied, fast=fast)) == []
    say(varied, "two", "and on")
    assert list(verify(varied, fast=fast)) == []


def test_nothing_is_found_in_a_clone(varied: Store, tmp_path: Path) -> None:
    git_output(tmp_path, "clone", "-q", "--mirror", str(varied.path), "clone.git")
    assert list(verify(Store.open(tmp_path / "clone.git"))) == []


def test_nothing_is_found_where_the_reflogs_have_expired(varied: Store) -> None:
    git_output(varied.path, "reflog", "expire", "--expire=now", "--all")
    assert list(verify(varied)) == []


def test_a_finding_names_session_commit_object_problem_and_advice(store: Store) -> None:
    say(store, "a", "0", "1", "2")
    blob = blob_of(store, "a", 1)
    loose_file(store, blob).unlink()
    commit = git_output(store.path, "rev-parse", "a~1").strip()
    [found] = verify(store)
    assert found == Finding("a", commit, blob, f"delta 1 is damaged: the blob {blob} is missing", found.advice)
    assert found.advice


def test_a_fast_check_finds_what_is_missing_but_reads_no_message(store: Store) -> None:
    say(store, "a", "0", "1")
    say(store, "b", "2", "3")
    missing, damaged = blob_of(store, "a", 0), blob_of(store, "b", 0)
    loose_file(store, missing).unlink()
    loose_file(store, damaged).chmod(0o644)
    loose_file(store, damaged).write_bytes(b"x")
    assert [finding.oid for finding in verify(store, fast=True)] == [missing]
    assert {finding.oid for finding in verify(store)} == {missing, damaged}


def test_damage_that_forks_share_is_told_for_each_of_them(store: Store) -> None:
    say(store, "a", "0", "1", "2")
    store.fork("a", "b")
    store.fork("a", "early", at="#0")
    loose_file(store, blob_of(store, "a", 1)).unlink()
    assert [finding.session for finding in verify(store)] == ["a", "b"]


def test_an_object_that_nothing_refers_to_is_checked_as_well(store: Store) -> None:
    say(store, "a", "0")
    oid = hostile.put(store.path, "blob", b"alone")
    loose_file(store, oid).write_bytes(b"")
    [found] = verify(store)
    assert (found.session, found.oid) == (None, oid)


def test_a_damaged_file_beside_a_sound_packed_copy_is_no_damage(store: Store) -> None:
    say(store, "a", "0")
    blob = blob_of(store, "a", 0)
    git_output(store.path, "repack", "-q", "-d")
    loose_file(store, blob).parent.mkdir(exist_ok=True)
    loose_file(store, blob).write_bytes(b"")
    [found] = verify(store)
    assert (found.oid, found.damage) == (blob, False)
    assert len(store.load("a")) == 1


def test_writing_what_is_damaged_heals_it(store: Store) -> None:
    say(store, "a", "0")
    commit = new_commit(None, [HELLO])
    store.bind("b").commit(commit)
    blob = blob_of(store, "b", 0)
    for damaged in (b"", b"x", loose_file(store, blob).read_bytes()[:-3]):
        loose_file(store, blob).chmod(0o644)
        loose_file(store, blob).write_bytes(damaged)
        assert blob in {finding.oid for finding in verify(store)}
        store.bind(f"c{len(damaged)}").commit(replace(commit))
        assert list(verify(store)) == []
        assert list(store.bind("b").load().messages) == [HELLO]


def test_a_commit_that_changes_what_was_stored_is_found(store: Store) -> None:
    say(store, "good", "0")
    hostile.growing_history(store.path)
    assert problems(store) == ["the commit changes what was stored before it, beside adding a delta"]


def test_a_commit_that_adds_several_deltas_is_found(store: Store) -> None:
    say(store, "good", "0")
    hostile.jumping_history(store.path)
    assert problems(store)[0] == "the commit goes from 1 deltas to 3; one may add one"


@pytest.mark.parametrize(("named", "found"), [("Commit-Id: c7\nDelta: 7", True), (None, False)])
def test_a_text_that_names_a_delta_which_its_commit_does_not_add_is_found(
    store: Store, named: str | None, found: bool
) -> None:
    say(store, "a", "0", "1")
    text = git_output(store.path, "log", "-1", "--format=%B", "a")
    if named is not None:
        text = f"user: x\n\n{named}\nSession: a\n"
    tree = git_output(store.path, "rev-parse", "a^{tree}").strip()
    person = ("-c", "user.name=x", "-c", "user.email=x@example.invalid")
    made = git_output(store.path, *person, "commit-tree", "-p", "a", "-m", text.strip(), tree).strip()
    git_output(store.path, "update-ref", "refs/heads/a", made)
    expected = ["the commit's text names a delta that it does not add: 7, 'c7'"] if found else []
    assert problems(store) == expected


def test_a_commit_id_that_occurs_twice_is_found(store: Store) -> None:
    blob = hostile.put(store.path, "blob", hostile.ENTRY)
    name = f"000001-c0-{hostile.TAG}.jsonl".encode()
    first = hostile.commit(store.path, hostile.session(store.path))
    root = hostile.session(store.path, deltas=[hostile.delta(0, blob), (hostile.BLOB, name, blob)])
    text = b"user: x\n\nCommit-Id: c0\nDelta: 1\nSession: evil\n"
    hostile.branch(store.path, hostile.commit(store.path, root, parents=f"parent {first}\n", text=text))
    assert problems(store) == ["the deltas 0 and 1 have the same commit id 'c0'"]


def test_an_entry_id_that_occurs_twice_is_found(store: Store) -> None:
    entry = hostile.ENTRY.replace(b'{"type"', b'{"id":"twice","type"', 1)
    blobs = [hostile.put(store.path, "blob", entry), hostile.put(store.path, "blob", entry + hostile.ENTRY)]
    first = hostile.commit(store.path, hostile.session(store.path, deltas=[hostile.delta(0, blobs[0])]))
    root = hostile.session(store.path, deltas=[hostile.delta(place, blob) for place, blob in enumerate(blobs)])
    text = b"user: x\n\nCommit-Id: c1\nDelta: 1\nSession: evil\n"
    hostile.branch(store.path, hostile.commit(store.path, root, parents=f"parent {first}\n", text=text))
    assert problems(store) == ["the deltas 0 and 1 hold entries of the same id 'twice'"]


def test_an_entry_with_the_id_that_a_message_gets_by_its_place_is_found(store: Store) -> None:
    blobs = [
        hostile.put(store.path, "blob", hostile.ENTRY.replace(b'{"type"', b'{"id":"c1/0","type"', 1)),
        hostile.put(store.path, "blob", hostile.ENTRY),
    ]
    items = [
        (hostile.BLOB, f"00000{number}-{name}-{hostile.TAG}.jsonl".encode(), blobs[number])
        for number, name in enumerate(("c1%2F0", "c1"))
    ]
    first = hostile.commit(
        store.path,
        hostile.session(store.path, deltas=items[:1]),
        text=b"user: x\n\nCommit-Id: c1%2F0\nDelta: 0\nSession: evil\n",
    )
    second = hostile.commit(
        store.path,
        hostile.session(store.path, deltas=items),
        parents=f"parent {first}\n",
        text=b"user: x\n\nCommit-Id: c1\nDelta: 1\nSession: evil\n",
    )
    hostile.branch(store.path, second)
    assert [entry.id for entry in store.load("evil")] == ["c1/0", "c1/0"]
    assert problems(store) == ["the deltas 1 and 0 hold entries of the same id 'c1/0'"]


def test_a_head_that_fell_back_to_a_packed_value_is_found(store: Store) -> None:
    say(store, "a", "0", "1")
    git_output(store.path, "pack-refs", "--all")
    packed = git_output(store.path, "rev-parse", "a").strip()
    say(store, "a", "2")
    lost = git_output(store.path, "rev-parse", "a").strip()
    (store.path / "refs/heads/a").unlink()
    assert problems(store) == [f"the branch fell back to {packed}; its reflog says that it was at {lost}"]


def test_a_log_whose_last_line_is_cut_short_is_remarked_on_until_the_next_commit(store: Store) -> None:
    say(store, "a", "0", "1")
    log = store.path / "logs/refs/heads/a"
    log.write_bytes(log.read_bytes()[:-9])
    found = [(finding.problem, finding.damage) for finding in verify(store)]
    assert found == [("the last line of the reflog of refs/heads/a is cut short, as a power cut leaves it", False)]
    say(store, "a", "2")
    assert list(verify(store)) == []


def test_a_branch_that_is_gone_is_found_by_its_reflog(store: Store) -> None:
    say(store, "a", "0", "1")
    (store.path / "refs/heads/a").unlink()
    assert [finding.session for finding in verify(store)] == ["a"]


def test_a_branch_that_was_deleted_is_not_missed(store: Store) -> None:
    say(store, "a", "0", "1")
    git_output(store.path, "branch", "-D", "a")
    assert list(verify(store)) == []


def test_a_branch_that_git_moved_back_is_as_it_should_be(store: Store) -> None:
    say(store, "a", "0", "1")
    git_output(store.path, "branch", "-f", "a", "a~1")
    assert list(verify(store)) == []


@pytest.mark.parametrize("moved_on", [False, True])
def test_a_writer_that_was_killed_before_it_moved_the_ref_leaves_no_damage(store: Store, moved_on: bool) -> None:
    say(store, "a", "0", "1")
    ref = store.path / "refs/heads/a"
    before = ref.read_bytes()
    say(store, "a", "2")
    ref.write_bytes(before)  # the log tells of a move that did not happen
    if moved_on:
        say(store, "a", "3")
    assert list(verify(store)) == []


def test_a_writer_that_was_killed_while_it_made_a_session_leaves_no_damage(store: Store) -> None:
    say(store, "a", "0")
    (store.path / "refs/heads/a").rename(store.path / "refs/heads/a.lock")
    assert list(verify(store)) == []


def test_a_log_that_lacks_its_end_is_no_damage(store: Store) -> None:
    say(store, "a", "0", "1", "2")
    log = store.path / "logs/refs/heads/a"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:1]))
    say(store, "a", "3")
    assert list(verify(store)) == []


def test_the_history_of_a_shallow_clone_ends_and_that_is_no_damage(varied: Store, tmp_path: Path) -> None:
    git_output(tmp_path, "clone", "-q", "--bare", "--depth=5", "--no-single-branch", f"file://{varied.path}", "s.git")
    found = list(verify(Store.open(tmp_path / "s.git")))
    assert found
    assert [finding for finding in found if finding.damage or "shallow clone" not in finding.problem] == []


def test_a_branch_of_another_program_is_told_once(store: Store) -> None:
    say(store, "a", "0")
    tree = hostile.tree(store.path)
    oid = hostile.commit(store.path, tree)
    for _ in range(30):
        oid = hostile.commit(store.path, tree, parents=f"parent {oid}\n")
    hostile.branch(store.path, oid, "main")
    assert [finding.session for finding in verify(store)] == ["main"]


def test_a_history_that_was_rewritten_is_not_told_commit_by_commit(store: Store) -> None:
    say(store, "a", *map(str, range(60)))
    for number in range(60):
        loose_file(store, blob_of(store, "a", number)).unlink()
    found = [finding for finding in verify(store) if finding.session == "a"]
    assert len(found) == 26
    assert found[-1].problem == "35 more problems of this session"


def test_packs_are_hashed_again_object_by_object(store: Store) -> None:
    say(store, "good", "0")
    hostile.packed_lie(store.path)
    damaged = object_id("blob", b"other")
    assert {finding.oid for finding in verify(store)} == {damaged}


def test_a_pack_without_an_index_is_found(store: Store) -> None:
    say(store, "a", "0")
    git_output(store.path, "repack", "-q", "-a", "-d")
    next((store.path / "objects/pack").glob("*.idx")).unlink()
    assert any("has no index" in problem for problem in problems(store))


def test_progress_is_told_and_comes_to_an_end(varied: Store) -> None:
    for fast in (False, True):
        told: list[tuple[int, int]] = []
        assert list(verify(varied, fast=fast, progress=lambda done, total, told=told: told.append((done, total)))) == []
        assert sorted(told) == told
        assert told[-1][0] == told[-1][1] > 0


@pytest.mark.slow
def test_ten_thousand_commits_are_checked_in_seconds(store: Store) -> None:
    session = store.bind("long")
    head = None
    for number in range(10_000):
        head = session.commit(new_commit(head, [{"role": "user", "content": f"{number}"}])).head
    began = time.perf_counter()
    assert list(verify(store)) == []
    assert time.perf_counter() - began < 60


REPAIR = "`gitsession repair` tells what it can be set to"
REMOVE = "remove it with `git symbolic-ref -d`"
SYMBOLIC = "is a symbolic ref to 'refs/heads/a', which no session is"


@pytest.mark.parametrize(
    ("name", "content", "problem", "advice"),
    [
        ("refs/heads/x", "garbage", "the ref refs/heads/x is damaged", REPAIR),
        ("refs/heads/x", "ref: refs/heads/a\n", f"refs/heads/x {SYMBOLIC}", REMOVE),
        ("refs/remotes/o/x", "ref: refs/heads/a\n", f"refs/remotes/o/x {SYMBOLIC}", REMOVE),
        (
            "refs/remotes/o/x",
            "",
            "the ref refs/remotes/o/x is empty",
            "delete the ref with `git update-ref -d 'refs/remotes/o/x'`, or fetch it again",
        ),
        (
            "refs/heads/x y",
            "",
            "git does not allow a ref of the name 'refs/heads/x y'",
            "rename its file, or restore the store from a backup",
        ),
    ],
)
def test_a_damaged_ref_has_one_advice_that_fits_it(
    store: Store, name: str, content: str, problem: str, advice: str
) -> None:
    say(store, "a", "one")
    path = store.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    assert [(problem, advice)] == [(one.problem, one.advice) for one in verify(store)]
