"""`gitsession verify`."""

import dataclasses

import click

from gitsession import Corrupt, Finding, verify

from .. import options
from ..errors import exit_code
from ..output import style, write, write_json
from ..text import count, one_line


@options.command("verify", examples=("gitsession verify", "gitsession verify --json"))
def command(settings: options.Settings) -> None:
    """Check everything that is stored.

    Reads every object of every session and derives again what can be derived. Prints what is wrong, and what can be
    done. The exit code tells whether anything is. With --json each finding is an object: session, commit, oid,
    problem, advice.
    """
    found = [*verify(settings.open())]
    if settings.json:
        write_json(map(dataclasses.asdict, found))
    else:
        write([*map(_line, found), f"{count(len(found), 'problem')} found" if found else "No problem found"])
    if found:
        click.get_current_context().exit(exit_code(Corrupt))


def _line(finding: Finding) -> str:
    places = (finding.session, finding.commit, finding.oid)
    where = " ".join(one_line(place) for place in places if place)
    advice = f"; {one_line(finding.advice)}" if finding.advice else ""
    return f"{style(where, fg='red')}: {one_line(finding.problem)}{advice}"
