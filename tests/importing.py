"""What tests of imports share: short transcripts, imports of them, and all that a store holds after it."""

import json
import subprocess
from pathlib import Path
from typing import Any

from gitsession import ImportFailure, ImportResult, SessionError, Store, import_transcripts
from gitsession.layout import branch_of
from tests.transcripts.transcript_files import FIXTURES, TRANSCRIPTS

__all__ = ["FIXTURES", "TRANSCRIPTS"]


def new_store(path: Path) -> Store:
    return Store.init(path, durable=False)


def prompt(uuid: str, parent: str | None, text: str = "Go on", minute: int = 0, **fields: Any) -> bytes:
    """Returns a line of a Claude Code transcript: what a person typed."""
    return line(
        type="user",
        uuid=uuid,
        parentUuid=parent,
        sessionId="s",
        timestamp=f"2026-01-05T10:{minute:02d}:00.000Z",
        message={"role": "user", "content": text},
        **fields,
    )


def answer(uuid: str, parent: str | None, text: str = "Done", minute: int = 0) -> bytes:
    """Returns a line of a Claude Code transcript: what the model said."""
    return line(
        type="assistant",
        uuid=uuid,
        parentUuid=parent,
        sessionId="s",
        timestamp=f"2026-01-05T10:{minute:02d}:30.000Z",
        message={
            "id": f"msg_{uuid}",
            "role": "assistant",
            "model": "claude-opus-4-5",
            "content": [{"type": "text", "text": text}],
        },
    )


def line(**value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


# The lines of a conversation in which the user went back once: the line that ends with `d` was left.
WENT_BACK = (
    prompt("a", None, "Hello", 0),
    answer("b", "a", "Hi", 0),
    prompt("c", "b", "First try", 1),
    answer("d", "c", "No good", 1),
    prompt("e", "b", "Second try", 2),
    answer("f", "e", "Better", 2),
)


def talk(length: int, name: str = "r", text: str = "") -> list[bytes]:
    """Returns the lines of a conversation in which user and model take turns."""
    lines = []
    for number in range(length):
        parent = f"{name}{number - 1}" if number else None
        say = prompt if number % 2 == 0 else answer
        lines.append(say(f"{name}{number}", parent, f"{text}{name} {number}", number % 60))
    return lines


def take(store: Store, *paths: Path, **options: Any) -> list[ImportResult]:
    """Imports files of which each is expected to succeed."""
    results = []
    for result in import_transcripts(store, paths, **options):
        assert isinstance(result, ImportResult), result
        results.append(result)
    return results


def take_bytes(store: Store, content: bytes, path: Path) -> ImportResult:
    """Imports a file of which this is the content now."""
    path.write_bytes(content)
    (result,) = take(store, path)
    return result


def failures(store: Store, *paths: Path, **options: Any) -> list[tuple[Path, SessionError]]:
    """Imports files of which each is expected to fail."""
    results = list(import_transcripts(store, paths, **options))
    assert all(isinstance(result, ImportFailure) for result in results), results
    return [(result.path, result.error) for result in results if isinstance(result, ImportFailure)]


def tips(store: Store) -> dict[str, str]:
    """Returns the branches and the commits that they are at."""
    return {branch_of(session_id): str(oid) for session_id, oid in store.reader.branches()}


def original(store: Store, session_id: str, at: str | None = None) -> bytes:
    return b"".join(store.original(session_id, at=at))


def commits(store: Store, session_id: str) -> list[str]:
    """Returns the commit ids of a session, oldest first."""
    return [str(entry.commit_id) for entry in store.log(session_id)][::-1]


def packs(store: Store) -> list[Path]:
    return sorted((store.path / "objects" / "pack").glob("*.pack"))


def assert_flawless(store: Store) -> None:
    """Lets git judge the repository."""
    done = subprocess.run(
        ["git", "-C", store.path, "fsck", "--strict", "--full", "--no-dangling"], capture_output=True, check=False
    )
    assert (
        done.returncode,
        done.stdout,
        done.stderr.replace(b"notice: HEAD points to an unborn branch (main)\n", b""),
    )[::2] == (0, b""), done
