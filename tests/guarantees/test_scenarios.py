"""What went wrong for others, where no other module has a test of its kind: `tests/test_scenarios.py` lists it all.

`pytest -m slow --full tests/guarantees/test_scenarios.py`.
"""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitsession import (
    MessageEntry,
    ParentConflict,
    SessionCommit,
    SessionMeta,
    Store,
    plan_repair,
    verify,
)
from tests.cli.conftest import Run, gitsession  # noqa: F401  # a fixture
from tests.guarantees.children import Child, Hold, Say, together
from tests.stores import HELLO, everything, git_output

pytestmark = pytest.mark.slow


def test_a_conflict_makes_no_fork(store: Store) -> None:
    session = store.bind("s")
    session.commit(SessionCommit("a", None, [HELLO]))
    before = everything(store)
    with pytest.raises(ParentConflict):
        session.commit(SessionCommit("b", None, [HELLO]))
    assert everything(store) == before


def test_three_nested_forks_tell_where_they_come_from(store: Store) -> None:
    store.create(SessionMeta("s0"))
    began = []
    for number in range(1, 4):
        store.append(f"s{number - 1}", MessageEntry({"n": number}))
        began.append(store.info(f"s{number - 1}").oid)
        store.fork(f"s{number - 1}", f"s{number}")
        store.append(f"s{number - 1}", MessageEntry({"after": number}))
    lineage = []
    name: str | None = "s3"
    while name is not None:
        info = store.info(name)
        lineage.append((name, info.meta.forked_from))
        name = info.parent_session
    assert lineage == [("s3", began[2]), ("s2", began[1]), ("s1", began[0]), ("s0", None)]
    assert [entry.message for entry in store.load("s3")] == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_a_fork_at_an_earlier_message_has_exactly_the_messages_up_to_there(store: Store) -> None:
    session = store.bind("s")
    head = None
    for number in range(12):
        head = session.commit(SessionCommit(f"c{number}", head, [{"n": number, "é": "\ud83d"}])).head
    for number in range(12):
        fork = store.bind(store.fork("s", at=f"#{number}"))
        assert fork.load().messages.texts == session.load().messages.texts[: number + 1]
        assert fork.load().head == f"c{number}"


def test_nothing_goes_away_with_the_years(store: Store) -> None:
    store.create(SessionMeta("s"))
    store.append("s", MessageEntry({"n": 1}, "e", None, "2001-01-01T00:00:00Z"))
    store.fork("s", "fork")
    before = everything(store)
    past = time.time() - 400 * 86400
    for path in (store.path, *store.path.rglob("*")):
        os.utime(path, (past, past))
    reopened = Store.init(store.path)
    assert len(list(reopened.sessions())) == 2
    assert list(verify(reopened)) == []
    assert plan_repair(reopened) == []
    assert everything(reopened) == before
    reopened.append("s", MessageEntry({"n": 2}))
    git_output(store.path, "gc", "-q", "--prune=now")
    assert [entry.message for entry in reopened.load("s")] == [{"n": 1}, {"n": 2}]
    assert [entry.message for entry in reopened.load("fork")] == [{"n": 1}]


def test_a_damaged_or_stale_cache_changes_nothing(store: Store) -> None:
    store.create(SessionMeta("s"))
    for number in range(205):
        store.append("s", MessageEntry({"n": number}))
    loaded = store.bind("s").load().messages
    caches = [path for path in (store.path / "gitsession" / "cache").rglob("*") if path.is_file()]
    assert caches != []
    whole = [path.read_bytes() for path in caches]
    for damage in (b"", b"\0" * len(whole[0]), whole[0][:-1], whole[0][:-1] + b"!", whole[-1]):
        for path in caches:
            path.write_bytes(damage)
        assert Store.open(store.path).bind("s").load().messages == loaded


def test_what_killed_writers_and_many_commits_leave_is_collected_by_git(
    store: Store, scale: Callable[[int, int], int]
) -> None:
    def writing(say: Say, hold: Hold) -> None:
        writer = Store.open(store.path, durable=False)
        hold()
        for _ in range(1_000_000):
            writer.append("s", MessageEntry({"role": "user", "content": "x" * 100_000}))

    store.create(SessionMeta("s"))
    for number in range(scale(5, 50)):
        child = Child(writing)
        child.go()
        time.sleep(0.01 + number * 0.002)
        child.kill()
        child.finish()
        lock = store.path / "refs/heads/s.lock"
        lock.unlink(missing_ok=True)
    for number in range(scale(300, 50_000)):
        store.append("s", MessageEntry({"role": "user", "content": f"message {number} of many"}))
    (store.path / "objects" / "tmp_obj_1_left").write_bytes(b"what a killed writer leaves")
    git_output(store.path, "gc", "-q", "--prune=now")
    assert [path for path in store.path.rglob("tmp_*") if path.is_file()] == []
    assert list((store.path / "objects").glob("[0-9a-f]?/*")) == []

    def size() -> int:
        return sum(path.stat().st_size for path in (store.path / "objects").rglob("*") if path.is_file())

    collected = size()
    git_output(store.path, "repack", "-adfq")
    assert collected <= 2 * size()


def test_a_list_reads_no_message(store: Store) -> None:
    """So it takes the same whatever the transcripts hold: it is right though no message is there any more."""
    for name in ("a", "b"):
        store.create(SessionMeta(name))
        for number in range(5):
            store.append(name, MessageEntry({"n": number}))
    before = list(store.sessions())
    for line in (
        git_output(store.path, "ls-tree", "-r", "a").splitlines()
        + git_output(store.path, "ls-tree", "-r", "b").splitlines()
    ):
        oid, path = line.split()[2], line.split("\t")[1]
        if path.endswith(".jsonl"):
            (store.path / "objects" / oid[:2] / oid[2:]).unlink()
    assert list(Store.open(store.path).sessions()) == before


@pytest.mark.parametrize("packed", [False, True])
def test_of_sessions_that_changed_in_one_second_the_last_changed_is_first(store: Store, packed: bool) -> None:
    order = ["m", "z", "a", "k"]
    for name in ("a", "k", "m", "z"):
        store.create(SessionMeta(name))
    for name in order:
        store.append(name, MessageEntry({}, f"e{name}", None, "2026-01-01T00:00:00Z"))
        time.sleep(0.01)
    if packed:
        git_output(store.path, "pack-refs", "--all")
    assert [session.id for session in store.sessions()] == order[::-1]


ODD_TEXTS = (
    '{"n":2512292042121000001}',
    '{"n":[1e5,-0,1E400,0.10]}',
    '{"t":"a\\nb\u2028c\u0085d\\u000be\\u001ef"}',
    '{"t":"NUL \\u0000 in the middle","role":"user","content":"\\u0000 first"}',
)


def test_numbers_and_odd_characters_go_through_the_command_unchanged(
    gitsession: Run,  # noqa: F811  # the fixture
    store_path: Path,
) -> None:
    assert gitsession("new", "--id", "s", "--title", "one\u2028two\u0085three").code == 0
    for text in ODD_TEXTS:
        assert gitsession("append", "s", stdin=text).code == 0
    exported = gitsession("export", "s", "--format", "verbatim")
    assert exported.out == "".join(f"{text}\n" for text in ODD_TEXTS)
    assert gitsession("list").code == gitsession("log", "s").code == gitsession("show", "s").code == 0
    assert "\0" not in gitsession("log", "s").out + gitsession("show", "s").out
    git_output(store_path, "fsck", "--strict")


def test_lone_surrogates_go_through_everything(
    gitsession: Run,  # noqa: F811  # the fixture
    store_path: Path,
    tmp_path: Path,
) -> None:
    store = Store.init(store_path, durable=False)
    store.create(SessionMeta("s", title="half \ud83d of a pair", extra={"\udfff": "\ud800"}))
    message = {"role": "user", "content": "\ud83d", "\udc00": ["\ud800x"]}
    store.append("s", MessageEntry(message, "e", None, "2026-01-01T00:00:00Z"))
    for words in (("list",), ("list", "--json"), ("show", "s"), ("log", "s"), ("export", "s"), ("verify",)):
        assert gitsession(*words).code == 0, words
    git_output(tmp_path, "init", "-q", "--bare", "other.git")
    git_output(store_path, "push", "-q", str(tmp_path / "other.git"), "s")
    pushed = Store.open(tmp_path / "other.git")
    assert pushed.info("s").meta == store.info("s").meta
    (entry,) = pushed.load("s")
    assert entry.message == message  # type: ignore[union-attr]
    assert json.loads(gitsession("export", "s").out)["message"] == message


def test_clocks_and_time_zones_decide_nothing(store: Store) -> None:
    """Writers far apart on the globe, and in time, follow each other's commits without a conflict."""
    session = store.bind("s")
    session.commit(SessionCommit("0", None, [HELLO]))

    def writing(zone: str, year: int) -> Callable[[Say], None]:
        def work(say: Say) -> None:
            os.environ["TZ"] = zone
            time.tzset()
            writer = Store.open(store.path, durable=False, wait=60)
            for number in range(30):
                writer.append("s", MessageEntry({}, f"{year}-{number}", None, f"{year}-06-01T00:00:00+14:00"))
            say("done")

        return work

    zones = [("UTC-14", 1971), ("UTC+12", 2105), ("Asia/Kathmandu", 2026)]
    assert together([writing(*zone) for zone in zones]) == [["done"]] * 3
    assert store.info("s").deltas == 91
    head = session.load().head
    assert session.commit(SessionCommit("last", head, [HELLO])).head == "last"
    assert list(verify(store)) == []
