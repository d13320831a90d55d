"""What went wrong for others who keep the sessions of agents, or keep data in git, and the test of each kind here.

Public reports, each one case of a kind. Tests without a path are in this module.

1. A power loss cut the last line, and the session resumed empty (anthropics/claude-code#53821):
   tests/guarantees/test_kills.py::test_no_acknowledged_commit_is_lost_to_kills
2. One bad line in the middle ended the replay (claude-code#50347):
   tests/cli/test_import.py::test_a_broken_line_is_named_and_hides_no_other
3. A crash took fifty minutes that were only in memory (claude-code#68314):
   tests/guarantees/test_power_cut.py::test_no_acknowledged_commit_is_lost_to_a_power_cut
4. Two terminals resumed one session and interleaved (claude-code#39151):
   tests/guarantees/test_races.py::test_a_stale_parent_is_refused_and_a_fresh_one_accepted
5. A second resume silently forked (claude-code#80427): test_a_conflict_makes_no_fork
6. A copy pointed to itself as its parent (claude-code#89624): test_three_nested_forks_tell_where_they_come_from
7. A fork copied another point than the chosen one (NousResearch/hermes-agent#18870, preset-io/agor#870):
   test_a_fork_at_an_earlier_message_has_exactly_the_messages_up_to_there
8. Sessions were deleted after thirty days (claude-code#95203, #90667, #41458):
   test_nothing_goes_away_with_the_years
9. Different projects got one name (claude-code#40946, #70674; pi#4877):
   tests/test_layout.py::test_two_ids_never_share_a_name
10. Old entries were appended again (claude-code#56196; letta-ai/trajectory#40):
    tests/contracts/test_append_only_logs.py::test_an_equal_entry_that_the_session_holds_is_appended_once
11. Large transcripts took many times their size in memory (claude-code#80379, #79196; github/copilot-cli#4325;
    openai/codex#28866):
    tests/guarantees/test_memory.py::test_a_large_message_takes_little_more_than_its_size
12. A full disk read as something else (claude-code#22584):
    tests/guarantees/test_full_disk.py::test_a_message_larger_than_the_disk_is_refused_with_the_reason
13. A full disk left empty files (opencode#7607):
    tests/guarantees/test_full_disk.py::test_a_disk_that_fills_up_at_any_step_costs_nothing_that_was_stored
14. One file full of NULs hid all sessions (opencode#10904, #9673; copilot-cli#1864):
    tests/crash/test_damage.py::test_damage_of_any_file_is_found_and_contained
15. Two stores of the same data diverged (opencode#14546): test_a_damaged_or_stale_cache_changes_nothing
16. Loose objects and what killed processes left grew without an end (opencode#9290, #15977, #17397):
    test_what_killed_writers_and_many_commits_leave_is_collected_by_git
17. Two versions mixed their formats (codex#45150):
    tests/guarantees/test_versions.py::test_a_session_of_an_unknown_version_is_refused_with_its_number_and_hides_no_other
18. A list took as long as all transcripts together (codex#19483, #19517, #18839): test_a_list_reads_no_message
19. Times in whole seconds picked the wrong session (codex PR 9789):
    test_of_sessions_that_changed_in_one_second_the_last_changed_is_first
20. Large integers were rounded (pi#8943): test_numbers_and_odd_characters_go_through_the_command_unchanged
21. U+2028 and raw newlines broke lines (copilot-cli#2649, #2490):
    test_numbers_and_odd_characters_go_through_the_command_unchanged
22. A NUL made an importer drop the session (ccrider PR 11):
    test_numbers_and_odd_characters_go_through_the_command_unchanged
23. Lone surrogates crashed a save or a later load (agentscope#1117; hermes-agent#68254; cognee-integrations#275; aider
    PR 4987): test_lone_surrogates_go_through_everything
24. An invalid state was saved and broke the thread (langgraph#6491):
    tests/contracts/test_atomic_commits.py::test_bad_messages_are_invalid_and_change_nothing
25. Times decided what is stale (adk-python#1733, #3717): test_clocks_and_time_zones_decide_nothing
26. A conflict was retried blindly (adk-python#4751):
    tests/contracts/test_atomic_commits.py::test_of_two_commits_on_one_head_the_second_conflicts
27. Load, change, save without a lock lost messages (librefang#3559; oryxos#43; agmsg#114):
    tests/guarantees/test_acknowledged.py::test_appends_of_eight_processes_are_all_there_once_and_in_one_line
28. Most commits of parallel sessions were orphaned (entireio/cli PR 1212):
    tests/guarantees/test_acknowledged.py::test_appends_of_eight_processes_are_all_there_once_and_in_one_line
29. An unconditional update lost a finished write (entireio/cli#1917):
    tests/repo/test_refs.py::test_a_ref_that_is_elsewhere_is_not_moved
30. A rejection read as divergence, and local commits were rewritten (entireio/cli PR 2514):
    tests/sync/test_rules.py::test_a_push_that_is_refused_in_part_names_the_sessions_and_sends_the_rest
31. Transcripts carried keys (entireio/cli PRs 166, 398):
    tests/test_redacted_import.py::test_a_redacted_import_holds_no_secret_anywhere
32. An event was marked as done before it was (git-ai PR 1121):
    tests/concurrency/test_imports.py::test_a_killed_import_is_made_whole_by_the_next
33. A collection removed a directory under a writer (dulwich#2336; libgit2sharp#1122):
    tests/guarantees/test_acknowledged.py::test_appends_beside_all_maintenance_that_git_has_are_there_and_show_no_error
34. A cut object was read for ever (libgit2#7342):
    tests/repo/test_objects.py::test_a_damaged_loose_object_is_corrupt_at_once_and_heals_when_it_is_written_again
35. A push that was refused read as done (libgit2#3963, #6831):
    tests/sync/test_rules.py::test_a_push_that_is_refused_in_part_names_the_sessions_and_sends_the_rest
36. Stale locks blocked everything (claude-code#11005; crosslink#456; openQA PR 4835):
    tests/repo/test_locks.py::test_a_lock_that_a_killed_process_left_is_recovered_with_a_warning
37. Transcripts were readable by all (openclaw#7862; chatgpt-cli#174):
    tests/guarantees/test_permissions.py::test_nothing_in_a_store_is_open_to_others
38. An id was handed out before the write failed (cli-sub-agent#2979, #1483):
    tests/guarantees/test_read_only.py::test_what_writes_is_refused_with_the_reason_and_changes_nothing
39. Pruning without a grace corrupted repositories (gitaly MR 4416):
    tests/guarantees/test_acknowledged.py::test_appends_beside_all_maintenance_that_git_has_are_there_and_show_no_error
40. Thousands of refs made a fetch slow (jj#293): tests/benchmarks/sync_scale.py
"""

import json
import os
import re
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


def test_each_scenario_names_a_test_that_exists() -> None:
    assert __doc__ is not None
    rows = re.findall(r"^ ?[0-9]+\. .*?(?=^ ?[0-9]+\. |\Z)", __doc__, re.MULTILINE | re.DOTALL)
    assert [int(row.partition(".")[0]) for row in rows] == list(range(1, 41))
    root = Path(__file__).parents[2]
    for row in rows:
        place = row.split()[-1]
        path, _, name = place.partition("::") if "/" in place else (__file__, "", place)
        assert f"def {name}" in (root / path).read_text(encoding="utf-8"), place


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
    exported = gitsession("export", "s", "--format", "messages")
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
