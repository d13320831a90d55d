"""`gitsession verify`."""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from gitsession import Corrupt, Finding, verify

from .. import options
from ..errors import exit_code
from ..output import progress_bar, style, write, write_json
from ..text import count, one_line

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar


@options.command("verify", examples=("gitsession verify", "gitsession verify --fast", "gitsession verify --json"))
@click.option("--fast", is_flag=True, help="Check the structure alone: no histories, and no content of messages.")
def command(settings: options.Settings, fast: bool) -> None:
    """Check everything that is stored.

    Reads every object of every session, and derives again what can be derived. Prints what is wrong, and what can be
    done. The exit code tells of damage; a remark, such as that a history is cut off, leaves it at 0. With --json each
    finding is an object: session, commit, oid, problem, advice, damage.
    """
    store = settings.open()
    with progress_bar("Checking") as bar:
        found = [*verify(store, fast=fast, progress=_follow(bar))]
    if settings.json:
        write_json(map(dataclasses.asdict, found))
    else:
        write([*map(_line, found), _summary(found)], paged=bool(found))
    if any(finding.damage for finding in found):
        click.get_current_context().exit(exit_code(Corrupt))


def _follow(bar: "ProgressBar[int]") -> Callable[[int, int], None]:
    """Returns what is told how much is done and how much there is; the latter grows while sessions are found."""

    def told(done: int, total: int) -> None:
        bar.length = total
        bar.update(done - bar.pos)

    return told


def _line(finding: Finding) -> str:
    places = (finding.session, finding.commit, finding.oid)
    where = " ".join(one_line(place) for place in dict.fromkeys(places) if place) or "store"
    advice = f"; {one_line(finding.advice)}" if finding.advice else ""
    return f"{style(where, fg='red' if finding.damage else 'yellow')}: {one_line(finding.problem)}{advice}"


def _summary(found: list[Finding]) -> str:
    damage = sum(finding.damage for finding in found)
    parts = [count(damage, "problem")] if damage else ["No problem"]
    if remarks := len(found) - damage:
        parts.append(count(remarks, "remark"))
    return " and ".join(parts) + " found"
