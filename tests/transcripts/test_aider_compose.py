"""Chat histories for aider: forks of its own, and those of others."""

from pathlib import Path, PurePath
from typing import Any

import pytest
from compositions import ID, composed, draft, stored, whole
from transcript_files import FIXTURES

from gitsession.model import CompactionEntry, MessageEntry
from gitsession.transcripts import FORMATS, Record
from gitsession.transcripts.aider_compose import compose

AIDER = FORMATS["aider"]
HISTORY = FIXTURES / "aider" / ".aider.chat.history.md"


def entry(own: str, **message: Any) -> MessageEntry:
    return MessageEntry(message, id=own, timestamp="2026-03-03T09:00:00Z")


LONG_RESULT = "no\n" * 666


def written(records: list[Record], *entries: Any) -> str:
    return b"".join(composed(AIDER, records, entries).lines).decode()


def test_a_fork_has_what_its_origin_has_and_goes_on() -> None:
    records = stored(HISTORY)
    own = HISTORY.read_text().replace("09:00:00\n", f"09:00:00 (gitsession {ID})\n", 1)
    assert own != HISTORY.read_text()
    assert written(records) == own
    added = entry("e1", role="user", content="And in German?\nPlease.")
    assert written(records, added) == own + "\n#### And in German?  \n#### Please.  \n"
    assert written(records[:-1], added).endswith("ciao\n\n\n#### And in German?  \n#### Please.  \n")


def test_it_is_written_as_the_agent_writes() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}]
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}
    entries = [
        entry("e1", role="system", content="Be\nbrief."),
        entry("e2", role="user", content=[{"type": "text", "text": "Look"}, image]),
        entry("e3", role="assistant", content="I look.", reasoning="hm", tool_calls=calls, model="m"),
        entry("e4", role="tool", content="no\n" * 999, tool_call_id="c1"),
        entry("e4b", role="tool", content="", tool_call_id="c1", is_error=True),
        entry("e5", role="assistant", content="Done.", model="m"),
        entry("e6", role="user", content=""),
        CompactionEntry("so far", None, id="k", timestamp="2026-03-03T09:00:01Z"),
    ]
    expected = f"""
# aider chat started at 2026-03-03 09:00:00 (gitsession {ID})

> Be brief.  

#### Look  
#### [image]  
> Model: m  

I look.


[call of read]
{{"path": "a"}}


[result of read]
{LONG_RESULT}no… [997 characters more]


[read failed]


Done.


#### <blank>  

#### [Conversation summary]  
#### so far  
"""  # noqa: W291
    assert written([], *entries) == expected


def test_a_line_that_looks_like_a_mark_gets_a_blank_before_it() -> None:
    answer = "# A\n## B\n#### C\n> D\n>E\n```\n# F\n```"
    found = written([], entry("e1", role="assistant", content=answer))
    assert found.endswith("\n # A\n## B\n #### C\n > D\n>E\n```\n # F\n```\n\n")


def test_it_is_a_file_of_its_own_that_the_command_names() -> None:
    made = compose(draft(AIDER))
    assert made.path == PurePath("sessions", f"{ID}.md")
    assert made.resume is not None
    assert made.resume(Path("/h/x.md")) == ("aider", "--restore-chat-history", "--chat-history-file", "/h/x.md")


@pytest.mark.parametrize("own", ["..", "../../x", "/etc", "--yes", "a b"])
def test_an_id_that_could_be_something_else_is_not_used(own: str) -> None:
    made = compose(whole(AIDER, stored(HISTORY), own))
    assert (made.rewritten, made.path.name) == (True, f"{ID}.md")


def test_a_whole_history_is_named_by_its_session() -> None:
    made = compose(whole(AIDER, stored(HISTORY), "aider-2026-03-02T09-00-00"))
    assert (made.rewritten, made.path.name) == (False, "aider-2026-03-02T09-00-00.md")
