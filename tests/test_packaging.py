"""What is installed: all packages, under the names that they are imported by."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_package_is_installed() -> None:
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    found = set()
    for name, folder in setuptools["package-dir"].items():
        for path in (ROOT / folder).rglob("__init__.py"):
            found.add(".".join([name, *path.parent.relative_to(ROOT / folder).parts]))
    assert found == set(setuptools["packages"])
