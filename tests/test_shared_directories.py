"""What many sessions share is looked at once by a scan and by a fast check, and what is wrong there is told of each."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitsession import MessageEntry, SessionMeta, Store, scan, shared_directories, verify
from gitsession.repo.objects import Objects
from gitsession.transcripts.base import Record
from gitsession.transcripts.stored import encode_record
from tests import hostile
from tests.secrets_made_up import SECRETS, private_key
from tests.stores import git_output

CHECKS: dict[str, Callable[[Store], Iterator[object]]] = {
    "scan": scan,
    "verify --fast": lambda store: verify(store, fast=True),
}


@pytest.fixture
def store(store_path: Path) -> Store:
    return Store.init(store_path, durable=False)


def evil_branch(store: Store, name: str, *directories: list[str], texts: dict[str, str] | None = None) -> None:
    """Makes a session of directories of 100 deltas whose commit ids are given; some are records of a text."""
    blob = hostile.put(store.path, "blob", hostile.ENTRY)
    records = {
        own: hostile.put(store.path, "blob", encode_record("aider", own, Record(text.encode(), None)))
        for own, text in (texts or {}).items()
    }
    bottoms = []
    for place, ids in enumerate(directories):
        deltas = [
            (hostile.BLOB, f"{100 * place + number:06d}-{own}-{hostile.TAG}.jsonl".encode(), records.get(own, blob))
            for number, own in enumerate(ids)
        ]
        bottoms.append(hostile.tree(store.path, *deltas))
    branch_of_directories(store, name, bottoms)


def branch_of_directories(store: Store, name: str, bottoms: list[str]) -> None:
    places = [(hostile.TREE, f"{place % 100:02d}-{hostile.TAG}".encode(), oid) for place, oid in enumerate(bottoms)]
    middles = [hostile.tree(store.path, *places[start : start + 100]) for start in range(0, len(places), 100)]
    tops = tuple((hostile.TREE, f"{place:04d}-{hostile.TAG}".encode(), oid) for place, oid in enumerate(middles))
    root = hostile.session(store.path, directories=tops)
    hostile.branch(store.path, hostile.commit(store.path, root), name)


@pytest.mark.parametrize("check", CHECKS)
def test_a_branch_costs_no_more_where_it_shares_more(store: Store, check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = [0]
    directory_deltas, has = shared_directories.directory_deltas, Objects.has

    def counted_deltas(objects: Objects, oid: str, tag: str) -> list[shared_directories.Delta]:
        found = directory_deltas(objects, oid, tag)
        looked_at[0] += len(found)
        return found

    def counted_has(objects: Objects, oid: str) -> bool:
        looked_at[0] += 1
        return has(objects, oid)

    def cost() -> int:
        looked_at[0] = 0
        assert not list(CHECKS[check](store))
        return looked_at[0]

    def cost_of_branches(length: int) -> int:
        evil_branch(store, "a", *([f"c{place}-{number}" for number in range(100)] for place in range(length)), ["end"])
        alone = cost()
        for name in "bcd":
            git_output(store.path, "branch", name, "a")
        both = cost()
        git_output(store.path, "branch", "-D", "b", "c", "d")
        return both - alone

    with monkeypatch.context() as patch:
        patch.setattr(shared_directories, "directory_deltas", counted_deltas)
        patch.setattr(Objects, "has", counted_has)
        few, many = cost_of_branches(1), cost_of_branches(4)
        whole = cost_of_branches(100)
    assert few == many == whole
    assert 3 <= few <= 30


def test_a_missing_message_is_told_of_each_session_that_has_it(store: Store) -> None:
    evil_branch(store, "a", [f"c{number}" for number in range(100)], ["end"])
    git_output(store.path, "branch", "b", "a")
    blob = hostile.object_id("blob", hostile.ENTRY)
    hostile.loose_path(store.path, blob).unlink()
    found = [finding for finding in verify(store, fast=True) if finding.oid == blob]
    assert [(finding.session, finding.problem) for finding in found] == [
        (name, f"delta {number} is missing") for name in "ab" for number in range(101)
    ]


def test_an_id_that_is_there_twice_is_found_in_each_session_and_in_no_other(store: Store) -> None:
    first = [f"c{number}" for number in range(100)]
    full = ["c5", *(f"d{number}" for number in range(99))]
    other = [f"e{number}" for number in range(100)]
    evil_branch(store, "a", first, ["end"])
    evil_branch(store, "b", other, full)  # the directory alone is whole
    evil_branch(store, "c", first, full)
    evil_branch(store, "d", first, full, ["end"])
    evil_branch(store, "e", first, ["e1"])
    evil_branch(store, "f", first, ["end", "end"])
    problem = "delta {} has the commit id '{}' of another"
    assert [(finding.session, finding.problem) for finding in verify(store, fast=True)] == [
        ("c", problem.format(100, "c5")),
        ("d", problem.format(100, "c5")),
        ("f", problem.format(101, "end")),
    ]


def test_a_directory_in_a_wrong_place_is_found_though_it_was_seen(store: Store) -> None:
    first = [f"c{number}" for number in range(100)]
    evil_branch(store, "a", first, ["end"])
    path = f"a:0000-{hostile.TAG}"
    seen, last = (
        git_output(store.path, "rev-parse", f"{path}/{place}-{hostile.TAG}").strip() for place in ("00", "01")
    )
    branch_of_directories(store, "b", [seen, seen, last])
    [finding] = verify(store, fast=True)
    assert finding.session == "b"


def test_a_secret_in_what_is_shared_is_told_once_and_those_behind_it_too(store: Store) -> None:
    texts = [SECRETS["aws-access-token"], *map(str, range(99))]
    store.create(SessionMeta("a"))
    for number, text in enumerate(texts):
        store.append("a", MessageEntry({"role": "user", "content": text}, id=f"m{number}"))
    store.fork("a", "b")
    for session, kind in (("a", "github-pat"), ("b", "npm-access-token")):
        store.append(session, MessageEntry({"role": "user", "content": SECRETS[kind]}, id="last"))
    assert [(secret.session, secret.delta, secret.kind) for secret in scan(store)] == [
        ("a", 0, "aws-access-token"),
        ("a", 100, "github-pat"),
        ("b", 100, "npm-access-token"),
    ]


def test_a_directory_behind_the_beginning_of_a_key_is_looked_at_though_it_was_seen(store: Store) -> None:
    first, row, *_ = private_key().split("\n")
    plain, begun, rest = ([f"{letter}{number}" for number in range(100)] for letter in "abr")
    texts = {"b99": f"> {first}", "r0": f"> {row}"}
    for name, start in (("a", plain), ("b", begun), ("c", plain)):
        evil_branch(store, name, start, rest, ["end"], texts=texts)
    assert [(secret.session, secret.delta) for secret in scan(store)] == [("b", 100)]
