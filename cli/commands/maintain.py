"""`gitsession maintain`."""

import dataclasses
import os
from contextlib import suppress

import click

from gitsession import GitNotFound, Maintenance, StoreBusy, maintain

from .. import options
from ..output import write, write_json
from ..text import count


@options.command("maintain", examples=("gitsession maintain", "gitsession git config gitsession.maintain false"))
@click.option("--background", is_flag=True, hidden=True)
def command(settings: options.Settings, background: bool) -> None:
    """Pack what has gathered in the store.

    Git packs loose objects and refs, makes what imports have packed smaller, puts small packs together, and writes its
    index of the commits. Sessions can be read and written meanwhile, and nothing is lost: what is deleted is elsewhere
    too, but for temporary files, older than two weeks, of killed processes.

    It runs by itself, in the background, after a command that finds thousands of loose objects or more than 50 packs.
    `--no-maintain` before a command, or `gitsession.maintain=false` in the store's git configuration, turns that off.

    With --json: loose_before, loose_after, packs_before, packs_after, bytes_before, bytes_after, removed (how many
    temporary files).
    """
    if background:
        with suppress(OSError, AttributeError):  # there is none on Windows
            os.nice(10)
        with suppress(StoreBusy, GitNotFound):
            maintain(settings.open())
        return
    done = maintain(settings.open())
    if settings.json:
        write_json([dataclasses.asdict(done)])
    else:
        write([_summary(done)])


def _summary(done: Maintenance) -> str:
    removed = f"; removed {count(done.removed, 'temporary file')}" if done.removed else ""
    before = f"{count(done.loose_before, 'loose object')} and {count(done.packs_before, 'pack')}"
    after = f"{done.loose_after:,} and {done.packs_after:,}"
    return f"{before}, {_size(done.bytes_before)}: now {after}, {_size(done.bytes_after)}{removed}"


def _size(number: int) -> str:
    return f"{number / 1_000_000:,.1f} MB" if number >= 100_000 else f"{number / 1000:,.1f} KB"
