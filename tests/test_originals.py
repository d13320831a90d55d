"""The transcript that a session was imported from, as it is given back: whole, or read again where it is large."""

import json
from pathlib import Path

import pytest

from gitsession import Store, few
from gitsession.building import NewDelta
from gitsession.transcripts import Record
from gitsession.transcripts.stored import encode_record
from gitsession.view import View
from tests.importing import original, take


@pytest.fixture(params=["in memory", "read again"], autouse=True)
def _large(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives each transcript back as if it was a small one, and as if it was a large one."""
    if request.param == "read again":
        monkeypatch.setattr(few, "_MOST_BYTES", 0)


def chat(path: Path, *said: str, ending: str = "\n") -> bytes:
    """Writes a document of messages, and returns it."""
    messages = [{"role": "user", "id": f"m{number}", "content": text} for number, text in enumerate(said)]
    path.write_text(json.dumps({"model": "m", "messages": messages}) + ending)
    return path.read_bytes()


def test_the_last_versions_are_the_document(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    states = []
    for changed in range(5):
        # More than a directory of the tree holds, of which each import changes some.
        said = [f"{changed if number % 50 == changed else 0}: {number}" for number in range(120 + 60 * changed)]
        states.append(chat(path, *said, ending="\n" * (changed % 2)))
        take(store, path)
        assert original(store, "chat") == states[-1]
    assert [one.id for one in store.sessions()] == ["chat"]


def test_a_folder_is_given_back_in_the_order_of_its_paths(store: Store, tmp_path: Path) -> None:
    conversation = tmp_path / "conversation"
    (conversation / "events").mkdir(parents=True)
    state = {"id": "c", "agent": {}, "workspace": {}, "max_iterations": 1}
    (conversation / "base_state.json").write_text(json.dumps(state))
    for step in range(3):
        for number in range(step, 300, 3):
            (conversation / "events" / f"event-{number:05}-e{number}.json").write_text(json.dumps({"id": step}))
        (conversation / "base_state.json").write_text(json.dumps(state | {"step": step}))
        take(store, conversation)
    given = [json.loads(line) for line in original(store, "c").splitlines()]
    assert [one["path"] for one in given] == [
        "base_state.json",
        *(f"events/event-{number:05}-e{number}.json" for number in range(300)),
    ]
    assert json.loads(given[0]["text"])["step"] == 2


def test_records_that_share_a_delta_are_given_back(store: Store, tmp_path: Path) -> None:
    """No import puts two records together; another program may."""
    path = tmp_path / "chat.json"
    chat(path, "one", ending="")
    take(store, path)
    pieces = [b', {"role": "user", "content": "%b"}' % text for text in (b"two", b"three")]
    lines = [
        encode_record("chat", name, Record(piece, json.loads(piece[1:]), newline=False)) + b"\n"
        for name, piece in zip(("x", "y"), pieces, strict=True)
    ]
    store.writer.append("chat", NewDelta("x", b"".join(lines), lambda: [View("meta", ())]))
    expected = path.read_bytes().replace(b"]", b"".join(pieces) + b"]")
    assert original(store, "chat") == expected
