"""What a person typed, told apart from what an editor, a hook, a schedule or another session put into their mouth."""

from typing import Any

import pytest
from transcript_files import FIXTURES, records_of

from gitsession.model import MessageEntry
from gitsession.transcripts import FORMATS, Record
from gitsession.transcripts.claude_prompts import Prompt, prompt, split, split_by_text_1
from gitsession.view import View, readable

CLAUDE_CODE = FORMATS["claude-code"]
OPENED = "<ide_opened_file>The user opened the file a.py in the IDE.</ide_opened_file>"
PROMPT = "Why?"


def block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def user(content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}, **fields}


def queued(content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "attachment", "attachment": {"type": "queued_command", "prompt": content, **fields}}


IMAGE = {"type": "image", "source": {"type": "base64", "data": ""}}


@pytest.mark.parametrize("value", [user, queued])
@pytest.mark.parametrize(
    ("said", "typed", "injected"),
    [
        (PROMPT, PROMPT, []),
        ("", [], []),
        (OPENED, [], OPENED),
        (f"{OPENED}\n{PROMPT}", PROMPT, f"{OPENED}\n"),
        (f"<system-reminder>Be quick.</system-reminder>{OPENED}{PROMPT}", PROMPT, None),
        (f"{PROMPT} {OPENED}", PROMPT, f" {OPENED}"),
        (f"{OPENED}{PROMPT}{OPENED} {OPENED}\n", PROMPT, f"{OPENED}{OPENED} {OPENED}\n"),
        (f"{PROMPT} {OPENED} {PROMPT}", f"{PROMPT} {OPENED} {PROMPT}", []),  # what stands in the middle was typed
        (f"{PROMPT}</ide_opened_file>", f"{PROMPT}</ide_opened_file>", []),
        (f"<ide_opened_file>never ended {PROMPT}", [], None),
        (f"{OPENED} <system-reminder>{PROMPT}", [], None),
        ("<command-name>/clear</command-name>", "<command-name>/clear</command-name>", []),
        ('<teammate-message teammate_id="lead">Go on.</teammate-message>', [], None),
        ("<idea>Why?</idea>", "<idea>Why?</idea>", []),
        ([block(OPENED), block(PROMPT)], [block(PROMPT)], [block(OPENED)]),
        ([block(PROMPT), block(OPENED)], [block(PROMPT)], [block(OPENED)]),
        ([block(OPENED + PROMPT)], [block(PROMPT)], [block(OPENED)]),
        ([block(OPENED), IMAGE], [IMAGE], [block(OPENED)]),
        ([IMAGE, "text", None], [IMAGE, "text", None], []),
        (None, [], []),
        (7, 7, []),
    ],
)
def test_what_was_typed_is_told_apart(value: Any, said: Any, typed: Any, injected: Any) -> None:
    found = split(value(said))

    assert found == Prompt(typed, said if injected is None and not typed else found.injected)
    assert injected is None or found.injected == injected


@pytest.mark.parametrize(
    ("kind", "typed"), [("human", True), ("peer", False), ("channel", False), ("of-tomorrow", False)]
)
def test_the_origin_of_a_prompt_counts(kind: str, typed: bool) -> None:
    for value in (user(PROMPT, origin={"kind": kind}), queued(PROMPT, origin={"kind": kind})):
        assert split(value) == (Prompt(PROMPT, []) if typed else Prompt([], PROMPT))


@pytest.mark.parametrize("origin", [None, "human", {}, {"kind": None}, {"kind": 7}, []])
def test_an_origin_that_tells_nothing_is_none(origin: Any) -> None:
    assert split(user(PROMPT, origin=origin)) == Prompt(PROMPT, [])


def test_a_title_is_what_was_typed() -> None:
    assert prompt(user([block(OPENED), block(PROMPT)])) == PROMPT
    assert prompt(user(OPENED)) == ""
    assert prompt(user([IMAGE, block(PROMPT)])) == PROMPT
    assert prompt(user([IMAGE, block(" ")])) != ""
    assert prompt(user([block(OPENED), block(PROMPT)]), split_by_text_1) == f"{OPENED}\n{PROMPT}"


COMMAND = "<command-message>review</command-message>\n<command-name>/review</command-name>"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        (f"{COMMAND}\n<command-args>slug.py please</command-args>", "/review slug.py please"),
        ([block(OPENED), block(COMMAND)], "/review"),
        ("<command-name></command-name>", None),
        ("<command-args>x</command-args>", None),
        ("<user-memory-input>Be brief.</user-memory-input>", None),
        ("<bash-input>ls</bash-input>", None),
    ],
)
def test_a_command_names_a_session_until_there_is_a_prompt(said: Any, title: str | None) -> None:
    header = CLAUDE_CODE.learn({}, Record(b"", user(said)))

    assert header.get("title") == title
    assert CLAUDE_CODE.learn(header, Record(b"", user(PROMPT)))["title"] == PROMPT
    assert "title" not in CLAUDE_CODE.at(1).learn({}, Record(b"", user(COMMAND)))


def test_the_first_command_names_a_session() -> None:
    header = CLAUDE_CODE.learn({}, Record(b"", user(COMMAND)))

    assert CLAUDE_CODE.learn(header, Record(b"", user("<command-name>/clear</command-name>"))) is header


def test_looking_for_what_stands_behind_takes_time_in_proportion_to_the_text() -> None:
    for text in (
        " " * 300_000 + "x",
        "<ide_selection>" * 30_000,
        "</ide_selection>" * 30_000,
        OPENED * 5000 + "x",
        "x" + OPENED * 5000,
    ):
        assert split(user(text)).typed is not None


def test_a_commit_says_what_was_typed_first() -> None:
    assert _shown(user(f"{OPENED}{PROMPT}")) == ("user", f"{PROMPT}\n{OPENED}")
    assert _shown(user([block(OPENED), block(PROMPT)])) == ("user", f"{PROMPT}\n{OPENED}")
    assert _shown(user(OPENED)) == ("meta", OPENED)
    assert _shown(user(PROMPT, origin={"kind": "peer"})) == ("meta", PROMPT)
    assert _shown(queued(PROMPT, origin={"kind": "peer"})) == ("meta", PROMPT)


def test_the_first_rules_say_what_they_always_said() -> None:
    view = CLAUDE_CODE.at(1).view

    assert _shown(user(f"{OPENED}{PROMPT}"), view(Record(b"", user(f"{OPENED}{PROMPT}")))) == ("user", OPENED + PROMPT)
    assert view(Record(b"", user(PROMPT, origin={"kind": "peer"}))).who == "user"
    assert view(Record(b"", queued(PROMPT, origin={"kind": "peer"}))).who == "user"


def test_the_conversation_shows_what_was_put_beside_a_prompt_as_that() -> None:
    log = records_of(FIXTURES / "claude-code" / "editor.jsonl")
    entries = [entry for entry in CLAUDE_CODE.fold(log) if isinstance(entry, MessageEntry)]
    users = [entry.message for entry in entries if entry.message["role"] == "user"]
    typed = [one["content"] for one in users if not one.get("meta")]

    assert typed == [
        [{"type": "text", "text": "Why are umlauts lost here?"}, typed[0][1]],
        "Add a test, please.",
        "And mention it in the README.",
    ]
    assert len(users) - len(typed) == 7
    assert len({entry.id for entry in entries}) == len(entries)


def _shown(value: dict[str, Any], view: View | None = None) -> tuple[str, str]:
    view = view or CLAUDE_CODE.view(Record(b"", value))
    return view.who, readable(view)
