"""Ctrl-C and SIGTERM: both end a command in order, whatever it is at work on, and neither is ever lost.

Python raises an exception for Ctrl-C wherever the process just is. Where that is in a callback that it calls itself, as
when an object is thrown away, the exception is printed and forgotten; so it is raised again then. Where it is below
code in C, that may make another error of it; so it is known that a signal came. What can only end between two steps is
asked whether it is to end.
"""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, NoReturn


class Terminated(KeyboardInterrupt):
    """SIGTERM came; what ends in order on Ctrl-C does on this too."""


# The signals that an exception was raised for.
_came: list[int] = []


def ending(error: BaseException) -> tuple[int, str] | None:
    """Returns the exit code of a command that a signal ended, as a shell has it, and what is said; else None."""
    if not isinstance(error, KeyboardInterrupt) and not _came:
        return None
    is_terminated = isinstance(error, Terminated) or signal.SIGTERM in _came
    return (143, "terminated") if is_terminated else (130, "interrupted")


def _raise(number: int, _: FrameType | None = None) -> NoReturn:
    _came.append(number)
    raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


def _send_soon(number: int) -> None:
    """Sends a signal to this process in a moment, when what Python calls by itself has returned."""
    import threading  # noqa: PLC0415  # seldom needed, and slow to load

    def send() -> None:
        main = threading.main_thread().ident
        if hasattr(signal, "pthread_kill") and main is not None:
            signal.pthread_kill(main, number)
        else:
            signal.raise_signal(number)

    timer = threading.Timer(0.01, send)
    timer.daemon = True
    timer.start()


def take(interrupt: Any, tell: Callable[[Any], None]) -> None:
    """Takes both signals from here on, for the whole process.

    Args:
        interrupt: What was done on Ctrl-C when the process began; where it was ignored it still is.
        tell: Tells of what goes wrong where no exception can be raised, as `sys.unraisablehook`.
    """

    def unraisable(found: Any) -> None:
        if issubclass(found.exc_type, KeyboardInterrupt):
            _send_soon(signal.SIGTERM if issubclass(found.exc_type, Terminated) else signal.SIGINT)
        else:
            tell(found)

    sys.unraisablehook = unraisable
    signal.signal(signal.SIGINT, _raise if interrupt is signal.default_int_handler else interrupt)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _raise)


def leave() -> None:
    """Lets neither change anything any more: what was asked for is done, and the process ends in a moment."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


@dataclass(slots=True)
class Stop:
    """Whether to end, for what asks between its steps.

    Attributes:
        number: The signal that came; None for none.
    """

    number: int | None = None

    def is_set(self) -> bool:
        """Whether it is time to end."""
        return self.number is not None

    def end(self) -> None:
        """Raises what the signal would have raised by itself, if one came."""
        if self.number is not None:
            _raise(self.number)


@contextmanager
def asked() -> Iterator[Stop]:
    """Gives what tells whether a signal came, in place of an exception; a second one raises it at once."""
    stop = Stop()

    def note(number: int, _: FrameType | None) -> None:
        if stop.is_set():
            _raise(number)
        stop.number = number

    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, note)
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
