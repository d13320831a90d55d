"""Processes for the tests of guarantees: forked where they stand, held until they are let go, traced where asked."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

# What a commit asks of the file system; memory and clocks are not its business.
SYSTEM_CALLS = (
    "open", "openat", "read", "write", "close", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "unlink",
    "unlinkat", "link", "linkat", "stat", "lstat", "fstat", "newfstatat", "lseek", "flock", "fsync", "fdatasync",
    "syncfs", "ftruncate", "utimensat", "getdents64",
)  # fmt: skip


Say = Callable[[str], None]
Hold = Callable[[], None]


class Child:
    """A process that runs one function, and waits in it until it is let go.

    Attributes:
        pid: Its process id.
    """

    def __init__(self, work: Callable[[Say, Hold], None]) -> None:
        """Forks the process; `work` is given a function that says a line to the parent, and one that waits."""
        self._said, saying = os.pipe()
        # A signal, so that no system call which a test counts is made while it waits.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._said)

            def say(line: str) -> None:
                os.write(saying, f"{line}\n".encode())

            def hold() -> None:
                say("held")
                signal.sigwait({signal.SIGUSR1})

            code = 1
            try:
                work(say, hold)
                code = 0
            except BaseException:
                say(traceback.format_exc())
            finally:
                os._exit(code)
        os.close(saying)
        assert os.read(self._said, 5) == b"held\n"

    def go(self) -> None:
        """Lets it go."""
        os.kill(self.pid, signal.SIGUSR1)

    def kill(self) -> None:
        """Kills it, with no chance to tidy up."""
        os.kill(self.pid, signal.SIGKILL)

    def finish(self) -> tuple[list[str], int]:
        """Waits for its end; returns what it said, and the signal that ended it, or 0."""
        said = b""
        while block := os.read(self._said, 1 << 16):
            said += block
        _, status = os.waitpid(self.pid, 0)
        os.close(self._said)
        # A line that the kill cut in two was not said.
        lines = said.decode().split("\n")
        return lines[:-1], os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


class Trace:
    """`strace`, attached to a child before it is let go, and so to what it does from then on."""

    def __init__(self, child: Child, output: Path, *options: str) -> None:
        strace = shutil.which("strace")
        assert strace is not None, "this test needs strace (apt-get install strace)"
        self._output = output
        self._process = subprocess.Popen(
            [strace, "-o", str(output), *options, "-p", str(child.pid)], stderr=subprocess.PIPE
        )
        status = Path(f"/proc/{child.pid}/status")
        for _ in range(2000):
            if "\nTracerPid:\t0\n" not in status.read_text():
                return
            if self._process.poll() is not None:
                break
            time.sleep(0.005)
        error = self._process.stderr.read().decode() if self._process.stderr else ""
        raise AssertionError(f"strace does not attach: {error}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate(timeout=60)

    def calls(self) -> Counter[str]:
        """Returns how often each system call was made; after the end of the trace."""
        names = (line.partition("(")[0] for line in self._output.read_text(errors="replace").split("\n"))
        return Counter(name for name in names if name in SYSTEM_CALLS)


def together(works: Sequence[Callable[[Say], None]], *, during: Callable[[], None] | None = None) -> list[list[str]]:
    """Runs functions in processes that begin at one moment, and returns the lines that each said.

    Args:
        works: One function a process; any error in one, a warning too, fails the test.
        during: Called once they run, such as to disturb them.
    """
    with tempfile.TemporaryDirectory(prefix="gitsession-said-") as directory:
        files = [Path(directory, str(place)) for place in range(len(works))]

        def child(work: Callable[[Say], None], file: Path) -> Child:
            def run(say: Say, hold: Hold) -> None:
                hold()
                # To a file, since a pipe that is full would stop the writers one after the other.
                with file.open("w", encoding="utf-8") as said:
                    work(lambda line: print(line, file=said))

            return Child(run)

        children = [child(work, file) for work, file in zip(works, files, strict=True)]
        for started in children:
            started.go()
        if during is not None:
            during()
        failed = [lines for started in children for lines, _ in [started.finish()] if lines]
        assert not failed, "\n".join(line for lines in failed for line in lines)
        return [file.read_text(encoding="utf-8").splitlines() for file in files]
