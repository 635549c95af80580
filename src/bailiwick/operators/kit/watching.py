"""The loop that hears of instances: it listens, lists them all, and then goes by what it hears.

Rules:

- First the server says that it listens, then all are listed: what happens between is heard.
- A connection that is lost is taken up where it was lost, and nothing is missed. Where that cannot
  be (another journal, too long away, another token) all is begun anew, with a list.
- Every now and then all are listed again, whether anything was heard or not.
- The token of a shared runtime's operator opens no stream of events. There all of the runtime, the
  instance behind it and its members is read every now and then; what differs from how it was last
  seen is looked at now. Each look is also a question whether somebody asks the instance something.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from bailiwick.client import Client, ClientError, Refusal
from bailiwick.client.connection import Event
from bailiwick.client.http_client import Places
from bailiwick.operators.kit.backoff import wait_s
from bailiwick.operators.kit.connections import Connections
from bailiwick.operators.kit.logs import KitLog
from bailiwick.operators.kit.resync import Resync, plan_resync
from bailiwick.vocab.errors import BailiwickError, ErrorCode
from bailiwick.wire.actions.events import EVENT_WATCH
from bailiwick.wire.actions.instances import (
    INSTANCE_LIST,
    INSTANCE_MEMBER_LIST,
    INSTANCE_MEMBER_LIST_ALL,
    INSTANCE_READ,
)
from bailiwick.wire.actions.shared import SHARED_RUNTIME_READ
from bailiwick.wire.instances import InstanceMember

MEMBER_ROWS_MAX: Final = 200_000
"""Members that a list tells; of more, events alone do."""
TYPES: Final = "apps.instance.*,apps.member.*,apps.call.*"
CALL: Final = "apps.call."
POLL_S: Final = 2.0


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
