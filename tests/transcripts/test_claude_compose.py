"""Transcripts for Claude Code: forks of its own sessions, and sessions of others."""

import json
from typing import Any
from uuid import UUID

import pytest
from claude_logs import CLAUDE_CODE, answer, boundary, other, record, summary, user
from compositions import ID, again, composed, draft, lines, stored
from transcript_files import FIXTURES

from gitsession.model import CompactionEntry, MessageEntry
from gitsession.transcripts.claude_compose import compose, directory

URL = "data:image/png;base64,eA=="
LOG = [user("u1", None, "one", sessionId="old"), answer("a1", "u1", "1", "m1", sessionId="old")]


def entry(own: str, **message: Any) -> MessageEntry:
    return MessageEntry(message, id=own, timestamp="2026-03-03T09:00:00Z")


def call(name: str, arguments: str = "{}", tool: str = "Read") -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": tool, "arguments": arguments}}


def test_a_fork_has_new_ids_and_says_where_they_come_from() -> None:
    first, second, title = lines(CLAUDE_CODE, LOG, title="A walk")
    assert all(str(UUID(one["uuid"])) == one["uuid"] for one in (first, second, title))
    assert (first["parentUuid"], second["parentUuid"]) == (None, first["uuid"])
    assert {one["sessionId"] for one in (first, second, title)} == {ID}
    assert second["forkedFrom"] == {"sessionId": "old", "messageUuid": "a1"}
    assert (title["type"], title["customTitle"]) == ("custom-title", "A walk (fork)")


def test_a_fork_of_a_fork_is_called_a_fork_once() -> None:
    assert lines(CLAUDE_CODE, LOG, title="A walk (fork)")[-1]["customTitle"] == "A walk (fork)"
    assert lines(CLAUDE_CODE, LOG)[-1]["customTitle"] == "Forked session (fork)"


def test_progress_is_passed_over() -> None:
    progress = [other("p1", "a1", "progress"), other("p2", "p1", "progress")]
    found = lines(CLAUDE_CODE, [*LOG, *progress, user("u2", "p2", "two")])
    assert [one["type"] for one in found] == ["user", "assistant", "user", "custom-title"]
    assert found[2]["parentUuid"] == found[1]["uuid"]


@pytest.mark.parametrize("missing", ["gone", "u2"])
def test_what_stands_before_a_gap_is_gone_on_from(missing: str) -> None:
    """A parent that cannot be read or was never written, and one that is the record itself."""
    log = [*LOG, record({"type": "user"}), user("u2", missing, "two"), other("p1", "gone too", "progress")]
    log.append(user("u3", "p1", "three"))
    found = lines(CLAUDE_CODE, log)

    assert [one["parentUuid"] for one in found[:-1]] == [None, *(one["uuid"] for one in found[:-2])]
    assert [entry.message["content"] for entry in again(CLAUDE_CODE, log)] == ["one", "1", "two", "three"]


def test_subagents_and_what_ties_a_session_to_its_team_are_left_behind() -> None:
    aside = user("x1", None, "count", isSidechain=True)
    named = user("u2", "a1", "two", slug="a-b", agentName="n", sourceToolAssistantUUID="a1")
    found = lines(CLAUDE_CODE, [*LOG, aside, named])
    assert [one.get("message", {}).get("content") for one in found[:-1]][2:] == ["two"]
    assert not {"slug", "agentName", "sourceToolAssistantUUID"} & found[2].keys()


def test_the_file_of_a_subagent_becomes_a_session() -> None:
    aside = [user("x1", None, "count", isSidechain=True), answer("y1", "x1", "2", "m", isSidechain=True)]
    assert [one["isSidechain"] for one in lines(CLAUDE_CODE, aside)[:-1]] == [False, False]


def test_what_was_replaced_in_the_context_stays_so() -> None:
    replaced = other("c1", None, "content-replacement", replacements=[{"toolUseId": "t"}])
    found = lines(CLAUDE_CODE, [*LOG, replaced, replaced])
    assert found[2]["replacements"] == [{"toolUseId": "t"}] * 2
    assert found[2]["sessionId"] == ID


def test_the_links_of_a_compaction_are_renamed() -> None:
    about = {"preservedSegment": {"headUuid": "u1", "tailUuid": "a1", "anchorUuid": "s1"}}
    about["preservedMessages"] = {"uuids": ["u1", "a1"], "anchorUuid": "s1"}
    log = [*LOG, boundary("b1", "a1", **about), summary("s1", "b1", "so far"), user("u2", "a1", "two")]
    first, second, mark, said, *_ = lines(CLAUDE_CODE, log)
    assert mark["logicalParentUuid"] == second["uuid"]
    ends = {"headUuid": first["uuid"], "tailUuid": second["uuid"], "anchorUuid": said["uuid"]}
    assert mark["compactMetadata"]["preservedSegment"] == ends
    assert mark["compactMetadata"]["preservedMessages"]["uuids"] == [first["uuid"], second["uuid"]]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "user", "content": "a"}, {"role": "user", "content": "a"}),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": URL}}]},
            {
                "role": "user",
                "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "eA=="}}],
            },
        ),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x/y.png"}}]},
            {
                "role": "user",
                "content": [{"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}],
            },
        ),
        (
            {"role": "tool", "tool_call_id": "c|1", "content": "no", "is_error": True},
            {
                "role": "user",
                "content": [{"tool_use_id": "c_1", "type": "tool_result", "content": "no", "is_error": True}],
            },
        ),
    ],
)
def test_what_is_said_to_the_model_has_the_providers_shape(message: dict[str, Any], expected: dict[str, Any]) -> None:
    assert lines(CLAUDE_CODE, (), [entry("e", **message)])[0]["message"] == expected


def test_an_answer_has_the_providers_shape() -> None:
    calls = [call("c1", '{"path": "a"}'), call("c2", "*** Begin Patch", "apply patch")]
    (said,) = lines(CLAUDE_CODE, (), [entry("e", role="assistant", content="I look.", tool_calls=calls, model="m")])
    assert said["message"]["content"] == [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "c1", "name": "Read", "input": {"path": "a"}},
        {"type": "tool_use", "id": "c2", "name": "apply_patch", "input": {"input": "*** Begin Patch"}},
    ]
    assert (said["message"]["model"], said["message"]["stop_reason"]) == ("m", "tool_use")


def test_thoughts_that_the_provider_did_not_sign_are_left_out() -> None:
    thought = entry("e1", role="assistant", reasoning="hm")
    found = lines(
        CLAUDE_CODE, (), [entry("e0", role="user", content="a"), thought, entry("e2", role="user", content="b")]
    )
    assert [one["message"]["content"] for one in found] == ["a", "b"]
    assert found[1]["parentUuid"] == found[0]["uuid"]
    signed = answer("a1", None, [{"type": "thinking", "thinking": "hm", "signature": "s"}], "m")
    assert lines(CLAUDE_CODE, [signed])[0]["message"]["content"][0]["signature"] == "s"


def test_prompts_of_the_system_become_context() -> None:
    found = lines(CLAUDE_CODE, (), [entry("e", role="system", content="Be brief.")])
    assert (found[0]["type"], found[0]["isMeta"]) == ("user", True)


def test_a_compaction_that_was_added_keeps_forked_records() -> None:
    records = stored(FIXTURES / "claude-code" / "simple.jsonl")
    entries = CLAUDE_CODE.fold(records)
    kept = entries[2].id
    compaction = CompactionEntry("so far", kept, None, id="c", timestamp="2026-03-03T09:00:00Z")
    found = again(CLAUDE_CODE, records, [compaction, entry("e", role="user", content="And now?")])
    (made,) = [one for one in found if isinstance(one, CompactionEntry)]
    assert made.first_kept_id == found[2].id
    assert [one.id for one in found].index(made.id) == len(entries)


def test_the_agent_looks_for_a_session_by_its_directory() -> None:
    assert str(composed(CLAUDE_CODE, LOG).path) == f"projects/-home-dev-project/{ID}.jsonl"
    assert composed(CLAUDE_CODE, LOG).resume(composed(CLAUDE_CODE, LOG).path) == ("claude", "--resume", ID)


OWN = "259f67b4-bca3-54b6-8738-53e52c4d1610"


@pytest.mark.parametrize(
    ("own", "said", "expected"),
    [
        (OWN, {"sessionId": OWN}, True),
        (OWN, {"sessionId": OWN.replace("2", "3")}, False),
        (OWN, {"sessionId": OWN, "isSidechain": True}, False),
        (OWN, {}, True),
        ("renamed", {"sessionId": OWN}, False),
        (f"{OWN}/agent-1", {"sessionId": OWN, "isSidechain": True}, False),
    ],
)
def test_a_whole_session_stays_as_it_is_where_its_name_is_the_id_in_its_records(
    own: str, said: dict[str, Any], expected: bool
) -> None:
    log = [user("u1", None, "one", **said), answer("a1", "u1", "1", "m1", **said)]
    made = draft(CLAUDE_CODE, log)
    done = compose(made._replace(meta=made.meta.__class__(own), whole=True))
    assert (done.path.stem, done.rewritten) == (own if expected else ID, not expected)
    if not expected:
        found = [json.loads(line) for line in done.lines]
        assert {(one["sessionId"], one.get("isSidechain", False)) for one in found} == {(ID, False)}


@pytest.mark.parametrize(
    ("cwd", "expected"),
    [("/home/dev/my.project", "-home-dev-my-project"), ("/home/dev/Ordnér", "-home-dev-Ordn-r"), ("C:\\a", "C--a")],
)
def test_a_directory_is_named_as_the_agent_names_it(cwd: str, expected: str) -> None:
    assert directory(cwd) == expected


def test_every_line_is_one_object() -> None:
    for line in composed(CLAUDE_CODE, stored(FIXTURES / "claude-code" / "oddities.jsonl")).lines:
        assert line.endswith(b"\n")
        assert isinstance(json.loads(line), dict)
