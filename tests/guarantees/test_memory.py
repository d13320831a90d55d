"""What it takes in memory to store one message of 100 MB beside ten thousand small ones, and to import a large file.

`pytest -m slow --full tests/guarantees/test_memory.py`: 100 MB, files and folders of 500 MB, and files of a million
records; by default 16 MB, 40 MB and 20,000 records, and not every format.
"""

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitsession import MessageEntry, SessionCommit, SessionMeta, Store, import_transcripts
from tests.benchmarks.transcripts import transcript
from tests.guarantees.children import Say, together
from tests.guarantees.long_logs import LOGS, long_log

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="each system counts memory in its own way"),
]

MEGABYTE = 1_000_000
LINE = "a line of a tool's output, of which there are very many\n"


def growth(work: Callable[[Store], object], path: Path, message_bytes: int) -> float:
    """Returns how much memory a process takes at most to do something to a store, in sizes of the largest message."""

    def measured(say: Say) -> None:
        store = Store.open(path, durable=False)
        # The parts of the library are loaded when they are first used, and are not what is measured.
        store.create(meta := SessionMeta())
        store.append(meta.id, MessageEntry({"role": "user"}, "first"))
        store.bind(meta.id).commit(SessionCommit("second", "first", [{"role": "user"}]))
        assert len(store.load(meta.id, last=1)) == len(store.bind(meta.id).load().messages) - 1
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        work(store)
        say(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before}")

    ((kilobytes,),) = together([measured])
    return int(kilobytes) * 1024 / message_bytes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.git"
    store = Store.init(path, durable=False)
    store.create(SessionMeta("s"))
    for number in range(10):
        messages = [{"role": "user", "content": f"{number}: {place}"} for place in range(1000)]
        store.bind("s").commit(SessionCommit(f"c{number}", f"c{number - 1}" if number else None, messages))
    return path


def test_a_large_message_takes_little_more_than_its_size(path: Path, scale: Callable[[int, int], int]) -> None:
    size = scale(48, 100) * MEGABYTE  # more than what the C library keeps when it is freed, 32 MB
    large = {"role": "tool", "content": LINE * (size // len(LINE))}
    small = [{"role": "user", "content": f"after: {place}"} for place in range(20)]

    def read_messages(store: Store) -> None:
        messages = store.bind("s").load().messages
        assert len(messages) == 10_021
        assert messages[-20:] == small

    def read_entries(store: Store) -> None:
        assert [entry.message for entry in store.load("s", last=20)] == small

    # What its caller holds of it aside.
    assert growth(lambda store: store.append("s", MessageEntry(large, "large")), path, size) < 2.3
    assert growth(lambda store: store.bind("s").commit(SessionCommit("after", "large", small)), path, size) < 0.3
    # The small ones take some megabytes, whatever the large one does.
    assert growth(read_messages, path, size) < 1.5 + 8 * MEGABYTE / size
    assert growth(read_entries, path, size) < 0.3
    assert Store.open(path).bind("s").load().messages[10_000] == large


def test_a_transcript_is_imported_and_given_back_in_a_part_of_its_size(
    tmp_path: Path, path: Path, scale: Callable[[int, int], int]
) -> None:
    file = transcript(tmp_path / "large.jsonl", scale(10_000, 125_000), 4000)
    size = file.stat().st_size

    def take(store: Store) -> None:
        (done,) = import_transcripts(store, [file])
        assert done.session == "large"  # type: ignore[union-attr]  # a failure fails here

    def export(store: Store) -> None:
        assert size == sum(map(len, store.original("large")))

    # The objects that are not stored yet, and what was unpacked last, are as much of any file.
    assert growth(take, path, size) < scale(80, 8) / 100
    assert growth(export, path, size) < scale(80, 8) / 100


# What is held at most of any file: objects that are not stored yet, ids, pages of numbers, unpacked trees. It shows
# whether that is all once a file has filled it; so that a small one does, it is made less.
LESS = {
    "gitsession.import_run": {"_BATCH_OBJECTS": 2000},
    "gitsession.columns": {"IN_MEMORY": 1000, "_PAGE_BITS": 8, "_PAGE": 256, "_MASK": 255},
    "gitsession.numbering": {"_RECENT": 1000},
    "gitsession.repo.pack_index": {"_ALL_HELD_BYTES": 0},
    "gitsession.repo.packs": {"_KEPT_BYTES": 1 << 18},
    "gitsession.repo.scratch": {"_IN_MEMORY": 1 << 16},
}

# In a process of its own: one that has run tests before has memory to spare.
IMPORTING = """
import json, pkgutil, re, sys
from pathlib import Path
from gitsession import Store, import_transcripts

for module, values in json.loads(sys.argv[4]).items():
    vars(pkgutil.resolve_name(module)).update(values)
peak = lambda: 1024 * int(re.search("VmHWM:[^0-9]*([0-9]+)", Path("/proc/self/status").read_text())[1])
before = peak()
(done,) = import_transcripts(Store.open(sys.argv[1], durable=False), [sys.argv[2]], redact=sys.argv[3] == "redact")
print(peak() - before, done.new_commits)
"""


# Those that are tried in a small run too.
SOME = ("claude-code", "gemini", "opencode")


@pytest.mark.parametrize(("name", "redact"), [("claude-code", "redact"), *((name, "") for name in LOGS)])
def test_an_import_takes_no_more_memory_for_more_records(
    tmp_path: Path, request: pytest.FixtureRequest, scale: Callable[[int, int], int], name: str, redact: str
) -> None:
    """Neither of a new file nor of one that has grown, with a few abandoned lines where the format knows any."""
    full = request.config.getoption("--full")
    if not full and (name not in SOME or (name == "claude-code" and not redact)):
        pytest.skip("takes long; the same is shown by others")
    less = {} if full else LESS
    few, many = scale(4000, 60_000), scale(20_000, 1_000_000 if name == "claude-code" and not redact else 300_000)
    took: dict[int, list[int]] = {}
    for records in (few, many):
        store = Store.init(tmp_path / f"{records}.git", durable=False)
        took[records] = []
        for length, new in ((records - 1, records - 1), (records, 1)):
            file = long_log(tmp_path / f"{records}.jsonl", name, length)
            given = [str(store.path), str(file), redact, json.dumps(less)]
            done = subprocess.run([sys.executable, "-c", IMPORTING, *given], capture_output=True, text=True, check=True)
            grown, commits = map(int, done.stdout.split())
            took[records].append(grown)
            assert commits == new

    # Less than five bytes a record; what comes by chance is half of what a small test allows.
    for before, after in zip(took[few], took[many], strict=True):
        assert after - before < max(5 * (many - few), MEGABYTE), took


def opencode_message(number: int, text: str) -> Any:
    info = {"id": f"msg_{number:07}", "role": "user", "sessionID": "ses_1", "time": {"created": number}}
    return {"info": info, "parts": [{"id": f"prt_{number:07}", "messageID": info["id"], "type": "text", "text": text}]}


# Documents: what stands before their messages, a message, and what stands after them.
DOCUMENTS: dict[str, tuple[str, Callable[[int, str], Any], str]] = {
    "chat": ("", lambda _, text: {"role": "user", "content": text}, ""),
    "gemini": (
        '{"sessionId":"g","projectHash":"3f1b","messages":',
        lambda number, text: {"id": f"m{number}", "type": "user", "content": text},
        ',"lastUpdated":1}',
    ),
    "langchain": (
        '{"values":{"messages":',
        lambda number, text: {"type": "human", "data": {"id": f"m{number}", "content": text}},
        "}}",
    ),
    "opencode": (
        '{"info":{"id":"ses_1","projectID":"p","directory":"/d","time":{}},"messages":',
        opencode_message,
        "}",
    ),
    "openhands": (
        '{"id":1,"events":',
        lambda number, text: {
            "id": number,
            "timestamp": "2026-03-02T09:00:00",
            "source": "user",
            "action": "message",
            "args": {"content": text},
        },
        "}",
    ),
    "swe-agent": (
        '{"trajectory":',
        lambda _, text: {"action": "ls", "observation": text, "response": "I look."},
        ',"info":{"exit_status":"submitted"}}',
    ),
}


def text_of(number: int) -> str:
    return f"{number}: " + LINE * (number * 7 % 150)


def write_document(path: Path, name: str, size: int, more: int = 0) -> None:
    """Writes a document of about so many bytes, and of some messages more."""
    before, message, after = DOCUMENTS[name]
    with path.open("w") as file:
        written = number = file.write(before)
        while written < size or more:
            more -= written >= size
            written += file.write(("," if number > len(before) else "[") + json.dumps(message(number, text_of(number))))
            number += 1
        file.write("]" + after)


def write_folder(path: Path, name: str, size: int, more: int = 0) -> Path:
    """Writes a folder of about so many bytes, and of some messages more; returns the file by which it is recognised."""
    if name == "openhands":
        first = path / "base_state.json"
        start: Any = {"id": "c", "agent": {}, "workspace": {}, "max_iterations": 1}
        directory = path / "events"
    else:
        first = path / "session" / "p" / "ses_1.json"
        start = {"id": "ses_1", "projectID": "p", "directory": "/d", "time": {}}
        directory = path / "message" / "ses_1"
    first.parent.mkdir(parents=True, exist_ok=True)
    directory.mkdir(parents=True, exist_ok=True)
    first.write_text(json.dumps(start))
    written = number = 0
    while written < size or more:
        more -= written >= size
        text = text_of(number)
        message = opencode_message(number, text)
        if name == "openhands":
            event = {"id": f"e{number}", "source": "user", "kind": "MessageEvent", "timestamp": "2026-03-02T09:00:00"}
            written += (directory / f"event-{number:06}-e{number}.json").write_text(json.dumps({**event, "text": text}))
        else:
            part = path / "part" / message["info"]["id"] / "prt_1.json"
            part.parent.mkdir(parents=True, exist_ok=True)
            written += part.write_text(json.dumps(message["parts"][0]))
            written += (directory / f"{message['info']['id']}.json").write_text(json.dumps(message["info"]))
        number += 1
    return first


def take_and_give_back(store_path: Path, file: Path, grow: Callable[[], object], limit: float) -> None:
    """Imports a transcript, imports it when it has grown, gives it back, and looks at how much memory each takes."""
    found: list[str] = []

    def take(store: Store) -> None:
        (done,) = import_transcripts(store, [file])
        assert done.new_commits > 1  # type: ignore[union-attr]  # a failure fails here

    def export(store: Store) -> None:
        assert sum(map(len, store.original(found[0]))) > 0

    took = [growth(take, store_path, MEGABYTE)]
    grow()
    took.append(growth(take, store_path, MEGABYTE))
    found += [one.id for one in Store.open(store_path).sessions() if one.meta.agent]
    took.append(growth(export, store_path, MEGABYTE))
    assert max(took) < limit, took


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_imported_and_given_back_in_the_memory_of_a_message(
    request: pytest.FixtureRequest, tmp_path: Path, path: Path, scale: Callable[[int, int], int], name: str
) -> None:
    if name not in SOME and not request.config.getoption("--full"):
        pytest.skip("takes long; the same is shown by others")
    file = tmp_path / "session.json"
    size = scale(16, 500) * MEGABYTE
    write_document(file, name, size)
    take_and_give_back(path, file, lambda: write_document(file, name, size, more=3), scale(36, 200))


@pytest.mark.parametrize("name", ["opencode", "openhands"])
def test_a_folder_is_imported_and_given_back_in_the_memory_of_a_file(
    request: pytest.FixtureRequest, tmp_path: Path, path: Path, scale: Callable[[int, int], int], name: str
) -> None:
    if name in SOME and not request.config.getoption("--full"):
        pytest.skip("takes long; the same is shown by the other")
    size = scale(16, 500) * MEGABYTE
    file = write_folder(tmp_path / "folder", name, size)
    take_and_give_back(path, file, lambda: write_folder(tmp_path / "folder", name, size, more=3), scale(36, 200))
