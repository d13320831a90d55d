"""Names: session ids as branches, deltas as paths, and both back."""

import subprocess
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsession import Corrupt, InvalidCommit, InvalidSessionId
from gitsession.layout import (
    branch_of,
    decode_commit_id,
    delta_path,
    derived_id,
    derived_prefixes,
    directories,
    encode_commit_id,
    encode_session_id,
    imported_id,
    is_ref_name,
    session_id_of,
    tag_of,
)

BRANCHES = [
    ("s", "s"),
    ("support-4711", "support-4711"),
    ("A_b.c-d", "A_b.c-d"),
    ("a/b", "a%2Fb"),
    ("a%2Fb", "a%252Fb"),
    ("a b", "a%20b"),
    ("user@example.com", "user%40example.com"),
    ("agent:main", "agent%3Amain"),
    ("@{", "%40%7B"),
    ("-x", "%2Dx"),
    ("--x", "%2D-x"),
    (".", "%2E"),
    ("..", "%2E%2E"),
    ("a..b", "a.%2Eb"),
    ("a...b", "a.%2E%2Eb"),
    (".a", "%2Ea"),
    ("a.", "a%2E"),
    ("x.lock", "x%2Elock"),
    ("x.lock.lock", "x.lock%2Elock"),
    (".lock", "%2Elock"),
    ("x.lockx", "x.lockx"),
    ("HEAD", "%48EAD"),
    ("head", "head"),
    ("HEADER", "HEADER"),
    ("CON", "%43ON"),
    ("con", "%63on"),
    ("con.txt", "%63on.txt"),
    ("console", "console"),
    ("lpt9", "%6Cpt9"),
    ("lpt0", "lpt0"),
    ("0" * 40, "%30" + "0" * 39),
    ("F" * 40, "%46" + "F" * 39),
    ("0" * 39, "0" * 39),
    ("é", "%C3%A9"),
    ("e\u0301", "e%CC%81"),
    ("😀", "%F0%9F%98%80"),
    ("\0", "%00"),
    ("\n", "%0A"),
    ("a" * 200, "a" * 200),
]


@pytest.mark.parametrize(("session_id", "branch"), BRANCHES)
def test_a_session_id_is_a_branch_and_back(session_id: str, branch: str) -> None:
    assert encode_session_id(session_id) == branch
    assert branch_of(session_id) == branch
    assert session_id_of(branch) == session_id


@pytest.mark.parametrize("session_id", ["", "\ud800", "a\udfffb", "a" * 201, "/" * 67, "refs/", "refs/heads/s", None])
def test_what_cannot_be_a_session_id_is_refused(session_id: str) -> None:
    with pytest.raises(InvalidSessionId):
        encode_session_id(session_id)


def test_a_refused_session_id_is_shown_as_far_as_it_fits() -> None:
    with pytest.raises(InvalidSessionId) as caught:
        encode_session_id("x" * 300)
    assert str(caught.value) == (
        f"'{'x' * 117}...' cannot be a session id: its branch name would take 300 bytes; the limit is 200"
    )


@pytest.mark.parametrize(
    "branch", ["exp/try-2", "a%2fb", "a%", "%zz", "%41", "@", "é", "a..", "HEAD", "con", "%FF", "-a", "a" * 201]
)
def test_a_branch_that_is_nobodys_encoding_is_named_by_its_ref(branch: str) -> None:
    assert session_id_of(branch) == f"refs/heads/{branch}"


@pytest.mark.parametrize("branch", ["exp/try-2", "a%2fb", "@", "é", "x" * 201])
def test_a_branch_made_with_git_is_found_by_its_ref(branch: str) -> None:
    assert branch_of(f"refs/heads/{branch}") == branch


REF_NAMES = [
    *("exp/try-2", "a", "a/b/c", "é", "@", "a@b", "a.b", "-a", "%"),
    *("", "/", "/a", "a/", "a//b", ".a", "a/.b", "a.", "a..b", "a.lock", "a.lock/b", "a b", "a\tb", "a~b", "a^b"),
    *("a:b", "a?b", "a*b", "a[b", "a\\b", "a@{b", "a\x7fb", "../../config", "a/../b"),
]


@pytest.mark.parametrize("branch", REF_NAMES)
def test_the_rules_for_ref_names_are_those_of_git(branch: str) -> None:
    allowed = subprocess.run(["git", "check-ref-format", f"refs/heads/{branch}"], check=False).returncode == 0
    assert is_ref_name(branch) == allowed
    if not allowed:
        with pytest.raises(InvalidSessionId):
            branch_of(f"refs/heads/{branch}")


@given(st.text(min_size=1))
def test_an_encoded_id_is_a_safe_name_and_comes_back(session_id: str) -> None:
    try:
        branch = encode_session_id(session_id)
    except InvalidSessionId:
        return
    assert session_id_of(branch) == session_id
    assert is_ref_name(branch)
    assert "/" not in branch
    assert branch.isascii()
    assert not branch.startswith(("-", "."))
    assert len(branch) <= 200


TRICKY = st.text("aA./%-2EF\u00e9 ", min_size=1, max_size=8)


@given(TRICKY, TRICKY)
def test_two_ids_never_share_a_name(a: str, b: str) -> None:
    assert (encode_session_id(a) == encode_session_id(b)) == (a == b)


@pytest.mark.parametrize(
    ("commit_id", "encoded"),
    [
        ("first", "first"),
        ("a/b", "a%2Fb"),
        ("..", ".."),
        ("-x", "-x"),
        ("x.lock", "x.lock"),
        ("HEAD", "HEAD"),
        ("é 😀", "%C3%A9%20%F0%9F%98%80"),
        ("%41", "%2541"),
        ("a" * 200, "a" * 200),
    ],
)
def test_a_commit_id_is_encoded_and_back(commit_id: str, encoded: str) -> None:
    assert encode_commit_id(commit_id) == encoded
    assert decode_commit_id(encoded) == commit_id


@pytest.mark.parametrize("commit_id", ["", "\ud800", "a" * 201, "é" * 34, None, 7])
def test_an_unusable_commit_id_is_invalid(commit_id: str) -> None:
    with pytest.raises(InvalidCommit):
        encode_commit_id(commit_id)


@pytest.mark.parametrize("encoded", ["%2f", "%41", "a b", "%", "%FF", "é", "a/b"])
def test_a_name_that_is_no_encoded_commit_id_is_corrupt(encoded: str) -> None:
    with pytest.raises(Corrupt):
        decode_commit_id(encoded)


@pytest.mark.parametrize(
    ("number", "path"),
    [
        (0, "0000-7b1c8a/00-7b1c8a/000000-c-7b1c8a.jsonl"),
        (99, "0000-7b1c8a/00-7b1c8a/000099-c-7b1c8a.jsonl"),
        (100, "0000-7b1c8a/01-7b1c8a/000100-c-7b1c8a.jsonl"),
        (9_999, "0000-7b1c8a/99-7b1c8a/009999-c-7b1c8a.jsonl"),
        (10_000, "0001-7b1c8a/00-7b1c8a/010000-c-7b1c8a.jsonl"),
        (1_234_567, "0123-7b1c8a/45-7b1c8a/1234567-c-7b1c8a.jsonl"),
        (99_999_999, "9999-7b1c8a/99-7b1c8a/99999999-c-7b1c8a.jsonl"),
    ],
)
def test_a_delta_has_its_path(number: int, path: str) -> None:
    assert delta_path(number, "c", "7b1c8a") == path


def test_the_byte_order_of_the_paths_is_the_order_of_the_deltas() -> None:
    numbers = [0, 1, 9, 10, 99, 100, 999, 9_999, 10_000, 99_999, 100_000, 999_999, 1_000_000, 9_999_999, 10_000_000]
    paths = [delta_path(number, "c", "7b1c8a") for number in numbers]
    assert paths == sorted(paths)
    assert all(path.startswith("/".join(directories(n, "7b1c8a"))) for path, n in zip(paths, numbers, strict=True))


def test_a_tag_is_the_beginning_of_the_ids_hash() -> None:
    assert tag_of("s") == sha256(b"s").hexdigest()[:6] == "043a71"


@pytest.mark.parametrize(
    ("name", "content", "beginning"),
    [
        ("a" * 201, b"a" * 201, "a" * 166),
        ("é" * 100, "é".encode() * 100, "é" * 27),
        ("caf\udce9", b"caf\xe9", "caf_"),
        ("x\ud800", b"x\xed\xa0\x80", "x_"),
        ("a" * 250 + "\udcff", b"a" * 250 + b"\xff", "a" * 166),
        ("refs/heads/main", b"refs/heads/main", "refs_heads/main"),
        ("refs/" * 100, b"refs/" * 100, "refs_" + "refs/" * 23),
    ],
)
def test_a_name_that_can_be_no_id_is_replaced(name: str, content: bytes, beginning: str) -> None:
    shortened = imported_id(name)
    assert shortened == f"{beginning}.{sha256(content).hexdigest()[:16]}"
    assert shortened == imported_id(shortened)
    assert derived_prefixes(shortened) == (f"{encode_session_id(shortened)}.",)
    assert derived_id(shortened, "r" * 190).startswith(f"{shortened}.")


@pytest.mark.parametrize("name", ["a" * 200, "s", "a/b", "refs", "a/refs/b", ""])
def test_a_name_that_can_be_an_id_or_is_none_is_kept(name: str) -> None:
    assert imported_id(name) == name
