"""The conversation of a fork that holds only what came after it begins with what it inherits."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gitsession import CompactionEntry, MessageEntry, Store, build_context, export_transcript, new_commit
from gitsession.model import SessionEntry
from tests.importing import original, take, take_bytes

A, B, C = (f"{digit * 8}-1111-7222-8333-444444444444" for digit in "abc")
Base = tuple[str, int]


def rollout(name: str, turns: Sequence[str], base: Base | None = None, *, numbered: bool = True) -> bytes:
    """Returns a rollout of Codex: its header, and of each turn a prompt and an answer; `<N` takes N turns back."""
    start = base[1] if base else 0
    meta: dict[str, Any] = {"id": name, "timestamp": "2026-03-02T09:00:00Z", "history_mode": "paginated"}
    if base:
        meta["history_base"] = {"thread_id": base[0], "end_ordinal_exclusive": start, "end_byte_offset": 1}
    payloads: list[tuple[str, dict[str, Any]]] = [("session_meta", meta)]
    for turn in turns:
        if turn.startswith("<"):
            payloads.append(("event_msg", {"type": "thread_rolled_back", "num_turns": int(turn[1:])}))
            continue
        for role, kind, said in (("user", "input_text", turn), ("assistant", "output_text", f"re {turn}")):
            payloads.append(
                ("response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": said}]})
            )
    lines = []
    for number, (kind, payload) in enumerate(payloads, start):
        own = {"ordinal": number} if numbered else {}
        lines.append({"timestamp": f"2026-03-02T09:00:{number:02d}Z", **own, "type": kind, "payload": payload})
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


@pytest.fixture
def bring(store: Store, tmp_path: Path) -> Callable[..., None]:
    """Returns a function that imports a rollout."""

    def imported(name: str, turns: Sequence[str], base: Base | None = None, *, page: str = "", **how: bool) -> None:
        path = tmp_path / f"rollout-2026-03-02T09-00-00-{name}{page}.jsonl"
        take_bytes(store, rollout(name, turns, base, **how), path)

    return imported


def said(entries: Sequence[SessionEntry]) -> list[str]:
    return [one.summary if isinstance(one, CompactionEntry) else one.message["content"] for one in entries]  # type: ignore[union-attr]


def both(*turns: str) -> list[str]:
    return [said for turn in turns for said in (turn, f"re {turn}")]


Bring = Callable[..., None]


def test_a_fork_of_a_fork_begins_with_what_both_go_on_from(store: Store, bring: Bring) -> None:
    bring(C, ["c1"], (B, 8))
    bring(A, ["a1", "a2"])
    bring(B, ["b1", "b2"], (A, 5))
    whole = both("a1", "a2", "b1", "c1")
    assert said(store.load(C)) == whole
    assert store.missing_history(C) is None
    assert [message["content"] for message in store.messages(C)] == whole
    assert [message["content"] for message in build_context(store.load(C))] == whole
    assert [message["content"] for message in store.bind(C).load().messages] == whole
    assert said(store.load(C, last=3)) == whole[-3:]
    assert said(store.load(C, at="#1")) == [*both("a1", "a2", "b1"), "c1"]
    assert said(store.load(B)) == both("a1", "a2", "b1", "b2")
    made = export_transcript(store, C, "claude-code")
    written = b"".join(made.lines).decode()
    assert all(f'"{text}"' in written for text in whole)
    assert made.missing is None


def test_the_log_and_the_file_are_the_fork_alone(store: Store, bring: Bring) -> None:
    bring(A, ["a1"])
    bring(B, ["b1", "b2"], (A, 3))
    file = rollout(B, ["b1", "b2"], (A, 3))
    assert original(store, B) == file == b"".join(export_transcript(store, B, "codex").lines)
    assert len(list(store.transcript(B))) == 5
    forked = export_transcript(store, B, "codex", at="#2")
    assert not forked.whole
    assert b'"history_base"' in next(iter(forked.lines))


def test_what_is_inherited_ends_where_the_fork_goes_on(store: Store, bring: Bring) -> None:
    bring(A, ["a1", "a2", "a3"])
    bring(B, ["b1", "b2"], (A, 5))
    bring(C, ["c1"], (B, 3))  # it goes on from within what B inherits
    assert said(store.load(B)) == both("a1", "a2", "b1", "b2")
    assert said(store.load(C)) == both("a1", "c1")


def test_a_fork_takes_back_what_it_inherits(store: Store, bring: Bring) -> None:
    bring(A, ["a1", "a2"])
    bring(B, ["<1", "b1"], (A, 5))
    assert said(store.load(B)) == both("a1", "b1")


def test_records_without_numbers_are_counted(store: Store, bring: Bring) -> None:
    bring(A, ["a1", "a2"], numbered=False)
    bring(B, ["b1"], (A, 3), numbered=False)
    bring(C, ["c1"], (B, 6), numbered=False)
    assert said(store.load(C)) == both("a1", "b1", "c1")


def test_what_was_appended_to_the_session_before_is_not_inherited(store: Store, bring: Bring) -> None:
    bring(A, ["a1"])
    store.append(A, MessageEntry({"role": "user", "content": "here"}))
    bring(B, ["b1"], (A, 9))
    assert said(store.load(B)) == both("a1", "b1")


def test_a_fork_here_goes_on_from_the_same(store: Store, bring: Bring) -> None:
    bring(A, ["a1"])
    bring(B, ["b1"], (A, 3))
    store.fork(B, "mine")
    session = store.bind("mine")
    committed = session.commit(new_commit(session.load().head, [{"role": "user", "content": "more"}]))
    assert [message["content"] for message in committed.messages] == [*both("a1", "b1"), "more"]
    assert [message["content"] for message in store.messages("mine")] == [*both("a1", "b1"), "more"]


def test_what_comes_later_is_inherited_then(store: Store, bring: Bring) -> None:
    bring(B, ["b1"], (A, 3))
    bound = store.bind(B)
    assert len(bound.load().messages) == 2
    before = export_transcript(store, B, "pi")
    bring(A, ["a1"])
    assert [message["content"] for message in bound.load().messages] == both("a1", "b1")
    assert export_transcript(store, B, "pi").path != before.path


def test_a_session_of_several_files_is_found_by_the_last_part_of_its_name(store: Store, bring: Bring) -> None:
    bring(C, ["a1"], page=f"_{A}")
    bring(B, ["b1"], (A, 3))
    assert said(store.load(B)) == both("a1", "b1")
    bring(B, ["a1"], page=f"_{A}")
    assert str(store.missing_history(B)) == f"history of {A}, which is not in the store"


@pytest.mark.parametrize(
    ("sessions", "shown", "why"),
    [
        ([], ["c1"], "which is not in the store"),
        ([(B, ["b1"], (C, 3))], ["b1", "c1"], "which goes on from itself"),
        ([(B, ["b1"], (B, 3))], ["b1", "c1"], "which goes on from itself"),
        ([(B, ["b1"], (A, 2)), (A, ["a1"], (B, 3))], ["b1", "c1"], "which goes on from itself"),
        ([(B, [], (A, 5)), (A, ["a1"], None)], ["a1", "c1"], "of which the store has only the beginning"),
        ([(B, ["b1"], (A, 5))], ["b1", "c1"], "which is not in the store"),
    ],
    ids=["absent", "circle", "itself", "circle elsewhere", "cut short", "absent further back"],
)
def test_what_is_missing_is_told(
    store: Store, bring: Bring, sessions: list[tuple[str, list[str], Base | None]], shown: list[str], why: str
) -> None:
    bring(C, ["c1"], (B, 8))
    for session in sessions:
        bring(*session)
    assert said(store.load(C))[-2:] == both("c1")
    assert {turn for turn in said(store.load(C)) if not turn.startswith("re ")} <= set(shown)
    missing = store.missing_history(C)
    assert missing is not None
    assert str(missing).endswith(why)
    assert export_transcript(store, C, "claude-code").missing == missing
    assert export_transcript(store, C, "codex").missing is None


def test_a_session_that_cannot_be_read_is_missing(store: Store, bring: Bring) -> None:
    bring(A, ["a1"])
    bring(B, ["b1"], (A, 3))
    tree = store.reader.state(A, store.reader.tip(A)).commit.tree
    oid = store.reader.objects.write("blob", b"no commit")
    assert tree != oid
    (store.path / "refs" / "heads" / A).write_text(f"{oid}\n")
    assert str(Store.open(store.path).missing_history(B)) == f"history of {A}, which cannot be read"


@pytest.mark.parametrize("origin", [None, "A", {}, {"thread_id": B}, {"thread_id": B, "end_ordinal_exclusive": True}])
def test_an_origin_that_names_no_end_is_not_followed(store: Store, tmp_path: Path, origin: object) -> None:
    path = tmp_path / f"rollout-2026-03-02T09-00-00-{A}.jsonl"
    meta = {"id": A, "history_base": origin, "forked_from_id": B}
    path.write_text(json.dumps({"type": "session_meta", "payload": meta}) + "\n")
    take(store, path)
    assert store.missing_history(A) is None
