"""Real git servers on loopback: HTTP with a password, ssh with a key, git daemon, and a path."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

USER, PASSWORD = "ada", "s3cret"

KINDS = ("path", "http", "ssh", "daemon")


@dataclass(frozen=True)
class Server:
    """A server of the repositories below a directory.

    Attributes:
        root: The directory.
        base: The beginning of its URLs.
        environment: What its clients need in their environment.
        process: The server; None for a path.
    """

    root: Path
    base: str
    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None

    def url(self, path: Path) -> str:
        return f"{self.base}/{path.relative_to(self.root)}"

    @property
    def port(self) -> int:
        return int(self.base.split("//")[1].split("/")[0].rpartition(":")[2])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(kind: str, root: Path, scratch: Path) -> Iterator[Server]:
    """Runs a server of a kind until the block ends."""
    scratch.mkdir(parents=True, exist_ok=True)
    if kind == "path":
        yield Server(root, str(root), {}, None)
        return
    port = free_port()
    starts = {"http": _http, "ssh": _ssh, "daemon": _daemon}
    base, environment, command = starts[kind](root, scratch, port)
    with (scratch / "log").open("wb") as log:
        # A group of its own, so that the children of the server end with it.
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    try:
        _wait_for(port, process, scratch / "log")
        yield Server(root, base, environment, process)
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Kills a server and all that it started, at once."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)


def _http(root: Path, scratch: Path, port: int) -> tuple[str, dict[str, str], list[str]]:
    script = Path(__file__).with_name("http_server.py")
    helper = f"!f() {{ echo username={USER}; echo password={PASSWORD}; }}; f"
    environment = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "credential.helper",
        "GIT_CONFIG_VALUE_0": helper,
        "GIT_TERMINAL_PROMPT": "0",
    }
    return f"http://127.0.0.1:{port}", environment, [sys.executable, str(script), str(root), str(port), USER, PASSWORD]


def _daemon(root: Path, scratch: Path, port: int) -> tuple[str, dict[str, str], list[str]]:
    command = ["git", "daemon", f"--base-path={root}", "--export-all", "--enable=receive-pack"]
    return f"git://127.0.0.1:{port}", {}, [*command, "--listen=127.0.0.1", f"--port={port}", "--reuseaddr"]


def _ssh(root: Path, scratch: Path, port: int) -> tuple[str, dict[str, str], list[str]]:
    daemon = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    assert daemon, "the tests of ssh need an sshd (Debian: openssh-server)"
    for name in ("host", "user"):
        make_key(scratch / name)
    (scratch / "authorized").write_text((scratch / "user.pub").read_text())
    (scratch / "sshd_config").write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {scratch}/host\nAuthorizedKeysFile {scratch}/authorized\n"
        "PidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin yes\nPasswordAuthentication no\n"
        "KbdInteractiveAuthentication no\nAcceptEnv GIT_PROTOCOL\nLogLevel ERROR\n"
    )
    (scratch / "ssh_config").write_text(
        f"Host *\nIdentityFile {scratch}/user\nIdentitiesOnly yes\nUserKnownHostsFile {scratch}/known\n"
        "GlobalKnownHostsFile /dev/null\nBatchMode yes\nStrictHostKeyChecking yes\nSendEnv GIT_PROTOCOL\n"
    )
    trust(scratch, port, scratch / "host.pub")
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # sshd as root does not start without it
    user = os.environ.get("USER") or subprocess.run(["id", "-un"], capture_output=True, check=True).stdout.decode()
    environment = {"GIT_SSH_COMMAND": f"ssh -F {scratch}/ssh_config"}
    command = [daemon, "-D", "-e", "-f", f"{scratch}/sshd_config"]
    return f"ssh://{user.strip()}@127.0.0.1:{port}{root}", environment, command


def make_key(path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)


def trust(scratch: Path, port: int, key: Path) -> None:
    """Makes a host key the one that the clients know."""
    (scratch / "known").write_text(f"[127.0.0.1]:{port} {key.read_text()}")


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(500):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None, log.read_text(errors="replace")
        time.sleep(0.02)
    raise AssertionError(log.read_text(errors="replace"))
