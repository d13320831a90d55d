"""What FORMAT.md shows is what a store holds. `python -m tests.test_format_document` writes it anew."""

import os
import re
import tempfile
from pathlib import Path

from gitsession import Store, import_transcripts
from gitsession.layout import encode_session_id
from gitsession.repo.codec import MAX_OBJECT_BYTES
from gitsession.repo.repository import CONFIG
from gitsession.writing import MAX_DELTA_BYTES
from tests.consoles import shell, with_real_output

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "gitsession" / "FORMAT.md"
SHOWN = ("simple.jsonl", "rewind.jsonl")


def regenerated(directory: Path) -> str:
    store = Store.init(directory / "store.git", durable=False)
    list(import_transcripts(store, [ROOT / "fixtures" / "claude-code" / name for name in SHOWN]))
    return with_real_output(DOCUMENT.read_text("utf-8"), shell(store.path, dict(os.environ)))


def test_the_examples_are_what_git_shows(tmp_path: Path) -> None:
    assert DOCUMENT.read_text("utf-8") == regenerated(tmp_path)


def test_the_table_of_names_is_what_is_encoded() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|$", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    assert len(rows) >= 9
    assert [name for _, name in rows] == [encode_session_id(session_id) for session_id, _ in rows]


def test_the_configuration_is_what_init_writes() -> None:
    assert f"```\n{CONFIG}```" in DOCUMENT.read_text("utf-8")


def test_the_limits_are_those_of_the_code() -> None:
    text = DOCUMENT.read_text("utf-8")
    assert f"| a delta | {MAX_DELTA_BYTES >> 20} MiB |" in text
    assert f"| any object | {MAX_OBJECT_BYTES >> 20} MiB unpacked |" in text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        DOCUMENT.write_text(regenerated(Path(directory)), "utf-8")
