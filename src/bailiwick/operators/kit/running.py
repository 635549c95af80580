"""The one door: ``run_operator`` has a function called for every instance that needs it.

Rules:

- The function is called with an instance as it is now. It is called again when something
  happened to that instance, when it asked to be, when it failed, and every now and then.
- Of one instance it is called once at a time; of several, by several threads.
- It is told *that* something may be to do, never what: what was missed does no harm. So it must be
  able to begin anywhere, and to be called once too often.
- What it raises is logged, and it is called again after a pause that grows.
- It is called only where its replica leads.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias, assert_never
from uuid import uuid4

from bailiwick.client import ClientError, Refusal
from bailiwick.client.http_client import Places
from bailiwick.operators.kit.answers import Again, Answer, Settled
from bailiwick.operators.kit.backoff import wait_s
from bailiwick.operators.kit.calling import CallLoop, OnCall
from bailiwick.operators.kit.connections import Connections, ServerPlace
from bailiwick.operators.kit.instance_kit import Kit, KitTools, Outdated
from bailiwick.operators.kit.leading import Leadership
from bailiwick.operators.kit.logs import KitLog
from bailiwick.operators.kit.resync import Resync
from bailiwick.operators.kit.secrets import SecretFile
from bailiwick.operators.kit.watching import RuntimeWatcher, Watched, WatchedRuntime, Watcher
from bailiwick.operators.kit.work_queue import WorkQueue
from bailiwick.vocab.errors import BailiwickError, ErrorCode, InvalidValue
from bailiwick.wire.actions.instances import INSTANCE_READ
from bailiwick.wire.instances import Instance

Reconcile: TypeAlias = Callable[[Instance, Kit], Answer]

SPREAD_S: Final = 60.0
"""Over how long those are looked at of which a resync tells nothing new."""
TERM_S: Final = 60.0
CALL_WORKERS: Final = 2
"""Instances whose questions are answered at a time."""
_LOOK_S: Final = 0.5
_RENEW_S: Final = 30.0
_SOON_S: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorSettings:
    """Whose instances of which app an operator looks after, and how it gets there."""

    server: str
    tenant: str
    project: str
    app: str
    """As the catalog calls it: ``hello``, or ``lab.hello`` if the tenant published it."""
    token_file: Path
    """Its service account's token; read again when it is replaced."""
    ca_file: Path | None = None
    secrets: Path | None = None
    """A folder with a file for each secret."""
    name: str = field(default_factory=lambda: f"{socket.gethostname()}-{uuid4().hex[:8]}")
    """Of this replica."""
    workers: int = 4
    resync_s: float = 300.0
    term_s: float = TERM_S
    """For how long a replica that is gone may still count as leading; 0: there is only one."""
    runtime: str | None = None
    """The shared runtime that it looks after, and nothing else; ``project`` is its owner record."""
    renew_ttl_s: int | None = None
    """Renew the token by itself, each time for so long; needs ``iam.token.issue``."""

    @classmethod
    def from_environ(
        cls, app: str, environ: Mapping[str, str] | None = None, *, term_s: float = TERM_S
    ) -> OperatorSettings:
        """As the environment says: ``BAILIWICK_SERVER``, ``_TENANT``, ``_PROJECT`` and more."""
        found = os.environ if environ is None else environ

        def need(name: str) -> str:
            value = found.get(name, "")
            if not value:
                raise InvalidValue(name, value, "to be set in the environment")
            return value

        def path(name: str) -> Path | None:
            return Path(found[name]) if found.get(name) else None

        return cls(
            server=need("BAILIWICK_SERVER"),
            tenant=need("BAILIWICK_TENANT"),
            project=need("BAILIWICK_PROJECT"),
            app=app,
            token_file=Path(need("BAILIWICK_TOKEN_FILE")),
            ca_file=path("BAILIWICK_CA_FILE"),
            secrets=path("BAILIWICK_SECRETS"),
            runtime=found.get("BAILIWICK_RUNTIME") or None,
            term_s=term_s,
        )


class Operator:
    """All threads of one replica."""

    def __init__(
        self,
        reconcile: Reconcile,
        settings: OperatorSettings,
        *,
        on_call: OnCall | None = None,
        log: KitLog | None = None,
    ) -> None:
        self._reconcile, self._settings = reconcile, settings
        self._log = (log or KitLog()).about(operator=settings.name, app=settings.app)
        self._home = {"tenant": settings.tenant, "project": settings.project}
        ca_file = None if settings.ca_file is None else str(settings.ca_file)
        place = ServerPlace(settings.server, ca_file)
        self._connections = Connections(place, SecretFile(settings.token_file))
        self._leading = Leadership(
            self._connections,
            settings.app,
            home=self._home,
            holder=settings.name,
            term_s=settings.term_s,
            log=self._log,
            runtime=settings.runtime,
        )
        self._calls = None if on_call is None else self._call_loop(on_call)
        self._watcher = self._watcher_of(settings)
        self._queue, self._changed = WorkQueue(), threading.Condition()

    def run(self, stop: threading.Event) -> None:
        """Look after instances until told to stop."""
        self._connections.client()  # what cannot be is told at once
        loops = [self._watcher.run, self._leading.run, self._renew]
        loops += [self._work] * self._settings.workers
        if self._calls is not None:
            loops += [self._calls.run] * CALL_WORKERS
        threads = [threading.Thread(target=loop, args=(stop,), daemon=True) for loop in loops]
        for thread in threads:
            thread.start()
        self._log.info("looks after instances")
        while not stop.wait(_LOOK_S):  # until told to stop
            pass
        with self._changed:
            self._changed.notify_all()
        for thread in threads[3:]:
            thread.join()  # what was begun is done
        with suppress(ClientError, BailiwickError):
            self._leading.end()
        self._connections.close()
        self._log.info("ended")

    def _watcher_of(self, settings: OperatorSettings) -> Watcher | RuntimeWatcher:
        """What tells of instances: the events of a project, or looks at a shared runtime."""
        told = {"called": self._hear_call, "heard": self._hear}
        resync_s = settings.resync_s
        if settings.runtime is None:
            watched = Watched(**self._home, app=settings.app, resync_s=resync_s)
            return Watcher(self._connections, watched, **told, listed=self._list, log=self._log)
        runtime = WatchedRuntime(
            tenant=settings.tenant,
            project=settings.project,
            runtime=settings.runtime,
            resync_s=resync_s,
        )
        return RuntimeWatcher(self._connections, runtime, **told, listed=self._list, log=self._log)

    # -- what is to be looked at -------------------------------------------------------------

    def _hear(self, number: int) -> None:
        with self._changed:
            self._queue.add(number, due=time.monotonic())
            self._changed.notify()
        self._leading.wake()

    def _hear_call(self, number: int) -> None:
        if self._calls is not None:
            self._calls.hear(number)
            self._leading.wake()

    def _call_loop(self, on_call: OnCall) -> CallLoop:
        return CallLoop(
            on_call,
            self._connections,
            home=self._home,
            leads=self._leading.leads,
            kit_of=self._kit,
            log=self._log,
        )

    def _list(self, found: Resync) -> None:
        now = time.monotonic()
        with self._changed:
            for number in found.gone:
                self._queue.forget(number)
            for number in found.changed:
                self._queue.add(number, due=now)
            for number in found.same:
                self._queue.add(number, due=now + random.uniform(0, SPREAD_S))
            self._changed.notify_all()
        if self._calls is not None:  # what was asked while nobody listened
            self._calls.look_at((*found.changed, *found.same))
        told = {"changed": len(found.changed), "same": len(found.same), "gone": len(found.gone)}
        self._log.info("listed", **told)

    def _take(self) -> int | None:
        with self._changed:
            found = self._queue.take(time.monotonic()) if self._leading.leads() else None
            if found is None:
                due = self._queue.next_due
                left = _LOOK_S if due is None else due - time.monotonic()
                self._changed.wait(min(max(left, 0.01), _LOOK_S))
            return found

    # -- looking -----------------------------------------------------------------------------

    def _work(self, stop: threading.Event) -> None:
        while not stop.is_set():  # until told to stop
            number = self._take()
            if number is not None:
                due = self._look_after(number)
                with self._changed:
                    self._queue.put_back(number, due=due)
                    self._changed.notify()

    def _look_after(self, number: int) -> float | None:
        """Call the function for an instance; when it is to be called again."""
        log = self._log.about(instance_id=number)
        try:
            kit = self._kit(number)
            answer = Settled() if kit is None else self._reconcile(kit.instance, kit)
        except Outdated as outdated:
            log.info("begins anew", reason=str(outdated))
            return time.monotonic() + _SOON_S
        except Exception as error:  # of somebody else's function: anything
            log.failure("failed", error)
            with self._changed:
                failures = self._queue.count_failure(number)
            return time.monotonic() + wait_s(failures, chance=random.random())
        with self._changed:
            self._queue.forgive(number)
        match answer:
            case Settled():
                return None
            case Again():
                return time.monotonic() + max(answer.after_s, _SOON_S)
            case _:
                assert_never(answer)

    def _kit(self, number: int) -> Kit | None:
        """The instance and what can be done for it; nothing if it is gone."""
        client = self._connections.client()
        try:
            path: Places = {**self._home, "instance_id": number}
            instance, etag = client.send_tagged(INSTANCE_READ, path=path)
        except Refusal as refusal:
            if refusal.problem.code is not ErrorCode.NOT_FOUND:
                raise
            with self._changed:
                self._queue.forget(number)
            return None
        assert etag is not None  # the contract has one
        tools = KitTools(
            client=client,
            log=self._log,
            may_act=self._leading.leads,
            secrets=self._settings.secrets,
            runtime=self._settings.runtime,
        )
        return Kit(instance, etag, tools=tools)

    def _renew(self, stop: threading.Event) -> None:
        """Have the token renewed in time."""
        ttl_s = self._settings.renew_ttl_s
        while ttl_s is not None and not stop.is_set():  # until told to stop
            try:
                if self._connections.renew_token(ttl_s):
                    self._log.info("renewed its token")
            except (ClientError, BailiwickError) as error:
                self._log.failure("could not renew its token", error)
            stop.wait(min(_RENEW_S, ttl_s / 10))


def run_operator(
    reconcile: Reconcile,
    settings: OperatorSettings,
    *,
    on_call: OnCall | None = None,
    stop: threading.Event | None = None,
) -> None:
    """Have ``reconcile`` called for each instance of an app, until ``stop``, or SIGTERM.

    ``on_call`` answers what people ask an instance; without it nobody does.
    """
    if stop is None:
        ending = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: ending.set())
        stop = ending
    Operator(reconcile, settings, on_call=on_call).run(stop)
