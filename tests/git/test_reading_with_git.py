"""What stock git shows of a store: the conversation, whole, searchable, and nothing that it finds fault with."""

import re
import subprocess
from pathlib import Path

import pytest

from gitsession import CompactionEntry, MessageEntry, SessionCommit, SessionMeta, Store, maintain, new_commit
from tests.conftest import Git
from tests.stores import HELLO, SHAPES

TALK = [
    {"role": "user", "content": "Why is the sky blue?\nAnswer in one line."},
    {"role": "assistant", "model": "claude-x", "content": "Short waves scatter most."},
    {"role": "tool", "tool_call_id": "call_1", "content": "wavelength: 450 nm"},
    {"role": "system", "content": "Be brief."},
]


@pytest.fixture
def talk(store: Store) -> Store:
    """Returns a store with one session: a header, four messages, a compaction, and a fork of it."""
    store.create(SessionMeta("talk", created_at="2025-01-01T00:00:00Z"))
    for number, message in enumerate(TALK):
        time = f"2025-01-01T00:0{number}:00Z"
        store.append("talk", MessageEntry(message, id=f"e{number}", timestamp=time))
    store.append("talk", CompactionEntry("They spoke of the sky.", "e3", id="x", timestamp="2025-01-01T00:09:00Z"))
    store.fork("talk", "fork", at="e1")
    store.bind("fork").commit(SessionCommit("f1", "e1", [{"role": "user", "content": "And the sunset?"}]))
    return store


@pytest.fixture
def at(talk: Store, git: Git) -> Git:
    """Returns git in the store."""

    def run(*arguments: str) -> str:
        return git("-C", talk.path, *arguments)

    return run


def lines(text: str) -> list[str]:
    return text.splitlines()


@pytest.mark.parametrize("packed", [False, True])
def test_fsck_strict_finds_nothing(talk: Store, at: Git, packed: bool) -> None:
    for number, shape in enumerate(SHAPES.values()):
        talk.bind(f"shape/{number} é").commit(SessionCommit("a/b c😀", None, shape))
    for number in range(120):
        talk.bind("long").commit(SessionCommit(f"{number}", str(number - 1) if number else None, [HELLO]))
    if packed:
        at("gc", "-q", "--prune=now")
    done = subprocess.run(
        ["git", "-C", talk.path, "fsck", "--strict", "--full", "--no-dangling"], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, b"error" in done.stderr, b"warning" in done.stderr) == (0, b"", False, False)
    assert len(talk.bind("long").load().messages) == 120


def test_log_reads_as_the_conversation(at: Git) -> None:
    assert lines(at("log", "--format=%an: %s", "talk")) == [
        "meta: meta: compaction: They spoke of the sky.",
        "system: system: Be brief.",
        "tool: tool: wavelength: 450 nm",
        "claude-x: assistant: Short waves scatter most.",
        "user: user: Why is the sky blue?",
        "gitsession: meta: new session",
    ]
    assert "    Answer in one line." in lines(at("log", "talk"))


def test_authors_are_who_spoke_at_the_time_of_the_entry(at: Git) -> None:
    assert lines(at("log", "--author=tool@", "--format=%s", "talk")) == ["tool: wavelength: 450 nm"]
    assert lines(at("log", "--author=claude", "--format=%s", "talk")) == ["assistant: Short waves scatter most."]
    assert [line.split() for line in lines(at("shortlog", "-sn", "fork"))] == [
        ["2", "gitsession"],
        ["2", "user"],
        ["1", "claude-x"],
    ]
    dates = lines(at("log", "--format=%ad", "--date=format-local:%H:%M", "-5", "talk"))
    assert dates == ["00:09", "00:03", "00:02", "00:01", "00:00"]


def test_the_trailers_name_the_commit_the_delta_and_the_session(at: Git) -> None:
    assert lines(at("log", "-1", "--format=%(trailers)", "fork"))[:3] == ["Commit-Id: f1", "Delta: 2", "Session: fork"]
    assert lines(at("log", "--format=%(trailers:key=Commit-Id,valueonly,separator=)", "talk")) == [
        *("x", "e3", "e2", "e1", "e0"),
        "",
    ]


def test_a_patch_shows_only_additions_but_for_the_header(at: Git) -> None:
    patch = at("log", "-p", "--format=", "fork", "--", ".", ":!session.json")
    assert [line for line in lines(patch) if re.match(r"-(?!--)", line)] == []
    assert len([line for line in lines(patch) if re.match(r"\+(?!\+\+)", line)]) == 3
    statuses = {line.split("\t")[0] for line in lines(at("log", "--name-status", "--format=", "talk")) if line}
    assert statuses == {"A"}


def test_a_delta_is_shown_by_its_path(talk: Store, at: Git) -> None:
    paths = lines(at("ls-tree", "-r", "--name-only", "talk"))
    tag = paths[-2][-12:-6]
    assert paths == [
        *(f"0000-{tag}/00-{tag}/{number:06d}-{name}-{tag}.jsonl" for number, name in enumerate(["e0", "e1", "e2"])),
        *(f"0000-{tag}/00-{tag}/{number:06d}-{name}-{tag}.jsonl" for number, name in ((3, "e3"), (4, "x"))),
        "session.json",
    ]
    shown = at("show", f"talk:{paths[2]}")
    assert shown.encode() == list(talk.transcript("talk"))[2]


def test_the_files_of_a_tree_one_after_another_are_the_transcript(talk: Store, git: Git) -> None:
    head = None
    for number in range(230):
        head = talk.bind("long").commit(SessionCommit(f"c{number}", head, [{"n": number}, {"n": -number}])).head
    for session in ("talk", "fork", "long"):
        paths = lines(git("-C", talk.path, "ls-tree", "-r", "--name-only", session))
        shown = git("-C", talk.path, "show", *(f"{session}:{path}" for path in paths if path.endswith(".jsonl")))
        assert b"".join(talk.transcript(session)).decode() == shown


def test_grep_finds_a_word_in_a_session(at: Git) -> None:
    (hit,) = lines(at("grep", "-n", "wavelength", "talk"))
    assert re.match(r"talk:0000-\w{6}/00-\w{6}/000002-e2-\w{6}\.jsonl:1:\{", hit)
    assert lines(at("grep", "-l", "--all-match", "sunset", "fork"))[0].endswith("f1-" + hit[10:16] + ".jsonl")


def test_diff_compares_a_session_with_its_fork(at: Git) -> None:
    tag = lines(at("ls-tree", "--name-only", "talk"))[0][-6:]
    own = f"A\t0000-{tag}/00-{tag}/000002-f1-{tag}.jsonl"
    assert lines(at("diff", "--name-status", "talk...fork")) == [own, "M\tsession.json"]
    assert [line[15:] for line in lines(at("diff", "--name-only", "fork...talk", "--", ":!session.json"))] == [
        f"{tag}/000002-e2-{tag}.jsonl",
        f"{tag}/000003-e3-{tag}.jsonl",
        f"{tag}/000004-x-{tag}.jsonl",
    ]
    assert at("merge-base", "talk", "fork") == at("rev-parse", "talk~3")


def test_plain_git_sees_a_bare_repository_whose_branches_are_the_sessions(talk: Store, at: Git) -> None:
    assert at("rev-parse", "--is-bare-repository") == "true\n"
    assert lines(at("for-each-ref", "--format=%(refname)")) == ["refs/heads/fork", "refs/heads/talk"]
    assert [info.oid for info in talk.sessions()] == [at("rev-parse", name).strip() for name in ("fork", "talk")]


def test_the_reflog_tells_of_every_commit(at: Git) -> None:
    subjects = lines(at("log", "-g", "--format=%gs", "fork"))
    assert subjects == ["commit: user: And the sunset?", "fork: meta: fork of talk"]


def test_a_work_tree_checks_out_a_session(talk: Store, git: Git, tmp_path: Path) -> None:
    git("-C", talk.path, "worktree", "add", "-q", tmp_path / "tree", "talk")
    files = sorted(path for path in (tmp_path / "tree").rglob("*.jsonl"))
    assert [path.read_bytes() for path in files] == list(talk.transcript("talk"))


def test_packing_and_maintenance_change_nothing_that_is_read(talk: Store, at: Git) -> None:
    before = [list(talk.transcript(name)) for name in ("talk", "fork")]
    for maintenance in (["pack-refs", "--all"], ["repack", "-adfq"], ["gc", "-q", "--aggressive", "--prune=now"]):
        at(*maintenance)
        assert before == [list(talk.transcript(name)) for name in ("talk", "fork")]
        assert before == [list(Store.open(talk.path).transcript(name)) for name in ("talk", "fork")]
    talk.append("talk", MessageEntry(HELLO, id="after"))
    assert talk.bind("talk").load().head == "after"
    assert lines(at("log", "-1", "--format=%s", "talk")) == ["user: Hello"]


def test_a_session_is_one_ref_however_much_is_written(store: Store, git: Git, tmp_path: Path) -> None:
    """So what git lists for a fetch or a push grows with the sessions alone."""
    session = store.bind("s")
    head = None
    for number in range(120):
        head = session.commit(new_commit(head, [{"number": number}])).head
    store.fork("s", "fork", at="#50")
    store.append("fork", MessageEntry({"number": 50}))
    maintain(store)
    other = Store.init(tmp_path / "other.git", durable=False)
    git("-C", store.path, "push", "-q", other.path, "s", "fork")
    for path in (store.path, other.path):
        assert git("-C", path, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/fork", "refs/heads/s"]
