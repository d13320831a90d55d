"""import: what it takes, what it says of the rest, and how its exit code tells."""

import json
import os
import pty
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Git
from tests.secrets_made_up import SECRETS

from .conftest import COMMAND, Result, Run

FIXTURES = Path(__file__).parents[2] / "fixtures"

RESULT_KEYS = [
    "path",
    "session",
    "format",
    "new_commits",
    "branch_created",
    "problems",
    "abandoned",
    "rewritten_from",
    "unfinished",
    "behind",
    "secrets",
    "redacted",
    "held_in",
]


def record(number: int, text: str) -> dict[str, Any]:
    role = "assistant" if number % 2 else "user"
    return {
        "type": role,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": "s1",
        "timestamp": f"2025-01-01T00:{number // 60:02}:{number % 60:02}.000Z",
        "isSidechain": False,
        "message": {"role": role, "content": text if role == "user" else [{"type": "text", "text": text}]},
    }


def transcript(*texts: str) -> bytes:
    return b"".join(json.dumps(record(number, text)).encode() + b"\n" for number, text in enumerate(texts))


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    """Makes a directory as Claude Code has it: one transcript, and what else may lie there."""
    directory = tmp_path / "projects"
    (directory / "-home-me").mkdir(parents=True)
    (directory / "-home-me" / "s1.jsonl").write_bytes(transcript("Hello", "Hi", "Bye"))
    (directory / "-home-me" / "notes.txt").write_text("no transcript\n")
    return directory


def test_a_directory_is_imported_and_summed_up(gitsession: Run, projects: Path) -> None:
    done = gitsession("import", projects)
    assert done.code == 0
    assert done.out.splitlines()[0].split() == ["3", "s1", str(projects / "-home-me" / "s1.jsonl")]
    assert done.out.splitlines()[-1].startswith("1 session, 3 new commits")
    shown = gitsession("show", "s1", "--json").values
    assert [one["content"] for one in shown] == ["Hello", "Hi", "Bye"]


def test_importing_again_adds_only_what_is_new(gitsession: Run, projects: Path) -> None:
    path = projects / "-home-me" / "s1.jsonl"
    gitsession("import", projects)
    assert gitsession("import", path).out == "1 session, 0 new commits\n"
    path.write_bytes(transcript("Hello", "Hi", "Bye", "See you"))
    assert gitsession("import", path).out.endswith("1 session, 1 new commit\n")
    done = gitsession("export", "s1", "--format", "original")
    assert (done.code, done.out.encode()) == (0, path.read_bytes())


def test_import_as_json_has_one_object_a_file(gitsession: Run, projects: Path) -> None:
    path = projects / "-home-me" / "s1.jsonl"
    (value,) = gitsession("import", "--json", path).values
    assert list(value) == RESULT_KEYS
    assert (value["path"], value["session"], value["format"]) == (str(path), "s1", "claude-code")
    assert (value["new_commits"], value["branch_created"], value["problems"]) == (3, True, [])


@pytest.mark.parametrize(
    ("name", "content"),
    [("notes.txt", b"hello\n"), ("empty.jsonl", b""), ("image.jsonl", bytes(range(256)) * 8), ("list.json", b"[1]")],
)
def test_a_named_file_that_is_no_transcript_is_said_and_the_rest_is_imported(
    gitsession: Run, projects: Path, tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    done = gitsession("import", tmp_path / name, projects)
    assert done.code == 15
    assert str(tmp_path / name) in done.err
    assert done.out.splitlines()[-1].startswith("1 session, 3 new commits")
    skipped = gitsession("import", "--json", tmp_path / name, projects).values[0]
    assert list(skipped) == ["path", "skipped"]
    assert skipped["path"] == str(tmp_path / name)
    assert str(tmp_path) not in skipped["skipped"]


@pytest.mark.parametrize("path", ["nope.jsonl", "nope.bundle", "-"])
def test_with_json_what_is_wrong_is_an_error_at_the_end_as_of_every_command(
    gitsession: Run, projects: Path, path: str
) -> None:
    name = ["--name", "s.jsonl"] if path == "-" else []
    done = gitsession("--json", "import", path, projects, *name, stdin=b"no transcript\n")
    assert (done.code, done.values[0]["path"]) == (15, path)
    assert {key: done.error[key] for key in ("error", "exit_code")} == {"error": "UnknownTranscript", "exit_code": 15}
    assert done.values[0]["skipped"] in done.error["message"]
    # What only lies in a directory is no error, and its object says all.
    assert gitsession("--json", "import", projects) == Result(0, gitsession("--json", "import", projects).out, "")


def test_what_only_lies_in_a_directory_does_not_change_the_exit_code(gitsession: Run, projects: Path) -> None:
    for number in range(30):
        (projects / f"{number:02}.bin").write_bytes(b"\0\1\2")
    done = gitsession("import", projects)
    assert done.code == 0
    assert done.err.startswith(f"{projects}/00.bin: ")
    assert len(done.err.splitlines()) == 11
    assert done.err.endswith("and 21 more files that no format knows; --json names them\n")
    assert len(gitsession("import", "--json", projects).values) == 32


def test_a_directory_without_transcripts_and_a_missing_path_are_said(
    gitsession: Run, tmp_path: Path, store_path: Path
) -> None:
    (tmp_path / "nothing").mkdir()
    for path, skipped in ((tmp_path / "nothing", ""), (tmp_path / "missing", ", 1 file skipped")):
        done = gitsession("import", path)
        assert (done.code, done.out) == (15, f"0 sessions, 0 new commits{skipped}\n")
        assert str(path) in done.err
        assert not store_path.exists()


def test_a_broken_line_is_named_and_hides_no_other(gitsession: Run, projects: Path) -> None:
    path = projects / "-home-me" / "s1.jsonl"
    first, *rest = transcript("Hello", "Hi", "Bye").splitlines(keepends=True)
    path.write_bytes(b"".join([first, b"{broken\n", *rest]))
    done = gitsession("import", path)
    assert done.code == 0
    assert f"{path}:2: " in done.err
    assert done.out.endswith("1 line that could not be read\n")
    assert gitsession("export", "s1", "--format", "original").out.encode() == path.read_bytes()


def test_a_damaged_file_of_a_folder_is_named(gitsession: Run, tmp_path: Path) -> None:
    storage = shutil.copytree(FIXTURES / "opencode" / "storage", tmp_path / "storage")
    (storage / "part" / "msg_03" / "prt_0301.json").write_bytes(b'{\n "id": \xff')
    (session,) = (storage / "session").rglob("*.json")
    (value,) = gitsession("import", session, "--json").values
    reason = "it is no UTF-8 at byte 10"
    assert value["problems"] == [{"line": 2, "reason": reason, "file": "part/msg_03/prt_0301.json"}]
    assert f"{session}: part/msg_03/prt_0301.json:2: {reason}\n" in gitsession("import", session).err


def test_progress_is_shown_on_a_terminal_only(projects: Path, store_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [*COMMAND, "--store", str(store_path), "import", str(projects)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, "TERM": "xterm"}) as child:
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 65536):
                shown += chunk
        except OSError:
            pass  # how Linux tells that the other end is closed
        out = child.stdout.read() if child.stdout else b""
    os.close(ours)
    assert child.returncode == 0
    assert b"Importing" in shown
    assert b"Importing" not in out


def test_progress_is_not_shown_in_a_pipe(gitsession: Run, projects: Path) -> None:
    done = gitsession("import", projects / "-home-me" / "s1.jsonl")
    assert done == Result(0, done.out, "")


def test_a_transcript_on_stdin_has_the_name_that_is_given(gitsession: Run, projects: Path) -> None:
    content = (projects / "-home-me" / "s1.jsonl").read_bytes()
    done = gitsession("import", "-", "--name", "s1.jsonl", stdin=content)
    assert done == Result(0, f"      3  {'s1':36}  -\n1 session, 3 new commits\n", "")
    assert gitsession("export", "s1", "--format", "original").out.encode() == content
    # It is the same as the file.
    assert gitsession("import", projects / "-home-me" / "s1.jsonl").out == "1 session, 0 new commits\n"
    assert gitsession("import", "-", "--name", "s1.jsonl", "--json", stdin=content).values[0]["path"] == "-"


def test_what_is_wrong_with_stdin_is_told_of_it(gitsession: Run, store_path: Path) -> None:
    done = gitsession("import", "-", "--name", "s1.jsonl", stdin=b"no transcript\n")
    assert (done.code, done.err.split(":")[0]) == (15, "stdin")
    assert not store_path.exists()


@pytest.mark.parametrize("given", [["-"], ["-", "--name", "a/b.jsonl"], ["-", "--name", ""], ["--name", "a.jsonl"]])
def test_stdin_and_a_name_come_together(gitsession: Run, given: list[str]) -> None:
    assert gitsession("import", *given, stdin=transcript("Hello")).code == 2


def test_the_lines_that_were_left_are_named(gitsession: Run, tmp_path: Path) -> None:
    done = gitsession("import", FIXTURES / "claude-code" / "rewind.jsonl")
    names = ["rewind.921d5ebe-5cfb-5e1b-850c-6e4b1c4c8d65", "rewind.452833a2-d38d-55e4-a1fe-b32880086140"]
    assert [line.split() for line in done.out.splitlines()[1:3]] == [["left", name] for name in names]
    assert done.out.endswith("\n1 session, 11 new commits, 2 lines that were left\n")
    records = [record(0, "Hello"), {**record(1, "Hi"), "parentUuid": "u0"}]
    parents = ("u1" if number % 2 == 0 else f"u{number - 1}" for number in range(2, 40))
    records += ({**record(number, f"text {number}"), "parentUuid": parent} for number, parent in enumerate(parents, 2))
    (tmp_path / "many.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    done = gitsession("import", tmp_path / "many.jsonl")
    assert done.out.count("   left  many.u") == 10
    assert "   left  and 8 more; `gitsession log --graph` shows them\n" in done.out
    assert done.out.endswith(", 18 lines that were left\n")


def test_what_still_holds_the_secrets_that_are_left_out_is_said_and_how_to_take_it_out(
    gitsession: Run, tmp_path: Path, store_path: Path, git: Git
) -> None:
    secret = SECRETS["github-pat"]
    path = tmp_path / f"s {SECRETS['jwt']}.jsonl"  # its name has one too
    for file in (path, tmp_path / "s1.jsonl"):
        file.write_bytes(transcript("Hello", "Hi", f"Use {secret}", *(f"text {number}" for number in range(100))))
        gitsession("import", file)
        gitsession("show", file.stem)
        done = gitsession("import", "--redact", file)
        note = done.err.splitlines()[-1]
        assert note.startswith(f"{file.stem}, stored before, still holds secrets: revoke them where they were issued. ")
        branch, collect = re.findall(r"`gitsession ([^`]+)`", note)
        (cache,) = re.findall(r"delete (.*)$", note)
        for command in (branch, collect):
            assert gitsession(*shlex.split(command)).code == 0
        shutil.rmtree(cache)
        assert gitsession("scan").code == 0
        assert "still hold" not in gitsession("import", "--redact", file).err
    oids = git("-C", store_path, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    assert not [oid for oid in oids if secret in git("-C", store_path, "cat-file", "-p", oid)]


def test_a_file_that_went_back_to_an_earlier_state_is_told(gitsession: Run, tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    said = [{"role": "user", "content": word} for word in ("one", "two")]
    for end in (2, 1):
        path.write_text(json.dumps(said[:end]))
        done = gitsession("import", path)
    assert done.out == "1 session, 0 new commits\n"
    assert done.err == f"{path}: it is at an earlier state than chat, which keeps the later one\n"
    assert gitsession("import", "--json", path).values[0]["behind"] is True


def test_a_format_of_which_a_file_has_no_record_is_told(gitsession: Run, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes((FIXTURES / "codex" / "tools.jsonl").read_bytes())
    told = f"{path}: --format says pi, and no record in it is one that is known of that"
    assert told in gitsession("import", "--format", "pi", path).err
    begun = tmp_path / "t.jsonl"
    begun.write_bytes((FIXTURES / "pi" / "tools.jsonl").read_bytes().split(b"\n")[0] + b"\n")
    assert gitsession("import", "--format", "pi", begun).err == ""
