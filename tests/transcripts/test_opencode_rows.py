"""opencode's rows as the document of an export."""

from typing import Any

import pytest

from gitsession.transcripts.opencode_rows import StrangeRow, document, is_over
from tests.opencode_databases import export

ROW = {
    "id": "ses_1",
    "project_id": "global",
    "slug": "happy-moon",
    "directory": "/home/dev/project",
    "title": "Hello",
    "version": "1.2.1",
    "time_created": 1000,
    "time_updated": 2000,
}
FIRST = {"id": "ses_1", "slug": "happy-moon", "projectID": "global", "directory": "/home/dev/project"}
LAST = {"time": {"created": 1000, "updated": 2000}}
OLD = {**FIRST, "title": "Hello", "version": "1.2.1", **LAST}


def made(row: dict[str, Any], *messages: Any) -> bytes:
    return b"".join(document(row, messages))


def message(name: str, data: str) -> dict[str, Any]:
    return {"id": name, "session_id": "ses_1", "data": data}


def part(name: str, data: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "message_id": "msg_1", "session_id": "ses_1", "data": data, **more}


def test_columns_that_a_version_does_not_have_are_left_out() -> None:
    assert made(ROW) == export(**OLD)


@pytest.mark.parametrize(
    ("directory", "end"),
    [("C:\\dev", b"\r\n"), ("c:/dev", b"\r\n"), ("\\\\host\\dev", b"\r\n"), ("/c:/dev", b"\n"), (None, b"\n")],
)
def test_the_document_of_windows_ends_as_windows_does(directory: Any, end: bytes) -> None:
    expected = export(**{**OLD, "directory": directory}) if directory else made({**ROW, "directory": None})
    assert made({**ROW, "directory": directory}) == expected.removesuffix(b"\n") + end


def test_each_column_is_a_field_of_the_session() -> None:
    row = {
        **ROW,
        "workspace_id": "wrk_1",
        "path": "",
        "parent_id": "ses_0",
        "agent": "build",
        "model": '{"variant":"v","providerID":"p","id":"m","more":1}',
        "summary_additions": None,
        "summary_deletions": 3,
        "summary_files": None,
        "summary_diffs": '[{"file":"a","additions":1.0}]',
        "cost": 0.0,
        "tokens_input": 11,
        "tokens_output": 7,
        "tokens_reasoning": 0,
        "tokens_cache_read": 2,
        "tokens_cache_write": 3,
        "share_url": "https://example.org/s/1",
        "metadata": '{"10":1,"a":{}}',
        "revert": '{"diff":null,"messageID":"msg_1","partID":"","files":[]}',
        "permission": "[]",
        "time_compacting": 0,
        "time_archived": 12,
    }
    assert made(row) == export(
        id="ses_1",
        slug="happy-moon",
        projectID="global",
        workspaceID="wrk_1",
        directory="/home/dev/project",
        path="",
        parentID="ses_0",
        title="Hello",
        agent="build",
        model={"id": "m", "providerID": "p", "variant": "v"},
        version="1.2.1",
        summary={"additions": 0, "deletions": 3, "files": 0, "diffs": [{"file": "a", "additions": 1}]},
        cost=0,
        tokens={"input": 11, "output": 7, "reasoning": 0, "cache": {"read": 2, "write": 3}},
        share={"url": "https://example.org/s/1"},
        metadata={"10": 1, "a": {}},
        revert={"messageID": "msg_1", "diff": None},
        permission=[],
        time={"created": 1000, "updated": 2000, "compacting": 0, "archived": 12},
    )


def test_what_says_nothing_is_left_out() -> None:
    nothing = dict.fromkeys(("workspace_id", "agent", "summary_additions", "summary_files", "time_archived"))
    assert made({**ROW, **nothing, "share_url": "", "model": "null", "metadata": "null", "revert": "0"}) == export(
        **OLD
    )


def test_a_message_and_a_part_have_their_ids_behind_their_data() -> None:
    first = message("msg_1", '{"role":"user","id":"own","9":1}')
    parts = [part("prt_1", '{"type":"text","text":"é"}'), part("prt_2", "{}", session_id="ses_2")]
    assert made(ROW, (first, parts), (message("msg_2", "{}"), [])) == export(
        {
            "info": {"9": 1, "role": "user", "id": "msg_1", "sessionID": "ses_1"},
            "parts": [
                {"type": "text", "text": "é", "id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1"},
                {"id": "prt_2", "sessionID": "ses_2", "messageID": "msg_1"},
            ],
        },
        {"info": {"id": "msg_2", "sessionID": "ses_1"}, "parts": []},
        **OLD,
    )


@pytest.mark.parametrize(
    ("row", "data", "why"),
    [
        ({"permission": '"a"'}, "{}", "the session 'ses_1' is not as opencode writes one: its permission is no array"),
        ({"revert": "[1]"}, "{}", "its revert is no object"),
        ({"model": "{"}, "{}", r"its model is no JSON \(.*line 1 column 2"),
        ({"metadata": 5}, "{}", "its metadata is no JSON"),
        ({}, "[]", "the message 'msg_1' is not as opencode writes one: its data is no object"),
        ({}, "", "its data is no JSON"),
        ({}, "[" * 500 + "]" * 500, "its data is no JSON .it nests deeper than 400 levels"),
    ],
)
def test_a_row_of_another_making_is_named(row: dict[str, Any], data: str, why: str) -> None:
    with pytest.raises(StrangeRow, match=why):
        made({**ROW, **row}, (message("msg_1", data), []))


@pytest.mark.parametrize(
    ("data", "over"),
    [
        ('{"role":"user"}', False),
        ('{"role":"assistant","time":{"created":1}}', False),
        ('{"role":"assistant","time":{"created":1,"completed":2},"finish":"tool-calls"}', False),
        ('{"role":"assistant","time":{"created":1,"completed":2},"finish":"stop"}', True),
        ('{"role":"assistant","time":{"created":1,"completed":2}}', True),
        ('{"role":"assistant","time":{"created":1},"error":{"name":"MessageAbortedError"}}', True),
        ("no json", True),
    ],
)
def test_a_turn_is_over_with_a_complete_answer(data: str, over: bool) -> None:
    assert is_over(message("msg_1", data)) == over


def test_a_session_without_messages_waits_for_nothing() -> None:
    assert is_over(None)
