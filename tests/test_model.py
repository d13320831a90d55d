"""The values: immutable sequences of messages, sessions and commits that are complete when they are made."""

from copy import deepcopy
from dataclasses import FrozenInstanceError

import pytest

from gitsession import Corrupt, InvalidCommit, Messages, Session, SessionCommit, new_commit
from tests.stores import HELLO, HI


def test_messages_are_equal_to_the_list_of_the_same_messages() -> None:
    found = Messages([HELLO, HI])
    assert found == [HELLO, HI]
    assert found == [HELLO, HI]
    assert found == (HELLO, HI)
    assert found == Messages([HELLO, HI])
    assert found == Messages.from_texts([b'{ "role":"user","content":"Hello"}', Messages([HI]).lines[0][28:-1]])
    for other in ([HELLO], [HI, HELLO], [HELLO, HI, HI], Messages([HELLO]), "ab", None, 2):
        assert found != other


def test_messages_are_a_sequence() -> None:
    found = Messages({"n": n} for n in range(5))
    assert len(found) == 5
    assert list(found) == [{"n": n} for n in range(5)]
    assert found[0] == {"n": 0}
    assert found[-1] == {"n": 4}
    assert found[1:3] == [{"n": 1}, {"n": 2}]
    assert isinstance(found[1:3], Messages)
    assert found[::-1] == [{"n": n} for n in (4, 3, 2, 1, 0)]
    assert {"n": 3} in found
    assert found.index({"n": 3}) == 3
    assert found + Messages([{"n": 5}]) == [{"n": n} for n in range(6)]
    assert repr(found[:1]) == "Messages([{'n': 0}])"
    assert bool(Messages()) is False
    with pytest.raises(IndexError):
        found[5]


def test_messages_cannot_be_changed() -> None:
    given = deepcopy([HELLO])
    found = Messages(given)
    given[0]["content"] = "changed"
    found[0]["content"] = "changed"
    assert found == [HELLO]
    with pytest.raises(TypeError):
        found[0] = HI
    with pytest.raises(TypeError):
        hash(found)
    with pytest.raises(AttributeError):
        found.append(HI)


@pytest.mark.parametrize("line", [b"", b"[]", b"{}", b'{"message":1}', b'{"type":"message","message":[]}', b"\xff"])
def test_a_stored_line_that_is_no_message_is_corrupt_when_it_is_looked_at(line: bytes) -> None:
    found = Messages.from_lines([line])
    assert len(found) == 1
    with pytest.raises(Corrupt):
        found[0]


def test_an_invalid_message_is_named_by_its_place() -> None:
    with pytest.raises(InvalidCommit, match=r"^messages\[1\]\.a is nan"):
        Messages([HELLO, {"a": float("nan")}])


def test_a_session_keeps_messages_whatever_sequence_it_is_given() -> None:
    assert Session("c", [HELLO]).messages == [HELLO]
    assert isinstance(Session("c", [HELLO]).messages, Messages)
    assert Session(None) == Session(None, ()) == Session(head=None, messages=[])
    assert Session(None) != Session("c")
    with pytest.raises(FrozenInstanceError):
        Session(None).head = "c"


def test_a_commit_does_not_change_with_the_list_that_it_was_made_of() -> None:
    messages = [HELLO]
    commit = SessionCommit("c", None, messages)
    messages.append(HI)
    assert commit.messages == (HELLO,)
    with pytest.raises(FrozenInstanceError):
        commit.id = "d"


def test_a_new_commit_has_an_opaque_id_of_its_own() -> None:
    commit = new_commit("p", [HELLO])
    assert commit.id.startswith("commit-")
    assert len(commit.id) == 31
    assert (commit.parent, commit.messages) == ("p", (HELLO,))
