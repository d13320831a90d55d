"""Building the git commit of a delta, of a header, or of both, in memory: nothing is written here."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gitsession.errors import InvalidSessionId
from gitsession.jsonl import Header, encode_header
from gitsession.layout import branch_of, encode_commit_id, tag_of
from gitsession.model import SessionMeta
from gitsession.reading import State
from gitsession.repo.codec import Commit, GitObject, Person, encode_commit, git_object, object_id
from gitsession.summary import author, commit_message, git_time, header_message
from gitsession.tree import SessionTree
from gitsession.view import View

_META = ("gitsession", "meta@gitsession.invalid")


class NewDelta(NamedTuple):
    """A delta that is to be committed.

    Attributes:
        commit_id: The id of the session commit.
        content: The lines, each with its end.
        views: What it says, for the commit's text; asked for only when it is written.
        timestamp: When it was said, RFC 3339; None where that is not known.
        blob: The id of its blob, where that is known.
    """

    commit_id: str
    content: bytes
    views: Callable[[], Sequence[View]]
    timestamp: str | None = None
    blob: str | None = None


class Built(NamedTuple):
    """A commit that is ready to be stored.

    Attributes:
        state: The session after it.
        objects: What it consists of: blobs, trees (bottom, middle, root), and the commit.
    """

    state: State
    objects: tuple[GitObject, ...]


def build(
    old: State | None, delta: NewDelta | None, meta: SessionMeta, *, subject: str = "", now: int | None, text: int = 1
) -> Built:
    """Returns the commit that follows a state of a session.

    Args:
        old: The session before; None for a new one.
        delta: What is added; None for a commit that changes the header alone.
        meta: The header from now on.
        subject: What a commit without a delta does.
        now: The committer's time, and the author's where the delta has none. None for an import, which depends on no
            clock: a delta without a time takes that of the commit before, the first 0.
        text: The number of the rules by which the texts of a new session are made; an old one keeps its own.
    """
    objects: list[GitObject] = []
    tree = SessionTree("", tag_of(meta.id), "") if old is None else old.tree
    text = text if old is None else old.text
    if old is None or (meta is not old.meta and meta != old.meta):
        header = git_object("blob", encode_header(Header(meta, tree.tag, text)))
        objects.append(header)
        tree = tree._replace(header=header.oid)
    before = now if now is not None else old.commit.committer.time if old is not None else 0
    if delta is None:
        tree, trees = tree.with_header(tree.header)
        message = header_message(subject, _trailer(meta))
        speaker, time = _META, before
    else:
        encoded_id = encode_commit_id(delta.commit_id)
        blob = GitObject(delta.blob or object_id("blob", delta.content), "blob", delta.content)
        objects.append(blob)
        views = delta.views()
        message = commit_message(views, commit_id=encoded_id, delta=tree.count, session=_trailer(meta))
        tree, trees = tree.with_delta(encoded_id, blob.oid)
        speaker, time = author(views[0]), git_time(delta.timestamp, before)
    commit = Commit(
        tree.oid,
        () if old is None else (old.oid,),
        Person(*speaker, time),
        Person(*_META, time if now is None else now),
        message,
    )
    made = git_object("commit", encode_commit(commit))
    session_id = meta.id if old is None else old.session_id
    state = State(session_id, made.oid, commit, meta, tree, text)
    return Built(state, (*objects, *trees, made))


def _trailer(meta: SessionMeta) -> str:
    """Returns how the commit's text names the session: by the id in its header, as a branch name."""
    try:
        return branch_of(meta.id)
    except InvalidSessionId:  # a header that nobody of ours wrote
        return "unknown"
