"""One webhook's way along the journal: which event is next, and what follows from each try.

Rules:

- Events go out in order, one at a time: the next one follows when the one before is delivered or
  given up. What is replayed goes between.
- How often an event was tried is in its row, so a restart does not begin to count anew.
- A webhook that was changed is tried again at once: whoever mended the address need not wait.
- What is sent is what the webhook's scope may be told; nothing of others is in it.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from bailiwick.apps.webhooks import Webhook
from bailiwick.events.retrying import (
    Answered,
    Delivered,
    DeliveryStep,
    GivenUp,
    RetryPace,
    SendOutcome,
    TryAgain,
    fault_of,
    plan_after,
)
from bailiwick.events.signing import headers_of, message_id, secret_of
from bailiwick.journal.record import Record
from bailiwick.ports import Clock
from bailiwick.reconcile.webhooks.sender import Sender
from bailiwick.runtime.waiting import await_set
from bailiwick.services.apps.events import EventWish, cloud_event
from bailiwick.services.journal import tell_record
from bailiwick.store.webhooks.rows import HookKey, Letter, WebhookBook
from bailiwick.vocab.apps import DeliveryState
from bailiwick.vocab.errors import InvariantBroken

T = TypeVar("T")

IDLE_S = 5.0
"""How long a webhook without work sleeps, if nobody wakes it."""


class EventReader(Protocol):
    """Where events are read."""

    async def read(self, first: int) -> tuple[list[Record], int]:
        """Some events from a record on, and where to go on reading."""

    async def record(self, seq: int) -> Record | None:
        """One record."""

    def is_end(self, place: int) -> bool:
        """Whether everybody who waits there is woken when there is more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineTools:
    """What all webhooks share."""

    book: WebhookBook
    sender: Sender
    reader: EventReader
    clock: Clock
    key: bytes = field(repr=False)
    """What secrets are made from."""
    journal: str
    pace: RetryPace
    aside: Callable[[Callable[[], T]], Awaitable[T]]
    """Has something done that waits for a disk."""
    say: Callable[[str], None]
    dead: Callable[[str], None] = lambda fault: None
    """Is told of each event that is given up, by what it failed with."""


class HookLine:
    """The deliveries of one webhook."""

    def __init__(self, tools: LineTools, key: HookKey, *, webhook: Webhook) -> None:
        self._tools, self.key, self.webhook = tools, key, webhook
        self.next_seq = 0
        self.is_idle = False
        """Whether it waits at the end of the journal; then others move its place on."""
        self.replaying: Letter | None = None
        self.woken = asyncio.Event()
        self._retry: Letter | None = None
        self._head: Record | None = None

    @property
    def wish(self) -> EventWish:
        """Which events it is sent."""
        return EventWish(scope=self.key.scope, types=self.webhook.types)

    def change(self, webhook: Webhook) -> None:
        """It is another now; what waits is tried at once."""
        self.webhook = webhook
        if self._retry is not None:
            self._retry = replace(self._retry, next_try_ms=None)
        if self._head is not None and not self.wish.keeps(self._head):
            self._head = self._retry = None
        self.woken.set()

    async def run(self) -> None:
        """Go on until cancelled."""
        book, key = self._tools.book, self.key
        since_seq = self.webhook.since_seq
        self.next_seq = await self._aside(lambda: book.begin(key, since_seq=since_seq))
        while True:  # until cancelled
            self.woken.clear()
            wait_s = await self._step()
            if wait_s > 0:
                await await_set(self.woken, wait_s)

    async def _aside(self, act: Callable[[], T]) -> T:
        return await self._tools.aside(act)

    async def _step(self) -> float:
        """Do the next thing; how long to sleep then."""
        again = self.replaying
        now_ms = self._tools.clock.now_ms()
        if again is not None and (again.next_try_ms or 0) <= now_ms:
            await self._replay(again)
            self.replaying = None  # only now: until then it would be found once more
            return 0.0
        head = self._head = self._head or await self._find()
        if head is None:
            return IDLE_S
        if self._retry is None:
            self._retry = await self._resumed(head.seq)
        waits_ms = (self._retry.next_try_ms or 0) - now_ms
        if waits_ms > 0:
            return min(waits_ms / 1000, IDLE_S)
        await self._deliver(head, self._retry)
        return 0.0

    async def _find(self) -> Record | None:
        """The next event that is for this webhook; without any, it waits at the end."""
        self.is_idle = False
        while True:  # bounded by the journal
            events, end = await self._tools.reader.read(self.next_seq)
            for record in events:
                if self.wish.keeps(record):
                    self.next_seq = record.seq
                    return record
            self.next_seq = max(end, self.next_seq)
            if self._tools.reader.is_end(self.next_seq):
                self.is_idle = True
                return None

    async def _resumed(self, seq: int) -> Letter:
        """How far an earlier run came with this event."""
        book, key = self._tools.book, self.key
        known = await self._aside(lambda: book.letter(key, seq))
        if known is not None and known.state is DeliveryState.RETRYING:
            return known
        return Letter(seq=seq, state=DeliveryState.RETRYING, tries=0, at_ms=0)

    async def _deliver(self, record: Record, before: Letter) -> None:
        webhook = self.webhook
        outcome = await self._send(record)
        step, letter = self._after(outcome, before)
        next_seq = None if isinstance(step, TryAgain) else record.seq + 1
        book, key = self._tools.book, self.key
        await self._aside(lambda: book.settle(key, letter, next_seq=next_seq))
        is_mended = webhook is not self.webhook
        self._retry = replace(letter, next_try_ms=None) if is_mended else letter
        if next_seq is not None:
            self.next_seq, self._head, self._retry = next_seq, None, None

    async def _replay(self, before: Letter) -> None:
        record = await self._tools.reader.record(before.seq)
        if record is None or not EventWish(scope=self.key.scope).keeps(record):
            raise InvariantBroken(f"{self.key} has a letter of record {before.seq}, not its own")
        outcome = await self._send(record)
        step, letter = self._after(outcome, before)
        if isinstance(step, TryAgain):
            letter = replace(letter, state=DeliveryState.REPLAYING)
        book, key = self._tools.book, self.key
        await self._aside(lambda: book.settle(key, letter))

    async def _send(self, record: Record) -> SendOutcome:
        tools, webhook = self._tools, self.webhook
        event = cloud_event(tell_record(record, whole=False), journal=tools.journal)
        body = json.dumps(event, ensure_ascii=True, separators=(",", ":")).encode()
        now_ms = tools.clock.now_ms()
        secrets = [
            secret_of(tools.key, self.key.scope, webhook=webhook.name, secret_id=each)
            for each in webhook.secret_ids(now_ms)
        ]
        message = message_id(tools.journal, record.seq)
        headers = headers_of(message, at_s=now_ms // 1000, body=body, secrets=secrets)
        return await tools.sender.send(self.key, webhook.url, headers=headers, body=body)

    def _after(self, outcome: SendOutcome, before: Letter) -> tuple[DeliveryStep, Letter]:
        now_ms, tries = self._tools.clock.now_ms(), before.tries + 1
        step = plan_after(
            outcome,
            tries=tries,
            now_ms=now_ms,
            chance=random.random(),
            pace=self._tools.pace,
        )
        if isinstance(step, GivenUp):
            scope, name = self.key
            told = f"webhook {name} of {scope} is not sent event {before.seq}"
            self._tools.say(f"{told}: {step.fault} after {tries} tries")
            self._tools.dead(step.fault.value)
        states = {Delivered: DeliveryState.DELIVERED, GivenUp: DeliveryState.DEAD}
        letter = Letter(
            seq=before.seq,
            state=states.get(type(step), DeliveryState.RETRYING),
            tries=tries,
            at_ms=now_ms,
            status=outcome.status if isinstance(outcome, Answered) else None,
            fault=fault_of(outcome),
            next_try_ms=step.at_ms if isinstance(step, TryAgain) else None,
        )
        return step, letter
