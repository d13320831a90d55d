"""The context that a model is shown: a compaction changes how it is built, and nothing that is stored."""

import pytest

from gitsession import CompactionEntry, MessageEntry, SessionEntry, SessionMeta, Store, UnknownEntry, build_context


def message(text: str, entry_id: str) -> MessageEntry:
    return MessageEntry({"role": "user", "content": text}, id=entry_id)


def texts(entries: list[SessionEntry]) -> list[str]:
    return [found["content"] for found in build_context(entries)]


A, B, C, D = (message(text, text) for text in "abcd")


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], []),
        ([A, B], ["a", "b"]),
        ([A, UnknownEntry({"type": "note"}), B], ["a", "b"]),
        ([A, B, CompactionEntry("S", "b"), C], ["[Conversation summary]\nS", "b", "c"]),
        ([A, B, CompactionEntry("S", "a"), C], ["[Conversation summary]\nS", "a", "b", "c"]),
        ([A, B, CompactionEntry("S"), C, D], ["[Conversation summary]\nS", "c", "d"]),
        ([A, B, CompactionEntry("S", "nobody"), C, D], ["[Conversation summary]\nS", "c", "d"]),
        ([A, CompactionEntry("S", "c"), B, C, D], ["[Conversation summary]\nS", "c", "d"]),
        ([A, CompactionEntry("S", "a"), B, CompactionEntry("T", "b"), C], ["[Conversation summary]\nT", "b", "c"]),
        ([A, CompactionEntry("S", "a"), B, CompactionEntry("T", "a"), C], ["[Conversation summary]\nT", "a", "b", "c"]),
        ([A, CompactionEntry("S", id="x"), B, CompactionEntry("T", "x"), C], ["[Conversation summary]\nT", "c"]),
        ([CompactionEntry("")], ["[Conversation summary]\n"]),
    ],
)
def test_the_context_is_built_from_the_last_compaction(entries: list[SessionEntry], expected: list[str]) -> None:
    assert texts(entries) == expected


def test_the_summary_is_a_user_message() -> None:
    assert build_context([A, CompactionEntry("S")]) == [{"role": "user", "content": "[Conversation summary]\nS"}]


def test_a_context_is_built_from_what_was_stored(store: Store) -> None:
    store.create(SessionMeta("s"))
    for entry in (A, B, CompactionEntry("S", "b"), C):
        store.append("s", entry)
    assert texts(store.load("s")) == ["[Conversation summary]\nS", "b", "c"]
    assert store.bind("s").load().messages == [A.message, B.message, C.message]
