"""What a check of a store finds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check of a store found.

    Attributes:
        session: The session's id; None where it is not about one.
        commit: The git commit, 40 hex digits; None where it is not about one.
        oid: The damaged object, 40 hex digits; None where it is not one.
        problem: What is wrong.
        advice: What can be done about it.
        damage: Whether something is lost, or cannot be trusted; False for a remark, such as that a history is cut off.
    """

    session: str | None
    commit: str | None
    oid: str | None
    problem: str
    advice: str
    damage: bool = True
