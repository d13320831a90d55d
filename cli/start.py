"""The beginning of the command: what has to hold before anything else is loaded.

Until the command is loaded, Ctrl-C ends the process as it ends any other, where Python would show a traceback. So this
module loads nothing that is written in Python before that holds.
"""

# `signal` itself is written in Python, and loads more that is.
import _signal  # type: ignore[import-not-found]  # typeshed knows the other one alone

INTERRUPTED = _signal.getsignal(_signal.SIGINT)
"""What Ctrl-C did when this module was loaded: it may be ignored, as in the background."""

if INTERRUPTED is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def main() -> None:
    """Loads the command and runs it."""
    import gc  # noqa: PLC0415  # as above

    # Loading makes many objects that stay. To look through them again and again is a tenth of a short command's time.
    gc.set_threshold(100_000, 20, 100)
    from .main import main as run  # noqa: PLC0415  # this is what takes its time

    run(INTERRUPTED)
