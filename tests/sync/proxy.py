"""A TCP proxy that can fail: it cuts the connection, or does something worse, after so many bytes."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


@contextmanager
def failing_proxy(
    port: int, *, upload: int | None = None, download: int | None = None, then: Callable[[], object] = str
) -> Iterator[int]:
    """Passes connections on to a port, and yields its own.

    Args:
        port: Where to.
        upload: After how many bytes to the server it fails; None for never.
        download: After how many bytes from the server it fails; None for never.
        then: What it does before it cuts the connection.
    """
    listener = socket.create_server(("127.0.0.1", 0))

    def relay(source: socket.socket, target: socket.socket, limit: int | None) -> None:
        passed = 0
        with suppress(OSError):
            while chunk := source.recv(4096):
                if limit is not None and passed + len(chunk) > limit:
                    then()
                    break
                passed += len(chunk)
                target.sendall(chunk)
            else:
                # One side has said all; the other may still have to answer.
                target.shutdown(socket.SHUT_WR)
                return
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def accept() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(client,), daemon=True).start()

    def serve(client: socket.socket) -> None:
        with suppress(OSError), client, socket.create_connection(("127.0.0.1", port)) as server:
            threads = [
                threading.Thread(target=relay, args=(client, server, upload), daemon=True),
                threading.Thread(target=relay, args=(server, client, download), daemon=True),
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)
