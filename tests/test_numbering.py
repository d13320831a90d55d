"""Numbers for texts, against a dict."""

import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsession.columns import Scratch
from gitsession.numbering import Numbering, _Buckets
from gitsession.repo.scratch import ScratchFile
from tests.scratches import used_at_once

# From few characters, so that many come again; lone surrogates too.
texts = st.lists(st.text(st.characters(codec=None, categories=("Lu", "Cs")), max_size=3))


@given(texts, st.text(max_size=3))
def test_it_numbers_as_a_dict_would(added: list[str], other: str) -> None:
    with used_at_once() as scratch:
        for numbering in (Numbering(), Numbering(scratch)):
            known: dict[str, int] = {}
            for text in added:
                assert known.setdefault(text, len(known)) == numbering.add(text)
            assert len(known) == len(numbering)
            assert known == {text: numbering.find(text) for text in known}
            assert (other in known) == (other in numbering)


def test_it_grows_without_losing_a_text() -> None:
    many = 100_000
    numbering = Numbering(Scratch())
    assert list(range(many)) == [numbering.add(f"text {number}") for number in range(many)]
    assert list(range(many)) == [numbering.find(f"text {number}") for number in range(many)]
    assert numbering.find(f"text {many}") is None


def test_what_stands_across_two_digests_is_none() -> None:
    first, second = bytes(8) + b"abcdefgh", bytes(8) + b"ijklmnop"
    buckets = _Buckets(Scratch())
    buckets.add({first: 1, second: 2})
    across = bytes(3) + second[:13]  # the end of the first one's number, and the beginning of the second
    assert [buckets.find(digest) for digest in (first, second, across)] == [1, 2, None]
    buckets.add({across: 3})
    assert [buckets.find(digest) for digest in (first, second, across)] == [1, 2, 3]


def test_it_takes_no_more_memory_for_more_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitsession.numbering._RECENT", 1000)
    monkeypatch.setattr("gitsession.repo.scratch._IN_MEMORY", 0)
    with closing(ScratchFile(tmp_path)) as scratch:
        numbering = Numbering(scratch)
        most = []
        tracemalloc.start()
        try:
            for many in (3000, 12_000):
                for number in range(len(numbering), many):
                    numbering.add(f"text {number}")
                most.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert most[1] - most[0] < 20_000
