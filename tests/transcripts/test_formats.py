"""What holds for every format: nothing is lost, nothing depends on what follows, nothing but the bytes is looked at."""

import copy
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transcript_files import TRANSCRIPTS, content_of, format_of, header_of, name_of, read, records_of

from gitsession.model import build_context
from gitsession.record_ids import RecordIds
from gitsession.transcripts import FORMATS, find_format, recognise
from gitsession.transcripts.document import is_first
from gitsession.transcripts.stored import decode_record, encode_record
from tests.scratches import abandoned

every_transcript = pytest.mark.parametrize("path", TRANSCRIPTS, ids=name_of)
any_transcript = st.sampled_from(TRANSCRIPTS)


@every_transcript
def test_is_recognised_as_the_format_of_its_directory(path: Path) -> None:
    assert name_of(path).startswith(f"{format_of(path).name}/")


@every_transcript
def test_no_other_format_takes_it_for_its_own(path: Path) -> None:
    head = path.read_bytes()[: 64 << 10]
    taken = [one.name for one in FORMATS.values() if one.recognise(head, path.name)]
    own = format_of(path).name
    # A list of messages is a list of messages in many formats: those of no agent come last, for what none claims.
    assert taken[0] == own
    assert set(taken[1:]) <= {"chat", "langchain"}


@every_transcript
def test_the_records_written_are_the_file(path: Path) -> None:
    assert b"".join(format_of(path).write(records_of(path))) == content_of(path)


@every_transcript
def test_the_records_of_a_beginning_are_a_beginning_of_the_records(path: Path) -> None:
    one, whole, content = format_of(path), records_of(path), content_of(path)
    for end in range(0, len(content), max(1, len(content) // 300)):
        part = [record for record in read(one, content[:end]) if not record.unfinished]
        seen = [(record.raw, record.value, record.id) for record in part]
        expected = [(record.raw, record.value, record.id) for record in whole[: len(part)]]
        if part and is_first(part[0]):
            # What stands around the messages of a document is known only when it is complete.
            seen, expected = seen[1:], expected[1:]
        # The last one of the part may have lost a blank after it, which the whole file gives it.
        assert seen[:-1] == expected[:-1]
        assert [one[1:] for one in seen] == [one[1:] for one in expected]


@every_transcript
def test_every_beginning_of_the_log_has_a_conversation(path: Path) -> None:
    one, records = format_of(path), records_of(path)
    for end in range(len(records) + 1):
        entries = one.fold(records[:end])
        ids = [entry.id for entry in entries]
        assert len(ids) == len(set(ids))
        build_context(entries)


@every_transcript
def test_the_outlines_tell_the_abandoned_lines(path: Path) -> None:
    abandoned(format_of(path), records_of(path), damaged=path.stem == "oddities")


@every_transcript
def test_the_same_log_always_gives_the_same(path: Path) -> None:
    one = format_of(path)
    first, second = records_of(path), records_of(path)
    assert one.fold(first) == one.fold(second)
    assert one.abandoned(first) == one.abandoned(second)
    assert header_of(one, path, first) == header_of(one, path, second)
    assert [one.view(record) for record in first] == [one.view(record) for record in second]


@every_transcript
def test_a_stored_record_comes_back(path: Path) -> None:
    for place, record in enumerate(records_of(path)):
        name, back = decode_record(encode_record("any", f"record-{place}", record))
        assert (name, back.raw, back.value, back.newline) == ("any", record.raw, record.value, record.newline)


@every_transcript
def test_the_header_tells_the_session_from_the_first_record(path: Path) -> None:
    header = format_of(path).header(path, records_of(path)[0])
    assert {"id", "created_at", "agent"} <= header.keys()


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\n\n",
        b"\x89PNG\r\n\x1a\n\0\0",
        b"# A heading\n",
        b"[]",
        b"{}",
        b"[1, 2]",
        b'{"name": "project", "messages": "none"}',
        b'{"agentType":"Explore","description":"Count modules"}\n',
        b'{"messages":[]}\n{"messages":[]}\n',
        b'{"messages":[{"role":"user","content":"a"}]}\n{"messages":["b"]}\n',
        b'{"choices":["yes","no"]}\n',
        b'{"choices":[{"text":"a"}]}\n',
        b'{"object":"chat.completion.chunk","choices":[{"delta":{"role":"assistant","content":"a"}}]}\n',
        b'{"type":"session","id":"a","timestamp":"2026-03-02T10:00:00Z"}\n',
        b'{"type":"session","id":"a","cwd":"/home/dev"}\n{"type":"log","text":"not an entry"}\n',
        b'{"type":"event","payload":{"type":"user_message"}}\n',
        b'{"id":"a","name":"not a session"}\n{"id":"b","name":"not an entry"}\n',
        b'{"sessionId":"s","count":1}\n',
        b'{"id":"ses_1","title":"no session of opencode"}\n',
        b'{"id":"msg_1","role":"user","sessionID":"ses_1","time":{"created":1}}\n',
        b'{"type":"session.start","data":{"sessionId":"s"}}\n',
        b'{"type":"session_start","id":"s"}\n{"type":"reasoning_delta","text":"a"}\n',
        b'{"messages":[{"type":"human","content":""}],"role":"x"}'[:14],
        b'{"id":"b","agent":{},"workspace":{}}',
        b"# aider chat started at noon\n",
    ],
)
def test_what_is_no_transcript_is_not_recognised(head: bytes) -> None:
    assert recognise(head, "some.jsonl") is None


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (
            b'{"parentUuid":null,"sessionId":"s","type":"user","uuid":"u","message":{"role":"user","content":"',
            "claude-code",
        ),
        (
            b'{"timestamp":"2026-03-02T09:00:00.000Z","type":"session_meta","payload":{"id":"a","base_instructions":{"text":"',
            "codex",
        ),
        (b'[{"role":"user","content":"', "chat"),
        (b'{"model":"m","messages":[{"role":"user","content":"', "chat"),
        (b'{"role":"user","content":"', "chat"),
        (b'{"sessionId":"s","projectHash":"p","startTime":"t","lastUpdated":"t","messages":[{"id":"', "gemini"),
        (b'{\n  "info": {"id": "ses_1", "projectID": "p", "time": {}},\n  "messages": [{"info": {"id": "', "opencode"),
        (b'{"type":"session.start","data":{"sessionId":"s","context":"', "copilot"),
        (b'{"trajectory":[{"action":"ls","observation":"","response":"","thought":""},{"action":"', "swe-agent"),
        (
            b'{"info":{"model_stats":{}},"messages":[{"role":"system","content":""},{"role":"user","content":"',
            "swe-agent",
        ),
        (b'[{"source":"user","timestamp":"t","action":"message"},{"source":"agent","args":{"content":"', "openhands"),
        (b'[{"type":"human","data":{"content":"a"}},{"type":"ai","data":{"content":"', "langchain"),
        (b"\n# aider chat started at 2026-03-02 09:00:00\n\n> ", "aider"),
    ],
)
def test_a_first_record_longer_than_the_head_is_recognised(head: bytes, expected: str) -> None:
    found = recognise(head + b"x" * 70_000, "some")
    assert found is not None
    assert found.name == expected


def lengthened(value: Any, most: int) -> None:
    """Makes the longest text in a JSON object, names and ids aside, as long as a prompt with an image is."""
    texts: list[tuple[Any, Any]] = []

    def look(inner: Any) -> None:
        for key, one in inner.items() if isinstance(inner, dict) else enumerate(inner):
            if isinstance(one, dict | list):
                look(one)
            elif isinstance(one, str) and key not in ("type", "id", "kind", "role", "source"):
                texts.append((inner, key))

    look(value)
    if texts:
        holder, key = max(texts, key=lambda text: len(text[0][text[1]]))
        holder[key] += "x" * most


LINES = [path for path in TRANSCRIPTS if path.suffix == ".jsonl" and records_of(path)[0].value is not None]


@pytest.mark.parametrize("path", LINES, ids=name_of)
def test_a_first_line_longer_than_the_head_is_read_to_its_end(path: Path) -> None:
    first, _, rest = path.read_bytes().partition(b"\n")
    value = json.loads(first)
    lengthened(value, 200_000)
    for blanks in (b"", b"\xef\xbb\xbf\n  "):
        content = blanks + json.dumps(value).encode() + b"\n" + rest
        assert find_format(io.BytesIO(content), path.name) is format_of(path)


LOGS = [path for path in LINES if format_of(path).growth(records_of(path)[0]) == "log"]


@pytest.mark.parametrize("path", LOGS, ids=name_of)
def test_a_line_of_something_else_before_a_log_does_not_hide_it(path: Path) -> None:
    for junk in (b"npm notice\n", b"x" * 200_000 + b"\n", b'{"a": "' + b"x" * 200_000 + b"\n"):
        assert find_format(io.BytesIO(junk + path.read_bytes()), path.name) is format_of(path)


def _with_damaged_headers(path: Path) -> Iterator[bytes]:
    """Yields a log with its first line cut, or with a piece of it gone or overwritten, in several places."""
    first, _, rest = path.read_bytes()[: 64 << 10].partition(b"\n")
    for end in range(2, len(first) - 2, max(1, len(first) // 12)):
        for damaged in (first[:end], first[:end] + b"\\", first[:end] + b"\0\0" + first[end + 2 :], first[end:]):
            yield damaged + b"\n" + rest


@pytest.mark.parametrize("path", LOGS, ids=name_of)
def test_a_log_whose_header_cannot_be_read_is_taken_by_no_other_format(path: Path) -> None:
    assert {recognise(head, path.name) for head in _with_damaged_headers(path)} <= {format_of(path), None}


@pytest.mark.parametrize("path", [path for path in LOGS if format_of(path).name in ("droid", "modular-agent")])
def test_a_header_that_cannot_be_read_does_not_hide_what_follows(path: Path) -> None:
    first, _, rest = path.read_bytes().partition(b"\n")
    for end in range(len(b'{"type":"session_start"'), len(first), 7):
        head = first[:end] + b"\\\n" + rest
        assert recognise(head, path.name) is format_of(path)
        records = read(format_of(path), head)
        assert b"".join(format_of(path).write(records)) == head
        assert header_of(format_of(path), path, records)["id"] == path.stem


@pytest.mark.parametrize(
    "head",
    [
        b'{"id":"a","vers\\\n{"type":"message","id":"b","timestamp":"2026-03-02T09:00:00Z","text":"no message"}\n',
        b'{"id":"a","vers\\\n{"type":"message","id":"b","message":{"role":"user","content":"no time"}}\n',
        b'{"type":"ses\\\n{"type":"message","id":"b","timestamp":"2026-03-02T09:00:00Z","message":{"role":"user"}}\n',
        b'{"id":"a","type":"s\\\n{"type":"message","id":"b","timestamp":"2026-03-02T09:00:00Z","message":{"role":"user"}}\n',
        b'{"type":"session_start"\\\n{"type":"reasoning_delta","text":"a"}\n',
        b'{"type":"session_start"\\\n{"type":"message","text":"no message"}\n',
        b'{"type":"session_start"\\\n',
        b'{"type":"message","id":"b","timestamp":"2026-03-02T09:00:00Z","message":{"role":"user","content":[]}}\n',
    ],
)
def test_what_follows_no_header_tells_nothing_where_it_could_be_anything(head: bytes) -> None:
    assert recognise(head, "some.jsonl") is None


def test_what_stands_under_the_damaged_header_of_another_agent_is_not_pis() -> None:
    entry = (
        b'{"type":"message","id":"b","parentId":null,"timestamp":"2026-03-02T09:00:00Z","message":{"role":"user"}}\n'
    )
    assert recognise(b'{"type":"session_start"\\\n' + entry, "a.jsonl") is FORMATS["droid"]
    assert recognise(b'{"type":"session"\\\n' + entry, "a.jsonl") is FORMATS["pi"]


@pytest.mark.parametrize("path", LOGS, ids=name_of)
def test_a_log_that_begins_twice_is_one(path: Path) -> None:
    first, _, _ = path.read_bytes().partition(b"\n")
    assert find_format(io.BytesIO(first + b"\n" + path.read_bytes()), path.name) is format_of(path)


def test_a_long_line_that_never_ends_is_read_no_further_than_it_is_looked_at() -> None:
    stream = io.BytesIO(b'{"a":"' + b"x" * (20 << 20))
    assert find_format(stream, "a.jsonl") is None
    assert stream.tell() < 17 << 20
    stream = io.BytesIO(b"\x00" * (1 << 20))
    assert find_format(stream, "a.jsonl") is None
    assert stream.tell() == 64 << 10


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, bytes]:
    """Returns a transcript that something happened to, and its format."""
    path = draw(any_transcript)
    content = content_of(path)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(len(content), start + 300)))
        lines = content.split(b"\n")
        line = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(["cut", "drop", "flip", "glue", "repeat", "split", "shuffle"])):
            case "cut":
                content = content[:start]
            case "drop":
                content = content[:start] + content[end:]
            case "flip":
                content = content[:start] + draw(st.binary(min_size=1, max_size=3)) + content[start + 1 :]
            case "glue":
                content = b"\n".join(lines[:line]) + b"\n".join(lines[line:])
            case "repeat":
                content = b"\n".join([*lines[: line + 1], *lines[line:]])
            case "split":
                content = content[:start] + b"\n" + content[start:]
            case "shuffle":
                content = b"\n".join(draw(st.permutations(lines)))
    return format_of(path).name, content


@given(damaged())
def test_no_damage_loses_a_byte_or_stops_a_reader(case: tuple[str, bytes]) -> None:
    name, content = case
    one = FORMATS[name]
    records = read(one, content)
    written = b"".join(one.write(records))
    assert written in (content, content + b"\n")
    assert not any(record.unfinished for record in records[:-1])
    for record in records:
        one.view(record)
    if records:
        header_of(one, Path("/home/dev/some.jsonl"), records)
    entries = one.fold(records)
    assert all(entry.id for entry in entries)
    ids = RecordIds()
    records = [record._replace(id=ids.take(place, record)) for place, record in enumerate(records)]
    known = {record.id for record in records}
    assert {entry.id.partition("/")[0] for entry in one.fold(records)} <= known
    assert all(line.last in known for line in abandoned(one, records, damaged=True))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yields where the values inside a value are."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield (*path, key)
        yield from places(item, (*path, key))


# What may stand where a format has something else.
odd = st.sampled_from([None, True, 0, -1, 1e400, 10**20, "", "a", [], ["a"], [None], [[]], [1], {}, {"a": 1}, [{}]])


@given(any_transcript, st.data())
def test_no_shape_of_a_record_stops_a_reader(path: Path, data: st.DataObject) -> None:
    one, records = format_of(path), records_of(path)
    for _ in range(data.draw(st.integers(1, 4))):
        number = data.draw(st.integers(0, len(records) - 1))
        value = copy.deepcopy(records[number].value)
        found = list(places(value))
        if not found:
            continue
        *outer, last = data.draw(st.sampled_from(found))
        inner = value
        for key in outer:
            inner = inner[key]
        inner[last] = data.draw(odd)
        records[number] = records[number]._replace(raw=json.dumps(value).encode(), value=value)
    for record in records:
        one.view(record)
        one.growth(record)
    header_of(one, path, records)
    assert all(entry.id for entry in one.fold(records))
    one.abandoned([one.outline(record) for record in records])
    recognise(b"\n".join(record.raw for record in records), path.name)
    list(one.write(records))


@given(st.binary(max_size=200), st.sampled_from(sorted(FORMATS)))
def test_any_bytes_are_records(content: bytes, name: str) -> None:
    one = FORMATS[name]
    recognise(content, "any")
    assert b"".join(one.write(read(one, content))) in (content, content + b"\n")


def test_reading_goes_on_while_the_file_is_read() -> None:
    read_so_far = []

    class Watched(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            read_so_far.append(line := super().readline(size))
            return line

    content = b'{"type":"user","uuid":"u","sessionId":"s","message":{}}\n' * 5
    next(iter(FORMATS["claude-code"].read(Watched(content))))
    assert len(read_so_far) == 1
