"""The records of a Claude Code session as a fork of it has them: see `claude_compose`."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from gitsession.transcripts.base import Draft
from gitsession.transcripts.claude_chain import Tree
from gitsession.transcripts.claude_records import CHAIN
from gitsession.transcripts.composing import derived_uuid, last_time
from gitsession.transcripts.fields import items, mapping, text

# What would tie the fork to its source; the agent's own fork drops it too.
_DROPPED = ("teamName", "agentName", "slug", "sourceToolAssistantUUID")


class Fork:
    """The records of a draft under new ids."""

    def __init__(self, draft: Draft, tree: Tree) -> None:
        """Chooses the records that a fork takes along, given the tree of all of them."""
        self._draft = draft
        self._tree = tree
        values = [record.value for record in draft.records if isinstance(record.value, dict)]
        chain = [value for value in values if text(value, "type") in CHAIN and text(value, "uuid")]
        # A subagent's file, forked, is a session of its own; elsewhere subagents are left behind.
        alone = all(value.get("isSidechain") is True for value in chain)
        self._chain = [value for value in chain if alone or value.get("isSidechain") is not True]
        self._known = {text(value, "uuid"): value for value in self._chain}
        self._replacements = [
            one
            for value in values
            if text(value, "type") == "content-replacement"
            for one in items(value, "replacements")
        ]

    def uuid_of(self, value: dict[str, Any]) -> str | None:
        """Returns the new uuid of a record; None for one that the fork leaves behind."""
        own = text(value, "uuid")
        known = own in self._known and text(value, "type") != "progress"
        return derived_uuid(self._draft.id, "record", own) if known else None

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yields the records of the fork."""
        for value in self._chain:
            own = self.uuid_of(value)
            if own is not None:
                yield self._forked(value, own)
        if self._replacements:
            yield {
                "type": "content-replacement",
                "sessionId": self._draft.id,
                "replacements": self._replacements,
                "uuid": derived_uuid(self._draft.id, "content-replacement"),
                "timestamp": last_time(self._draft),
            }

    def _forked(self, value: dict[str, Any], own: str) -> dict[str, Any]:
        forked = {key: item for key, item in value.items() if key not in _DROPPED}
        forked["parentUuid"] = self._parent(value)
        if "logicalParentUuid" in value:
            forked["logicalParentUuid"] = self._renamed(value["logicalParentUuid"])
        if about := mapping(value, "compactMetadata"):
            forked["compactMetadata"] = self._about(about)
        source = {"sessionId": text(value, "sessionId") or self._draft.meta.id, "messageUuid": value["uuid"]}
        ids = {"uuid": own, "sessionId": self._draft.id, "isSidechain": False}
        return forked | ids | {"forkedFrom": source}

    def _parent(self, value: dict[str, Any]) -> str | None:
        """Returns the new uuid of the record before one, progress passed over.

        Where the file does not have that record, it is the one that the conversation goes on from there: the agent
        itself would forget what stands before the gap.
        """
        seen = set()
        name, child = text(value, "parentUuid"), value
        while name in self._known and name not in seen:
            seen.add(name)
            child = self._known[name]
            if (found := self.uuid_of(child)) is not None and child is not value:
                return found
            name = text(child, "parentUuid")
        place = self._tree.find(text(child, "uuid")) if name else None
        before = () if place is None else islice(self._tree.back(place), 1, None)
        return next(filter(None, (self.uuid_of(self._tree.value(one)) for one in before)), None)

    def _about(self, about: dict[str, Any]) -> dict[str, Any]:
        """Returns what a compaction kept, under the new names."""
        renamed = dict(about)
        for key in ("preservedSegment", "preservedMessages"):
            if named := mapping(about, key):
                renamed[key] = {
                    field: [self._renamed(name) for name in names] if isinstance(names, list) else self._renamed(names)
                    for field, names in named.items()
                }
        return renamed

    def _renamed(self, name: Any) -> Any:
        return derived_uuid(self._draft.id, "record", name) if isinstance(name, str) and name in self._known else name
