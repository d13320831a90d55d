"""repair: what it shows, what it does, and what it leaves alone."""

from pathlib import Path

import pytest

from .conftest import Result, Run


@pytest.fixture
def damaged(gitsession: Run, fix_login: str, store_path: Path) -> str:
    """Damages the ref of a session, and returns the commit that it was at."""
    gitsession("new", "--id", "other")
    head = gitsession("list", "--json").values
    (store_path / "refs/heads/fix-login").write_bytes(b"")
    return next(session["oid"] for session in head if session["id"] == fix_login)


def test_a_sound_store_has_nothing_to_repair(gitsession: Run, fix_login: str) -> None:
    assert gitsession("repair") == Result(0, "Nothing to repair\n", "")
    assert gitsession("repair", fix_login, "--json") == Result(0, "", "")


def test_it_shows_what_it_would_do_and_changes_nothing(gitsession: Run, damaged: str, store_path: Path) -> None:
    done = gitsession("repair")
    assert (done.code, done.err) == (0, "")
    assert f"  would be set to {damaged}, with 4 deltas\n" in done.out
    assert done.out.endswith("1 session can be repaired; --apply does it\n")
    assert "`gitsession repair`" not in done.out
    assert (store_path / "refs/heads/fix-login").read_bytes() == b""


def test_it_does_it_with_apply(gitsession: Run, damaged: str, store_path: Path) -> None:
    done = gitsession("repair", "--apply")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("1 session repaired\n")
    assert (store_path / "refs/heads/fix-login").read_text() == f"{damaged}\n"
    assert gitsession("verify").code == 0


def test_only_the_sessions_that_are_named_are_repaired(gitsession: Run, damaged: str, store_path: Path) -> None:
    assert gitsession("repair", "other", "--apply") == Result(0, "Nothing to repair\n", "")
    assert (store_path / "refs/heads/fix-login").read_bytes() == b""
    assert gitsession("repair", "fix-login", "--apply").code == 0
    assert gitsession("show", "fix-login").code == 0


def test_a_session_that_does_not_exist_is_named(gitsession: Run, damaged: str) -> None:
    done = gitsession("repair", "nobody", "--apply")
    assert (done.code, done.out) == (5, "")
    assert "'nobody'" in done.err


def test_json_has_stable_keys(gitsession: Run, damaged: str) -> None:
    [value] = gitsession("repair", "--json").values
    assert list(value) == ["session", "branch", "problem", "old", "new", "deltas", "kept", "applied"]
    assert (value["session"], value["old"], value["new"], value["applied"]) == ("fix-login", None, damaged, False)
    assert gitsession("repair", "--json", "--apply").values == [value | {"applied": True}]


def test_the_exit_code_tells_of_what_cannot_be_repaired(gitsession: Run, damaged: str, store_path: Path) -> None:
    (store_path / "logs/refs/heads/fix-login").unlink()
    done = gitsession("repair", "--apply")
    assert done.code == 12
    assert "no good commit is left" in done.out
    assert done.out.endswith("0 sessions repaired\n")


def test_a_branch_that_is_gone_can_be_named(gitsession: Run, damaged: str, store_path: Path) -> None:
    (store_path / "refs/heads/fix-login").unlink()
    assert gitsession("repair", "fix-login", "--apply").code == 0
    assert gitsession("show", "fix-login").code == 0
