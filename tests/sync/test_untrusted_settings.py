"""A store that came from elsewhere: what its own settings and hooks name is not run, and what the user's name is."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitsession import (
    InvalidRemote,
    Store,
    Unavailable,
    add_remote,
    bind_remote,
    clone,
    fetch,
    maintain,
    pull,
    push,
    remote_sessions,
    remotes,
    remove_remote,
    sync,
)
from tests.conftest import Git

from .conftest import Clones, Origin, Origins, said, say

TALKS: dict[str, Callable[[Store], object]] = {
    "fetch": fetch,
    "pull": pull,
    "push": push,
    "sync": sync,
    "list": remote_sessions,
    "bind": lambda store: bind_remote(store, "s").load(),
}


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """Returns the file that `script` leaves when it is run."""
    return tmp_path / "ran"


@pytest.fixture
def script(tmp_path: Path, mark: Path) -> Path:
    """Returns a program that leaves a mark, and then does what it was called for, as far as that is a command."""
    made = tmp_path / "script"
    made.write_text(f'#!/bin/sh\necho "$@" >>{mark}\nexec "$@"\n')
    made.chmod(0o755)
    return made


@pytest.fixture
def ours(near: Origin, clones: Clones) -> Store:
    """Returns a store with a session, whose remote has another."""
    say(near.store, "theirs", "one")
    made = clones(near)
    say(made, "s", "one")
    return made


@pytest.fixture
def of_user(tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Returns a function that sets something in the user's own configuration."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    return lambda *arguments: git("config", "--global", *arguments)


KEYS = (
    "remote.origin.uploadpack",
    "remote.origin.receivepack",
    "remote.origin.vcs",
    "remote.Other.uploadPack",
    "core.sshCommand",
    "core.gitProxy",
    "core.askPass",
    "core.alternateRefsCommand",
    "core.hooksPath",
    "credential.helper",
    "credential.https://example.org.helper",
    "gpg.program",
    "gpg.ssh.program",
    "gpg.ssh.defaultKeyCommand",
    "hook.any.command",
    "gc.recentObjectsHook",
    "http.saveCookies",
    "http.https://example.org/.saveCookies",
    "remotes.origin",
    "url.e.insteadOf",
    "url.ext::sh -c .insteadOf",
    "url.foo://x.pushInsteadOf",
    "url.foo:/.insteadOf",
)


def refused(talk: Callable[[Store], object], store: Store) -> str:
    with pytest.raises(InvalidRemote) as told:
        talk(store)
    return told.value.reason


@pytest.mark.parametrize("key", KEYS)
def test_a_setting_of_the_store_that_names_a_program_is_refused_by_its_name(
    ours: Store, script: Path, mark: Path, git: Git, key: str
) -> None:
    git("config", "--file", ours.path / "config", key, script)
    section, _, rest = key.partition(".")
    middle, dot, last = rest.rpartition(".")
    assert f"'{section}.{middle}{dot}{last.lower()}'" in refused(fetch, ours)
    assert not mark.exists()
    assert [remote.name for remote in remotes(ours) if remote.name == "origin"] == ["origin"]


def test_so_is_a_group_of_remotes_whose_name_has_a_dot(near: Origin, ours: Store, git: Git) -> None:
    add_remote(ours, "A.b", near.url)
    git("config", "--file", ours.path / "config", "remotes.A.b", "origin")
    assert "'remotes.A.b'" in refused(lambda store: fetch(store, "A.b"), ours)
    fetch(ours)


@pytest.mark.parametrize("talk", TALKS.values(), ids=TALKS)
@pytest.mark.parametrize("key", ["remote.origin.uploadpack", "remote.origin.receivepack"])
def test_whatever_talks_to_a_remote_refuses_it(
    ours: Store, script: Path, mark: Path, git: Git, talk: Callable[[Store], object], key: str
) -> None:
    git("config", "--file", ours.path / "config", key, f"{script} git {key[14:].replace('pack', '-pack')}")
    assert key in refused(talk, ours)
    assert not mark.exists()


@pytest.mark.parametrize("how", ["include.path", "includeIf.gitdir:**/.path", "a worktree"])
def test_so_is_one_that_is_brought_in_from_another_file(
    ours: Store, script: Path, mark: Path, git: Git, how: str
) -> None:
    config, other = ours.path / "config", ours.path / "config.worktree"
    git("config", "--file", other, "core.sshCommand", script)
    if how == "a worktree":
        git("config", "--file", config, "extensions.worktreeConfig", "true")
    else:
        git("config", "--file", config, how, "config.worktree")
    git("config", "--file", config, "remote.origin.url", "ssh://127.0.0.1:1/x")
    for talk in TALKS.values():
        assert "core.sshcommand" in refused(talk, ours)
    assert not mark.exists()


@pytest.mark.parametrize("url", ["ssh://127.0.0.1:1/x", "git://127.0.0.1:1/x"])
def test_nothing_runs_for_a_remote_of_another_kind(ours: Store, script: Path, mark: Path, git: Git, url: str) -> None:
    config = ours.path / "config"
    git("config", "--file", config, "remote.origin.url", url)
    git("config", "--file", config, "core.gitProxy", script)
    git("config", "--file", config, "core.sshCommand", script)
    refused(fetch, ours)
    assert not mark.exists()


@pytest.mark.parametrize("name", ["pre-push", "reference-transaction"])
@pytest.mark.parametrize("talk", ["push", "sync", "bind"])
def test_a_hook_that_lies_in_the_store_is_not_run_and_nothing_is_pushed(
    near: Origin, ours: Store, script: Path, mark: Path, name: str, talk: str
) -> None:
    hook = ours.path / "hooks" / name
    hook.parent.mkdir(exist_ok=True)
    script.rename(hook)
    assert f"hooks/{name}" in refused(TALKS[talk], ours)
    pull(ours)
    assert not mark.exists()
    assert [meta.id for meta in near.store.list()] == ["theirs"]


def test_a_hook_in_the_store_is_not_the_users_where_theirs_is_a_relative_path(
    ours: Store, script: Path, mark: Path, of_user: Callable[..., str]
) -> None:
    of_user("core.hooksPath", ".hooks")
    (ours.path / ".hooks").mkdir()
    script.rename(ours.path / ".hooks" / "pre-push")
    assert ".hooks/pre-push" in refused(push, ours)
    assert not mark.exists()


def test_what_moves_refs_here_refuses_hooks_by_configuration(ours: Store, script: Path, git: Git) -> None:
    git("config", "--file", ours.path / "config", "hook.any.command", script)
    with pytest.raises(Unavailable, match=r"hook\.any\.command"):
        maintain(ours)
    assert "hook.any.command" in refused(lambda store: remove_remote(store, "origin"), ours)


def test_what_is_the_users_own_is_used(
    origins: Origins,
    tmp_path: Path,
    mark: Path,
    script: Path,
    monkeypatch: pytest.MonkeyPatch,
    of_user: Callable[..., str],
) -> None:
    there = origins("ssh")
    say(there.store, "theirs", "one")
    of_user("core.sshCommand", f"{script} {os.environ['GIT_SSH_COMMAND']}")
    of_user("credential.helper", str(script))
    monkeypatch.delenv("GIT_SSH_COMMAND")
    made = clone(there.url, tmp_path / "c.git", durable=False)
    say(made, "s", "one")
    sync(made)
    assert said(made, "theirs") == said(there.store, "s") == ["one"]
    assert "git-upload-pack" in mark.read_text()
    assert "git-receive-pack" in mark.read_text()


def test_what_rewrites_a_url_to_another_place_is_used(near: Origin, ours: Store, git: Git, tmp_path: Path) -> None:
    git("config", "--file", ours.path / "config", f"url.{near.path.parent}/.insteadOf", "ssh://mine/")
    git("config", "--file", ours.path / "config", "remote.origin.url", f"ssh://mine/{near.path.name}")
    pull(ours)
    assert said(ours, "theirs") == ["one"]
