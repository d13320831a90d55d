"""Columns of numbers, against a list."""

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsession.columns import IN_MEMORY, Scratch, column
from tests.scratches import used_at_once

# What is done to a column: the kind, and a place and a number for those that need one.
steps = st.lists(st.tuples(st.sampled_from("gsapi"), st.integers(0, 40), st.integers(-5, 300)), max_size=60)


def do(found: object, steps: list[tuple[str, int, int]]) -> list[object]:
    """Does the steps to a column, or to a list, and returns what comes of them."""
    told: list[object] = []
    for kind, place, number in steps:
        if kind == "a":
            found.append(number)
        elif kind == "i":
            told.append(list(found))
        elif len(found):
            if kind == "p":
                told.append(found.pop())
            elif kind == "s":
                found[place % len(found)] = number
            else:
                told.append(found[place % len(found)])
    return [*told, len(found), list(found)]


@given(steps, st.integers(0, 20), st.integers(-1, 1))
def test_it_is_as_a_list_would_be(steps: list[tuple[str, int, int]], length: int, fill: int) -> None:
    with used_at_once() as scratch:
        paged = column(scratch, "i", length, fill)
        other = column(scratch, "q", length, fill)  # whose pages lie between those of the first
        assert do([fill] * length, steps) == do(paged, steps)
        assert do([fill] * length, steps) == do(other, steps)
    assert do([fill] * length, steps) == do(column(None, "i", length, fill), steps)


def test_only_a_long_one_takes_scratch_space() -> None:
    scratch = Scratch()
    for length, most in ((IN_MEMORY, 0), (0, IN_MEMORY)):
        short = column(scratch, "i", length, most=most)
        short.append(1)
        assert list(short) == [0] * length + [1]
    assert scratch.reserve(0) == 0


def test_numbers_far_apart_come_back() -> None:
    many = 300_000
    found = column(Scratch(), "Q", many, 7)
    places = random.Random(1).sample(range(many), 2000)
    for place in places:
        found[place] = place << 32
    assert [found[place] for place in places] == [place << 32 for place in places]
    assert sum(number != 7 for number in found) == len(places) - places.count(0)


@pytest.mark.parametrize("code", ["B", "i", "Q"])
def test_little_of_a_long_one_is_in_memory(code: str) -> None:
    class Elsewhere(Scratch):
        """Forgets what is written, which nobody reads here."""

        def write(self, place: int, content: bytes) -> None: ...

    tracemalloc.start()
    try:
        found = column(Elsewhere(), code, 2_000_000)
        for place in range(0, 2_000_000, 1000):
            found[place] = 1
        assert tracemalloc.get_traced_memory()[1] < 500_000
    finally:
        tracemalloc.stop()
