"""A file that grows, in whatever steps, gives the commits that it gives when it is imported at once."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitsession import FORMATS, ImportFailure, MessageEntry, Store, import_transcripts
from gitsession.transcripts import recognise
from tests.secrets_made_up import SECRETS

from .importing import FIXTURES, new_store, original, take, take_bytes, talk, tips

GROWING = [
    "claude-code/rewind.jsonl",
    "claude-code/titles.jsonl",
    "claude-code/tools.jsonl",
    "modular-agent/compaction.jsonl",
]
numbers = itertools.count()


def imported_at(directory: Path, content: bytes, cuts: list[int], name: str) -> tuple[Store, Path]:
    """Imports a file at each of the lengths given, and whole."""
    place = directory / str(next(numbers))
    place.mkdir()
    store, path = new_store(place / "store.git"), place / name
    for length in [*sorted(cuts), len(content)]:
        path.write_bytes(content[:length])
        list(import_transcripts(store, [path]))
    return store, path


def whole_lines(content: bytes) -> list[int]:
    return [place + 1 for place, byte in enumerate(content) if byte == 0x0A]


@pytest.mark.parametrize("fixture", GROWING)
class TestAFileThatGrows:
    def test_by_a_record_at_a_time_gives_the_same_commits(self, tmp_path: Path, fixture: str) -> None:
        content = (FIXTURES / fixture).read_bytes()
        once, _ = imported_at(tmp_path, content, [], "abc.jsonl")

        grown, _ = imported_at(tmp_path, content, whole_lines(content), "abc.jsonl")

        # A line that looked abandoned for a while, and was gone on with later, keeps its branch.
        assert tips(once).items() <= tips(grown).items()

    def test_in_any_steps_also_within_a_line_gives_the_same_commits(self, tmp_path: Path, fixture: str) -> None:
        content = (FIXTURES / fixture).read_bytes()
        once, path = imported_at(tmp_path, content, [], "abc.jsonl")
        session = take(once, path)[0].session

        @settings(max_examples=15)
        @given(st.lists(st.integers(0, len(content)), min_size=1, max_size=4))
        def check(cuts: list[int]) -> None:
            grown, _ = imported_at(tmp_path, content, cuts, "abc.jsonl")
            assert tips(once)[session] == tips(grown)[session]
            assert tips(once).items() <= tips(grown).items()

        check()


def test_a_file_cut_at_each_byte_of_a_line_gives_the_same_commits(tmp_path: Path) -> None:
    content = b"".join(talk(2, text='ä\u2028 "\\'))
    first = content.index(b"\n") + 1
    once, _ = imported_at(tmp_path, content, [], "abc.jsonl")

    for cut in range(first - 3, len(content), 2):
        assert tips(once) == tips(imported_at(tmp_path, content, [cut], "abc.jsonl")[0]), cut


@pytest.mark.parametrize("name", sorted(path.name for path in (FIXTURES / "claude-code").glob("*.jsonl")))
def test_every_claude_code_fixture_grows_line_by_line_to_the_same_commits(tmp_path: Path, name: str) -> None:
    content = (FIXTURES / "claude-code" / name).read_bytes()
    once, _ = imported_at(tmp_path, content, [], "abc.jsonl")

    grown, _ = imported_at(tmp_path, content, whole_lines(content)[::3], "abc.jsonl")

    assert tips(once).items() <= tips(grown).items()


def test_a_log_that_lost_its_end_is_behind_the_session(store_path: Path, tmp_path: Path) -> None:
    store, path = new_store(store_path), tmp_path / "abc.jsonl"
    lines = talk(3)

    found = [take_bytes(store, b"".join(lines[:end]), path).behind for end in (2, 3, 3, 1)]
    torn = take_bytes(store, lines[0] + lines[1][:9], path)
    store.append("abc", MessageEntry({"role": "user", "content": "mine"}))

    assert (found, torn.behind, torn.unfinished) == ([False, False, False, True], True, True)
    assert not take_bytes(store, b"".join(lines), path).behind


class TestTheLastLine:
    def test_waits_while_it_is_being_written(self, store_path: Path, tmp_path: Path) -> None:
        store, path = new_store(store_path), tmp_path / "abc.jsonl"
        lines = talk(3)

        cut = take_bytes(store, lines[0] + lines[1] + lines[2][:40], path)
        whole = take_bytes(store, b"".join(lines), path)

        assert (cut.new_commits, cut.unfinished, cut.problems) == (2, True, ())
        assert (whole.new_commits, whole.unfinished) == (1, False)
        assert b"".join(lines) == original(store, "abc")

    def test_is_a_record_without_its_newline(self, store_path: Path, tmp_path: Path) -> None:
        store, path = new_store(store_path), tmp_path / "abc.jsonl"
        lines = talk(3)

        without = take_bytes(store, b"".join(lines)[:-1], path)
        whole = take_bytes(store, b"".join(lines), path)

        assert (without.new_commits, without.unfinished) == (3, False)
        assert (whole.new_commits, whole.session) == (0, "abc")

    def test_of_a_new_file_that_is_cut_is_told_and_nothing_is_stored(self, store_path: Path, tmp_path: Path) -> None:
        store, path = new_store(store_path), tmp_path / "abc.jsonl"
        path.write_bytes(talk(1)[0][:-20])

        (result,) = import_transcripts(store, [path], format="claude-code")

        assert isinstance(result, ImportFailure)
        assert "cut in its first line" in str(result.error)
        assert tips(store) == {}


IMPORT = """
import sys
from pathlib import Path
from gitsession import Store, import_transcripts
store = Store.init(sys.argv[1], durable=False)
list(import_transcripts(store, [Path(one) for one in sys.argv[2:]]))
for session_id, oid in store.reader.branches():
    print(ascii(session_id), oid)
"""


def test_time_zone_locale_user_and_place_do_not_matter(tmp_path: Path) -> None:
    prints = []
    for number, (zone, locale, user) in enumerate(
        [("UTC", "C", "root"), ("Pacific/Kiritimati", "tr_TR.UTF-8", "Zoë"), ("America/St_Johns", "POSIX", "")]
    ):
        place = tmp_path / ("p" * (number + 1))
        (place / "fixtures").mkdir(parents=True)
        for path in sorted((FIXTURES / "claude-code").glob("*.jsonl")):
            (place / "fixtures" / path.name).write_bytes(path.read_bytes())
        environment = {
            **os.environ,
            "TZ": zone,
            "LANG": locale,
            "LC_ALL": locale,
            "USER": user,
            "LOGNAME": user,
            "GIT_AUTHOR_NAME": user,
            "GIT_COMMITTER_DATE": f"{number}000000 +0300",
            "PYTHONHASHSEED": str(number),
            "HOME": str(place),
        }
        done = subprocess.run(
            [sys.executable, "-c", IMPORT, place / "store.git", place / "fixtures"],
            env=environment,
            cwd=place,
            capture_output=True,
            check=True,
        )
        prints.append(done.stdout)

    assert prints[0].count(b"\n") > 10
    assert [prints[0]] * 3 == prints


def test_every_fixture_is_recognised() -> None:
    for name in FORMATS:
        for path in (FIXTURES / name).glob("*.json*"):
            found = recognise(path.read_bytes()[:65536], path.name)
            assert found is not None
            assert name == found.name


class TestAnAiderHistory:
    """Nothing tells of an answer at the end of the file whether it is whole."""

    @pytest.mark.parametrize("name", [".aider.chat.history.md", "crlf.md"])
    def test_that_is_imported_at_each_of_its_lines_is_one_session(self, tmp_path: Path, name: str) -> None:
        content = (FIXTURES / "aider" / name).read_bytes()
        once, path = imported_at(tmp_path, content, [], name)
        session = take(once, path)[0].session

        grown, path = imported_at(tmp_path, content, whole_lines(content), name)

        assert [*tips(grown)] == [session]
        assert content == original(grown, session)
        assert said(grown, session) == said(once, session)
        assert take(grown, path)[0].new_commits == 0

    def test_has_what_came_to_an_answer_as_a_record_more(self, store_path: Path, tmp_path: Path) -> None:
        store, path = new_store(store_path), tmp_path / "a.md"
        begun = b"# aider chat started at 2026-03-02 09:00:00\n\n#### One  \n\n"
        take_bytes(store, begun + b"```\nfor all:\n", path)

        result = take_bytes(store, begun + b"```\nfor all:\n> quoted\n```\n\n#### Two  \n", path)

        assert (result.new_commits, result.rewritten_from, result.abandoned) == (2, None, ())
        assert said(store, result.session)[1:] == ["One", "```\nfor all:\n> quoted\n```", "Two"]

    def test_whose_answer_became_another_one_was_rewritten(self, store_path: Path, tmp_path: Path) -> None:
        store, path = new_store(store_path), tmp_path / "a.md"
        begun = b"# aider chat started at 2026-03-02 09:00:00\n\n#### One  \n\n"
        first = take_bytes(store, begun + b"Text.\n", path)

        result = take_bytes(store, begun + b"Other text.\n", path)

        assert result.rewritten_from == first.session

    def test_is_redacted_as_it_goes_on(self, store_path: Path, tmp_path: Path) -> None:
        store, path = new_store(store_path), tmp_path / "a.md"
        begun = b"# aider chat started at 2026-03-02 09:00:00\n\n#### One  \n\nText.\n"
        path.write_bytes(begun)
        list(import_transcripts(store, [path], redact=True))
        path.write_bytes(begun + SECRETS["aws-access-token"].encode() + b"\n")

        (result,) = import_transcripts(store, [path])

        assert not isinstance(result, ImportFailure)
        assert (result.rewritten_from, [secret.line for secret in result.secrets]) == (None, [6])
        assert said(store, result.session)[-1].startswith("Text.\n[redacted:")


def said(store: Store, session: str) -> list[str]:
    return [message["content"] for message in store.messages(session)]
