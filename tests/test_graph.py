"""The graph of a session: its lines, its forks, and what each commit follows."""

from itertools import islice
from pathlib import Path

import pytest

from gitsession import Graph, GraphEntry, SessionCommit, SessionMeta, Store, returns
from gitsession.transcripts import Record
from gitsession.transcripts.stored import decode_record
from tests.conftest import Git
from tests.importing import WENT_BACK, answer, new_store, prompt, take_bytes


@pytest.fixture
def store(store_path: Path) -> Store:
    return new_store(store_path)


@pytest.fixture
def talk(store: Store, tmp_path: Path) -> str:
    """Imports a session in which the user went back once."""
    return take_bytes(store, b"".join(WENT_BACK), tmp_path / "talk.jsonl").session


def shape(graph: Graph) -> list[tuple[str, str | None, tuple[str, ...]]]:
    """Returns of each commit the id of its delta, of the one that it follows, and the sessions at it."""
    found = [*graph]
    names = {one.entry.oid: one.entry.commit_id or "header" for one in found}
    return [(names[one.entry.oid], None if one.follows is None else names[one.follows], one.sessions) for one in found]


LINES = [
    ("f", "e", ("talk",)),
    ("e", "b", ()),
    ("d", "c", ("talk.d",)),
    ("c", "b", ()),
    ("b", "a", ()),
    ("a", None, ()),
]


def test_a_commit_follows_the_one_that_its_line_goes_on_from(store: Store, talk: str) -> None:
    assert shape(Graph(store, talk)) == LINES


def test_a_line_that_was_left_is_drawn_in_the_session_in_which_it_ended(store: Store, talk: str) -> None:
    assert shape(Graph(store, "talk.d")) == LINES


def test_a_fork_comes_before_the_commit_that_it_goes_on_from(store: Store, talk: str) -> None:
    store.fork(talk, "fork", at="c")
    store.bind("fork").commit(SessionCommit("own", "c", [{"role": "user", "content": "Third try"}]))
    store.fork("fork", "again")
    found = shape(Graph(store, talk))
    at = found.index(("c", "b", ()))
    # Which of the two comes first is told by the second in which they changed.
    assert sorted(found[at - 3 : at]) == [
        ("header", "c", ()),
        ("header", "own", ("again",)),
        ("own", "header", ("fork",)),
    ]
    assert [one for one in found if one not in found[at - 3 : at]] == LINES
    assert found.index(("own", "header", ("fork",))) == at - 2


def test_a_fork_is_drawn_with_what_it_came_from(store: Store, talk: str) -> None:
    store.fork(talk, "fork", at="b")
    assert shape(Graph(store, "fork")) == [("header", "b", ("fork",)), *LINES]


def test_an_earlier_state_has_what_was_left_before_it_and_not_what_goes_on_from_it(store: Store, talk: str) -> None:
    store.fork(talk, "early", at="a")
    assert shape(Graph(store, talk, at="d")) == [
        ("d", "c", (talk, "talk.d")),
        ("c", "b", ()),
        ("b", "a", ()),
        ("header", "a", ("early",)),
        ("a", None, ()),
    ]


def test_sessions_that_only_name_each_other_share_nothing(store: Store, talk: str) -> None:
    store.create(SessionMeta("spawned", parent_session=talk))
    store.bind("spawned").commit(SessionCommit("x", None, [{"role": "user", "content": "Hi"}]))
    assert shape(Graph(store, talk)) == LINES
    assert shape(Graph(store, "spawned")) == [("x", "header", ("spawned",)), ("header", None, ())]


def test_a_branch_that_git_made_is_named_where_it_is(store: Store, talk: str, git: Git) -> None:
    git("-C", store.path, "branch", "plain", store.info(talk, at="b").oid)
    assert shape(Graph(store, talk))[-2] == ("b", "a", ("plain",))
    assert shape(Graph(store, "plain"))[-2] == ("b", "a", ("plain",))


def test_what_is_damaged_is_left_out_and_named(store: Store, talk: str) -> None:
    store.fork(talk, "fork", at="b")
    oid = store.info("fork").oid
    store.bind("fork").commit(SessionCommit("own", "b", [{"role": "user", "content": "Third try"}]))
    (store.path / "objects" / oid[:2] / oid[2:]).unlink()
    graph = Graph(store, talk)
    assert ([one.id for one in graph.left_out], shape(graph)) == (["fork"], LINES)


@pytest.mark.slow
def test_a_chain_of_forks_may_be_any_number_deep(store: Store) -> None:
    name = "s0"
    store.bind(name).commit(SessionCommit("first", None, [{"role": "user", "content": "Hi"}]))
    for number in range(1, 300):
        name = store.fork(name, f"s{number}")
    entries: list[GraphEntry] = [*Graph(store, "s0")]
    assert len(entries) == 300
    assert len({one.sessions for one in entries}) == 300


@pytest.fixture
def read_records(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Returns the ids of the records that are read for a graph, as they are read."""
    read: list[str | None] = []

    def decode(line: bytes) -> tuple[str, Record]:
        name, record = decode_record(line)
        read.append(record.id)
        return name, record

    monkeypatch.setattr(returns, "decode_record", decode)
    return read


def test_a_log_is_read_once_however_many_lines_were_left_in_it(
    store: Store, tmp_path: Path, read_records: list[str | None]
) -> None:
    lines = [prompt("r0", None, "Hello"), answer("r1", "r0")]
    for number in range(2, 40, 2):
        lines += prompt(f"r{number}", "r1", f"Try {number}"), answer(f"r{number + 1}", f"r{number}")
    assert len(take_bytes(store, b"".join(lines), tmp_path / "s.jsonl").abandoned) == 18
    found = [follows for _, follows, _ in shape(Graph(store, "s"))]
    assert [*range(38, -1, -2)] == [int(one[1:]) for one in found[::2] if one]
    assert found[1::2] == ["r1"] * 19 + [None]
    assert read_records == [f"r{number}" for number in range(40)]


def test_what_comes_after_the_last_line_is_drawn_without_a_look_at_the_log(
    store: Store, tmp_path: Path, read_records: list[str | None]
) -> None:
    grown = [prompt("g", "f", "More", 3), answer("h", "g", "Fine", 3)]
    take_bytes(store, b"".join([*WENT_BACK, *grown]), tmp_path / "talk.jsonl")
    graph = iter(Graph(store, "talk"))
    assert [entry.entry.commit_id for entry in islice(graph, 3)] == ["h", "g", "f"]
    assert read_records == []
    assert [entry.entry.commit_id for entry in graph] == ["e", "d", "c", "b", "a"]
    assert read_records == [*"abcdefgh"]
