"""Arbitrary JSON goes round, and a store does what a dictionary of lists does, whatever the order of the calls."""

import shutil
import tempfile
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from gitsession import (
    Corrupt,
    InvalidCommit,
    InvalidSessionId,
    MessageEntry,
    Messages,
    ParentConflict,
    Session,
    SessionCommit,
    SessionExists,
    SessionMeta,
    SessionNotFound,
    Store,
)

# Text with all that JSON can hold, surrogates among it; numbers at their limits, and those that JSON has not.
TEXT = st.text(st.characters(exclude_categories=[]), max_size=20)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
MESSAGES = st.lists(st.dictionaries(TEXT, JSON, max_size=4), min_size=1, max_size=3)


@given(messages=MESSAGES)
def test_messages_come_back_equal_or_are_invalid_with_a_reason(messages: list[dict[str, Any]]) -> None:
    try:
        found = Messages(messages)
    except InvalidCommit as error:
        reason = str(error)
    else:
        assert found == messages
        assert repr(list(found)) == repr(messages)
        assert all(b"\n" not in line and b"\r" not in line for line in found.lines)
        return
    assert reason.startswith(("messages[", "a key of messages["))
    assert "would not come back equal" not in reason


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store.init(tmp_path_factory.mktemp("shared") / "store.git", durable=False)


@settings(max_examples=50)
@given(messages=MESSAGES, session_id=st.text(max_size=30), commit_id=st.text(max_size=30))
def test_what_a_store_takes_it_gives_back(
    shared: Store, messages: list[dict[str, Any]], session_id: str, commit_id: str
) -> None:
    try:
        session = shared.bind(f"{uuid4()}{session_id}")
        made = session.commit(SessionCommit(commit_id, None, messages))
    except (InvalidCommit, InvalidSessionId):
        return
    assert made == Session(commit_id, messages)
    assert session.load() == Session(commit_id, messages)
    assert shared.find(session.session_id) == session.session_id


class StoreMachine(RuleBasedStateMachine):
    """Lists of commits as the model: of each, its id, its messages and its parent."""

    sessions = Bundle("sessions")

    @initialize()
    def begin(self) -> None:
        self.directory = Path(tempfile.mkdtemp())
        self.stores = [Store.init(self.directory / "store.git", durable=False)]
        self.stores.append(Store.open(self.directory / "store.git", durable=False))
        self.model: dict[str, list[tuple[str, tuple[dict[str, Any], ...]]]] = {}
        self.made = 0

    def teardown(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)

    def fresh(self) -> str:
        self.made += 1
        return f"c/{self.made}"

    def head(self, name: str) -> str | None:
        return self.model[name][-1][0] if self.model.get(name) else None

    def messages(self, name: str) -> list[dict[str, Any]]:
        return [message for _, delta in self.model.get(name, []) for message in delta]

    @rule(target=sessions, name=st.sampled_from(["a", "a/b", "B", "é"]))
    def name(self, name: str) -> str:
        return name

    @rule(name=sessions, one=st.integers(0, 1))
    def create(self, name: str, one: int) -> None:
        if name in self.model:
            with pytest.raises(SessionExists):
                self.stores[one].create(SessionMeta(name))
        else:
            assert self.stores[one].create(SessionMeta(name)) == name
            self.model[name] = []

    @rule(name=sessions, one=st.integers(0, 1), count=st.integers(1, 3))
    def commit(self, name: str, one: int, count: int) -> None:
        commit_id = self.fresh()
        delta = tuple({"n": [self.made, place]} for place in range(count))
        made = self.stores[one].bind(name).commit(SessionCommit(commit_id, self.head(name), delta))
        self.model.setdefault(name, []).append((commit_id, delta))
        assert made == Session(commit_id, self.messages(name))

    @rule(name=sessions, one=st.integers(0, 1), place=st.integers(0, 5), same=st.booleans())
    def replay(self, name: str, one: int, place: int, same: bool) -> None:
        log = [None, *self.model.get(name, [])]
        if place + 1 >= len(log) or "n" not in log[place + 1][1][0]:
            return
        commit_id, delta = log[place + 1]
        parent = log[place] and log[place][0]
        session = self.stores[one].bind(name)
        if same:
            expected = Session(self.head(name), self.messages(name))
            assert expected == session.commit(SessionCommit(commit_id, parent, delta))
        else:
            for other in (
                SessionCommit(commit_id, f"{parent}x", delta),
                SessionCommit(commit_id, parent, [*delta, {}]),
            ):
                with pytest.raises(Corrupt):
                    session.commit(other)

    @rule(name=sessions, one=st.integers(0, 1), parent=st.sampled_from([None, "", "c/1", "nobody"]))
    def commit_on_another_parent(self, name: str, one: int, parent: str | None) -> None:
        if parent == self.head(name):
            return
        with pytest.raises(ParentConflict) as caught:
            self.stores[one].bind(name).commit(SessionCommit(self.fresh(), parent, [{}]))
        assert (parent, self.head(name)) == (caught.value.expected, caught.value.actual)

    @rule(name=sessions, one=st.integers(0, 1), twice=st.booleans())
    def append(self, name: str, one: int, twice: bool) -> None:
        entry = MessageEntry({"appended": self.made}, id=self.fresh())
        if name not in self.model:
            with pytest.raises(SessionNotFound):
                self.stores[one].append(name, entry)
            return
        for _ in range(1 + twice):
            self.stores[one].append(name, entry)
        self.model[name].append((entry.id, (entry.message,)))

    @rule(target=sessions, name=sessions, one=st.integers(0, 1), place=st.integers(0, 5))
    def fork(self, name: str, one: int, place: int) -> str:
        log = self.model.get(name)
        if not log:
            return name
        kept = log[: place + 1]
        new = f"fork-{self.fresh()}"
        at = f"#{place}" if place < len(log) else kept[-1][0]
        assert self.stores[one].fork(name, new, at=at) == new
        self.model[new] = list(kept)
        return new

    @invariant()
    def both_stores_show_the_model(self) -> None:
        if not hasattr(self, "model"):
            return
        for store in self.stores:
            assert sorted(self.model) == sorted(meta.id for meta in store.list())
            for name in self.model:
                assert store.bind(name).load() == Session(self.head(name), self.messages(name))
                assert [entry.message for entry in store.load(name)] == self.messages(name)


StoreMachine.TestCase.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)
TestStoreMachine = StoreMachine.TestCase
