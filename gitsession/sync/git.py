"""Running the user's own git: with their ssh, credentials and proxies, and without what a repository could slip in.

Git gets the environment of this process, less what names another repository, and speaks English, as it is read here.
It asks for passwords as it always does, at the terminal or through GIT_ASKPASS; it never gets our standard input.
"""

import contextlib
import os
import re
import subprocess
import threading
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from gitsession.errors import AccessDenied, GitNotFound, RemoteUnavailable, Unavailable

# Is told what git says while it is at work, as it comes: text for a terminal, with carriage returns.
Progress = Callable[[str], None]

# What git sets in its hooks and aliases (`git rev-parse --local-env-vars`), but for what configures it.
_FOREIGN = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)

# `ext::` runs any command. Hooks and file system monitors are programs that a repository names.
_ALWAYS = (
    "protocol.ext.allow=never",
    "core.fsmonitor=false",
    "fetch.fsckObjects=true",
    "fetch.output=full",
    "core.abbrev=40",
    # A commit waits for a collection that is running, so none begins where nobody asked for it.
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.prune=false",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
    "push.followTags=false",
)
_NO_HOOKS = f"core.hooksPath={os.devnull}"
# What git writes is as durable as what the store writes; older gits do not know it, and do less.
_DURABLE = "core.fsync=all"

_DENIED = re.compile(
    r"Authentication failed|could not read (?:Username|Password)|Permission denied|Access denied|"
    r"Host key verification failed|IDENTIFICATION HAS CHANGED|returned error: 40[13]|"
    r"terminal prompts disabled|dubious ownership|host key",
    re.IGNORECASE,
)
_SAID = re.compile(r"^(?:fatal|error|remote|ssh|fetch-pack|send-pack|kex_exchange_identification):", re.IGNORECASE)
_NOISE = re.compile(
    r"^(?:hint:|remote: (?:Enumerating|Counting|Compressing|Total|Resolving|Unpacking|$)|error: failed to push some"
    r"|fatal: the remote end hung up|fatal: early EOF|fatal: Could not read from remote|@@@|and the repository exists"
    r"|Please make sure)"
)
# What git says of its own disk where it stores what it was sent. What stands behind `remote:` is of the other side's.
_OWN_DISK = re.compile(
    r"^(?!remote:).*(?:No space left on device|Dis[ck] quota exceeded|Read-only file system"
    r"|insufficient permission for adding an object)",
    re.MULTILINE,
)
_PASSWORD = re.compile(r"(://[^/:@\s]*):[^/@\s]*@")

# A line of git's longer than this is nobody's message.
_LONGEST = 2000


def git_environment() -> dict[str, str]:
    """Returns this process's environment without what would make git work on another repository than the one named."""
    return {name: value for name, value in os.environ.items() if name not in _FOREIGN}


@dataclass(frozen=True, slots=True)
class Finished:
    """A run of git that has ended.

    Attributes:
        code: Its exit code; negative for a signal.
        out: What it printed.
        err: What it said besides.
        late: Whether it took too long and was ended.
    """

    code: int
    out: str
    err: str
    late: bool = False

    def failure(self, remote: str) -> RemoteUnavailable:
        """Returns the error that it ended with, as one of ours."""
        kind = AccessDenied if _DENIED.search(self.err) else RemoteUnavailable
        return kind(remote, said(self.err) or f"git ended with {self.code}")


@dataclass(frozen=True, slots=True)
class Git:
    """Git on one repository.

    Attributes:
        path: The git directory.
        durable: Whether what it writes is on disk when it ends.
        progress: Is told what it says while it is at work.
        timeout: For how long it may take, in seconds.
    """

    path: Path
    durable: bool = True
    progress: Progress | None = None
    timeout: float | None = None

    def check_stored(self, done: Finished) -> None:
        """Checks that it was not our own disk that kept a run of git from storing what it was sent.

        Raises:
            Unavailable: It was.
        """
        if done.code and _OWN_DISK.search(done.err.replace("\r", "\n")):
            raise Unavailable(f"cannot write to {self.path}: {said(done.err)}")

    def run(
        self, *arguments: str, stdin: bytes | IO[bytes] = b"", hooks: bool = False, discard: bool = False
    ) -> Finished:
        """Runs a git command to its end. One that takes too long is ended, and says so in `err`.

        Args:
            arguments: The command and what it takes.
            stdin: What it reads: bytes, or a file from where it stands.
            hooks: Whether the user's hooks run, as their `pre-push` does where they push themselves.
            discard: Whether nobody wants what it prints.

        Raises:
            GitNotFound: There is no git.
        """
        settings = [*_ALWAYS, *([] if hooks else [_NO_HOOKS]), *([_DURABLE] if self.durable else [])]
        command = ["git", f"--git-dir={self.path}", "--no-replace-objects"]
        command += [part for setting in settings for part in ("-c", setting)]
        environment = git_environment()
        environment.pop("LANGUAGE", None)  # its messages are read here
        environment["LC_ALL"] = "C"
        # One damaged branch would fail a fetch of all others. No command that runs here removes objects.
        environment["GIT_REF_PARANOIA"] = "0"
        # An object that is missing is damage; it is not asked of a remote that the store names.
        environment["GIT_NO_LAZY_FETCH"] = "1"
        try:
            child = subprocess.Popen(
                [*command, *arguments],
                stdin=subprocess.PIPE if isinstance(stdin, bytes) else stdin,
                stdout=subprocess.DEVNULL if discard else subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
            )
        except FileNotFoundError as error:
            raise GitNotFound from error
        return self._finish(child, stdin if isinstance(stdin, bytes) else b"")

    def _finish(self, child: "subprocess.Popen[bytes]", given: bytes) -> Finished:
        err: list[str] = []
        out: list[bytes] = []
        jobs = (partial(self._relay, child.stderr, err), partial(_collect, child.stdout, out))
        threads = [threading.Thread(target=job, daemon=True) for job in (*jobs, partial(_give, child.stdin, given))]
        try:
            for thread in threads:
                thread.start()
            child.wait(self.timeout)
        except subprocess.TimeoutExpired:
            late = f"\nfatal: git did not end within {self.timeout} s\n"
        else:
            late = ""
        finally:
            if child.poll() is None:
                # On a signal git ends its own children too, and takes its lock files away.
                child.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(5)
                child.kill()
                child.wait()
            for thread in threads:
                # What git started may outlive it and keep a pipe open, as a shared ssh connection does.
                thread.join(1)
        code = 1 if late else child.returncode
        return Finished(code, b"".join(out).decode("utf-8", "replace"), "".join(err) + late, bool(late))

    def _relay(self, pipe: IO[bytes] | None, err: list[str]) -> None:
        decoder = getincrementaldecoder("utf-8")("replace")
        for chunk in _chunks(pipe):
            err.append(decoder.decode(chunk))
            if self.progress is not None:
                self.progress(err[-1])

    def flags(self) -> list[str]:
        """Returns the option that makes git tell its progress, or not."""
        return ["--no-progress"] if self.progress is None else ["--progress"]


def said(err: str) -> str:
    """Returns what git said as one line: its errors and what the server said, without hints, progress and passwords."""
    lines = [line.replace("\x1b[K", "").strip()[:_LONGEST] for line in re.split(r"[\r\n]+", err)]
    lines = [line for line in lines if line]
    telling = [line for line in lines if not _NOISE.match(line)]
    chosen = [line for line in telling if _SAID.match(line) or _DENIED.search(line)] or telling or lines
    text = "; ".join(dict.fromkeys(chosen[-4:]))
    return _PASSWORD.sub(r"\1:…@", "".join(char if char.isprintable() else "?" for char in text))


def _collect(pipe: IO[bytes] | None, out: list[bytes]) -> None:
    out.extend(_chunks(pipe))


def _chunks(pipe: IO[bytes] | None) -> Iterator[bytes]:
    """Yields what comes out of a pipe as it comes, and closes it at its end."""
    if pipe is not None:
        with pipe:
            while chunk := os.read(pipe.fileno(), 65536):
                yield chunk


def _give(pipe: IO[bytes] | None, given: bytes) -> None:
    if pipe is not None:
        # Git may end before it has read everything; its exit code tells why.
        with contextlib.suppress(OSError):
            pipe.write(given)
        with contextlib.suppress(OSError):
            pipe.close()


def exactly(names: Sequence[str]) -> bytes:
    """Returns refspecs as git reads them from its standard input, one a line."""
    return "".join(f"{name}\n" for name in names).encode()
