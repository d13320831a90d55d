"""Numbers for texts, against a dict."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from gitsession.numbering import Numbering

# From few characters, so that many come again; lone surrogates too.
texts = st.lists(st.text(st.characters(codec=None, categories=("Lu", "Cs")), max_size=3))


@given(texts, st.text(max_size=3))
def test_it_numbers_as_a_dict_would(added: list[str], other: str) -> None:
    numbering = Numbering()
    known: dict[str, int] = {}
    for text in added:
        assert known.setdefault(text, len(known)) == numbering.add(text)
    assert len(known) == len(numbering)
    assert known == {text: numbering.find(text) for text in known}
    assert (other in known) == (other in numbering)


def test_it_grows_without_losing_a_text() -> None:
    numbering = Numbering()
    assert list(range(5000)) == [numbering.add(f"text {number}") for number in range(5000)]
    assert list(range(5000)) == [numbering.find(f"text {number}") for number in range(5000)]
    assert numbering.find("text 5000") is None


def test_it_takes_a_few_bytes_a_text() -> None:
    tracemalloc.start()
    try:
        numbering = Numbering()
        for number in range(20_000):
            numbering.add(f"a text that is longer than what is kept of it, {number}")
        assert tracemalloc.get_traced_memory()[0] < 40 * 20_000
    finally:
        tracemalloc.stop()
