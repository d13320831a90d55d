"""The pager, as git uses it: PAGER or less, which ends by itself where everything fits on one screen."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain, islice

from .output import flush
from .signals import Terminated


def page(lines: Iterable[str]) -> bool:
    """Shows lines in the user's pager; returns False, with none taken, if there is none.

    The pager starts when the first line is there, so that an error before it is seen on a plain terminal. Quitting
    the pager early ends the lines, without an error.
    """
    words = shlex.split(os.environ.get("PAGER", "less"))
    program = shutil.which(words[0]) if words else None
    if program is None or words == ["cat"] or os.environ.get("TERM", "dumb") == "dumb":
        return False
    # Quit if it fits, pass colours through, leave the screen as it is: git's own defaults.
    environment = {"LESS": "FRX", "LV": "-c", "LESSCHARSET": "utf-8", **os.environ}
    lines = iter(lines)
    begun = [*islice(lines, 1)]
    flush()
    with subprocess.Popen([program, *words[1:]], stdin=subprocess.PIPE, env=environment) as pager:
        try:
            if pager.stdin is not None:
                with suppress(BrokenPipeError), pager.stdin as pipe:
                    for line in chain(begun, lines):
                        pipe.write((line + "\n").encode("utf-8", "backslashreplace"))
        finally:
            _wait(pager)
    return True


def _wait(pager: subprocess.Popen[bytes]) -> None:
    """Waits until the user has quit the pager; Ctrl-C is the pager's until then."""
    while True:
        try:
            pager.wait()
        except Terminated:
            pager.terminate()
            raise
        except KeyboardInterrupt:
            continue
        return
