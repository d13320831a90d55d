"""Where the store is."""

from pathlib import Path

import pytest
from gitsession_cli.location import default_store

from .conftest import Result, Run

HOME = Path("/home/me")


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({}, "linux", "/home/me/.local/share/gitsession/store.git"),
        ({"XDG_DATA_HOME": "/data"}, "linux", "/data/gitsession/store.git"),
        ({"XDG_DATA_HOME": "relative"}, "linux", "/home/me/.local/share/gitsession/store.git"),
        ({"XDG_DATA_HOME": ""}, "freebsd14", "/home/me/.local/share/gitsession/store.git"),
        ({"XDG_DATA_HOME": "/data"}, "darwin", "/home/me/Library/Application Support/gitsession/store.git"),
        ({"LOCALAPPDATA": "/c/local"}, "win32", "/c/local/gitsession/store.git"),
        ({}, "win32", "/home/me/AppData/Local/gitsession/store.git"),
    ],
)
def test_the_users_own_store_is_in_the_data_directory(
    environment: dict[str, str], platform: str, expected: str
) -> None:
    assert default_store(environment, platform, HOME) == Path(expected)


def test_the_option_wins_over_the_environment_which_wins_over_the_default(
    gitsession: Run, store_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    other = tmp_path / "other.git"
    assert gitsession("--store", other, "init").code == 0
    assert gitsession("init").code == 0
    monkeypatch.delenv("GITSESSION_STORE")
    assert gitsession("init").code == 0
    assert gitsession("path").out == f"{tmp_path}/data/gitsession/store.git\n"
    monkeypatch.setenv("GITSESSION_STORE", str(store_path))
    assert gitsession("path").out == f"{store_path}\n"
    assert gitsession("--store", other, "path").out == f"{other}\n"
    assert gitsession("path", "--store", other).out == f"{other}\n"


@pytest.mark.parametrize("command", ["list", "path", "formats", "import", "watch", "new", "hook claude-code"])
def test_who_has_no_home_directory_is_told_what_to_set(
    gitsession: Run, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    def refuse() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", refuse)
    monkeypatch.delenv("GITSESSION_STORE")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    result = gitsession(*command.split())
    assert (result.code, result.out) == (2, "")
    assert "you have no home directory: set HOME" in result.err
    hooked = gitsession("import", "--hook", "claude-code", stdin='{"transcript_path": "~/a.jsonl"}')
    assert (hooked.code, hooked.out) == (0, "")


def test_init_tells_whether_it_made_the_store(gitsession: Run, store_path: Path) -> None:
    assert gitsession("init").out == f"Made the store {store_path}\n"
    assert gitsession("init").out == f"There is a store already: {store_path}\n"
    assert gitsession("init", "--json").values == [{"path": str(store_path), "created": False}]
    assert gitsession("path", "--json").values == [{"path": str(store_path)}]


def test_the_path_is_told_before_there_is_a_store(gitsession: Run, store_path: Path) -> None:
    assert gitsession("path") == Result(0, f"{store_path}\n", "")
    assert gitsession("path", "--json").values == [{"path": str(store_path)}]
    assert not store_path.exists()
    assert gitsession("git", "log").code == 3
