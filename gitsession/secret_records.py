"""Finds the secrets of a transcript's records in their order, also a private key that stands in several of them.

Records that are no JSON may be lines of one text: the pieces of a Markdown file, or what was written in between the
lines of a log. So a key may begin in one of them and end in another. A record that is JSON has whole texts of its own.
"""

from gitsession.secret_open_keys import OpenKey, begun, go_on
from gitsession.secret_scan import Secret, find_secrets, redacted, united
from gitsession.transcripts import records
from gitsession.transcripts.base import Record


class RecordSecrets:
    """The secrets of records that come one after the other, from the first of their transcript.

    Attributes:
        key: The private key that is begun and not ended.
    """

    def __init__(self, key: OpenKey | None = None) -> None:
        self.key = key

    def find(self, record: Record) -> list[Secret]:
        """Returns the secrets in the next record."""
        parts = self.pass_over(record)
        found = find_secrets(record.raw)
        return united([*(Secret("private-key", *part) for part in parts), *found]) if parts else found

    def take_out(self, record: Record) -> tuple[Record, list[Secret]]:
        """Returns the next record with marks in place of its secrets that tell their kinds, and what they were."""
        secrets = self.find(record)
        if not secrets:
            return record, secrets
        raw = redacted(record.raw, secrets)
        own_id = None if record.id is None else name_without_secrets(record.id)[0]
        value = None if record.value is None else records.parse(raw)[0]
        return record._replace(raw=raw, value=value, id=own_id), secrets

    def pass_over(self, record: Record) -> list[tuple[int, int]]:
        """Takes the next record, and returns where in it a key goes on that was begun before it."""
        key = self.key
        parts: list[tuple[int, int]] = []
        if isinstance(record.value, dict):
            self.key = key and key.passed(1)
        elif key is None:
            self.key = begun(record.raw)
        else:
            parts, self.key = go_on(record.raw, key)
        return parts


def name_without_secrets(text: str) -> tuple[str, list[Secret]]:
    """Returns a name or an id without its secrets, and what they were; it may be one that is no text."""
    raw = text.encode("utf-8", "surrogatepass")
    secrets = find_secrets(raw)
    return redacted(raw, secrets).decode("utf-8", "surrogatepass"), secrets
