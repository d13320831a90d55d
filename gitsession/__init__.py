"""Keeps the sessions (transcripts) of AI agents in a bare git repository.

One branch a session, one git commit a session commit. `Store` is where to begin:

    >>> store = Store.init("sessions.git")
    >>> session = store.bind("support-4711")
    >>> commit = new_commit(None, [{"role": "user", "content": "Hello"}])
    >>> session.commit(commit).head == commit.id
    True
"""

from gitsession.aio import AsyncSessionStore, AsyncStore
from gitsession.errors import (
    AmbiguousName,
    Corrupt,
    InvalidCommit,
    InvalidSessionId,
    NotAStore,
    NotImported,
    ParentConflict,
    RevisionNotFound,
    SessionError,
    SessionExists,
    SessionNotFound,
    StoreBusy,
    TranscriptExists,
    Unavailable,
    UnknownTranscript,
    UnsupportedFormat,
)
from gitsession.exporter import RESUMABLE, Export, export_transcript, install_transcript
from gitsession.finding import Finding
from gitsession.importer import import_transcripts
from gitsession.model import (
    CompactionEntry,
    Message,
    MessageEntry,
    Messages,
    Session,
    SessionCommit,
    SessionEntry,
    SessionMeta,
    UnknownEntry,
    build_context,
    new_commit,
)
from gitsession.repair import Repair, apply_repair, plan_repair
from gitsession.results import ImportFailure, ImportResult, Problem
from gitsession.revisions import Diff, LogEntry
from gitsession.session_store import SessionStore
from gitsession.store import BrokenSession, SessionInfo, Store
from gitsession.transcripts import FORMATS
from gitsession.transcripts.base import Format
from gitsession.verify import verify
from gitsession.view import Part, View, readable, view

__all__ = [
    "FORMATS",
    "RESUMABLE",
    "AmbiguousName",
    "AsyncSessionStore",
    "AsyncStore",
    "BrokenSession",
    "CompactionEntry",
    "Corrupt",
    "Diff",
    "Export",
    "Finding",
    "Format",
    "ImportFailure",
    "ImportResult",
    "InvalidCommit",
    "InvalidSessionId",
    "LogEntry",
    "Message",
    "MessageEntry",
    "Messages",
    "NotAStore",
    "NotImported",
    "ParentConflict",
    "Part",
    "Problem",
    "Repair",
    "RevisionNotFound",
    "Session",
    "SessionCommit",
    "SessionEntry",
    "SessionError",
    "SessionExists",
    "SessionInfo",
    "SessionMeta",
    "SessionNotFound",
    "SessionStore",
    "Store",
    "StoreBusy",
    "TranscriptExists",
    "Unavailable",
    "UnknownEntry",
    "UnknownTranscript",
    "UnsupportedFormat",
    "View",
    "apply_repair",
    "build_context",
    "export_transcript",
    "import_transcripts",
    "install_transcript",
    "new_commit",
    "plan_repair",
    "readable",
    "verify",
    "view",
]
