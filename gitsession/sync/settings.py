"""What git's configuration says, and what a store's own may not: the store may have come from elsewhere.

The user's own settings (global, system, environment) are theirs, and name what programs they like.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from gitsession.errors import Unavailable
from gitsession.sync.git import Git, said

# The scopes of what lies in the store, with what it includes.
_STORE = ("local", "worktree")

# What has git run a program when it talks to a remote, or write to a file of that name (`saveCookies`).
_PROGRAM = re.compile(
    r"core\.(?:sshcommand|gitproxy|askpass|alternaterefscommand|hookspath)"
    r"|remote\..*\.(?:uploadpack|receivepack|vcs)"
    r"|credential\.(?:.*\.)?helper"
    r"|gpg\.(?:.*\.)?program|gpg\.ssh\.defaultkeycommand"
    r"|http\.(?:.*\.)?savecookies"
    r"|gc\.recentobjectshook",
    re.DOTALL,
)
# Hooks by configuration (git 2.54), which no `core.hooksPath` turns off.
_HOOK = re.compile(r"hook\..*\.command", re.DOTALL)
# What a URL may be made to begin with: nothing that could become `<program>::` or `<program>://`.
_REWRITTEN = re.compile(r"url\.(?P<base>.*)\.(?:insteadof|pushinsteadof)", re.DOTALL)
_PLAIN_BASE = re.compile(r"(?:https?|ssh|git|file|git\+ssh|ssh\+git)://|/|[^/:@]+@")
# The hooks that a push runs where it is started.
_PUSH_HOOKS = ("pre-push", "reference-transaction")


class Setting(NamedTuple):
    """One setting of git's configuration.

    Attributes:
        scope: Where it was found: system, global, local, worktree or command.
        key: Its name, in small letters but for what stands between the first dot and the last.
        value: Its value; "" where it has none.
    """

    scope: str
    key: str
    value: str


def settings(git: Git) -> list[Setting]:
    """Returns what git's configuration says of a repository, later settings behind earlier ones.

    Raises:
        Unavailable: It cannot be read.
    """
    # This runs no hooks: asked for so that a `core.hooksPath` found is somebody's, and not the one that turns them off.
    done = git.run("config", "--show-scope", "--includes", "--null", "--list", hooks=True)
    if done.code:
        raise Unavailable(f"cannot read the configuration of {git.path}: {said(done.err)}")
    parts = done.out.split("\0")
    found: list[Setting] = []
    for scope, item in zip(parts[::2], parts[1::2], strict=False):  # behind the last NUL stands one part more
        key, _, value = item.partition("\n")
        found.append(Setting(scope, key, value))
    return found


def why_hooked(found: Iterable[Setting]) -> str | None:
    """Returns why no git that moves refs may run on a store: its own settings make programs hooks. None if none do."""
    return next((_refusal(one.key) for one in found if one.scope in _STORE and _HOOK.fullmatch(one.key)), None)


def why_unsafe(found: Iterable[Setting], remote: str) -> str | None:
    """Returns why git may not talk to a remote: a store's own settings would have it run programs. None if not."""
    for scope, key, _ in found:
        if scope not in _STORE:
            continue
        rewritten = _REWRITTEN.fullmatch(key)
        if (
            _PROGRAM.fullmatch(key)
            or _HOOK.fullmatch(key)
            # A group of remotes comes before a remote of its name.
            or key.lower() == f"remotes.{remote.lower()}"
            or (rewritten and not _PLAIN_BASE.match(rewritten["base"]))
        ):
            return _refusal(key)
    return None


def why_no_push(found: Iterable[Setting], git: Git) -> str | None:
    """Returns why git may not push: hooks that lie in the store would run. None if none would."""
    chosen = [one.value for one in found if one.key == "core.hookspath" and one.scope not in _STORE]
    directory = Path(chosen[-1] if chosen else "hooks")
    if directory.expanduser().is_absolute():
        return None
    for name in _PUSH_HOOKS:
        if os.access(git.path / directory / name, os.X_OK):
            return (
                f"the store has a hook of its own, {directory / name}; what came with a store is not run: remove it, "
                "or, if it is yours, move it to a directory that `git config --global core.hooksPath` names"
            )
    return None


def _refusal(key: str) -> str:
    return (
        f"the store's own configuration sets {key!a:.200}, by which git could run a program; what came with a store is "
        "not trusted: remove it, or, if it is yours, set it with `git config --global`"
    )
