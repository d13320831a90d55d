"""import without a path: what the agents of this machine left is found, told and imported."""

import shutil
from pathlib import Path

import pytest

from tests.conftest import Git
from tests.opencode_databases import OLD_SCHEMA, Program, simple
from tests.secrets_made_up import SECRETS

from .conftest import Result, Run
from .test_import import transcript

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes a home directory of its own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "OPENCODE_DB"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def put(path: Path, *texts: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(transcript(*texts))
    return path


def test_what_is_found_is_told_and_imported(gitsession: Run, home: Path) -> None:
    path = put(home / ".claude" / "projects" / "x" / "s1.jsonl", "Hello", "Hi")
    (path.parent / "s1").mkdir()
    (path.parent / "s1" / "notes.txt").write_text("no transcript\n")
    done = gitsession("import")
    first, second, last = done.out.splitlines()
    assert first == f"Claude Code: 1 file in {home}/.claude/projects"
    assert second.split() == ["2", "s1", str(path)]
    assert last == "1 session, 2 new commits"
    assert (done.code, done.err) == (0, "")


# Of each agent a file of its own, and what may lie beside it that looks like one.
BESIDE = {
    "claude-code": (
        ".claude/projects/x/s1.jsonl",
        ["s1.jsonl.bak", "s1.jsonl~", "#s1.jsonl#", ".#s1.jsonl", "s1.json"],
    ),
    "codex": (
        ".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-x.jsonl",
        ["history.jsonl", "rollout-x.jsonl.orig"],
    ),
    "pi": (".pi/agent/sessions/x/s1.jsonl", [".s1.jsonl.swp", "s1.jsonl.1"]),
    "gemini": (".gemini/tmp/x/chats/session-2026-01-01T00-00-x.json", ["checkpoint-tag.json", "session-x.json.bak"]),
    "opencode": (".local/share/opencode/storage/session/x/ses_1.json", ["ses_1.json.bak"]),
    "copilot": (".copilot/session-state/x/events.jsonl", ["events.jsonl.bak"]),
    "droid": (".factory/sessions/x/s1.jsonl", ["s1.settings.json", "s1.jsonl.bak"]),
    "openhands": (".openhands/conversations/x/base_state.json", ["base_state.json.bak", "copy.json"]),
    "aider": (".aider/sessions/s1.md", ["s1.md.bak", "s1.txt"]),
}


@pytest.mark.parametrize("agent", BESIDE)
def test_what_lies_beside_an_agents_own_files_is_left_alone(
    gitsession: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    # Nothing but the name tells here: the content is always the same.
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    own, beside = BESIDE[agent]
    path = put(home / own, "Hello")
    for name in beside:
        put(path.with_name(name), "Hello")
    place, *results = gitsession("import", "--json").values
    assert (place["format"], place["files"]) == (agent, 1)
    assert [one["path"] for one in results] == [str(path)]
    named = gitsession("import", "--json", path.with_name(beside[0])).values
    assert [one["new_commits"] for one in named] == [1]


def test_what_lies_beside_is_no_transcript_to_make_a_store_for(gitsession: Run, home: Path, store_path: Path) -> None:
    put(home / ".claude" / "projects" / "x" / "s1.jsonl.bak", "Hello")
    assert gitsession("import").code == 15
    assert not store_path.exists()


def test_aiders_file_is_looked_for_where_it_works_and_where_it_says(
    gitsession: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    chat = "\n# aider chat started at 2026-01-01 00:00:0{}\n\n#### Hello\n\nHi\n\n"
    for number, path in enumerate((tmp_path / "here" / ".aider.chat.history.md", tmp_path / "notes" / "chat.md")):
        path.parent.mkdir(exist_ok=True)
        path.write_text(chat.format(number))
        assert [one["session"] for one in gitsession("import", "--json").values[1:]] == [
            f"aider-2026-01-01T00-00-0{number}"
        ]
        monkeypatch.setenv("AIDER_CHAT_HISTORY_FILE", str(tmp_path / "notes" / "chat.md"))


def test_a_directory_that_a_variable_names_is_searched_instead(
    gitsession: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(home / ".claude" / "projects" / "x" / "not-this.jsonl", "Hello")
    put(tmp_path / "moved" / "projects" / "x" / "this.jsonl", "Hello")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "moved"))
    gitsession("import")
    assert [value["id"] for value in gitsession("list", "--json").values] == ["this"]


def test_as_json_the_places_come_first(gitsession: Run, home: Path) -> None:
    path = put(home / ".claude" / "projects" / "x" / "s1.jsonl", "Hello")
    place, result = gitsession("import", "--json").values
    assert place == {"place": f"{home}/.claude/projects", "format": "claude-code", "files": 1}
    assert (result["path"], result["session"]) == (str(path), "s1")


def test_where_nothing_is_left_the_places_are_named(gitsession: Run, home: Path, store_path: Path) -> None:
    (home / ".claude" / "projects").mkdir(parents=True)
    done = gitsession("import")
    assert (done.code, done.out) == (15, "")
    assert f"{home}/.claude/projects" in done.err
    assert gitsession("import", "--json").error["error"] == "NothingToImport"
    assert not store_path.exists()


def test_a_directory_that_is_gone_is_no_hindrance(
    gitsession: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(home / ".claude" / "projects" / "x" / "s1.jsonl", "Hello")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert gitsession("formats").code == 0
    assert gitsession("import").out.splitlines()[-1] == "1 session, 1 new commit"


def test_a_secret_that_is_stored_is_told_with_its_place(gitsession: Run, home: Path) -> None:
    path = put(home / ".claude" / "projects" / "x" / "s1.jsonl", "Hello", f"key {SECRETS['github-pat']}")
    done = gitsession("import")
    assert done.code == 0
    assert done.out.splitlines()[-1] == "1 session, 2 new commits, 1 secret stored"
    assert done.err.splitlines() == [
        f"{path}:2: a secret was stored: github-pat",
        "1 secret stored: 1 github-pat; `gitsession scan` shows where, --redact leaves them out",
    ]
    assert gitsession("import").err == ""


def test_a_secret_in_the_name_of_a_file_is_told_as_such(gitsession: Run, home: Path) -> None:
    path = put(home / f"x_{SECRETS['github-pat']}.jsonl", "Hello")
    assert gitsession("import", path).err.splitlines()[0] == f"{path}: a secret in its name was stored: github-pat"


def test_of_many_secrets_the_first_are_named_and_it_is_said(gitsession: Run, home: Path) -> None:
    texts = [f"key {number} {SECRETS['github-pat']}" for number in range(12)]
    put(home / ".claude" / "projects" / "x" / "s1.jsonl", *texts)
    *named, total = gitsession("import").err.splitlines()
    assert len(named) == 10
    assert total.startswith("12 secrets stored, of which the first 10 are named above: 12 github-pat; ")


def test_redact_leaves_it_out_and_counts_it(gitsession: Run, home: Path) -> None:
    put(home / ".claude" / "projects" / "x" / "s1.jsonl", f"key {SECRETS['github-pat']}")
    done = gitsession("import", "--redact")
    assert done.out.splitlines()[-1] == "1 session, 1 new commit, 1 secret left out"
    assert done.err == ""
    assert SECRETS["github-pat"] not in gitsession("export", "s1").out
    assert "[redacted:github-pat]" in gitsession("show", "s1").out
    (value,) = gitsession("import", "--json", home / ".claude").values
    assert (value["redacted"], value["secrets"]) == (True, [])


def test_a_scan_shows_where_and_never_what(gitsession: Run, home: Path) -> None:
    put(home / ".claude" / "projects" / "x" / "s1.jsonl", "Hello", f"key {SECRETS['github-pat']}")
    gitsession("import")
    expected = Result(18, "s1 #1 1: record.message.content[0].text  github-pat\n1 secret found\n", "")
    assert gitsession("scan") == expected
    assert gitsession("scan", "s1") == expected
    assert gitsession("scan", "--json").values == [
        {
            "session": "s1",
            "delta": 1,
            "commit_id": "u1",
            "place": "1: record.message.content[0].text",
            "kind": "github-pat",
        }
    ]


def test_a_scan_that_finds_nothing_says_so(gitsession: Run, fix_login: str) -> None:
    assert gitsession("scan") == Result(0, "No secret found\n", "")
    assert gitsession("scan", "nobody").code == 5


def test_importing_again_reads_no_file(gitsession: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitsession.import_cache._RACY_NS", -(10**18))
    path = put(home / ".claude" / "projects" / "x" / "s1.jsonl", "Hello")
    gitsession("import")
    read: list[Path] = []
    original = Path.open
    monkeypatch.setattr(Path, "open", lambda self, *how, **more: read.append(self) or original(self, *how, **more))
    assert gitsession("import").out.endswith("1 session, 0 new commits\n")
    assert path not in read


@pytest.fixture
def opencode(home: Path) -> Path:
    """Makes the directory where opencode keeps its databases."""
    directory = home / ".local" / "share" / "opencode"
    directory.mkdir(parents=True)
    return directory


def test_the_sessions_in_databases_are_found(gitsession: Run, opencode: Path) -> None:
    simple(opencode / "opencode.db").die()
    other = Program(opencode / "opencode-dev.db")
    other.session("ses_9")
    done = gitsession("import")
    assert done.out.splitlines() == [
        f"opencode: 1 file in {opencode}/opencode.db",
        f"opencode: 1 file in {opencode}/opencode-dev.db",
        f"      3  ses_1                                 {opencode}/opencode.db/ses_1",
        f"      2  ses_2                                 {opencode}/opencode.db/ses_2",
        f"      1  ses_9                                 {opencode}/opencode-dev.db/ses_9",
        "3 sessions, 6 new commits",
    ]
    assert (done.code, done.err) == (0, "")
    parents = {value["id"]: value["parent_session"] for value in gitsession("list", "--json").values}
    assert parents == {"ses_1": None, "ses_2": "ses_1", "ses_9": None}
    (*_, value) = gitsession("import", "--json").values
    assert (value["path"], value["session"], value["new_commits"]) == (f"{opencode}/opencode-dev.db/ses_9", "ses_9", 0)
    other.close()


def test_a_database_that_cannot_be_read_is_told_and_the_rest_imported(
    gitsession: Run, home: Path, opencode: Path
) -> None:
    put(home / ".claude" / "projects" / "x" / "s1.jsonl", "Hello")
    broken = Program(opencode / "opencode.db")
    broken.session()
    broken.database.execute("ALTER TABLE part DROP COLUMN data")
    done = gitsession("import")
    assert done.code == 19
    assert done.err == (
        f"{opencode}/opencode.db: was written by a version of opencode that is not known here: "
        "there is no part.data in it\n"
    )
    assert done.out.splitlines()[-1] == "1 session, 1 new commit, 1 file skipped"
    error = gitsession("import", "--json", opencode / "opencode.db").error
    assert (error["error"], error["path"]) == ("UnreadableDatabase", f"{opencode}/opencode.db")
    broken.close()


def test_a_database_without_sessions_is_no_fault(gitsession: Run, opencode: Path) -> None:
    Program(opencode / "opencode.db", OLD_SCHEMA).close()
    done = gitsession("import")
    assert (done.code, done.err) == (0, "")
    named = gitsession("import", opencode / "opencode.db")
    assert (named.code, named.err) == (
        15,
        f"{opencode}/opencode.db: is a database of opencode's without a session\n",
    )


def test_a_database_on_stdin_holds_sessions_too(gitsession: Run, opencode: Path) -> None:
    simple(opencode / "opencode.db").close()
    content = (opencode / "opencode.db").read_bytes()
    done = gitsession("import", "-", "--name", "opencode.db", stdin=content)
    assert [line.split() for line in done.out.splitlines()[:2]] == [
        ["3", "ses_1", "-/ses_1"],
        ["2", "ses_2", "-/ses_2"],
    ]
    cut = gitsession("import", "-", "--name", "opencode.db", stdin=content[:5000])
    assert (cut.code, cut.err) == (19, "stdin: is damaged: database disk image is malformed\n")


def test_what_is_called_as_an_agents_own_files_are_and_is_no_transcript_is_told(gitsession: Run, home: Path) -> None:
    projects = home / ".claude" / "projects" / "x"
    put(projects / "s1.jsonl", "Hello")
    (projects / "noise.jsonl").write_bytes(bytes(range(256)))
    (projects / "cut.jsonl").write_bytes(transcript("Hello")[:-40])
    for number in range(12):
        (projects / f"empty{number:02}.jsonl").write_bytes(b"")
    done = gitsession("import")
    assert done.err.splitlines() == [
        f"{projects}/cut.jsonl: is cut in its first line",
        f"{projects}/empty00.jsonl (and 11 more files): is empty",
        f"{projects}/noise.jsonl: is a binary file, and no transcript",
    ]
    assert (done.code, done.out.splitlines()[-1]) == (0, "1 session, 1 new commit, 14 files skipped")


def test_a_failure_names_the_file_whatever_it_is(gitsession: Run, home: Path, git: Git) -> None:
    put(home / "t" / "main.jsonl", "Hello")
    gitsession("import", home / "t")
    path = put(home / "t" / "x.jsonl", "Hello")
    store = gitsession("path").out.strip()
    git("branch", "x/y", "main", cwd=Path(store))
    done = gitsession("import", path)
    assert done.code == 8
    assert done.err.startswith(f"{path}: the session id ")


def test_many_kinds_of_what_is_wrong_are_counted_behind_the_first(gitsession: Run, home: Path) -> None:
    projects = home / ".claude" / "projects" / "x"
    put(projects / "s1.jsonl", "Hello")
    for number in range(13):
        (projects / f"cut{number:02}.jsonl").write_bytes(b'[{"a":"' + b"b" * number)
    lines = gitsession("import").err.splitlines()
    assert len(lines) == 11
    assert lines[-1] == "and 3 more files that no format knows; --json names them"


@pytest.mark.parametrize("has_store", [True, False])
def test_a_rollout_that_is_compressed_names_the_extra_that_reads_it(
    gitsession: Run, home: Path, monkeypatch: pytest.MonkeyPatch, has_store: bool
) -> None:
    monkeypatch.setattr("gitsession.compressed.zstd", None)
    path = home / ".codex" / "sessions" / "rollout-1.jsonl.zst"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\x28\xb5\x2f\xfd")
    path.with_name("notes.txt").write_bytes(b"no file of the agent's own")
    if has_store:
        gitsession("init")
    done = gitsession("import")
    assert done.err == f"{path}: is compressed with Zstandard; `pip install 'gitsession[zstd]'` lets it be read\n"
    assert (done.code, done.out.splitlines()[-1]) == (0, "0 sessions, 0 new commits, 1 file skipped")


@pytest.mark.parametrize(
    ("content", "code", "why"),
    [(b"hello", 19, "is called as opencode's database, and is none"), (b"", 0, "is empty")],
)
def test_a_database_that_is_none_any_more_is_told(
    gitsession: Run, home: Path, opencode: Path, content: bytes, code: int, why: str
) -> None:
    put(home / ".claude" / "projects" / "x" / "s1.jsonl", "Hello")
    (opencode / "opencode.db").write_bytes(content)
    done = gitsession("import")
    assert (done.code, done.err) == (code, f"{opencode}/opencode.db: {why}\n")
    assert done.out.splitlines()[-1] == "1 session, 1 new commit, 1 file skipped"


@pytest.mark.parametrize("state", [True, False])
def test_a_conversation_of_many_files_counts_once_and_is_told_by_its_folder(
    gitsession: Run, home: Path, state: bool
) -> None:
    source = FIXTURES / "openhands" / "conversations" / "3f0b8c527a414d7e9c1d2b6f5e8a9041"
    folder = home / ".openhands" / "conversations" / source.name
    shutil.copytree(source, folder)
    if not state:
        (folder / "base_state.json").unlink()
    found, done, _ = gitsession("import").out.splitlines()
    assert found == f"OpenHands: 1 file in {folder.parent}"
    assert done.split()[-1] == str(folder)
