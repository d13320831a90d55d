"""Stores, and servers for them to meet at."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import pytest

from gitsession import MessageEntry, Store, add_remote, new_commit

from .servers import KINDS, Server, serving

Servers = Callable[[str], Server]


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Returns a function that returns the running server of a kind; it is started when it is first asked for."""
    running: dict[str, Server] = {}
    with ExitStack() as stack:

        def get(kind: str) -> Server:
            if kind not in running:
                root = tmp_path_factory.mktemp(f"served-by-{kind}")
                scratch = tmp_path_factory.mktemp(f"scratch-of-{kind}")
                running[kind] = stack.enter_context(serving(kind, root, scratch))
            return running[kind]

        yield get


@dataclass
class Origin:
    """A store that serves as a remote."""

    path: Path
    url: str

    @property
    def store(self) -> Store:
        return Store.open(self.path, durable=False)


Origins = Callable[[str], Origin]
_numbers = count()


@pytest.fixture
def origins(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> Origins:
    """Returns a function that makes a new store behind a server of a kind."""

    def make(kind: str) -> Origin:
        server = servers(kind)
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        path = server.root / f"{next(_numbers)}.git"
        Store.init(path, durable=False)
        return Origin(path, server.url(path))

    return make


_LONG_TO_START = ("ssh", "daemon")


@pytest.fixture(params=[pytest.param(kind, marks=pytest.mark.slow if kind in _LONG_TO_START else ()) for kind in KINDS])
def origin(request: pytest.FixtureRequest, origins: Origins) -> Origin:
    """Returns a new store behind a server of each kind; where heavy tests do not run, of those that start quickly."""
    return origins(request.param)


@pytest.fixture(params=["http", *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS if kind != "http")])
def some_origin(request: pytest.FixtureRequest, origins: Origins) -> Origin:
    """Returns a new store behind a web server; behind a server of each kind where the heavy tests run too."""
    return origins(request.param)


@pytest.fixture
def near(origins: Origins) -> Origin:
    """Returns a new store that is reached by its path."""
    return origins("path")


@dataclass
class Clones:
    """Makes stores that have a remote."""

    directory: Path
    made: "list[Store]" = field(default_factory=list)

    def __call__(self, origin: Origin) -> Store:
        store = Store.init(self.directory / f"clone{len(self.made)}.git", durable=False)
        add_remote(store, "origin", origin.url)
        self.made.append(store)
        return store


@pytest.fixture
def clones(tmp_path: Path) -> Clones:
    """Returns a function that makes a store whose remote is a server's."""
    return Clones(tmp_path)


def say(store: Store, session_id: str, *texts: str) -> None:
    """Adds messages to a session, which is made if it does not exist; a text's beginning is also its commit's id."""
    session = store.bind(session_id)
    for text in texts:
        head = session.load().head
        commit = new_commit(head, [{"role": "user", "content": text}])
        session.commit(replace(commit, id=text[:100]))


def said(store: Store, session_id: str) -> list[str]:
    """Returns the texts of a session's messages."""
    return [str(entry.message["content"]) for entry in store.load(session_id) if isinstance(entry, MessageEntry)]
