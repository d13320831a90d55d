"""`gitsession export --format <agent>`: to stdout, or to where the agent looks."""

import shlex
from pathlib import Path

import pytest
from gitsession_cli.agent_homes import agent_path

from gitsession import RESUMABLE

from .conftest import Run

FIXTURES = Path(__file__).parents[2] / "fixtures"
SIMPLE = FIXTURES / "claude-code" / "simple.jsonl"


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gives each agent a directory of its own."""
    for name, variable in (("claude", "CLAUDE_CONFIG_DIR"), ("codex", "CODEX_HOME"), ("pi", "PI_CODING_AGENT_DIR")):
        monkeypatch.setenv(variable, str(tmp_path / name))
    monkeypatch.delenv("PI_CODING_AGENT_SESSION_DIR", raising=False)
    return tmp_path


def test_an_imported_transcript_is_written_as_it_was(gitsession: Run) -> None:
    gitsession("import", SIMPLE)
    assert gitsession("export", "simple", "--format", "claude-code").out.encode() == SIMPLE.read_bytes()


@pytest.mark.parametrize("name", RESUMABLE)
def test_a_session_is_installed_with_the_command_that_resumes_it(
    gitsession: Run, fix_login: str, homes: Path, name: str
) -> None:
    done = gitsession("export", fix_login, "--format", name, "--install")
    assert (done.code, done.err) == (0, "")
    path, command = done.out.splitlines()
    assert Path(path).is_relative_to(homes / name.partition("-")[0])
    assert Path(path).read_text() == gitsession("export", fix_login, "--format", name, "--at", "~0").out.replace(
        '"cwd":"/"', f'"cwd":"{Path.cwd()}"'
    )
    assert shlex.split(command)[:4] == ["cd", str(Path.cwd()), "&&", {"claude-code": "claude"}.get(name, name)]
    again = gitsession("export", fix_login, "--format", name, "--install")
    assert again.out.splitlines() == [f"{path}  (was there already, the same)", command]


def test_an_install_is_told_as_json(gitsession: Run, fix_login: str, homes: Path) -> None:
    (told,) = gitsession("export", fix_login, "--format", "codex", "--install", "--json").values
    assert list(told) == ["path", "written", "cwd", "resume"]
    assert (told["written"], told["resume"][:2]) == (True, ["codex", "resume"])
    assert Path(told["path"]).is_relative_to(homes / "codex" / "sessions")


def test_a_file_of_the_agent_is_never_written_over(gitsession: Run, fix_login: str, homes: Path) -> None:
    path = Path(gitsession("export", fix_login, "--format", "pi", "--install").out.splitlines()[0])
    path.write_text("the agent went on\n")
    done = gitsession("export", fix_login, "--format", "pi", "--install")
    assert (done.code, done.out) == (17, "")
    assert "another transcript of 18 bytes is there, and nothing was written" in done.err
    assert path.read_text() == "the agent went on\n"
    assert homes in path.parents


def test_only_an_agents_format_can_be_installed(gitsession: Run, fix_login: str) -> None:
    done = gitsession("export", fix_login, "--install")
    assert done.code == 2
    assert "--install needs the --format of an agent: claude-code, codex, pi" in done.err


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
    ],
)
def test_the_environment_says_where_an_agent_looks(name: str, environment: dict[str, str], expected: str) -> None:
    found = agent_path(name, Path("projects", "x.jsonl"), environment, Path("/home/dev"))
    assert str(found) == expected
