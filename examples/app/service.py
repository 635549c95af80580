"""What the members run: a controller that counts, and workers that say that they are there.

The standard library is all it needs. Bailiwick tells each member who it is in its environment.

    python3 service.py controller
    python3 service.py worker
"""

import json
import os
import signal
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SEEN_S = 5.0
"""A worker that said nothing for so long does not count."""


class Workers:
    """Who was heard of, and when."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, float]] = {}
        self._lock = threading.Lock()

    def join(self, name: str, version: str) -> None:
        """One is there."""
        with self._lock:
            self._seen[name] = version, time.monotonic()

    def present(self) -> dict[str, str]:
        """Those that are there, and their versions."""
        since = time.monotonic() - SEEN_S
        with self._lock:
            return {name: version for name, (version, at) in self._seen.items() if at > since}


def serve(port: int, *, greeting: str, version: str) -> None:
    """Answer who is there, until told to end."""
    workers = Workers()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._say({"greeting": greeting, "version": version, "workers": workers.present()})

        def do_POST(self) -> None:
            told = json.loads(self.rfile.read(min(int(self.headers["content-length"]), 4_096)))
            workers.join(str(told["name"])[:64], str(told["version"])[:64])
            self._say({})

        def _say(self, answer: object) -> None:
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing: each worker says that it is there twice a second."""

    while True:  # until the one before it has let go of the port
        try:
            server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
            break
        except OSError:
            time.sleep(0.2)
    print(f"the controller listens on {port}", flush=True)
    server.serve_forever()


def work(url: str, *, name: str, version: str) -> None:
    """Say twice a second that this worker is there, until told to end."""
    body = json.dumps({"name": name, "version": version}).encode()
    while True:
        try:
            urllib.request.urlopen(url, body, timeout=2).close()
        except (OSError, urllib.error.URLError) as error:
            print(f"the controller does not answer: {error}", flush=True)
        time.sleep(0.5)


def main(role: str, environ: Mapping[str, str]) -> None:
    """Be what the environment says."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    told = json.loads(environ.get("APP_PARAMETERS") or "{}")
    port, version = int(told.get("port", 8931)), environ.get("APP_VERSION", "")
    if role == "controller":
        serve(port, greeting=told.get("greeting", "hello"), version=version)
    else:
        name = environ.get("APP_COMPONENT_KEY", "worker")
        work(f"http://127.0.0.1:{port}/", name=name, version=version)


if __name__ == "__main__":
    main(sys.argv[1], os.environ)
