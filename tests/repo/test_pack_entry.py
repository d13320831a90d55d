from hypothesis import given
from hypothesis import strategies as st

from gitsession.repo import pack_entry


def applied(delta: bytes, base: bytes) -> bytes:
    """Applies a delta as gitformat-pack says."""

    def size() -> int:
        nonlocal place
        value = shift = 0
        while True:
            byte = delta[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value

    place, result = 0, b""
    assert size() == len(base)
    wanted = size()
    while place < len(delta):
        operation = delta[place]
        place += 1
        if operation & 0x80:
            numbers = []
            for bits in ((1, 2, 4, 8), (16, 32, 64)):
                number = 0
                for shift, bit in enumerate(bits):
                    if operation & bit:
                        number |= delta[place] << 8 * shift
                        place += 1
                numbers.append(number)
            result += base[numbers[0] : numbers[0] + (numbers[1] or 0x10000)]
        else:
            assert operation
            result += delta[place : place + operation]
            place += operation
    assert wanted == len(result)
    return result


@given(st.integers(0, 65_000), st.binary(max_size=300), st.binary(max_size=300), st.binary(max_size=300))
def test_a_delta_gives_the_content_from_its_base(common: int, end: bytes, other: bytes, tail: bytes) -> None:
    beginning = (b"%d," % common) * (common // 6)
    base, content = beginning + end + tail, beginning + other + tail

    delta = pack_entry.find_delta(base, content)

    if delta is not None:
        assert content == applied(delta, base)
        assert len(delta) < len(content) // 2
    assert delta is not None or len(content) < 2000 or len(base) > 65_535


def test_a_delta_holds_no_more_than_what_is_between_the_ends() -> None:
    base, content = b"a" * 100 + b"1" * 20 + b"z" * 100, b"a" * 100 + b"2" * 20 + b"z" * 100

    delta = pack_entry.find_delta(base, content)

    assert delta is not None
    assert len(delta) == 2 + 2 + 3 + 21 + 5


def test_there_is_no_delta_against_what_is_larger_than_a_tree_gets() -> None:
    assert pack_entry.find_delta(b"a" * 65_536, b"a" * 65_537) is None


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_the_common_length_is_that_of_an_equal_beginning(a: bytes, b: bytes) -> None:
    length = pack_entry._common_length(a, b)

    assert a[:length] == b[:length]
    assert length >= len(a) - 20 or length == len(b) or a[length] != b[length]
