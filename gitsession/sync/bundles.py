"""Bundles: sessions in one file, for machines without a network between them.

A bundle is git's own: `git clone` and `git fetch` take it for a remote. What one brings is known like that of a
remote which is named by the file, so `S@laptop` reads what `laptop.bundle` had of a session that went on here too.
"""

import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

from gitsession.errors import InvalidBundle, SessionError, SessionNotFound, SyncRefused, Unavailable
from gitsession.layout import HEADS, REMOTES, is_ref_name, is_remote_name, session_id_of
from gitsession.repo.refs import RefBlocked, RefMoved
from gitsession.sides import relation
from gitsession.store import Store
from gitsession.sync.fetching import missing_results
from gitsession.sync.git import Finished, Git, Progress, exactly, said
from gitsession.sync.pulling import merge
from gitsession.sync.remotes import remotes
from gitsession.sync.results import SyncResult, checked
from gitsession.sync.selection import Selection
from gitsession.sync.sending import absent_here, outgoing, unreadable

_FIRST_LINE = re.compile(rb"# v[23] git bundle\n")
_REF = re.compile(rb"([0-9a-f]{40}) refs/heads/([^\n]+)\n")

# A line of a header is a ref and its commit; a longer one is no header's.
_LONGEST_LINE = 4096


def write_bundle(
    store: Store,
    path: str | os.PathLike[str],
    sessions: Iterable[str] | None = None,
    *,
    progress: Progress | None = None,
) -> list[str]:
    """Writes sessions, whole, to a bundle that only its owner can read, and returns their ids.

    Args:
        store: The store.
        path: The file; a bundle that is there is replaced, and nothing else.
        sessions: Ids, and patterns with `*`, `?` or `[…]`; all sessions where it is None.
        progress: Is told what git says while it is at work.

    Raises:
        SessionNotFound: There is no session of an id that was given, none that fits a pattern, or none at all.
        SyncRefused: Some are damaged; all others were written, and are its results.
        InvalidBundle: Something is there that is no bundle.
        Unavailable: The file could not be written.
    """
    selection = Selection.of(sessions)
    if absent := absent_here(store, selection):
        raise SessionNotFound(absent[0])
    chosen, damaged = outgoing(store, selection)
    refused = {session_id_of(branch): f"it is damaged: {error}" for branch, error in damaged.items()}
    if not chosen and not refused:
        raise SessionNotFound("*")
    target = Path(path).absolute()
    _check_replaceable(target)
    git = Git(store.path, store.repository.disk.durable, progress)
    # Git writes a bundle of what is damaged without a word; it may be the only backup, so all is read before.
    unread = unreadable(store, git, chosen) if chosen else {}
    chosen = [branch for branch in chosen if branch not in unread]
    refused |= {session_id_of(branch): f"it is damaged: {why}" for branch, why in unread.items()}
    if not chosen:
        raise SyncRefused(str(path), refused)
    try:
        file, temporary = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
        os.close(file)
    except OSError as error:
        raise Unavailable(f"cannot write {target}: {error.strerror}") from error
    try:
        done = _create(git, temporary, chosen)
        if done.code:
            raise Unavailable(f"cannot write {target}: {said(done.err)}")
        # Git writes a new file in the place of ours, as the umask says.
        Path(temporary).chmod(0o600)
        Path(temporary).replace(target)
    except OSError as error:
        raise Unavailable(f"cannot write {target}: {error.strerror}") from error
    finally:
        with suppress(OSError):
            Path(temporary).unlink(missing_ok=True)
    written = [session_id_of(branch) for branch in chosen]
    if refused:
        raise SyncRefused(str(path), refused, written)
    return written


def _check_replaceable(path: Path) -> None:
    """Checks that nothing is lost where a bundle is put: there is nothing, an empty file, or a bundle.

    Raises:
        InvalidBundle: There is something else.
        Unavailable: It cannot be looked at.
    """
    try:
        found = path.stat()
        # In this order: to open a pipe would wait for who writes to it.
        free = S_ISREG(found.st_mode) and (found.st_size == 0 or is_bundle(path))
    except FileNotFoundError:
        return
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}") from error
    if not free:
        reason = "what is there is no git bundle, and was left alone; move it away, or name another file"
        raise InvalidBundle(str(path), reason)


def _create(git: Git, path: str, branches: Sequence[str]) -> Finished:
    quiet = ["--quiet"] if git.progress is None else ["--progress"]
    return git.run("bundle", "create", *quiet, path, "--stdin", stdin=exactly([HEADS + branch for branch in branches]))


def is_bundle(path: str | os.PathLike[str]) -> bool:
    """Tells whether a file is a git bundle, by its first line.

    Raises:
        OSError: It cannot be read.
    """
    with Path(path).open("rb") as stream:
        return bool(_FIRST_LINE.match(stream.read(32)))


def import_bundle(
    store: Store,
    path: str | os.PathLike[str],
    sessions: Iterable[str] | None = None,
    *,
    progress: Progress | None = None,
) -> list[SyncResult]:
    """Takes the sessions of a bundle, as `pull` takes those of a remote, and returns those that moved here.

    Args:
        store: The store.
        path: The file.
        sessions: Ids, and patterns with `*`, `?` or `[…]`; all sessions where it is None.
        progress: Is told what git says while it is at work.

    Raises:
        InvalidBundle: The file is no bundle, or a part of what it needs is not here.
        SessionNotFound: It has none of the sessions that were asked for.
        Diverged: Some sessions went on here and in the bundle.
        SyncRefused: Some cannot be taken: see `pull`.
        Unavailable: It could not be read or stored.
    """
    source = Path(path)
    name = _name(store, source)
    selection = Selection.of(sessions)
    git = Git(store.path, store.repository.disk.durable, progress)
    try:
        with source.open("rb", buffering=0) as stream:
            found = _heads(stream, source)
            # Git checks each object, and that all that they name is there.
            quiet = [] if progress is None else ["-v"]
            done = git.run("index-pack", "--stdin", "--fix-thin", "--strict", "--keep=bundle", *quiet, stdin=stream)
    except OSError as error:
        raise Unavailable(f"cannot read {source}: {error.strerror}") from error
    kept = re.match(r"(?:keep|pack)\t([0-9a-f]{40})", done.out)
    try:
        git.check_stored(done)
        if done.code:
            reason = f"it is no bundle that can be imported: git does not take it: {said(done.err)}"
            raise InvalidBundle(str(source), reason)
        chosen = {branch: oid for branch, oid in found.items() if selection.takes(branch)}
        refused = [result for branch, oid in chosen.items() for result in _note(store, name, branch, oid)]
        missing = missing_results(name, selection, selection.absent(found))
        return checked(name, [*refused, *missing, *merge(store, name, selection)])
    finally:
        if kept is not None:
            # The refs keep it from now on.
            (store.path / "objects" / "pack" / f"pack-{kept[1]}.keep").unlink(missing_ok=True)


def _heads(stream: BinaryIO, path: Path) -> dict[str, str]:
    """Reads the header of a bundle, to where its pack begins, and returns its branches and their commits."""
    found: dict[str, str] = {}
    line = _line(stream)
    if not _FIRST_LINE.fullmatch(line):
        raise InvalidBundle(str(path), "it is no git bundle, so there is nothing to import")
    while (line := _line(stream)) != b"\n":
        if not line.endswith(b"\n"):
            raise InvalidBundle(str(path), "it is no bundle that can be imported: its header is cut short or damaged")
        match = _REF.fullmatch(line)
        branch = "" if match is None else match[2].decode("utf-8", "surrogateescape")
        if match is not None and is_ref_name(branch):
            found[branch] = match[1].decode()
    return found


def _line(stream: BinaryIO) -> bytes:
    """Reads one line byte by byte: the pack behind the header is git's to read, from this very place."""
    line = bytearray()
    while len(line) < _LONGEST_LINE and not line.endswith(b"\n") and (byte := stream.read(1)):
        line += byte
    return bytes(line)


def _note(store: Store, name: str, branch: str, oid: str) -> Iterable[SyncResult]:
    """Notes what a bundle has of a session, as a fetch does of a remote; yields a result where that is refused."""
    session, ref = session_id_of(branch), f"{REMOTES}{name}/{branch}"
    try:
        known = store.repository.refs.find(ref)
        if known == oid:
            return
        if known is not None and relation(store.reader, known, oid).ours:
            reason = f"it no longer holds what an earlier {name} held; give the file another name to have both"
            yield SyncResult(session, "fetch", "refused", known, None, reason)
            return
        store.reader.commits.read(oid)
        with store.repository.locks.hold(branch):
            store.repository.refs.compare_and_swap(ref, known, oid, reason="import: bundle")
    except (RefMoved, RefBlocked) as error:
        yield SyncResult(session, "fetch", "refused", None, None, str(error))
    except Unavailable:
        raise
    except SessionError as error:
        yield SyncResult(session, "fetch", "refused", None, None, str(error))


def _name(store: Store, path: Path) -> str:
    """Returns the name under which the content of a bundle is known: that of the file."""
    name = re.sub(r"[^A-Za-z0-9._-]", "-", path.name.removesuffix(".bundle")).strip(".-")[:80]
    taken = {remote.name for remote in remotes(store)}
    return name if is_remote_name(name) and name not in taken else f"bundle-{name or 'file'}"
