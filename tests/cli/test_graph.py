"""How a graph is drawn, and what `log --graph` prints."""

import json
from pathlib import Path

import pytest
from gitsession_cli.graph import drawn

from gitsession import GraphEntry, LogEntry

from .conftest import Run

FIXTURES = Path(__file__).parents[2] / "fixtures"


def entry(oid: str, follows: str | None) -> GraphEntry:
    return GraphEntry(LogEntry(oid, follows, 0, oid, "user", "user", oid, "", "2025-01-01T00:00:00Z"), follows, ())


@pytest.mark.parametrize(
    ("commits", "expected"),
    [
        ("c>b b>a a>", ["* c", "* b", "* a"]),
        ("c>a b>a a>", ["* c", "| * b", "|/", "* a"]),
        ("d>b c>a b>a a>", ["* d", "| * c", "* | b", "|/", "* a"]),
        ("d>a c>b b>a a>", ["* d", "| * c", "| * b", "|/", "* a"]),
        # A line in the middle joins the first one, and those beside it move up.
        ("e>a d>b c>a b>a a>", ["* e", "| * d", "| | * c", "|_|/", "| * b", "|/", "* a"]),
        ("f>a e>d c>b d>a b>a a>", ["* f", "| * e", "| | * c", "| * | d", "|/ /", "| * b", "|/", "* a"]),
        ("d> c>a b> a>", ["* d", "* c", "| * b", "* a"]),
    ],
)
def test_a_graph_is_drawn_as_git_draws_it(commits: str, expected: list[str]) -> None:
    entries = (entry(oid, follows or None) for oid, _, follows in (one.partition(">") for one in commits.split()))
    assert [before + (one.entry.oid if one else "") for before, one in drawn(entries)] == expected


@pytest.fixture
def rewind(gitsession: Run) -> str:
    gitsession("import", FIXTURES / "claude-code" / "rewind.jsonl")
    gitsession("fork", "rewind", "other", "--at", "#3")
    return "rewind"


def test_lines_and_forks_are_drawn_beside_the_session(gitsession: Run, rewind: str) -> None:
    lines = gitsession("log", rewind, "--graph").out.splitlines()
    marks = [line.partition("#" if "#" in line else " " * 6)[0].rstrip() for line in lines]
    assert marks == [
        *("*", "| *", "|/", "*", "*", "*", "| *", "| *"),
        *("| | *", "| |/", "| *", "| *", "|/", "*", "*"),
    ]
    assert lines[0].endswith("  (rewind) assistant: A commit at dawn, pushed at dusk")
    assert lines[8].endswith("  (other) meta: fork of rewind")
    plain = gitsession("log", rewind).out.splitlines()
    assert [line.split("#")[1].split()[:2] for line in lines if "#" in line] == [
        line.split("#")[1].split()[:2] for line in plain
    ]
    assert gitsession("log", rewind, "--graph", "-n", "2").out.splitlines()[:2] == lines[:2]


def test_a_graph_as_json_tells_what_each_commit_follows(gitsession: Run, rewind: str) -> None:
    values = gitsession("log", rewind, "--graph", "--json").values
    numbers = {value["oid"]: value["delta"] for value in values}
    follows = {value["delta"]: numbers.get(value["follows"]) for value in values if value["delta"] is not None}
    assert follows == {10: 8, 9: 8, 8: 7, 7: 6, 6: 1, 5: 4, 4: 3, 3: 2, 2: 1, 1: 0, 0: None}
    assert {name for value in values for name in value["lines"]} > {"rewind", "other"}


def test_nothing_in_a_graph_steers_a_terminal(gitsession: Run) -> None:
    evil = "\x1b]0;owned\x07 \x9b2J \u202e \x08"
    gitsession("new", "--id", evil, "--title", evil)
    gitsession("append", evil, stdin=json.dumps({"role": "user", "content": evil}))
    gitsession("fork", evil, evil + "2")
    out = gitsession("log", evil, "--graph").out
    assert all(line.isprintable() for line in out.split("\n"))
    assert r"\x1b]0;owned" in out


def test_a_commit_that_is_damaged_ends_a_graph_as_it_ends_a_log(gitsession: Run, rewind: str, store_path: Path) -> None:
    gitsession("append", "other", "--text", "x")
    gitsession("append", "other", "--text", "y")
    oid = gitsession("log", "other", "--at", "~1", "--json").values[0]["oid"]
    (store_path / "objects" / oid[:2] / oid[2:]).unlink()
    left = gitsession("log", rewind, "--graph")
    assert (left.code, len(left.out.splitlines())) == (0, 13)
    assert left.err.startswith("gitsession: other is left out: ")
    own = gitsession("log", "other", "--graph")
    assert (own.code, own.err.count("\n")) == (12, 1)
