"""What the README shows works as printed. `python -m tests.test_readme` writes what its examples print anew."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import pytest
from gitsession_cli.errors import EXIT_CODES, SECRETS_FOUND

from gitsession import FORMATS, LOSSES, RESUMABLE
from tests.consoles import shell, with_real_output
from tests.hostile_cases import CASES

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"

FATES = ("left out", "as text")
_PYTHON = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n.*?```", re.DOTALL)

# What differs each time: the id of an appended commit, and when, and so as which object, it was stored. And between
# versions of git: blanks at the end of a line.
_VARYING = {
    r"\bcommit-[\w-]{24}": "COMMIT",
    r"\b[0-9a-f]{10}  \d{4}-\d\d-\d\d \d\d:\d\d": "OID  TIME",
    r"(?m) +$": "",
}


def set_up() -> list[str]:
    """Returns the two commands that set everything up."""
    block = re.search(r"```sh\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert block
    return block[1].splitlines()


def regenerated(directory: Path) -> str:
    """Returns the README with what its examples print in a directory that holds the fixtures alone."""
    text = README.read_text("utf-8")
    (directory / "fixtures").symlink_to(ROOT / "fixtures")
    environment = {
        **os.environ,
        **dict(re.findall(r"^export (\w+)=(.*)$", text, re.MULTILINE)),
        "HOME": str(directory / "home"),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONWARNINGS": "error",
        "TZ": "UTC",
    }
    run = shell(directory, environment)
    first_import = set_up()[0].rpartition(" && ")[2].removeprefix(".venv/bin/")
    assert run(first_import).endswith("1 session, 6 new commits\n")
    text = with_real_output(text, run)
    return _PYTHON.sub(lambda block: _with_output(block, directory, environment), text)


def _with_output(block: re.Match[str], directory: Path, environment: dict[str, str]) -> str:
    command = [sys.executable, "-c", block["code"]]
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return f"```python\n{block['code']}```\n\n```text\n{done.stdout}```"


def steady(text: str) -> str:
    """Returns the text without what differs each time."""
    for pattern, name in _VARYING.items():
        text = re.sub(pattern, name, text)
    return text


def test_the_examples_print_what_is_shown(tmp_path: Path) -> None:
    assert steady(README.read_text("utf-8")) == steady(regenerated(tmp_path))


def test_the_set_up_is_what_continuous_integration_runs() -> None:
    first, second = set_up()
    lines = [line.removeprefix("checked ") for line in (ROOT / ".ci" / "run").read_text("utf-8").splitlines()]
    assert lines.index(first) < lines.index(second)


def test_the_exit_codes_are_all_there() -> None:
    rows = re.findall(r"^\| (\d+) \|(.*?)\| .+ \|$", README.read_text("utf-8"), re.MULTILINE)
    shown = {(int(code), name) for code, names in rows for name in re.findall(r"`(\w+)`", names)}
    names = {click.ClickException: "UsageError"}
    assert shown == {(code, names.get(kind, kind.__name__)) for kind, code in EXIT_CODES.items()}
    assert {int(code) for code, names in rows if not names.strip()} == {0, SECRETS_FOUND, 130, 141, 143}


def test_what_is_promised_names_the_tests_that_show_it() -> None:
    rows = re.findall(r"^\| .+ \| .+ \| `pytest (.+)` \|$", README.read_text("utf-8"), re.MULTILINE)
    shown = set()
    for row in rows:
        command = re.fullmatch(r"((?:-m (?:slow|'') )?(?:--full )?)(\S+)(?: -k (\w+))?", row)
        assert command, row
        options, path, word = command.groups()
        text = (ROOT / path).read_text("utf-8")
        tests = re.findall(r"^(?:@pytest.mark.slow\n)?def (test_\w+)", text, re.MULTILINE)
        assert [name for name in tests if (word or "") in name] != [], row
        assert ("pytest.mark.slow" in text) == ("-m" in options), row
        assert ("scale(" in text) == ("--full" in options), row
        shown.add(Path(path).name)
    guarantees = {path.name for path in (ROOT / "tests" / "guarantees").glob("test_*.py")}
    assert shown == guarantees | {"test_damage.py", "test_hostile.py"}
    (count,) = re.findall(r"\| more than (\d+) hostile repositories \|", README.read_text("utf-8"))
    assert len(CASES) > int(count)


def test_what_agents_have_no_place_for_is_all_there() -> None:
    rows = [
        f"| {FORMATS[name].title if name in RESUMABLE else f'`--format {name}`'} | "
        f"{' | '.join(', '.join(what for what, own in lost.items() if own == fate) for fate in FATES)} |"
        for name, lost in LOSSES.items()
    ]
    table = README.read_text("utf-8").partition("| agent | left out | as text |\n|---|---|---|\n")[2]
    assert table.partition("\n\n")[0].splitlines() == rows


def _linked() -> list[str]:
    return re.findall(r"\]\(([^)#:]+)\)", README.read_text("utf-8"))


@pytest.mark.parametrize("target", _linked())
def test_what_is_linked_is_there(target: str) -> None:
    assert (ROOT / target).exists()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        fresh = regenerated(Path(made))
    if steady(fresh) != steady(README.read_text("utf-8")):
        README.write_text(fresh, "utf-8")
