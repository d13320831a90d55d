"""Sessions for opencode: forks of its own, of documents and of folders, and those of others."""

import json
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import pytest
from compositions import composed, draft, stored, whole
from transcript_files import FIXTURES

from gitsession.model import CompactionEntry, MessageEntry
from gitsession.transcripts import FORMATS, Record
from gitsession.transcripts.opencode_compose import compose

OPENCODE = FORMATS["opencode"]
FOLDER = FIXTURES / "opencode" / "storage" / "session" / "9d3f6c" / "ses_48c1f0a2bffeX1.json"


def fixture(name: str) -> list[Record]:
    (path,) = (FIXTURES / "opencode").rglob(name)
    return stored(path)


def entry(own: str, **message: Any) -> MessageEntry:
    return MessageEntry(message, id=own, timestamp="2026-03-03T09:00:00Z")


def made(records: Sequence[Record] = (), entries: Sequence[Any] = (), **fields: Any) -> Any:
    return json.loads(b"".join(composed(OPENCODE, records, entries, **fields).lines))


def ids(document: Any) -> list[str]:
    """Returns the ids of messages and parts in their order, each without its kind."""
    found = []
    for message in document["messages"]:
        found += [message["info"]["id"], *(part["id"] for part in message["parts"])]
    return [one.partition("_")[2] for one in found]


def test_a_fork_has_the_messages_of_its_origin_under_new_ids() -> None:
    records = fixture("export.json")
    info, messages = made(records, title="Files").values()
    assert info["id"].startswith("ses_")
    assert (info["title"], info["slug"], info["summary"]) == (
        "Files (fork)",
        info["id"],
        records[0].value["info"]["summary"],
    )
    assert len(messages) == len(records) - 1
    asked = messages[0]["info"]["id"]
    for message, record in zip(messages, records[1:], strict=True):
        own = message["info"]["id"]
        news = {"id": own, "sessionID": info["id"]}
        parents = {"parentID": asked} if "parentID" in record.value["info"] else {}
        assert message["info"] == {**record.value["info"], **news, **parents}
        for part, before in zip(message["parts"], record.value["parts"], strict=True):
            assert part == {**before, "id": part["id"], "sessionID": info["id"], "messageID": own}


def test_ids_ascend_as_the_agents_do_and_newer_sessions_come_first() -> None:
    many = [entry(f"e{number}", role="user", content="a") for number in range(5000)]
    document = made(fixture("export.json"), many)
    found = ids(document)
    assert found == sorted(set(found))
    assert {len(one) for one in found} == {26}
    later = made((), [MessageEntry({"role": "user", "content": "a"}, id="e", timestamp="2026-03-04T00:00:00Z")])
    assert later["info"]["id"] < document["info"]["id"]


def test_times_do_not_go_back() -> None:
    back = MessageEntry({"role": "user", "content": "b"}, id="e2", timestamp="2020-01-01T00:00:00Z")
    _, messages = made((), [entry("e1", role="user", content="a"), back]).values()
    first, second = [message["info"]["time"]["created"] for message in messages]
    assert first == second


def test_what_a_revert_hides_is_not_forked() -> None:
    first, *others = fixture("export.json")
    info = {**first.value["info"], "revert": {"messageID": "msg_03"}, "share": {"url": "x"}, "parentID": "ses_0"}
    document = made([Record(b"", {**first.value, "info": info}, id=first.id), *others])
    assert len(document["messages"]) == 2
    assert not {"revert", "share", "parentID"} & document["info"].keys()


def test_messages_have_the_agents_shape() -> None:
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
        for n in range(3)
    ]
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}
    entries = [
        entry("e1", role="system", content="Be brief."),
        entry("e2", role="user", content=[{"type": "text", "text": "Look"}, image]),
        entry("e3", role="assistant", content="I look.", reasoning="hm", tool_calls=calls, model="m"),
        entry("e4", role="tool", content="no", tool_call_id="c1", name="read", is_error=True),
        entry("e5", role="tool", content="yes", tool_call_id="c0", name="read"),
        CompactionEntry("so far", "e2", id="k", timestamp="2026-03-03T09:00:01Z"),
    ]
    info, messages = made((), entries).values()
    assert info["title"] == "Imported session"
    system, prompt, answer, asked, summary = messages
    assert {**system["parts"][0], "id": ""}.items() >= {"text": "Be brief.", "synthetic": True}.items()
    assert prompt["parts"][1].items() >= {"type": "file", "mime": "image/png", "url": image["image_url"]["url"]}.items()
    assert (answer["info"]["parentID"], answer["info"]["modelID"]) == (prompt["info"]["id"], "m")
    thought, said, given, failed, waiting = answer["parts"]
    assert (thought["type"], thought["text"], said["text"]) == ("reasoning", "hm", "I look.")
    assert (given["state"]["status"], given["state"]["output"], given["state"]["input"]) == (
        *("completed", "yes"),
        {"path": "a"},
    )
    assert (failed["state"]["status"], failed["state"]["error"]) == ("error", "no")
    assert waiting["state"] == {"status": "pending", "input": {"path": "a"}, "raw": ""}
    assert asked["parts"][0].items() >= {"type": "compaction", "tail_start_id": prompt["info"]["id"]}.items()
    assert (summary["info"]["summary"], summary["info"]["parentID"]) == (True, asked["info"]["id"])
    assert summary["parts"][0]["text"] == "so far"


def test_it_is_imported_and_then_resumed() -> None:
    found = compose(draft(OPENCODE))
    own = found.path.stem
    assert (found.path.parts[0], found.path.suffix) == ("import", ".json")
    assert found.prepare is not None
    assert found.resume is not None
    assert found.prepare(PurePath("/d/x.json")) == ("opencode", "import", "/d/x.json")
    assert found.resume(PurePath("/d/x.json")) == ("opencode", "--session", own)


@pytest.mark.parametrize("own", ["..", "../../x", "/etc", "--yolo", "ses_a/b"])
def test_an_id_that_could_be_something_else_is_not_used(own: str) -> None:
    found = compose(whole(OPENCODE, fixture("export.json"), own))
    assert found.rewritten
    assert found.path == compose(draft(OPENCODE, fixture("export.json"))).path


def test_a_whole_document_keeps_its_id_and_a_folder_gets_a_new_one() -> None:
    found = compose(whole(OPENCODE, fixture("export.json"), "ses_48c1f0a2bffeX1"))
    assert (found.path, found.rewritten) == (PurePath("import", "ses_48c1f0a2bffeX1.json"), False)
    folder = compose(whole(OPENCODE, stored(FOLDER), "ses_48c1f0a2bffeX1"))
    assert folder.rewritten
    assert folder.path.stem == json.loads(b"".join(folder.lines))["info"]["id"]
