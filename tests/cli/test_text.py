"""Text on its way to a terminal."""

import pytest
from gitsession_cli.conversation import arguments
from gitsession_cli.text import clip, count, harmless, one_line, pad, size, width
from hypothesis import given
from hypothesis import strategies as st

from gitsession import Part


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain\n\ttext", "plain\n\ttext"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("bell\x07 nul\x00 del\x7f csi\x9b", r"bell\x07 nul\x00 del\x7f csi\x9b"),
        ("a\r\nb\rc", "a\nb\\rc"),
        ("half \ud83d", r"half \ud83d"),
        ("turned \u202eabc", r"turned \u202eabc"),
        ("line\u2028separator", r"line\u2028separator"),
        ("日本語 é 👩\u200d💻", "日本語 é 👩\u200d💻"),
    ],
)
def test_only_what_steers_a_terminal_is_escaped(text: str, expected: str) -> None:
    assert harmless(text) == expected


@given(st.text(st.characters()))
def test_one_line_is_one_line_and_can_be_encoded(text: str) -> None:
    shown = one_line(text)
    assert len(shown.splitlines()) <= 1
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in shown)
    assert shown.encode().decode() == shown


@pytest.mark.parametrize(("text", "expected"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("👩", 2), ("", 0)])
def test_a_width_is_counted_in_columns(text: str, expected: int) -> None:
    assert width(text) == expected


@given(st.text(), st.integers(0, 40))
def test_a_clipped_text_fits(text: str, columns: int) -> None:
    text = one_line(text)
    assert width(clip(text, columns)) <= columns
    assert width(pad(clip(text, columns), columns)) == columns


def test_a_text_that_fits_is_not_clipped() -> None:
    assert clip("abcdef", 6) == "abcdef"
    assert clip("abcdefg", 6) == "abc..."
    assert clip("日本語日本語", 8) == "日本..."
    assert clip("abcdefg", 2) == ".."


def test_numbers_are_written_for_reading() -> None:
    assert [count(1, "session"), count(2000, "session")] == ["1 session", "2,000 sessions"]
    assert [size(n) for n in (1, 999, 1000, 12_400, 5_000_000, 2_000_000_000_000)] == [
        "1 byte",
        "999 bytes",
        "1.0 KB",
        "12.4 KB",
        "5.0 MB",
        "2000.0 GB",
    ]


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ('{"input":"a\\nb"}', "a\nb"),
        ('{"input":"a","b":1}', '{"input":"a","b":1}'),
        ('{"input":1}', '{"input":1}'),
        ('{"input":', '{"input":'),
    ],
)
def test_a_text_that_a_tool_is_called_with_is_shown_as_it_is(call: str, shown: str) -> None:
    assert arguments(Part("tool_call", call, "apply_patch")).text == shown
    assert arguments(Part("text", call)).text == call
