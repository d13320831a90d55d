"""Transcripts that their agent writes anew again and again while they are imported. Real processes only."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitsession import (
    ImportFailure,
    ImportResult,
    Store,
    UnknownTranscript,
    few,
    import_transcripts,
    verify,
)
from gitsession.repo import scratch
from tests.importing import assert_flawless, new_store, original, take

pytestmark = pytest.mark.slow

# An agent: writes its transcript anew for each of ever more messages.
AGENT = """
import json, os, sys
from itertools import count
from pathlib import Path

def message(number):
    return {"role": "user", "id": f"m{number}", "content": f"{number} " + "é" * (number * 37 % 1500)}

def replaced(path, length, content=None):
    path.with_suffix(".new").write_text(content or document(length))
    path.with_suffix(".new").replace(path)

def in_place(path, length):
    content = document(length)
    with path.open("w") as file:
        for start in range(0, len(content), 8192):
            file.write(content[start : start + 8192])
            file.flush()

def document(length):
    return json.dumps({"length": length, "messages": [message(number) for number in range(length)]}, ensure_ascii=False)

def folder(path, length):
    # Each event is written once, the state again and again; and the user takes some back.
    (path / "events").mkdir(parents=True, exist_ok=True)
    events = {number: path / "events" / f"event-{number:05}-e{number}.json" for number in range(length)}
    event = {"source": "user", "kind": "MessageEvent", "timestamp": "2026-03-02T09:00:00"}
    for number in range(length - 5, length):
        if not events[number].exists():
            replaced(events[number], 0, json.dumps({"id": f"e{number}", **event, "llm_message": message(number)}))
    if length % 50 == 0:
        events[length - 20].unlink(missing_ok=True)
    state = {"id": "folder", "agent": {}, "workspace": {}, "max_iterations": 1, "written": os.times().elapsed}
    replaced(path / "base_state.json", 0, json.dumps(state))

write, path, stop = globals()[sys.argv[1]], Path(sys.argv[2]), Path(sys.argv[3])
write(path, 10)
print("ready", flush=True)
for round in count():
    write(path, min(10 + round, 300))
    if stop.exists():
        break
"""


@pytest.fixture(autouse=True)
def _large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes each transcript for a large one, which is read twice and never held."""
    monkeypatch.setattr(few, "_MOST_BYTES", 0)
    monkeypatch.setattr(scratch, "_IN_MEMORY", 1000)


@contextmanager
def agent(how: str, path: Path) -> Iterator[None]:
    """Lets an agent write until the block ends."""
    stop = path.parent / "stop"
    process = subprocess.Popen([sys.executable, "-c", AGENT, how, path, stop], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    try:
        yield
    finally:
        stop.touch()
        process.communicate()
    assert process.returncode == 0


def imported(store: Store, path: Path, times: int) -> list[ImportResult | ImportFailure]:
    return [done for _ in range(times) for done in import_transcripts(store, [path])]


def assert_sound(store: Store) -> None:
    assert_flawless(store)
    assert list(verify(store)) == []


def test_each_import_of_a_document_that_is_replaced_is_one_of_its_states(tmp_path: Path) -> None:
    store, path = new_store(tmp_path / "store.git"), tmp_path / "chat.json"
    with agent("replaced", path):
        for _ in range(12):
            (done,) = take(store, path)
            assert (done.session, done.problems, done.unfinished) == ("chat", (), False)
            held = json.loads(original(store, "chat"))
            assert len(held["messages"]) == held["length"]
    take(store, path)
    assert [one.id for one in store.sessions()] == ["chat"]
    assert original(store, "chat") == path.read_bytes()
    assert_sound(store)


@pytest.mark.parametrize("how", ["in_place", "folder"])
def test_no_state_of_a_transcript_that_is_half_written_does_harm(tmp_path: Path, how: str) -> None:
    store, path = new_store(tmp_path / "store.git"), tmp_path / ("chat.json" if how == "in_place" else "folder")
    with agent(how, path):
        results = imported(store, path, 30 if how == "in_place" else 8)
    # A file of which nothing is written yet is no transcript; what is more is a state of one, or the beginning of it.
    errors = [one.error for one in results if isinstance(one, ImportFailure)]
    assert all(isinstance(error, UnknownTranscript) for error in errors), errors
    (done,) = take(store, path)
    assert done.problems == ()
    if how == "in_place":
        assert original(store, done.session) == path.read_bytes()
    else:
        given = {one["path"]: one["text"] for one in map(json.loads, original(store, done.session).splitlines())}
        there = {str(one.relative_to(path)): one.read_text() for one in path.rglob("*.json")}
        assert there.items() <= given.items()
    assert_sound(store)
