"""modular-agent's sessions."""

from transcript_files import FIXTURES, header_of, read, records_of

from gitsession.model import CompactionEntry, MessageEntry, UnknownEntry, build_context
from gitsession.transcripts import FORMATS, recognise

MODULAR_AGENT = FORMATS["modular-agent"]
SIMPLE = FIXTURES / "modular-agent" / "simple.jsonl"
COMPACTION = FIXTURES / "modular-agent" / "compaction.jsonl"


def test_the_header_line_is_the_header() -> None:
    assert header_of(MODULAR_AGENT, COMPACTION, records_of(COMPACTION)) == {
        "id": "9b1d6c1e-52a5-4f0e-8a52-6a1f33f0a002",
        "created_at": "2026-03-02T11:00:00Z",
        "purpose": "kept as it is",
        "parent_session": "9b1d6c1e-52a5-4f0e-8a52-6a1f33f0a001",
        "agent": "modular-agent",
        "title": "One",
    }


def test_the_entries_are_those_of_the_file() -> None:
    entries = MODULAR_AGENT.fold(records_of(COMPACTION))
    assert [entry.id for entry in entries] == ["e1", "e2", "k1", "l1", "e3"]
    assert entries[1] == MessageEntry(
        {"role": "assistant", "content": "1"}, id="e2", parent_id="e1", timestamp="2026-03-02T11:00:02Z"
    )
    assert entries[2] == CompactionEntry(
        "The user counts.", "e2", 1200, id="k1", parent_id="e2", timestamp="2026-03-02T11:00:03Z"
    )
    label = {"type": "label", "label": "of tomorrow", "id": "l1", "timestamp": "2026-03-02T11:00:04Z"}
    assert entries[3] == UnknownEntry(label, "l1", "2026-03-02T11:00:04Z")


def test_the_context_is_built_from_the_compaction() -> None:
    texts = [message["content"] for message in build_context(MODULAR_AGENT.fold(records_of(COMPACTION)))]
    assert texts == ["[Conversation summary]\nThe user counts.", "1", "Two"]


def test_who_speaks() -> None:
    assert [MODULAR_AGENT.view(record).who for record in records_of(SIMPLE)] == [
        "meta",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


def test_a_header_with_only_an_id_will_do() -> None:
    content = b'{"id":"s"}\n{"type":"message","id":"e1","message":{"role":"user","content":"hi"}}\n'
    assert recognise(content, "a.jsonl") is MODULAR_AGENT
    assert MODULAR_AGENT.header(SIMPLE, read(MODULAR_AGENT, content)[0])["id"] == "s"


def test_a_session_without_entries_is_one() -> None:
    assert recognise(b'{"id":"s","version":1,"created_at":"2026-03-02T11:00:00Z"}\n', "a.jsonl") is MODULAR_AGENT


def test_entries_of_pi_are_none() -> None:
    content = b'{"id":"s"}\n{"type":"message","id":"e1","parentId":null,"message":{"role":"user"}}\n'
    assert recognise(content, "a.jsonl") is None
