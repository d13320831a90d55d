"""Names: session ids as branch names, deltas as paths in a session's tree. FORMAT.md, "Names", is the rule."""

import hashlib
import re

from gitsession.errors import Corrupt, InvalidCommit, InvalidSessionId

HEADS = "refs/heads/"
REMOTES = "refs/remotes/"
HEADER_NAME = "session.json"
MAX_NAME_BYTES = 200
# Of a ref of any name; git itself has no limit but that of a path.
MAX_REF_CHARACTERS = 1000
MAX_DELTAS = 100_000_000
_DERIVED_DIGITS = 16
_DERIVED_ROOM = _DERIVED_DIGITS + 1

_UNSAFE = re.compile(rb"[^A-Za-z0-9._-]")
_ESCAPE = re.compile(rb"%([0-9A-F]{2})")
_NO_TEXT = re.compile(r"[\ud800-\udfff]")
# How an id begins that names a branch made with plain git.
_REFS = re.compile(r"\Arefs/")
_OBJECT_ID = re.compile(r"[0-9a-fA-F]{40}")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\..*)?", re.IGNORECASE | re.DOTALL)
# What stands for itself, as most ids do: a commit id; a session id that is not `HEAD` nor a device, and too short for
# an object id.
_PLAIN_COMMIT = re.compile(r"[A-Za-z0-9._-]{1,200}")
_PLAIN_SESSION = re.compile(r"(?!(?i:HEAD|con|prn|aux|nul|com[1-9]|lpt[1-9])\Z)[A-Za-z0-9_][A-Za-z0-9_-]{0,38}")
# The name of a remote: no "@" and no "/", so that what follows the last "@" of `S@remote` is one or is none.
_REMOTE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
# A dot that git or a file system would misread: the first, the last, one after another, that of a final ".lock".
_BAD_DOT = re.compile(r"^\.|(?<=\.)\.|\.$|\.(?=lock$)")


def encode_session_id(session_id: str, *, limit: int | None = MAX_NAME_BYTES) -> str:
    """Returns the branch name of a session id, without `refs/heads/`.

    Args:
        session_id: The id.
        limit: How long the name may be.

    Raises:
        InvalidSessionId: The string is empty, too long, no text, or reserved.
    """
    if isinstance(session_id, str) and limit == MAX_NAME_BYTES and _PLAIN_SESSION.fullmatch(session_id):
        return session_id
    if not isinstance(session_id, str) or not session_id:
        raise InvalidSessionId(session_id, "it must be a string that is not empty")
    if session_id.startswith("refs/"):
        raise InvalidSessionId(session_id, 'ids that begin with "refs/" name branches made with plain git')
    try:
        name = _BAD_DOT.sub("%2E", _percent_encode(session_id))
    except UnicodeEncodeError:
        raise InvalidSessionId(session_id, "it holds a lone surrogate, which is no text") from None
    if name[0] == "-" or name == "HEAD" or _OBJECT_ID.fullmatch(name) or _DEVICE.fullmatch(name):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if limit is not None and len(name) > limit:
        raise InvalidSessionId(session_id, f"its branch name would take {len(name)} bytes; the limit is {limit}")
    return name


def session_id_of(branch: str) -> str:
    """Returns the session id that a branch name stands for; `refs/heads/<name>` for a name made with plain git."""
    if _PLAIN_SESSION.fullmatch(branch):
        return branch
    try:
        decoded = _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), branch.encode()).decode()
        if encode_session_id(decoded) == branch:
            return decoded
    except (UnicodeError, InvalidSessionId):
        pass
    return HEADS + branch


def branch_of(session_id: str) -> str:
    """Returns the branch name of a session that exists or not; the inverse of `session_id_of`.

    Raises:
        InvalidSessionId: The string cannot be a session id.
    """
    if isinstance(session_id, str) and session_id.startswith(HEADS):
        branch = session_id.removeprefix(HEADS)
        if is_ref_name(branch):
            return branch
        raise InvalidSessionId(session_id, "git does not allow this branch name")
    return encode_session_id(session_id)


def other_side(name: str) -> tuple[str, str] | None:
    """Returns the session and the remote of a name `S@remote`; None for any other name.

    A session id may hold an "@" itself (its branch name has %40): where a session has the whole name for its id, the
    name means that session.
    """
    session_id, _, remote = name.rpartition("@") if isinstance(name, str) else ("", "", "")
    return (session_id, remote) if session_id and is_remote_name(remote) else None


def tracking_ref(name: str) -> str | None:
    """Returns the ref that holds what is known of `S@remote`: `refs/remotes/<remote>/<branch of S>`.

    None for any other name.
    """
    side = other_side(name)
    if side is None:
        return None
    try:
        return f"{REMOTES}{side[1]}/{branch_of(side[0])}"
    except InvalidSessionId:
        return None


def is_remote_name(name: str) -> bool:
    """Tells whether a remote can have this name: letters, digits and `._-`, beginning with no dot and no dash."""
    return bool(_REMOTE_NAME.fullmatch(name)) and is_ref_name(name)


def is_ref_name(branch: str) -> bool:
    """Tells whether git allows a branch name (the rules of git-check-ref-format)."""
    if _PLAIN_SESSION.fullmatch(branch.removeprefix(HEADS)):
        return True
    if (
        not branch
        or len(branch) > MAX_REF_CHARACTERS
        or re.search(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|\.$|[\ud800-\udfff]", branch)
    ):
        return False
    parts = branch.split("/")
    return all(part and part[0] != "." and not part.endswith(".lock") for part in parts)


def derived_id(session_id: str, name: str) -> str:
    """Returns the id of a branch that was derived from a session: `<session>.<name>`, a hash where that cannot be."""
    derived = f"{session_id}.{name}"
    try:
        if encode_session_id(derived).startswith(derived_prefixes(session_id)):
            return derived
    except InvalidSessionId:
        pass
    return _with_digest(_stem(session_id, _DERIVED_ROOM), derived)


def imported_id(name: str) -> str:
    """Returns the id of a session that is imported under a name: the name, where it can be an id.

    Of a name that is too long, no text, or like that of a ref, it is the beginning and a hash, with room for those of
    derived branches.
    """
    if not name:
        return name  # a hash would not mend it
    try:
        encode_session_id(name)
    except InvalidSessionId:
        beginning = _REFS.sub("refs_", _NO_TEXT.sub("_", name[:MAX_NAME_BYTES]))
        return _with_digest(_stem(beginning, 2 * _DERIVED_ROOM), name)
    return name


def derived_prefixes(session_id: str) -> tuple[str, ...]:
    """Returns what the branch names of a session's derived branches begin with."""
    stems = {_stem(session_id, _DERIVED_ROOM), session_id}
    return tuple(sorted(encode_session_id(f"{stem}.-", limit=None)[:-1] for stem in stems))


def _stem(session_id: str, room: int) -> str:
    """Returns as much of a session id as leaves room for a hash, or for several."""
    stem = session_id
    while len(encode_session_id(f"{stem}.{'0' * (room - 1)}", limit=None)) > MAX_NAME_BYTES:
        stem = stem[:-1]
    return stem


def _with_digest(stem: str, whole: str) -> str:
    """Returns the beginning of a name that cannot stand as it is, and a hash of the whole in place of the rest."""
    try:
        content = whole.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        content = whole.encode("utf-8", "surrogatepass")
    return f"{stem}.{hashlib.sha256(content).hexdigest()[:_DERIVED_DIGITS]}"


def tag_of(session_id: str) -> str:
    """Returns the tag of a new session: six hex digits that all its paths end with, so that packs delta well."""
    return hashlib.sha256(session_id.encode()).hexdigest()[:6]


def encode_commit_id(commit_id: str) -> str:
    """Returns a commit id as it stands in a delta's file name.

    Raises:
        InvalidCommit: The id is empty, too long, or no text.
    """
    if isinstance(commit_id, str) and _PLAIN_COMMIT.fullmatch(commit_id):
        return commit_id
    if not isinstance(commit_id, str) or not commit_id:
        raise InvalidCommit("the commit id must be a string that is not empty")
    try:
        name = _percent_encode(commit_id)
    except UnicodeEncodeError:
        raise InvalidCommit("the commit id holds a lone surrogate, which is no text") from None
    if len(name) > MAX_NAME_BYTES:
        raise InvalidCommit(f"the commit id takes {len(name)} bytes as a file name; the limit is {MAX_NAME_BYTES}")
    return name


def decode_commit_id(encoded: str) -> str:
    """Returns the commit id that an encoded one stands for.

    Raises:
        Corrupt: It is nobody's encoding.
    """
    if _PLAIN_COMMIT.fullmatch(encoded):
        return encoded
    fault = Corrupt(f"{encoded!a:.80} in the name of a delta is no encoded commit id")
    try:
        decoded = _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), encoded.encode()).decode()
    except UnicodeDecodeError:
        raise fault from None
    if _percent_encode(decoded) != encoded:
        raise fault
    return decoded


def directories(number: int, tag: str) -> tuple[str, str]:
    """Returns the names of the two directories that delta `number` lies in."""
    return f"{number // 10_000:04d}-{tag}", f"{number // 100 % 100:02d}-{tag}"


def file_name(number: int, encoded_id: str, tag: str) -> str:
    """Returns the file name of delta `number`."""
    return f"{number:06d}-{encoded_id}-{tag}.jsonl"


def delta_path(number: int, encoded_id: str, tag: str) -> str:
    """Returns the path of delta `number` in the session's tree."""
    return "/".join((*directories(number, tag), file_name(number, encoded_id, tag)))


def _percent_encode(text: str) -> str:
    return _UNSAFE.sub(lambda match: b"%%%02X" % match[0][0], text.encode()).decode()
