"""The remotes of a store: named in git's own configuration, so that plain git knows them too."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gitsession.errors import InvalidRemote, RemoteExists, RemoteNotFound, SyncRefused, Unavailable
from gitsession.layout import HEADS, REMOTES, is_remote_name
from gitsession.sides import tracked_branches
from gitsession.store import Store
from gitsession.sync.git import Git, said
from gitsession.sync.settings import Setting, settings, why_hooked, why_no_push, why_unsafe

# The transports of git itself. Any other scheme would run a program of that name.
_SCHEMES = ("https", "http", "ssh", "git", "file", "git+ssh", "ssh+git")
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?:[^/@]*@)?(?P<host>[^/]*)")
_HELPER = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.-]*::")
# As git tells `host:path` from a path: a colon before the first slash. A Windows drive is one letter.
_SCP = re.compile(r"(?P<host>[^/]+?):(?!:)")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_PASSWORD = re.compile(r"(://[^/:@]*):[^/@]*@")
_KEY = re.compile(r"remote\.(?P<name>.*)\.(?P<key>url|pushurl|fetch)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Remote:
    """A remote of a store.

    Attributes:
        name: Its name.
        url: Where it is; a password in it is replaced by "…".
        sessions: How many sessions it was last known to have.
    """

    name: str
    url: str
    sessions: int


def add_remote(store: Store, name: str, url: str) -> None:
    """Names a remote. Nothing is fetched.

    Args:
        store: The store.
        name: Letters, digits and `._-`, as `origin`.
        url: As git takes it: https, http, ssh or git, `user@host:path`, or a path, which is made absolute.

    Raises:
        RemoteExists: The store has one of this name.
        InvalidRemote: The name or the URL cannot be used.
    """
    if not is_remote_name(name):
        raise InvalidRemote(name, "a name has letters, digits and ._- alone, and begins with no dot and no dash")
    if name in _of_remotes(settings(Git(store.path))):
        raise RemoteExists(name)
    where = usable_url(url)
    # What is fetched goes below refs/remotes/ alone; a plain `git push` sends the sessions.
    for key, value in (
        ("url", where),
        ("fetch", f"+{HEADS}*:{REMOTES}{name}/*"),
        ("push", f"{HEADS}*:{HEADS}*"),
        ("tagOpt", "--no-tags"),
        ("followRemoteHEAD", "never"),
    ):
        _configure(store, "--add", f"remote.{name}.{key}", value)


def remotes(store: Store) -> list[Remote]:
    """Returns the remotes of a store, sorted by name."""
    known: dict[str, int] = {}
    for remote, _, _ in tracked_branches(store.reader):
        known[remote] = known.get(remote, 0) + 1
    return [
        Remote(name, _PASSWORD.sub(r"\1:…@", (found.get("url") or ["?"])[0]), known.get(name, 0))
        for name, found in sorted(_of_remotes(settings(Git(store.path))).items())
    ]


def remove_remote(store: Store, name: str, *, force: bool = False) -> None:
    """Takes a remote away, and what it was known to have. The store's own sessions stay as they are.

    Args:
        store: The store.
        name: The remote.
        force: Whether to do so also where it has something that no session here has.

    Raises:
        RemoteNotFound: There is none.
        InvalidRemote: The store's own settings would have git run a program.
        SyncRefused: It has something that no session here has.
    """
    git = Git(store.path)
    configured = settings(git)
    if name not in _of_remotes(configured):
        raise RemoteNotFound(name)
    if reason := why_hooked(configured):
        raise InvalidRemote(name, reason)
    own = {side.session: f"fork {side.id} to keep it" for side in store.other_sides() if side.remote == name}
    if own and not force:
        raise SyncRefused(name, {session: f"only the remote has all of it: {why}" for session, why in own.items()})
    done = git.run("remote", "remove", name)
    if done.code:
        raise Unavailable(f"cannot remove the remote {name}: {said(done.err)}")


def require_remote(store: Store, name: str, *, pushes: bool = False) -> str:
    """Returns the URL of a remote, when it can be used: a safe URL, and no setting that overwrites sessions.

    Nor one of the store's own that has git run a program, since the store may have come from elsewhere.

    Args:
        store: The store.
        name: The remote.
        pushes: Whether it is to be pushed to, which runs hooks.

    Raises:
        RemoteNotFound: There is no remote of this name.
        InvalidRemote: It cannot be used.
    """
    git = Git(store.path)
    configured = settings(git)
    found = _of_remotes(configured).get(name)
    if found is None or not found.get("url"):
        raise RemoteNotFound(name)
    if not is_remote_name(name):
        raise InvalidRemote(name, "gitsession does not read remotes of such a name; rename it with `git remote rename`")
    for url in (*found["url"], *found.get("pushurl", [])):
        usable_url(url)
    for refspec in found.get("fetch", []):
        target, star, _ = refspec.partition(":")[2].partition("*")
        if refspec.startswith("+") and (target.startswith(HEADS) or (star and HEADS.startswith(target))):
            raise InvalidRemote(name, f"fetching with {refspec} would overwrite sessions; set remote.{name}.fetch anew")
    if reason := why_unsafe(configured, name) or (why_no_push(configured, git) if pushes else None):
        raise InvalidRemote(name, reason)
    return found["url"][0]


def usable_url(url: str) -> str:
    """Returns a URL as git is given it; a path made absolute.

    Raises:
        InvalidRemote: It is none, passes for an option, or names a program to run.
    """
    if not url or not url.isprintable():
        raise InvalidRemote(url, "a URL is a line of printable characters")
    if url.startswith("-"):
        raise InvalidRemote(url, "it passes for an option; write a path as ./-name")
    if _HELPER.match(url):
        raise InvalidRemote(url, "it names a program to run (`<program>::`); use https, ssh or a path")
    found = _URL.match(url)
    if found is not None:
        if found["scheme"].lower() not in _SCHEMES:
            raise InvalidRemote(url, f"the scheme is none of {', '.join(_SCHEMES)}")
    elif _DRIVE.match(url) or not (found := _SCP.match(url)):
        return str(Path(url).absolute())
    if found["host"].rpartition("@")[2].startswith("-"):
        raise InvalidRemote(url, "the name of the host passes for an option")
    return url


def _of_remotes(found: Iterable[Setting]) -> dict[str, dict[str, list[str]]]:
    """Returns what git's configuration says of each remote: its URLs and refspecs, by name."""
    named: dict[str, dict[str, list[str]]] = {}
    for _, key, value in found:
        if match := _KEY.fullmatch(key):
            named.setdefault(match["name"], {}).setdefault(match["key"], []).append(value)
    return named


def _configure(store: Store, *arguments: str) -> None:
    done = Git(store.path).run("config", *arguments)
    if done.code:
        raise Unavailable(f"cannot write the configuration of {store.path}: {said(done.err)}")
