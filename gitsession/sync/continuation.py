"""Whether a state of a session continues another, and whether what it adds can be read.

A remote may send anything. A session here moves only to a state that holds all of its deltas, byte for byte and in
their places, and whose new ones can be read: so no remote can take from a session, or make it unreadable.
"""

from gitsession.conversation import split_lines
from gitsession.errors import Corrupt
from gitsession.jsonl import decode_entry
from gitsession.reading import Reader, State
from gitsession.transcripts.stored import PREFIX as RECORD_PREFIX
from gitsession.transcripts.stored import decode_record
from gitsession.tree import SessionTree, bottom_directories, deltas_of


def check_continuation(reader: Reader, ours: State | None, theirs: State) -> None:
    """Accepts a state that the session may move to.

    Raises:
        Corrupt: It changes what the session holds, or what it adds cannot be read.
    """
    if ours is not None:
        _check_kept(reader, ours.tree, theirs.tree)
    for delta in reader.deltas(theirs, 0 if ours is None else ours.tree.count):
        for place, line in enumerate(split_lines(delta.content, delta.commit_id)):
            if line.startswith(RECORD_PREFIX):
                decode_record(line)
            else:
                decode_entry(line, default_id=f"{delta.commit_id}/{place}", default_timestamp=str)


def _check_kept(reader: Reader, ours: SessionTree, theirs: SessionTree) -> None:
    """Accepts a tree that holds all deltas of another: full directories of 100 are the same objects."""
    mine = [*bottom_directories(reader.objects, ours)]
    other = [*bottom_directories(reader.objects, theirs)][: len(mine)]
    changed = next((place for place, pair in enumerate(zip(mine, other, strict=False)) if pair[0] != pair[1]), None)
    if ours.tag != theirs.tag or theirs.count < ours.count or len(other) < len(mine):
        raise Corrupt("it holds less than the session here, or is another session", oid=theirs.oid)
    if changed is None:
        return
    start = mine[changed][0]
    for delta, kept in zip(
        deltas_of(reader.objects, ours, start), deltas_of(reader.objects, theirs, start), strict=False
    ):
        if delta != kept:
            raise Corrupt(f"it changes delta {delta.number}, which the session here holds", oid=theirs.oid)
