"""The transcript formats of coding agents, one module each."""

from gitsession.transcripts.base import Format

FORMATS: dict[str, Format] = {}
