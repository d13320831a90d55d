"""list, show, log, diff, export, verify."""

import json
import time
from pathlib import Path

import pytest
from gitsession_cli.commands.list import abbreviations

from tests.importing import WENT_BACK, answer, prompt

from .conftest import CONVERSATION, Result, Run

FIXTURES = Path(__file__).parents[2] / "fixtures"

SESSION_KEYS = [
    "id",
    "branch",
    "title",
    "agent",
    "deltas",
    "head",
    "oid",
    "created_at",
    "updated_at",
    "parent_session",
]
LOG_KEYS = ["oid", "parent_oid", "delta", "commit_id", "who", "author", "subject", "body", "time"]


def test_an_empty_store_lists_nothing(gitsession: Run) -> None:
    gitsession("init")
    assert gitsession("list") == Result(0, "", "")
    assert gitsession("list", "--json") == Result(0, "", "")


@pytest.fixture
def next_second() -> None:
    """Waits for the next second: git's times have no parts of one."""
    time.sleep(1.01 - time.time() % 1)


def test_list_prints_aligned_columns_the_latest_first(gitsession: Run, fix_login: str, next_second: None) -> None:
    gitsession("fork", "fix-login", "other", "--title", "Another way")
    header, *rows = gitsession("list").out.splitlines()
    assert header.split() == ["SESSION", "TITLE", "AGENT", "DELTAS", "LAST", "ACTIVITY", "PARENT"]
    assert [row.split()[0] for row in rows] == ["other", "fix-login"]
    assert {row.index(title) for row, title in zip(rows, ["Another way", "Fix the login"], strict=True)} == {
        header.index("TITLE")
    }
    assert rows[0].endswith("fix-login (fork)")


def test_list_tells_lines_that_were_left_from_what_goes_on_beside_a_session(gitsession: Run, tmp_path: Path) -> None:
    own = "259f67b4-bca3-54b6-8738-53e52c4d1610"
    path = tmp_path / f"{own}.jsonl"
    path.write_bytes((FIXTURES / "claude-code" / "rewind.jsonl").read_bytes())
    gitsession("import", path)
    path.write_bytes(path.read_bytes().replace(b"haiku", b"poem"))
    gitsession("import", path)
    origins = {one["id"]: one["origin"] for one in gitsession("list", "--json").values}
    assert {*origins.values()} == {None, "beside", "left"}
    header, *rows = gitsession("list").out.splitlines()
    assert {row[header.index("PARENT") :] for row in rows} == {"", f"{own} (left)", f"{own} (beside)"}
    assert {row[header.index("TITLE") :][:5] for row in rows} == {"Write"}


def test_list_as_json_has_one_session_a_line_with_stable_keys(
    gitsession: Run, fix_login: str, next_second: None
) -> None:
    gitsession("fork", "fix-login", "other", "--at", "#1")
    first, second = gitsession("list", "--json").values
    assert [list(first), list(second)] == [[*SESSION_KEYS, "origin"]] * 2
    assert (first["origin"], second["origin"]) == ("fork", None)
    assert (first["id"], first["deltas"], first["head"], first["parent_session"]) == ("other", 2, "c1", "fix-login")
    assert (second["id"], second["title"], second["deltas"], second["head"]) == ("fix-login", "Fix the login", 4, "c3")
    assert gitsession("list", "--json", "-n", "1").values == [first]
    assert gitsession("--json", "list", "-n", "1").values == [first]


def test_list_shows_a_branch_that_cannot_be_read_beside_the_others(gitsession: Run, fix_login: str) -> None:
    tree = gitsession("git", "hash-object", "-t", "tree", "-w", "/dev/null").out.strip()
    identity = ("-c", "user.name=me", "-c", "user.email=me@example.com")
    commit = gitsession("git", *identity, "commit-tree", "-m", "foreign", tree).out.strip()
    gitsession("git", "branch", "foreign", commit)
    done = gitsession("list", "--json")
    assert done.code == 0
    assert [found["id"] for found in done.values] == ["fix-login", "foreign"]
    assert list(done.values[1]) == ["id", "branch", "oid", "error", "message"]
    assert "cannot be read" in gitsession("list").out


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["short"], {}),
        (["7f3c9a2e-0b1d-4a51-9e3d-000000000001"], {"7f3c9a2e-0b1d-4a51-9e3d-000000000001": "7f3c9a2e"}),
        (
            ["7f3c9a2e-0b1d-4a51-9e3d-000000000001", "7f3c9a2e-0b2d-4a51-9e3d-000000000001"],
            {
                "7f3c9a2e-0b1d-4a51-9e3d-000000000001": "7f3c9a2e-0b1",
                "7f3c9a2e-0b2d-4a51-9e3d-000000000001": "7f3c9a2e-0b2",
            },
        ),
        (
            ["a" * 30, "a" * 30 + ".rec1", "a" * 30 + ".rec2"],
            {"a" * 30: "a" * 8, "a" * 30 + ".rec1": "a" * 30 + ".rec1", "a" * 30 + ".rec2": "a" * 30 + ".rec2"},
        ),
    ],
)
def test_a_long_id_is_cut_to_the_beginning_that_names_it(ids: list[str], expected: dict[str, str]) -> None:
    assert abbreviations(ids) == expected


def test_show_tells_roles_text_calls_and_results_apart_and_folds_what_is_long(gitsession: Run, fix_login: str) -> None:
    done = gitsession("show", "fix-login")
    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[0] == "Fix the login"
    assert lines[1].startswith("fix-login, 4 deltas, last activity 20")
    speakers = [line.split()[0] for line in lines[2:] if line and not line.startswith(" ")]
    assert speakers == ["user", "assistant", "tool", "assistant"]
    assert "  Why does the login fail?" in lines
    assert "assistant  model-x  " in done.out
    assert '  > shell {"command":"cat login.py"}' in lines
    assert "  | line 9" in lines
    assert "  | line 10" not in lines
    assert "  | ... 90 more lines, 789 bytes in all; --full shows it" in lines
    assert "  The token has expired." in lines


def test_show_full_folds_nothing(gitsession: Run, fix_login: str) -> None:
    lines = gitsession("show", "fix-login", "--full").out.splitlines()
    assert [f"  | line {n}" in lines for n in range(100)] == [True] * 100


def test_what_a_conversation_should_begin_with_and_does_not_is_told(
    gitsession: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fork = next(FIXTURES.glob("codex/*_page2.jsonl"))
    base = "2f0221d2-609a-5dc4-a49e-c1753e3f174f"
    gitsession("import", fork)
    told = f"left out: history of {base}, which is not in the store"
    name = fork.stem[-42:]
    assert gitsession("show", name).out.splitlines()[2] == told
    for arguments in (["show", name, "--json"], *(["export", name, "--format", one] for one in ("messages", "openai"))):
        assert gitsession(*arguments).err.splitlines()[0] == told
    assert gitsession("export", name, "--format", "claude-code").err.splitlines()[0] == told
    for own in ("jsonl", "original", "codex"):
        assert gitsession("export", name, "--format", own).err == ""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    done = gitsession("export", name, "--format", "claude-code", "--install", "--json")
    assert (done.values[0]["missing_history"], told in done.err.splitlines()) == (base, True)


def test_show_begins_where_it_is_told_to(gitsession: Run, fix_login: str) -> None:
    assert "The token" not in gitsession("show", "fix-login", "--at", "#2").out
    shown = gitsession("show", "fix-login", "-n", "1", "--json").values
    assert [(list(one), one["content"]) for one in shown] == [
        (["id", "timestamp", "role", "content"], "The token has expired.")
    ]
    # Its call, which says what the tool is called, is not among them.
    assert [one.get("name") for one in gitsession("show", "fix-login", "-n", "2", "--json").values] == ["shell", None]


def test_show_lets_nothing_through_that_steers_a_terminal(gitsession: Run) -> None:
    evil = "\x1b]0;owned\x07 \x9b2J \u202e \x08"
    gitsession("new", "--id", "evil", "--title", evil)
    message = {
        "role": "assistant",
        "model": evil,
        "content": evil,
        "reasoning": evil,
        "tool_calls": [{"id": evil, "type": "function", "function": {"name": evil, "arguments": evil}}],
    }
    gitsession("append", "evil", stdin=json.dumps(message))
    for command in (["list"], ["show", "evil"], ["log", "evil"], ["diff", "evil", "evil"]):
        out = gitsession(*command).out
        assert all(line.isprintable() for line in out.split("\n")), command
    assert gitsession("show", "evil", "--json").values[0]["model"] == evil


def test_a_lone_surrogate_is_shown_escaped(gitsession: Run) -> None:
    gitsession("new", "--id", "half")
    gitsession("append", "half", stdin=rb'{"role":"user","content":"half \ud83d"}')
    for command in (["show", "half"], ["log", "half"], ["export", "half"], ["export", "half", "--format", "markdown"]):
        done = gitsession(*command)
        assert (done.code, done.err) == (0, "")
        assert r"half \ud83d" in done.out


def test_log_prints_a_line_a_commit_the_latest_first(gitsession: Run, fix_login: str) -> None:
    lines = gitsession("log", "fix-login").out.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["#3", "#2", "#1", "#0"]
    assert lines[0].endswith("assistant: The token has expired.")
    assert gitsession("log", "fix-login", "-n", "2").out.splitlines() == lines[:2]
    assert gitsession("log", "fix-login", "--at", "#1").out.splitlines() == lines[2:]


def test_what_log_prints_can_be_given_as_a_revision(gitsession: Run, fix_login: str) -> None:
    expected = gitsession("log", "fix-login", "--at", "#1").out
    number, oid, *_ = expected.split()
    entry = gitsession("log", "fix-login", "--at", "#1", "--json").values[0]
    assert list(entry) == [*LOG_KEYS, "lines"]
    for revision in (number, oid, entry["oid"], entry["commit_id"], "~2"):
        assert gitsession("log", "fix-login", "--at", revision).out == expected


def test_what_goes_on_with_a_rewritten_file_is_named_beside_the_session(gitsession: Run, tmp_path: Path) -> None:
    for said in ("one", "uno"):
        (tmp_path / "chat.json").write_text(json.dumps([{"role": "user", "content": said}]))
        done = gitsession("import", "--json", tmp_path / "chat.json").values[0]
    assert (
        f"\nbeside it, from a rewritten file or another of its name: {done['session']}\n"
        in gitsession("show", "chat").out
    )
    assert "lines that were left" not in gitsession("show", "chat").out


def test_lines_that_were_left_are_named_where_they_ended(gitsession: Run) -> None:
    gitsession("import", FIXTURES / "claude-code" / "rewind.jsonl")
    names = [
        f"rewind.{own}" for own in ("452833a2-d38d-55e4-a1fe-b32880086140", "921d5ebe-5cfb-5e1b-850c-6e4b1c4c8d65")
    ]
    assert f"\nlines that were left: {', '.join(names)}\n" in gitsession("show", "rewind").out
    found = {name: entry["delta"] for entry in gitsession("log", "rewind", "--json").values for name in entry["lines"]}
    assert found == {names[0]: 9, names[1]: 5}
    assert f"  ({names[1]}) assistant: Sorry.\n" in gitsession("log", "rewind").out
    # A line has none of its own, and a session that was forked by hand is none.
    gitsession("fork", "rewind", "by-hand", "--at", "#3")
    assert "were left" not in gitsession("show", names[0]).out + gitsession("show", "by-hand").out
    assert "by-hand" not in gitsession("log", "rewind").out


def test_diff_counts_what_is_common_and_lists_what_each_has_of_its_own(gitsession: Run, fix_login: str) -> None:
    gitsession("fork", "fix-login", "other", "--at", "#1")
    gitsession("append", "other", "--text", "Try again.")
    done = gitsession("diff", "fix-login", "other")
    blocks = done.out.split("\n\n")
    assert blocks[0] == "2 deltas in common"
    assert blocks[1].startswith("only in fix-login: 2 commits\n- #2")
    assert blocks[2].startswith("only in other: ")
    assert "+ #2" in blocks[2]
    assert "Try again." in blocks[2]
    (value,) = gitsession("diff", "fix-login", "other", "--json").values
    assert list(value) == ["a", "b", "common", "only_a", "only_b"]
    assert (value["a"], value["b"], value["common"]) == ("fix-login", "other", 2)
    assert [entry["delta"] for entry in value["only_a"]] == [2, 3]
    assert [list(entry) for entry in value["only_b"]][-1] == LOG_KEYS


def test_diff_compares_a_session_with_its_own_past(gitsession: Run, fix_login: str) -> None:
    (value,) = gitsession("diff", "fix-login", "fix-login", "--at-a", "#0", "--json").values
    assert (value["common"], len(value["only_a"]), len(value["only_b"])) == (1, 0, 3)


def test_export_writes_the_log_as_git_has_it(gitsession: Run, fix_login: str) -> None:
    files = gitsession("git", "ls-tree", "-r", "--name-only", "fix-login").out.splitlines()
    deltas = [gitsession("git", "show", f"fix-login:{name}").out for name in files if name.endswith(".jsonl")]
    assert gitsession("export", "fix-login").out == "".join(deltas)
    assert gitsession("export", "fix-login", "--at", "#1").out == "".join(deltas[:2])


def test_export_writes_messages_as_they_were_given(gitsession: Run) -> None:
    text = '{"n":1e5,"n":-0, "m":1E400,"half":"\\ud83d"}'
    gitsession("append", "numbers", "--parent", "", stdin=text)
    assert gitsession("export", "numbers", "--format", "verbatim").out == text + "\n"


def test_export_writes_what_a_model_is_shown(gitsession: Run, fix_login: str) -> None:
    assert gitsession("export", "fix-login", "--format", "context").values == CONVERSATION


def test_what_a_model_is_shown_is_told_as_requests_take_it(gitsession: Run, fix_login: str) -> None:
    sent = gitsession("export", fix_login, "--format", "openai").values
    assert sent == [
        {key: one[key] for key in ("role", "tool_call_id", "content", "tool_calls") if key in one}
        for one in CONVERSATION
    ]
    assert [one["type"] for one in gitsession("export", fix_login, "--format", "langchain").values] == [
        {"user": "human", "assistant": "ai"}.get(one["role"], one["role"]) for one in CONVERSATION
    ]


def test_export_writes_markdown(gitsession: Run) -> None:
    fence = {"role": "tool", "tool_call_id": "c1", "name": "cat", "content": "```\ncode\n```"}
    gitsession("append", "doc", "--parent", "", stdin=json.dumps([{"role": "user", "content": "Hi"}, fence]))
    out = gitsession("export", "doc", "--format", "markdown").out
    assert out.startswith("# doc\n\n- Session: doc\n")
    assert "\n## User\n\nHi\n\n## Tool\n\n" in out
    assert "\n````\n```\ncode\n```\n````\n" in out


def test_export_tells_that_there_is_no_original(gitsession: Run, fix_login: str) -> None:
    done = gitsession("export", "fix-login", "--format", "original")
    assert (done.code, done.out) == (16, "")
    assert "has no original" in done.err


def test_a_session_is_named_by_a_beginning_that_no_other_has(gitsession: Run, fix_login: str) -> None:
    assert gitsession("show", "fix").out == gitsession("show", "fix-login").out


def test_verify_finds_nothing_wrong_with_a_good_store(gitsession: Run, fix_login: str) -> None:
    assert gitsession("verify") == Result(0, "No problem found\n", "")
    assert gitsession("verify", "--json") == Result(0, "", "")


def test_verify_tells_what_is_wrong_by_its_exit_code_too(gitsession: Run, fix_login: str) -> None:
    head = gitsession("list", "--json").values[0]["oid"]
    identity = ("-c", "user.name=me", "-c", "user.email=me@example.com")
    rewritten = gitsession("git", *identity, "commit-tree", "-m", "empty", "-p", head, f"{head}~2^{{tree}}").out.strip()
    gitsession("git", "update-ref", "refs/heads/fix-login", rewritten)
    done = gitsession("verify")
    assert (done.code, done.err) == (12, "")
    assert "fix-login" in done.out
    assert done.out.endswith(" found\n")
    assert list(gitsession("verify", "--json").values[0]) == ["session", "commit", "oid", "problem", "advice", "damage"]


def test_a_line_is_named_by_the_session_in_which_it_was_left(gitsession: Run, tmp_path: Path) -> None:
    path = tmp_path / "abc.jsonl"
    for lines in (WENT_BACK, (*WENT_BACK[:2], prompt("m", "b"), answer("n", "m"), prompt("o", "b"), answer("p", "o"))):
        path.write_bytes(b"".join(lines))
        gitsession("import", path)
    assert gitsession("show", "abc").out.splitlines()[2:4] == [
        "lines that were left: abc.d",
        "beside it, from a rewritten file or another of its name: abc.m",
    ]
    assert gitsession("show", "abc.m").out.splitlines()[2:4] == ["lines that were left: abc.n", ""]
    assert "left" not in gitsession("show", "abc.n").out
    lines = {value["commit_id"]: value["lines"] for value in gitsession("log", "abc.m", "--json").values}
    assert lines == {"a": [], "b": [], "m": [], "n": ["abc.n"], "o": [], "p": []}
