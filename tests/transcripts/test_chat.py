"""Plain messages of a chat."""

import json
from pathlib import PurePath

import pytest
from transcript_files import FIXTURES, header_of, read, records_of

from gitsession.model import MessageEntry
from gitsession.transcripts import FORMATS, recognise

CHAT = FORMATS["chat"]
DIRECTORY = FIXTURES / "chat"


def messages(content: bytes) -> list[object]:
    return [entry.message for entry in CHAT.fold(read(CHAT, content)) if isinstance(entry, MessageEntry)]


@pytest.mark.parametrize("name", ["openai", "responses"])
def test_a_document_and_its_lines_are_the_same_conversation(name: str) -> None:
    lines = (DIRECTORY / f"{name}.jsonl").read_bytes()
    expected = [json.loads(line) for line in lines.splitlines()]
    assert messages(lines) == expected
    assert messages((DIRECTORY / f"{name}.json").read_bytes()) == expected


def test_the_system_prompt_and_the_model_of_a_request_are_those_of_its_messages() -> None:
    lines = [json.loads(line) for line in (DIRECTORY / "anthropic.jsonl").read_bytes().splitlines()]
    found = messages((DIRECTORY / "anthropic.json").read_bytes())
    model = {"model": "claude-sonnet-4-5"}
    answers = [{**one, **model} if one["role"] == "assistant" else one for one in lines]
    assert found == [{"role": "system", "content": "Be short."}, *answers]
    assert messages((DIRECTORY / "anthropic.jsonl").read_bytes()) == lines
    named = {"role": "assistant", "content": "a", "model": "m"}
    blocks = [{"type": "text", "text": "Be short."}]
    body = {"system": blocks, "model": "n", "messages": [named]}
    assert messages(json.dumps(body).encode()) == [{"role": "system", "content": blocks}, named]
    assert messages(json.dumps({**body, "system": None, "model": 1}).encode()) == [named]


def test_the_session_is_named_by_the_file() -> None:
    path = DIRECTORY / "openai.json"
    expected = {"id": "openai", "created_at": "", "agent": "chat", "title": "What is this?"}
    assert header_of(CHAT, path, records_of(path)) == expected


def test_messages_without_ids_have_none() -> None:
    assert [record.id for record in records_of(DIRECTORY / "responses.jsonl")] == [None, "rs_1", "fc_1", None, "msg_1"]


def test_who_speaks() -> None:
    whose = [CHAT.view(record).who for record in records_of(DIRECTORY / "openai.json")]
    assert whose == ["meta", "system", "user", "assistant", "tool", "tool", "assistant"]


def test_a_longer_array_begins_with_the_records_of_a_shorter_one() -> None:
    made = [{"role": "user", "content": str(number)} for number in range(4)]
    short, long = (read(CHAT, json.dumps(made[:end], indent=1).encode()) for end in (3, 4))
    assert long[:4] == short[:4]


def test_an_empty_array_among_messages_is_no_conversation() -> None:
    assert recognise(b'{"messages":[]}', "a.json") is None
    assert messages(b'{"messages":[]}') == []


@pytest.mark.parametrize(
    "cut", [b'[{"role":"user","content":"a"},{"role":"us', b'[{"role":"user","content":"a"},', b"["]
)
def test_a_cut_document_keeps_its_whole_messages(cut: bytes) -> None:
    records = read(CHAT, cut)
    assert b"".join(CHAT.write(records)) == cut
    assert [record.value for record in records if record.value] == [{"role": "user", "content": "a"}][: cut.count(b"a")]


def test_a_damaged_document_keeps_what_stands_before_the_damage() -> None:
    content = b'[{"role":"user","content":"a"}, no, {"role":"user","content":"b"}]'
    records = read(CHAT, content)
    assert [record.problem for record in records] == [None, None, "the document is damaged at byte 33"]
    assert b"".join(CHAT.write(records)) == content


def test_a_blank_first_line_does_not_hide_the_messages() -> None:
    content = b'\n\xef\xbb\xbf{"role":"user","content":"a"}\n'
    assert messages(content) == [{"role": "user", "content": "a"}]


def test_messages_over_several_lines_are_read() -> None:
    made = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    content = "\n".join(json.dumps(one, indent=2) for one in made).encode()
    assert recognise(content, "a.jsonl") is CHAT
    assert messages(content) == made


def test_a_name_says_nothing() -> None:
    content = (DIRECTORY / "openai.jsonl").read_bytes()
    assert recognise(content, "something.txt") is CHAT
    assert CHAT.header(PurePath("a/b.c.txt"), read(CHAT, content)[0])["id"] == "b.c"
