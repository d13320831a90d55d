"""A web server in front of git's smart HTTP backend, with a user and a password. Run as a process of its own.

python http_server.py ROOT PORT USER PASSWORD
"""

import base64
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """Passes each request to `git http-backend`, as CGI has it."""

    protocol_version = "HTTP/1.1"
    root = user = password = ""

    def do_GET(self) -> None:
        self.answer(b"")

    def do_POST(self) -> None:
        self.answer(self.body())

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def answer(self, body: bytes) -> None:
        credentials = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        if self.headers.get("Authorization") != f"Basic {credentials}":
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="sessions"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_PROJECT_ROOT": self.root,
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type") or "",
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
            "HTTP_GIT_PROTOCOL": self.headers.get("Git-Protocol") or "",
            "REMOTE_USER": self.user,
            "REMOTE_ADDR": self.client_address[0],
        }
        done = subprocess.run(["git", "http-backend"], input=body, env=environment, stdout=subprocess.PIPE, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    Handler.root, port, Handler.user, Handler.password = sys.argv[1:]
    ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
