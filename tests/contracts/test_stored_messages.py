"""The messages of both contracts: every shape comes back equal, and what is handed out is the caller's own."""

from copy import deepcopy
from typing import Any

import pytest

from gitsession import (
    InvalidCommit,
    MessageEntry,
    Messages,
    Session,
    SessionCommit,
    SessionMeta,
    SessionStore,
    Store,
    new_commit,
)
from tests.stores import HELLO, HI, SHAPES

FIRST = SessionCommit("first", None, [HELLO, HI])


@pytest.fixture
def session(store: Store) -> SessionStore:
    return store.bind("s")


@pytest.mark.parametrize("shape", SHAPES)
def test_messages_of_every_shape_come_back_equal(store: Store, session: SessionStore, shape: str) -> None:
    expected = deepcopy(SHAPES[shape])
    assert session.commit(new_commit(None, SHAPES[shape])).messages == expected
    loaded = Store.open(store.path).bind("s").load().messages
    assert expected == loaded
    assert expected == list(loaded)
    assert [list(message) for message in expected] == [list(message) for message in loaded]
    assert SHAPES[shape] == expected


@pytest.mark.parametrize(
    "value",
    [
        10**4299,
        -(10**4299),
        2**64,
        0.1,
        1e-320,
        1.7976931348623157e308,
        -0.0,
        "\ud800",
        "\udfff x",
        "\ude00\ud83d",
        "a\u2028b\u2029c\x85d",
        "\ufeff",
        "\0\x1b[31m",
        "line\r\nline",
        "e\u0301 \u00e9",
        {"b": 1, "a": 2, "": 3, "\ud800": 4},
        [[[[[[[[[[]]]]]]]]]],
    ],
)
def test_values_come_back_as_they_were(session: SessionStore, value: Any) -> None:
    session.commit(new_commit(None, [{"value": value}]))
    found = session.load().messages[0]["value"]
    assert (value, repr(value)) == (found, repr(found))


def test_what_arrives_as_text_is_stored_as_that_text(store: Store, session: SessionStore) -> None:
    texts = [b'{"a": 1e5, "b": -0}', b'{"c":1E400}', b'{"d":1,"d":2}', b' {"e" :\r\n"\\u00e9"}\n']
    commit = SessionCommit("a", None, Messages.from_texts(texts))
    session.commit(commit)
    assert session.commit(commit).head == "a"
    expected = [b'{"a": 1e5, "b": -0}', b'{"c":1E400}', b'{"d":1,"d":2}', b'{"e" :  "\\u00e9"}']
    assert list(store.transcript("s")) == [b'{"type":"message","message":' + text + b"}\n" for text in expected]


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b'{"a":NaN}', b'{"a":-Infinity}', b"\xff{}", b"\xef\xbb\xbf{}"])
def test_a_text_that_is_no_json_object_is_invalid(text: bytes) -> None:
    with pytest.raises(InvalidCommit, match=r"^messages\[1\] (cannot be stored: |is no JSON object)"):
        Messages.from_texts([b"{}", text])


def test_messages_that_were_loaded_are_committed_as_messages(store: Store, session: SessionStore) -> None:
    store.create(SessionMeta("other"))
    store.append("other", MessageEntry(HELLO, id="e1", timestamp="2025-01-01T00:00:00Z"))
    store.append("other", MessageEntry(HI, extra={"mood": "good"}))
    loaded = store.bind("other").load().messages
    session.commit(SessionCommit("a", None, loaded))
    assert session.commit(SessionCommit("a", None, [HELLO, HI])).head == "a"
    assert [entry.id for entry in store.load("s")] == ["a/0", "a/1"]


def test_what_messages_hand_out_is_the_callers_own(session: SessionStore) -> None:
    loaded = session.commit(SessionCommit("a", None, [{"content": [{"text": "x"}]}])).messages
    loaded[0]["content"][0]["text"] = "changed"
    for message in loaded:
        message.clear()
    assert loaded == [{"content": [{"text": "x"}]}]
    assert session.load().messages == loaded


def test_a_session_that_was_returned_does_not_change_when_later_commits_follow(session: SessionStore) -> None:
    before = session.commit(FIRST)
    loaded = session.load()
    session.commit(SessionCommit("second", "first", [HELLO]))
    assert before == Session("first", [HELLO, HI])
    assert loaded == Session("first", [HELLO, HI])
