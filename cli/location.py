"""Where the store is when nobody says so: in the user's data directory, as each system has it."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import click

NAME = Path("gitsession", "store.git")


def default_store(
    environment: Mapping[str, str] = os.environ, platform: str = sys.platform, home: Path | None = None
) -> Path:
    """Returns the path of the user's own store.

    The rules are those of the XDG Base Directory Specification (a relative XDG_DATA_HOME is ignored), of Apple's File
    System Programming Guide, and of Windows' known folders (local: a store does not roam).

    Raises:
        click.UsageError: There is no home directory.
    """
    if platform == "win32":
        base = environment.get("LOCALAPPDATA", "")
        fallback = Path("AppData", "Local")
    elif platform == "darwin":
        base = ""
        fallback = Path("Library", "Application Support")
    else:
        base = environment.get("XDG_DATA_HOME", "")
        fallback = Path(".local", "share")
    if base and Path(base).is_absolute():
        return Path(base) / NAME
    return (home or home_directory()) / fallback / NAME


def home_directory() -> Path:
    """Returns the user's home directory.

    Raises:
        click.UsageError: There is none: HOME is not set, and nobody knows the user, as in many containers.
    """
    try:
        return Path.home()
    except RuntimeError:
        raise click.UsageError("you have no home directory: set HOME, or name the store and what to import") from None
