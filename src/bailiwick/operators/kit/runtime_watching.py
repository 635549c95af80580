"""The loop that looks at a shared runtime: its operator's token opens no stream of events.

Rules:

- All of the runtime, the instance behind it and its members is read every now and then. What
  differs from how it was last seen is looked at now; the same, some time.
- Each look is also a question whether somebody asks the instance something.
- A runtime that is gone has nothing to look after.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from bailiwick.client import Client, ClientError, Refusal
from bailiwick.client.http_client import Places
from bailiwick.operators.kit.backoff import wait_s
from bailiwick.operators.kit.connections import Connections
from bailiwick.operators.kit.logs import KitLog
from bailiwick.operators.kit.resync import Resync, plan_resync
from bailiwick.vocab.errors import BailiwickError, ErrorCode
from bailiwick.wire.actions.instances import INSTANCE_MEMBER_LIST, INSTANCE_READ
from bailiwick.wire.actions.shared import SHARED_RUNTIME_READ

POLL_S: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedRuntime:
    """What is looked at."""

    tenant: str
    project: str
    """The owner record's."""
    runtime: str
    resync_s: float
    poll_s: float = POLL_S


class RuntimeWatcher:
    """Tells of the instance behind a runtime, if it is to be looked at."""

    def __init__(
        self,
        connections: Connections,
        watched: WatchedRuntime,
        *,
        heard: Callable[[int], None],
        called: Callable[[int], None],
        listed: Callable[[Resync], None],
        log: KitLog,
    ) -> None:
        self._connections, self._watched, self._log = connections, watched, log
        self._heard, self._called, self._listed = heard, called, listed
        self._known: Mapping[int, object] = {}
        self._due = float("-inf")
        self._failures = 0

    def run(self, stop: threading.Event) -> None:
        """Go on until told to stop."""
        while not stop.is_set():  # until told to stop
            pause_s = self._watched.poll_s
            try:
                self.look()
                self._failures = 0
            except (ClientError, BailiwickError) as error:
                self._failures += 1
                self._log.failure("could not look", error)
                pause_s = wait_s(self._failures, chance=random.random())
            stop.wait(pause_s)

    def look(self) -> None:
        """Read it once, and tell what is to be looked at."""
        found = self._read(self._connections.client())
        plan = plan_resync(self._known, found)
        self._known = found
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + self._watched.resync_s
            self._listed(plan)
        else:
            for number in plan.changed:
                self._heard(number)
            if plan.gone:
                self._listed(Resync((), (), plan.gone))
        for number in found:
            self._called(number)

    def _read(self, client: Client) -> dict[int, object]:
        here: Places = {"tenant": self._watched.tenant}
        try:
            path = {**here, "runtime": self._watched.runtime}
            view = client.send(SHARED_RUNTIME_READ, path=path)
            number = view.runtime.instance_id
            path = {**here, "project": self._watched.project, "instance_id": number}
            instance = client.send(INSTANCE_READ, path=path)
            members = client.pages(INSTANCE_MEMBER_LIST, path=path).items
        except Refusal as refusal:
            if refusal.problem.code is ErrorCode.NOT_FOUND:
                return {}
            raise
        return {number: (view, instance, members)}
