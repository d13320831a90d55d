"""What people would use instead, each as a function that stores one message after the other in one session."""

import asyncio
import json
import os
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gitsession import Store, new_commit

Message = dict[str, Any]
Write = Callable[[Message], object]


def gitsession(path: Path, *, durable: bool = False) -> Write:
    session = Store.init(path / "s.git", durable=durable).bind("s")
    head = None

    def write(message: Message) -> None:
        nonlocal head
        head = session.commit(new_commit(head, [message])).head

    return write


def gitsession_durable(path: Path) -> Write:
    return gitsession(path, durable=True)


def jsonl(path: Path) -> Write:
    file = (path / "s.jsonl").open("ab", buffering=0)
    return lambda message: file.write(json.dumps(message).encode() + b"\n")


def sqlite(path: Path, synchronous: str = "OFF") -> Write:
    database = sqlite3.connect(path / "s.db", isolation_level=None)
    database.execute("pragma journal_mode=wal")
    database.execute(f"pragma synchronous={synchronous}")
    database.execute("create table messages (id integer primary key, session text, message text)")

    def write(message: Message) -> None:
        database.execute("begin immediate")
        database.execute("insert into messages (session, message) values ('s', ?)", (json.dumps(message),))
        database.execute("commit")

    return write


def sqlite_full(path: Path) -> Write:
    return sqlite(path, "FULL")


def openai(path: Path) -> Write:
    from agents import SQLiteSession  # noqa: PLC0415  # a peer that may be missing

    return _awaited(SQLiteSession("s", path / "s.db").add_items)


def openai_advanced(path: Path) -> Write:
    from agents.extensions.memory import AdvancedSQLiteSession  # noqa: PLC0415  # as above

    return _awaited(AdvancedSQLiteSession(session_id="s", db_path=path / "s.db", create_tables=True).add_items)


def _awaited(add_items: Callable[[Any], Any]) -> Write:
    loop = asyncio.new_event_loop()
    return lambda message: loop.run_until_complete(add_items([message]))


def langgraph(path: Path) -> Write:
    from langgraph.checkpoint.base import empty_checkpoint  # noqa: PLC0415  # as above
    from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: PLC0415  # as above

    saver = SqliteSaver(sqlite3.connect(path / "s.db", check_same_thread=False))
    config: Any = {"configurable": {"thread_id": "s", "checkpoint_ns": ""}}
    messages: list[Message] = []

    def write(message: Message) -> None:
        nonlocal config
        messages.append(message)
        checkpoint = {**empty_checkpoint(), "channel_values": {"messages": messages}}
        config = saver.put(config, checkpoint, {"source": "loop", "step": len(messages)}, {})

    return write


def gitlord(path: Path) -> Write:
    from gitlord import Session, SessionConfig  # noqa: PLC0415  # as above

    session = Session.create("s", SessionConfig(log_repo_path=str(path / "log")))
    return lambda message: session.append_user_turn(message["content"])


def dulwich(path: Path) -> Write:
    from dulwich.objects import (  # noqa: PLC0415  # as above
        Blob,
        Commit,
        Tree,  # as above
    )
    from dulwich.repo import Repo  # noqa: PLC0415  # as above

    (path / "s.git").mkdir()
    repository = Repo.init_bare(str(path / "s.git"))
    tree = Tree()
    count = 0

    def write(message: Message) -> None:
        nonlocal count
        blob = Blob.from_string(json.dumps(message).encode())
        tree.add(b"%06d.json" % count, 0o100644, blob.id)
        commit = Commit()
        commit.tree = tree.id
        commit.author = commit.committer = b"a <a@b.c>"
        commit.author_time = commit.commit_time = 1_750_000_000
        commit.author_timezone = commit.commit_timezone = 0
        commit.message = b"a message"
        old = repository.refs[b"refs/heads/s"] if count else None
        commit.parents = [old] if old else []
        for made in (blob, tree, commit):
            repository.object_store.add_object(made)
        assert repository.refs.set_if_equals(b"refs/heads/s", old, commit.id)
        count += 1

    return write


def gitpython(path: Path) -> Write:
    from git import Actor, Repo  # noqa: PLC0415  # as above

    repository = Repo.init(path / "s")
    person = Actor("a", "a@b.c")
    count = 0

    def write(message: Message) -> None:
        nonlocal count
        file = path / "s" / f"{count:06d}.json"
        file.write_text(json.dumps(message))
        repository.index.add([str(file)])
        repository.index.commit("a message", author=person, committer=person)
        count += 1

    return write


def git_plumbing(path: Path) -> Write:
    names = {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {**os.environ, **names, "GIT_DIR": str(path / "s.git")}

    def git(*arguments: str, given: str = "") -> str:
        done = subprocess.run(
            ["git", *arguments], input=given, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    git("init", "-q", "--bare", str(path / "s.git"))
    items: list[str] = []
    old = ""

    def write(message: Message) -> None:
        nonlocal old
        blob = git("hash-object", "-w", "--stdin", given=json.dumps(message))
        items.append(f"100644 blob {blob}\t{len(items):06d}.json\n")
        tree = git("mktree", given="".join(items))
        new = git("commit-tree", tree, "-m", "a message", *(["-p", old] if old else []))
        git("update-ref", "refs/heads/s", new, old or "0" * 40)
        old = new

    return write


PEERS: dict[str, Callable[[Path], Write]] = {
    "gitsession": gitsession,
    "OpenAI SQLiteSession": openai,
    "OpenAI AdvancedSQLiteSession": openai_advanced,
    "LangGraph SqliteSaver": langgraph,
    "gitlord": gitlord,
    "dulwich": dulwich,
    "GitPython": gitpython,
    "git plumbing": git_plumbing,
    "JSONL append": jsonl,
    "SQLite by hand": sqlite,
}
