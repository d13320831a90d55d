"""A log that only grew goes on as its session, wherever it was cut when it was imported before."""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from gitsession import MessageEntry, Store, add_remote, import_transcripts, pieces, pull, scan, verify
from gitsession.transcripts.stored import decode_record
from tests.secrets_made_up import SECRETS

from .importing import TRANSCRIPTS, commits, line, new_store, original, prompt, take, take_bytes, talk, tips
from .transcripts.transcript_files import content_of, format_of, name_of, records_of

LINES = [one[:-1] for one in talk(5)]

# A log in each way in which a record may end: what is put between the records.
ENDS = {
    "lines": b"\n",
    "lines of DOS": b"\r\n",
    "lines with blanks before their ends": b" \t \n",
    "lines with blanks between": b"\n\n \n",
    "records on one line": b"",
    "records on one line with blanks between": b"  ",
    "elements that commas part": b",\n",
}
PRETTY = b"".join(json.dumps(json.loads(one), indent=1).encode() + b"\n" for one in LINES)


def contents(end: bytes) -> bytes:
    return end.join(LINES) + end.rstrip(b" \t") + b"\n"


def said(store: Store, session: str) -> list[object]:
    return [(message.get("role"), message.get("content")) for message in store.messages(session)]


def forget(store: Store) -> None:
    """Takes all that was derived from objects away."""
    shutil.rmtree(store.path / "gitsession")


def assert_grows_as_one(directory: Path, content: bytes, name: str, cuts: Sequence[int]) -> None:
    """Tests that a file which is imported at a length first is the session that it is when it is imported whole."""
    path = directory / name
    once = new_store(directory / "once.git")
    session = take_bytes(once, content, path).session
    for cut in cuts:
        store = new_store(directory / f"{cut}.git")
        path.write_bytes(content[:cut])
        list(import_transcripts(store, [path]))
        result = take_bytes(store, content, path)
        forget(store)
        again = take_bytes(store, content, path)

        around = (cut, content[max(0, cut - 20) : cut], content[cut : cut + 20])
        assert (result.session, result.rewritten_from) == (session, None), around
        assert tips(once).keys() >= tips(store).keys(), around
        if is_within_record(path, content[:cut]):
            assert tips(once).items() <= tips(store).items(), around
        assert original(store, session) == original(once, session), around
        assert said(store, session) == said(once, session), around
        assert (again.new_commits, again.session, again.problems) == (0, session, result.problems), around
        assert not list(verify(store))
        shutil.rmtree(store.path)


def is_within_record(path: Path, begun: bytes) -> bool:
    """Tells whether a file ends within a record, so that nothing of it is stored; of aider's nothing tells that."""
    return path.suffix != ".md" and not begun.rstrip(b" \t\r\n,").endswith(b"}")


def around_ends(content: bytes) -> list[int]:
    """Returns where a file may be cut near the end of a record, and a few places besides."""
    ends = {place + 1 for place, byte in enumerate(content) if byte in b"}\n"}
    near = {end + step for end in ends for step in (0, 1, 2) if content[end - 1 : end + 1] != b"}}"}
    return sorted(cut for cut in near | {*range(7, len(content), 397)} if 0 < cut < len(content))


@pytest.mark.parametrize("ends", ENDS)
def test_a_log_that_was_cut_near_the_end_of_a_record_goes_on_as_its_session(tmp_path: Path, ends: str) -> None:
    content = contents(ENDS[ends])
    second = content.index(LINES[1])
    last = content.index(LINES[4])

    cuts = [cut for cut in around_ends(content) if second < cut < last and cut % 397 != 7]

    assert len(cuts) > 9
    assert_grows_as_one(tmp_path, content, "abc.jsonl", cuts[1::3])


def test_a_value_over_several_lines_waits_for_its_end_wherever_it_is_cut(tmp_path: Path) -> None:
    store, path = new_store(tmp_path / "store.git"), tmp_path / "abc.jsonl"
    first = PRETTY.index(b"\n}\n") + 3

    cuts = range(first + 1, first + PRETTY[first:].index(b"\n}") + 1)
    waits = [take_bytes(store, PRETTY[:cut], path) for cut in cuts]

    assert {(one.unfinished, len(one.problems)) for one in waits} == {(True, 0)}
    assert (take_bytes(store, PRETTY, path).rewritten_from, len(commits(store, "abc"))) == (None, 5)


def _logs() -> Iterator[Path]:
    for path in TRANSCRIPTS:
        if path.suffix in (".jsonl", ".md") and format_of(path).growth(records_of(path)[0]) == "log":
            yield path


LOGS = list(_logs())


@pytest.mark.slow
@pytest.mark.parametrize("path", LOGS, ids=map(name_of, LOGS))
def test_every_fixture_goes_on_as_its_session_wherever_it_was_cut(tmp_path: Path, path: Path) -> None:
    content = content_of(path)
    cuts = around_ends(content)
    if path.name == "training.jsonl":
        # One request alone is the chat that it holds, and no log of requests yet: it is of another format.
        first = content.index(b"\n")
        cuts = [cut for cut in cuts if not first <= cut <= content.index(b"[", first)]

    assert_grows_as_one(tmp_path, content, path.name, cuts[:: 1 + len(cuts) // 20])


class TestARecordThatAnotherIsGluedTo:
    def test_stays_as_it_is_stored_and_the_other_says_so(self, store_path: Path, tmp_path: Path) -> None:
        store, path = new_store(store_path), tmp_path / "abc.jsonl"
        steps = [
            b"\n".join(LINES[:2]),
            b"\n".join(LINES[:2]) + LINES[2][:40],
            b"\n".join(LINES[:2]) + LINES[2] + b"\n" + LINES[3] + b"\n",
        ]

        results = [take_bytes(store, step, path) for step in steps]

        assert [(one.new_commits, one.unfinished) for one in results] == [(2, False), (0, True), (2, False)]
        assert {(one.session, one.rewritten_from) for one in results} == {("abc", None)}
        assert commits(store, "abc") == ["r0", "r1", "r2", "r3"]
        assert original(store, "abc") == steps[-1]
        state = store.reader.state("abc", tips(store)["abc"])
        stored = [decode_record(delta.content[:-1])[1] for delta in store.reader.deltas(state)]
        assert [record.glued for record in stored] == [False, False, True, False]

    def test_may_be_followed_by_more_of_them(self, store_path: Path, tmp_path: Path) -> None:
        store, path = new_store(store_path), tmp_path / "abc.jsonl"
        whole = LINES[0] + LINES[1] + b" " + LINES[2] + b"\r\n" + LINES[3] + b"," + LINES[4]

        for one in LINES:
            result = take_bytes(store, whole[: whole.index(one) + len(one)], path)
            forget(store)

        assert result.rewritten_from is None
        assert [*tips(store)] == ["abc"]
        assert original(store, "abc") == whole + b"\n"
        assert take_bytes(store, whole + b"\n", path).new_commits == 0
        assert not list(verify(store))

    def test_is_gone_on_with_beside_what_was_appended(self, store_path: Path, tmp_path: Path) -> None:
        store, path = new_store(store_path), tmp_path / "abc.jsonl"
        take_bytes(store, b"\n".join(LINES[:2]), path)
        store.append("abc", MessageEntry({"role": "user", "content": "mine"}))
        whole = b"\n".join(LINES[:2]) + b"\n".join(LINES[2:]) + b"\n"

        result = take_bytes(store, whole, path)

        assert (result.session, result.rewritten_from) == ("abc.r2", "abc")
        assert original(store, "abc.r2") == whole
        assert take_bytes(store, whole, path).new_commits == 0

    def test_keeps_its_secrets_out(self, store_path: Path, tmp_path: Path) -> None:
        store, path = new_store(store_path), tmp_path / "abc.jsonl"
        secret = SECRETS["aws-access-token"]
        lines = [prompt(name, None, f"{name} {secret}")[:-1] for name in "abc"]
        path.write_bytes(lines[0])
        take(store, path, redact=True)

        (result,) = take(store, _written(path, lines[0] + lines[1] + b"  "))
        (last,) = take(store, _written(path, lines[0] + lines[1] + b"  " + lines[2] + b"\r\n"))

        assert (result.rewritten_from, last.rewritten_from) == (None, None)
        assert [len(one.secrets) for one in (result, last)] == [1, 1]
        assert secret.encode() not in original(store, "abc")
        assert not list(scan(store, ["abc"]))


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_a_value_over_several_lines_that_was_stored_as_lines_is_whole_beside_them(
    store_path: Path, tmp_path: Path
) -> None:
    store, path = new_store(store_path), tmp_path / "abc.jsonl"
    take_bytes(store, PRETTY[: PRETTY.rindex(b"ontent")] + b"\n", path)

    result = take_bytes(store, PRETTY, path)

    assert (result.rewritten_from, result.session, result.problems) == ("abc", "abc.r4", ())
    assert original(store, result.session) == PRETTY
    assert len(commits(store, "abc.r4")) == 5


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{a}\n{b}\n", "{a}\n{c}\n"),
        ("{a}\n{b}", "{a}\n{c}{b}\n"),
        ("{a}\n{b}\n{c}\n", "{a}\n{b}{c}\n"),
        ('{a}\n{{"type":"us\n', '{a}\n{{"type":"user"}}\n'),
    ],
    ids=["another record", "a record before the last", "records that were lines", "a line that was damaged"],
)
def test_a_log_that_was_rewritten_goes_on_beside_its_session(tmp_path: Path, before: str, after: str) -> None:
    store, path = new_store(tmp_path / "store.git"), tmp_path / "abc.jsonl"
    values = {name: prompt(name, None)[:-1].decode() for name in "abc"}
    fill: Callable[[str], bytes] = lambda text: text.format(**values).encode()  # noqa: E731  # it is short
    take_bytes(store, fill(before), path)

    result = take_bytes(store, fill(after), path)

    assert result.rewritten_from == "abc"
    assert original(store, "abc") == fill(before).removesuffix(b"\n") + b"\n"
    assert original(store, result.session) == fill(after)


def test_what_a_line_says_behind_a_record_is_told_as_no_record(store_path: Path, tmp_path: Path) -> None:
    store, path = new_store(store_path), tmp_path / "abc.jsonl"
    content = LINES[0] + b"\n" + line(type="user")[:-1]
    take_bytes(store, content, path)

    result = take_bytes(store, content + b" noise\n", path)

    assert (result.rewritten_from, [problem.line for problem in result.problems]) == (None, [2])
    assert original(store, "abc") == content + b" noise\n"


def test_a_glued_record_is_the_same_in_another_store(tmp_path: Path) -> None:
    here, path = new_store(tmp_path / "here.git"), tmp_path / "abc.jsonl"
    take_bytes(here, LINES[0], path)
    take_bytes(here, LINES[0] + LINES[1] + b"\n", path)
    there = new_store(tmp_path / "there.git")
    add_remote(there, "origin", str(here.path))
    pull(there)
    whole = LINES[0] + LINES[1] + b"\n" + LINES[2] + b"\n"

    result = take_bytes(there, whole, path)

    assert (result.session, result.rewritten_from, result.new_commits) == ("abc", None, 1)
    assert original(there, "abc") == whole
    assert not list(verify(there))


def test_a_damaged_record_of_many_lines_is_not_compared_line_by_line_to_its_end(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.jsonl"
    many = prompt("a", None, blocks=[*range(1000)])
    pretty = json.dumps(json.loads(many), indent=1).encode()
    take_bytes(store, LINES[0] + b"\n" + pretty + b"\n", path)
    compared = []
    could_follow = pieces._could_follow  # its calls are counted
    monkeypatch.setattr(pieces, "_could_follow", lambda *both: compared.append(1) or could_follow(*both))
    result = take_bytes(store, LINES[0] + b"\n" + pretty[:-1] + b"]\n" + LINES[1] + b"\n", path)
    assert result.rewritten_from == "s"
    assert 0 < len(compared) < 200
