"""What stock git makes of a store loads: clones, branches, branches in a directory, commits from a work tree."""

import warnings
from pathlib import Path

import pytest

from gitsession import (
    AmbiguousName,
    BrokenSession,
    Corrupt,
    MessageEntry,
    NotAStore,
    Session,
    SessionCommit,
    SessionError,
    SessionMeta,
    SessionNotFound,
    Store,
)
from tests.conftest import Git
from tests.stores import HELLO, HI

PERSON = ("-c", "user.name=A Person", "-c", "user.email=person@example.invalid")


@pytest.fixture
def talk(store: Store) -> Store:
    """Returns a store with a session of five messages."""
    head = None
    for number in range(5):
        head = store.bind("talk").commit(SessionCommit(f"c{number}", head, [{"role": "user", "n": number}])).head
    return store


def numbers(store: Store, session_id: str) -> list[int]:
    return [message["n"] for message in store.bind(session_id).load().messages]


# Clones.


def test_a_bare_clone_opens_as_a_store(talk: Store, git: Git, tmp_path: Path) -> None:
    talk.fork("talk", "a/b", at="c1")
    git("clone", "-q", "--bare", talk.path, tmp_path / "clone.git")
    clone = Store.open(tmp_path / "clone.git", durable=False)
    assert sorted(meta.id for meta in clone.list()) == ["a/b", "talk"]
    assert list(talk.transcript("talk")) == list(clone.transcript("talk"))
    assert clone.bind("talk").commit(SessionCommit("more", "c4", [HELLO])).head == "more"
    assert talk.bind("talk").load().head == "c4"


def test_what_a_bare_clone_pushes_arrives(talk: Store, git: Git, tmp_path: Path) -> None:
    git("clone", "-q", "--bare", talk.path, tmp_path / "clone.git")
    clone = Store.open(tmp_path / "clone.git", durable=False)
    clone.append("talk", MessageEntry(HELLO, id="e1"))
    git("-C", clone.path, "push", "-q", "origin", "talk")
    assert talk.bind("talk").load().head == "e1"
    assert talk.bind("talk").commit(SessionCommit("more", "e1", [HI])).head == "more"


def test_a_clone_with_a_work_tree_opens_as_a_store(talk: Store, git: Git, tmp_path: Path) -> None:
    git("-C", talk.path, "symbolic-ref", "HEAD", "refs/heads/talk")
    git("clone", "-q", talk.path, tmp_path / "clone")
    for path in (tmp_path / "clone", tmp_path / "clone" / ".git"):
        clone = Store.open(path)
        assert clone.path == tmp_path / "clone" / ".git"
        assert numbers(clone, "talk") == [0, 1, 2, 3, 4]


def test_a_clone_of_an_empty_store_opens(store: Store, git: Git, tmp_path: Path) -> None:
    git("clone", "-q", "--bare", store.path, tmp_path / "clone.git")
    assert Store.open(tmp_path / "clone.git").list() == []


def test_the_clone_of_an_ordinary_repository_is_no_store(git: Git, tmp_path: Path) -> None:
    git("init", "-q", "-b", "main", tmp_path / "code")
    git("-C", tmp_path / "code", *PERSON, "commit", "-q", "--allow-empty", "-m", "x")
    git("clone", "-q", "--bare", tmp_path / "code", tmp_path / "clone.git")
    for path in ("code", "clone.git"):
        with pytest.raises(NotAStore, match="is a git repository, but no store of sessions"):
            Store.open(tmp_path / path)


def test_what_git_bundles_or_fetches_loads(talk: Store, git: Git, tmp_path: Path) -> None:
    other = Store.init(tmp_path / "other.git", durable=False)
    other.bind("mine").commit(SessionCommit("c", None, [HELLO]))
    git("-C", talk.path, "bundle", "create", "-q", tmp_path / "all.bundle", "--all")
    git("-C", other.path, "fetch", "-q", tmp_path / "all.bundle", "refs/heads/*:refs/heads/*")
    assert sorted(meta.id for meta in other.list()) == ["mine", "talk"]
    assert numbers(other, "talk") == [0, 1, 2, 3, 4]


# Branches.


def test_a_branch_made_with_git_is_a_session_whose_parent_is_the_header_s_id(talk: Store, git: Git) -> None:
    git("-C", talk.path, "branch", "fork", "talk~3")
    assert talk.bind("fork").load() == Session("c1", [{"role": "user", "n": 0}, {"role": "user", "n": 1}])
    info = talk.info("fork")
    assert (info.id, info.branch, info.parent_session, info.deltas, info.head) == ("fork", "fork", "talk", 2, "c1")
    assert talk.bind("fork").commit(SessionCommit("own", "c1", [{"n": 9}])).head == "own"
    talk.append("fork", MessageEntry({"n": 10}))
    assert (numbers(talk, "fork"), numbers(talk, "talk")) == ([0, 1, 9, 10], [0, 1, 2, 3, 4])
    assert talk.diff("talk", "fork").common == 2


@pytest.mark.parametrize("packed", [False, True])
def test_a_branch_in_a_directory_is_a_session_with_its_ref_as_the_id(talk: Store, git: Git, packed: bool) -> None:
    git("-C", talk.path, "branch", "exp/try-2", "talk~1")
    if packed:
        git("-C", talk.path, "pack-refs", "--all")
    assert [meta.id for meta in talk.list()] == ["refs/heads/exp/try-2", "talk"]
    info = talk.info("refs/heads/exp/try-2")
    assert (info.id, info.branch, info.parent_session) == ("refs/heads/exp/try-2", "exp/try-2", "talk")
    assert [talk.find(name) for name in ("exp/try-2", "refs/heads/exp/try-2", "exp")] == ["refs/heads/exp/try-2"] * 3
    session = talk.bind("refs/heads/exp/try-2")
    assert session.commit(SessionCommit("own", "c3", [{"n": 9}])).head == "own"
    assert git("-C", talk.path, "log", "-1", "--format=%s", "exp/try-2") == 'meta: {"n":9}\n'


def test_an_id_may_look_like_a_branch_in_a_directory_beside_it(talk: Store, git: Git) -> None:
    git("-C", talk.path, "branch", "exp/try-2", "talk")
    talk.create(SessionMeta("exp/try-2"))
    talk.append("exp/try-2", MessageEntry({"n": 7}))
    assert (numbers(talk, "exp/try-2"), len(numbers(talk, "refs/heads/exp/try-2"))) == ([7], 5)
    assert talk.find("exp/try-2") == "exp/try-2"


@pytest.mark.parametrize("packed", [False, True])
def test_a_branch_in_the_way_of_a_new_session_is_named(talk: Store, git: Git, packed: bool) -> None:
    git("-C", talk.path, "branch", "exp/try-2", "talk")
    if packed:
        git("-C", talk.path, "pack-refs", "--all")
    calls = [
        lambda: talk.create(SessionMeta("exp")),
        lambda: talk.fork("talk", "exp"),
        lambda: talk.bind("exp").commit(SessionCommit("c", None, [HELLO])),
    ]
    for call in calls:
        with pytest.raises(SessionError, match="'exp/try-2' stands in the way"):
            call()
    assert talk.bind("exp").load() == Session(None, [])
    with pytest.raises(SessionNotFound):
        talk.load("exp")


def test_a_directory_that_git_left_empty_is_not_in_the_way(talk: Store, git: Git) -> None:
    git("-C", talk.path, "branch", "exp/try-2", "talk")
    git("-C", talk.path, "pack-refs", "--all")
    git("-C", talk.path, "branch", "-q", "-D", "exp/try-2")
    (talk.path / "refs/heads/exp/a/b").mkdir(parents=True, exist_ok=True)
    assert talk.create(SessionMeta("exp")) == "exp"
    assert git("-C", talk.path, "rev-parse", "exp").strip() == talk.info("exp").oid


def test_a_branch_renamed_or_deleted_with_git_is_seen_at_once(talk: Store, git: Git) -> None:
    git("-C", talk.path, "branch", "-m", "talk", "renamed")
    assert [(meta.id, meta.parent_session) for meta in talk.list()] == [("renamed", "talk")]
    assert talk.bind("talk").load() == Session(None, [])
    git("-C", talk.path, "branch", "-q", "-D", "renamed")
    assert talk.list() == []
    assert talk.bind("talk").commit(SessionCommit("again", None, [HELLO])).messages == [HELLO]


def test_a_branch_that_git_reset_goes_on_from_there(talk: Store, git: Git) -> None:
    git("-C", talk.path, "update-ref", "refs/heads/talk", "talk~2")
    assert numbers(talk, "talk") == [0, 1, 2]
    assert talk.bind("talk").commit(SessionCommit("c3", "c2", [{"n": 33}])).head == "c3"
    assert numbers(talk, "talk") == [0, 1, 2, 33]


# Branches whose commits are not ours.


@pytest.fixture
def foreign(talk: Store, git: Git) -> Store:
    """Returns the store with one more branch: `code`, of a program."""
    blob = git("-C", talk.path, "hash-object", "-w", "--stdin", stdin="print('hello')\n").strip()
    tree = git("-C", talk.path, "mktree", stdin=f"100644 blob {blob}\tmain.py\n").strip()
    commit = git("-C", talk.path, *PERSON, "commit-tree", "-m", "Add a program", tree).strip()
    git("-C", talk.path, "update-ref", "refs/heads/code", commit)
    return talk


def test_a_branch_of_other_commits_is_corrupt_says_what_it_is_and_hides_no_session(foreign: Store) -> None:
    calls = [
        lambda: foreign.load("code"),
        lambda: foreign.bind("code").load(),
        lambda: foreign.bind("code").commit(SessionCommit("c", None, [HELLO])),
        lambda: foreign.append("code", MessageEntry(HELLO)),
        lambda: foreign.info("code"),
        lambda: foreign.fork("code", "new"),
        lambda: list(foreign.log("code")),
    ]
    for call in calls:
        with pytest.raises(Corrupt, match=r"'code' cannot be read: its commits are not gitsession's"):
            call()
    with pytest.warns(UserWarning, match="its commits are not gitsession's"):
        assert [meta.id for meta in foreign.list()] == ["talk"]
    *_, broken = foreign.sessions()
    assert isinstance(broken, BrokenSession)
    assert (broken.id, broken.branch, type(broken.error)) == ("code", "code", Corrupt)
    assert numbers(foreign, "talk") == [0, 1, 2, 3, 4]


def test_a_branch_of_other_commits_keeps_a_new_session_from_its_name(foreign: Store) -> None:
    with pytest.raises(SessionError):
        foreign.create(SessionMeta("code"))


def test_a_tag_an_annotated_one_too_is_no_session(talk: Store, git: Git) -> None:
    git("-C", talk.path, *PERSON, "tag", "-a", "-m", "x", "v1", "talk")
    git("-C", talk.path, "tag", "v2", "talk")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [meta.id for meta in talk.list()] == ["talk"]


@pytest.mark.parametrize("kind", ["tag", "blob", "tree"])
def test_a_branch_that_is_no_commit_is_corrupt(talk: Store, git: Git, kind: str) -> None:
    git("-C", talk.path, *PERSON, "tag", "-a", "-m", "x", "v1", "talk")
    name = {"tag": "v1", "blob": "talk:session.json", "tree": "talk^{tree}"}[kind]
    (talk.path / "refs/heads/odd").write_text(git("-C", talk.path, "rev-parse", name))
    with pytest.raises(Corrupt, match=f"is a {kind}, where a commit is expected"):
        talk.load("odd")


# Commits from a work tree.


@pytest.fixture
def tree(talk: Store, git: Git, tmp_path: Path) -> Path:
    git("-C", talk.path, "symbolic-ref", "HEAD", "refs/heads/talk")
    git("clone", "-q", talk.path, tmp_path / "tree")
    return tmp_path / "tree"


def test_a_title_changed_in_a_work_tree_is_read(talk: Store, tree: Path, git: Git) -> None:
    header = (tree / "session.json").read_text()
    (tree / "session.json").write_text(header.replace('"id":', '"title":"By hand","id":'))
    git("-C", tree, *PERSON, "commit", "-q", "-a", "-m", "Name it")
    git("-C", tree, "push", "-q")
    assert talk.info("talk").title == "By hand"
    assert numbers(talk, "talk") == [0, 1, 2, 3, 4]
    assert talk.bind("talk").commit(SessionCommit("c5", "c4", [{"n": 5}])).head == "c5"
    assert talk.info("talk").title == "By hand"
    assert [entry.subject for entry in talk.log("talk")][1] == "Name it"
    assert [entry.delta for entry in talk.log("talk")][:3] == [5, None, 4]


@pytest.mark.parametrize("what", ["nothing", "the title"])
def test_a_text_that_was_copied_to_another_commit_moves_no_number(talk: Store, tree: Path, git: Git, what: str) -> None:
    if what == "the title":
        header = (tree / "session.json").read_text()
        (tree / "session.json").write_text(header.replace('"id":', '"title":"By hand","id":'))
    git("-C", tree, *PERSON, "commit", "-q", "-a", "--allow-empty", "-C", "HEAD")
    git("-C", tree, "push", "-q")
    found = list(talk.log("talk"))
    assert [entry.delta for entry in found[1:]] == [4, 3, 2, 1, 0]
    assert found[0].delta == (None if what == "nothing" else 4)  # its text says so
    assert [talk.info("talk", at=f"#{number}").deltas for number in range(5)] == [1, 2, 3, 4, 5]
    assert [meta.title for meta in talk.list()] == ["By hand" if what == "the title" else None]
    assert [entry.timestamp for entry in talk.load("talk")] == [entry.time for entry in found[:0:-1]]


def test_a_commit_whose_text_names_nothing_is_looked_into(talk: Store, tree: Path, git: Git) -> None:
    git("-C", tree, *PERSON, "commit", "-q", "--amend", "-m", "Another text")
    git("-C", tree, "push", "-q", "-f", "origin", "HEAD:copy")
    found = [(entry.delta, entry.subject == "Another text") for entry in talk.log("copy")]
    assert found == [(4, True), (3, False), (2, False), (1, False), (0, False)]
    (info,) = [found for found in talk.sessions() if found.id == "copy"]
    assert (info.deltas, info.head) == (5, "c4")  # type: ignore[union-attr]  # it can be read


def test_a_delta_written_in_a_work_tree_is_read(talk: Store, tree: Path, git: Git) -> None:
    last = max(tree.rglob("*.jsonl"))
    path = last.with_name(last.name.replace("000004-c4-", "000005-by%20hand-"))
    path.write_text('{"type": "message", "message": {"n": 5}}\n{"message":{"n":6},"type":"message","id":"own"}\n')
    git("-C", tree, "add", ".")
    git("-C", tree, *PERSON, "commit", "-q", "-m", "By hand")
    git("-C", tree, "push", "-q")
    assert (numbers(talk, "talk"), talk.bind("talk").load().head) == ([0, 1, 2, 3, 4, 5, 6], "by hand")
    assert [entry.id for entry in talk.load("talk")][-2:] == ["by hand/0", "own"]
    assert talk.bind("talk").commit(SessionCommit("c6", "by hand", [{"n": 7}])).head == "c6"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("README.md", "hello\n"),
        ("0000-000000/x", "hello\n"),
        ("zzz/x", "hello\n"),
    ],
)
def test_other_files_make_a_session_corrupt_and_hide_no_other(
    talk: Store, tree: Path, git: Git, path: str, content: str
) -> None:
    talk.fork("talk", "fork")
    (tree / path).parent.mkdir(exist_ok=True)
    (tree / path).write_text(content)
    git("-C", tree, "add", ".")
    git("-C", tree, *PERSON, "commit", "-q", "-m", "Other files")
    git("-C", tree, "push", "-q")
    with pytest.raises(Corrupt, match="'talk' cannot be read"):
        talk.load("talk")
    with pytest.warns(UserWarning, match="'talk'"):
        assert [meta.id for meta in talk.list()] == ["fork"]


def test_a_merge_of_two_forks_is_corrupt(talk: Store, git: Git, tmp_path: Path) -> None:
    talk.fork("talk", "fork")
    for name in ("talk", "fork"):
        talk.bind(name).commit(SessionCommit(f"of-{name}", "c4", [HELLO]))
    git("clone", "-q", "-b", "talk", talk.path, tmp_path / "tree")
    git("-C", tmp_path / "tree", *PERSON, "merge", "-q", "-X", "ours", "origin/fork", "-m", "Merge")
    git("-C", tmp_path / "tree", "push", "-q")
    with pytest.raises(Corrupt):
        talk.load("talk")
    with pytest.raises(Corrupt):
        talk.bind("talk").commit(SessionCommit("c", "of-talk", [HELLO]))
    assert talk.bind("fork").load().head == "of-fork"


def test_a_beginning_that_two_branches_share_is_ambiguous(talk: Store, git: Git) -> None:
    git("-C", talk.path, "branch", "exp/1", "talk")
    git("-C", talk.path, "branch", "exp/2", "talk")
    with pytest.raises(AmbiguousName) as caught:
        talk.find("exp")
    assert caught.value.candidates == ("refs/heads/exp/1", "refs/heads/exp/2")
