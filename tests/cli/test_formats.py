"""formats: what is declared, and where that is on this machine."""

from pathlib import Path, PurePath

import pytest
from gitsession_cli.agent_homes import INSTALLABLE, agent_path
from gitsession_cli.places import expanded, places

from gitsession import FORMATS

from .conftest import Run

HOME = Path("/home/me")


@pytest.mark.parametrize(
    ("declared", "environment", "expected"),
    [
        ("~/.agent/sessions", {}, "/home/me/.agent/sessions"),
        ("/var/agent", {}, "/var/agent"),
        ("${A_HOME:-~/.agent}/sessions", {}, "/home/me/.agent/sessions"),
        ("${A_HOME:-~/.agent}/sessions", {"A_HOME": ""}, "/home/me/.agent/sessions"),
        ("${A_HOME:-~/.agent}/sessions", {"A_HOME": "/data/a"}, "/data/a/sessions"),
        ("${A_HOME:-~/.agent}/sessions", {"A_HOME": "~/b"}, "/home/me/b/sessions"),
        ("${A:-${XDG_DATA_HOME:-~/.local/share}/a}/s", {}, "/home/me/.local/share/a/s"),
        ("${A:-${XDG_DATA_HOME:-~/.local/share}/a}/s", {"XDG_DATA_HOME": "/d"}, "/d/a/s"),
        ("${A:-${XDG_DATA_HOME:-~/.local/share}/a}/s", {"A": "/a", "XDG_DATA_HOME": "/d"}, "/a/s"),
        ("${A_HOME:-~}/.a", {"A_HOME": "/with $x {y}"}, "/with $x {y}/.a"),
    ],
)
def test_a_place_is_where_the_environment_says(declared: str, environment: dict[str, str], expected: str) -> None:
    assert expanded(declared, environment, HOME) == Path(expected)


def test_a_pattern_is_each_file_that_is_there(tmp_path: Path) -> None:
    def found() -> list[Path]:
        environment = {"XDG_DATA_HOME": str(tmp_path)}
        return [place.path for place in places(environment, HOME) if place.path.name.startswith("opencode-")]

    assert found() == [tmp_path / "opencode" / "opencode-*.db"]
    (tmp_path / "opencode").mkdir()
    for name in ("opencode-dev.db", "opencode-dev.db-wal", "opencode-b.db", "opencode.db"):
        (tmp_path / "opencode" / name).touch()
    assert [path.name for path in found()] == ["opencode-b.db", "opencode-dev.db"]


def test_a_place_in_the_present_directory_is_absolute() -> None:
    assert expanded("history.md", {}, HOME) == Path.cwd() / "history.md"


def test_each_declared_place_can_be_expanded_without_any_environment() -> None:
    for place in places({}, HOME):
        assert "$" not in str(place.path)
        assert place.path.is_relative_to(HOME) or place.path.is_relative_to(Path.cwd())


@pytest.mark.parametrize(
    ("name", "environment", "expected"),
    [
        ("claude-code", {"CLAUDE_CONFIG_DIR": "/c"}, "/c/projects"),
        ("codex", {"CODEX_HOME": "/c"}, "/c/sessions"),
        ("pi", {"PI_CODING_AGENT_DIR": "/p"}, "/p/sessions"),
        ("gemini", {"GEMINI_CLI_HOME": "/g"}, "/g/.gemini/tmp"),
        ("opencode", {"XDG_DATA_HOME": "/d"}, "/d/opencode/opencode.db"),
        ("opencode", {"XDG_DATA_HOME": "/d", "OPENCODE_DB": "mine.db"}, "/d/opencode/mine.db"),
        ("opencode", {"XDG_DATA_HOME": "/d", "OPENCODE_DB": "/e/mine.db"}, "/e/mine.db"),
        ("copilot", {"COPILOT_HOME": "/c"}, "/c/session-state"),
        ("droid", {"FACTORY_HOME_OVERRIDE": "/f"}, "/f/.factory/sessions"),
        ("openhands", {"OPENHANDS_PERSISTENCE_DIR": "/o"}, "/o/conversations"),
        ("openhands", {"OPENHANDS_PERSISTENCE_DIR": "/o", "OPENHANDS_CONVERSATIONS_DIR": "/oc"}, "/oc"),
        ("aider", {"AIDER_CHAT_HISTORY_FILE": "/a/h.md"}, "/a/h.md"),
    ],
)
def test_an_agent_is_looked_for_where_it_was_moved(name: str, environment: dict[str, str], expected: str) -> None:
    found = [place.path for place in places(environment, HOME) if place.format.name == name]
    assert found[0] == Path(expected)


@pytest.mark.parametrize("name", [name for name in INSTALLABLE if name != "aider"])  # has no place for more than one
def test_an_export_is_put_below_the_home_that_is_looked_at(name: str) -> None:
    home = agent_path(name, PurePath("x"), {}, HOME).parent
    assert any(place.path.is_relative_to(home) for place in places({}, HOME) if place.format.name == name)


def test_all_formats_are_listed(gitsession: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    lines = gitsession("formats").out.splitlines()
    assert {line.split()[0] for line in lines[1:] if not line.startswith(" ")} == {*FORMATS}
    (claude,) = (line for line in lines if line.startswith("claude-code"))
    assert claude.split() == ["claude-code", "Claude", "Code", str(tmp_path / "projects")]
    (tmp_path / "projects").mkdir()
    assert " * " in next(line for line in gitsession("formats").out.splitlines() if line.startswith("claude-code"))


def test_formats_as_json_have_their_places(gitsession: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    values = {value["name"]: value for value in gitsession("formats", "--json").values}
    assert [*values] == [*FORMATS]
    assert values["chat"] == {"name": "chat", "title": "chat messages", "places": []}
    assert values["claude-code"]["places"] == [
        {
            "path": str(tmp_path / "projects"),
            "exists": False,
            "declared": "${CLAUDE_CONFIG_DIR:-~/.claude}/projects",
        }
    ]
