"""What holds for every transcript that is composed for an agent to resume."""

from dataclasses import replace
from pathlib import Path, PurePath

import pytest
from compositions import ID, RESUMABLE, comparable, compose_all, composed, draft, known, resumable, stored, whole
from hypothesis import given
from hypothesis import strategies as st
from test_formats import damaged
from transcript_files import TRANSCRIPTS, format_of, name_of, read

from gitsession.errors import SessionError
from gitsession.model import CompactionEntry, Message, MessageEntry
from gitsession.transcripts import FORMATS, Format, recognise
from gitsession.transcripts.composing import derived_uuid, milliseconds, since_epoch

FROM_AGENTS = [path for path in TRANSCRIPTS if not name_of(path).startswith("chat/")]
_AT = "2026-03-03T09:00:00.000Z"
KEEPERS = ("claude-code", "codex", "pi", "gemini", "openhands", "modular-agent")
"""The agents in whose transcripts a compaction says what it keeps."""
every_transcript = pytest.mark.parametrize("path", FROM_AGENTS, ids=name_of)
every_agent = pytest.mark.parametrize("one", RESUMABLE, ids=lambda one: one.name)
every_keeper = pytest.mark.parametrize(
    "one", [one for one in RESUMABLE if one.name in KEEPERS], ids=lambda one: one.name
)
# aider does not note when something was said, and modular-agent keeps the time as it was given.
every_timekeeper = pytest.mark.parametrize(
    "one", [one for one in RESUMABLE if one.name not in ("aider", "modular-agent")], ids=lambda one: one.name
)


@every_transcript
@every_agent
def test_what_is_composed_has_the_same_conversation(path: Path, one: Format) -> None:
    count = len(stored(path))
    for end in {count, count // 2, 2 * count // 3}:
        before, after = compose_all(path, one, end)
        assert comparable(after, one, resumable(path)) == comparable(before, one, resumable(path))


@every_transcript
@every_agent
def test_the_same_draft_gives_the_same_bytes_in_one_format(path: Path, one: Format) -> None:
    own, records = format_of(path), stored(path)
    entries = known(own.fold(records))
    arguments = (records, ()) if own is one else ((), entries)
    first, second = composed(one, *arguments), composed(one, *arguments)
    content = b"".join(first.lines)
    assert content == b"".join(second.lines)
    assert first.path == second.path
    assert recognise(content, first.path.name) is one or not (content or entries)


@every_agent
@pytest.mark.parametrize("own", ["..", "../../x", "/etc/x", "C:\\x", "--yolo", "a b", "\n", "\0", "x" * 300, "\ud800"])
def test_no_id_of_a_transcript_leaves_the_agents_directory_or_becomes_an_option(one: Format, own: str) -> None:
    assert one.compose is not None
    records = stored(next(path for path in FROM_AGENTS if format_of(path) is one))
    made = one.compose(whole(one, records, own))
    assert is_below(made.path)
    for command in (made.prepare, made.resume):
        assert own not in (command(PurePath("/x")) if command is not None else ())


@every_agent
@pytest.mark.parametrize("cwd", ["/", "..", "../../x", "C:\\x\\..", "//", "/a/../..", "-x", " ", "/\n", "/\udc80"])
def test_no_directory_of_a_transcript_leaves_the_agents(one: Format, cwd: str) -> None:
    assert one.compose is not None
    made = one.compose(draft(one)._replace(cwd=cwd))
    assert is_below(made.path)
    assert b"".join(made.lines) is not None


def is_below(path: PurePath) -> bool:
    return not path.is_absolute() and not {"..", "."} & {*path.parts}


@every_agent
def test_what_was_added_follows_what_was_forked(one: Format) -> None:
    added = [
        MessageEntry({"role": "user", "content": "And now?"}, id="e1", timestamp="2026-03-03T09:00:00Z"),
        MessageEntry({"role": "assistant", "content": "Done."}, id="e2", timestamp="2026-03-03T09:00:01Z"),
    ]
    for path in (path for path in FROM_AGENTS if format_of(path) is one):
        records = stored(path)
        found = read(one, b"".join(composed(one, records, added).lines))
        said = comparable(one.fold(found), one, resumable(path))
        # Where an answer does not say its model, it is taken to be the one that spoke before.
        said[-1].pop("model", None)
        before = comparable(one.fold(records), one, resumable(path))
        assert said == [*before, added[0].message, added[1].message], path


@every_keeper
def test_a_compaction_that_was_added_keeps_what_it_kept(one: Format) -> None:
    entries = [
        MessageEntry({"role": "user", "content": f"{number}"}, id=f"e{number}", timestamp="2026-03-03T09:00:00Z")
        for number in range(4)
    ]
    compaction = CompactionEntry("so far", "e2", 99, id="c", timestamp="2026-03-03T09:00:02Z")
    found = one.fold(read(one, b"".join(composed(one, (), [*entries, compaction, entries[0]]).lines)))
    assert [one for one in comparable(found, one, FORMATS["chat"]) if isinstance(one, str)] == ["so far"]
    kept = next(entry.first_kept_id for entry in found if isinstance(entry, CompactionEntry))
    said = [entry for entry in found if isinstance(entry, MessageEntry)]
    place = next(place for place, entry in enumerate(said) if entry.id == kept)
    # OpenHands keeps its system prompt, too.
    first = next(entry.message["content"] for entry in said[place:] if entry.message["role"] != "system")
    # Codex writes what it keeps into the compaction itself.
    assert first == ("0" if one.name == "codex" else "2")


@every_agent
def test_a_session_without_anything_is_composed_too(one: Format) -> None:
    found = composed(one)
    assert not found.path.is_absolute()
    assert [record.problem for record in read(one, b"".join(found.lines)) if record.problem] == []


@every_timekeeper
def test_an_entry_without_a_time_has_that_of_what_came_before(one: Format) -> None:
    entries = [
        MessageEntry({"role": "user", "content": "a"}, id="e1", timestamp="2026-03-03T09:00:00+01:00"),
        MessageEntry({"role": "user", "content": "b"}, id="e2", timestamp=""),
    ]
    found = one.fold(read(one, b"".join(composed(one, (), entries).lines)))
    assert {entry.timestamp for entry in found} == {"2026-03-03T08:00:00.000Z"}


@every_timekeeper
@pytest.mark.parametrize("unknown", ["", "no time", "1970-01-01T00:00:00.000Z"])
def test_before_all_that_has_a_time_the_next_one_tells(one: Format, unknown: str) -> None:
    entries = [
        MessageEntry({"role": "user", "content": own}, id=own, timestamp=at)
        for own, at in (("a", unknown), ("b", _AT), ("c", unknown))
    ]
    made = draft(one, (), entries)
    assert one.compose is not None
    content = b"".join(one.compose(made._replace(meta=replace(made.meta, created_at=unknown))).lines)
    assert {entry.timestamp for entry in one.fold(read(one, content))} == {_AT}


@pytest.mark.parametrize("name", ["codex", "gemini", "pi"])
def test_the_file_of_a_session_that_does_not_say_when_it_began_is_named_by_its_first_message(name: str) -> None:
    one = FORMATS[name]
    content = b"".join(composed(one, (), [MessageEntry({"role": "user", "content": "a"}, timestamp=_AT)]).lines)
    made = whole(one, read(one, content), ID)
    assert one.compose is not None
    path = one.compose(made._replace(meta=replace(made.meta, created_at=""))).path
    assert path.name.removeprefix("rollout-").removeprefix("session-").startswith("2026-03-03T09-00")


@every_timekeeper
def test_what_was_said_and_what_came_of_it_keeps_its_time(one: Format) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    talk: list[Message] = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "tool_calls": [call], "model": "m"},
        {"role": "tool", "content": "b", "tool_call_id": "c1"},
        {"role": "assistant", "content": "c", "model": "m"},
    ]
    times = [f"2026-03-03T09:0{number}:00.000Z" for number in range(len(talk))]
    entries = [MessageEntry(said, id=at, timestamp=at) for said, at in zip(talk, times, strict=True)]
    found = one.fold(read(one, b"".join(composed(one, (), entries).lines)))
    assert [entry.timestamp for entry in found][-len(times) :] == times


@given(damaged(), st.sampled_from(RESUMABLE))
def test_no_damage_stops_an_export_but_with_an_error_of_ours(case: tuple[str, bytes], one: Format) -> None:
    name, content = case
    own = FORMATS[name]
    found = [record for record in read(own, content) if not record.unfinished]
    records = [record._replace(id=f"r{place}") for place, record in enumerate(found)]
    same = own is one
    made = composed(one, records if same else (), () if same else known(own.fold(records)))
    try:
        written = b"".join(made.lines)
    except SessionError:
        return
    assert [record.problem for record in read(one, written) if record.problem] == []


@pytest.mark.parametrize(
    ("stamp", "expected", "number"),
    [
        ("2026-03-02T09:00:00Z", "2026-03-02T09:00:00.000Z", 1772442000000),
        ("2026-03-02T09:00:00.123456+01:00", "2026-03-02T08:00:00.123Z", 1772438400123),
        ("", "1970-01-01T00:00:00.000Z", 0),
        ("no time", "1970-01-01T00:00:00.000Z", 0),
        ("0001-01-01T00:00:00+23:00", "1970-01-01T00:00:00.000Z", 0),
    ],
)
def test_times_are_written_as_agents_do(stamp: str, expected: str, number: int) -> None:
    assert (milliseconds(stamp), since_epoch(stamp)) == (expected, number)


def test_ids_are_derived_from_any_text() -> None:
    assert derived_uuid(ID, "a", "b") != derived_uuid(ID, "a\0b", "")
    assert derived_uuid(ID, "\ud800") == derived_uuid(ID, "\ud800")
