"""A cell that is only acted: it says what its home would hear of a real one, or what it is told to.

It takes whatever it is ordered at once, and holds it until it is to give it back. A test has it
say something else by ``twist`` (the answer before it is sent), or not behave like a server at all.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = dict[str, Any]
NOW_MS = 1_000_000


REFUSED: Answer = {
    "code": "conflict",
    "message": "it is too large",
    "correlation_id": "c",
    "details": {},
    "retryable": False,
}


def as_it_is(path: str, answer: Answer) -> Answer:
    """What a cell that does not lie says."""
    del path
    return answer


@dataclass
class ActedCell:
    """What it has taken, how often it was asked, and how it lies."""

    url: str = ""
    twist: Callable[[str, Answer], Answer] = as_it_is
    drips: Callable[[str], bool] = lambda path: False
    """Whether it answers a call byte by byte, for ever."""
    refuses: Callable[[Answer], bool] = lambda letter: False
    """Whether it refuses a letter, having read it."""
    breaks_off: bool = False
    """Whether it says nothing when it refuses."""
    refused: int = 0
    free_gpu_milli: int = 0
    epoch: int = 0
    done: int = 0
    seq: int = 0
    held: dict[int, Answer] = field(default_factory=dict)
    letters: int = 0
    offers: int = 0
    ended: threading.Event = field(default_factory=threading.Event)

    def answer(self, path: str, body: Answer) -> Answer:
        """What is said to a call."""
        if path.endswith("/offers"):
            self.offers += 1
            free = {"free_gpu_milli": self.free_gpu_milli, "free_cpu_milli": 64_000}
            return {"offer": {"offer": "can_start", **free}}
        if not path.endswith("/letters"):
            return {}
        self.letters += 1
        self.epoch = body["epoch"]
        for order in body.get("orders", ()):
            if order["number"] == self.done + 1:
                self._carry_out(order)
        heard = body.get("heard", -1)
        news = [each for each in self.held.values() if each["seq"] > heard]
        now_ms = NOW_MS + int(time.monotonic() * 1_000)
        told = {"epoch": self.epoch, "now_ms": now_ms, "done": self.done, "news": news}
        told |= {"free_gpu_milli": self.free_gpu_milli, "free_cpu_milli": 64_000}
        held = sum(each["status"] in ("held", "queued") for each in self.held.values())
        return told | {"held": held, "left": 0}

    def _carry_out(self, order: Answer) -> None:
        self.done, self.seq, number = order["number"], self.seq + 1, order["global_id"]
        if "request" in order:
            told = {"global_id": number, "number": self.done, "status": "held"}
            self.held[number] = told | {"seq": self.seq, "leases": [self.seq]}
        elif number in self.held:
            self.held[number] |= {"status": "ended", "seq": self.seq, "leases": []}


@contextmanager
def acted_cell(**terms: Any) -> Iterator[ActedCell]:
    """One that answers on loopback."""
    cell = ActedCell(**terms)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path.endswith("/letters") and cell.refuses(body):
                cell.refused += 1
                if cell.breaks_off:
                    self.close_connection = True
                else:
                    self._send(409, REFUSED)
                return
            self._send(200, cell.twist(self.path, cell.answer(self.path, body)))

        def _send(self, status: int, told: Answer) -> None:
            text = json.dumps(told).encode()
            drips = cell.drips(self.path)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(10**6 if drips else len(text)))
            self.end_headers()
            try:
                while drips and not cell.ended.wait(0.05):  # until the test ends
                    self.wfile.write(b" ")
                    self.wfile.flush()
                self.wfile.write(b"" if drips else text)
            except OSError:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: the test looks at what was answered."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        cell.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield cell
        finally:
            cell.ended.set()
            server.shutdown()
            thread.join()
