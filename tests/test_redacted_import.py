"""Imports and secrets: what is told, what --redact leaves, and how a redacted session grows."""

import json
from pathlib import Path
from typing import Any

import pytest

from gitsession import (
    FoundSecret,
    ImportResult,
    Store,
    StoredSecret,
    growth,
    import_transcripts,
    new_commit,
    scan,
    secret_scan,
)
from gitsession.secret_rules import VERSION

from .conftest import Git
from .secrets_made_up import SECRETS, written

TOKEN = SECRETS["github-pat"]
MARK = "[redacted:github-pat]"


def line(number: int, text: str) -> str:
    return json.dumps(
        {
            "type": "user",
            "uuid": f"u{number}",
            "parentUuid": f"u{number - 1}" if number else None,
            "sessionId": "s",
            "timestamp": f"2025-01-01T00:00:0{number}Z",
            "message": {"role": "user", "content": text},
        }
    )


def put(path: Path, *texts: str) -> Path:
    path.write_text("".join(line(number, text) + "\n" for number, text in enumerate(texts)))
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return put(tmp_path / "s.jsonl", f"Use\n{TOKEN}", "Hello")


def take(store: Store, path: Path, **how: Any) -> ImportResult:
    (result,) = import_transcripts(store, [path], **how)
    assert isinstance(result, ImportResult)
    return result


def everything(store: Store, git: Git) -> str:
    """Returns all that the store holds: blobs, commits, and the trees' names."""
    oids = git("-C", store.path, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    refs = git("-C", store.path, "for-each-ref")
    logs = "".join(path.read_text() for path in store.path.glob("logs/**/*") if path.is_file())
    return refs + logs + "".join(git("-C", store.path, "cat-file", "-p", oid) for oid in oids)


def test_an_import_tells_the_secrets_of_what_is_new_once(store: Store, path: Path) -> None:
    assert take(store, path).secrets == (FoundSecret(1, "github-pat"),)
    assert take(store, path).secrets == ()
    put(path, f"Use\n{TOKEN}", "Hello", f"and {SECRETS['jwt']}")
    assert take(store, path).secrets == (FoundSecret(3, "jwt"),)


def test_a_redacted_import_holds_no_secret_anywhere(store: Store, path: Path, git: Git) -> None:
    result = take(store, path, redact=True)
    assert (result.redacted, result.secrets) == (True, (FoundSecret(1, "github-pat"),))
    held = everything(store, git)
    assert TOKEN not in held
    assert MARK in held
    assert [message["content"] for message in store.messages("s")] == [f"Use\n{MARK}", "Hello"]
    assert store.info("s").title == f"Use {MARK}"
    assert b"".join(store.original("s")).decode() == path.read_text().replace(TOKEN, MARK)


def test_a_redacted_session_says_so_in_its_header(store: Store, path: Path, git: Git) -> None:
    take(store, path, redact=True)
    assert json.loads(git("-C", store.path, "show", "s:session.json"))["meta"]["redacted"] == VERSION
    assert json.loads(git("-C", store.path, "show", "s~1:session.json"))["meta"]["redacted"] == VERSION


def test_a_redacted_session_stays_one_also_where_nobody_asks(store: Store, path: Path, git: Git) -> None:
    take(store, path, redact=True)
    put(path, f"Use\n{TOKEN}", "Hello", f"and {written('credentials-in-url')}")
    result = take(store, path)
    assert (result.session, result.new_commits, result.redacted) == ("s", 1, True)
    assert SECRETS["credentials-in-url"] not in everything(store, git)


def test_redacting_is_the_same_everywhere_and_however_it_grew(tmp_path: Path, path: Path, git: Git) -> None:
    oids = []
    for texts in (2, 1):
        store = Store.init(tmp_path / f"{texts}.git", durable=False)
        whole = path.read_text()
        path.write_text("".join(whole.splitlines(keepends=True)[:texts]))
        take(store, path, redact=True)
        path.write_text(whole)
        take(store, path, redact=True)
        oids.append(git("-C", store.path, "rev-parse", "s"))
    assert oids[0] == oids[1]


def test_a_file_without_secrets_goes_on_with_the_same_session(store: Store, path: Path) -> None:
    put(path, "Hello")
    take(store, path)
    put(path, "Hello", TOKEN)
    result = take(store, path, redact=True)
    assert (result.session, result.new_commits) == ("s", 1)
    assert store.info("s").meta.extra["redacted"] == VERSION


def test_redacting_what_was_stored_makes_a_session_beside_it(store: Store, path: Path) -> None:
    take(store, path)
    result = take(store, path, redact=True)
    assert (result.session, result.rewritten_from) == ("s.u0", "s")
    # From then on the file goes on there, whoever imports it.
    put(path, f"Use\n{TOKEN}", "Hello", TOKEN)
    again = take(store, path)
    assert (again.session, again.new_commits, again.redacted) == ("s.u0", 1, True)


def test_a_session_redacted_by_older_rules_goes_on_under_the_new_ones(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(path, f"Use\n{TOKEN}", written("private-key"))
    with monkeypatch.context() as older:
        older.setattr("gitsession.growth.VERSION", 1)
        take(store, path, redact=True)
    assert take(store, path).new_commits == 0
    assert store.info("s").meta.extra["redacted"] == 1
    put(path, f"Use\n{TOKEN}", written("private-key"), "Hello")
    result = take(store, path)
    assert (result.session, result.new_commits) == ("s", 1)
    assert store.info("s").meta.extra["redacted"] == VERSION


def test_a_key_that_a_tool_shows_with_line_numbers_is_neither_stored_nor_overlooked(
    store: Store, path: Path, git: Git
) -> None:
    rows = written("private-key").split("\n")
    put(path, "\n".join(f"{number:6d}\N{RIGHTWARDS ARROW}{row}" for number, row in enumerate(rows, 1)))
    take(store, path)
    assert [found.kind for found in scan(store)] == ["private-key"]
    assert [found.place for found in scan(store)] == ["1: record.message.content"]
    clean = Store.init(store.path.with_name("clean.git"), durable=False)
    assert take(clean, path, redact=True).secrets == (FoundSecret(1, "private-key"),)
    assert not [row for row in rows[1:-1] if row in everything(clean, git)]


def test_a_secret_that_is_a_records_id_is_in_no_name(store: Store, path: Path, git: Git) -> None:
    for escaped in (TOKEN, TOKEN.replace("p", "\\u0070")):
        texts = [line(number, "Hi").replace("u1", escaped) for number in range(3)]
        path.write_text("\n".join(texts) + "\n")
        clean = Store.init(store.path.with_name(f"{len(escaped)}.git"), durable=False)
        assert len(take(clean, path, redact=True).secrets) == 2
        assert TOKEN not in everything(clean, git)
        assert [entry.commit_id for entry in clean.log("s")] == ["u2", MARK, "u0"]
        assert len([*clean.messages("s")]) == 3
        path.write_text("\n".join([*texts, line(3, "Hi").replace("u3", TOKEN).replace("u2", TOKEN)]) + "\n")
        assert take(clean, path).new_commits == 1
        assert next(entry.commit_id for entry in clean.log("s")) == f"{MARK}.2"


def test_a_secret_that_is_a_records_time_is_in_no_header(store: Store, path: Path, git: Git) -> None:
    path.write_text(path.read_text().replace("2025-01-01T00:00:00Z", TOKEN))
    take(store, path, redact=True)
    assert TOKEN not in everything(store, git)


def test_a_secret_in_a_files_name_is_in_no_name_of_the_session(store: Store, tmp_path: Path, git: Git) -> None:
    path = put(tmp_path / f"x_{TOKEN}.jsonl", "Hi", "Hello")
    result = take(store, path, redact=True)
    assert (result.session, result.secrets) == (f"x_{MARK}", (FoundSecret(0, "github-pat"),))
    assert TOKEN not in everything(store, git)
    put(path, "Hi", "Hello", "Go on")
    again = take(store, path)
    assert (again.session, again.new_commits, again.redacted, again.secrets) == (f"x_{MARK}", 1, True, ())
    assert (take(store, path).new_commits, len([*store.sessions()])) == (0, 1)


def test_a_secret_in_a_files_name_is_told_where_it_is_stored(store: Store, tmp_path: Path) -> None:
    path = put(tmp_path / f"x_{TOKEN}.jsonl", "Hi")
    result = take(store, path)
    assert (result.session, result.secrets) == (f"x_{TOKEN}", (FoundSecret(0, "github-pat"),))


def test_files_whose_names_differ_by_their_secrets_are_beside_each_other(
    store: Store, tmp_path: Path, git: Git
) -> None:
    other = TOKEN[:4] + TOKEN[:3:-1]
    paths = [put(tmp_path / f"x_{token}.jsonl", text) for token, text in ((TOKEN, "Hi"), (other, "Hello"))]
    results = [*import_transcripts(store, paths, redact=True)]
    assert {one.session for one in results if isinstance(one, ImportResult)} == {f"x_{MARK}", f"x_{MARK}.u0"}
    assert not [token for token in (TOKEN, other) if token in everything(store, git)]


def test_a_subagents_session_is_named_without_the_secret_of_its_parents_name(
    store: Store, tmp_path: Path, git: Git
) -> None:
    directory = tmp_path / TOKEN / "subagents"
    directory.mkdir(parents=True)
    result = take(store, put(directory / "agent-a.jsonl", "Hi"), redact=True)
    assert result.session == f"{MARK}/agent-a"
    assert store.info(result.session).meta.parent_session == MARK
    assert TOKEN not in everything(store, git)


def test_records_that_are_no_json_are_redacted_too(store: Store, path: Path, git: Git) -> None:
    path.write_text(path.read_text() + "{broken " + TOKEN + "\n")
    take(store, path, redact=True)
    assert TOKEN not in everything(store, git)


def test_a_scan_tells_the_place_and_not_the_secret(store: Store, path: Path) -> None:
    take(store, path)
    (found,) = scan(store)
    assert found == StoredSecret("s", 0, "u0", "1: record.message.content", "github-pat")
    assert TOKEN not in repr(found)


def test_a_scan_looks_at_messages_of_all_kinds_and_tells_shared_ones_once(store: Store) -> None:
    said = {
        "role": "user",
        "content": [{"type": "text", "text": "-"}, {"type": "text", "text": written("private-key")}],
    }
    first = new_commit(None, [{"role": "user", "content": "Hi"}, said])
    store.bind("a").commit(first)
    store.fork("a", "b")
    assert [*scan(store)] == [StoredSecret("a", 0, first.id, "2: message.content[1].text", "private-key")]
    assert [*scan(store, "b")] == [StoredSecret("b", 0, first.id, "2: message.content[1].text", "private-key")]


def test_a_scan_of_a_redacted_session_finds_nothing(store: Store, path: Path) -> None:
    take(store, path, redact=True)
    assert [*scan(store)] == []


def test_what_only_newer_rules_find_is_beside_what_was_redacted_under_older_ones(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = written("password")
    with monkeypatch.context() as older:
        older.setattr(growth, "VERSION", VERSION - 1)
        older.setattr(secret_scan, "found_by_words", lambda *_: [])
        take(store, path, redact=True)
        other = take(store, put(path.with_name("t.jsonl"), f"Use\n{TOKEN}", login), redact=True)
        assert (other.new_commits, other.secrets) == (2, (FoundSecret(1, "github-pat"),))
    assert (take(store, path).session, take(store, path).new_commits) == ("s", 0)
    result = take(store, path.with_name("t.jsonl"))
    assert (result.session, result.rewritten_from, result.held_in) == ("t.u1", "t", ("t",))
    assert [message["content"] for message in store.messages("t.u1")] == [
        f"Use\n{MARK}",
        login.replace(SECRETS["password"], "[redacted:password]"),
    ]
    assert take(store, path.with_name("t.jsonl")).held_in == ()
