"""aider's history."""

import pytest
from folded import assistant, conversation, user
from transcript_files import FIXTURES, header_of, read, records_of

from gitsession.transcripts import FORMATS

AIDER = FORMATS["aider"]
HISTORY = FIXTURES / "aider" / ".aider.chat.history.md"
START = b"\n# aider chat started at 2026-03-02 09:00:00\n\n"


def raws(content: bytes) -> list[bytes]:
    return [record.raw for record in read(AIDER, content)]


def test_the_chats_of_a_file_are_one_conversation() -> None:
    said = conversation(HISTORY)
    assert [(message["role"], message["content"].split("\n")[0]) for message in said] == [
        ("system", "aider chat started at 2026-03-02 09:00:00"),
        ("user", "/add hello.py"),
        ("user", "Greet in French."),
        ("assistant", "Here is the change:"),
        ("user", "Thanks."),
        ("assistant", "You are welcome."),
        ("system", "aider chat started at 2026-03-03 10:00:00"),
        ("user", "And in Italian?"),
        ("assistant", "ciao"),
    ]
    assert said[0]["meta"] is True
    assert said[2] == user("Greet in French.\nKeep the name.")
    assert said[8] == assistant("ciao", model="o3")


def test_a_block_of_code_is_no_notice() -> None:
    answer = conversation(HISTORY)[3]["content"]
    assert "> this is code\n>>>>>>> REPLACE\n```\n\nThat is all." in answer


def test_line_ends_of_windows_are_kept_and_not_shown() -> None:
    assert [message["content"] for message in conversation(FIXTURES / "aider" / "crlf.md")] == [
        *("aider chat started at 2026-03-04 08:00:00", "Hi", "Hello.", "/exit")
    ]


def test_the_first_chat_names_the_session() -> None:
    assert header_of(AIDER, HISTORY, records_of(HISTORY)) == {
        "id": "aider-2026-03-02T09-00-00",
        "created_at": "2026-03-02T09:00:00Z",
        "agent": "aider",
        "title": "Greet in French. Keep the name.",
    }


def test_what_aider_writes_next_changes_no_record() -> None:
    written = [
        START,
        b"> Model: m  \n> Git repo: none  \n",
        b"\n#### One  \n#### more line  \n",
        b"\nText.\n\nMore text.\n\n",
        b"> Tokens: 1  \n",
        b"\n#### Two  \n",
        b"\n#### Three  \n",
        b"\nText.\n\n",
        START,
    ]
    for end in range(1, len(written)):
        part = raws(b"".join(written[:end]))
        assert part == raws(b"".join(written))[: len(part)]


@pytest.mark.parametrize("cut", [b"#### On", b"#### One  \n\nText", b"> Tok"])
def test_a_line_without_an_end_is_still_being_written(cut: bytes) -> None:
    records = read(AIDER, START + cut)
    assert [record.unfinished for record in records][-1]
    assert b"".join(AIDER.write(records)) == START + cut


def test_a_blank_prompt_says_nothing() -> None:
    records = read(AIDER, START + b"#### <blank>  \n")
    assert len(AIDER.fold(records)) == 1
    assert AIDER.view(records[1]).who == "user"
