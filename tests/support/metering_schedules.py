"""Sources, a network that does its worst, and a meter that crashes: one schedule for each seed.

What is true is known, because it was done: the events that each source made are kept here, epoch by
epoch. The network drops, doubles and reorders events and answers; sources start again, with
their outbox (and go on) or without (and take a newer epoch); the meter's process dies before a
commit, between the commit and telling so, or before an acknowledgement is out. At the end the
network is kind, and lets everything arrive.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from random import Random

from bailiwick.metering.meter import Meter
from bailiwick.metering.owners import IDLE, UNAVAILABLE, Account, Leased, Owner, UnavailableCause
from bailiwick.metering.sources import (
    Conflicting,
    Due,
    Fenced,
    Forgotten,
    Position,
    SourceEvent,
    Sources,
)
from bailiwick.metering.values import Share
from bailiwick.vocab.words import LeaseClass, ResourceKind
from tests.support.naive_meter import NaiveMeter

DEVICES = 3
LEASES = 3
DOWN = UNAVAILABLE[UnavailableCause.DEPARTED]
SHARES = [Share("node", ResourceKind.GPU_MILLI, index) for index in range(DEVICES)]


@dataclass(frozen=True)
class Switch:
    """What an event says: this device is that holder's from then on."""

    device: int
    expected: str
    holder: str
    at_ms: int

    @property
    def payload(self) -> bytes:
        return f"{self.device} {self.expected} {self.holder} {self.at_ms}".encode()

    @staticmethod
    @lru_cache(maxsize=4096)  # every crash reads the whole ledger again
    def of(payload: bytes) -> Switch:
        device, expected, holder, at_ms = payload.decode().split()
        return Switch(int(device), expected, holder, int(at_ms))


@lru_cache(maxsize=64)
def owner_of(word: str) -> Owner | None:
    """``any`` is nobody in particular."""
    if word in ("any", "idle", "down"):
        return {"any": None, "idle": IDLE, "down": DOWN}[word]
    account = Account(f"tenant-{int(word) % 2}", None, None, LeaseClass.STANDARD, None)
    return Leased(int(word), account)


def random_switch(chance: Random, at_ms: int) -> Switch:
    """Start, stop, preempt or fail, now or as a clock that went wrong has it."""
    lease, victim = (str(chance.randrange(LEASES)) for _ in range(2))
    expected, holder = chance.choice(
        [("idle", lease), ("idle", lease), (lease, "idle"), (victim, lease), ("any", "down")]
    )
    at_ms = max(0, at_ms + chance.choice((0, 0, 0, 1, -5, 40)))
    return Switch(chance.randrange(DEVICES), expected, holder, at_ms)


@dataclass
class Source:
    """One sender: what it made in each epoch, and how much of the newest it may forget."""

    name: str
    made: dict[int, list[bytes]] = field(default_factory=lambda: {1: []})
    acknowledged: int = 0

    @property
    def epoch(self) -> int:
        return max(self.made)

    @property
    def outbox(self) -> list[bytes]:
        return self.made[self.epoch]

    def event(self, sequence: int) -> SourceEvent:
        return SourceEvent(self.name, self.epoch, sequence, self.outbox[sequence])


@dataclass
class Durable:
    """What survives a crash: both are written in one transaction."""

    ledger: list[SourceEvent] = field(default_factory=list)
    positions: dict[str, Position] = field(default_factory=dict)


Answer = tuple[str, int, int]  # source, epoch, up to


class Schedule:
    """One run of the whole protocol."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.held_max = self.chance.choice((1, 3, 100))
        self.remembered_max = self.chance.choice((1, 5, 256))
        self.senders = [Source(f"source-{n}") for n in range(self.chance.randrange(1, 4))]
        self.durable = Durable()
        self.wire: list[SourceEvent] = []
        self.answers: list[Answer] = []
        self.promised: dict[str, tuple[int, int]] = {}
        self.clock_ms = 0
        self.crashes = 0
        self.conflicts = 0
        self.start()

    # -- the meter's process -----------------------------------------------------------------

    def start(self) -> None:
        """From what is durable, and from nothing else."""
        self.sources = Sources(
            self.durable.positions.values(),
            held_max=self.held_max,
            remembered_max=self.remembered_max,
        )
        self.pending: list[SourceEvent] = []
        self.meter = Meter()
        self.pools = [self.meter.open(s, 1000, owner=IDLE, at_ms=0) for s in SHARES]
        for event in self.durable.ledger:
            self.apply(event)

    def apply(self, event: SourceEvent) -> None:
        switch = Switch.of(event.payload)
        owner = owner_of(switch.holder)
        assert owner is not None
        expected = owner_of(switch.expected)
        part = self.pools[switch.device].free
        self.meter.switch(part, expected, owner=owner, at_ms=switch.at_ms)

    def arrive(self, event: SourceEvent) -> None:
        answer = self.sources.offer(event)
        if isinstance(answer, Due):
            for each in answer.events:
                self.apply(each)
                self.pending.append(each)

    def commit(self, *, dies: bool) -> None:
        """Effects and positions in one transaction; then say so, unless the process dies first."""
        positions = self.sources.uncommitted()
        self.durable.ledger += self.pending
        self.durable.positions |= {each.source: each for each in positions}
        self.pending = []
        if dies:
            self.crash()
        else:
            self.sources.commit(positions)

    def crash(self) -> None:
        self.crashes += 1
        self.start()

    def acknowledge(self, sender: Source) -> None:
        """Tell a source how far it may forget: only what is durable."""
        if sender.name not in self.durable.positions:
            return
        up_to = self.sources.acknowledged_up_to(sender.name)
        assert up_to <= self.durable.positions[sender.name].next_sequence
        self.answers.append((sender.name, self.sources.epoch_of(sender.name), up_to))

    # -- the senders -------------------------------------------------------------------------

    def make(self, sender: Source) -> None:
        self.clock_ms += self.chance.randrange(4)
        sender.outbox.append(random_switch(self.chance, self.clock_ms).payload)

    def send(self, sender: Source) -> None:
        left = range(sender.acknowledged, len(sender.outbox))
        if left:
            self.wire.append(sender.event(self.chance.choice(left)))

    def restart(self, sender: Source, *, has_outbox: bool) -> None:
        """Without its outbox a source begins a new one; what is still on its way may arrive."""
        sender.acknowledged = 0
        if not has_outbox:
            sender.made[sender.epoch + 1] = []

    def hear(self, answer: Answer) -> None:
        name, epoch, up_to = answer
        sender = next(each for each in self.senders if each.name == name)
        self.promised[name] = max(self.promised.get(name, (0, 0)), (epoch, up_to))
        if epoch == sender.epoch:
            sender.acknowledged = max(sender.acknowledged, up_to)

    def forge(self, sender: Source) -> None:
        """A key that was handed out, with another payload."""
        handed_out = [*self.durable.ledger, *self.pending]
        keys = [(each.epoch, each.sequence) for each in handed_out if each.source == sender.name]
        if not keys:
            return
        answer = self.sources.offer(
            SourceEvent(sender.name, *self.chance.choice(keys), b"0 any 0 0 forged")
        )
        assert isinstance(answer, Conflicting | Forgotten | Fenced), answer
        self.conflicts += isinstance(answer, Conflicting)

    # -- what happens ------------------------------------------------------------------------

    def step(self) -> None:
        chance = self.chance
        sender, roll = chance.choice(self.senders), chance.random()
        if roll < 0.2:
            self.make(sender)
        elif roll < 0.45:
            self.send(sender)
        elif roll < 0.7:
            self.deliver(doubled=chance.random() < 0.3, dropped=chance.random() < 0.15)
        elif roll < 0.8:
            self.commit(dies=chance.random() < 0.2)
        elif roll < 0.9:
            self.acknowledge(sender)
            if self.answers and chance.random() < 0.7:
                self.hear(self.answers.pop(chance.randrange(len(self.answers))))
        elif roll < 0.93:
            self.crash()
        elif roll < 0.97:
            self.restart(sender, has_outbox=chance.random() < 0.5)
        else:
            self.forge(sender)

    def deliver(self, *, doubled: bool, dropped: bool) -> None:
        if not self.wire:
            return
        at = self.chance.randrange(len(self.wire))
        event = self.wire[at] if doubled else self.wire.pop(at)
        if not dropped:
            self.arrive(event)

    def settle(self) -> None:
        """The network is kind at last: all that is on its way arrives, and all that is left."""
        self.chance.shuffle(self.wire)
        for event in self.wire:
            self.arrive(event)
        for sender in self.senders:
            for sequence in range(sender.acknowledged, len(sender.outbox)):
                self.arrive(sender.event(sequence))
        self.commit(dies=False)

    def run(self, steps: int) -> None:
        """Everything, and what must be true of it."""
        for _ in range(steps):
            self.step()
        self.settle()
        self.check()

    def check_sender(self, sender: Source) -> None:
        """All of the newest epoch; of older ones a beginning, with all that was promised."""
        told: dict[int, list[bytes]] = {}
        for event in self.durable.ledger:
            if event.source == sender.name:
                assert event.epoch == max([*told, event.epoch])
                told.setdefault(event.epoch, []).append(event.payload)
        for epoch, payloads in told.items():
            assert payloads == sender.made[epoch][: len(payloads)]
        if sender.outbox:
            assert told[sender.epoch] == sender.outbox
            assert self.sources.epoch_of(sender.name) == sender.epoch
            assert self.sources.acknowledged_up_to(sender.name) == len(sender.outbox)
        epoch, up_to = self.promised.get(sender.name, (0, 0))
        assert len(told.get(epoch, ())) >= up_to

    def check(self) -> None:
        """Nothing lost, nothing doubled, nothing out of order, and every tick with one owner."""
        for sender in self.senders:
            self.check_sender(sender)
        now_ms = self.clock_ms + 100
        self.meter.check(now_ms)
        naive = NaiveMeter()
        for device, share in enumerate(SHARES):  # one unit stands for the whole device
            naive.open(device, share, capacity=1, owner=IDLE, at_ms=0)
        for event in self.durable.ledger:
            switch = Switch.of(event.payload)
            expected, owner = owner_of(switch.expected), owner_of(switch.holder)
            if owner is not None and expected in (None, naive.parts[switch.device][0].owner):
                naive.switch(switch.device, owner, switch.at_ms)
        used: dict[object, int] = {}
        for (_, payer), count in naive.used(now_ms).items():
            used[payer] = used.get(payer, 0) + 1000 * count
        totals = {line.payer: n for line, n in self.meter.totals(now_ms).items() if n}
        assert totals == used
        assert sum(totals.values()) == DEVICES * 1000 * now_ms
