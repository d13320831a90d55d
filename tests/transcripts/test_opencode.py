"""opencode's exports and folders."""

import json

import pytest
from folded import assistant, call, conversation, entries, speakers, tool, user
from transcript_files import FIXTURES, header_of, read, records_of

from gitsession.transcripts import FORMATS, recognise

OPENCODE = FORMATS["opencode"]
DIRECTORY = FIXTURES / "opencode"
EXPORT = DIRECTORY / "export.json"
STORAGE = next((DIRECTORY / "storage" / "session").rglob("*.json"))
MODEL = "claude-sonnet-4-5"


@pytest.mark.parametrize("path", [EXPORT, STORAGE], ids=["export", "storage"])
def test_export_and_folder_are_the_same_conversation(path) -> None:
    assert conversation(path) == [
        user("Which files are here?\n[notes.txt, text/plain]"),
        user("Called the Read tool.", meta=True),
        assistant(
            reasoning="I should list them.",
            tool_calls=[call("call_1", "bash", '{"command":"ls"}'), call("call_2", "read", '{"filePath":"c.txt"}')],
            model=MODEL,
        ),
        tool("a.txt\nb.txt", "call_1", "bash"),
        tool("File not found", "call_2", "read", is_error=True),
        assistant("Two: a.txt and b.txt.", model=MODEL),
    ]
    assert entries(path)[2].timestamp == "2026-03-02T09:00:02.000Z"
    assert [entry.timestamp for entry in entries(path)[3:5]] == ["2026-03-02T09:00:02.305Z", "2026-03-02T09:00:02.405Z"]


@pytest.mark.parametrize("path", [EXPORT, STORAGE], ids=["export", "storage"])
def test_the_header_is_the_sessions(path) -> None:
    assert header_of(OPENCODE, path, records_of(path)) == {
        "id": "ses_48c1f0a2bffeX1",
        "created_at": "2026-03-02T09:00:00.000Z",
        "agent": "opencode",
        "cwd": "/home/dev/project",
        "title": "Listing the files",
    }


def test_what_the_agent_put_in_stands_on_its_side_of_the_prompt() -> None:
    info = {"id": "msg_1", "role": "user", "sessionID": "ses_1", "time": {"created": 1772442000000}}
    put, typed = ({"type": "text", "text": words, "synthetic": words != "Why?"} for words in ("It is late.", "Why?"))
    document = {
        "info": {"id": "ses_1", "directory": "/", "time": {}},
        "messages": [{"info": info, "parts": [put, typed, put]}],
    }
    records = read(OPENCODE, json.dumps(document).encode())
    late = user("It is late.", meta=True)
    assert [(entry.id, entry.message) for entry in OPENCODE.fold(records)] == [
        *(("msg_1", late), ("msg_1/1", user("Why?")), ("msg_1/2", late))
    ]
    # The text of its commit begins with the prompt.
    assert [part.text for part in OPENCODE.view(records[1]).parts] == ["Why?", "It is late.\nIt is late."]


def test_a_summary_is_a_compaction() -> None:
    path = DIRECTORY / "compaction.json"
    assert conversation(path)[2:] == [
        ("The user asked for the files.", None),
        user("Go on."),
        assistant("No key.", model=MODEL, meta=True),
    ]
    assert header_of(OPENCODE, path, records_of(path))["parent_session"] == "ses_48c1f0a2bffeX1"


def test_who_speaks() -> None:
    assert speakers(EXPORT) == ["meta", "user", "assistant", "assistant"]
    assert speakers(STORAGE) == [
        *("meta", "meta", "meta", "meta", "user", "meta", "user", "meta"),
        *("assistant", "assistant", "assistant", "meta", "assistant", "meta", "meta"),
    ]


def test_a_revert_hides_the_messages_that_it_took_back() -> None:
    document = json.loads(EXPORT.read_bytes())
    document["info"]["revert"] = {"messageID": "msg_02"}
    found = OPENCODE.fold(read(OPENCODE, json.dumps(document).encode()))
    assert [entry.id for entry in found] == ["msg_01", "msg_01/1"]


def test_the_messages_of_an_export_that_is_cut_are_shown() -> None:
    whole = EXPORT.read_bytes()
    found = OPENCODE.fold(read(OPENCODE, whole.rstrip()[:-1]))
    assert [entry.id for entry in found] == [entry.id for entry in OPENCODE.fold(read(OPENCODE, whole))] != []


def test_a_call_without_a_result_has_none() -> None:
    document = json.loads(EXPORT.read_bytes())
    document["messages"][1]["parts"][2]["state"] = {"status": "running", "input": {"command": "ls"}}
    found = OPENCODE.fold(read(OPENCODE, json.dumps(document).encode()))
    assert [entry.message.get("tool_call_id") for entry in found if entry.message["role"] == "tool"] == ["call_2"]


def test_the_file_of_a_message_is_no_transcript() -> None:
    path = next((DIRECTORY / "storage" / "message").rglob("*.json"))
    assert recognise(path.read_bytes(), path.name) is None


def test_a_session_file_alone_is_a_session_without_messages() -> None:
    records = read(OPENCODE, STORAGE.read_bytes())
    assert recognise(STORAGE.read_bytes(), "a.json") is OPENCODE
    assert OPENCODE.fold(records) == []
    assert header_of(OPENCODE, STORAGE, records)["id"] == "ses_48c1f0a2bffeX1"
