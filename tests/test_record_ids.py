from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsession.layout import encode_commit_id
from gitsession.record_ids import RecordIds
from gitsession.transcripts.base import Record
from tests.scratches import used_at_once


def taken(*own: str | None) -> list[str]:
    """Returns the commit ids of records, which are the same in scratch space."""

    def given_by(ids: RecordIds) -> list[str]:
        return [ids.take(number, Record(b"raw %d" % number, id=one)) for number, one in enumerate(own)]

    found = given_by(RecordIds())
    with used_at_once() as scratch:
        assert found == given_by(RecordIds(scratch))
    return found


def made(number: int) -> str:
    return f"r{number}-{sha256(b'raw %d' % number).hexdigest()[:12]}"


def test_a_record_keeps_its_id() -> None:
    assert taken("a", "b", "Ä/ö") == ["a", "b", "Ä/ö"]


def test_an_id_that_comes_again_gets_a_number() -> None:
    assert taken("a", "a", "b", "a") == ["a", "a.2", "b", "a.3"]


def test_a_number_that_is_another_records_id_is_passed_over() -> None:
    assert taken("a", "a.2", "a", "a.2") == ["a", "a.2", "a.3", "a.2.2"]


@pytest.mark.parametrize("own", [None, "", "x" * 191, "ä" * 32, "\ud800"])
def test_an_id_that_is_missing_or_too_long_is_made_of_place_and_content(own: str | None) -> None:
    assert ["a", made(1)] == taken("a", own)


def test_a_long_id_leaves_room_for_its_number() -> None:
    assert taken("x" * 190, "x" * 190) == ["x" * 190, "x" * 190 + ".2"]


def test_equal_records_without_an_id_differ_by_their_place() -> None:
    ids = RecordIds()
    assert ids.take(0, Record(b"same")) != ids.take(1, Record(b"same"))


@given(st.lists(st.one_of(st.none(), st.sampled_from(["a", "a.2", "a.3", "b"]), st.text(max_size=4))))
def test_all_ids_are_unique_and_can_be_file_names(own: list[str | None]) -> None:
    ids = taken(*own)

    assert len(own) == len(set(ids))
    assert all(encode_commit_id(one) for one in ids)


def test_many_equal_ids_take_no_longer_than_others() -> None:
    assert taken(*["a"] * 20_000)[-1] == "a.20000"
