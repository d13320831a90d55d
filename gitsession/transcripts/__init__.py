"""The transcript formats of coding agents: each is one `Format`, told by what is in a file, not by its name."""

from gitsession.transcripts.aider import AIDER
from gitsession.transcripts.base import AbandonedLine, Format, Record
from gitsession.transcripts.chat import CHAT
from gitsession.transcripts.claude_code import CLAUDE_CODE
from gitsession.transcripts.codex import CODEX
from gitsession.transcripts.copilot import COPILOT
from gitsession.transcripts.droid import DROID
from gitsession.transcripts.gemini import GEMINI
from gitsession.transcripts.langchain import LANGCHAIN
from gitsession.transcripts.modular_agent import MODULAR_AGENT
from gitsession.transcripts.opencode import OPENCODE
from gitsession.transcripts.openhands import OPENHANDS
from gitsession.transcripts.pi import PI
from gitsession.transcripts.swe_agent import SWE_AGENT

__all__ = ["FORMATS", "AbandonedLine", "Format", "Record", "recognise"]

# In the order in which they are tried: those that are told by little come last.
FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        CLAUDE_CODE,
        CODEX,
        PI,
        GEMINI,
        OPENCODE,
        COPILOT,
        DROID,
        OPENHANDS,
        SWE_AGENT,
        MODULAR_AGENT,
        LANGCHAIN,
        CHAT,
        AIDER,
    )
}


def recognise(head: bytes, name: str) -> Format | None:
    """Returns the format of a file.

    Args:
        head: Its first 64 KiB.
        name: Its name.

    Returns:
        The format; None if it is in none that is known.
    """
    return next((one for one in FORMATS.values() if one.recognise(head, name)), None)
