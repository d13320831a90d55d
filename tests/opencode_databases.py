"""Databases as opencode makes them: its tables, and rows that a test puts into them."""

import json
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# What versions since 1.2 have, and what came later, in the order in which they have it.
_FIRST = """
    id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL, directory text NOT NULL,
    title text NOT NULL, version text NOT NULL, share_url text, summary_additions integer, summary_deletions integer,
    summary_files integer, summary_diffs text, revert text, permission text, time_created integer NOT NULL,
    time_updated integer NOT NULL, time_compacting integer, time_archived integer
"""
_LATER = """
    workspace_id text, path text, agent text, model text, cost real DEFAULT 0 NOT NULL,
    tokens_input integer DEFAULT 0 NOT NULL, tokens_output integer DEFAULT 0 NOT NULL,
    tokens_reasoning integer DEFAULT 0 NOT NULL, tokens_cache_read integer DEFAULT 0 NOT NULL,
    tokens_cache_write integer DEFAULT 0 NOT NULL, metadata text
"""
OLD_SCHEMA = f"""
    CREATE TABLE __drizzle_migrations (id INTEGER PRIMARY KEY, hash text NOT NULL, created_at numeric);
    CREATE TABLE session ({_FIRST});
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
        time_updated integer NOT NULL, data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
    CREATE INDEX message_session_idx ON message (session_id);
    CREATE INDEX part_message_idx ON part (message_id);
    CREATE INDEX part_session_idx ON part (session_id);
"""
SCHEMA = OLD_SCHEMA.replace(_FIRST, f"{_FIRST}, {_LATER}").replace(
    "CREATE TABLE __drizzle_migrations (id INTEGER PRIMARY KEY, hash text NOT NULL, created_at numeric)",
    "CREATE TABLE migration (id text PRIMARY KEY, time_completed integer NOT NULL)",
)

# When it all happened, in milliseconds: long enough ago.
THEN = 1_772_442_000_000

DATABASE = "opencode.db"


class Program:
    """A program that has a database open, as opencode has, and writes to it."""

    def __init__(self, path: Path, schema: str = SCHEMA) -> None:
        self.path = path
        self.database = sqlite3.connect(path, isolation_level=None)
        self.database.execute("PRAGMA journal_mode = WAL")
        self.database.executescript(schema)

    def put(self, table: str, **values: Any) -> None:
        kept = [json.dumps(value) if isinstance(value, dict | list) else value for value in values.values()]
        marks = ", ".join("?" * len(values))
        self.database.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", kept)

    def session(self, name: str = "ses_1", at: int = THEN, **more: Any) -> None:
        known = {"project_id": "global", "slug": "happy-moon", "directory": "/home/dev/project", "version": "1.18.33"}
        self.put("session", id=name, **known, **{"title": "Hello", "time_created": at, "time_updated": at, **more})

    def say(self, text: str, name: str, session: str = "ses_1", at: int = THEN, role: str = "user") -> None:
        data = {"role": role, "time": {"created": at}, "agent": "build"}
        self.message(f"msg_{name}", data, session, at)
        self.part(f"prt_{name}", f"msg_{name}", {"type": "text", "text": text}, session, at)

    def message(self, name: str, data: Any, session: str = "ses_1", at: int = THEN) -> None:
        self.put("message", id=name, session_id=session, time_created=at, time_updated=at, data=data)

    def part(self, name: str, message: str, data: Any, session: str = "ses_1", at: int = THEN) -> None:
        self.put("part", id=name, message_id=message, session_id=session, time_created=at, time_updated=at, data=data)

    def close(self) -> None:
        """Ends in order: SQLite puts its log into the database, and takes the other files away."""
        self.database.close()

    def die(self) -> None:
        """Ends as opencode does, which leaves the log and its index."""
        files = sorted(self.path.parent.glob(f"{self.path.name}*"))
        copies = self.path.parent / "left"
        copies.mkdir()
        for file in files:
            shutil.copy(file, copies)
        self.database.close()
        for file in files:
            shutil.copy(copies / file.name, file)
        shutil.rmtree(copies)


def simple(path: Path, schema: str = SCHEMA) -> Program:
    """Makes a database of two sessions, with a prompt and an answer in the first."""
    program = Program(path, schema)
    program.session("ses_1", title="Umlauts")
    program.say("What does `slugify` do with umlauts?", "1", at=THEN + 1000)
    program.say("It keeps them.", "2", at=THEN + 2000, role="assistant")
    program.session("ses_2", at=THEN + 5000, parent_id="ses_1", title="Other")
    program.say("And else?", "3", "ses_2", THEN + 6000)
    return program


@contextmanager
def untouched(path: Path) -> Iterator[None]:
    """Asserts that the files beside a database, and it, are the same before and after."""

    def look() -> dict[str, tuple[bytes, int]]:
        return {
            file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in path.parent.iterdir() if file.is_file()
        }

    before = look()
    yield
    assert look() == before


def export(*messages: Any, **info: Any) -> bytes:
    """Returns what `opencode export` prints."""
    return json.dumps({"info": info, "messages": [*messages]}, indent=2, ensure_ascii=False).encode() + b"\n"


def now() -> int:
    return time.time_ns() // 1_000_000


def printed(session: str = "ses_1") -> bytes:
    """Returns what opencode prints of a session of `simple`."""
    info = {"id": session, "slug": "happy-moon", "projectID": "global", "directory": "/home/dev/project"}
    tokens = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}

    def said(name: str, at: int, role: str, text: str) -> dict[str, Any]:
        own = {"id": f"msg_{name}", "sessionID": session}
        part = {"type": "text", "text": text, "id": f"prt_{name}", "sessionID": session, "messageID": f"msg_{name}"}
        return {"info": {"role": role, "time": {"created": at}, "agent": "build", **own}, "parts": [part]}

    if session == "ses_1":
        told = {"title": "Umlauts", "version": "1.18.33", "cost": 0, "tokens": tokens}
        first = said("1", THEN + 1000, "user", "What does `slugify` do with umlauts?")
        second = said("2", THEN + 2000, "assistant", "It keeps them.")
        return export(first, second, **info, **told, time={"created": THEN, "updated": THEN})
    told = {"parentID": "ses_1", "title": "Other", "version": "1.18.33", "cost": 0, "tokens": tokens}
    times = {"created": THEN + 5000, "updated": THEN + 5000}
    return export(said("3", THEN + 6000, "user", "And else?"), **info, **told, time=times)
