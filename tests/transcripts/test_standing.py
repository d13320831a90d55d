"""What stands of a transcript, against a list."""

from hypothesis import given
from hypothesis import strategies as st

from gitsession.transcripts.standing import NONE, Standing
from tests.scratches import used_at_once

# A name that is put at the end; one that is put where it stands; how many are taken away.
steps = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.sampled_from("abcdefg")),
        st.tuples(st.just("put"), st.sampled_from("abcdefg")),
        st.tuples(st.just("cut"), st.integers(0, 5)),
    ),
    max_size=40,
)


@given(steps)
def test_it_stands_as_in_a_list(steps: list[tuple[str, str | int]]) -> None:
    with used_at_once() as scratch:
        standing = Standing(scratch)
        known: list[tuple[str | int, int]] = []
        for place, (kind, what) in enumerate(steps):
            names = [name for name, _ in known]
            if kind == "append":
                standing.append(str(what), place)
                known.append((what, place))
            elif kind == "put":
                index = names.index(what) if what in names else len(known)
                assert standing.put(str(what), place) == index
                known[index : index + 1] = [(what, place)]
            else:
                end = max(len(known) - int(what), 0)
                assert standing.cut(end) == max((one for _, one in known[end:]), default=NONE)
                del known[end:]
            assert len(standing) == len(known)
            assert [standing.place(index) for index in range(-1, len(known))] == [NONE, *(one for _, one in known)]
            names = [name for name, _ in known]
            for name in "abcdefgh":
                assert standing.find(name) == (names.index(name) if name in names else None)
