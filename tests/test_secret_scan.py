"""Finding secrets, and taking them out of records that stay valid JSON."""

import json
import re
from hashlib import sha256
from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitsession import secret_looks, secret_names, secret_rules, secret_words
from gitsession.secret_rules import PHRASES, TOKENS
from gitsession.secret_scan import find_secrets, redacted
from gitsession.secret_words import WORDS

from .secrets_made_up import ALNUM, AROUND, SECRETS, key, made, private_key, written

FIXTURES = Path(__file__).parent.parent / "fixtures"

# The digest of the rules under each number. What a redacted import stores depends on them, so they never change.
GOLDEN = {4: "74b89d4179e64535"}
CHECKS = (
    *(secret_words.STAND_IN, secret_words.NAME_OF_CODE, secret_words.CODE_WORD, secret_words.LOGIN),
    *(secret_names.BEHIND, secret_names.BEFORE_KEY, secret_names.IN_CAPITALS, secret_names.NO_KEY),
    *(secret_names.NO_TOKEN, secret_looks.STAND_IN, secret_words.DRAWN),
)
BOUNDS = (
    *(secret_looks.PAIRS, secret_looks.WORDY, secret_looks.ENTROPY, secret_looks.ENTROPY_OF_HEX),
    *(secret_looks.LEAST, secret_looks.MOST, secret_looks.LEAST_HEX),
    secret_words.LEAST_DRAWN,
)
KEYS = (secret_rules.KEY_BORDER, secret_rules.KEY_BYTES, secret_rules.KEY_NEAR)


KINDS = {*(kind for kind, *_ in (*TOKENS, *PHRASES)), *(kind for *_, kind, _ in WORDS), secret_names.KIND}


def kinds(text: str | bytes) -> list[str]:
    return [secret.kind for secret in find_secrets(text.encode() if isinstance(text, str) else text)]


def clean(text: str) -> str:
    return redacted(text.encode(), find_secrets(text.encode())).decode()


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize(
    ("before", "after"),
    [("", ""), ("token ", " is it"), ("KEY=", "\n"), ('"', '"'), ("'", "',"), ("(", ")"), ("\n", "\n"), ("/", " ")],
)
def test_a_secret_is_found_wherever_a_word_can_stand(kind: str, before: str, after: str) -> None:
    text = before + written(kind) + after
    expected = text.replace(SECRETS[kind], f"[redacted:{kind}]")
    assert (kinds(text), clean(text)) == ([kind], expected)


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_in_json_is_taken_out_and_the_json_stays_valid(kind: str) -> None:
    arounds = ["{}", "a\n{}\nb", "\t{}\t", "\r\n{}", '"{}"', "<{}>", "é{}é", "\\{}"]
    for around, ascii_only, times in product(arounds, [True, False], [1, 2]):
        said = around.format(written(kind))
        text = said
        for _ in range(times):  # a tool's output is often JSON in a string of JSON
            text = json.dumps({"say": text, "n": 1}, ensure_ascii=ascii_only)
        value = clean(text)
        for _ in range(times):
            value = json.loads(value)["say"]
        assert kinds(text) == [kind]
        assert value == said.replace(SECRETS[kind], f"[redacted:{kind}]")


def test_what_was_taken_out_is_not_found_again() -> None:
    for kind in SECRETS:
        once = clean(json.dumps(written(kind)))
        assert (clean(once), kinds(once)) == (once, [])


def test_several_secrets_are_told_in_their_order() -> None:
    text = " ".join(map(written, SECRETS))
    assert kinds(text) == [*SECRETS]
    assert not any(secret in clean(text) for secret in SECRETS.values())


def test_a_key_without_its_end_is_taken_out_as_far_as_it_goes() -> None:
    cut = private_key().partition("-----END")[0]
    assert clean(cut + "\nand so on").startswith("-----BEGIN RSA PRIVATE" + " KEY-----[redacted:private-key]")
    assert clean(cut + "\nand so on").endswith("and so on")


def shown(how: str) -> str:
    """Returns a private key as something prints it."""
    rows = private_key().split("\n")
    prefixes = {
        "arrow": "{:6d}\N{RIGHTWARDS ARROW}",
        "bar": "{:6d}| ",
        "tab": "{:6d}\t",
        "quote": "> ",
        "grep": "id_rsa:{}:",
        "context": "id_rsa-{}-",
        "removed": "-",
        "colour": "\x1b[32m{}\x1b[0m ",
        "box": "\N{BOX DRAWINGS LIGHT VERTICAL} ",
    }
    if how in prefixes:
        return "".join(prefixes[how].format(number) + row + "\n" for number, row in enumerate(rows, 1))
    quoted = {
        "plus": [f'  "{row}\\n" +\n' for row in rows],
        "single": [f"'{row}',\n" for row in rows],
        "implicit": [f'    "{row}\\n"\n' for row in rows],
        "html": [f"{row}<br/>" for row in rows],
    }
    return "".join(quoted[how])


SHOWN = ("arrow", "bar", "tab", "quote", "grep", "context", "removed", "colour", "box")


@pytest.mark.parametrize("how", [*SHOWN, "plus", "single", "implicit", "html"])
def test_a_private_key_is_taken_out_whatever_its_lines_begin_and_end_with(how: str) -> None:
    said = f"Before\n{shown(how)}\nAfter"
    for text in (json.dumps({"a": said, "b": 1}), json.dumps({"a": said, "b": 1}, ensure_ascii=False)):
        value = json.loads(clean(text))
        assert kinds(text) == ["private-key"]
        assert not [row for row in key().split() if row in value["a"]]
        assert (value["a"][:6], value["a"][-5:], value["b"]) == ("Before", "After", 1)
        twice = json.dumps([text])
        assert json.loads(json.loads(clean(twice))[0]) == value
    assert not [row for row in key().split() if row in clean(said)]
    assert kinds(clean(said)) == []


@pytest.mark.parametrize("how", SHOWN)
@pytest.mark.parametrize("lines", [2, 4, 6])
def test_a_key_that_is_shown_without_its_end_is_taken_out(how: str, lines: int) -> None:
    said = "\n".join(["Before", *shown(how).split("\n")[:lines]])
    text = json.dumps({"a": said, "b": "After"})
    value = json.loads(clean(text))
    assert kinds(text) == ["private-key"]
    assert not [row for row in key().split() if row in value["a"]]
    assert value["b"] == "After"
    assert kinds(clean(text)) == []


def test_much_that_follows_a_key_without_its_end_stays_valid_json() -> None:
    for pad in range(8):
        said = " " * pad + shown("quote")[:300] + 'x\\"\N{EURO SIGN}\n' * 30_000
        text = json.dumps({"a": said}, ensure_ascii=False)
        value = json.loads(clean(text))["a"]
        assert kinds(text) == ["private-key"]
        assert not [row for row in key().split()[:3] if row in value]
        assert value.endswith('x\\"\N{EURO SIGN}\n' * 1000)


def test_an_example_behind_a_key_without_its_end_hides_it_not() -> None:
    said = f"{private_key().partition('-----END')[0]}, \N{RIGHTWARDS ARROW}gsk_{key().split()[0]}EXAMPLE"
    assert kinds(said) == kinds(json.dumps(said)) == ["private-key"]


def test_a_key_of_which_the_middle_was_left_out_is_taken_out_to_its_end() -> None:
    rows = private_key().split("\n")
    assert clean("\n".join([*rows[:3], "[3 lines]", *rows[4:]])) == clean(private_key())


def test_lines_of_a_key_in_an_array_are_taken_out_each() -> None:
    rows = [f"+{row}" for row in private_key().split("\n")]
    for lines, before in ((rows, "x"), (rows[:4], "")):
        text = json.dumps({"lines": [before, *lines, "After"] if lines is rows else [before, *lines], "n": ["a", "b"]})
        value = json.loads(clean(text))
        assert not [row for row in key().split() if row in clean(text)]
        assert value["n"] == ["a", "b"]
        assert len(value["lines"]) == len(json.loads(text)["lines"])
        assert lines is not rows or value["lines"][-1] == "After"


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("digits", ["04x", "04X"])
def test_a_secret_with_letters_written_as_escapes_is_found(kind: str, digits: str) -> None:
    said = f"x {written(kind)} y"
    for letters in ("p_", "+/=", "\n", "-E", "IV", said):
        escaped = "".join(f"\\u{ord(one):{digits}}" if one in letters else json.dumps(one)[1:-1] for one in said)
        text = '{"say":"' + escaped + '","n":1}'
        assert kinds(text) == [kind]
        assert json.loads(clean(text)) == {"say": said.replace(SECRETS[kind], f"[redacted:{kind}]"), "n": 1}
        assert json.loads(json.loads(clean(json.dumps(text)))) == json.loads(clean(text))


def test_slashes_may_be_escaped() -> None:
    for kind in SECRETS:
        text = json.dumps(json.dumps(written(kind)).replace("/", "\\/"))
        assert kinds(text) == [kind]
        assert json.loads(json.loads(clean(text))) == written(kind).replace(SECRETS[kind], f"[redacted:{kind}]")


@pytest.mark.parametrize(
    "text",
    [
        "if '-----BEGIN RSA PRIVATE" + " KEY-----' in text and '-----END RSA PRIVATE" + " KEY-----' in text: pass",
        "-----BEGIN PRIVATE" + " KEY-----\n     2\N{RIGHTWARDS ARROW}...\n-----END PRIVATE" + " KEY-----",
        "'-----BEGIN PRIVATE KEY-----' stands in /usr/local/lib/python3/packages/cryptography/hazmat/primitives",
        "'-----BEGIN PRIVATE" + " KEY-----' came with 3f786850e387550f8e2aab4d6e5f8b9a3f786850",
        "the first line is -----BEGIN RSA PRIVATE KEY----- and the last one ends it, as you will find in the manual",
        "grep -r 'BEGIN PRIVATE" + " KEY' .",
        made("AK", "IA", ("X", 16)),
        made("AK", "IA", "IOSFODNN7", "EXAMPLE"),
        made("gh", "p_", ("x", 36)),
        made("gh", "p_", (ALNUM, 35)),
        made("gh", "p_", (ALNUM, 37)),
        made("x", "gh", "p_", (ALNUM, 36)),
        made("sk-", (ALNUM, 20)),
        "https://example.com:8080/path@2x.png",
        "https://user@example.com/",
        "cvs://:pserver:anoncvs@example.com:/cvs",
        "postgres://postgres:postgres@localhost/app",
        "postgres://user:password@localhost/app",
        "https://${USER}:${TOKEN}@example.com/",
        "https://<user>:<password>@example.com/",
        "https://%s:%s@example.com/",
        "git clone https://x-access-token:$GITHUB_TOKEN@github.com/a/b",
        "3f786850-e387-550f-8e2a-ab4d6e5f8b9a toolu_01A09q90qw90lq917835lq9 msg_01XFDUDYJgAACzvnptvVoYEL req_011CSHoE",
        "eyJhbGciOi.eyJzdWIi.x",
        "data:image/png;base64," + made((ALNUM + "+/", 6000)),
    ],
)
def test_what_only_looks_like_one_is_left_alone(text: str) -> None:
    assert (kinds(text), kinds(json.dumps(text))) == ([], [])


def test_a_secret_with_a_shape_keeps_its_mark_where_a_word_stands_before_it() -> None:
    # So what was redacted under earlier rules is the same under these.
    for kind in ("github-pat", "jwt", "npm-access-token"):
        for before, after in (('password = "', '!"'), ("Authorization: Bearer ", ""), ("//r/:_authToken=", "")):
            text = f"{before}{written(kind)}{after}"
            assert clean(text) == f"{before}[redacted:{kind}]{after}"


def test_the_old_keys_of_openai_are_found() -> None:
    assert kinds(made("sk-", (ALNUM, 48))) == ["openai-api-key"]
    assert kinds(made("sk-", (ALNUM, 47))) == kinds(made("sk-", (ALNUM, 49))) == []


def test_nothing_is_found_in_the_fixtures_or_in_the_code() -> None:
    root = FIXTURES.parent
    paths = (*FIXTURES.rglob("*"), *root.glob("gitsession/**/*.py"), *root.glob("cli/**/*.py"))
    assert [(path, kinds(path.read_bytes())) for path in paths if path.is_file() and kinds(path.read_bytes())] == []


def test_a_secret_beside_much_data_is_found() -> None:
    data = made((ALNUM + "+/", 8000))
    assert kinds(f"{data} {written('github-pat')} {data}") == ["github-pat"]


@given(st.binary(max_size=300), st.sampled_from([*SECRETS]), st.binary(max_size=300))
def test_bytes_around_it_break_nothing(before: bytes, kind: str, after: bytes) -> None:
    text = before + b" " + written(kind).encode() + b" " + after
    found = find_secrets(text)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert SECRETS[kind].encode() not in redacted(text, found)


def test_looking_takes_time_in_proportion_to_the_text() -> None:
    # Each would take minutes if a pattern tried its parts again and again.
    for text in (
        "-----BEGIN PRIVATE" + " KEY-----" + " a" * 200_000,
        "://" * 100_000,
        "://a:" * 100_000,
        "eyJ" * 100_000,
        "secret_access_key" + " " * 100_000,
        "-" * 300_000,
        "ghp_" * 100_000,
        "-----BEGIN" * 50_000 + " PRIVATE" + " KEY",
        ("-----BEGIN PRIVATE" + " KEY-----" + chr(34)) * 30_000,
        '["' + ("-----BEGIN PRIVATE" + " KEY-----" + '","') * 30_000,
        '["-----BEGIN PRIVATE' + " KEY-----" + '","' * 100_000,
        '["-----BEGIN PRIVATE' + " KEY-----" + "\\" * 300_000,
        "-----BEGIN PRIVATE" + " KEY-----" + "> " * 300_000,
        "\\" * 300_000,
        "\\u002d" * 100_000,
        "\\u00" * 100_000,
        "\\/" * 100_000,
        "password=" * 30_000,
        'password = "' * 30_000,
        "password: " + "a1" * 100_000,
        "password" + "\\" * 100_000,
        "passphrase" * 100_000,
        "authorization: bearer " * 50_000,
        "authorization: bearer " + "a1" * 100_000 + "$",
        "/:_authToken=" * 50_000 + "$",
        "api_key=" * 10_000,
        "api_key=" + "a1" * 100_000,
        "API_" * 50_000 + "KEY=",
        "curl " * 10_000,
        "curl -u a:" * 6_000,
        "mysql -u a " * 10_000,
        "API_KEY, value " * 10_000,
        "cookie: a=b; " * 30_000,
        "cookie:" + f"a={'b' * 400};" * 500,
        "login password " * 30_000,
        "LS0tLS1CRUdJTi" * 30_000,
        "LS0tLS1CRUdJTi+" * 30_000,
    ):
        assert kinds(text) == []


def test_the_rules_of_a_number_never_change() -> None:
    words = (WORDS, *BOUNDS, *(pattern.pattern for pattern in CHECKS), sorted(secret_rules.MIXED))
    digest = sha256(repr((TOKENS, PHRASES, sorted(secret_rules.NO_PASSWORDS), *KEYS, *words)).encode()).hexdigest()[:16]
    assert digest == GOLDEN[secret_rules.VERSION]


@pytest.mark.parametrize("pattern", [pattern for _, pattern in TOKENS])
def test_a_token_is_long_enough_to_be_looked_at(pattern: str) -> None:
    # The search looks at rows of 20; that a token has such a row is seen by making some.
    sample = st.from_regex(re.compile(pattern.removeprefix("(?<=[0-9]{8}:)"), re.ASCII), fullmatch=True)

    @settings(max_examples=10)  # they differ in their letters and in what may be left out
    @given(sample)
    def check(token: str) -> None:
        assert max(map(len, re.findall("[A-Za-z0-9_.-]+", token))) >= 20

    check()


def test_the_readme_names_each_kind() -> None:
    text = (FIXTURES.parent / "README.md").read_text("utf-8")
    (named,) = re.findall(r"These kinds are found.*?: (.*?)\n\n", text, re.DOTALL)
    assert re.findall(r"`([^`]+)`", named) == sorted(KINDS)


def test_each_kind_is_named_as_one_word() -> None:
    for kind in KINDS:
        assert re.fullmatch(r"[a-z0-9-]+", kind)
    assert {*AROUND} <= {*SECRETS}
