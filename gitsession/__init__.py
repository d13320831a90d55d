"""Keeps the sessions (transcripts) of AI agents in a bare git repository.

One branch a session, one git commit a session commit. `Store` is where to begin:

    >>> store = Store.init("sessions.git")
    >>> session = store.bind("support-4711")
    >>> commit = new_commit(None, [{"role": "user", "content": "Hello"}])
    >>> session.commit(commit).head == commit.id
    True
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gitsession.aio import AsyncRemoteSessionStore, AsyncSessionStore, AsyncStore
    from gitsession.due import is_maintenance_due
    from gitsession.errors import (
        AccessDenied,
        AmbiguousName,
        Corrupt,
        Diverged,
        GitNotFound,
        InvalidBundle,
        InvalidCommit,
        InvalidRemote,
        InvalidSessionId,
        NotAStore,
        NothingToExport,
        NotImported,
        ParentConflict,
        RemoteExists,
        RemoteNotFound,
        RemoteUnavailable,
        RevisionNotFound,
        SessionError,
        SessionExists,
        SessionNotFound,
        StoreBusy,
        SyncRefused,
        TranscriptExists,
        Unavailable,
        UnknownTranscript,
        UnreadableDatabase,
        UnsupportedFormat,
    )
    from gitsession.exporter import RESUMABLE, Export, export_transcript
    from gitsession.finding import Finding
    from gitsession.graph import Graph, GraphEntry
    from gitsession.importer import holds_transcripts, import_transcripts
    from gitsession.inherited import MissingHistory
    from gitsession.installer import install_transcript
    from gitsession.listing import BrokenSession, SessionInfo
    from gitsession.maintenance import Maintenance, maintain
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
    from gitsession.results import FoundSecret, ImportFailure, ImportResult, Problem
    from gitsession.revisions import Diff, LogEntry
    from gitsession.scan import StoredSecret, scan
    from gitsession.session_store import SessionStore
    from gitsession.sides import OtherSide
    from gitsession.store import Store
    from gitsession.sync.bundles import import_bundle, is_bundle, write_bundle
    from gitsession.sync.cloning import clone
    from gitsession.sync.fetching import fetch
    from gitsession.sync.git import git_environment
    from gitsession.sync.listing import RemoteSession, remote_sessions
    from gitsession.sync.pulling import pull
    from gitsession.sync.pushing import push
    from gitsession.sync.remote_session import RemoteSessionStore, bind_remote
    from gitsession.sync.remotes import Remote, add_remote, remotes, remove_remote
    from gitsession.sync.results import SyncResult
    from gitsession.sync.syncing import sync
    from gitsession.transcripts import FORMATS
    from gitsession.transcripts.base import Format
    from gitsession.transcripts.chat_messages import langchain_messages, openai_messages
    from gitsession.transcripts.losses import LOSSES, Loss, losses
    from gitsession.transcripts.normalized import normalized
    from gitsession.verify import verify
    from gitsession.view import Part, View, readable, view

__all__ = [
    "FORMATS",
    "LOSSES",
    "RESUMABLE",
    "AccessDenied",
    "AmbiguousName",
    "AsyncRemoteSessionStore",
    "AsyncSessionStore",
    "AsyncStore",
    "BrokenSession",
    "CompactionEntry",
    "Corrupt",
    "Diff",
    "Diverged",
    "Export",
    "Finding",
    "Format",
    "FoundSecret",
    "GitNotFound",
    "Graph",
    "GraphEntry",
    "ImportFailure",
    "ImportResult",
    "InvalidBundle",
    "InvalidCommit",
    "InvalidRemote",
    "InvalidSessionId",
    "LogEntry",
    "Loss",
    "Maintenance",
    "Message",
    "MessageEntry",
    "Messages",
    "MissingHistory",
    "NotAStore",
    "NotImported",
    "NothingToExport",
    "OtherSide",
    "ParentConflict",
    "Part",
    "Problem",
    "Remote",
    "RemoteExists",
    "RemoteNotFound",
    "RemoteSession",
    "RemoteSessionStore",
    "RemoteUnavailable",
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
    "StoredSecret",
    "SyncRefused",
    "SyncResult",
    "TranscriptExists",
    "Unavailable",
    "UnknownEntry",
    "UnknownTranscript",
    "UnreadableDatabase",
    "UnsupportedFormat",
    "View",
    "add_remote",
    "apply_repair",
    "bind_remote",
    "build_context",
    "clone",
    "export_transcript",
    "fetch",
    "git_environment",
    "holds_transcripts",
    "import_bundle",
    "import_transcripts",
    "install_transcript",
    "is_bundle",
    "is_maintenance_due",
    "langchain_messages",
    "losses",
    "maintain",
    "new_commit",
    "normalized",
    "openai_messages",
    "plan_repair",
    "pull",
    "push",
    "readable",
    "remote_sessions",
    "remotes",
    "remove_remote",
    "scan",
    "sync",
    "verify",
    "view",
    "write_bundle",
]

# Where each name is, for it is loaded when it is first asked for: a command has no use for most of the library, and
# loading it takes longer than what many of them do.
_NAMES = {
    "gitsession.aio": (
        "AsyncRemoteSessionStore",
        "AsyncSessionStore",
        "AsyncStore",
    ),
    "gitsession.due": ("is_maintenance_due",),
    "gitsession.errors": (
        "AccessDenied",
        "AmbiguousName",
        "Corrupt",
        "Diverged",
        "GitNotFound",
        "InvalidBundle",
        "InvalidCommit",
        "InvalidRemote",
        "InvalidSessionId",
        "NotAStore",
        "NothingToExport",
        "NotImported",
        "ParentConflict",
        "RemoteExists",
        "RemoteNotFound",
        "RemoteUnavailable",
        "RevisionNotFound",
        "SessionError",
        "SessionExists",
        "SessionNotFound",
        "StoreBusy",
        "SyncRefused",
        "TranscriptExists",
        "Unavailable",
        "UnknownTranscript",
        "UnreadableDatabase",
        "UnsupportedFormat",
    ),
    "gitsession.exporter": (
        "RESUMABLE",
        "Export",
        "export_transcript",
    ),
    "gitsession.finding": ("Finding",),
    "gitsession.graph": ("Graph", "GraphEntry"),
    "gitsession.importer": ("holds_transcripts", "import_transcripts"),
    "gitsession.inherited": ("MissingHistory",),
    "gitsession.installer": ("install_transcript",),
    "gitsession.maintenance": ("Maintenance", "maintain"),
    "gitsession.listing": ("BrokenSession", "SessionInfo"),
    "gitsession.model": (
        "CompactionEntry",
        "Message",
        "MessageEntry",
        "Messages",
        "Session",
        "SessionCommit",
        "SessionEntry",
        "SessionMeta",
        "UnknownEntry",
        "build_context",
        "new_commit",
    ),
    "gitsession.repair": (
        "Repair",
        "apply_repair",
        "plan_repair",
    ),
    "gitsession.results": (
        "FoundSecret",
        "ImportFailure",
        "ImportResult",
        "Problem",
    ),
    "gitsession.revisions": (
        "Diff",
        "LogEntry",
    ),
    "gitsession.scan": (
        "StoredSecret",
        "scan",
    ),
    "gitsession.session_store": ("SessionStore",),
    "gitsession.sides": ("OtherSide",),
    "gitsession.store": ("Store",),
    "gitsession.sync.bundles": (
        "import_bundle",
        "is_bundle",
        "write_bundle",
    ),
    "gitsession.sync.cloning": ("clone",),
    "gitsession.sync.fetching": ("fetch",),
    "gitsession.sync.git": ("git_environment",),
    "gitsession.sync.listing": (
        "RemoteSession",
        "remote_sessions",
    ),
    "gitsession.sync.pulling": ("pull",),
    "gitsession.sync.pushing": ("push",),
    "gitsession.sync.remote_session": (
        "RemoteSessionStore",
        "bind_remote",
    ),
    "gitsession.sync.remotes": (
        "Remote",
        "add_remote",
        "remotes",
        "remove_remote",
    ),
    "gitsession.sync.results": ("SyncResult",),
    "gitsession.sync.syncing": ("sync",),
    "gitsession.transcripts": ("FORMATS",),
    "gitsession.transcripts.base": ("Format",),
    "gitsession.transcripts.chat_messages": ("langchain_messages", "openai_messages"),
    "gitsession.transcripts.losses": ("LOSSES", "Loss", "losses"),
    "gitsession.transcripts.normalized": ("normalized",),
    "gitsession.verify": ("verify",),
    "gitsession.view": (
        "Part",
        "View",
        "readable",
        "view",
    ),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


class _Package(ModuleType):
    """This package, in which a function keeps its name where a module has the same: `view` is that of `view.py`."""

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _MODULES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


def __getattr__(name: str) -> Any:
    """Loads a public name."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    """Returns the public names, loaded or not, and those that every module has."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


sys.modules[__name__].__class__ = _Package
