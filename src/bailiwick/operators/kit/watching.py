"""The loop that hears of instances: it listens, lists them all, and then goes by what it hears.

Rules:

- First the server says that it listens, then all are listed: what happens between is heard.
- A connection that is lost is taken up where it was lost, and nothing is missed. Where that cannot
  be (another journal, too long away, another token) all is begun anew, with a list.
- Every now and then all are listed again, whether anything was heard or not.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from bailiwick.client import ClientError
from bailiwick.client.connection import Event
from bailiwick.operators.kit.backoff import wait_s
from bailiwick.operators.kit.connections import Connections
from bailiwick.operators.kit.logs import KitLog
from bailiwick.operators.kit.resync import Resync, plan_resync
from bailiwick.vocab.errors import BailiwickError
from bailiwick.wire.actions.events import EVENT_WATCH
from bailiwick.wire.actions.instances import INSTANCE_LIST, INSTANCE_MEMBER_LIST_ALL
from bailiwick.wire.instances import InstanceMember

MEMBER_ROWS_MAX: Final = 200_000
"""Members that a list tells; of more, events alone do."""
TYPES: Final = "apps.instance.*,apps.member.*,apps.call.*"
CALL: Final = "apps.call."


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What is listened for."""

    tenant: str
    project: str
    app: str
    resync_s: float


class Watcher:
    """Tells of instances that are to be looked at."""

    def __init__(
        self,
        connections: Connections,
        watched: Watched,
        *,
        heard: Callable[[int], None],
        called: Callable[[int], None],
        listed: Callable[[Resync], None],
        log: KitLog,
    ) -> None:
        self._connections, self._watched, self._log = connections, watched, log
        self._heard, self._called, self._listed = heard, called, listed
        self._known: Mapping[int, object] = {}
        self._failures = 0

    def run(self, stop: threading.Event) -> None:
        """Go on until told to stop."""
        while not stop.is_set():  # until told to stop
            try:
                self._follow(stop)
            except (ClientError, BailiwickError) as error:
                self._fail(error, stop)
            except Exception as error:
                if stop.is_set():  # the connection was closed under it
                    return
                self._fail(error, stop)

    def _fail(self, error: Exception, stop: threading.Event) -> None:
        self._failures += 1
        if not stop.is_set():
            self._log.failure("could not watch", error)
            stop.wait(wait_s(self._failures, chance=random.random()))

    def _follow(self, stop: threading.Event) -> None:
        """Listen from now on; ends when another token is to be used."""
        client = self._connections.make()
        present = self._connections.client()
        due = float("-inf")
        query = {
            "tenant": self._watched.tenant,
            "project": self._watched.project,
            "types": TYPES,
        }
        try:
            for event in client.follow(EVENT_WATCH, query=query, beats=True):
                if stop.is_set() or self._connections.client() is not present:
                    return
                if time.monotonic() >= due:
                    self.resync()
                    due = time.monotonic() + self._watched.resync_s
                self._failures = 0
                if event.data:
                    self._hear(event)
        finally:
            self._connections.drop(client)

    def resync(self) -> None:
        """List them all, and tell what is to be looked at."""
        path = {"tenant": self._watched.tenant, "project": self._watched.project}
        query = {"app": self._watched.app}
        client, members = self._connections.client(), dict[int, list[InstanceMember]]()
        rows = client.pages(INSTANCE_LIST, path=path, query=query).items
        found = client.pages(INSTANCE_MEMBER_LIST_ALL, path=path, rows_max=MEMBER_ROWS_MAX)
        for member in found.items:
            members.setdefault(member.instance_id, []).append(member)
        listed = {row.instance_id: (row, members.get(row.instance_id, [])) for row in rows}
        plan = plan_resync(self._known, listed)
        self._known = listed
        self._listed(plan)

    def _hear(self, event: Event) -> None:
        told = json.loads(event.data)
        number = told.get("appinstanceid")
        if told.get("appslug") == self._watched.app and number is not None:
            is_call = CALL in str(told.get("type"))
            (self._called if is_call else self._heard)(int(number))
