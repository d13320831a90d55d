"""The beginning of the command: what has to hold before anything else is loaded."""

import gc
import signal
from typing import NoReturn


def main() -> NoReturn:
    """Loads the command and runs it.

    Until it is loaded, Ctrl-C ends the process as it ends any other, where Python would show a traceback.
    """
    # Loading makes many objects that stay. To look through them again and again is a tenth of a short command's time.
    gc.set_threshold(100_000, 20, 100)
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # not where it is ignored, as in the background
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from .main import main as run  # noqa: PLC0415  # this is what takes its time

    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, handler)
    run()
