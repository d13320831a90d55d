"""What is shown of one record of a Claude Code transcript."""

from typing import Any

import pytest
from transcript_files import FIXTURES, records_of

from gitsession.transcripts import FORMATS, Record
from gitsession.view import Part, View, readable

VIEW = FORMATS["claude-code"].view


def shown(value: Any) -> tuple[str, str]:
    view = VIEW(Record(b"", value))
    return view.who, readable(view)


def test_who_speaks_in_each_record() -> None:
    records = records_of(FIXTURES / "claude-code" / "tools.jsonl")
    assert [VIEW(record).who for record in records] == [
        *("meta", "meta", "user", "meta", "assistant", "assistant", "meta", "assistant", "assistant"),
        *("tool", "tool", "tool", "user", "assistant", "assistant", "tool", "meta", "assistant", "meta", "meta"),
    ]


def test_an_answer_names_its_model() -> None:
    message = {"role": "assistant", "model": "claude-sonnet-4-5", "content": [{"type": "text", "text": "1"}]}
    assert VIEW(Record(b"", {"type": "assistant", "message": message})) == View(
        "assistant", (Part("text", "1"),), "claude-sonnet-4-5"
    )
    message["model"] = "<synthetic>"
    assert VIEW(Record(b"", {"type": "assistant", "message": message})).model is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"type": "summary", "summary": "About git", "leafUuid": "l"}, ("meta", "summary: About git")),
        ({"type": "custom-title", "customTitle": "Git"}, ("meta", "custom-title: Git")),
        ({"type": "mode", "mode": "plan"}, ("meta", "mode: plan")),
        ({"type": "queue-operation", "operation": "enqueue", "content": "do"}, ("meta", "queue-operation: enqueue do")),
        ({"type": "tag", "tag": ""}, ("meta", "tag")),
        ({"type": "progress", "data": {"type": "bash_progress"}}, ("meta", "progress: bash_progress")),
        (
            {"type": "file-history-snapshot", "snapshot": {"trackedFileBackups": {"a": 1}}},
            ("meta", "file-history-snapshot: 1 file"),
        ),
        ({"type": "content-replacement", "replacements": [1, 2]}, ("meta", "content-replacement: 2 replacements")),
        ({"type": "system", "subtype": "turn_duration", "durationMs": 5}, ("meta", "turn_duration: 5 ms")),
        ({"type": "system", "subtype": "api_error", "error": {"message": "busy"}}, ("meta", "api_error: busy")),
        ({"type": "system", "subtype": "local_command", "content": "done"}, ("system", "done")),
        (
            {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto", "preTokens": 7}},
            ("system", "compact_boundary (auto, 7 tokens before)"),
        ),
        ({"type": "user", "isMeta": True, "message": {"content": "note"}}, ("meta", "note")),
        ({"type": "user", "isCompactSummary": True, "message": {"content": "so far"}}, ("system", "so far")),
        ({"type": "of-tomorrow", "a": 1}, ("meta", 'of-tomorrow: {"type":"of-tomorrow","a":1}')),
        ({"a": 1}, ("meta", 'unknown record: {"a":1}')),
    ],
)
def test_each_kind_is_shown_by_what_says_most(value: dict[str, Any], expected: tuple[str, str]) -> None:
    assert shown(value) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [(b"\r", "blank line"), (b'{"cut', 'not a record: {"cut'), (b"caf\xe9", "not a record: caf\ufffd")],
)
def test_what_is_no_record_is_shown_as_it_stands(raw: bytes, expected: str) -> None:
    assert readable(VIEW(Record(raw))) == expected
