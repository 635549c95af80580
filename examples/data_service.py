"""A data service that accepts the tokens of leases, in five lines; the rest of this file tries it.

A service that follows a Bailiwick server has ``Follower(Client(url, token)).known`` in place of the
lambda, and hears of keys and revocations every few seconds. Here the broker is in the same process,
so that the example stands alone. Run it:

    python examples/data_service.py
"""

import json
import secrets
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from time import time_ns
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from bailiwick.capability import (
    BiscuitMinter,
    CapBroker,
    Issued,
    KeyRing,
    LeaseView,
    MintWish,
    Operation,
    Revocations,
    Use,
    narrow,
)
from bailiwick.guard import Guard, Known

READ, WRITE = Operation.MEM_READ, Operation.MEM_WRITE


def serve_page(environ: dict[str, Any], start: Any) -> list[bytes]:
    """The service itself: it knows nothing of tokens, only whose claims it was handed."""
    claims = environ["bailiwick.claims"]
    start("200 OK", [("content-type", "text/plain")])
    return [f"a page of {claims.tenant}'s lease {claims.lease_id}".encode()]


def main() -> None:
    """Try the service as its users would."""
    minter = BiscuitMinter(secrets.token_bytes(32))
    known = [Known(KeyRing(shared=(minter.key,)))]

    # The five lines.
    def needs(method: str, path: str) -> Use:
        return Use(READ if method == "GET" else WRITE)

    guard = Guard("node-1", lambda: known[-1])
    app = guard.wsgi(serve_page, needs)

    token = mint(minter)
    with serving(app) as url:
        ask(url, "GET, no token", None)
        ask(url, "GET, a token of the lease", token)
        ask(url, "PUT, a token of the lease", token)
        reading = narrow(token, operations=[READ], key=minter.key)  # by its bearer, offline
        ask(url, "PUT, narrowed to reading", reading)
        revoked = Revocations()
        revoked.renewed(7, generation=2, at_ms=time_ns() // 1_000_000)
        known.append(Known(known[-1].keys, revoked))
        ask(url, "GET, the lease renewed since", token)
        ask(url, "GET, forged by another", mint(BiscuitMinter(secrets.token_bytes(32))))


def mint(minter: BiscuitMinter) -> str:
    """A token for lease 7, as a broker with this key makes it."""
    now_ms = time_ns() // 1_000_000
    lease = LeaseView(
        lease_id=7, tenant="team-alpha", node="node-1", generation=1, expires_ms=now_ms + 3_600_000
    )
    wish = MintWish(token_id="t-1", tenant="team-alpha", operations=(READ, WRITE))
    outcome = CapBroker(minter).mint(wish, lease, now_ms=now_ms)
    if not isinstance(outcome, Issued):
        raise SystemExit(f"no token: {outcome.reason}")
    return outcome.token


def ask(url: str, what: str, token: str | None) -> None:
    """One request, and what came of it."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(url, headers=headers, method=what.split(",", maxsplit=1)[0])
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            print(f"{what}: {answer.status} {answer.read().decode()}")
    except urllib.error.HTTPError as error:
        problem = json.load(error)
        print(f"{what}: {error.code} {problem['details'].get('fault', problem['code'])}")


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """The application behind a port of this machine."""
    with make_server("127.0.0.1", 0, app, handler_class=Silent) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/pages/1"
        server.shutdown()


class Silent(WSGIRequestHandler):
    """Keeps no log."""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


if __name__ == "__main__":
    main()
