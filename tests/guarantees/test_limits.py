"""The limits that FORMAT.md states are kept: what is over one is refused with both figures, and changes nothing.

`pytest -m slow tests/guarantees/test_limits.py`.
"""

from pathlib import Path

import pytest

from gitsession import (
    InvalidCommit,
    InvalidSessionId,
    MessageEntry,
    Messages,
    SessionCommit,
    SessionMeta,
    Store,
    verify,
)
from tests.stores import git_output

pytestmark = pytest.mark.slow

MEBIBYTE = 1024 * 1024
LIMIT = 128 * MEBIBYTE
AROUND = len('{"type":"message","message":{"text":""}}\n')


def test_the_largest_delta_is_taken_and_a_larger_one_refused_with_both_figures(store: Store) -> None:
    session = store.bind("s")
    message = {"text": "x" * (LIMIT - AROUND)}
    assert session.commit(SessionCommit("largest", None, [message])).head == "largest"
    message["text"] += "x"
    with pytest.raises(InvalidCommit, match=f"{LIMIT + 1:,} bytes; the limit is {LIMIT:,}"):
        session.commit(SessionCommit("larger", "largest", [message]))
    with pytest.raises(InvalidCommit, match=f"bytes; the limit is {LIMIT:,}"):
        store.append("s", MessageEntry(message, "larger"))
    with pytest.raises(InvalidCommit, match=f"bytes; the limit is {LIMIT:,}"):
        session.commit(SessionCommit("larger", "largest", [{"text": "x" * MEBIBYTE}] * 128))
    assert store.info("s").head == "largest"
    del message["text"]
    (found,) = Store.open(store.path).bind("s").load().messages
    assert len(found["text"]) == LIMIT - AROUND
    # Also once git has packed it.
    git_output(store.path, "repack", "-adq")
    (found,) = Store.open(store.path).bind("s").load().messages
    assert len(found["text"]) == LIMIT - AROUND


@pytest.mark.parametrize("character", ["a", "é", "/", "\N{GRINNING FACE}"])
def test_an_id_of_200_bytes_is_taken_and_a_longer_one_refused_with_both_figures(store: Store, character: str) -> None:
    encoded = {"a": 1, "é": 6, "/": 3, "\N{GRINNING FACE}": 12}[character]
    longest = character * (200 // encoded)
    longer = longest + character
    assert store.create(SessionMeta(longest)) == longest
    with pytest.raises(InvalidSessionId, match=f"{len(longer) * encoded} bytes.* 200"):
        store.create(SessionMeta(longer))
    with pytest.raises(InvalidSessionId, match=f"{len(longer) * encoded} bytes.* 200"):
        store.bind(longer)
    assert store.bind("s").commit(SessionCommit(longest, None, [{}])).head == longest
    with pytest.raises(InvalidCommit, match=f"{len(longer) * encoded} bytes.* 200"):
        store.bind("s").commit(SessionCommit(longer, longest, [{}]))
    assert [meta.id for meta in store.list() if meta.id != "s"] == [longest]
    assert store.bind("s").load().head == longest


def test_a_header_over_the_limit_is_refused_with_both_figures(store: Store) -> None:
    with pytest.raises(InvalidCommit, match=f"the limit is {MEBIBYTE:,}"):
        store.create(SessionMeta("s", title="x" * MEBIBYTE))
    assert store.list() == []


@pytest.mark.parametrize(
    ("timestamp", "seconds"),
    [
        ("1969-12-31T23:59:59Z", 0),
        ("0001-01-01T00:00:00Z", 0),
        ("9999-12-31T23:59:59.999999Z", 2**32 - 1),
        ("2106-02-07T06:28:16Z", 2**32 - 1),
        ("2026-02-31T00:00:00Z", None),
        ("yesterday", None),
        ("+292277026596-12-04T15:30:07Z", None),
        ("2026-01-01T00:00:00+99:99", None),
    ],
)
def test_a_time_out_of_gits_range_is_kept_in_the_data(store: Store, timestamp: str, seconds: int | None) -> None:
    store.create(SessionMeta("s", created_at=timestamp))
    store.append("s", MessageEntry({"n": 1}, "e", None, timestamp))
    (entry,) = Store.open(store.path).load("s")
    assert entry.timestamp == timestamp
    assert store.info("s").created_at == timestamp
    found = int(git_output(store.path, "log", "-1", "--format=%at", "s"))
    assert found == seconds if seconds is not None else 0 <= found < 2**32
    git_output(store.path, "fsck", "--strict")
    assert list(verify(store)) == []


def test_the_limits_are_those_that_the_format_states(store: Store) -> None:
    text = (Path(__file__).parents[2] / "gitsession" / "FORMAT.md").read_text(encoding="utf-8")
    table = text.partition("## Limits")[2].partition("\n## ")[0]
    for limit in ("200 bytes, encoded", "128 MiB", "4,300 digits", "200 in a message", "1 MiB"):
        assert limit in table
    assert Messages([{"n": 10**4299}])
