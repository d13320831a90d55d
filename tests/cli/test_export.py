"""`gitsession export --format <agent>`: to stdout, or to where the agent looks."""

import hashlib
import json
import shlex
import shutil
from pathlib import Path

import pytest
from gitsession_cli.agent_homes import INSTALLABLE, agent_path

from gitsession import RESUMABLE, Store, export_transcript

from .conftest import Run

FIXTURES = Path(__file__).parents[2] / "fixtures"
SIMPLE = FIXTURES / "claude-code" / "simple.jsonl"


VARIABLES = {
    "claude-code": "CLAUDE_CONFIG_DIR",
    "codex": "CODEX_HOME",
    "pi": "PI_CODING_AGENT_DIR",
    "gemini": "GEMINI_CLI_HOME",
    "opencode": "XDG_DATA_HOME",
    "copilot": "COPILOT_HOME",
    "droid": "FACTORY_HOME_OVERRIDE",
    "openhands": "OPENHANDS_PERSISTENCE_DIR",
    "aider": "HOME",
}


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gives each agent a directory of its own."""
    for name, variable in VARIABLES.items():
        monkeypatch.setenv(variable, str(tmp_path / name))
    for moved in ("PI_CODING_AGENT_SESSION_DIR", "OPENHANDS_CONVERSATIONS_DIR"):
        monkeypatch.delenv(moved, raising=False)
    return tmp_path


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Returns a transcript under the name that its agent has given it: the id of the session."""
    return Path(shutil.copy(SIMPLE, tmp_path / "dce66516-592a-5ca8-a6a8-65846a6e5074.jsonl"))


def test_an_imported_transcript_is_written_as_it_was(gitsession: Run, own: Path) -> None:
    gitsession("import", own)
    assert gitsession("export", own.stem, "--format", "claude-code").out.encode() == SIMPLE.read_bytes()


def test_a_subagent_and_a_renamed_file_are_resumed_under_an_id_that_their_records_have(
    gitsession: Run, homes: Path
) -> None:
    gitsession("import", SIMPLE.parent / "spawn", SIMPLE)
    agent = "259f67b4-bca3-54b6-8738-53e52c4d1610/agent-3f9a1c"
    for session in (agent, "simple"):
        (told,) = gitsession("export", session, "--format", "claude-code", "--install", "--json").values
        records = [json.loads(one) for one in Path(told["path"]).read_text().splitlines()]
        assert told["resume"] == ["claude", "--resume", Path(told["path"]).stem]
        assert {one["sessionId"] for one in records} == {Path(told["path"]).stem}
        assert not any(one.get("isSidechain") for one in records)


@pytest.mark.parametrize("name", INSTALLABLE)
def test_a_session_is_installed_with_the_command_that_resumes_it(
    gitsession: Run, fix_login: str, homes: Path, store_path: Path, name: str
) -> None:
    done = gitsession("export", fix_login, "--format", name, "--install")
    lost = {
        "openhands": "left out: 1 name of a model (OpenHands has no place for them)\n",
        "aider": "left out: 4 times of messages; as text: 1 tool call, 1 tool result (aider has no place for them)\n",
    }
    assert (done.code, done.err) == (0, lost.get(name, ""))
    path, command = done.out.splitlines()
    assert Path(path).is_relative_to(homes / name)
    made = export_transcript(Store.open(store_path), fix_login, name, cwd=str(Path.cwd()))
    if made.folder:
        files = {one["path"]: one["text"] for one in map(json.loads, made.lines)}
        assert {name: Path(path, name).read_text() for name in files} == files
    else:
        assert Path(path).read_bytes() == b"".join(made.lines)
    assert shlex.split(command)[:4] == ["cd", str(Path.cwd()), "&&", {"claude-code": "claude"}.get(name, name)]
    again = gitsession("export", fix_login, "--format", name, "--install")
    assert again.out.splitlines() == [f"{path}  (was there already, the same)", command]


def test_an_install_is_told_as_json(gitsession: Run, fix_login: str, homes: Path) -> None:
    (told,) = gitsession("export", fix_login, "--format", "codex", "--install", "--json").values
    assert list(told) == ["path", "written", "cwd", "prepare", "resume", "left_out", "as_text"]
    assert (told["left_out"], told["as_text"]) == ({}, {})
    assert (told["written"], told["prepare"], told["resume"][:2]) == (True, [], ["codex", "resume"])
    assert Path(told["path"]).is_relative_to(homes / "codex" / "sessions")


def test_what_has_no_place_there_is_told(gitsession: Run, fix_login: str, homes: Path) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}
    answer = {"role": "assistant", "content": [image], "reasoning": "hm"}
    gitsession("append", fix_login, stdin=json.dumps(answer) + json.dumps(answer))
    line = "left out: 2 thoughts without Claude's signature; as text: 2 images in answers (%s has no place for them)\n"
    assert gitsession("export", fix_login, "--format", "droid").err == line % "Factory Droid"
    done = gitsession("export", fix_login, "--format", "claude-code", "--install", "--json")
    assert done.err == line % "Claude Code"
    (told,) = done.values
    assert told["left_out"] == {"thoughts without Claude's signature": 2}
    assert told["as_text"] == {"images in answers": 2}
    done = gitsession("export", fix_login, "--format", "openai")
    lost = "2 thoughts, 1 name of a model, 6 times of messages"
    expected = f"left out: {lost}; as text: 2 images in answers (OpenAI's chat API has no place"
    assert done.err.startswith(expected)
    assert gitsession("export", fix_login, "--format", "messages").err == ""


@pytest.mark.parametrize("name", INSTALLABLE)
def test_a_session_from_elsewhere_goes_on_here(
    gitsession: Run, own: Path, homes: Path, tmp_path: Path, name: str
) -> None:
    gitsession("import", own)
    done = gitsession("export", own.stem, "--format", name, "--install")
    told = "the directory of the session is not here: /home/dev/project; it goes on in this one, or in --cwd DIR"
    assert (done.code, done.err.splitlines()[0]) == (0, told)
    path, command = done.out.splitlines()
    assert shlex.split(command)[:2] == ["cd", str(Path.cwd())]
    assert "/home/dev/project" not in path
    # Elsewhere it is another place for the agents that look from there, and without a word.
    work = tmp_path / "work"
    work.mkdir()
    done = gitsession("export", own.stem, "--format", name, "--install", "--cwd", work)
    assert told not in done.err
    assert shlex.split(done.out.splitlines()[1])[:2] == ["cd", str(work)]
    assert done.out.splitlines()[0] != path
    if name == "claude-code":
        assert Path(path).read_bytes() == SIMPLE.read_bytes()


def test_a_directory_is_for_an_install_and_has_to_be_there(gitsession: Run, fix_login: str, tmp_path: Path) -> None:
    assert gitsession("export", fix_login, "--format", "pi", "--cwd", tmp_path).code == 2
    assert gitsession("export", fix_login, "--format", "pi", "--install", "--cwd", tmp_path / "gone").code == 2


@pytest.mark.parametrize("name", RESUMABLE)
def test_a_session_without_messages_is_given_to_no_agent(gitsession: Run, homes: Path, name: str) -> None:
    gitsession("new", "--id", "bare")
    before = {*homes.rglob("*")}
    for more in ((), ("--install",)) if name in INSTALLABLE else ((),):
        done = gitsession("export", "bare", "--format", name, *more)
        assert (done.code, done.out) == (29, "")
        assert "the session 'bare' has no messages there" in done.err
    assert {*homes.rglob("*")} == before


def test_a_whole_transcript_without_messages_is_given_back_and_not_installed(gitsession: Run, homes: Path) -> None:
    empty = FIXTURES / "gemini" / "empty.json"
    gitsession("import", empty)
    session = gitsession("list", "--json").values[0]["id"]
    assert gitsession("export", session, "--format", "gemini").out.encode() == empty.read_bytes()
    done = gitsession("export", session, "--format", "gemini", "--install", "--json")
    assert (done.code, done.error["error"]) == (29, "NothingToExport")
    assert not (homes / "gemini").exists()


def test_a_command_that_has_to_run_before_is_told(gitsession: Run, fix_login: str, homes: Path) -> None:
    path, command = gitsession("export", fix_login, "--format", "opencode", "--install").out.splitlines()
    words = ["cd", str(Path.cwd()), "&&", "opencode", "import", path, "&&", "opencode", "--session", Path(path).stem]
    assert shlex.split(command) == words
    (told,) = gitsession("export", fix_login, "--format", "opencode", "--install", "--json").values
    assert (told["prepare"], told["resume"]) == (words[3:6], words[7:])
    assert homes in Path(path).parents


def test_a_folder_is_written_to_stdout_as_it_is_imported(gitsession: Run, fix_login: str, tmp_path: Path) -> None:
    path = tmp_path / "conversation.jsonl"
    path.write_text(gitsession("export", fix_login, "--format", "openhands").out)
    assert {*map(str, json.loads(path.read_text().splitlines()[0]))} == {"path", "text"}
    assert gitsession("import", path).code == 0
    said = gitsession("export", "conversation", "--format", "verbatim").values
    before = gitsession("export", fix_login, "--format", "verbatim").values
    assert said == [{key: one[key] for key in one if key != "model"} for one in before]


@pytest.mark.parametrize("name", INSTALLABLE)
def test_what_the_agent_went_on_with_stays_and_the_next_has_an_id_of_its_own(
    gitsession: Run, fix_login: str, homes: Path, name: str
) -> None:
    command = ("export", fix_login, "--at", "#1", "--format", name, "--install")
    paths = []
    for _ in range(3):
        path, resume = gitsession(*command).out.splitlines()
        file = Path(path, "events", "event-00009-0123456789.json") if Path(path).is_dir() else Path(path)
        file.write_text("the agent went on\n")
        paths.append((path, resume, file))
    assert [len({*one}) for one in zip(*paths, strict=True)] == [3, 3, 3]
    assert {file.read_text() for *_, file in paths} == {"the agent went on\n"}
    done = gitsession(*command, "--json")
    assert (
        f"{paths[-1][0]} is another transcript, or went on since; this is one more, under an id of its own" in done.err
    )
    assert (done.code, done.values[0]["written"]) == (0, True)
    again = gitsession(*command)
    assert again.out.splitlines()[0] == f"{done.values[0]['path']}  (was there already, the same)"


def test_a_whole_transcript_is_never_written_over(gitsession: Run, own: Path, homes: Path) -> None:
    gitsession("import", own)
    command = ("export", own.stem, "--format", "claude-code", "--install")
    path = Path(gitsession(*command).out.splitlines()[0])
    path.write_text("the agent went on\n")
    done = gitsession(*command)
    assert (done.code, done.out) == (17, "")
    advice = "import it, if it went on since; else move it away, or export a fork"
    told = f"another transcript of 18 bytes is there, and nothing was written; {advice}"
    assert told in done.err
    assert path.read_text() == "the agent went on\n"
    gitsession("fork", own.stem, "other")
    assert gitsession("export", "other", *command[2:]).code == 0


def test_what_no_agent_looks_for_is_written_to_stdout_alone() -> None:
    assert {*RESUMABLE} - {*INSTALLABLE} == {"modular-agent"}


def test_only_an_agents_format_can_be_installed(gitsession: Run, fix_login: str) -> None:
    for options in ((), ("--format", "markdown"), ("--format", "modular-agent")):
        done = gitsession("export", fix_login, "--install", *options)
        assert done.code == 2
        assert f"--install needs the --format of an agent: {', '.join(INSTALLABLE)}" in done.err


@pytest.mark.parametrize(
    ("name", "environment", "expected"),
    [
        ("claude-code", {}, "/home/dev/.claude/projects/x.jsonl"),
        ("claude-code", {"CLAUDE_CONFIG_DIR": "/c"}, "/c/projects/x.jsonl"),
        ("codex", {"CODEX_HOME": ""}, "/home/dev/.codex/projects/x.jsonl"),
        ("codex", {"CODEX_HOME": "/c"}, "/c/projects/x.jsonl"),
        ("pi", {}, "/home/dev/.pi/agent/projects/x.jsonl"),
        ("pi", {"PI_CODING_AGENT_DIR": "/p"}, "/p/projects/x.jsonl"),
        ("pi", {"PI_CODING_AGENT_DIR": "/p", "PI_CODING_AGENT_SESSION_DIR": "/s"}, "/s/x.jsonl"),
        ("gemini", {}, "/home/dev/.gemini/projects/x.jsonl"),
        ("gemini", {"GEMINI_CLI_HOME": "/g"}, "/g/.gemini/projects/x.jsonl"),
        ("opencode", {}, "/home/dev/.local/share/opencode/projects/x.jsonl"),
        ("opencode", {"XDG_DATA_HOME": "/d"}, "/d/opencode/projects/x.jsonl"),
        ("droid", {}, "/home/dev/.factory/projects/x.jsonl"),
        ("droid", {"FACTORY_HOME_OVERRIDE": "/f"}, "/f/.factory/projects/x.jsonl"),
        ("openhands", {}, "/home/dev/.openhands/conversations/projects/x.jsonl"),
        ("openhands", {"OPENHANDS_PERSISTENCE_DIR": "/p"}, "/p/conversations/projects/x.jsonl"),
        ("openhands", {"OPENHANDS_PERSISTENCE_DIR": "/p", "OPENHANDS_CONVERSATIONS_DIR": "/c"}, "/c/projects/x.jsonl"),
        ("aider", {}, "/home/dev/.aider/projects/x.jsonl"),
        ("copilot", {}, "/home/dev/.copilot/projects/x.jsonl"),
        ("copilot", {"COPILOT_HOME": "/c"}, "/c/projects/x.jsonl"),
    ],
)
def test_the_environment_says_where_an_agent_looks(name: str, environment: dict[str, str], expected: str) -> None:
    found = agent_path(name, Path("projects", "x.jsonl"), environment, Path("/home/dev"))
    assert str(found) == expected


class TestProjectsOfGemini:
    """Gemini CLI names the directory of a project, and keeps a register of the names."""

    HASHED = Path("tmp", hashlib.sha256(b"/home/dev/project").hexdigest(), "chats", "x.jsonl")

    def path(self, home: Path, register: object) -> Path:
        root = home / ".gemini"
        root.mkdir()
        (root / "projects.json").write_text(register if isinstance(register, str) else json.dumps(register))
        return agent_path("gemini", self.HASHED, {}, home).relative_to(root)

    def test_one_that_has_a_directory_is_found_by_its_name(self, tmp_path: Path) -> None:
        (tmp_path / ".gemini" / "tmp" / "project-1").mkdir(parents=True)
        (tmp_path / ".gemini").rename(tmp_path / "kept")
        found = self.path(tmp_path, {"projects": {"/elsewhere": "project", "/home/dev/project": "project-1"}})
        assert found == self.HASHED
        (tmp_path / "kept" / "tmp").rename(tmp_path / ".gemini" / "tmp")
        found = agent_path("gemini", self.HASHED, {}, tmp_path)
        assert found == tmp_path / ".gemini" / "tmp" / "project-1" / "chats" / "x.jsonl"

    @pytest.mark.parametrize(
        "register",
        ["", "[]", '{"projects": 1}', {"projects": {}}]
        + [{"projects": {"/home/dev/project": name}} for name in ("..", "", "../x", "/", 1, None)],
    )
    def test_any_other_has_the_directory_that_the_agent_takes_over(self, tmp_path: Path, register: object) -> None:
        assert self.path(tmp_path, register) == self.HASHED


class TestALongDirectory:
    @pytest.fixture
    def long(self, tmp_path: Path) -> Path:
        path = tmp_path.joinpath(*(f"a-rather-long-name-{number:02}" for number in range(12)))
        path.mkdir(parents=True)
        return path

    def test_is_the_one_that_claude_code_has_already_whatever_its_hash(
        self, gitsession: Run, fix_login: str, homes: Path, long: Path
    ) -> None:
        command = ("export", fix_login, "--format", "claude-code", "--install", "--cwd", long)
        projects = homes / "claude-code" / "projects"
        (made,) = {Path(gitsession(*command).out.splitlines()[0]).parent}
        for number, directory in enumerate((long.parent, long)):
            known = made.with_name(f"{made.name[:200]}-hash{number}")
            known.mkdir()
            (known / "s.jsonl").write_text(json.dumps({"type": "summary"}) + "\n" + json.dumps({"cwd": str(directory)}))
        (made.with_name(f"{made.name[:200]}-hash0") / "broken.jsonl").write_bytes(b"\xff{")
        assert Path(gitsession(*command).out.split("  (")[0]).parent == made
        shutil.rmtree(made)
        assert Path(gitsession(*command).out.splitlines()[0]).parent == projects / f"{made.name[:200]}-hash1"
        shutil.rmtree(projects / f"{made.name[:200]}-hash1")
        assert Path(gitsession(*command).out.splitlines()[0]).parent == made

    @pytest.mark.parametrize("name", ["pi", "droid"])
    def test_that_an_agent_cannot_name_is_told(
        self, gitsession: Run, fix_login: str, homes: Path, long: Path, name: str
    ) -> None:
        done = gitsession("export", fix_login, "--format", name, "--install", "--cwd", long)
        assert (done.code, done.out) == (2, "")
        assert "calls a session's directory by the path of the one that it works in, and this is too long" in done.err
        assert not [*(homes / name).rglob("*.jsonl")]
