"""What went wrong for others who keep the sessions of agents, or keep data in git: why it cannot happen here.

Forty faults that were reported in public, each one case of a kind, with the tests that show that its kind is excluded.
"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

GUARANTEES = "tests/guarantees/"
OTHERS = f"{GUARANTEES}test_scenarios.py::"
APPENDED = f"{GUARANTEES}test_acknowledged.py::test_appends_of_eight_processes_are_all_there_once_and_in_one_line"
MAINTAINED = (
    f"{GUARANTEES}test_acknowledged.py::test_appends_beside_all_maintenance_that_git_has_are_there_and_show_no_error"
)
ODD = f"{OTHERS}test_numbers_and_odd_characters_go_through_the_command_unchanged"
CUT_OBJECT = (
    "tests/repo/test_objects.py::test_a_damaged_loose_object_is_corrupt_at_once_and_heals_when_it_is_written_again"
)
UNKNOWN_VERSION = (
    f"{GUARANTEES}test_versions.py::test_a_session_of_an_unknown_version_is_refused_with_its_number_and_hides_no_other"
)
REFUSED_PUSH = "tests/sync/test_rules.py::test_a_push_that_is_refused_in_part_names_the_sessions_and_sends_the_rest"

SCENARIOS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "A power loss cut the last line of a transcript, and the session resumed as an empty one.",
        (
            f"{GUARANTEES}test_kills.py::test_no_acknowledged_commit_is_lost_to_kills",
            f"{GUARANTEES}test_power_cut.py::test_no_acknowledged_commit_is_lost_to_a_power_cut",
        ),
    ),
    (
        "One bad line in the middle ended what was read, and days of history were hidden.",
        ("tests/cli/test_import.py::test_a_broken_line_is_named_and_hides_no_other",),
    ),
    (
        "The machine crashed, and most of an hour was only in memory.",
        (f"{GUARANTEES}test_power_cut.py::test_no_acknowledged_commit_is_lost_to_a_power_cut",),
    ),
    (
        "Two terminals went on with one session, and what they wrote was interleaved.",
        (f"{GUARANTEES}test_races.py::test_a_stale_parent_is_refused_and_a_fresh_one_accepted",),
    ),
    (
        "The second to go on with a session got a fork that looked the same, and was not told.",
        (f"{OTHERS}test_a_conflict_makes_no_fork",),
    ),
    (
        "A copy of a session named itself as its parent, so its origin was lost.",
        (f"{OTHERS}test_three_nested_forks_tell_where_they_come_from",),
    ),
    (
        "A fork began somewhere else than where it was asked for.",
        (f"{OTHERS}test_a_fork_at_an_earlier_message_has_exactly_the_messages_up_to_there",),
    ),
    (
        "Sessions were deleted after a month, whatever the settings said.",
        (
            f"{OTHERS}test_nothing_goes_away_with_the_years",
            "tests/contracts/test_append_only_logs.py::test_nothing_in_the_api_deletes_updates_or_overwrites",
        ),
    ),
    (
        "Names were encoded with a loss, so the sessions of different projects were mixed.",
        ("tests/test_layout.py::test_two_ids_never_share_a_name",),
    ),
    (
        "Opening a session again appended its old entries once more, under the same ids.",
        (
            "tests/contracts/test_append_only_logs.py::test_an_equal_entry_that_the_session_holds_is_appended_once",
            "tests/contracts/test_append_only_logs.py::test_an_id_that_the_session_holds_for_another_entry_is_corrupt",
        ),
    ),
    (
        "A large transcript took many times its size in memory, or more than there was.",
        (f"{GUARANTEES}test_memory.py::test_a_large_message_takes_little_more_than_its_size",),
    ),
    (
        "A full disk was reported as some other error.",
        (f"{GUARANTEES}test_full_disk.py::test_a_message_larger_than_the_disk_is_refused_with_the_reason",),
    ),
    (
        "A full disk left empty files, which kept the session from being opened.",
        (f"{GUARANTEES}test_full_disk.py::test_a_disk_that_fills_up_at_any_step_costs_nothing_that_was_stored",),
    ),
    (
        "After a crash one file was full of NULs, and no session was listed any more.",
        ("tests/crash/test_damage.py::test_damage_of_any_file_is_found_and_contained",),
    ),
    (
        "The same was kept in two places, written one after the other, and they came apart.",
        (f"{OTHERS}test_a_damaged_or_stale_cache_changes_nothing",),
    ),
    (
        "Loose objects, and packs that killed processes had begun, filled the disk.",
        (
            f"{OTHERS}test_what_killed_writers_and_many_commits_leave_is_collected_by_git",
            "tests/test_maintenance.py::test_temporary_files_go_when_they_are_old",
        ),
    ),
    (
        "Two versions of a program wrote one file, and neither could read it.",
        (UNKNOWN_VERSION,),
    ),
    (
        "A list of sessions took as long as reading all of them.",
        (f"{OTHERS}test_a_list_reads_no_message",),
    ),
    (
        "Times in whole seconds, and chance among equals, picked the wrong session as the last one.",
        (f"{OTHERS}test_of_sessions_that_changed_in_one_second_the_last_changed_is_first",),
    ),
    (
        "Large integers were rounded.",
        (ODD, f"{GUARANTEES}test_round_trips.py::test_values_come_back_equal_or_are_refused"),
    ),
    ("A line separator of Unicode, or a raw line break, cut a line in two.", (ODD,)),
    ("A NUL in a text made an import drop the whole session.", (ODD,)),
    (
        "Half of a surrogate pair crashed the writer or, worse, every later reader.",
        (f"{OTHERS}test_lone_surrogates_go_through_everything",),
    ),
    (
        "Something invalid was stored, and the session could not be used from then on.",
        ("tests/contracts/test_atomic_commits.py::test_bad_messages_are_invalid_and_change_nothing",),
    ),
    (
        "What is stale was judged by clocks, and writers in other time zones were refused.",
        (f"{OTHERS}test_clocks_and_time_zones_decide_nothing",),
    ),
    (
        "A refused write was put on the new head by itself, so two histories were mixed.",
        (
            "tests/contracts/test_atomic_commits.py::test_of_two_commits_on_one_head_the_second_conflicts",
            "tests/contracts/test_atomic_commits.py::test_a_parent_that_is_not_the_head_conflicts_and_changes_nothing",
        ),
    ),
    ("Sessions were loaded, changed and saved without a lock, and messages got lost.", (APPENDED,)),
    ("Most commits of sessions that ran side by side were on no branch in the end.", (APPENDED,)),
    (
        "A ref was set whatever it was at, so one of two finished writes was gone, and both had succeeded.",
        (
            "tests/repo/test_refs.py::test_a_ref_that_is_elsewhere_is_not_moved",
            "tests/repo/test_refs.py::test_threads_that_swap_one_ref_exclude_each_other",
        ),
    ),
    ("A server's rule was taken for a conflict, and each try rewrote the commits here.", (REFUSED_PUSH,)),
    (
        "Transcripts were shared with keys and passwords in them.",
        (
            "tests/test_redacted_import.py::test_a_redacted_import_holds_no_secret_anywhere",
            "tests/cli/test_import_discovery.py::test_a_secret_that_is_stored_is_told_with_its_place",
        ),
    ),
    (
        "Something was marked as done before it was, and never tried again.",
        (
            "tests/concurrency/test_imports.py::test_a_killed_import_is_made_whole_by_the_next",
            "tests/contracts/test_trying_again.py::test_what_is_tried_again_is_there_once",
        ),
    ),
    ("Git removed an empty directory under a writer, who failed.", (MAINTAINED,)),
    (
        "An object that was cut short was read for ever.",
        (CUT_OBJECT,),
    ),
    ("A push that the server had refused was reported as done.", (REFUSED_PUSH,)),
    (
        "A lock that a killed process had left stopped everybody for good.",
        (
            "tests/repo/test_locks.py::test_a_lock_that_a_killed_process_left_is_recovered_with_a_warning",
            "tests/repo/test_locks.py::test_a_fresh_lock_that_stays_makes_the_store_busy_and_changes_nothing",
            "tests/concurrency/test_passing_on.py::test_the_lock_of_a_parent_that_was_killed_is_not_kept_by_its_child",
        ),
    ),
    (
        "Transcripts could be read by everybody on the machine.",
        (f"{GUARANTEES}test_permissions.py::test_nothing_in_a_store_is_open_to_others",),
    ),
    (
        "An id was handed out, and then nothing could be written.",
        (f"{GUARANTEES}test_read_only.py::test_what_writes_is_refused_with_the_reason_and_changes_nothing",),
    ),
    (
        "Unreachable objects were pruned at once, those of a write that was under way as well.",
        (
            MAINTAINED,
            "tests/test_maintenance.py::test_an_object_that_no_branch_reaches_stays",
            f"{GUARANTEES}test_kills.py::test_no_acknowledged_commit_is_lost_to_kills_beside_a_collection_that_prunes",
        ),
    ),
    (
        "A ref was kept for each commit, and thousands of them made every fetch slow.",
        (
            "tests/git/test_reading_with_git.py::test_a_session_is_one_ref_however_much_is_written",
            "tests/sync/test_flows.py::test_one_session_is_fetched_without_the_others",
        ),
    ),
)


def test_there_are_forty() -> None:
    assert len(SCENARIOS) == len({fault for fault, _ in SCENARIOS}) == 40


@pytest.fixture(scope="module")
def collected() -> frozenset[str]:
    """Returns the tests that pytest finds in the files that are named, without their parameters."""
    files = sorted({test.partition("::")[0] for _, tests in SCENARIOS for test in tests})
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n0", "-p", "no:cacheprovider"]
    command += ["-m", "slow or not slow", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return frozenset(line.partition("[")[0] for line in done.stdout.splitlines() if "::" in line)


@pytest.mark.parametrize(("fault", "tests"), SCENARIOS, ids=[f"{number}" for number in range(1, len(SCENARIOS) + 1)])
def test_each_fault_is_excluded_by_tests_that_exist(
    collected: frozenset[str], fault: str, tests: tuple[str, ...]
) -> None:
    assert fault.endswith(".")
    assert tests != ()
    assert set(tests) <= collected
