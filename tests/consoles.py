"""Console examples of the documents: finds the commands that a text shows, and puts their real output in.

A block of the language `console` holds commands after `$ `, each followed by what it prints.
"""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

_BLOCK = re.compile(r"(?<=```console\n)(.*?)(?=```)", re.DOTALL)


def with_real_output(text: str, run: Callable[[str], str]) -> str:
    """Returns the text with what each command prints now."""

    def regenerated(block: re.Match[str]) -> str:
        commands = re.findall(r"^\$ (.*(?:\\\n.*)*)", block[1], re.MULTILINE)
        return "".join(f"$ {command}\n{run(command)}" for command in commands)

    return _BLOCK.sub(regenerated, text)


def shell(directory: Path, environment: dict[str, str]) -> Callable[[str], str]:
    """Returns a function that runs a shell command in a directory and returns what it prints on stdout and stderr."""

    def run(command: str) -> str:
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=directory,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
        )
        return done.stdout

    return run
