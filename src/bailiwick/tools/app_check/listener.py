"""What is heard over the stream of events while an app is checked.

Rules:

- It listens before anything is asked for, so that nothing is missed.
- Each event is kept as the record that it is, from which facts are read as the server reads them.
- An event counts as heard only if it has all names by which it is followed, in both places.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any, Final

from bailiwick.apps.readiness.evidence import HeardEvent
from bailiwick.apps.readiness.timeline import ToldRow
from bailiwick.client import Client
from bailiwick.vocab.readiness import LifecycleEvent
from bailiwick.wire.actions.events import EVENT_WATCH

EVENTS_MAX: Final = 50_000
NAMES: Final = ("correlation_id", "org_id", "project_id", "app_slug", "app_instance_id")


class EventListener:
    """Hears of one project's instances, in a thread of its own."""

    def __init__(self, client: Client, place: dict[str, str | int]) -> None:
        self._client, self._place = client, place
        self._rows: dict[int, list[ToldRow]] = {}
        self._events: dict[int, dict[str, Any]] = {}
        self._changed = threading.Condition()
        self._is_ready = self._is_over = False
        self.failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Hear of nothing more."""
        self._is_over = True
        self._client.close()

    def wait_ready(self, timeout_s: float) -> bool:
        """Whether the server says that it tells from now on."""
        with self._changed:
            return self._changed.wait_for(lambda: self._is_ready or self.failure, timeout_s) is True

    def rows(self, instance_id: int) -> list[ToldRow]:
        """What was heard of an instance, in order."""
        with self._changed:
            return [*self._rows.get(instance_id, ())]

    def wait(
        self, instance_id: int, until: Callable[[list[ToldRow]], bool], *, timeout_s: float
    ) -> bool:
        """Whether what was heard of an instance came to be so in time."""
        with self._changed:
            return self._changed.wait_for(lambda: until(self._rows.get(instance_id, [])), timeout_s)

    def heard(
        self, instance_id: int, app: str, *, seqs: dict[LifecycleEvent, int]
    ) -> list[HeardEvent]:
        """Of these records, those that came as events with all of their names."""
        wanted = {
            "org_id": self._place["tenant"],
            "project_id": self._place["project"],
            "app_slug": app,
            "app_instance_id": str(instance_id),
        }
        found = []
        for event, seq in sorted(seqs.items()):
            told = self._events.get(seq)
            is_it = told is not None and told["type"] == f"apps.instance.{event}"
            if told is not None and is_it and _is_named(told, wanted):
                found.append(HeardEvent(event, seq))
        return found

    def _run(self) -> None:
        query = {**self._place, "types": "apps.instance.*,apps.operation.*"}
        try:
            for event in self._client.follow(EVENT_WATCH, query=query, beats=True):
                self._hear(event.data)
                if self._is_over:
                    return
        except Exception as error:  # whatever it is, who waits must learn of it
            self._fail(error)

    def _hear(self, data: str) -> None:
        with self._changed:
            self._is_ready = True
            if data and len(self._events) < EVENTS_MAX:
                self._keep(json.loads(data))
            self._changed.notify_all()

    def _fail(self, error: Exception) -> None:
        with self._changed:
            if not self._is_over:
                self.failure = error
            self._changed.notify_all()

    def _keep(self, told: dict[str, Any]) -> None:
        data, seq = told.get("data", {}), int(told["id"])
        self._events[seq] = told
        number = data.get("instance_id")
        if number is not None:
            row = ToldRow(seq, data["record"], data["actor"], data)
            self._rows.setdefault(number, []).append(row)


def _is_named(told: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether an event has its names, as attributes and in what it carries."""
    data = told["data"]
    pairs = [(told.get(name.replace("_", "")), data.get(name)) for name in NAMES]
    is_same = all(outer and outer == inner for outer, inner in pairs)
    return is_same and all(data.get(name) == value for name, value in wanted.items())
