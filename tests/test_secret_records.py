"""Private keys that begin in one record and end in a later one."""

import json
from pathlib import Path

import pytest

from gitsession import Store, scan
from gitsession.secret_records import RecordSecrets
from gitsession.secret_rules import KEY_BYTES, KEY_NEAR
from gitsession.transcripts.base import Record

from .conftest import Git
from .secrets_made_up import ALNUM, made, private_key
from .test_redacted_import import everything, line, put, take
from .test_secret_scan import SHOWN, shown

# The rows of other keys end in fewer letters.
FIRST, *ROWS, END = private_key("OPENSSH ").replace("\n-----END", "\nb3Blbn==\n-----END").split("\n")
KEY = [FIRST, *ROWS, END]
MARK = "[redacted:private-key]"
STARTED = "\n# aider chat started at 2026-03-02 09:00:00\n\n"
WAYS = {
    "notice, then plain": "#### /git show HEAD:key  \n\n> " + "\n".join(KEY) + "  \n\n#### ok  \n\nfine\n",
    "notices": "#### /run cat key  \n\n> " + "  \n> ".join(KEY) + "  \n\n#### ok  \n\nfine\n",
    "numbered notices": "".join(f"> {number:5}\t{row}  \n" for number, row in enumerate(KEY)) + "\nfine\n",
    "quoted in an answer": "#### show  \n\nHere:\n\n> " + "\n> ".join(KEY) + "\n\nend\n",
    "prompt, then plain": "#### use " + "\n".join(KEY) + "\n\nfine\n",
    "prompts": "#### use  \n#### " + "  \n\n#### ".join(KEY) + "  \n\nfine\n",
    "prompt, then notices": "#### use " + FIRST + "\n> " + "\n> ".join(KEY[1:]) + "\n\nfine\n",
    "with a header": f"> {FIRST}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0AB1\n\n" + "\n".join(KEY[1:]) + "\n",
    "begun in an answer": "#### a  \n\nHere is\n" + "\n".join(KEY[:3]) + "\n> " + "\n".join(KEY[3:]) + "\n\nend\n",
    "without its end": f"> {FIRST}  \n> " + "\n> ".join(ROWS) + "\n\nend\n",
    "line ends of Windows": "#### cat key  \r\n\r\n> " + "\r\n> ".join(KEY) + "\r\n\r\nfine\r\n",
    "with notes": f"> {FIRST}\nfrom a file:\n" + "\n...\n".join(KEY[1:]) + "\n",
    "narrow": f"> {FIRST}\n" + "\n".join("\n".join([row[:32], row[32:]]) for row in ROWS) + f"\n{END}\n",
    "two": f"> {FIRST}\n" + "\n".join([*ROWS, FIRST]) + "\n> " + "\n> ".join([*ROWS, END]) + "\n",
}


def aider(folder: Path, text: str) -> Path:
    path = folder / ".aider.chat.history.md"
    path.write_text(STARTED + text)
    return path


def told(store: Store) -> set[str]:
    return {secret.kind for secret in scan(store)}


@pytest.mark.parametrize("way", WAYS)
def test_a_key_over_several_pieces_of_a_chat_is_told_and_taken_out(
    store: Store, tmp_path: Path, git: Git, way: str
) -> None:
    path = aider(tmp_path, WAYS[way])
    plain = Store.init(tmp_path / "plain.git", durable=False)
    assert {secret.kind for secret in take(plain, path).secrets} == told(plain) == {"private-key"}
    assert len(take(plain, path).secrets) == 0
    assert {secret.kind for secret in take(store, path, redact=True).secrets} == {"private-key"}
    held = everything(store, git)
    assert [row for row in ROWS if row in held] == []
    assert told(store) == set()
    # Nothing but the key is gone, and the pieces are of their kinds.
    session = take(store, path).session
    kinds = [message["role"] for message in store.messages(session)]
    assert kinds[:1] == ["system"]
    assert b"".join(store.original(session)).split(b"\n")[-2] == path.read_bytes().split(b"\n")[-2]
    # The session beside the one that holds the key is told of.
    beside = take(plain, path, redact=True)
    assert (beside.rewritten_from, beside.held_in) == (session, (session,))


def test_the_marks_stand_where_the_rows_stood(store: Store, tmp_path: Path) -> None:
    path = aider(tmp_path, f"> {FIRST}  \n> {ROWS[0]}  \n> {ROWS[1]}  \n> {END}  \n\nfine\n")
    session = take(store, path, redact=True).session
    expected = f"{STARTED}> {FIRST}  \n> {MARK}  \n> {MARK}  \n> {END}  \n\nfine\n"
    assert b"".join(store.original(session)).decode() == expected


@pytest.mark.parametrize("between", ["", line(7, "Hello") + "\n"])
def test_a_raw_key_between_the_lines_of_a_log_is_told_and_taken_out(
    store: Store, tmp_path: Path, git: Git, between: str
) -> None:
    path = put(tmp_path / "s.jsonl", "Hello")
    whole = path.read_text()
    path.write_text(whole + f"\n{between}".join(KEY) + "\n" + line(8, ROWS[0]) + "\n")
    plain = Store.init(tmp_path / "plain.git", durable=False)
    take(plain, path)
    assert told(plain) == {"private-key"}
    take(store, path, redact=True)
    held = everything(store, git)
    assert [row for row in ROWS[1:] if row in held] == []
    assert ROWS[0] in held, "a record of its own is no key"


def test_a_key_that_grows_from_import_to_import_is_taken_out_all_the_same(tmp_path: Path, git: Git) -> None:
    whole = WAYS["notice, then plain"]
    lines = whole.split("\n")
    for steps in (range(3, len(lines), 3), range(5, len(lines), 4)):
        store = Store.init(tmp_path / f"{steps.step}.git", durable=False)
        for step in steps:
            take(store, aider(tmp_path, "\n".join(lines[:step]) + "\n"), redact=True)
        session = take(store, aider(tmp_path, whole), redact=True).session
        assert [row for row in ROWS if row in everything(store, git)] == []
        assert [row for row in ROWS if row in b"".join(store.original(session)).decode()] == []


def test_a_key_that_grows_is_told_with_what_is_new(store: Store, tmp_path: Path) -> None:
    path = aider(tmp_path, f"#### use {FIRST}\n\n{ROWS[0]}\n")
    assert [secret.line for secret in take(store, path).secrets] == [5]
    aider(tmp_path, f"#### use {FIRST}\n\n{ROWS[0]}\n{ROWS[1]}\n{ROWS[2]}\n")
    assert [secret.line for secret in take(store, path).secrets] == [7]
    assert len(list(scan(store))) == 2


def test_a_scan_finds_a_keys_rest_that_follows_what_another_session_has_too(store: Store, tmp_path: Path) -> None:
    path = aider(tmp_path, f"> {FIRST}\n> {ROWS[0]}\n\nfine\n")
    take(store, path)
    aider(tmp_path, f"> {FIRST}\n> {ROWS[1]}\n\nfine\n")
    take(store, path)
    assert [(secret.delta, secret.place) for secret in scan(store)] == [(2, "1: text"), (2, "1: text")]


def taken_out(lines: list[str]) -> list[str]:
    finder = RecordSecrets()
    records = [Record(line.encode(), json.loads(line) if line[:1] == "{" else None) for line in lines]
    return [finder.take_out(record)[0].raw.decode() for record in records]


@pytest.mark.parametrize("how", SHOWN)
def test_each_line_may_be_a_record_whatever_it_begins_with(how: str) -> None:
    lines = ["Before", *shown(how).splitlines(), "After"]
    left = taken_out(lines)
    assert [row for row in private_key().split("\n")[1:-1] if row in "\n".join(left)] == []
    assert (left[0], left[-1]) == ("Before", "After")


@pytest.mark.parametrize(
    "after",
    [
        ["fine", "src/components/Button2.tsx", "a" * 64],
        [f"ends with {END}", ROWS[0]],
        [json.dumps({"say": ROWS[0]})],
        ["0123456789abcdef" * 4],
        [f"{'word ' * 100}\n{ROWS[0]}\nand {END}"],
        ["word " * 100, ROWS[0]],
        [json.dumps({"n": 1})] * (KEY_NEAR + 1) + [ROWS[0]],
        ["", "", "internationalization", "ok"],
    ],
)
def test_who_speaks_of_a_keys_first_line_shows_no_key(after: list[str]) -> None:
    lines = [f"It begins with `{FIRST}`", *after]
    assert taken_out(lines) == lines


@pytest.mark.parametrize("word", ["Done", "ok", "FIXED", "42", "It is there", ""])
def test_what_follows_a_key_without_its_end_is_left(word: str) -> None:
    assert taken_out([FIRST, ROWS[0], word])[2] == word


def test_a_key_has_no_more_than_so_many_bytes() -> None:
    rows = [made((ALNUM, 63), seed=seed) + "0" for seed in range(KEY_BYTES // 64 + 20)]
    left = taken_out([FIRST, *rows])
    assert 0 < sum(row in left for row in rows) < 60


def test_looking_takes_time_in_proportion_to_the_records() -> None:
    for texts in (
        [f"{FIRST}\n" * 20_000] * 3,
        [FIRST, "> " * 300_000, ROWS[0] * 5_000, "\n" * 300_000],
        [FIRST, "a=" * 150_000 + "-----BEGIN" * 20_000],
        [FIRST, *[f"> {ROWS[0]}"] * 5_000],
    ):
        assert len(taken_out(texts)) == len(texts)
