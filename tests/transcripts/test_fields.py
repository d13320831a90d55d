"""Looking into JSON values of any shape."""

import pytest

from gitsession.transcripts import fields


@pytest.mark.parametrize("value", [None, [], "text", 1, {}, {"a": None}])
def test_what_is_not_there_is_a_plain_nothing(value: object) -> None:
    assert (fields.text(value, "a"), fields.mapping(value, "a"), fields.items(value, "a")) == ("", {}, [])
    assert fields.integer(value, "a") is None


def test_a_boolean_is_no_integer() -> None:
    assert (fields.integer({"a": True}, "a"), fields.integer({"a": 1}, "a")) == (None, 1)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-03-02T09:00:03.111Z", "2026-03-02T09:00:03.111Z"),
        ("2026-03-02T09:00:03+01:00", "2026-03-02T09:00:03+01:00"),
        ("2026-03-02 09:00:03", "2026-03-02T09:00:03Z"),
        ("2026-03-02T09:00:03", "2026-03-02T09:00:03Z"),
        (1_772_442_003, "2026-03-02T09:00:03.000Z"),
        (1_772_442_003_111, "2026-03-02T09:00:03.111Z"),
        ("yesterday", None),
        ("2026-13-02T09:00:03Z", None),
        ("2026-03-02", None),
        (1e300, None),
        (float("nan"), None),
        (10**400, None),
        (True, None),
        (None, None),
        ([], None),
    ],
)
def test_times_become_rfc_3339(value: object, expected: str | None) -> None:
    assert fields.time(value) == expected


def test_one_line_has_no_controls_and_an_end() -> None:
    assert fields.one_line("a\n\tb\x1b[0m \u202ec\u2028d") == "a b [0m c d"
    assert fields.one_line("x" * 200, 10) == "x" * 9 + "…"


def test_a_header_without_news_stays_the_same_object() -> None:
    header = {"a": 1}
    assert fields.changed(header, a=1, b=None) is header
    assert fields.changed(header, b=2) == {"a": 1, "b": 2}
