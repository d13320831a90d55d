"""Errors go from one process to another, and are copied, with all that they know."""

import copy
import pickle

import pytest

from gitsession import (
    AmbiguousName,
    Corrupt,
    GitNotFound,
    InvalidBundle,
    InvalidSessionId,
    NotAStore,
    ParentConflict,
    RevisionNotFound,
    SessionError,
    SessionExists,
    SessionNotFound,
    StoreBusy,
    SyncRefused,
    Unavailable,
    UnsupportedFormat,
)

ERRORS = [
    Unavailable("the disk is full"),
    StoreBusy("s.lock", 3.0),
    Corrupt("the object is damaged", oid="0" * 40),
    ParentConflict("one", "two"),
    ParentConflict(None, "two"),
    InvalidSessionId("", "it must be a string that is not empty"),
    SessionNotFound("s"),
    SessionExists("s"),
    AmbiguousName("s", ["s1", "s2"]),
    RevisionNotFound("s", "#9"),
    NotAStore("s.git", "there is no store"),
    UnsupportedFormat("s.git", 2, [1]),
    SyncRefused("origin", {"s": "it is protected"}),
    GitNotFound(),
    InvalidBundle("x.bundle", "it is no git bundle"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_that_was_pickled_is_the_same_error(error: SessionError) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert (type(error), str(error), vars(error)) == (type(back), str(back), vars(back))


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_that_was_copied_is_the_same_error(error: SessionError) -> None:
    for back in (copy.copy(error), copy.deepcopy(error)):
        assert (type(error), str(error), vars(error)) == (type(back), str(back), vars(back))


def test_a_conflict_says_what_a_session_without_commits_is() -> None:
    assert str(ParentConflict(None, "c1")).startswith(
        "the commit expects a session without commits, but the session is"
    )
    assert str(ParentConflict("c1", None)).startswith("the commit expects the head 'c1', but the session has none")
