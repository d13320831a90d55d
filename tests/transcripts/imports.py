"""What tests of transcripts that are written anew share: imports of them, small and large, and what is stored then."""

from pathlib import Path
from typing import Any

import pytest

from gitsession import ImportResult, Store, few, import_transcripts
from gitsession.repo import scratch


def read_twice(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has each transcript gone through twice as if it was small, or, if "read again", as if it was large."""
    if how == "read again":
        monkeypatch.setattr(few, "_MOST_BYTES", 0)
        monkeypatch.setattr(scratch, "_IN_MEMORY", 0)


def imported(store: Store, path: Path) -> ImportResult:
    (done,) = import_transcripts(store, [path])
    assert isinstance(done, ImportResult)
    return done


def original(store: Store, session: str) -> bytes:
    return b"".join(store.original(session))


def texts(store: Store, session: str) -> list[Any]:
    return [message.get("content") for message in store.messages(session)]
