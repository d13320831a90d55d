"""The list of sessions: what is kept between lists makes them quick, and never wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest

from gitsession import BrokenSession, MessageEntry, SessionCommit, SessionMeta, Store
from tests.stores import HELLO

METAS = [
    SessionMeta("plain"),
    SessionMeta("odd/名前 \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), title="ü\nx", agent="a"),
    SessionMeta("more", parent_session="plain", extra={"cwd": "/", "deep": {"n": [1, 2.5, None, 10**40]}}),
    SessionMeta("long", extra={"text": "x" * 20_000}),
]


@pytest.fixture
def filled(store: Store) -> Store:
    """Returns a store with sessions of all kinds."""
    for number, meta in enumerate(METAS):
        store.create(meta)
        for place in range(number):
            store.append(meta.id, MessageEntry(HELLO, id=f"{place}/ä", timestamp="2025-01-01T00:00:00Z"))
    store.fork("more", "fork")
    (store.path / "refs" / "heads" / "broken").write_text("0" * 39 + "1\n")
    return store


def cache(store: Store) -> Path:
    return store.path / "gitsession" / "cache" / "sessions"


def listed(store: Store) -> list[object]:
    found = [*Store.open(store.path).sessions()]
    return [one if not isinstance(one, BrokenSession) else (one.id, one.oid, str(one.error)) for one in found]


def test_a_list_says_the_same_with_what_was_kept_as_without(filled: Store) -> None:
    first = listed(filled)
    assert cache(filled).exists()
    assert first == listed(filled)
    assert [store_info for store_info in first if not isinstance(store_info, tuple)] == [
        filled.info(one.id) for one in filled.sessions() if not isinstance(one, BrokenSession)
    ]


def test_what_is_kept_is_used(store: Store) -> None:
    store.create(SessionMeta("a"))
    before = listed(store)
    for path in store.path.glob("objects/??/*"):
        path.unlink()
    assert before == listed(store)


def test_a_session_that_moved_is_read_anew(store: Store) -> None:
    store.bind("a").commit(SessionCommit("c", None, [HELLO]))
    listed(store)
    store.bind("a").commit(SessionCommit("d", "c", [HELLO]))
    assert [(one.id, one.deltas, one.head) for one in store.sessions()] == [("a", 2, "d")]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-30],
        lambda content: content.replace(b"plain", b"plane"),
        lambda content: b"",
        lambda content: b"\0" * len(content),
        lambda content: b"\n\n" + content + b"00000000",
        lambda content: content[5:] + content,
    ],
)
def test_a_damaged_file_changes_nothing(filled: Store, damage: Callable[[bytes], bytes]) -> None:
    before = listed(filled)
    cache(filled).write_bytes(damage(cache(filled).read_bytes()))
    assert before == listed(filled)
    assert before == listed(filled)


WRONG = {
    "nesting": lambda kept: b"[" * 200_000,
    "a long integer": lambda kept: b"[" + b"9" * 5000,
    "no list": lambda kept: b"{}",
    "too few": lambda kept: json.dumps(kept[:-1]).encode(),
    **{
        f"{wrong!r} for field {place}": lambda kept, place=place, wrong=wrong: json.dumps(
            [*kept[:place], wrong, *kept[place + 1 :]]
        ).encode()
        for place, wrongs in enumerate(
            [
                ["1", None, True, -1],
                [{}, 5],
                [None, 5, "now"],
                [7, None],
                ["1"],
                [[]],
                [{}],
                [1],
                [{}],
                [0],
                [[], "x", None],
            ]
        )
        for wrong in wrongs
    },
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_line_of_the_wrong_kind_is_none(wrong: str, store: Store) -> None:
    store.create(SessionMeta("a", title="A"))
    before = listed(store)
    sound = cache(store).read_bytes()
    oid, kept = sound[9:49], json.loads(sound[50:])
    text = oid + b" " + WRONG[wrong](kept)
    cache(store).write_bytes(b"%08x %b\n" % (crc32(text), text))
    assert before == listed(store)
    assert cache(store).read_bytes().endswith(sound)


def test_a_directory_in_its_place_is_borne_with(filled: Store) -> None:
    before = listed(filled)
    cache(filled).unlink()
    cache(filled).mkdir()
    assert before == listed(filled)


def test_the_file_does_not_grow_for_ever(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitsession.repo.tip_cache._SLACK", 5)
    store.create(SessionMeta("a"))
    for number in range(20):
        store.append("a", MessageEntry(HELLO, id=f"e{number}"))
        listed(store)
    assert len(cache(store).read_bytes().splitlines()) <= 8


def test_a_store_without_sessions_keeps_nothing(store: Store) -> None:
    assert listed(store) == []
    assert not cache(store).exists()
