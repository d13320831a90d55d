"""Lines of opencode that a revert took back, in exports and in folders that were imported as they grew."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from imports import imported, read_twice, texts

from gitsession import Graph, SessionCommit, Store
from gitsession.layout import branch_of

SESSION = "ses_1"
SAID = {"msg_01": "q1", "msg_02": "A1", "msg_03": "left", "msg_04": "LA", "msg_05": "new", "msg_06": "NA"}
ALL = ("msg_01", "msg_02", "msg_03", "msg_04")

# By its last part.
FORMER = f"{SESSION}.part:msg_04:prt_04.json"

Write = Callable[..., Path]


@pytest.fixture(params=["in memory", "read again"], autouse=True)
def _twice(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    read_twice(str(request.param), monkeypatch)


def session(revert: str | None, updated: int) -> dict[str, Any]:
    told = {"id": SESSION, "directory": "/home/dev", "title": "T", "time": {"created": 1, "updated": updated}}
    return told if revert is None else {**told, "revert": {"messageID": revert}}


def message(own: str) -> dict[str, Any]:
    role = "user" if int(own[-2:]) % 2 else "assistant"
    return {"id": own, "sessionID": SESSION, "role": role, "time": {"created": 1000 * int(own[-2:])}}


def part(own: str) -> dict[str, Any]:
    return {"id": f"prt_{own[-2:]}", "sessionID": SESSION, "messageID": own, "type": "text", "text": SAID[own]}


@pytest.fixture(params=["export", "folder"])
def write(request: pytest.FixtureRequest, tmp_path: Path) -> Write:
    """Returns what writes a state of the session, an export or a folder."""

    def export(*messages: str, revert: str | None = None, updated: int = 0) -> Path:
        path = tmp_path / "export.json"
        said = [{"info": message(own), "parts": [part(own)]} for own in messages]
        path.write_text(json.dumps({"info": session(revert, updated), "messages": said}, indent=2))
        return path

    def folder(*messages: str, revert: str | None = None, updated: int = 0) -> Path:
        root = tmp_path / "storage"
        files = {f"session/p/{SESSION}": session(revert, updated)}
        files |= {f"message/{SESSION}/{own}": message(own) for own in messages}
        files |= {f"part/{own}/prt_{own[-2:]}": part(own) for own in messages}
        for path in root.rglob("*.json"):
            path.unlink()
        for name, content in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / f"{name}.json").write_text(json.dumps(content))
        return root / "session" / "p" / f"{SESSION}.json"

    return export if request.param == "export" else folder


def test_a_line_that_was_taken_back_is_a_branch_where_it_ended(store: Store, write: Write) -> None:
    imported(store, write(*ALL))
    done = imported(store, write(*ALL, revert="msg_03", updated=1))
    (left,) = done.abandoned
    assert (texts(store, SESSION), texts(store, left)) == (["q1", "A1"], ["q1", "A1", "left", "LA"])
    assert [one.id for one in store.lines(SESSION)] == [left]
    assert imported(store, write(*ALL, revert="msg_03", updated=2)).abandoned == ()
    new = imported(store, write("msg_01", "msg_02", "msg_05", "msg_06", updated=3))
    assert (new.rewritten_from, texts(store, new.session)) == (SESSION, ["q1", "A1", "new", "NA"])
    assert texts(store, left) == ["q1", "A1", "left", "LA"]


def test_what_a_rewritten_file_goes_on_with_is_no_line_that_was_left(store: Store, write: Write) -> None:
    imported(store, write(*ALL))
    (left,) = imported(store, write(*ALL, revert="msg_03", updated=1)).abandoned
    new = imported(store, write("msg_01", "msg_02", "msg_05", updated=2)).session
    assert [one.id for one in store.lines(SESSION)] == [left]
    assert [one.id for one, left_in in store.derived(SESSION) if left_in is None] == [new]


@pytest.mark.parametrize(
    ("write", "names"),
    [("export", ["msg_04", "document"]), ("folder", ["prt_04", "session"])],
    indirect=["write"],
)
def test_a_branch_is_named_by_a_message_or_a_file(store: Store, write: Write, names: list[str]) -> None:
    imported(store, write(*ALL))
    (left,) = imported(store, write(*ALL, revert="msg_03", updated=1)).abandoned
    new = imported(store, write("msg_01", "msg_02", "msg_05", updated=2)).session
    assert [left, new] == [f"{SESSION}.{name}" for name in names]


@pytest.mark.parametrize("write", ["folder"], indirect=True)
def test_a_branch_that_an_earlier_release_named_by_a_path_is_still_the_one(
    store: Store, write: Write, git: Callable[..., str]
) -> None:
    imported(store, write(*ALL))
    (left,) = imported(store, write(*ALL, revert="msg_03", updated=1)).abandoned
    git("branch", "-m", left, branch_of(FORMER), cwd=store.path)
    assert imported(store, write(*ALL, revert="msg_03", updated=2)).abandoned == ()
    assert [one.id for one in store.lines(SESSION)] == [FORMER]
    store.bind(FORMER).commit(SessionCommit("mine", store.info(FORMER).head, [{"role": "user", "content": "Mine"}]))
    imported(store, write("msg_01", "msg_02", "msg_05", updated=3))
    assert [one.id for one in store.lines(SESSION)] == [FORMER]


def test_a_line_on_which_somebody_went_on_is_still_one(store: Store, write: Write) -> None:
    imported(store, write(*ALL))
    (left,) = imported(store, write(*ALL, revert="msg_03", updated=1)).abandoned
    store.bind(left).commit(SessionCommit("mine", store.info(left).head, [{"role": "user", "content": "Mine"}]))
    imported(store, write("msg_01", "msg_02", "msg_05", updated=2))
    assert [one.id for one in store.lines(SESSION)] == [left]
    assert len([*store.derived(SESSION)]) == 2


def test_a_line_is_taken_back_in_steps_once(store: Store, write: Write) -> None:
    imported(store, write(*ALL))
    imported(store, write(*ALL, revert="msg_03", updated=1))
    assert imported(store, write(*ALL, revert="msg_01", updated=2)).abandoned == ()
    assert texts(store, SESSION) == []
    assert len(store.lines(SESSION)) == 1


def test_what_was_never_shown_is_no_line(store: Store, write: Write) -> None:
    imported(store, write(*ALL[:2]))
    assert imported(store, write(*ALL, revert="msg_03", updated=1)).abandoned == ()
    assert texts(store, SESSION) == ["q1", "A1"]


def test_a_branch_that_is_gone_is_made_again(store: Store, write: Write) -> None:
    imported(store, write(*ALL))
    (left,) = imported(store, write(*ALL, revert="msg_03", updated=1)).abandoned
    tip = store.info(left)
    (store.path / "refs" / "heads" / tip.branch).unlink()
    assert imported(store, write(*ALL, revert="msg_03", updated=1)).abandoned == (left,)
    assert store.info(left).oid == tip.oid


def test_messages_that_are_taken_up_again_are_shown(store: Store, write: Write) -> None:
    for revert, updated in ((None, 0), ("msg_03", 1), (None, 2)):
        imported(store, write(*ALL, revert=revert, updated=updated))
    assert texts(store, SESSION) == ["q1", "A1", "left", "LA"]


@pytest.mark.parametrize(("back", "kept"), [(("msg_03",), "msg_02"), (("msg_03", "msg_02"), "msg_01")])
def test_a_graph_goes_on_from_the_last_message_that_was_kept(
    store: Store, write: Write, back: tuple[str, ...], kept: str
) -> None:
    imported(store, write(*ALL))
    for updated, one in enumerate(back, 1):
        imported(store, write(*ALL, revert=one, updated=updated))
    found = [*Graph(store, SESSION)]
    names = {one.entry.oid: one.entry.commit_id or "" for one in found}
    (returned,) = (one for one in found if one.follows != one.entry.parent_oid)
    assert names[returned.entry.oid].endswith(".v2")
    assert kept in names[returned.follows or ""]
    imported(store, write(*ALL, updated=9))
    assert all(one.follows == one.entry.parent_oid for one in Graph(store, SESSION))
