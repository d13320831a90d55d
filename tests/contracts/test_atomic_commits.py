"""The contract of one session with atomic commits, rule by rule."""

import threading
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from gitsession import (
    Corrupt,
    InvalidCommit,
    InvalidSessionId,
    Messages,
    ParentConflict,
    Session,
    SessionCommit,
    SessionError,
    SessionExists,
    SessionMeta,
    SessionStore,
    Store,
    Unavailable,
    new_commit,
)
from tests.stores import HELLO, HI, everything

FIRST = SessionCommit("first", None, [HELLO, HI])
SECOND = SessionCommit("second", "first", [{"role": "user", "content": "Go on"}])


@pytest.fixture
def session(store: Store) -> SessionStore:
    return store.bind("s")


@pytest.fixture
def unchanged(store: Store) -> Callable[[SessionStore, SessionCommit], SessionError]:
    """Returns a function that expects a commit to fail, and to change nothing, and returns its error."""

    def run(session: SessionStore, commit: SessionCommit) -> SessionError:
        before, loaded = everything(store), session.load()
        with pytest.raises(SessionError) as caught:
            session.commit(commit)
        assert before == everything(store)
        assert loaded == session.load()
        return caught.value

    return run


# Rule 1: the session that was never written.


def test_a_session_that_was_never_written_has_no_head_and_no_messages(session: SessionStore) -> None:
    assert session.load() == Session(head=None, messages=[])
    assert session.load().head is None
    assert session.load().messages == []


def test_loading_a_session_that_was_never_written_makes_none(store: Store, session: SessionStore) -> None:
    session.load()
    assert store.list() == []
    assert everything(store) == ("", "", "")


def test_the_first_commit_has_no_parent_sets_the_head_and_shows_its_messages(session: SessionStore) -> None:
    assert session.commit(FIRST) == Session("first", [HELLO, HI])
    assert session.load() == Session("first", [HELLO, HI])


def test_a_first_commit_with_a_parent_conflicts(session: SessionStore, unchanged: Callable[..., SessionError]) -> None:
    error = unchanged(session, SessionCommit("a", "nothing", [HELLO]))
    assert (ParentConflict, "nothing", None) == (type(error), error.expected, error.actual)


def test_a_session_of_its_header_alone_has_no_head(store: Store, session: SessionStore) -> None:
    store.create(SessionMeta("s"))
    assert session.load() == Session(None, [])
    assert session.commit(FIRST) == Session("first", [HELLO, HI])


# Rule 2: whole or not at all, and the session that results.


def test_a_commit_adds_its_messages_after_those_before(session: SessionStore) -> None:
    session.commit(FIRST)
    expected = Session("second", [HELLO, HI, {"role": "user", "content": "Go on"}])
    assert expected == session.commit(SECOND)
    assert expected == session.load()


def test_a_commit_of_many_messages_is_stored_whole(session: SessionStore) -> None:
    many = [{"role": "user", "content": f"line {n}"} for n in range(5000)]
    assert session.commit(SessionCommit("many", None, many)).messages == many
    assert session.load().messages == many


def test_a_commit_whose_last_message_is_bad_stores_none(
    session: SessionStore, unchanged: Callable[..., SessionError]
) -> None:
    error = unchanged(session, SessionCommit("a", None, [HELLO, HI, {"x": object()}]))
    assert isinstance(error, InvalidCommit)
    assert str(error) == "messages[2].x is of type object, which JSON does not have"


def test_250_commits_in_a_row_load_in_order(session: SessionStore) -> None:
    head = None
    for number in range(250):
        head = session.commit(SessionCommit(f"c{number}", head, [{"n": number}])).head
    assert session.load() == Session("c249", [{"n": number} for number in range(250)])
    assert session.commit(SessionCommit("c99", "c98", [{"n": 99}])).head == "c249"
    assert session.commit(SessionCommit("c100", "c99", [{"n": 100}])).head == "c249"


# Rule 3: the id is looked at before the parent.


def test_the_same_commit_again_changes_nothing(store: Store, session: SessionStore) -> None:
    made = session.commit(FIRST)
    before = everything(store)
    assert made == session.commit(FIRST)
    assert made == session.commit(SessionCommit("first", None, deepcopy([HELLO, HI])))
    assert made == session.commit(SessionCommit("first", None, Messages([HELLO, HI])))
    assert before == everything(store)


def test_a_commit_replayed_after_later_ones_returns_the_session_as_it_is_now(
    store: Store, session: SessionStore
) -> None:
    session.commit(FIRST)
    session.commit(SECOND)
    now = session.commit(SessionCommit("third", "second", [HI]))
    before = everything(store)
    assert now == session.commit(FIRST)
    assert now == session.commit(SECOND)
    assert now.head == "third"
    assert before == everything(store)


def test_a_commit_is_replayed_through_another_store_object(store: Store, session: SessionStore) -> None:
    session.commit(FIRST)
    session.commit(SECOND)
    other = Store.open(store.path).bind("s")
    before = everything(store)
    assert other.commit(FIRST) == session.load()
    third = SessionCommit("third", "second", [HI])
    other.commit(third)
    assert session.commit(third).head == "third"
    assert session.commit(FIRST).head == "third"
    assert before != everything(store)


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize(
    "commit",
    [
        pytest.param(SessionCommit("first", None, [HELLO]), id="fewer messages"),
        pytest.param(SessionCommit("first", None, [HELLO, HI, HI]), id="more messages"),
        pytest.param(SessionCommit("first", None, [HI, HELLO]), id="another order"),
        pytest.param(SessionCommit("first", None, [dict(reversed(HELLO.items())), HI]), id="another order of keys"),
        pytest.param(SessionCommit("first", "first", [HELLO, HI]), id="itself as parent"),
        pytest.param(SessionCommit("first", "second", [HELLO, HI]), id="another parent"),
        pytest.param(SessionCommit("first", "", [HELLO, HI]), id="an empty parent"),
    ],
)
def test_an_id_used_again_for_something_else_is_corrupt_and_changes_nothing(
    session: SessionStore, unchanged: Callable[..., SessionError], commit: SessionCommit, later: bool
) -> None:
    session.commit(FIRST)
    if later:
        session.commit(SECOND)
    assert isinstance(unchanged(session, commit), Corrupt)


def test_the_id_of_a_later_commit_with_another_parent_is_corrupt(
    session: SessionStore, unchanged: Callable[..., SessionError]
) -> None:
    session.commit(FIRST)
    session.commit(SECOND)
    assert isinstance(unchanged(session, SessionCommit("second", None, SECOND.messages)), Corrupt)


def test_messages_are_equal_where_their_stored_text_is(
    session: SessionStore, unchanged: Callable[..., SessionError]
) -> None:
    session.commit(SessionCommit("a", None, [{"n": 1}]))
    assert isinstance(unchanged(session, SessionCommit("a", None, [{"n": 1.0}])), Corrupt)
    assert isinstance(unchanged(session, SessionCommit("a", None, [{"n": True}])), Corrupt)
    assert session.commit(SessionCommit("a", None, Messages.from_texts([b'{"n":1}']))).head == "a"


# Rule 4: the parent is the head.


@pytest.mark.parametrize("parent", [None, "", "first", "nothing", "SECOND", "second ", "s"])
def test_a_parent_that_is_not_the_head_conflicts_and_changes_nothing(
    session: SessionStore, unchanged: Callable[..., SessionError], parent: str | None
) -> None:
    session.commit(FIRST)
    session.commit(SECOND)
    error = unchanged(session, SessionCommit("third", parent, [HI]))
    assert (ParentConflict, parent, "second") == (type(error), error.expected, error.actual)


def test_of_two_commits_on_one_head_the_second_conflicts(
    session: SessionStore, unchanged: Callable[..., SessionError]
) -> None:
    session.commit(FIRST)
    winner, loser = new_commit("first", [HI]), new_commit("first", [HI])
    session.commit(winner)
    error = unchanged(session, loser)
    assert (ParentConflict, "first", winner.id) == (type(error), error.expected, error.actual)


def test_a_fork_does_not_move_the_head(store: Store, session: SessionStore) -> None:
    session.commit(FIRST)
    fork = store.bind(store.fork("s", "fork"))
    assert fork.load() == Session("first", [HELLO, HI])
    assert fork.commit(SECOND).head == "second"
    assert fork.commit(FIRST).head == "second"
    assert session.load() == Session("first", [HELLO, HI])


# Rule 5: what no commit can be.


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([], "the commit has no messages"),
        ((), "the commit has no messages"),
        (Messages(), "the commit has no messages"),
        (["Hello"], "messages[0] is no JSON object but str"),
        ([HELLO, None], "messages[1] is no JSON object but NoneType"),
        ([[HELLO]], "messages[0] is no JSON object but list"),
        ("Hello", "messages[0] is no JSON object but str"),
        ([HELLO, {"content": [1, {"score": float("nan")}]}], "messages[1].content[1].score is nan, which is no JSON"),
        ([{"a": float("inf")}], "messages[0].a is inf, which is no JSON"),
        ([{"a": {"b": [float("-inf")]}}], "messages[0].a.b[0] is -inf, which is no JSON"),
        ([{1: "a"}], "messages[0] has the key 1, which is no string"),
        ([{"a": (1, 2)}], "messages[0].a is of type tuple, which JSON does not have"),
        ([{"a": b"x"}], "messages[0].a is of type bytes, which JSON does not have"),
        ([{"a": {"b"}}], "messages[0].a is of type set, which JSON does not have"),
        ([{"a": "\ud83d\ude00"}], "messages[0].a holds a surrogate pair as two separate halves"),
        ([{"a": 10**4299, "b": [10**4300]}], "messages[0].b[0] is an integer of more than 4,300 digits"),
        ([{"a": -(10**4300)}], "messages[0].a is an integer of more than 4,300 digits"),
        ([{"a": 10**4299, "b": float("nan")}], "messages[0].b is nan, which is no JSON"),
        ([{**HELLO, "streaming": True}], "the message is still streaming; only finished messages are stored"),
        (
            Messages([{**HELLO, "streaming": True}]),
            "the message is still streaming; only finished messages are stored",
        ),
    ],
)
def test_bad_messages_are_invalid_and_change_nothing(
    session: SessionStore, unchanged: Callable[..., SessionError], messages: Any, reason: str, written: bool
) -> None:
    if written:
        session.commit(FIRST)
    error = unchanged(session, SessionCommit("a", "first" if written else None, messages))
    assert (InvalidCommit, reason) == (type(error), str(error))


def test_a_message_that_nests_too_deeply_is_invalid(
    session: SessionStore, unchanged: Callable[..., SessionError]
) -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    error = unchanged(session, SessionCommit("a", None, [{"deep": deep}]))
    assert isinstance(error, InvalidCommit)
    assert str(error).startswith("messages[0].deep[0][0]")
    assert str(error).endswith("... nests deeper than 200 levels")
    assert len(str(error)) < 100
    while deep:  # taken apart here, since a deep list can only be freed by recursion
        deep = deep.pop()


@pytest.mark.parametrize("commit_id", ["", None, 7, b"first", "\ud800", "a\udfff", "é" * 34, "a" * 201, "/" * 67])
def test_an_unusable_id_is_invalid_and_changes_nothing(
    session: SessionStore, unchanged: Callable[..., SessionError], commit_id: Any
) -> None:
    session.commit(FIRST)
    assert isinstance(unchanged(session, SessionCommit(commit_id, "first", [HI])), InvalidCommit)


@pytest.mark.parametrize("parent", [7, b"first", ["first"]])
def test_a_parent_that_is_no_id_is_invalid_and_changes_nothing(
    session: SessionStore, unchanged: Callable[..., SessionError], parent: Any
) -> None:
    session.commit(FIRST)
    assert isinstance(unchanged(session, SessionCommit("second", parent, [HI])), InvalidCommit)


# Rule 6: ids are the caller's.


@pytest.mark.parametrize(
    "commit_id",
    [
        "first",
        "0",
        "7b0c2c3e-8a57-4b0a-9d0e-0f6f1c2d3e4f",
        "commit-Zm9vYmFyYmF6_-Zm9vYmFyYmF6",
        "a/b/../c",
        "..",
        ".",
        ".lock",
        ".git",
        "-rf",
        "a b  c ",
        "a\tb\nc\0d\x7f",
        "100%",
        "%41",
        'quo"te\\',
        "#12",
        "~3",
        "HEAD",
        "CON",
        "0" * 40,
        "😀" * 16,
        "e\u0301",
        "\u0301",
        "a" * 200,
        "/" * 66,
        "é" * 33 + "ab",
    ],
)
def test_every_id_of_200_bytes_or_less_works(session: SessionStore, commit_id: str) -> None:
    first = SessionCommit(commit_id, None, [HELLO])
    assert session.commit(first) == Session(commit_id, [HELLO])
    assert session.load().head == commit_id
    assert session.commit(SessionCommit("next", commit_id, [HI])).head == "next"
    assert session.commit(first).head == "next"


def test_new_commit_ids_are_fresh_and_made_without_looking_at_the_messages() -> None:
    commits = [new_commit(None, [object()]) for _ in range(1000)]
    assert len({commit.id for commit in commits}) == 1000
    assert new_commit("p", [HELLO]) != new_commit("p", [HELLO])


# Around the rules.


def test_threads_share_one_store(store: Store) -> None:
    """Each thread commits to a session of its own, and all of them to one that they race for."""
    conflicts: list[ParentConflict] = []
    won: list[str] = []

    def work(name: str) -> None:
        own, shared = store.bind(name), store.bind("shared")
        for number in range(10):
            own.commit(SessionCommit(f"{name}-{number}", own.load().head, [{"n": number}]))
            commit = SessionCommit(f"{name}-{number}", shared.load().head, [{"from": name}])
            try:
                shared.commit(commit)
                won.append(commit.id)
            except ParentConflict as error:
                conflicts.append(error)

    threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(6):
        assert store.bind(f"t{number}").load().messages == [{"n": n} for n in range(10)]
    assert len(won) + len(conflicts) == 60
    assert sorted(won) == sorted(entry.commit_id for entry in store.log("shared") if entry.commit_id)


def test_the_errors_keep_what_they_tell() -> None:
    assert ParentConflict("a", None).expected == "a"
    assert ParentConflict("a", None).actual is None
    assert [Unavailable("x").message, Corrupt("x").message, InvalidCommit("x").message] == ["x", "x", "x"]
    assert all(issubclass(cls, SessionError) for cls in (Unavailable, Corrupt, ParentConflict, InvalidCommit))


def test_a_branch_in_the_way_of_the_first_commit_is_named(store: Store) -> None:
    store.bind("s").commit(FIRST)
    (store.path / "refs/heads/exp").mkdir()
    (store.path / "refs/heads/exp/try-2").write_text((store.path / "refs/heads/s").read_text())
    with pytest.raises(SessionExists, match="the branch 'exp/try-2' stands in the way"):
        store.bind("exp").commit(FIRST)


def test_an_id_that_names_a_branch_of_plain_git_makes_no_session(store: Store, unchanged) -> None:
    assert isinstance(unchanged(store.bind("refs/heads/s"), FIRST), InvalidSessionId)
    assert isinstance(unchanged(store.bind("refs/heads/a/b"), FIRST), InvalidSessionId)
