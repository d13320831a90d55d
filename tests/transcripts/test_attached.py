"""Images and files that are attached: they are in the conversation, and not in the text of a commit, which stays."""

from typing import Any

import pytest

from gitsession.transcripts import FORMATS, Record
from gitsession.view import readable

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}
PDF = "data:application/pdf;base64,eA=="
BLOB = {"data": "eA==", "mimeType": "image/png"}
OPENCODE = {"id": "msg_1", "sessionID": "ses_1", "time": {"created": 1}}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def file(name: str = "") -> dict[str, Any]:
    return {"type": "file", "file": {"filename": name, "file_data": PDF} if name else {"file_data": PDF}}


def gemini_call(**response: str) -> dict[str, Any]:
    result = [{"functionResponse": {"response": response}}, {"inlineData": BLOB}]
    return {"id": "m", "type": "gemini", "toolCalls": [{"id": "c", "name": "r", "status": "success", "result": result}]}


@pytest.mark.parametrize(
    ("name", "value", "content", "shown"),
    [
        (
            "copilot",
            {"type": "user.message", "data": {"content": "Look", "attachments": [BLOB | {"type": "blob"}]}},
            [text("Look"), IMAGE],
            "Look",
        ),
        (
            "copilot",
            {
                "type": "tool.execution_complete",
                "data": {
                    "toolCallId": "c",
                    "result": {"content": "", "binaryResultsForLlm": [BLOB | {"type": "image"}]},
                },
            },
            [IMAGE],
            "",
        ),
        (
            "gemini",
            {"id": "m", "type": "user", "content": [{"inlineData": {"mimeType": "application/pdf", "data": "eA=="}}]},
            [file()],
            "[application/pdf, 1 bytes]",
        ),
        ("gemini", gemini_call(output="seen"), [text("seen"), IMAGE], "r({})\nseen"),
        ("gemini", gemini_call(output=""), [IMAGE], None),
        (
            "opencode",
            {
                "info": {**OPENCODE, "role": "user"},
                "parts": [{"type": "file", "mime": "application/pdf", "filename": "a.pdf", "url": PDF}],
            },
            [file("a.pdf")],
            "[a.pdf, application/pdf]",
        ),
        (
            "opencode",
            {
                "info": {**OPENCODE, "role": "assistant"},
                "parts": [
                    {
                        "type": "tool",
                        "callID": "c",
                        "tool": "r",
                        "state": {
                            "status": "completed",
                            "output": "seen",
                            "attachments": [{"type": "file", "mime": "image/png", "url": IMAGE["image_url"]["url"]}],
                        },
                    }
                ],
            },
            [text("seen"), IMAGE],
            "r({})\nseen",
        ),
        (
            "droid",
            {
                "type": "message",
                "message": {
                    "role": "user",
                    "content": [
                        {
                            "type": "document",
                            "title": "a.pdf",
                            "source": {"type": "base64", "media_type": "application/pdf", "data": "eA=="},
                        },
                        text("What is it?"),
                    ],
                },
            },
            [file("a.pdf"), text("What is it?")],
            "[a.pdf, application/pdf, 1 bytes]\nWhat is it?",
        ),
    ],
)
def test_what_is_attached_is_in_the_conversation_and_not_in_the_commit(
    name: str, value: dict[str, Any], content: list[Any], shown: str | None
) -> None:
    record = Record(b"", value, id="r")
    entries = FORMATS[name].fold([record])
    assert entries[-1].message["content"] == content
    if shown is not None:
        assert readable(FORMATS[name].view(record)) == shown
