"""What a sync does and leaves alone: dry runs, refusals, rewritten histories, names and URLs."""

import subprocess
from pathlib import Path

import pytest

from gitsession import (
    InvalidRemote,
    InvalidSessionId,
    NotAStore,
    RemoteExists,
    RemoteNotFound,
    RemoteUnavailable,
    SessionNotFound,
    Store,
    SyncRefused,
    add_remote,
    clone,
    fetch,
    new_commit,
    pull,
    push,
    remotes,
    remove_remote,
    sync,
)
from tests.conftest import Git
from tests.stores import everything

from .conftest import Clones, Origin, said, say


def refuse(origin: Origin, name: str, script: str) -> None:
    hook = origin.path / "hooks" / name
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{script}\n")
    hook.chmod(0o755)


def test_a_dry_run_changes_nothing_and_says_what_would_be_done(near: Origin, clones: Clones) -> None:
    ours, theirs = clones(near), clones(near)
    for name in ("behind", "ahead", "both"):
        say(ours, name, "one")
    push(ours)
    pull(theirs)
    say(theirs, "behind", "two")
    say(theirs, "both", "two there")
    say(theirs, "new there", "one")
    push(theirs)
    say(ours, "ahead", "two")
    say(ours, "both", "two here")
    say(ours, "new here", "one")
    before = everything(ours), everything(near.store)
    with pytest.raises(SyncRefused) as told:
        sync(ours, dry_run=True)
    foreseen = {(one.session, one.action, one.status) for one in told.value.results}
    assert (everything(ours), everything(near.store)) == before
    with pytest.raises(SyncRefused) as told:
        sync(ours)
    assert foreseen == {(one.session, one.action, one.status) for one in told.value.results}
    assert foreseen == {
        ("behind", "pull", "moved"),
        ("new there", "pull", "new"),
        ("both", "pull", "diverged"),
        ("ahead", "push", "moved"),
        ("new here", "push", "new"),
    }


def test_a_push_that_is_refused_in_part_names_the_sessions_and_sends_the_rest(near: Origin, clones: Clones) -> None:
    ours = clones(near)
    for name in ("a", "secret", "z"):
        say(ours, name, "one")
    refuse(near, "update", 'case "$1" in *secret) echo "no secrets here" >&2; exit 1;; esac')
    before = everything(ours)[0]
    for _ in range(3):
        with pytest.raises(SyncRefused) as told:
            push(ours)
        assert told.value.refused == {"secret": "origin refuses it: hook declined"}
    assert {meta.id for meta in near.store.list()} == {"a", "z"}
    assert [line for line in everything(ours)[0].split("\n") if "heads" in line] == [
        line for line in before.split("\n") if "heads" in line
    ]


def test_the_users_pre_push_hook_may_refuse(
    near: Origin, clones: Clones, tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = clones(near)
    say(ours, "s", "one")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    git("config", "--global", "core.hooksPath", tmp_path / "hooks")
    hook = tmp_path / "hooks" / "pre-push"
    hook.parent.mkdir()
    hook.write_text("#!/bin/sh\necho 'found a secret' >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(RemoteUnavailable, match="found a secret"):
        push(ours)
    assert near.store.list() == []


def test_a_remote_that_rewrote_its_history_is_found_and_refused_and_nothing_is_lost(
    near: Origin, clones: Clones, git: Git
) -> None:
    ours, theirs = clones(near), clones(near)
    say(ours, "s", "one", "two")
    say(ours, "fine", "one")
    push(ours)
    fetch(theirs)
    git("-C", near.path, "update-ref", "refs/heads/s", "s~1")
    say(near.store, "s", "another two")
    say(near.store, "fine", "two")
    for store in (ours, theirs):
        for attempt in (fetch, pull, sync):
            with pytest.raises(SyncRefused, match="was rewritten") as told:
                attempt(store)
            assert [*told.value.refused] == ["s"]
        assert said(store, "s@origin") == ["one", "two"]
        assert said(store, "fine") == ["one", "two"]
    assert said(ours, "s") == ["one", "two"]
    assert said(near.store, "s") == ["one", "another two"]


def test_a_session_that_is_gone_at_the_remote_stays_here(near: Origin, clones: Clones, git: Git) -> None:
    ours = clones(near)
    say(ours, "s", "one")
    push(ours)
    git("-C", near.path, "update-ref", "-d", "refs/heads/s")
    fetch(ours)
    assert said(ours, "s@origin") == said(ours, "s") == ["one"]
    with pytest.raises(SessionNotFound, match="'origin' has no session 's'"):
        pull(ours, sessions=["s"])
    say(near.store, "t", "one")
    with pytest.raises(SyncRefused, match="has no such session") as told:
        pull(ours, sessions=["s", "t"])
    assert ([*told.value.refused], said(ours, "t")) == (["s"], ["one"])
    assert [one.status for one in sync(ours, sessions=["s"])] == ["new"]
    assert said(near.store, "s") == ["one"]


@pytest.mark.parametrize("name", ["nobody", "no-*", "[n]o?"])
def test_what_neither_side_has_is_not_found(near: Origin, clones: Clones, tmp_path: Path, name: str) -> None:
    ours = clones(near)
    say(ours, "s", "one")
    say(near.store, "t", "one")
    for attempt in (push, sync, fetch, pull):
        for dry_run in (False, True):
            with pytest.raises(SessionNotFound) as told:
                attempt(ours, sessions=[name], dry_run=dry_run)
            assert told.value.session_id == name
    with pytest.raises(SessionNotFound):
        clone(near.url, tmp_path / "part.git", sessions=[name])
    assert not (tmp_path / "part.git").exists()
    assert ([*ours.other_sides()], [one.id for one in near.store.list()]) == ([], ["t"])


@pytest.mark.parametrize("name", ["nobody", "no-*", "[n]o?"])
def test_what_is_asked_for_beside_what_is_not_there(near: Origin, clones: Clones, tmp_path: Path, name: str) -> None:
    ours = clones(near)
    say(ours, "s", "one")
    say(near.store, "t", "one")
    with pytest.raises(SessionNotFound):
        push(ours, sessions=["s", name])
    for dry_run in (True, False):
        for attempt in (fetch, pull):
            with pytest.raises(SyncRefused, match="has no such session") as told:
                attempt(ours, sessions=["t", name], dry_run=dry_run)
            assert [*told.value.refused] == [name]
    assert said(ours, "t") == ["one"]
    with pytest.raises(SyncRefused):
        clone(near.url, tmp_path / "part.git", sessions=["t*", name])
    assert said(Store.open(tmp_path / "part.git"), "t") == ["one"]


@pytest.mark.parametrize("names", [["s", "t"], ["s*", "t*"], ["t"], ["t*"]])
def test_a_sync_takes_what_one_of_the_sides_has(near: Origin, clones: Clones, names: list[str]) -> None:
    ours = clones(near)
    say(ours, "s", "one")
    say(near.store, "t", "one")
    expected = {("t", "pull"), *([("s", "push")] if len(names) == 2 else [])}
    for dry_run in (True, False):
        assert {(one.session, one.action) for one in sync(ours, sessions=names, dry_run=dry_run)} == expected


def test_the_other_side_is_read_by_every_verb_and_written_by_none(near: Origin, clones: Clones) -> None:
    ours, theirs = clones(near), clones(near)
    say(theirs, "s", "one", "two")
    push(theirs)
    fetch(ours)
    assert ours.list() == []
    assert [side.id for side in ours.other_sides()] == ["s@origin"]
    assert ours.find("s@origin") == "s@origin"
    assert ours.info("s@origin").branch == "origin/s"
    assert ours.info("s@origin").parent_session is None
    assert [*ours.transcript("s@origin")] == [*theirs.transcript("s")]
    assert [*ours.messages("s@origin")] == [*theirs.messages("s")]
    assert [*ours.log("s@origin", at="one")] == [*theirs.log("s", at="one")]
    assert len(ours.load("s@origin", at="#0")) == 1
    assert ours.bind("s@origin").load().head == "two"
    for write in (
        lambda: say(ours, "s@origin", "three"),
        lambda: ours.bind("s@origin").commit(new_commit(None, [{"n": 1}])),
        lambda: ours.fork("s@origin", "s@origin"),
    ):
        with pytest.raises(InvalidSessionId, match="only read"):
            write()


def test_a_session_whose_own_id_looks_like_another_side_is_meant(near: Origin, clones: Clones) -> None:
    ours, theirs = clones(near), clones(near)
    say(ours, "s@origin", "I am called so")
    say(theirs, "s", "one")
    push(theirs)
    pull(ours)
    assert said(ours, "s@origin") == ["I am called so"]
    assert said(ours, ours.find("s@origin")) == ["I am called so"]
    say(ours, "s@origin", "and go on")
    push(ours)
    pull(theirs)
    assert said(theirs, "s@origin@origin") == said(theirs, "s@origin") == ["I am called so", "and go on"]


def test_a_beginning_names_the_other_side_too(near: Origin, clones: Clones) -> None:
    ours, theirs = clones(near), clones(near)
    say(theirs, "fix-login", "one")
    push(theirs)
    fetch(ours)
    assert ours.find("fix@origin") == "fix-login@origin"
    for name in ("fix@elsewhere", "nobody@origin", "fix@"):
        with pytest.raises(SessionNotFound):
            ours.find(name)


@pytest.mark.parametrize(
    "url",
    [
        "--upload-pack=touch /tmp/x",
        "-x",
        "ext::sh -c 'touch x'",
        "fd::7",
        "foo::bar",
        "gopher://host/x",
        "ssh://-oProxyCommand=touch/x",
        "ssh://me@-oProxyCommand=touch/x",
        "-oProxyCommand=x:path",
        "me@-oProxyCommand=x:path",
        "",
        "a\nb",
        "a\x1b[31m",
    ],
)
def test_a_url_that_names_a_program_or_passes_for_an_option_is_refused(store: Store, tmp_path: Path, url: str) -> None:
    with pytest.raises(InvalidRemote):
        add_remote(store, "origin", url)
    with pytest.raises(InvalidRemote):
        clone(url, tmp_path / "clone.git")
    assert not (tmp_path / "clone.git").exists()
    subprocess.run(["git", "-C", store.path, "config", "remote.origin.url", url.replace("\n", "\\n")], check=True)
    with pytest.raises((InvalidRemote, RemoteNotFound, RemoteUnavailable)):
        fetch(store)


@pytest.mark.parametrize("name", ["", "-x", ".x", "a/b", "a b", "a@b", "..", "x.lock", "a\nb", "é"])
def test_a_name_that_git_or_a_session_could_misread_is_refused(store: Store, name: str) -> None:
    with pytest.raises(InvalidRemote):
        add_remote(store, name, "somewhere")


def test_remotes_are_gits_own(store: Store, git: Git, near: Origin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(near.path.parent)
    add_remote(store, "origin", near.path.name)
    add_remote(store, "hub", "https://ada:" + "s3cret" + "@example.com/x.git")
    with pytest.raises(RemoteExists):
        add_remote(store, "hub", "elsewhere")
    assert [(one.name, one.url) for one in remotes(store)] == [
        ("hub", "https://ada:…@example.com/x.git"),
        ("origin", str(near.path)),
    ]
    assert git("-C", store.path, "remote").split() == ["hub", "origin"]
    assert git("-C", store.path, "config", "remote.origin.fetch") == "+refs/heads/*:refs/remotes/origin/*\n"
    remove_remote(store, "hub")
    for call in (lambda: remove_remote(store, "hub"), lambda: fetch(store, "hub"), lambda: push(store, "hub")):
        with pytest.raises(RemoteNotFound):
            call()


def test_a_remote_with_what_no_session_here_has_is_removed_only_on_demand(near: Origin, clones: Clones) -> None:
    ours = clones(near)
    say(near.store, "s", "one")
    fetch(ours)
    with pytest.raises(SyncRefused, match="fork s@origin"):
        remove_remote(ours, "origin")
    pull(ours)
    remove_remote(ours, "origin")
    assert said(ours, "s") == ["one"]


def test_a_refspec_that_overwrites_sessions_is_refused(near: Origin, clones: Clones, git: Git) -> None:
    ours = clones(near)
    for refspec in ("+refs/*:refs/*", "+refs/heads/*:refs/heads/*", "+refs/heads/s:refs/heads/s"):
        git("-C", ours.path, "config", "--replace-all", "remote.origin.fetch", refspec)
        with pytest.raises(InvalidRemote, match="overwrite"):
            fetch(ours)


def test_a_clone_is_a_store_of_its_own_readable_by_its_owner_alone(near: Origin, tmp_path: Path, git: Git) -> None:
    say(near.store, "s", "one")
    git("-C", near.path, "config", "core.sshCommand", "touch /tmp/never")
    made = clone(near.url, tmp_path / "c.git", durable=False)
    assert made.path.stat().st_mode & 0o777 == 0o700
    assert git("-C", made.path, "config", "receive.denyNonFastForwards") == "true\n"
    assert "sshcommand" not in git("-C", made.path, "config", "--list")
    with pytest.raises(NotAStore):
        clone(near.url, tmp_path / "c.git")


def test_a_clone_that_fails_leaves_nothing(near: Origin, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "new", tmp_path / "empty"):
        with pytest.raises(RemoteUnavailable):
            clone(str(near.path) + "-not", path)
    assert [entry.name for entry in tmp_path.rglob("*")] == ["empty"]


def test_a_writer_at_work_is_never_overrun(near: Origin, clones: Clones) -> None:
    ours, theirs = clones(near), clones(near)
    say(ours, "s", "one")
    push(ours)
    pull(theirs)
    say(theirs, "s", "two there")
    push(theirs)
    fetch(ours)
    # What the pull has seen is old when it moves the session.
    state = ours.repository.refs.find("refs/heads/s")
    say(ours, "s", "two here")
    assert ours.repository.refs.find("refs/heads/s") != state
    with pytest.raises(SyncRefused):
        pull(ours)
    assert said(ours, "s") == ["one", "two here"]


DAMAGED = {"missing": "1234567890" * 4 + "\n", "empty": "", "symbolic": "ref: refs/heads/a\n"}


@pytest.mark.parametrize("names", [None, ["*"], ["a", *DAMAGED, "z"]])
def test_damaged_branches_are_refused_and_hold_back_no_others(
    near: Origin, clones: Clones, names: list[str] | None
) -> None:
    ours = clones(near)
    for name in ("a", "z"):
        say(ours, name, "one")
    for name, content in DAMAGED.items():
        (ours.path / "refs" / "heads" / name).write_text(content)
    for send in (push, sync):
        with pytest.raises(SyncRefused) as told:
            send(ours, "origin", names)
        assert {*told.value.refused} == {*DAMAGED}
        assert "it is damaged here: the ref refs/heads/empty is empty" in told.value.refused["empty"]
        assert [one.id for one in near.store.list()] == ["z", "a"]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="strace is of Linux")
def test_what_plain_git_pushes_to_a_store_is_on_its_disk(near: Origin, store: Store, git: Git, tmp_path: Path) -> None:
    say(store, "s", "one")
    trace = tmp_path / "trace"
    watched = ["strace", "-f", "-y", "-e", "trace=fsync,fdatasync,rename,link", "-o", trace]
    subprocess.run([*watched, "git", "-C", store.path, "push", "-q", near.path, "s"], check=True)
    synced = [line for line in trace.read_text().splitlines() if "sync(" in line and str(near.path) in line]
    # The commit's objects: its root tree, the two below, the header, the delta and itself.
    assert sum("/objects/" in line for line in synced) >= 6
    assert any("/refs/heads/s.lock" in line for line in synced)
