"""Any JSON comes back equal from a store, or is refused at the door with a reason; as values, and as text.

What is stored is read in another process's place: by a store that is opened anew, and from a stack that is deeper.

`pytest -m slow --full tests/guarantees/test_round_trips.py`: 100,000 messages.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gitsession import InvalidCommit, MessageEntry, Messages, Session, SessionCommit, SessionMeta, Store

pytestmark = pytest.mark.slow

# Messages a batch: each batch is one commit, read back whole.
BATCH = 10

ODD = '\0\x01\n\r\t\x0b\x0c\x1e\x7f\x85\u2028\u2029\ufeff\ufffe\ud83d\ude00\ud800\udfff"\\/é項😀'
TEXT = st.text(st.characters(exclude_categories=[]), max_size=12) | st.text(st.sampled_from(ODD), max_size=6)
INTEGERS = st.integers() | st.builds(
    lambda sign, digits, last: sign * (10**digits + last),
    st.sampled_from([1, -1]),
    st.sampled_from([15, 16, 18, 19, 300, 4298, 4299, 4300, 9999]),
    st.integers(-2, 2),
)
NUMBERS = INTEGERS | st.floats() | st.sampled_from([-0.0, 0.0, 5e-324, 1.7976931348623157e308, 1e22, 1e-7, 2.0**53])
SCALARS = st.none() | st.booleans() | NUMBERS | TEXT
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=8
)


def nested(depth: int, core: Any, kind: bool) -> Any:
    for _ in range(depth):
        core = [core] if kind else {"": core}
    return core


@contextmanager
def long_integers() -> Iterator[None]:
    """Lets this process make and compare integers that it could not write."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)


def dumped(value: Any) -> str:
    with long_integers():
        return json.dumps(value)


# Around the limit, and around where Python's own stack ends.
DEEP = st.builds(
    nested, st.sampled_from([2, 190, 198, 199, 200, 201, 202, 400, 900, 950, 2000]), SCALARS, st.booleans()
)
MESSAGE = st.dictionaries(TEXT, JSON | DEEP, max_size=4)

# Numbers as only text can write them, and blanks and escapes that nobody needs.
NUMBER_TEXTS = st.sampled_from(
    ["-0", "-0.0", "1e5", "1E400", "-1e400", "1e-400", "0.1000", "1" * 4300, "1" * 4301, "9" * 10_000, "00", "+1", ".5"]
)
STRING_TEXTS = st.sampled_from(
    ['"\\u0041"', '"\\ud83d"', '"\\ud83d\\ude00"', '"\\/"', '"\u2028"', '"\x7f"', '"\0"', '"\n"', '"\\x"', '"\\u00"']
)
OTHER_TEXTS = st.sampled_from(["NaN", "Infinity", "-Infinity", "nul", "[1,]", '{"a":1,"a":2}', "[" * 300 + "]" * 300])
VALUE_TEXTS = NUMBER_TEXTS | STRING_TEXTS | OTHER_TEXTS | JSON.map(dumped)
BLANKS = st.sampled_from(["", " ", "\t", "\r\n", "\n\n", "\x0b", "\ufeff", "\u00a0"])
MESSAGE_TEXT = st.builds(
    lambda before, value, after: f'{before}{{"a":{after}{value}}}{after}', BLANKS, VALUE_TEXTS, BLANKS
)


def deeper(frames: int, do: Callable[[], Any]) -> Any:
    """Calls a function from a stack that has so many frames more."""
    return do() if frames == 0 else deeper(frames - 1, do)


@pytest.fixture(scope="module")
def path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as directory:
        yield Store.init(Path(directory, "store.git"), durable=False).path


def accepted(
    make: Callable[[Any], Messages], given_messages: list[Any], reasons: tuple[str, ...]
) -> tuple[list[Any], list[bytes]]:
    """Returns the messages that are taken, and their texts; the others must be refused with a reason."""
    taken, texts, refusals = [], [], []
    for one in given_messages:
        try:
            made = make([one])
        except InvalidCommit as error:
            refusals.append(str(error))
        else:
            taken.append(one)
            texts.extend(made.texts)
    assert [text for text in refusals if not text.startswith(reasons) or "come back equal" in text] == []
    assert max(map(len, refusals), default=0) < 400
    return taken, texts


def stored(path: Path, messages: Any) -> Messages:
    """Returns messages as they are read again after they were committed."""
    name = f"s{uuid4()}"
    writer = Store.open(path, durable=False).bind(name)
    writer.commit(SessionCommit("c", None, messages))
    found = Store.open(path).bind(name).load()
    assert found.head == "c"
    return found.messages


def check_values(path: Path, messages: list[dict[str, Any]]) -> None:
    taken, texts = accepted(Messages, messages, ("messages[0]", "a key of messages[0]"))
    if taken:
        found = stored(path, taken)
        assert list(found.texts) == texts
        assert deeper(500, lambda: found == taken)
        assert deeper(500, lambda: [json.dumps(one) for one in found]) == [json.dumps(one) for one in taken]


def check_texts(path: Path, texts: list[str]) -> None:
    given_texts = [text.encode("utf-8", "surrogatepass") for text in texts]
    taken, kept = accepted(Messages.from_texts, given_texts, ("messages[0] cannot be stored",))
    if taken:
        found = stored(path, Messages.from_texts(taken))
        # Byte for byte, but for the line breaks between tokens, which become blanks, and the blanks around it.
        assert [text.strip().translate(bytes.maketrans(b"\r\n", b"  ")) for text in taken] == kept
        assert list(found.texts) == kept
        assert deeper(500, lambda: [repr(one) for one in found]) == [repr(json.loads(text)) for text in taken]


SETTINGS = settings(
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


def test_values_come_back_equal_or_are_refused(path: Path, scale: Callable[[int, int], int]) -> None:
    @settings(SETTINGS, max_examples=scale(200, 50_000) // BATCH)
    @given(st.lists(MESSAGE, min_size=BATCH, max_size=BATCH))
    def check(messages: list[dict[str, Any]]) -> None:
        check_values(path, messages)

    check()


def test_texts_come_back_byte_for_byte_or_are_refused(path: Path, scale: Callable[[int, int], int]) -> None:
    @settings(SETTINGS, max_examples=scale(200, 50_000) // BATCH)
    @given(st.lists(MESSAGE_TEXT, min_size=BATCH, max_size=BATCH))
    def check(texts: list[str]) -> None:
        check_texts(path, texts)

    check()


@pytest.mark.parametrize("depth", [100, 199, 200, 201, 900, 5000])
def test_what_nests_is_taken_or_refused_wherever_it_is_called_from(path: Path, depth: int) -> None:
    """The depth of the caller's stack decides neither what is taken nor what can be read."""
    message = {"a": nested(depth - 1, 0, kind=True)}
    text = (b'{"a":' + b"[" * (depth - 1) + b"0" + b"]" * (depth - 1)) + b"}"
    for frames in (0, 500):
        taken, _ = deeper(frames, lambda: accepted(Messages, [message], ("messages[0]",)))
        assert len(taken) == (depth <= 200)
        taken, _ = deeper(frames, lambda: accepted(Messages.from_texts, [text], ("messages[0] cannot be stored",)))
        assert len(taken) == (depth <= 200)
    if depth <= 200:
        store = Store.open(path, durable=False)
        store.create(SessionMeta(f"e{depth}"))
        store.append(f"e{depth}", MessageEntry(message, "e"))
        (entry,) = deeper(500, lambda: store.load(f"e{depth}"))
        assert entry.message == message


def test_a_process_that_lifts_pythons_limit_of_integers_stores_nothing_that_others_cannot_read(path: Path) -> None:
    with long_integers():
        for messages in ([{"a": 10**4300}], [{"a": [{"b": -(10**9999)}]}]):
            with pytest.raises(InvalidCommit, match="of more than 4,300 digits"):
                Messages(messages)
        with pytest.raises(InvalidCommit, match="of more than 4,300 digits"):
            Messages.from_texts([b'{"a":' + b"9" * 10_000 + b"}"])
        made = Messages([{"a": 10**4299}])
    assert Store.open(path, durable=False).bind("i").commit(SessionCommit("c", None, made)) == Session("c", made)
    assert [one["a"] for one in stored(path, made)] == [10**4299]
