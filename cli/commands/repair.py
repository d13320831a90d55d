"""`gitsession repair`."""

import dataclasses

import click

from gitsession import Corrupt, Repair, Store, apply_repair, plan_repair

from .. import options
from ..errors import exit_code
from ..output import style, write, write_json
from ..text import count, one_line


@options.command("repair", examples=("gitsession repair", "gitsession repair fix-login --apply"))
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option("--apply", "apply", is_flag=True, help="Do it. Without it, what would be done is shown.")
def command(settings: options.Settings, sessions: tuple[str, ...], apply: bool) -> None:
    """Set damaged sessions to their last good commit.

    Shows what would be done to each session, or to those named; --apply does it. Nothing is lost: the old head is
    kept under refs/gitsession/kept/, and what its ref held in gitsession/kept/ in the store. What is damaged but
    needs no repair of a session, `gitsession verify` tells.

    The exit code tells of sessions of which no good commit is left. With --json each session is an object: session,
    branch, problem, old, new, deltas, kept, applied.
    """
    store = settings.open()
    planned = _chosen(store, plan_repair(store), sessions)
    for repair in planned:
        done = apply and repair.new is not None
        if done:
            apply_repair(store, repair)
        if settings.json:
            write_json([dataclasses.asdict(repair) | {"applied": done}])
        else:
            write(_lines(repair, done=done))
    if not settings.json:
        write([_summary(planned, done=apply)])
    if any(repair.new is None for repair in planned):
        click.get_current_context().exit(exit_code(Corrupt))


def _chosen(store: Store, planned: list[Repair], names: tuple[str, ...]) -> list[Repair]:
    """Returns the repairs of the sessions that are named, or all.

    Raises:
        SessionNotFound: One of them does not exist.
    """
    if not names:
        return planned
    # A branch that is gone has no session to be found, so the plan is asked first.
    known = {name: repair.session for repair in planned for name in (repair.branch, repair.session)}
    wanted = {known.get(name) or store.find(name) for name in names}
    return [repair for repair in planned if repair.session in wanted]


def _lines(repair: Repair, *, done: bool) -> list[str]:
    lines = [f"{style(one_line(repair.session), bold=True)}: {one_line(repair.problem)}"]
    if repair.new is None:
        return [*lines, "  no good commit is left; copy the session from a clone or a backup"]
    lines.append(f"  {'is set' if done else 'would be set'} to {repair.new}, with {count(repair.deltas, 'delta')}")
    if repair.kept is not None:
        lines.append(f"  the old head {'is' if done else 'would be'} kept as {one_line(repair.kept)}")
    return lines


def _summary(planned: list[Repair], *, done: bool) -> str:
    possible = sum(repair.new is not None for repair in planned)
    if not planned:
        return "Nothing to repair"
    if done:
        return f"{count(possible, 'session')} repaired"
    return f"{count(possible, 'session')} can be repaired" + ("; --apply does it" if possible else "")
