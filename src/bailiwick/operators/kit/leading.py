"""The loop that has a replica lead, or wait: it reads the claim, and writes its own."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping
from typing import Final

from bailiwick.client import Client, ClientError, Refusal
from bailiwick.client.http_client import Places
from bailiwick.operators.kit.connections import Connections
from bailiwick.operators.kit.election import Election, LeaderClaim, Take, claim_in, with_claim
from bailiwick.operators.kit.instance_kit import path_of, write_metadata
from bailiwick.operators.kit.logs import KitLog
from bailiwick.vocab.errors import BailiwickError, ErrorCode
from bailiwick.wire.actions.instances import INSTANCE_LIST, INSTANCE_READ
from bailiwick.wire.actions.shared import SHARED_RUNTIME_READ
from bailiwick.wire.instances import Instance

_PART: Final = 1 / 4
"""Of the term: how often the claim is looked at."""


class Leadership:
    """Whether this replica leads, kept true by a thread; without a term every replica leads."""

    def __init__(
        self,
        connections: Connections,
        app: str,
        *,
        home: Mapping[str, str],
        holder: str,
        term_s: float,
        log: KitLog,
        runtime: str | None = None,
    ) -> None:
        self._runtime = runtime
        self._connections, self._app, self._home = connections, app, home
        self._holder, self._term_s, self._log = holder, term_s, log
        self._election = Election(holder, term_s)
        self._wake = threading.Event()
        self._was_leading = False

    def leads(self) -> bool:
        """Whether this replica may act now."""
        return not self._term_s or self._election.leads(time.monotonic())

    def wake(self) -> None:
        """Look at once: an instance may have come."""
        if not self.leads():
            self._wake.set()

    def run(self, stop: threading.Event) -> None:
        """Go on until told to stop; then let another lead."""
        if not self._term_s:
            return
        while not stop.is_set():  # until told to stop
            try:
                self.once()
            except (ClientError, BailiwickError) as error:
                if not stop.is_set():
                    self._log.failure("could not look who leads", error)
            if self.leads() != self._was_leading:
                self._was_leading = not self._was_leading
                self._log.info("leads" if self._was_leading else "does not lead")
            self._wake.wait(self._term_s * _PART * random.uniform(0.8, 1.0))
            self._wake.clear()

    def once(self) -> None:
        """Look at the claim, and take or renew it if it is ours to."""
        client = self._connections.client()
        found = self._lock(client)
        if found is None:
            self._election.lost()
            return
        lock, etag = found
        claim = claim_in(lock.metadata)
        step = self._election.look(lock.instance_id, claim, now=time.monotonic())
        if isinstance(step, Take):
            sent = time.monotonic()
            if self._write(client, lock, etag=etag, claim=step.claim):
                self._election.won(lock.instance_id, step.claim, sent=sent)
        elif claim is not None and claim.holder != self._holder:
            self._election.lost()

    def end(self) -> None:
        """Give the claim back, if it is ours; whoever waits need not wait for the term."""
        self._election.lost()
        self._wake.set()
        if not self._term_s:
            return
        client = self._connections.client()
        found = self._lock(client)
        claim = None if found is None else claim_in(found[0].metadata)
        if found is not None and claim is not None and claim.holder == self._holder:
            self._write(client, found[0], etag=found[1], claim=LeaderClaim("", claim.count + 1))

    def _lock(self, client: Client) -> tuple[Instance, str] | None:
        """The oldest instance, or the one behind the runtime, which holds the claim."""
        try:
            path = self._path(client)
            if path is None:
                return None
            found, etag = client.send_tagged(INSTANCE_READ, path=path)
        except Refusal as refusal:
            if refusal.problem.code is ErrorCode.NOT_FOUND:
                return None
            raise
        return None if etag is None else (found, etag)

    def _path(self, client: Client) -> Places | None:
        if self._runtime is not None:
            path = {"tenant": self._home["tenant"], "runtime": self._runtime}
            row = client.send(SHARED_RUNTIME_READ, path=path).runtime
            return {**self._home, "instance_id": row.instance_id}
        page = client.send(INSTANCE_LIST, path=self._home, query={"app": self._app, "limit": 1})
        return path_of(page.items[0]) if page.items else None

    def _write(self, client: Client, lock: Instance, *, etag: str, claim: LeaderClaim) -> bool:
        try:
            metadata = with_claim(lock.metadata, claim)
            write_metadata(client, lock, etag=etag, metadata=metadata)
        except Refusal as refusal:
            if refusal.problem.code in (ErrorCode.STALE, ErrorCode.NOT_FOUND, ErrorCode.CONFLICT):
                return False  # it changed since: look again later
            raise
        return True
